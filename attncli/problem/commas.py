"""Suspects decimal commas: in [1, 1,5] two numbers stand closer together than the others, and were meant as 1.5."""

from __future__ import annotations

import re

from attncli.problem.values import ErrorCollector, Places

_SHORT = 2000  # characters; longer matrices are written by programs, which do not mistake a point
_SPACED = r"\d, "
_CLOSE = r"(?<![\d.,])[-+]?\d+,\d+(?![\d.]|,\S)"


def comma_advice(written: str) -> str:
    """What to add to the help where too many entries stand in this text; empty where nothing is suspect."""
    if len(written) > _SHORT or not re.search(_SPACED, written):
        return ""
    found = re.search(_CLOSE, written)
    return f"; decimals are written with a point: {found[0].replace(',', '.')}" if found else ""


def advice_at(errors: ErrorCollector, at: Places, *names: str) -> str:
    """Advice for the first of these that seems to be written with decimal commas."""
    text = errors.source.text
    ends = (min((place for place in at.values() if place > at[name]), default=len(text)) for name in names)
    written = (text[at[name] : end] for name, end in zip(names, ends, strict=True))
    return next(filter(None, map(comma_advice, written)), "")
