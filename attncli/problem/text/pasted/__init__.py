"""Matrices as people paste them: rows of text, [1 2; 3 4], and arrays as Python prints them.

A pasted text is read where it stands, so that every number knows its line and column. It becomes
the nested lists that brackets and commas make, and is checked as those are. Nothing is executed: of
np.array([[1, 2]]) the list is read, and the rest only has to look like what belongs there.

finding.py finds such a text, spellings.py chooses who reads it (brackets.py, lines.py), and these
make rows of it by one grammar (grammar.py) and lists of the rows (cells.py).
"""
