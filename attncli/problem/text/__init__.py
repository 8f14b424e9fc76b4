"""A text becomes a tree whose nodes know their places, and single values are read from it."""
