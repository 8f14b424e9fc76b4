"""Reads a pasted text to nested lists: its brackets or lines to rows, and the rows to cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate, pairwise

from attncli.english import shorten
from attncli.problem.limits import DEPTH_LIMIT, ELEMENT_LIMIT
from attncli.problem.text.building import LONG_TEXT
from attncli.problem.text.decimal_commas import (
    are_grouped_decimals,
    doubtful_commas,
    doubtful_pairs,
    with_points,
)
from attncli.problem.text.grouped_digits import doubtful_groups
from attncli.problem.text.nodes import Leaf, ListNode, Node, PastedList
from attncli.problem.text.pasted.cells import (
    BLANKS_BETWEEN_NUMBERS,
    LOOSE_COMMA,
    cells,
    held_together,
    pieces,
    with_quotes_held,
    without_remarks,
)
from attncli.problem.text.pasted.names import is_head, require_named, without_names
from attncli.problem.text.pasted.text import CellRow, PastedText, PasteError, Piece

# the beginning of a call of Python that makes an array: np.array(
CALL = (
    r"(?:Parameter containing:\s*)?(?:[A-Za-z]\w*\.)*"
    r"(?:array|asarray|matrix|Matrix|tensor|as_tensor|Tensor|Array)\s*\(\s*"
)
CALL_BEGIN = re.compile(CALL, re.ASCII)
# W_Q = [1 2; 3 4]
NAME_BEFORE = re.compile(r"\s*(?:[A-Za-z_]\w*\s*=(?!=)\s*)?", re.ASCII)
_ARGUMENT = (
    r"""(?:[A-Za-z_]\w*\s*=\s*)?(?:'[^']*'|"[^"]*"|<[^<>]*>|\([\d, ]*\)|[\w.]+(?:\([^()]*\))?)"""
)
# , dtype=float32, device='cuda:0')
CALL_END = re.compile(rf"(?:\s*,\s*{_ARGUMENT})*+\s*+(?:,\s*+)?\)", re.ASCII)
# 0,7, which may also be two numbers
NUMBER_WITH_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+(?:[eE][-+]?[0-9]+)?")
# what may stand between lists, and behind the last one
_SEPARATORS = re.compile(r"[\s,;]*")
_BRACKET_OR_CONTENT = re.compile(r"[\[\]]|#[^\n]*|[^\[\]#]+")
_THOUSANDS_BY_COMMA = re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+")
_TAB_BETWEEN_CELLS = re.compile(r"[^\s,;] *\t[ \t]*[^\s,;]")
_TAB_BESIDE_SIGN = re.compile(r"[,;] *\t|\t *[,;]")
_BLANKS_BESIDE_DIGITS = re.compile(r"[0-9.)]\s+[-+.0-9]")
_COMMA_AT_LINE_END = re.compile(r",[ \t]*\n|\n[ \t]*,")
_DOTS = ("...", "…")
_SEPARATORS_TO_BLANKS = str.maketrans("\t,;", "   ")
_PLAIN_NUMBERS = re.compile(r"[-+.0-9eE\s]*")
# The pattern begins with the 0, so that it is found quickly.
_LEADING_ZERO = re.compile(r"0(?<![0-9.eE].)(?<![eE][+-].)[0-9]")
_CLOSE_HELP = "close each row before the next one begins: [[1, 2], [3, 4]]"
_MOST_NUMBERS_SHOWN = 4
# characters of a number that is read with all others in one go
_LONGEST_NUMBER = 200


def read_pasted(text: PastedText, rank: int, *, may_be_one: bool = False) -> PastedList | None:
    """The lists of a whole text; None for a number alone, unless that `may_be_one`.

    np.array([[1, 2]]) means [[1, 2]], and so does W = [1 2].
    """
    name = NAME_BEFORE.match(text.text)
    start = name.end() if name else 0
    call = CALL_BEGIN.match(text.text, start)
    if call:
        start = call.end()
    if text.text.startswith("[", start):
        return _read_whole_list(text, start, call, rank)
    if call:
        message = f"there is no list in {shorten(call[0].rstrip())}…)"
        raise text.error(message, "write a matrix as [[1, 0], [0, 1]]", start)
    if name and "=" in name[0] and not text.of_file:
        text = replace(text, text=text.text[start:].rjust(len(text.text)))
    return _read_lines(text, rank, may_be_one=may_be_one)


def _read_whole_list(
    text: PastedText, start: int, call: re.Match[str] | None, rank: int
) -> PastedList:
    """The list that begins there, behind which nothing but the end of the call may stand."""
    found, end = read_brackets(text, start, rank)
    if call:
        closing = CALL_END.match(text.text, end)
        if closing is None:
            help = f"write {shorten(call[0])}[[1, 0], [0, 1]])"
            raise text.error('")" is missing', help, end)
        end = closing.end()
    rest = text.text[end:].lstrip(" \t\r\n,;")
    help = "the matrix ends before it"
    if rest.startswith("[") and not call:
        help = "put all rows into one list: [[1, 2], [3, 4]]"
    _require_nothing(text, end, len(text.text), help)
    return found


