"""Rows on lines without brackets, as spreadsheets, files and blocks of YAML have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import attrgetter

from attncli.english import shorten
from attncli.problem.text.decimal_commas import are_grouped_decimals, doubtful_pairs
from attncli.problem.text.grouped_digits import doubtful_groups
from attncli.problem.text.nodes import Leaf, ListNode, Node, PastedList
from attncli.problem.text.pasted.cells import cells_of, leaves_of, list_of, row_nodes
from attncli.problem.text.pasted.grammar import CellRow, PastedRow, Piece, rows_below
from attncli.problem.text.pasted.long_texts import in_one_go
from attncli.problem.text.pasted.text import PastedText, PasteError

# 0,7 may also be two numbers.
NUMBER_WITH_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+(?:[eE][-+]?[0-9]+)?")
_MOST_NUMBERS_SHOWN = 4


def read_lines(text: PastedText, rank: int, *, may_be_one: bool) -> PastedList | None:
    """The rows of a text without brackets; an empty line begins the next matrix."""
    text.require_lines()
    quick = in_one_go(text) if rank > 1 else None
    if quick:
        return quick
    body = PastedRow.of(text.text)
    lines, separator = _lines_of(text, body, rank)
    matrices = [*_between_empty(lines)]
    rows = [row for matrix in matrices for row in matrix]
    pieces = [row.piece for row in rows]
    # With so many numbers as there should be, no comma separates two.
    is_known = text.fits([1] * len(rows))
    is_column = bool(rows) and all(NUMBER_WITH_COMMA.fullmatch(row.strip()) for _, row in pieces)
    if is_column and not text.of_file and (len(rows) == 1 or rank == 1):
        if len(rows) == 1 and not may_be_one:
            return None
        if not is_known:
            text.require_clear(doubtful_pairs(pieces))
    if not text.of_file:
        _require_single_numbers(text, pieces, separator)
    if (text.of_tabs or is_known) and (is_column or are_grouped_decimals(pieces)):
        separator = "\t"
    has_names = len(matrices) == 1 and len(rows) > 1
    table = cells_of(text, rows, separator, has_names=has_names)
    if not may_be_one and sum(map(len, table.rows)) < 2:
        return None
    if len(matrices) > 1:
        return _several_matrices(text, matrices, table.rows, rank)
    return list_of(text, table, rank)


def read_entries(node: ListNode) -> PastedList:
    """The rows of a block of YAML, each an entry such as - 1 0 1."""
    leaves = [item for item in node.items if isinstance(item, Leaf)]
    text = PastedText("", 0)
    entries = [PastedRow.of(leaf.text, leaf.at + leaf.quoted) for leaf in leaves]
    parts = [part for entry in entries for part in entry.split(";")]
    separator = None
    if len(parts) > len(entries) and not any(part.can_only_be_several for part in parts):
        separator = ";"
    if separator is None:
        text.require_clear(doubtful_groups([entry.piece for entry in entries]))
    rows = cells_of(text, entries, separator).rows
    nodes: list[Node] = [
        ListNode(leaf.at, leaves_of(text, row)) for leaf, row in zip(leaves, rows, strict=True)
    ]
    return PastedList(node.at, nodes)


def _require_single_numbers(text: PastedText, rows: list[Piece], separator: str | None) -> None:
    """Raises what is wrong where 1.000,5 or 1 234 can be one number, and can be two."""
    if separator is None:
        text.require_clear(doubtful_groups(rows))
    if are_grouped_decimals(rows):
        text.require_clear(doubtful_pairs(rows))


def _lines_of(text: PastedText, body: PastedRow, rank: int) -> tuple[list[PastedRow], str | None]:
    """The lines of a text that are rows, and what separates cells in them; None where the cells
    tell that.
    """
    lines = body.split("\n")
    tabs = "".join(gap for line in lines for gap in line.gaps if "\t" in gap)
    if tabs and "," not in tabs and ";" not in tabs:
        return lines, "\t"
    if ";" not in body.outline:
        return lines, None
    if text.of_file:
        return lines, ";"
    parts = rows_below(part for line in lines for part in line.split(";"))
    if any(part.can_only_be_several for part in parts):
        return parts, None
    if len(rows_below(lines)) == 1:
        text.require_clear(doubtful_pairs(part.piece for part in parts))
        if rank > 1 and len(parts) > 1:
            raise _row_or_column(text, body.text.strip(), parts)
    return lines, ";"


def _several_matrices(
    text: PastedText, matrices: list[list[PastedRow]], row_cells: list[CellRow], rank: int
) -> PastedList:
    """A list for each matrix, of those whose rows stand together."""
    if all(len(matrix) == 1 for matrix in matrices):
        message = "an empty line can be read as the end of a row, or as the end of a matrix"
        raise text.error(message, "remove the empty lines between rows", matrices[1][0].at)
    nodes: list[Node] = []
    left = iter(row_cells)
    for matrix in matrices:
        rows = [*islice(left, len(matrix))]
        nodes.append(ListNode(text.place(rows[0][0].at), row_nodes(text, rows, rank)))
    return PastedList(text.place(matrices[0][0].at), nodes)


def _row_or_column(text: PastedText, said: str, parts: list[PastedRow]) -> PasteError:
    """What is wrong with 1; 0 on one line."""
    numbers = [part.text.strip() for part in parts]
    first = parts[0]
    at = first.at + first.text.index(numbers[0])
    shown = numbers[:_MOST_NUMBERS_SHOWN]
    if len(numbers) > len(shown):
        shown.append("…")
    row, column = ", ".join(shown), "; ".join(shown)
    message = f"{shorten(said)} can be read as one row, or as one column"
    return text.error(message, f"write [[{row}]] for a row, or [{column}] for a column", at)


def _between_empty(lines: Iterable[PastedRow]) -> Iterator[list[PastedRow]]:
    """The lines without their indentation, in groups wherever there are empty ones between them."""
    for is_empty, group in groupby(lines, attrgetter("is_blank")):
        if not is_empty:
            yield [line.without_indentation() for line in group]
