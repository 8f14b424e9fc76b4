"""Answers worked by hand: what was written, how precise it claims to be, and the files it is read
from.
"""
