"""Formulas of the documentation, from TeX to MathML: as much of both as its pages use."""

from __future__ import annotations

import re

_PIECE = re.compile(r"\\[a-zA-Z]+|\\\\|[A-Za-zα-ω]|\d+|\S")
_MATRIX = re.compile(r"\\begin\{pmatrix\}(.*?)\\end\{pmatrix\}", re.DOTALL)


_SPACE = '<mspace width="0.17em"/>'


def mathml(tex: str) -> str:
    """A formula on a line of its own.

    >>> mathml("2 x")
    '<math display="block"><mrow><mn>2</mn><mi>x</mi></mrow></math>'
    """
    # What stands between two matrices, and what is in one, take turns.
    pieces = _MATRIX.split(tex)
    shown = [_matrix(piece) if at % 2 else _row(piece) for at, piece in enumerate(pieces)]
    return f'<math display="block">{"".join(shown)}</math>'


def _matrix(text: str) -> str:
    rows = []
    for line in text.split(r"\\"):
        cells = [f"<mtd>{_row(cell)}</mtd>" for cell in line.split("&")]
        rows.append(f"<mtr>{''.join(cells)}</mtr>")
    return f"<mrow><mo>(</mo><mtable>{''.join(rows)}</mtable><mo>)</mo></mrow>"


def _row(text: str) -> str:
    return f"<mrow>{''.join(map(_sign, _PIECE.findall(text)))}</mrow>"


def _sign(piece: str) -> str:
    if piece in (r"\cos", r"\sin"):
        return f"{_SPACE}<mi>{piece[1:]}</mi>{_SPACE}"
    if piece.startswith("\\"):
        raise ValueError(f"no formula of the documentation has had {piece} yet")
    if piece.isdigit():
        return f"<mn>{piece}</mn>"
    if piece.isalpha():
        return f"<mi>{piece}</mi>"
    return f"<mo>{piece.replace('-', '−')}</mo>"
