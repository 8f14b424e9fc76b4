"""Tests of functions that work attention out: the cases, how a function is called with them, and
what explains that it differs.
"""
