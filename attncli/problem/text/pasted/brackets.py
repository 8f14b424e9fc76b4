"""Lists in brackets: [1 2; 3 4] of MATLAB, [[1 2]\\n [3 4]] as NumPy prints it, np.array([[1, 2]]).

list = "[" row "]"  or  "[" rows "]"  or  "[" list* "]"
"""

from __future__ import annotations

import re

from attncli.english import shorten
from attncli.problem.limits import DEPTH_LIMIT
from attncli.problem.text.decimal_commas import doubtful_pairs
from attncli.problem.text.nodes import ListNode, Node, PastedList
from attncli.problem.text.pasted.cells import cells_of, leaves_of, require_all_there, row_nodes
from attncli.problem.text.pasted.grammar import PastedRow, brackets, first_word, rows_below
from attncli.problem.text.pasted.text import PastedText

# A call of Python that makes an array begins so: np.array( is one.
CALL = (
    r"(?:Parameter containing:\s*)?(?:[A-Za-z]\w*\.)*"
    r"(?:array|asarray|matrix|Matrix|tensor|as_tensor|Tensor|Array|DeviceArray|constant)\s*\(\s*"
)
LIST_BEGIN = re.compile(rf"{CALL}|(?=\[)", re.ASCII)
_ARGUMENT = (
    r"""(?:[A-Za-z_]\w*\s*=\s*)?(?:'[^']*'|"[^"]*"|<[^<>]*>|\([\d, ]*\)|[\w.]+(?:\([^()]*\))?)"""
)
# Such a call ends so, as in np.array([1, 2], dtype=float32, device='cuda:0').
CALL_END = re.compile(rf"(?:\s*,\s*{_ARGUMENT})*+\s*+(?:,\s*+)?\)", re.ASCII)
_COMMA_AT_LINE_END = re.compile(r",[ \t]*\n|\n[ \t]*,")
_CLOSE_HELP = "close each row before the next one begins: [[1, 2], [3, 4]]"


def read_list(text: PastedText, begin: re.Match[str], rank: int) -> PastedList:
    """The list of a text that has nothing else in it, but the call of np.array([[1, 2]])."""
    call, start = begin[0], begin.end()
    if not text.text.startswith("[", start):
        message = f"there is no list in {shorten(call.rstrip())}…)"
        raise text.error(message, "write a matrix as [[1, 0], [0, 1]]", start)
    found, end = read_brackets(text, start, rank)
    help = "the matrix ends before it"
    if call:
        end = _end_of_call(text, call, end)
    elif text.text[end:].lstrip(" \t\r\n,;").startswith("["):
        help = "put all rows into one list: [[1, 2], [3, 4]]"
    _require_nothing(text, end, len(text.text), help)
    return found


def _end_of_call(text: PastedText, call: str, end: int) -> int:
    closing = CALL_END.match(text.text, end)
    if closing is None:
        raise text.error('")" is missing', f"write {shorten(call)}[[1, 0], [0, 1]])", end)
    return closing.end()


def read_brackets(text: PastedText, start: int, rank: int) -> tuple[PastedList, int]:
    """The lists whose first bracket is at this place, and where they end.

    What the innermost ones hold is read last: all of it together tells what separates the numbers.
    """
    opened = [ListNode(0)]
    innermost: list[tuple[ListNode, PastedRow]] = []
    end = start
    for bracket in brackets(text.text, start):
        at, before = bracket.start(), end
        is_begin, end = bracket[0] == "[", bracket.end()
        if is_begin or opened[-1].items:
            _require_nothing(text, before, at, _CLOSE_HELP)
        else:
            innermost.append((opened[-1], PastedRow.of(text.text[before:at], before)))
        if is_begin:
            _require_depth(text, len(opened), at)
            opened.append(ListNode(text.place(at)))
            opened[-2].items.append(opened[-1])
            continue
        node = opened.pop()
        if len(opened) == 1:
            _fill(text, node, innermost, rank)
            return PastedList(node.at, node.items), end
    missing = "]" * (len(opened) - 1)
    raise text.error(f'"{missing}" is missing', _CLOSE_HELP, len(text.text.rstrip()))


def _require_depth(text: PastedText, depth: int, at: int) -> None:
    if depth > DEPTH_LIMIT:
        message = f"lists are nested more than {DEPTH_LIMIT} deep"
        raise text.error(message, "a matrix has two levels", at)


def _fill(
    text: PastedText, root: ListNode, innermost: list[tuple[ListNode, PastedRow]], rank: int
) -> None:
    """Put the numbers into the lists that hold no others."""
    first, content = innermost[0]
    if first is root:
        root.items.extend(_items_of(text, content, rank))
        return
    written = [row for _, row in innermost]
    rows = cells_of(text, written, _between_cells(text, written)).rows
    for (node, _), row in zip(innermost, rows, strict=True):
        node.items.extend(leaves_of(text, row))


def _between_cells(text: PastedText, rows: list[PastedRow]) -> str | None:
    """What separates the cells of rows with brackets of their own: the semicolon, where answers
    have one in each of them. None where it is still to be found.
    """
    if not text.of_answers or len(rows) == 1:
        return None
    return ";" if all(";" in row.outline for row in rows) else None


def _items_of(text: PastedText, content: PastedRow, rank: int) -> list[Node]:
    """What a list that holds no others has in it: numbers, or the rows that semicolons or line
    breaks make of them.
    """
    has_semicolon = ";" in content.outline
    rows = rows_below(content.split(";"))
    if has_semicolon:
        doubt = doubtful_pairs(row.piece for row in rows)
        # Where answers have a list of numbers, a semicolon makes no rows.
        if doubt and text.of_answers and rank == 1:
            return leaves_of(text, cells_of(text, [content], ";").rows[0])
        text.require_clear(doubt)
    elif rank > 1 and not _COMMA_AT_LINE_END.search(content.text):
        text.require_lines()
        rows = rows_below(content.split("\n"))
    split = cells_of(text, rows).rows
    if len(split) > 1 or has_semicolon:
        return row_nodes(text, split, rank)
    return leaves_of(text, split[0]) if split else []


def _require_nothing(text: PastedText, start: int, end: int, help: str) -> None:
    """Raises what is wrong where anything but separators and remarks stands between lists, or
    behind them.
    """
    found = first_word(text.text[start:end])
    if found is None:
        return
    at, word = start + found[0], found[1]
    require_all_there(text, word, at)
    raise text.error(f"{shorten(word)} does not belong here", help, at)
