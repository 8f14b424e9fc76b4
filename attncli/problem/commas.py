"""Suspects decimal commas: in [1, 1,5] two numbers stand closer together than the others, and were meant as 1.5."""

from __future__ import annotations

import re

_SHORT = 2000  # characters; longer matrices are written by programs, which do not mistake a point
_SPACED = re.compile(r"\d, ")
_CLOSE = re.compile(r"(?<![\d.,])[-+]?\d+,\d+(?![\d.]|,\S)")


def comma_advice(written: str) -> str:
    """What to add to the help where too many entries stand in this text; empty where nothing is suspect."""
    if len(written) > _SHORT or not _SPACED.search(written):
        return ""
    found = _CLOSE.search(written)
    return f"; decimals are written with a point: {found[0].replace(',', '.')}" if found else ""
