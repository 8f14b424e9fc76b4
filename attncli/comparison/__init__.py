"""Two sides of a comparison, for people and programs: the page, the data, and the known mistakes
that give the numbers of one side. `compared.py` has what Python is given.
"""
