"""Matrices as people paste them: rows of text, [1 2; 3 4], and arrays as Python prints them.

A pasted text is read where it stands, so that every number knows its line and column. It becomes
the nested lists that brackets and commas make, and is checked as those are. Nothing is executed: of
np.array([[1, 2]]) the list is read, and the rest only has to look like what belongs there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from attncli.english import shorten
from attncli.problem.limits import DEPTH_LIMIT, ELEMENT_LIMIT
from attncli.problem.text.building import LONG
from attncli.problem.text.decimal_commas import doubtful_commas, doubtful_pairs, with_points
from attncli.problem.text.nodes import TRUTHS, Leaf, ListNode, Node, PastedList
from attncli.problem.text.numbers import NumberError, as_float
from attncli.problem.text.values import Value

CALL = (
    r"(?:Parameter containing:\s*)?(?:[A-Za-z]\w*\.)*"
    r"(?:array|asarray|matrix|Matrix|tensor|as_tensor|Tensor|Array)\s*\(\s*"
)
_CALL = re.compile(CALL, re.ASCII)
_NAME = re.compile(r"\s*(?:[A-Za-z_]\w*\s*=(?!=)\s*)?", re.ASCII)  # W_Q = [1 2; 3 4]
_ARGUMENT = (
    r"""(?:[A-Za-z_]\w*\s*=\s*)?(?:'[^']*'|"[^"]*"|<[^<>]*>|\([\d, ]*\)|[\w.]+(?:\([^()]*\))?)"""
)
# , dtype=float32, device='cuda:0')
_CLOSING = re.compile(rf"(?:\s*,\s*{_ARGUMENT})*+\s*+(?:,\s*+)?\)", re.ASCII)
# lists, and behind the last one
_BETWEEN = re.compile(r"[\s,;]*")
_PART = re.compile(r"[\[\]]|#[^\n]*|[^\[\]#]+")
# and no error of a spreadsheet
_REMARK = re.compile(r"#(?!(?:N/A|DIV/0!|VALUE!|REF!|NAME\?|NUM!|NULL!))[^\n]*")
_LINE_END = re.compile(r"[ \t]+(?=\r?\n|\Z)")
_QUOTED = {'"': re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL), "'": re.compile(r"'((?:[^']|'')*)'")}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
# as long as they are in the text
_ESCAPED = {"n": " \n", "t": " \t", "r": "  ", " ": "  ", '"': ' "'}
_NUMBER = re.compile(
    r"""["']?(?:[-+−]?\s?(?:\.?\d|√|sqrt\(|\.?inf)|_|true\b|false\b)""", re.IGNORECASE
)
_SEVERAL = re.compile(r"[\s,;]")
# blanks between numbers, and no comma
_GAP = re.compile(r"[^\s,;]\s+(?![\s,;])")
_LOOSE = re.compile(r",\s|\s,")
_ALONE = re.compile(r"[-+]?[0-9]+,[0-9]+(?:[eE][-+]?[0-9]+)?")
_GROUPS = re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+")
_TAB = re.compile(r"[^\s,;] *\t[ \t]*[^\s,;]")
_TAB_BESIDE_SIGN = re.compile(r"[,;] *\t|\t *[,;]")
# of one number: 1 / 3, 2 * sqrt( 3 )
_INSIDE = re.compile(r"(?<!\s)\s*[/*(]\s*|(?<!\s)\s+\)")
# blanks that break no line
_THOUSANDS = re.compile("(?<=[0-9])[\u00a0\u2007\u2009\u202f](?=[0-9]{3}(?![0-9]))")
_HELD = {" ": "\0", "\t": "\0", ",": "\1", ";": "\2", "#": "\3"} | dict.fromkeys(
    "\u00a0\u2007\u2009\u202f", "\4"
)
# signs that separate nothing, while a text is split
_FREED = str.maketrans("\0\1\2\3\4", " ,;#\u00a0")
_IN_QUOTES = re.compile(r'"[^"\n]*"')
_BETWEEN_NUMBERS = re.compile(r"[0-9.)]\s+[-+.0-9]")
_NO_SIGN = re.compile(
    r"|[-+]?\.?(?:inf|infinity|nan)|[_~]|true|false|.*[\d∞√].*", re.IGNORECASE | re.DOTALL
)
_SEPARATOR_LINE = re.compile(r"sep=[^\n]?\r?(?=\n)")  # which Excel reads
_WORD = re.compile(r"\S+")
_BREAK = re.compile(r"\n((?:[ \t]*\n)*)")
# characters, at least, of a line that a program breaks
_FOLDED = 60
_DOTS = ("...", "…")
_TO_BLANKS = str.maketrans("\t,;", "   ")
_DIGITS = re.compile(r"[-+.0-9eE\s]*")
# which begins with the 0, to be found quickly
_LEADING_ZERO = re.compile(r"0(?<![0-9.eE].)(?<![eE][+-].)[0-9]")
_PASTED_VALUE = re.compile(rf"(?:(?<=: )|(?<=:\n)|(?<=[-{{\[,] ))\s*((?:{CALL})?\[)", re.ASCII)
# of lists, and what no pasted list has in it
_BRACKET = re.compile(r"[\[\]\"'{}:&*\\]")
_UNSEPARATED = re.compile(r"\]\s+(?:\.\.\.\s+)?\[")  # rows as NumPy prints them
_CLOSE = "close each row before the next one begins: [[1, 2], [3, 4]]"
_GOES_ON = re.compile(r",[ \t]*\n|\n[ \t]*,")
_SHOWN = 4  # numbers in a help line
# characters of a number that is read with all others in one go
_LONGEST = 200


