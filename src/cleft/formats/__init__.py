"""Reading and writing trees, one module a format."""
