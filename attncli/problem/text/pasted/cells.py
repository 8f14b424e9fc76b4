"""Makes cells of pasted rows, and lists of cells: what separates the numbers is found between
them.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import chain, starmap, zip_longest

from attncli.english import shorten
from attncli.problem.text.compact_fractions import compact_fraction
from attncli.problem.text.decimal_commas import doubtful_commas, with_points
from attncli.problem.text.nodes import Leaf, ListNode, Node, PastedList
from attncli.problem.text.number_signs import DASHES
from attncli.problem.text.pasted.grammar import Cell, CellRow, CellTable, PastedRow
from attncli.problem.text.pasted.names import named_rows, without_names
from attncli.problem.text.pasted.text import PastedText

# Gaps between words, and between such as look like numbers there.
_BETWEEN_WORDS = re.compile(r"[^,;]+")
_BETWEEN_DIGITS = re.compile(rf"[0-9.)%]\s+[-+{DASHES}0-9.√]")
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
) -> CellTable:
    """The cells of each row, which are apart by this sign, or by what is found between them:
    commas, or only blanks.

    In a table that `has_names`, those of rows and columns are told from the numbers.
    """
    is_known = separator is not None
    if separator is None:
        separator = _separator_in(rows, has_names)
    split = [row.cells(separator) for row in rows]
    if separator:
        _drop_empty_columns(split)
    lengths = [len(row) for row in without_names(split).rows] if has_names else [*map(len, split)]
    # With so many numbers in each row as there should be, a comma is one of a decimal.
    if not is_known and not text.fits(lengths):
        text.require_clear(doubtful_commas(row.piece for row in rows))
    table = table_of(text, split, has_names=has_names)
    if separator or text.of_answers:
        write_points(table.rows)
    if not separator and not text.of_file:
        _require_no_sign_alone(text, table.rows)
        _require_no_mixed_numbers(text, table.rows)
    return table


def table_of(text: PastedText, rows: list[CellRow], *, has_names: bool = True) -> CellTable:
    """Cells that are known to be such, with names of rows and columns told from the numbers.

    Raises what is wrong where dots stand for numbers. In answers they leave one blank.
    """
    for row in rows:
        for place, cell in enumerate(row):
            if text.of_answers and cell.text in _DOTS:
                row[place] = cell._replace(text="_")
            elif not cell.is_quoted:
                require_all_there(text, cell.text, cell.at)
    return named_rows(text, rows) if has_names else CellTable(rows)


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
    is_row = len(rows) == 1
    is_column = all(len(row) == 1 for row in rows)
    if rank < 2 and (is_row or is_column):
        return leaves_of(text, [*chain.from_iterable(rows)])
    return [_row_node(text, row) for row in rows]


def list_of(text: PastedText, table: CellTable, rank: int) -> PastedList:
    """The list of a whole matrix, where a list of this rank is wanted."""
    first = next((cell for row in table.rows for cell in row), None)
    at = text.place(first.at if first else 0)
    nodes = row_nodes(text, table.rows, rank)
    return PastedList(at, nodes, None, table.row_names, table.column_names)


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
    if not any("," in row.outline for row in rows):
        return ""
    gaps = [gap for row in rows for gap in row.gaps]
    if any("," in gap for gap in gaps):
        return ","
    # There may be blanks in a name.
    between_cells = _BETWEEN_DIGITS if has_names else _BETWEEN_WORDS
    return "" if any(map(between_cells.fullmatch, gaps)) else ","


def _require_no_sign_alone(text: PastedText, rows: list[CellRow]) -> None:
    """Raises what is wrong with 5e - 3, where blanks separate numbers."""
    nothing = Cell(0, "")
    for row in rows:
        for before, cell, after in zip([nothing, *row], row, [*row[1:], nothing], strict=False):
            if cell.text not in _SIGNS:
                continue
            sign = "+" if cell.text == "+" else "-"
            begun = before if _BEFORE_POWER.fullmatch(before.text) else nothing
            shown = f"{begun.text} {cell.text} {after.text}".strip()
            message = f"blanks separate numbers here, also in {shorten(shown)}"
            help = f"write {shorten(f'{begun.text}{sign}{after.text}')}, without blanks"
            raise text.error(message, help, begun.at if begun.text else cell.at)


def _require_no_mixed_numbers(text: PastedText, rows: list[CellRow]) -> None:
    """Raises what is wrong with 1 1/3 where all rows can be such numbers, or two in place of
    each.
    """
    values = [value for row in rows for value in _mixed_numbers(row)]
    if not values or None in values:
        return
    first, second = rows[0][:2]
    one, two = values[0], f"{first.text} and {second.text}"
    message = f"{first.text} {second.text} can be read as {one}, or as the numbers {two}"
    help = f"write {one} for one number, or {first.text}, {second.text} for two"
    raise text.error(message, help, first.at)


def _mixed_numbers(row: CellRow) -> list[Fraction | None]:
    """What each two cells of a row are as one number: 4/3 for 1 1/3, and None for 1 2."""
    texts = [cell.text for cell in row]
    # Nothing follows a last one that is alone.
    pairs = zip_longest(texts[::2], texts[1::2], fillvalue="")
    return [*starmap(_mixed_number, pairs)]


def _mixed_number(whole: str, part: str) -> Fraction | None:
    if not _WHOLE_NUMBER.fullmatch(whole):
        return None
    found = _FRACTION.fullmatch(part)
    value = Fraction(int(found[1]), int(found[2])) if found else compact_fraction(part)
    if value is None or not 0 < value < 1:
        return None
    return int(whole) - value if whole.startswith("-") else int(whole) + value


def write_points(rows: list[CellRow]) -> None:
    """Put points into decimals, where all of them are written with a comma."""
    points = with_points(cell.text for row in rows for cell in row)
    for row in rows:
        row[:] = [cell._replace(text=points.get(cell.text, cell.text)) for cell in row]


def _drop_empty_columns(rows: list[CellRow]) -> None:
    """Drop columns without any number, at the end of all rows or at their beginning."""
    for end in (-1, 0):
        while rows and all(len(row) > 1 and not row[end].text for row in rows):
            for row in rows:
                del row[end]
