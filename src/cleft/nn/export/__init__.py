"""Export: a trained model in, a directory that runs without PyTorch out."""
