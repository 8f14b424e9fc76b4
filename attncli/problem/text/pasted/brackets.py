"""Lists in brackets: [1 2; 3 4] of MATLAB, [[1 2]\\n [3 4]] as NumPy prints it, np.array([[1, 2]]).

list = "[" row "]"  or  "[" rows "]"  or  "[" list* "]"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attncli.english import shorten
from attncli.problem.limits import DEPTH_LIMIT
from attncli.problem.text.decimal_commas import doubtful_pairs
from attncli.problem.text.nodes import ListNode, Node, PastedList
from attncli.problem.text.pasted.cells import cells_of, leaves_of, require_all_there, row_nodes
from attncli.problem.text.pasted.grammar import PastedRow, rows_below
from attncli.problem.text.pasted.text import PastedText
from attncli.problem.text.pasted.tokens import Token, first_word, tokens

LIST_BEGIN = re.compile(r"\[")
# A call of Python that makes an array begins so: np.array( is one.
CALL = (
    r"(?:Parameter containing:\s*)?(?:[A-Za-z]\w*\.)*"
    r"(?:array|asarray|matrix|Matrix|tensor|as_tensor|Tensor|Array)\s*\(\s*"
)
CALL_BEGIN = re.compile(CALL, re.ASCII)
_ARGUMENT = (
    r"""(?:[A-Za-z_]\w*\s*=\s*)?(?:'[^']*'|"[^"]*"|<[^<>]*>|\([\d, ]*\)|[\w.]+(?:\([^()]*\))?)"""
)
# Such a call ends so, as in np.array([1, 2], dtype=float32, device='cuda:0').
CALL_END = re.compile(rf"(?:\s*,\s*{_ARGUMENT})*+\s*+(?:,\s*+)?\)", re.ASCII)
_COMMA_AT_LINE_END = re.compile(r",[ \t]*\n|\n[ \t]*,")
_CLOSE_HELP = "close each row before the next one begins: [[1, 2], [3, 4]]"


def read_list(text: PastedText, begin: re.Match[str], rank: int) -> PastedList:
    """The list of a text that has nothing else in it."""
    found, end = read_brackets(text, begin.start(), rank)
    rest = text.text[end:].lstrip(" \t\r\n,;")
    help = "the matrix ends before it"
    if rest.startswith("["):
        help = "put all rows into one list: [[1, 2], [3, 4]]"
    _require_nothing(text, tokens(text.text, end), help)
    return found


def read_call(text: PastedText, begin: re.Match[str], rank: int) -> PastedList:
    """The list of np.array([[1, 2]]), behind which only the end of the call may stand."""
    if not text.text.startswith("[", begin.end()):
        message = f"there is no list in {shorten(begin[0].rstrip())}…)"
        raise text.error(message, "write a matrix as [[1, 0], [0, 1]]", begin.end())
    found, end = read_brackets(text, begin.end(), rank)
    closing = CALL_END.match(text.text, end)
    if closing is None:
        help = f"write {shorten(begin[0])}[[1, 0], [0, 1]])"
        raise text.error('")" is missing', help, end)
    _require_nothing(text, tokens(text.text, closing.end()), "the matrix ends before it")
    return found


def read_brackets(text: PastedText, start: int, rank: int) -> tuple[PastedList, int]:
    """The lists whose first bracket is at this place, and where they end."""
    lists = _Lists(text, tokens(text.text, start))
    opened = next(lists.tokens)
    root = PastedList(text.place(start))
    end = lists.read_into(root, opened, depth=1)
    lists.fill(root, rank)
    return root, end


class _Lists:
    """The lists of a text, read from its tokens; what the innermost ones hold is read last, because
    all of it together tells what separates the numbers.
    """

    def __init__(self, text: PastedText, found: Iterator[Token]) -> None:
        self.tokens = found
        self._text = text
        self._innermost: list[tuple[ListNode, PastedRow]] = []

    def read_into(self, node: ListNode, opened: Token, depth: int) -> int:
        """Read the lists in the list that a bracket opened; where it ends."""
        if depth > DEPTH_LIMIT:
            message = f"lists are nested more than {DEPTH_LIMIT} deep"
            raise self._text.error(message, "a matrix has two levels", opened.at)
        inside: list[Token] = []
        for token in self.tokens:
            if token.kind != "bracket":
                inside.append(token)
                continue
            is_end = token.text == "]"
            if is_end and not node.items:
                self._innermost.append((node, PastedRow.of(inside, opened.at + 1)))
                return token.at + 1
            _require_nothing(self._text, inside, _CLOSE_HELP)
            inside = []
            if is_end:
                return token.at + 1
            inner = ListNode(self._text.place(token.at))
            node.items.append(inner)
            self.read_into(inner, token, depth + 1)
        missing = "]" * depth
        end = len(self._text.text.rstrip())
        raise self._text.error(f'"{missing}" is missing', _CLOSE_HELP, end)

    def fill(self, root: ListNode, rank: int) -> None:
        """Put the numbers into the lists that hold no others."""
        first, content = self._innermost[0]
        if first is root:
            root.items.extend(_items_of(self._text, content, rank))
            return
        rows = cells_of(self._text, [row for _, row in self._innermost])
        for (node, _), row in zip(self._innermost, rows, strict=True):
            node.items.extend(leaves_of(self._text, row))


def _items_of(text: PastedText, content: PastedRow, rank: int) -> list[Node]:
    """What a list that holds no others has in it: numbers, or the rows that semicolons or line
    breaks make of them.
    """
    has_semicolon = content.holds(";")
    rows = rows_below(content.split(";"))
    if has_semicolon:
        text.require_clear(doubtful_pairs(row.piece for row in rows))
    elif rank > 1 and not _COMMA_AT_LINE_END.search(content.text):
        text.require_lines()
        rows = rows_below(content.split("\n"))
    split = cells_of(text, rows)
    if len(split) > 1 or has_semicolon:
        return row_nodes(text, split, rank)
    return leaves_of(text, split[0]) if split else []


def _require_nothing(text: PastedText, between: Iterable[Token], help: str) -> None:
    """Raises what is wrong where anything but separators and remarks stands between lists, or
    behind them.
    """
    found = first_word(between)
    if found is None:
        return
    at, word = found
    require_all_there(text, word, at)
    raise text.error(f"{shorten(word)} does not belong here", help, at)
