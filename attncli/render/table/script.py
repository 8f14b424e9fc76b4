"""What the reader's encoding can show: Unicode as it is, or ASCII in place of the project's own signs."""

from __future__ import annotations

from typing import NamedTuple

from attncli.equation.nodes import Expression
from attncli.equation.notation import PLAIN, UNICODE, Notation
from attncli.equation.printer import write, write_number
from attncli.render.escaping import label, visible

_ASCII = str.maketrans(
    {
        **dict(zip("─━⎡⎢⎣⎤⎥⎦•·×≈–“”‘’░▒▓█", "-=[|[]|]-*x~-\"\"''.:+#", strict=True)),
        "✓": "+",
        "✗": "x",
        "»": ">",
        "→": "->",
        "…": "...",
        "²": "^2",
        "√": "sqrt",
        "Σ": "sum",
        "ᵀ": "^T",
        "≤": "<=",
        "≥": ">=",
        "␣": r"\x20",
    }
)
_DRAWN = "─━⎡⎢⎣⎤⎥⎦•·×≈→√ᵀΣ∞░▒▓█✓✗"


class Script(NamedTuple):
    """How words, labels, formulas and numbers are spelled, so that their widths are those on the page.

    Where the encoding lacks the signs of a page, ASCII stands for them and formulas are PLAIN; what else it
    lacks, as a letter in a label, is an escape.
    """

    encoding: str
    notation: Notation

    def text(self, text: str) -> str:
        """Text that is safe already, in what the encoding has."""
        if self.notation is UNICODE:
            return text
        return text.translate(_ASCII).encode(self.encoding, "backslashreplace").decode(self.encoding)

    def visible(self, text: str) -> str:
        """What a person wrote, in a sentence."""
        return self.text(visible(text))

    def label(self, text: str) -> str:
        """A token or another label."""
        return self.text(label(text))

    def formula(self, expression: Expression) -> str:
        """An expression."""
        return self.text(write(expression, self.notation))

    def number(self, text: str) -> str:
        """A printed number."""
        return write_number(text, self.notation)


def script(encoding: str) -> Script:
    """The script for an encoding, by the name Python has for it."""
    try:
        _DRAWN.encode(encoding)
    except UnicodeEncodeError:
        return Script(encoding, PLAIN)
    return Script(encoding, UNICODE)