class _Fault(Exception):
    """What is wrong with a pasted text, what helps, and where it is."""

    def __init__(self, message: str, help: str, at: int) -> None:
        super().__init__(message, help)
        self.at = at


@dataclass(frozen=True, slots=True)
class _Text:
    """A pasted text, and where it stands: what is at a place of it is at `at`, and `step` times
    that place, further on.

    The step is 0 for a text without places, as one that is given in Python. `of_file` says that it
    is a whole file: there only the lines are rows, whatever a semicolon may separate. In one
    `of_tabs`, no comma separates numbers. `doubt` is where a line break may be one that a program
    put into a long line: YAML takes a break for a blank, and an empty line for a break, but after a
    |.
    """

    text: str
    at: int
    step: int = 1
    of_file: bool = False
    of_tabs: bool = False
    doubt: int | None = None

    def place(self, at: int) -> int:
        """Where in the source a place of the text is."""
        return self.at + at * self.step

    def require_lines(self) -> None:
        """Raises what is wrong where a line may be no row."""
        if self.doubt is not None:
            message = "a line break can be read as the end of a row, or as a blank"
            raise self.fault(
                message, "write a | after the key, and each row on a line of its own", self.doubt
            )

    def fault(self, message: str, help: str, at: int) -> _Fault:
        """What is wrong at a place of the text."""
        return _Fault(message, help, self.place(at))


# where in a text it is, and what it says
_Piece = tuple[int, str]
_Row = list[_Piece]  # the cells of a row


def written_out(value: Value, rank: int = 2) -> bool:
    """Make nested lists of a value that is a pasted matrix, in its place; whether there is nothing
    wrong with it.

    Any other value stays as it is. Where a list of numbers is wanted, of `rank` 1, they may stand
    below each other.
    """
    try:
        found = _lists_of(value, value.node, rank)
    except _Fault as fault:
        value.wrong(*fault.args, at=fault.at)
        return False
    if found is not None:
        value.node = found
    return True