def _require_nothing(text: PastedText, start: int, end: int, help: str) -> None:
    """Raises what is wrong where anything but separators stands in a part of a text."""
    rest = without_remarks(text.text[start:end])
    between = _SEPARATORS.match(rest)
    assert between is not None
    if between.end() == len(rest):
        return
    word = rest[between.end() :].split()[0]
    at = start + between.end()
    _require_all_there(text, word, at)
    raise text.error(f"{shorten(word)} does not belong here", help, at)


def _require_all_there(text: PastedText, word: str, at: int) -> None:
    """Raises what is wrong where dots stand for numbers."""
    if not word.rstrip(",;").startswith(_DOTS):
        return
    help = (
        "print it in full: in NumPy after np.set_printoptions(threshold=np.inf), or save it in"
        " a .npy file"
    )
    raise text.error("numbers are left out here", help, at)


# Lists in brackets


def read_brackets(text: PastedText, start: int, rank: int) -> tuple[PastedList, int]:
    """The lists whose first bracket is at this place, and where they end.

    [[1 2]\n [3 4]] is two rows, as NumPy prints them, and so is [1 2; 3 4] of MATLAB.
    """
    root = PastedList(text.place(start))
    # with where each begins inside
    unclosed: list[tuple[ListNode, int]] = []
    innermost: list[tuple[ListNode, Piece]] = []
    end = start
    for part in _BRACKET_OR_CONTENT.finditer(text.text, start):
        before, end = end, part.end()
        if part[0] == "[":
            new = ListNode(text.place(part.start())) if unclosed else root
            if unclosed:
                _require_nothing(text, before, part.start(), _CLOSE_HELP)
                unclosed[-1][0].items.append(new)
            unclosed.append((new, end))
            if len(unclosed) > DEPTH_LIMIT:
                message = f"lists are nested more than {DEPTH_LIMIT} deep"
                raise text.error(message, "a matrix has two levels", before)
        elif part[0] == "]":
            ended, inside = unclosed.pop()
            if ended.items:
                _require_nothing(text, before, part.start(), _CLOSE_HELP)
            else:
                content = without_remarks(text.text[inside : part.start()])
                innermost.append((ended, (inside, content)))
            if not unclosed:
                break
        else:
            # What is between lists is looked at when the next one begins or ends.
            end = before
    if unclosed:
        missing = "]" * len(unclosed)
        raise text.error(f'"{missing}" is missing', _CLOSE_HELP, len(text.text.rstrip()))
    _fill(text, root, innermost, rank)
    return root, end


def _fill(
    text: PastedText, root: ListNode, innermost: list[tuple[ListNode, Piece]], rank: int
) -> None:
    """Put the numbers into the lists that hold no others."""
    first, content = innermost[0]
    if first is root:
        _fill_alone(text, root, content, rank)
        return
    split = _split(text, [piece for _, piece in innermost])
    for (row, _), row_cells in zip(innermost, split, strict=True):
        row.items.extend(_leaves(text, row_cells))


def _fill_alone(text: PastedText, root: ListNode, inside: Piece, rank: int) -> None:
    """Fill a list that holds no others: with numbers, or with the rows that semicolons or line
    breaks make of them.
    """
    content = inside[1]
    has_semicolon = ";" in content
    rows = _not_blank(pieces(inside, ";"))
    if has_semicolon:
        text.require_clear(doubtful_pairs(rows))
    elif rank > 1 and not _COMMA_AT_LINE_END.search(content):
        text.require_lines()
        rows = _not_blank(pieces(inside, "\n"))
    split = _split(text, rows)
    if len(split) > 1 or has_semicolon:
        root.items.extend(_row_nodes(text, split, rank))
        return
    for row in split:
        root.items.extend(_leaves(text, row))


def _not_blank(parts: list[Piece]) -> list[Piece]:
    return [part for part in parts if part[1].strip()]


# Lines without brackets


def read_entries(node: ListNode) -> PastedList:
    """The rows of a block of YAML, each an entry such as - 1 0 1."""
    leaves = [item for item in node.items if isinstance(item, Leaf)]
    text = PastedText("", 0)
    entries = [(leaf.at + leaf.quoted, leaf.text) for leaf in leaves]
    parts = [part for entry in entries for _, part in pieces(entry, ";")]
    separator = None
    if len(parts) > len(entries) and not any(map(_is_row, parts)):
        separator = ";"
    if separator is None:
        text.require_clear(doubtful_groups(entries))
    rows = _split(text, entries, separator)
    nodes: list[Node] = [
        ListNode(leaf.at, _leaves(text, row)) for leaf, row in zip(leaves, rows, strict=True)
    ]
    return PastedList(node.at, nodes)


