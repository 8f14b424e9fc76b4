"""How large a problem may be, so that one from a stranger fills neither memory nor patience."""

from __future__ import annotations

# of one array, read or made on the way: 400 MB in double precision
ELEMENT_LIMIT = 5 * 10**7
TOKEN_LIMIT = 10**5
BLANKS_LIMIT = 2**20  # in a row
TITLE_LIMIT = 10**4  # characters
# a matrix repeats each of them, and is as wide as the longest
LABEL_LIMIT = 10**3
# bytes; of an array that is larger, a file holds at least one in PACKED_RATIO
PACKED_LIMIT = 2**26
PACKED_RATIO = 100
# bytes of a .npz file's list of arrays: tens of thousands of them
DIRECTORY_LIMIT = 2**22
# far more than any problem needs, far less than a parser's stack can bear
DEPTH_LIMIT = 64
# what every array library can hold
DIMENSION_LIMIT = 32