def in_quotes(text: str) -> str:
    """A text of YAML with its pasted lists in quotes, as YAML can read them: "[1 2]\n [3 4]" for
    [[1 2]\n [3 4]].

    No sign moves: the first and the last of a list become the quotes.
    """
    pieces, copied, looked = [], 0, 0
    for found in _PASTED_VALUE.finditer(text):
        start = found.start(1)
        if start < looked:
            continue
        looked, after = _end_of(text, start, found.end())
        if after:
            pieces += [text[copied:start], '"', text[start + 1 : after - 1], '"']
            copied = after
    return "".join([*pieces, text[copied:]])


def _end_of(text: str, start: int, inside: int) -> tuple[int, int]:
    """How far a list, or a call with one, was looked at, whose first bracket ends at `inside`, and
    where it ends.

    The end is 0 where it is none, or one that YAML can read, too.
    """
    depth = 1
    for sign in _BRACKET.finditer(text, inside):
        depth += {"[": 1, "]": -1}.get(sign[0], 0)
        if sign[0] not in "[]" or not depth:
            end = sign.end()
            if depth:
                return end, 0
            if text.startswith("[", start):
                return end, end if _UNSEPARATED.search(text, start, end) else 0
            closing = _CLOSING.match(text, end)
            return end, closing.end() if closing else 0
    return len(text), 0


def written_in_file(value: Value) -> bool:
    """The same for a value that is the whole text of a file of rows."""
    try:
        of_tabs = value.errors.source.name.lower().endswith(".tsv")
        hint = _SEPARATOR_LINE.match(value.text)
        text = value.text[hint.end() :].rjust(len(value.text)) if hint else value.text
        found = _read(_Text(text, 0, of_file=True, of_tabs=of_tabs), 2, may_be_one=True)
    except _Fault as fault:
        value.wrong(*fault.args, at=fault.at)
        return False
    if found is not None:
        value.node = found
    return True


def _lists_of(value: Value, node: Node, rank: int) -> PastedList | None:
    """The lists that a node means; None where it is no pasted matrix."""
    source = value.errors.source
    text = source.text if source.name else ""
    if isinstance(node, Leaf):
        in_block = bool(text) and node.quoted and text[node.at] in "|>"
        return (
            _read(_text_of(node, text), rank, may_be_one=in_block)
            if in_block or _looks_pasted(node.text)
            else None
        )
    if (
        not isinstance(node, ListNode)
        or node.numbers is not None
        or not text
        or not _holds_several(node)
    ):
        return None
    if text.startswith("[", node.at):
        return _read_brackets(_Text(text, 0), node.at, rank)[0]
    if all(isinstance(item, Leaf) for item in node.items):
        return _of_entries(node)
    return PastedList(node.at, [_lists_of(value, item, rank - 1) or item for item in node.items])


def _looks_pasted(text: str) -> bool:
    text = _without_remarks(text).strip()
    name = _NAME.match(text)
    start = text[name.end() :] if name else text
    if start.startswith("[") or _CALL.match(start):
        return True
    return bool(_NUMBER.match(start) and _SEVERAL.search(start))


def _holds_several(node: ListNode) -> bool:
    """Whether a value in the first row of a matrix is several numbers: 1 2; 3 4."""
    while node.numbers is None and node.length and isinstance(node.items[0], ListNode):
        node = node.items[0]
    return node.numbers is None and any(
        isinstance(item, Leaf)
        and not item.quoted
        and _NUMBER.match(item.text)
        and not _ALONE.fullmatch(item.text)
        and _SEVERAL.search(_held_together(item.text))
        for item in node.items
    )


