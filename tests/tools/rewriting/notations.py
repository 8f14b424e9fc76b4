"""Matrices of drawn numbers, written in the notations that people have: made apart from what reads
them, so that one can be held against the other.

A number is drawn as what it is, and then written in one of its spellings. What is drawn is never in
doubt for a person: no row could also be one of mixed numbers, and no comma stands for a point where
commas stand between numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from random import Random

FRACTION_SIGNS = {(1, 2): "½", (1, 4): "¼", (3, 4): "¾", (1, 3): "⅓", (2, 3): "⅔", (1, 8): "⅛"}
AROUND = (
    ("", ""),
    ("$", "$"),
    ("$$\n", "\n$$"),
    ("\\[ ", " \\]"),
    ("\\begin{equation}\n", "\n\\end{equation}"),
)
NAMES = ("I", "love", "AI", "the", "cat", "sat", "[SEP]", "你好", "d_k", "café", "don't")


@dataclass(frozen=True, slots=True)
class Drawn:
    """One number: its sign, a fraction, a decimal's digits where it is one, and what is under a
    root.
    """

    sign: int
    size: Fraction
    digits: str = ""
    root: int = 1

    @property
    def value(self) -> float:
        """The nearest double to a decimal or a fraction, or nearly that of a root."""
        if self.root == 1:
            return self.sign * float(self.size)
        return self.sign * self.size.numerator * sqrt(self.root) / self.size.denominator


def number(draw: Random, *, plain: bool) -> Drawn:
    """A whole number, a decimal, a fraction or a root; of `plain` ones only the first two."""
    sign = draw.choice((1, 1, -1))
    kind = draw.randrange(2 if plain else 4)
    if kind == 0:
        return Drawn(sign, Fraction(whole := draw.choice((0, 1, 2, 3, 10, 42))), str(whole))
    if kind == 1:
        digits = f"{draw.choice((0, 0, 1, 12))}.{draw.randrange(1, 10 ** draw.randint(1, 6))}"
        return Drawn(sign, Fraction(digits), digits)
    above, below = draw.choice(
        [*FRACTION_SIGNS, (draw.randint(1, 9), draw.randint(2, 12)), (22, 7), (5, 1)]
    )
    return Drawn(sign, Fraction(above, below), root=1 if kind == 2 else draw.choice((2, 3, 5, 7)))


def typed(draw: Random, drawn: Drawn) -> str:
    """A number as people type it: 0.5, 1/3, ½, √2/2."""
    minus = draw.choice("-−") if drawn.sign < 0 else ""
    if drawn.digits:
        return minus + drawn.digits
    above, below = drawn.size.numerator, drawn.size.denominator
    if drawn.root == 1:
        sign = FRACTION_SIGNS.get((above, below))
        return minus + (sign if sign and draw.random() < 0.5 else f"{above}/{below}")
    root = draw.choice((f"√{drawn.root}", f"sqrt({drawn.root})"))
    before = "" if above == 1 else f"{above}{draw.choice(('', '*', '·'))}"
    return f"{minus}{before}{root}{'' if below == 1 else f'/{below}'}"


def in_latex(draw: Random, drawn: Drawn) -> str:
    r"""A number in LaTeX: \frac{1}{2}, \tfrac12, \frac{\sqrt{2}}{2}."""
    minus = (
        draw.choice(("-", "{-}", "- ")) if drawn.sign < 0 else draw.choice(("", "", r"\phantom{-}"))
    )
    if drawn.digits:
        return minus + drawn.digits.replace(".", draw.choice((".", ".", "{.}")))
    above, below = drawn.size.numerator, drawn.size.denominator
    root = (
        "" if drawn.root == 1 else draw.choice((rf"\sqrt{{{drawn.root}}}", rf"\sqrt {drawn.root}"))
    )
    over = root if root and above == 1 else f"{above}{root}"
    if below == 1:
        return minus + over
    command = draw.choice((r"\frac", r"\dfrac", r"\tfrac"))
    if not root and above < 10 and below < 10 and draw.random() < 0.3:
        return f"{minus}{command}{draw.choice(('', ' '))}{above}{below}"
    return f"{minus}{command}{{{over}}}{{{below}}}"


def with_comma(text: str) -> str:
    """A number with a decimal comma."""
    return text.replace(".", ",")


Rows = list[list[str]]


def aligned(draw: Random, rows: Rows) -> list[str]:
    """Each row on a line, the numbers below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    justify = draw.choice((str.ljust, str.rjust))
    gap = " " * draw.randint(1, 3)
    return [
        gap.join(justify(cell, width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def latex(draw: Random, rows: Rows) -> str:
    r"""An environment, with what people put around it."""
    environment = draw.choice(("pmatrix", "bmatrix", "matrix", "vmatrix", "smallmatrix", "array"))
    columns = f"{{{draw.choice('clr') * len(rows[0])}}}" if environment == "array" else ""
    between = draw.choice((" & ", "&", "  &\t"))
    end = draw.choice((r" \\ ", r" \\" + "\n", r"\\[2pt]" + "\n", r" \cr "))
    body = end.join(between.join(row) for row in rows) + draw.choice(("", end.rstrip()))
    if draw.random() < 0.2:
        body = rf"\hline {body}" if environment == "array" else body
    inner = rf"\begin{{{environment}}}{columns} {body} \end{{{environment}}}"
    if environment in ("array", "matrix") and draw.random() < 0.5:
        inner = rf"\left[{inner}\right]"
    name = draw.choice(("", "", "S = ", r"\mathbf{X} &= ", "W^{Q} = "))
    before, after = draw.choice(
        (
            ("", ""),
            ("$", "$"),
            ("$$\n", "\n$$"),
            ("\\[ ", " \\]"),
            ("\\begin{equation}\n", "\n\\end{equation}"),
        )
    )
    return f"{before}{name}{inner}{after}"


def brackets(draw: Random, rows: Rows) -> str:
    """Drawn around all rows, as attncli and PDFs have them."""
    if len(rows) == 1:
        return f"t1 [ {' '.join(rows[0])} ]"
    first, inner, last, *ends = draw.choice(("⎡⎢⎣⎤⎥⎦", "⎛⎜⎝⎞⎟⎠", "||||||", "││││││"))
    room = draw.choice(("", " "))
    lines = []
    for place, line in enumerate(aligned(draw, rows)):
        kind = 0 if place == 0 else 2 if place == len(rows) - 1 else 1
        lines.append(f"{(first, inner, last)[kind]}{room}{line}{room}{ends[kind]}")
    return "\n".join(lines)


def rows_in_brackets(draw: Random, rows: Rows) -> str:
    """[1 2], or [1, 2], on a line for each row."""
    between = draw.choice((" ", ", "))
    end = draw.choice(("", ",")) if between == ", " else ""
    if len(rows) == 1:
        return f"[[{between.join(rows[0])}]]"
    return "\n".join(f"[{between.join(row)}]{end}" for row in rows)


def named(draw: Random, rows: Rows) -> Rows:
    """With names above the columns and beside the rows."""
    names = draw.sample(NAMES[:6], len(rows))
    head = ["", *(f"d{place}" for place in range(1, len(rows[0]) + 1))]
    return [head, *([name, *row] for name, row in zip(names, rows, strict=True))]


def markdown(draw: Random, rows: Rows) -> str:
    """A table with or without names."""
    head, *body = named(draw, rows)
    if draw.random() < 0.3:
        head, body = head[1:], rows
    rule = [draw.choice(("---", ":--", "--:", ":-:")) for _ in head]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))


def table(draw: Random, rows: Rows) -> str:
    """Names and numbers, with blanks or tabs between them."""
    whole = named(draw, rows)
    if draw.random() < 0.5:
        return "\n".join("\t".join(row) for row in whole)
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in whole
    )


