"""How large a problem may be, so that one from a stranger fills neither memory nor patience."""

from __future__ import annotations

ELEMENT_LIMIT = 5 * 10**7  # of one array, read or made on the way: 400 MB in double precision
TOKEN_LIMIT = 10**5
BLANKS_LIMIT = 2**20  # in a row
TITLE_LIMIT = 10**4  # characters
LABEL_LIMIT = 10**3  # a matrix repeats each of them, and is as wide as the longest
PACKED_LIMIT = 2**26  # bytes; of an array that is larger, a file holds at least one in PACKED_RATIO
PACKED_RATIO = 100
DIRECTORY_LIMIT = 2**22  # bytes of a .npz file's list of arrays: tens of thousands of them
DEPTH_LIMIT = 64  # far more than any problem needs, far less than a parser's stack can bear
DIMENSION_LIMIT = 32  # what every array library can hold
