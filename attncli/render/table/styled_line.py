"""A line of a terminal's page: its text, and which parts of it have which style.

As much of Rich's `Text` as the table needs, and in the same words; Rich itself, whose import takes
a while, lays out what is coloured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# A piece is not divided: it ends with spaces, with the sign between factors or with the parenthesis
# of a function, and what stands in brackets, the indices of a cell, stays in one; so does a number
# with its percent sign or with what it is the size of, d_v = 2, and a shape with its matrix.
_KEPT = r" (?=%)| (?=\([0-9]+[×)])|(?<=[a-z]) (?== [0-9])|(?<=[a-z] =) (?=[0-9])"
PIECE = rf"(?:\[[^\[\]]*\]|[^ ·*(]|{_KEPT}|(?<!\w)\()*(?: +|[·*]|(?<=\w)\(|$)"
# The start, the end, and the style.
Span: TypeAlias = tuple[int, int, str]
# Pages are full of these, beside ASCII.
ONE_CELL = dict.fromkeys(map(ord, "─━⎡⎢⎣⎤⎥⎦•·×≈→↓√ᵀΣ≤≥–“”‘’…"))


def _wide(text: str) -> int:
    return cell_len(text.rstrip())


def cell_len(text: str) -> int:
    """How many cells of a terminal the text takes."""
    if text.isascii() or text.translate(ONE_CELL).isascii():
        return len(text)
    from rich.cells import cell_len as measured

    return measured(text)


class Line:
    """Text in one style, parts of which have others on top."""

    __slots__ = ("plain", "spans", "style")

    def __init__(self, plain: str = "", style: str = "", spans: Sequence[Span] = ()) -> None:
        self.plain, self.style, self.spans = plain, style, list(spans)

    @classmethod
    def assemble(cls, *parts: str | Line | tuple[str, str]) -> Line:
        """These one after the other."""
        line = cls()
        for part in parts:
            line.append(*part) if isinstance(part, tuple) else line.append(part)
        return line

    @property
    def cell_len(self) -> int:
        return cell_len(self.plain)

    def __len__(self) -> int:
        return len(self.plain)

    def copy(self) -> Line:
        return Line(self.plain, self.style, self.spans)

    def append(self, part: str | Line, style: str = "") -> None:
        """Add a text in a style, or a line with its own."""
        at = len(self.plain)
        if isinstance(part, Line):
            self.spans += part._moved(at)
            self.plain += part.plain
        else:
            self.plain += part
            if style and part:
                self.spans.append((at, len(self.plain), style))

    def join(self, lines: Iterable[Line]) -> Line:
        """The lines with this one between them."""
        joined = Line("", self.style)
        for number, line in enumerate(lines):
            if number:
                joined.append(self)
            joined.append(line)
        return joined

    def stylize(self, style: str, start: int = 0, end: int | None = None) -> None:
        self.spans.append(
            (start, len(self.plain) if end is None else min(end, len(self.plain)), style)
        )

    def pad_left(self, count: int) -> None:
        self.plain = " " * count + self.plain
        self.spans = [(start + count, end + count, style) for start, end, style in self.spans]

    def pad_right(self, count: int) -> None:
        self.plain += " " * count

    def rstrip(self) -> None:
        self.plain = self.plain.rstrip()
        self.spans = list(self._within(0, len(self.plain)))

    def divide(self, ends: Iterable[int]) -> list[Line]:
        """The line cut at these places."""
        cuts = [0, *ends, len(self.plain)]
        return [self.part(start, end) for start, end in pairwise(cuts)]

    def part(self, start: int, end: int | None = None) -> Line:
        """What stands from one place to another."""
        plain = self.plain[start:end]
        return Line(plain, self.style, list(self._within(start, start + len(plain))))

    def folded(self, width: int) -> list[Line]:
        """The line in lines that are no wider, broken within words."""
        lines, end = [], 0
        for piece in self.text().wrap(_console(width), width):
            start = self.plain.index(piece.plain, end)
            end = start + len(piece.plain)
            lines.append(self.part(start, end))
        return lines

    def wrapped(self, width: int) -> list[Line]:
        """The line in lines no wider than `width`, broken between words; only a piece that is too
        long is folded.
        """
        lines: list[Line] = []
        line = Line()
        for piece in self._pieces():
            if line and _wide(line.plain + piece.plain) > width:
                lines.append(line)
                line = Line()
            line.append(piece)
            if _wide(line.plain) > width:
                *folded, line = line.folded(width)
                lines += folded
        lines = [*lines, line] if line or not lines else lines
        for line in lines:
            line.rstrip()
        return lines

    @property
    def longest(self) -> int:
        """How wide the longest piece is."""
        return max((_wide(piece.plain) for piece in self._pieces()), default=0)

    def _pieces(self) -> list[Line]:
        ends = [found.end() for found in re.finditer(PIECE, self.plain)]
        return [piece for piece in self.divide(ends) if piece]

    def text(self) -> Text:
        """The line as Rich has it."""
        from rich.text import Text

        text = Text(self.plain, self.style)
        for start, end, style in self.spans:
            text.stylize(style, start, end)
        return text

    def _moved(self, by: int) -> list[Span]:
        spans = [(start + by, end + by, style) for start, end, style in self.spans]
        return [(by, by + len(self.plain), self.style), *spans] if self.style else spans

    def _within(self, start: int, end: int) -> Iterator[Span]:
        for first, last, style in self.spans:
            if first < end and last > start:
                yield max(first, start) - start, min(last, end) - start, style


def colored(lines: Sequence[Line], width: int) -> list[str]:
    """The lines with the codes of their colours."""
    from rich.text import Text

    console = _console(width, color=True)
    with console.capture() as captured:
        console.print(Text("\n").join(line.text() for line in lines), soft_wrap=True, end="")
    return captured.get().split("\n") if lines else []


def _console(width: int, color: bool = False) -> Console:
    from rich.console import Console

    return Console(
        width=width,
        color_system="truecolor" if color else None,
        force_terminal=color,
        no_color=not color,
        force_jupyter=False,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},
    )
