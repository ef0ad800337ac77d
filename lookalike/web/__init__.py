"""The local web page and its JSON interface."""
