"""A calculation cut into numbers, signs and names, with a sign of its own where two factors stand side by side: 2√3."""

from __future__ import annotations

import re

CALLED = ("sqrt", "exp", "ln", "tanh", "sin", "cos")
BESIDE = " "  # stands between two factors without a sign
_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_TOKEN = re.compile(rf"\s*(?:({_NUMBER})|(\*\*|[-+*/^()√]|{'|'.join(CALLED)}|e(?![A-Za-z0-9])))")
_ENDS_A_NUMBER = tuple("0123456789.")


def tokens(text: str) -> list[str] | None:
    """What the text consists of, from left to right; None where there is something that no calculation has."""
    found: list[str] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        token = match[1] or match[2]
        if found and _is_factor(token, found[-1]):
            found.append(BESIDE)
        found.append(token)
        at = match.end()
    return found


def _is_factor(token: str, before: str) -> bool:
    """Whether a token multiplies what stands before it; digits never do, and e(2) is no spelling of 2e."""
    if token == "(":
        return before == ")" or before.endswith(_ENDS_A_NUMBER)
    return token in ("√", "e", *CALLED) and (before in (")", "e") or before.endswith(_ENDS_A_NUMBER))
