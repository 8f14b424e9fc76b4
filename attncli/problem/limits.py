"""How large a problem may be, so that one from a stranger fills neither memory nor patience."""

from __future__ import annotations

ELEMENT_LIMIT = 5 * 10**7  # of one array, read or made on the way: 400 MB in double precision
TOKEN_LIMIT = 10**5
DIMENSION_LIMIT = 32  # what every array library can hold
