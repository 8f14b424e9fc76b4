"""The process in which a function of somebody else runs: the program in it (child.py), its messages
(answer.py), and its limits and its end as seen from outside (process.py).
"""
