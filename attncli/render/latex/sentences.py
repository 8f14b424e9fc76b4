"""Sentences in LaTeX, and tables of them: columns of text wrap, and long tables are cut into
parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import ceil

from attncli.equation.notation import LATEX_LINE, PLAIN, UNICODE
from attncli.equation.printer import write
from attncli.page.document import Math, Text
from attncli.render.latex.escape import escape, lacks_letters, length

# So many digits fit side by side.
WIDEST_LINE = 90
# Between two columns, in digits.
COLUMN_GAP = 2.4
_OPERATOR = re.compile(r"\*| (?:[^\w /]+|if|else|and) ")
# On a slide, letters are small.
SMALL_ON_A_SLIDE = r"\ifdim\linewidth<330pt\small\fi"
# A tabular does not break across pages by itself.
MOST_LINES = 22


def sentence(text: Text) -> str:
    """A run of prose, its formulas as inline math."""
    return "".join(
        f"${write(piece.expression, LATEX_LINE)}$" if isinstance(piece, Math) else escape(piece)
        for piece in text
    )


def tables(
    head: Sequence[Text], rows: Sequence[Sequence[Text]], right: Sequence[int]
) -> Iterator[str]:
    """The table as one tabular, or as several with the same head.

    So a long one leaves no hole on a page.
    """
    lengths = [list(map(_length, row)) for row in rows]
    lengths_of_head = map(_length, head)
    widest = [max(column) for column in zip(lengths_of_head, *lengths, strict=True)]
    words = [max(map(_longest, column)) for column in zip(head, *rows, strict=True)]
    shares = _shares(widest, words, right)
    heights: list[int] = []
    for row_lengths in lengths:
        height = 1
        for at, share in shares.items():
            needed = ceil(row_lengths[at] / (share * WIDEST_LINE))
            height = max(height, needed)
        heights.append(height)
    most = MOST_LINES
    if heights:
        tabulars = ceil(sum(heights) / MOST_LINES)
        most = ceil(sum(heights) / tabulars)
    begun = used = 0
    for place, height in enumerate(heights):
        if used and used + height > most:
            yield _tabular(head, rows[begun:place], right, shares)
            begun, used = place, 0
        used += height
    yield _tabular(head, rows[begun:], right, shares)


def _tabular(
    head: Sequence[Text],
    rows: Sequence[Sequence[Text]],
    right: Sequence[int],
    shares: dict[int, float],
) -> str:
    columns = ""
    for place in range(len(head)):
        if place in right:
            columns += "r"
        elif place in shares:
            columns += rf"p{{{shares[place]:.3f}\linewidth}}"
        else:
            columns += "l"
    # \raggedright takes \\ for itself.
    end = r" \tabularnewline" if shares else r" \\"
    names = [rf"\textbf{{{sentence(name)}}}" for name in head]
    lines = [" & ".join(names) + rf"{end} \hline"]
    for row in rows:
        cells = [_cell(text, place in shares) for place, text in enumerate(row)]
        lines.append(" & ".join(cells) + end)
    body = "\n".join(lines)
    table = f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}\n{body}\n\\end{{tabular}}"
    spacing = r"\renewcommand{\arraystretch}{1.15}\tabcolsep=0.0095\linewidth\noindent"
    return f"{{{SMALL_ON_A_SLIDE}{spacing}\n{table}\\par}}"


def _cell(text: Text, wraps: bool) -> str:
    return rf"\raggedright {sentence(text)}" if wraps else sentence(text)


def _shares(
    widest: Sequence[float], words: Sequence[float], right: Sequence[int]
) -> dict[int, float]:
    """Which columns have to wrap, with the share of the line each gets: its longest word's, and
    more as it is wider.
    """
    gaps = COLUMN_GAP * (len(widest) - 1)
    if sum(widest) + gaps <= WIDEST_LINE:
        return {}
    even = WIDEST_LINE / len(widest)
    wide = []
    narrow = 0.0
    for place, width in enumerate(widest):
        if width > even and place not in right:
            wide.append(place)
        else:
            narrow += width
    room = max(1 - (gaps + narrow) / WIDEST_LINE, 0.3)
    least = {place: words[place] / WIDEST_LINE for place in wide}
    needed = sum(least.values())
    if needed > room:
        return {place: share * room / needed for place, share in least.items()}
    wanted = {place: widest[place] - words[place] for place in wide}
    whole = sum(wanted.values()) or 1
    shares = {}
    for place in wide:
        more = (room - needed) * wanted[place] / whole
        shares[place] = least[place] + more
    return shares


def _longest(text: Text) -> float:
    """About how many digits wide the longest word is, or the longest part of a formula that TeX
    does not break.
    """
    words: list[str] = []
    for piece in text:
        if isinstance(piece, str):
            words += piece.split()
        else:
            words += _OPERATOR.split(write(piece.expression, PLAIN))
    parts: list[str] = []
    for word in words:
        if lacks_letters(word):
            # TeX may break after the code of a letter.
            parts += list(word)
        else:
            parts.append(word)
    return max(map(length, parts), default=0)


def _length(text: Text) -> float:
    """About how many digits wide: a formula takes as much as on a terminal."""
    return sum(
        length(piece) if isinstance(piece, str) else len(write(piece.expression, UNICODE))
        for piece in text
    )
