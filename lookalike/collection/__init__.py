"""What is on disk: the gallery, which is the truth; the tables derived from it, which can be rebuilt."""
