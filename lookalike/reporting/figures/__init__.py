"""One figure a file: numbers in, a `Figure` out."""
