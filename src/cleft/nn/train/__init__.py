"""Training: a recipe in, a directory with the best model and the record of the run out."""