def _text_of(leaf: Leaf, source: str) -> _Text:
    """The text of a leaf as it stands in the source, where rows still have lines of their own."""
    if not source:
        return _Text(leaf.text, leaf.at, 0)
    sign = source[leaf.at] if leaf.quoted else ""
    if sign in _QUOTED and (found := _QUOTED[sign].match(source, leaf.at)):
        # so its rows end, and other line breaks are for the eye
        if sign == '"' and r"\n" in found[1]:
            return _Text(_unescaped(found[1].replace("\n", " ")), found.start(1))
        text, doubt = _unfolded(found[1])
        return _Text(_unescaped(text) if sign == '"' else text, found.start(1), doubt=doubt)
    start = source.find("\n", leaf.at) + 1 if sign and sign in "|>" else leaf.at
    end = start
    try:
        for piece in leaf.text.split("\n") if sign == "|" else leaf.text.split():
            if stripped := piece.strip():
                end = source.index(stripped, end) + len(stripped)
        after = _LINE_END.match(source, end)
        # a tab there is before an empty cell
        end = after.end() if after else end
    except ValueError:
        # it is not as it stands there: its lines end as only YAML knows
        return _Text(leaf.text, leaf.at, 0)
    text, doubt = (source[start:end], None) if sign == "|" else _unfolded(source[start:end])
    return _Text(text, start, doubt=doubt)


def _unescaped(text: str) -> str:
    """A text, as long as before, with what its escapes stand for."""
    return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[0]), text)


def _unfolded(text: str) -> tuple[str, int | None]:
    """A text of YAML, as long as before, with its rows on lines, and where it is in doubt that a
    line is a row.

    A person writes each row on a line. A program writes an empty line for each break, and breaks a
    line that is long.
    """
    if "\n" not in text.strip():
        return text, None
    breaks = [*_BREAK.finditer(text.rstrip())]
    empty = [each for each in breaks if each[1]]
    if len(empty) == len(breaks):
        return _BREAK.sub(r" \1", text), None
    ends = [0, *(each.end() for each in breaks)]
    if empty or all(
        each.start() - before > _FOLDED for before, each in zip(ends, breaks, strict=False)
    ):
        return text, breaks[0].start()
    return text, None


def _read(text: _Text, rank: int, *, may_be_one: bool = False) -> PastedList | None:
    """The lists of a whole text; None for a number alone, unless that `may_be_one`."""
    name = _NAME.match(text.text)
    start = name.end() if name else 0
    call = _CALL.match(text.text, start)
    start = call.end() if call else start
    if not text.text.startswith("[", start):
        if not call:
            if name and "=" in name[0] and not text.of_file:
                text = replace(text, text=text.text[start:].rjust(len(text.text)))
            return _read_lines(text, rank, may_be_one=may_be_one)
        message = f"there is no list in {shorten(call[0].rstrip())}…)"
        raise text.fault(message, "write a matrix as [[1, 0], [0, 1]]", start)
    found, end = _read_brackets(text, start, rank)
    if call:
        closing = _CLOSING.match(text.text, end)
        if closing is None:
            raise text.fault('")" is missing', f"write {shorten(call[0])}[[1, 0], [0, 1]])", end)
        end = closing.end()
    goes_on = not call and text.text[end:].lstrip(" \t\r\n,;").startswith("[")
    help = (
        "put all rows into one list: [[1, 2], [3, 4]]" if goes_on else "the matrix ends before it"
    )
    _require_nothing(text, end, len(text.text), help)
    return found


def _require_nothing(text: _Text, start: int, end: int, help: str) -> None:
    """Raises what is wrong where anything but separators stands in a part of a text."""
    rest = _without_remarks(text.text[start:end])
    between = _BETWEEN.match(rest)
    assert between is not None
    if between.end() < len(rest):
        word = rest[between.end() :].split()[0]
        _require_all_there(text, word, start + between.end())
        raise text.fault(f"{shorten(word)} does not belong here", help, start + between.end())


def _require_all_there(text: _Text, word: str, at: int) -> None:
    if word.rstrip(",;").startswith(_DOTS):
        help = (
            "print it in full: in NumPy after np.set_printoptions(threshold=np.inf), or save it in"
            " a .npy file"
        )
        raise text.fault("numbers are left out here", help, at)


