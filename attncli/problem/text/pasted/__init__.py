"""Matrices as people paste them: rows of text, [1 2; 3 4], and arrays as Python prints them.

A pasted text is read where it stands, so that every number knows its line and column. It becomes
the nested lists that brackets and commas make, and is checked as those are. Nothing is executed: of
np.array([[1, 2]]) the list is read, and the rest only has to look like what belongs there.
"""