def lists(draw: Random, rows: Rows) -> str:
    """[[1, 2], [3, 4]], in a call of NumPy or PyTorch, or as MATLAB has it."""
    if draw.random() < 0.3:
        return (
            f"[{'; '.join(' '.join(row) for row in rows)}]"
            if len(rows) > 1
            else f"[[{' '.join(rows[0])}]]"
        )
    inner = ",\n       ".join(f"[{', '.join(row)}]" for row in rows)
    call = draw.choice(("", "array(", "np.array(", "tensor(", "Matrix("))
    return f"{call}[{inner}]{')' if call else ''}"


def by_numpy(draw: Random, rows: Rows) -> str:
    """As print has it: without commas."""
    lines = [f"[{line}]" for line in aligned(draw, rows)]
    return "[" + "\n ".join(lines) + "]"


def by_r(draw: Random, rows: Rows) -> str:
    """With [1,] before the first row and [,1] above the first column."""
    head = [f"[,{place}]" for place in range(1, len(rows[0]) + 1)]
    whole = [["", *head], *([f"[{place},]", *row] for place, row in enumerate(rows, 1))]
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
    return "\n".join(
        " ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in whole
    )


def by_julia(draw: Random, rows: Rows) -> str:
    """With its size above."""
    lines = "\n".join(f" {line}" for line in aligned(draw, rows))
    return f"{len(rows)}×{len(rows[0])} Matrix{{Float64}}:\n{lines}"


def sheet(draw: Random, rows: Rows) -> str:
    """Tabs between numbers, which may have a decimal comma."""
    cells = [[*map(with_comma, row)] for row in rows] if draw.random() < 0.5 else rows
    return "\n".join("\t".join(row) for row in cells)


# Each with whether its numbers can only be decimals, and how one is spelled.
Writer = Callable[[Random, Rows], str]
Speller = Callable[[Random, Drawn], str]
NOTATIONS: dict[str, tuple[Writer, Speller, bool]] = {
    "latex": (latex, in_latex, False),
    "brackets": (brackets, typed, False),
    "rows in brackets": (rows_in_brackets, typed, False),
    "markdown": (markdown, typed, False),
    "table": (table, typed, False),
    "lists": (lists, typed, False),
    "numpy": (by_numpy, typed, True),
    "r": (by_r, typed, True),
    "julia": (by_julia, typed, True),
    "sheet": (sheet, typed, True),
}


def drawn_matrix(draw: Random) -> tuple[str, str, list[list[float]]]:
    """The name of a notation, a matrix written in it, and its numbers."""
    name = draw.choice([*NOTATIONS])
    write, spell, plain = NOTATIONS[name]
    down, across = draw.randint(1, 4), draw.randint(2, 5)
    if name in ("table", "markdown", "julia", "sheet", "r"):
        down = max(down, 2)
    rows = [[number(draw, plain=plain) for _ in range(across)] for _ in range(down)]
    text = write(draw, [[spell(draw, each) for each in row] for row in rows])
    return name, text, [[each.value for each in row] for row in rows]