def _read_brackets(text: _Text, start: int, rank: int) -> tuple[PastedList, int]:
    """The lists whose first bracket is at this place, and where they end."""
    root = PastedList(text.place(start))
    # with where each begins inside
    unclosed: list[tuple[ListNode, int]] = []
    innermost: list[tuple[ListNode, _Piece]] = []
    end = start
    for part in _PART.finditer(text.text, start):
        before, end = end, part.end()
        if part[0] == "[":
            new = ListNode(text.place(part.start())) if unclosed else root
            if unclosed:
                _require_nothing(text, before, part.start(), _CLOSE)
                unclosed[-1][0].items.append(new)
            unclosed.append((new, end))
            if len(unclosed) > DEPTH_LIMIT:
                raise text.fault(
                    f"lists are nested more than {DEPTH_LIMIT} deep",
                    "a matrix has two levels",
                    before,
                )
        elif part[0] == "]":
            ended, inside = unclosed.pop()
            if ended.items:
                _require_nothing(text, before, part.start(), _CLOSE)
            else:
                innermost.append(
                    (ended, (inside, _without_remarks(text.text[inside : part.start()])))
                )
            if not unclosed:
                break
        else:
            # what is between lists is looked at when the next one begins or ends
            end = before
    if unclosed:
        raise text.fault(f'"{"]" * len(unclosed)}" is missing', _CLOSE, len(text.text.rstrip()))
    if innermost[0][0] is root:
        _fill_alone(text, root, innermost[0][1], rank)
    else:
        for (row, _), cells in zip(
            innermost, _split(text, [piece for _, piece in innermost]), strict=True
        ):
            row.items.extend(_leaves(text, cells))
    return root, end


def _fill_alone(text: _Text, root: ListNode, inside: _Piece, rank: int) -> None:
    """Fill a list that holds no others: with numbers, or with the rows that semicolons or line
    breaks make of them.
    """
    content = inside[1]
    rows = [piece for piece in _pieces(inside, ";") if piece[1].strip()]
    if ";" in content:
        _require_clear(text, doubtful_pairs(rows))
    elif rank > 1 and not _GOES_ON.search(content):
        text.require_lines()
        rows = [piece for piece in _pieces(inside, "\n") if piece[1].strip()]
    split = _split(text, rows)
    if len(split) > 1 or ";" in content:
        root.items.extend(_rows(text, split, rank))
    else:
        root.items.extend(leaf for row in split for leaf in _leaves(text, row))


def _of_entries(node: ListNode) -> PastedList:
    """The rows of a block of YAML, each an entry such as - 1 0 1."""
    leaves = [item for item in node.items if isinstance(item, Leaf)]
    text = _Text("", 0)
    entries = [(leaf.at + leaf.quoted, leaf.text) for leaf in leaves]
    parts = [part for entry in entries for _, part in _pieces(entry, ";")]
    rows = _split(
        text, entries, ";" if len(parts) > len(entries) and not any(map(_is_row, parts)) else None
    )
    return PastedList(
        node.at,
        [ListNode(leaf.at, _leaves(text, row)) for leaf, row in zip(leaves, rows, strict=True)],
    )


