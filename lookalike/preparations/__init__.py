"""Choices of what is done to faces, learnt from a gallery without labels, before sets are compared."""
