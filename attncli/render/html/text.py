"""Text for a page in HTML: nothing that a person wrote is markup, and labels do not turn the text
around them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from attncli.equation.mathml import MATHML
from attncli.equation.nodes import Expression, Number
from attncli.equation.notation import UNICODE
from attncli.equation.printer import write, write_number
from attncli.escaping import label, visible
from attncli.page.document import Field, Math, Text


def written(text: str) -> str:
    """What a person wrote, letter for letter."""
    return escape(visible(text), quote=False)


def attribute(text: str) -> str:
    """The same as the value of an attribute."""
    return escape(visible(text))


# The same labels stand at many matrices.
@lru_cache(2**12)
def isolated(text: str) -> str:
    """A label; one that is not ASCII may run from right to left, and is kept apart from what stands
    beside it.
    """
    shown = written(label(text))
    return shown if shown.isascii() else f"<bdi>{shown}</bdi>"


def cell_label(text: str) -> str:
    """Where a cell is, such as I → love: the arrow points to the right, whichever way the labels
    run.
    """
    shown = written(label(text))
    if shown.replace("→", "").isascii():
        return shown
    return f'<bdi dir="ltr">{shown.replace(" → ", "&#8206; → &#8206;")}</bdi>'


def signed(text: str) -> str:
    """Numbers and sums with the sign for minus, which is as wide as a plus and is read aloud."""
    return text.replace("-", "−")


def raised(text: str) -> str:
    """A line whose powers stand higher, e^2.887; the sign of the power is not seen, but read and
    copied.
    """

    def higher(found: re.Match[str]) -> str:
        power = found[1]
        if power[0] == "(":
            return f"<sup><span>^(</span>{power[1:-1]}<span>)</span></sup>"
        return f"<sup><span>^</span>{power}</sup>"

    return re.sub(r"\^(\([^()]*\)|[^\s()·+,]+)", higher, text)


def number(text: str) -> str:
    """A number as printed, such as −∞ or 1/3."""
    return signed(write_number(text, UNICODE))


def math(expression: Expression) -> str:
    """A formula in a line of text; a number is text itself."""
    if isinstance(expression, Number):
        return number(expression.text)
    return f"<math>{write(expression, MATHML)}</math>"


_OPENING = ("(", "“", '"')
_BESIDE = re.compile(r" = \d+[),.;:?]?|[),.;:?]")


def _piece(piece: str | Math) -> str:
    if isinstance(piece, Math):
        return math(piece.expression)
    if isinstance(piece, Field):
        called = attribute(piece.name)
        # A letter is wider than a dot, and a field for as many is wider still.
        size = len(piece) * 2 // 3
        return f'<input class="word" name="{called}" size="{size}" aria-label="{called}"/>'
    return written(piece)


def sentence(text: Text) -> str:
    """A run of prose. A formula is not parted from its number and the punctuation beside it."""
    pieces = [*map(_piece, text)]
    for place, piece in enumerate(text):
        if not isinstance(piece, Math):
            continue
        opens = ""
        if place:
            before = pieces[place - 1]
            opens = before[-1:] if before.endswith(_OPENING) else ""
        after = ""
        if place + 1 < len(pieces):
            after = pieces[place + 1]
        beside = _BESIDE.match(after)
        closes = beside[0] if beside else ""
        if opens:
            pieces[place - 1] = pieces[place - 1][:-1]
        if closes:
            pieces[place + 1] = after[len(closes) :]
        if opens or closes:
            pieces[place] = f'<span class="together">{opens}{pieces[place]}{closes}</span>'
    return "".join(pieces)