def _read_lines(text: _Text, rank: int, *, may_be_one: bool) -> PastedList | None:
    """The rows of a text without brackets; an empty line begins the next matrix."""
    text.require_lines()
    body = _without_remarks(text.text)
    lines = _pieces((0, body), "\n")
    tight = _held_together(_IN_QUOTES.sub(_hold, body))
    parts = [part for line in lines for part in _pieces(line, ";") if part[1].strip()]
    separator = None
    if "\t" in tight and _TAB.search(tight) and not _TAB_BESIDE_SIGN.search(tight):
        separator = "\t"
    elif ";" in tight and not text.of_file and any(_is_row(part) for _, part in parts):
        lines = parts
    elif ";" in tight:
        separator = ";"
        if not text.of_file and "\n" not in body.strip():
            _require_clear(text, doubtful_pairs(parts))
            if rank > 1 and len(parts) > 1:
                raise _one_row_or_column(text, body.strip(), parts)
    matrices = [*_between_empty(lines)]
    rows = [row for matrix in matrices for row in matrix]
    # or each row is two numbers
    is_column = bool(rows) and all(_ALONE.fullmatch(row.strip()) for _, row in rows)
    if is_column and not text.of_file and (len(rows) == 1 or rank == 1):
        if len(rows) == 1 and not may_be_one:
            return None
        _require_clear(text, doubtful_pairs(rows))
    if text.of_tabs and is_column:
        separator = "\t"
    if len(matrices) == 1 and rank > 1:
        sign = separator or ("," if "," in body else "")
        has_head = text.of_file and len(body) >= LONG and len(rows) > 1 and _is_head(rows, sign)
        below = rows[has_head:]
        begin = below[0][0] if below else 0
        if numbers := _in_one_go(text, body[begin:].rjust(len(body)), below, sign):
            return numbers
    cells = _split(text, rows, separator, has_names=text.of_file and len(matrices) == 1)
    ends = [*accumulate(map(len, matrices), initial=0)]
    split = [cells[start:end] for start, end in pairwise(ends)]
    if not may_be_one and sum(len(row) for matrix in split for row in matrix) < 2:
        return None
    if len(split) < 2:
        return PastedList(
            text.place(rows[0][0] if rows else 0), _rows(text, split[0] if split else [], rank)
        )
    if all(len(matrix) == 1 for matrix in split):
        message = "an empty line can be read as the end of a row, or as the end of a matrix"
        raise text.fault(message, "remove the empty lines between rows", matrices[1][0][0])
    return PastedList(
        text.place(rows[0][0]),
        [ListNode(text.place(matrix[0][0][0]), _rows(text, matrix, rank)) for matrix in split],
    )


def _one_row_or_column(text: _Text, said: str, parts: list[_Piece]) -> _Fault:
    """What is wrong with 1; 0 on one line."""
    numbers = [part.strip() for _, part in parts]
    at = parts[0][0] + parts[0][1].index(numbers[0])
    message = f"{shorten(said)} can be read as one row, or as one column"
    more = "…" if len(numbers) > _SHOWN else ""
    row, column = (sign.join([*numbers[:_SHOWN], *more]) for sign in (", ", "; "))
    return text.fault(message, f"write [[{row}]] for a row, or [{column}] for a column", at)


def _is_row(part: str) -> bool:
    """Whether what stands between semicolons can only be several numbers: 1 2, or 1,2,3, but not
    1,5.
    """
    part = _held_together(part.strip())
    return bool(
        _GAP.search(part)
        or _LOOSE.search(part)
        or (part.count(",") > 1 and not _GROUPS.fullmatch(part))
    )


