"""How large a problem may be, so that one from a stranger fills neither memory nor patience."""

from __future__ import annotations

# One array, read or made on the way, takes 400 MB in double precision.
ELEMENT_LIMIT = 5 * 10**7
TOKEN_LIMIT = 10**5
# Blanks in a row.
BLANKS_LIMIT = 2**20
# Characters of a title.
TITLE_LIMIT = 10**4
# Characters of a label: a matrix repeats each of them, and is as wide as the longest.
LABEL_LIMIT = 10**3
# Of an array of more bytes, a file holds at least one in PACKED_RATIO.
PACKED_LIMIT = 2**26
PACKED_RATIO = 100
# A .npz file's list of tens of thousands of arrays takes so many bytes.
DIRECTORY_LIMIT = 2**22
# This is far more than any problem needs, and far less than a parser's stack can bear.
DEPTH_LIMIT = 64
# Every array library can hold so many axes.
DIMENSION_LIMIT = 32
