"""How a number comes to be written otherwise: with another sign or digit, two of them swapped, its point moved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

from attncli.answers.model import Claim

_LONGEST = 30  # characters; 1e308 in digits has thousands of ways to be miscopied, and nobody copies it by hand
_PLAIN = re.compile(r"[-+]?\d*\.?\d+")


def miswritten(claim: Claim) -> Iterator[tuple[str, Claim]]:
    """What the number may have been meant to be."""
    if claim.value:
        yield "its sign was turned", Claim(claim.text, -claim.value, claim.half)
    yield from (("two of its digits were swapped", Claim(text, Decimal(text), claim.half)) for text in _swapped(claim))
    for factor in (Decimal(10), Decimal("0.1")):
        if claim.value:
            yield "its decimal point was moved", Claim(claim.text, claim.value * factor, claim.half * factor)


def miscopied(claim: Claim) -> Iterator[tuple[int, str]]:
    """How a plain number may be copied, after the kind of slip: two digits swapped, another sign, another digit."""
    if not _by_hand(claim.text) or not claim.value:
        return
    yield from ((4, text) for text in _swapped(claim))
    yield 5, claim.text[1:] if claim.text[0] == "-" else f"-{claim.text.removeprefix('+')}"
    for at, letter in enumerate(claim.text):
        if letter.isdigit():
            digits = (digit for digit in "0123456789" if digit != letter)
            yield from ((5, f"{claim.text[:at]}{digit}{claim.text[at + 1 :]}") for digit in digits)


def _by_hand(text: str) -> bool:
    """Whether it is a plain number with no more digits than people write."""
    return len(text) <= _LONGEST and _PLAIN.fullmatch(text) is not None


def _swapped(claim: Claim) -> Iterator[str]:
    """A plain number with two neighbouring digits in the other order."""
    text = claim.text
    if not _by_hand(text):
        return
    places = [at for at, letter in enumerate(text) if letter.isdigit()]
    for one, other in pairwise(places):
        if text[one] != text[other]:
            letters = list(text)
            letters[one], letters[other] = letters[other], letters[one]
            yield "".join(letters)
