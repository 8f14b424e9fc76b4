"""Makes cells of pasted rows, and lists of cells: what separates the numbers is found between
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import zip_longest
from operator import attrgetter

from attncli.english import shorten
from attncli.problem.text.compact_fractions import compact_fraction
from attncli.problem.text.decimal_commas import doubtful_commas, with_points
from attncli.problem.text.nodes import Leaf, ListNode, Node
from attncli.problem.text.number_signs import DASHES
from attncli.problem.text.pasted.grammar import Cell, CellRow, PastedRow
from attncli.problem.text.pasted.names import require_named, without_names
from attncli.problem.text.pasted.text import PastedText

_DOTS = ("...", "…")
# MATLAB breaks a row so.
_LINE_GOES_ON = re.compile(r"(?:\.{3}|…)[ \t]*\n")
_SIGNS = ("+", "-", *DASHES)
# In 5e - 3, this is the 5e.
_BEFORE_POWER = re.compile(r"[-+]?[0-9]+\.?[0-9]*[eE]")
_WHOLE_NUMBER = re.compile(r"[-+]?[1-9][0-9]{0,18}")
_FRACTION = re.compile(r"([1-9][0-9]{0,18})\s*/\s*([1-9][0-9]{0,18})")


def cells_of(
    text: PastedText,
    rows: list[PastedRow],
    separator: str | None = None,
    *,
    has_names: bool = False,
) -> list[CellRow]:
    """The cells of each row, which are apart by this sign, or by what is found between them:
    commas, or only blanks.

    Of a table that `has_names`, those of rows and columns are left out.
    """
    if separator is None:
        separator = _separator_in(rows, has_names)
        text.require_clear(doubtful_commas(row.piece for row in rows))
    split = [row.cells(separator) for row in rows]
    for row in split:
        for cell in row:
            if not cell.is_quoted:
                require_all_there(text, cell.text, cell.at)
    if separator:
        _drop_empty_columns(split)
    elif not text.of_file:
        _require_no_sign_alone(text, split)
        _require_no_mixed_numbers(text, split)
    if has_names:
        split = require_named(text, split, without_names(split))
    return _with_decimal_points(split) if separator else split


def require_all_there(text: PastedText, word: str, at: int) -> None:
    """Raises what is wrong where dots stand for numbers."""
    if not word.rstrip(",;").startswith(_DOTS):
        return
    help = (
        "print it in full: in NumPy after np.set_printoptions(threshold=np.inf), or save it in"
        " a .npy file"
    )
    if _LINE_GOES_ON.match(text.text, at):
        help = f"if the row goes on in the next line, leave out the dots; else {help}"
    raise text.error("numbers are left out here", help, at)


def row_nodes(text: PastedText, rows: list[CellRow], rank: int) -> list[Node]:
    """A list for each row; where a list of numbers is wanted, the numbers of a single row or
    column.
    """
    is_row_or_column = len(rows) == 1 or all(len(row) == 1 for row in rows)
    if rank > 1 or not is_row_or_column:
        return [_row_node(text, row) for row in rows]
    leaves = []
    for row in rows:
        leaves += leaves_of(text, row)
    return leaves


def leaves_of(text: PastedText, row: CellRow) -> list[Node]:
    """A node for each cell."""
    return [Leaf(cell.text, False, text.place(cell.at)) for cell in row]


def _row_node(text: PastedText, row: CellRow) -> ListNode:
    at = row[0].at if row else 0
    return ListNode(text.place(at), leaves_of(text, row))


def _separator_in(rows: list[PastedRow], has_names: bool) -> str:
    """What separates the cells of these rows: a comma, or blanks, for which the sign is empty.

    Where blanks are between the numbers, commas that no blank stands beside are those of decimals:
    0,5 1,5.
    """
    if not any(row.holds(",") for row in rows):
        return ""
    gaps = [gap for row in rows for gap in row.gaps]
    if any(gap.is_beside_comma for gap in gaps):
        return ","
    # There may be blanks in a name.
    parts_cells = attrgetter("is_beside_digits" if has_names else "is_between_words")
    return "" if any(map(parts_cells, gaps)) else ","


def _require_no_sign_alone(text: PastedText, rows: list[CellRow]) -> None:
    """Raises what is wrong with 5e - 3, where blanks separate numbers."""
    for row in rows:
        for number, cell in enumerate(row):
            if cell.text not in _SIGNS:
                continue
            sign = "+" if cell.text == "+" else "-"
            before = row[number - 1].text if number else ""
            after = row[number + 1].text if number + 1 < len(row) else ""
            begun = before if _BEFORE_POWER.fullmatch(before) else ""
            shown = f"{begun} {cell.text} {after}".strip()
            message = f"blanks separate numbers here, also in {shorten(shown)}"
            help = f"write {shorten(f'{begun}{sign}{after}')}, without blanks"
            raise text.error(message, help, row[number - 1].at if begun else cell.at)


def _require_no_mixed_numbers(text: PastedText, rows: list[CellRow]) -> None:
    """Raises what is wrong with 1 1/3 where all rows can be such numbers, or two in place of
    each.
    """
    parts = [_fraction_part(before, after) for row in rows for before, after in _pairs(row)]
    if not parts or any(part is None for part in parts):
        return
    first, second = rows[0][:2]
    whole, part = int(first.text), parts[0]
    assert part is not None
    value = whole - part if first.text.startswith("-") else whole + part
    message = (
        f"{first.text} {second.text} can be read as {value}, or as the numbers {first.text} and"
        f" {second.text}"
    )
    help = f"write {value} for one number, or {first.text}, {second.text} for two"
    raise text.error(message, help, first.at)


def _pairs(row: CellRow) -> Iterator[tuple[str, str]]:
    """Each two cells of a row; nothing follows a last one that is alone."""
    texts = [cell.text for cell in row]
    yield from zip_longest(texts[::2], texts[1::2], fillvalue="")


def _fraction_part(whole: str, part: str) -> Fraction | None:
    """The 1/3 of 1 1/3; None where these are no parts of a mixed number."""
    if not _WHOLE_NUMBER.fullmatch(whole):
        return None
    found = _FRACTION.fullmatch(part)
    value = Fraction(int(found[1]), int(found[2])) if found else compact_fraction(part)
    return value if value is not None and 0 < value < 1 else None


def _with_decimal_points(rows: list[CellRow]) -> list[CellRow]:
    """The rows with points in decimals, where all of them are written with a comma."""
    points = with_points(cell.text for row in rows for cell in row)
    if not points:
        return rows

    def pointed(cell: Cell) -> Cell:
        return cell._replace(text=points.get(cell.text, cell.text))

    return [[*map(pointed, row)] for row in rows]


def _drop_empty_columns(rows: list[CellRow]) -> None:
    """Drop columns without any number, at the end of all rows or at their beginning."""
    for end in (-1, 0):
        while rows and all(len(row) > 1 and not row[end].text for row in rows):
            for row in rows:
                del row[end]
