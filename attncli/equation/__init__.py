"""The language of steps: an equation in Python syntax is parsed once, then evaluated, worked and
printed.
"""
