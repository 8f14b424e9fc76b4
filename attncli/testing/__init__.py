"""Functions that work attention out, tested: the cases, how a function is called with them, and what
explains that it differs.
"""
