"""What people write who come from other notations, such as Python, NumPy and LaTeX, and what is
written for it in an equation of one's own.
"""