def _read_lines(text: PastedText, rank: int, *, may_be_one: bool) -> PastedList | None:
    """The rows of a text without brackets; an empty line begins the next matrix."""
    text.require_lines()
    body = without_remarks(text.text)
    lines, separator = _lines_of(text, body, rank)
    matrices = [*_between_empty(lines)]
    rows = [row for matrix in matrices for row in matrix]
    is_column = bool(rows) and all(NUMBER_WITH_COMMA.fullmatch(row.strip()) for _, row in rows)
    if is_column and not text.of_file and (len(rows) == 1 or rank == 1):
        if len(rows) == 1 and not may_be_one:
            return None
        text.require_clear(doubtful_pairs(rows))
    if not text.of_file:
        _require_single_numbers(text, rows, separator)
    if text.of_tabs and (is_column or are_grouped_decimals(rows)):
        separator = "\t"
    if len(matrices) == 1 and rank > 1:
        quick = _in_one_go(text, body, rows, separator)
        if quick:
            return quick
    row_cells = _split(text, rows, separator, has_names=text.of_file and len(matrices) == 1)
    if not may_be_one and sum(map(len, row_cells)) < 2:
        return None
    if len(matrices) > 1:
        return _several_matrices(text, matrices, row_cells, rank)
    at = text.place(rows[0][0] if rows else 0)
    return PastedList(at, _row_nodes(text, row_cells, rank))


def _require_single_numbers(text: PastedText, rows: list[Piece], separator: str | None) -> None:
    """Raises what is wrong where 1.000,5 or 1 234 can be one number, and can be two."""
    if separator is None:
        text.require_clear(doubtful_groups(rows))
    if are_grouped_decimals(rows):
        text.require_clear(doubtful_pairs(rows))


def _lines_of(text: PastedText, body: str, rank: int) -> tuple[list[Piece], str | None]:
    """The lines of a text that are rows, and what separates cells in them; None where the cells
    tell that.
    """
    lines = pieces((0, body), "\n")
    tight = held_together(with_quotes_held(body))
    if "\t" in tight and _TAB_BETWEEN_CELLS.search(tight) and not _TAB_BESIDE_SIGN.search(tight):
        return lines, "\t"
    if ";" not in tight:
        return lines, None
    if text.of_file:
        return lines, ";"
    parts = _not_blank([part for line in lines for part in pieces(line, ";")])
    if any(_is_row(part) for _, part in parts):
        return parts, None
    if "\n" not in body.strip():
        text.require_clear(doubtful_pairs(parts))
        if rank > 1 and len(parts) > 1:
            raise _row_or_column(text, body.strip(), parts)
    return lines, ";"


def _several_matrices(
    text: PastedText, matrices: list[list[Piece]], row_cells: list[CellRow], rank: int
) -> PastedList:
    """A list for each matrix, of those whose rows stand together."""
    if all(len(matrix) == 1 for matrix in matrices):
        message = "an empty line can be read as the end of a row, or as the end of a matrix"
        raise text.error(message, "remove the empty lines between rows", matrices[1][0][0])
    ends = accumulate(map(len, matrices), initial=0)
    split = [row_cells[start:end] for start, end in pairwise(ends)]
    nodes: list[Node] = []
    for matrix in split:
        at, _ = matrix[0][0]
        nodes.append(ListNode(text.place(at), _row_nodes(text, matrix, rank)))
    first_at, _ = matrices[0][0]
    return PastedList(text.place(first_at), nodes)


def _row_or_column(text: PastedText, said: str, parts: list[Piece]) -> PasteError:
    """What is wrong with 1; 0 on one line."""
    numbers = [part.strip() for _, part in parts]
    first_at, first = parts[0]
    at = first_at + first.index(numbers[0])
    shown = numbers[:_MOST_NUMBERS_SHOWN]
    if len(numbers) > len(shown):
        shown.append("…")
    row, column = ", ".join(shown), "; ".join(shown)
    message = f"{shorten(said)} can be read as one row, or as one column"
    return text.error(message, f"write [[{row}]] for a row, or [{column}] for a column", at)


def _is_row(part: str) -> bool:
    """Whether what stands between semicolons can only be several numbers: 1 2, or 1,2,3, but not
    1,5.
    """
    part = held_together(part.strip())
    if BLANKS_BETWEEN_NUMBERS.search(part) or LOOSE_COMMA.search(part):
        return True
    return part.count(",") > 1 and not _THOUSANDS_BY_COMMA.fullmatch(part)