def _between_empty(lines: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """The lines without their indentation, in groups wherever there are empty ones between them."""
    group: list[_Piece] = []
    for at, line in lines:
        if line.strip():
            group.append((at + len(line) - len(line.lstrip(" ")), line.lstrip(" ")))
        elif group:
            yield group
            group = []
    if group:
        yield group


def _rows(text: _Text, rows: list[_Row], rank: int) -> list[Node]:
    """A list for each row; where a list of numbers is wanted, the numbers of a single row or
    column.
    """
    if rank == 1 and (len(rows) == 1 or all(len(row) == 1 for row in rows)):
        return [leaf for row in rows for leaf in _leaves(text, row)]
    return [ListNode(text.place(row[0][0] if row else 0), _leaves(text, row)) for row in rows]


def _leaves(text: _Text, row: _Row) -> list[Node]:
    return [Leaf(cell, False, text.place(at)) for at, cell in row]


def name_in(value: Value) -> Value | None:
    """The first name of a row or a column in a pasted table, whose first row or column has names
    only.
    """
    if not isinstance(value.node, PastedList) or value.node.numbers is not None:
        return None
    rows = [[*row.items] for row in value.items]
    if not all(isinstance(cell.node, Leaf) for row in rows for cell in row):
        return None
    texts = [[(cell.node.at, cell.text) for cell in row] for row in rows]
    if _without_names(texts) == texts:
        return None
    return next((cell for row in rows for cell in row if _is_name(cell.text)), None)


# Cells.


def _split(
    text: _Text, rows: list[_Piece], separator: str | None = None, *, has_names: bool = False
) -> list[_Row]:
    """The cells of each row, which are apart by this sign, or by what is found between them:
    commas, or only blanks.

    Commas that no blank stands beside are those of decimals, where blanks are between the numbers.
    Of a table that `has_names`, those of rows and columns are left out.
    """
    held = [(at, _held_together(row)) for at, row in rows]
    if separator is None:
        contents = [row.strip() for _, row in held]
        commas = any("," in row for row in contents)
        # there may be blanks in a name
        gap = _BETWEEN_NUMBERS if has_names else _GAP
        gaps = commas and any(map(gap.search, contents)) and not any(map(_LOOSE.search, contents))
        separator = "," if commas and not gaps else ""
        _require_clear(text, doubtful_commas(rows))
    split = [[*_cells(row, separator)] for row in held]
    for at, cell in (cell for row in split for cell in row):
        if not text.text.startswith('"', at):
            _require_all_there(text, cell, at)
    if separator:
        _drop_empty(split)
    if has_names:
        split = _require_named(text, split, _without_names(split, text.text))
    if separator:
        points = with_points(cell for row in split for _, cell in row)
        split = (
            [[(at, points.get(cell, cell)) for at, cell in row] for row in split]
            if points
            else split
        )
    return split


def _cells(row: _Piece, separator: str) -> Iterator[_Piece]:
    at, content = row
    if not separator:
        content = content.rstrip().removesuffix(",")
        yield from ((at + found.start(), _freed(found[0])) for found in _WORD.finditer(content))
        return
    if '"' in content:
        content = _IN_QUOTES.sub(_hold, content)
    if content.strip():
        yield from (
            (start + (len(cell) - len(cell.lstrip())) % len(cell or " "), _freed(cell))
            for start, cell in _pieces((at, content), separator)
        )


def _drop_empty(rows: list[_Row]) -> None:
    """Drop columns without any number, at the end of all rows or at their beginning."""
    for end in (-1, 0):
        while all(len(row) > 1 and not row[end][1] for row in rows) and rows:
            for row in rows:
                del row[end]


def _without_names(rows: list[_Row], text: str = "") -> list[_Row]:
    """The rows of a table without its first line, where that has names only, and without a column
    of names.

    Names may look like numbers in a table as attncli writes it: there they are in quotes in the
    `text`, and nothing else is.
    """
    first = [cell for _, cell in rows[0]] if rows else []
    if first and (not first[0] or _is_name(first[0])) and _has_quoted_names(rows, text):
        return [row[1:] for row in rows[1:]]
    above = _are_names(first[1:] if first and not first[0] else first)
    below = rows[1:] if above else rows
    beside = all(len(row) > 1 for row in below) and _are_names([row[0][1] for row in below])
    return ([row[1:] for row in below] if beside else below) or rows


def _require_named(text: _Text, rows: list[_Row], without_names: list[_Row]) -> list[_Row]:
    """The rows without names. Raises what is wrong where only the first column has none: it may
    count the rows.
    """
    if len(without_names) < len(rows) and sum(bool(name) for _, name in rows[0]) < len(
        without_names[0]
    ):
        help = (
            "leave it out, in pandas with to_csv(…, index=False), or give it a name if it belongs"
            " to the matrix"
        )
        raise text.fault(
            "this column has no name, and may only count the rows", help, without_names[0][0][0]
        )
    return without_names


def _is_head(rows: list[_Piece], separator: str) -> bool:
    """Whether the first row has a name for each column of the second."""
    names = [cell for _, cell in _cells(rows[0], separator)]
    return _are_names(names) and len(names) >= sum(1 for _ in _cells(rows[1], separator))


def _has_quoted_names(rows: list[_Row], text: str) -> bool:
    """Whether the first row and the first column are in quotes, and nothing else."""
    quoted = ([text.startswith('"', at) for at, _ in row] for row in rows)
    return (
        len(rows) > 1
        and all(next(quoted))
        and all(len(row) > 1 and row[0] and not any(row[1:]) for row in quoted)
    )


def _are_names(cells: list[str]) -> bool:
    """Whether these are words, some of which may be signs, as tokens are: I, love, [SEP]."""
    return any(map(_is_name, cells)) and all(_is_name(cell) or _is_sign(cell) for cell in cells)


def _is_sign(cell: str) -> bool:
    return not _NO_SIGN.fullmatch(cell)


def _is_name(cell: str) -> bool:
    if not cell[:1].isalpha() or cell in TRUTHS or cell.lower() in ("nan", "inf", "infinity"):
        return False
    try:
        as_float(cell)
    except NumberError:
        return True
    return False


def _pieces(whole: _Piece, separator: str) -> list[_Piece]:
    """What stands between separators, each with its place."""
    at, content = whole
    found = []
    for piece in content.split(separator):
        found.append((at, piece))
        at += len(piece) + 1
    return found


def _held_together(text: str) -> str:
    """A text, as long as before, whose blanks inside a number are none: 1 / 3."""
    if not text.isascii():
        text = _THOUSANDS.sub(_hold, text)
    return _INSIDE.sub(_hold, text) if any(sign in text for sign in "/*(") else text


def _hold(found: re.Match[str]) -> str:
    return "".join(_HELD.get(sign, sign) for sign in found[0])


def _freed(cell: str) -> str:
    """The text of a cell, without the quotes that a table or Python puts around it."""
    cell = cell.strip().translate(_FREED)
    return (
        cell[1:-1].strip() if len(cell) > 1 and cell[0] in "\"'" and cell[0] == cell[-1] else cell
    )


def _without_remarks(text: str) -> str:
    """A text, as long as before, with blanks for all that # begins on a line."""
    if "#" not in text:
        return text
    return "\n".join(_without_remark(line) if "#" in line else line for line in text.split("\n"))


def _without_remark(line: str) -> str:
    found = _REMARK.search(_IN_QUOTES.sub(_hold, line))
    return line[: found.start()].rstrip().ljust(len(line)) if found else line


def _require_clear(text: _Text, doubt: tuple[int, str, str] | None) -> None:
    if doubt is not None:
        at, message, help = doubt
        raise text.fault(message, help, at)


def _in_one_go(text: _Text, body: str, rows: list[_Piece], sign: str) -> PastedList | None:
    """The rows of a long text of plain numbers, as one array; None where anything in it is unusual,
    or wrong.
    """
    if len(body) < LONG or not text.step:
        return None
    blanks = body.translate(_TO_BLANKS)
    if not _DIGITS.fullmatch(blanks) or _LEADING_ZERO.search(blanks):
        return None
    if any(each in body for each in ",;\t" if each != sign) or doubtful_commas(rows):
        return None
    words = [row.split() for row in blanks.split("\n") if row.strip()]
    width = len(words[0])
    if (
        len(words) != len(rows)
        or any(len(row) != width for row in words)
        or width * len(words) > ELEMENT_LIMIT
    ):
        return None
    if sign and any(row.count(sign) != width - 1 for _, row in rows):
        return None
    if max(len(word) for row in words for word in row) > _LONGEST:
        return None
    from attncli.problem.text.long_lists import NumberRows

    try:
        return PastedList(text.at, numbers=NumberRows.of(words, blanks))
    except ValueError:
        return None