def _between_empty(lines: Iterable[Piece]) -> Iterator[list[Piece]]:
    """The lines without their indentation, in groups wherever there are empty ones between them."""
    group: list[Piece] = []
    for at, line in lines:
        if line.strip():
            content = line.lstrip(" ")
            group.append((at + len(line) - len(content), content))
        elif group:
            yield group
            group = []
    if group:
        yield group


def _row_nodes(text: PastedText, rows: list[CellRow], rank: int) -> list[Node]:
    """A list for each row; where a list of numbers is wanted, the numbers of a single row or
    column.
    """
    is_row_or_column = len(rows) == 1 or all(len(row) == 1 for row in rows)
    if rank > 1 or not is_row_or_column:
        return [_row_node(text, row) for row in rows]
    leaves = []
    for row in rows:
        leaves += _leaves(text, row)
    return leaves


def _row_node(text: PastedText, row: CellRow) -> ListNode:
    at = row[0][0] if row else 0
    return ListNode(text.place(at), _leaves(text, row))


def _leaves(text: PastedText, row: CellRow) -> list[Node]:
    return [Leaf(cell, False, text.place(at)) for at, cell in row]


# Rows to cells


def _split(
    text: PastedText, rows: list[Piece], separator: str | None = None, *, has_names: bool = False
) -> list[CellRow]:
    """The cells of each row, which are apart by this sign, or by what is found between them:
    commas, or only blanks.

    Of a table that `has_names`, those of rows and columns are left out.
    """
    held = [(at, held_together(row)) for at, row in rows]
    if separator is None:
        separator = _separator_in([row.strip() for _, row in held], has_names)
        text.require_clear(doubtful_commas(rows))
    split = [[*cells(row, separator)] for row in held]
    for row in split:
        for at, cell in row:
            if not text.text.startswith('"', at):
                _require_all_there(text, cell, at)
    if separator:
        _drop_empty_columns(split)
    if has_names:
        split = require_named(text, split, without_names(split, text.text))
    return _with_decimal_points(split) if separator else split


def _separator_in(rows: list[str], has_names: bool) -> str:
    """What separates the cells of these rows: a comma, or blanks, for which the sign is empty.

    Where blanks are between the numbers, commas that no blank stands beside are those of decimals:
    0,5 1,5.
    """
    if not any("," in row for row in rows):
        return ""
    # There may be blanks in a name.
    gap = _BLANKS_BESIDE_DIGITS if has_names else BLANKS_BETWEEN_NUMBERS
    if any(map(gap.search, rows)) and not any(map(LOOSE_COMMA.search, rows)):
        return ""
    return ","


def _with_decimal_points(rows: list[CellRow]) -> list[CellRow]:
    """The rows with points in decimals, where all of them are written with a comma."""
    points = with_points(cell for row in rows for _, cell in row)
    if not points:
        return rows

    def pointed(row: CellRow) -> CellRow:
        return [(at, points.get(cell, cell)) for at, cell in row]

    return [pointed(row) for row in rows]


def _drop_empty_columns(rows: list[CellRow]) -> None:
    """Drop columns without any number, at the end of all rows or at their beginning."""
    for end in (-1, 0):
        while rows and all(len(row) > 1 and not row[end][1] for row in rows):
            for row in rows:
                del row[end]


# Long texts


def _in_one_go(
    text: PastedText, body: str, rows: list[Piece], separator: str | None
) -> PastedList | None:
    """The rows of a long text of plain numbers, as one array; None where anything in it is unusual,
    or wrong.
    """
    if len(body) < LONG_TEXT or not text.step:
        return None
    sign = separator or ("," if "," in body else "")
    if text.of_file and len(rows) > 1 and is_head(rows, sign):
        rows = rows[1:]
    begin = rows[0][0] if rows else 0
    body = body[begin:].rjust(len(body))
    blanks = body.translate(_SEPARATORS_TO_BLANKS)
    if not _PLAIN_NUMBERS.fullmatch(blanks) or _LEADING_ZERO.search(blanks):
        return None
    if any(each in body for each in ",;\t" if each != sign) or doubtful_commas(rows):
        return None
    words = [row.split() for row in blanks.split("\n") if row.strip()]
    if not _are_even(words, rows, sign):
        return None
    # This one needs NumPy.
    from attncli.problem.text.long_lists import NumberRows

    try:
        return PastedList(text.at, numbers=NumberRows.of(words, blanks))
    except ValueError:
        return None


def _are_even(words: list[list[str]], rows: list[Piece], sign: str) -> bool:
    """Whether all rows have equally many numbers, one between two signs, and none is too long."""
    width = len(words[0])
    if len(words) != len(rows) or width * len(words) > ELEMENT_LIMIT:
        return False
    if any(len(row) != width for row in words):
        return False
    if sign:
        signs = (row.count(sign) for _, row in rows)
        if any(number != width - 1 for number in signs):
            return False
    return all(len(word) <= _LONGEST_NUMBER for row in words for word in row)
