"""Finds pasted matrices in a file: which values are one, and where its text stands.

YAML makes one line of a text on several, and refuses [[1 2]\n [3 4]]. So the text is looked up
where it stands in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from attncli.problem.limits import DEPTH_LIMIT
from attncli.problem.text.compact_fractions import FRACTION_SIGN
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode, Node, PastedList
from attncli.problem.text.number_signs import DASHES
from attncli.problem.text.pasted.brackets import CALL, CALL_END, read_brackets
from attncli.problem.text.pasted.grammar import SEPARATOR, PastedRow
from attncli.problem.text.pasted.lines import NUMBER_WITH_COMMA, read_entries
from attncli.problem.text.pasted.spellings import behind_name, read_pasted, spelling_at
from attncli.problem.text.pasted.text import PastedText, PasteError
from attncli.problem.text.values import Value

_NUMBER_SIGNS = rf"[-+{DASHES}]?\s?(?:\.?\d|√|sqrt\(|∞|\.?inf|\.?nan\b|{FRACTION_SIGN})"
_NUMBER_BEGIN = re.compile(
    r"""["']?(?:[-+−]?\s?(?:\.?\d|√|sqrt\(|\.?inf)|_|true\b|false\b)""", re.IGNORECASE
)
# A text that may be a whole matrix begins so, in whatever brackets and with whatever dash.
_MATRIX_BEGIN = re.compile(
    rf"""["']?(?:{_NUMBER_SIGNS}|_|true\b|false\b|\(\s*{_NUMBER_SIGNS})""", re.IGNORECASE
)
_BRACE = re.compile(r"[{}]")
_BLANKS_AT_LINE_END = re.compile(r"[ \t]+(?=\r?\n|\Z)")
_TEXT_IN_QUOTES = {
    '"': re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL),
    "'": re.compile(r"'((?:[^']|'')*)'"),
}
_CODE_OF_SIGN = re.compile(r"\\[xuU]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
# What escapes stand for is as long as they are in the text, so that nothing moves.
_ESCAPED_SIGNS = {"n": " \n", "t": " \t", "r": "  ", " ": "  ", '"': ' "'}
# Excel reads sep=; on the first line.
_SEPARATOR_LINE = re.compile(r"sep=[^\n]?\r?(?=\n)")
_LINE_BREAK = re.compile(r"\n((?:[ \t]*\n)*)")
# Programs break no line of fewer characters.
_BROKEN_LINE_LENGTH = 60
_PASTED_VALUE = re.compile(rf"(?:(?<=: )|(?<=:\n)|(?<=[-{{\[,] ))\s*((?:{CALL})?\[)", re.ASCII)
# These are the brackets of lists, and what no pasted list has in it.
_BRACKET_OR_NO_LIST = re.compile(r"[\[\]\"'{}:&*\\]")
# NumPy prints rows so.
_ROWS_WITHOUT_COMMA = re.compile(r"\]\s+(?:\.\.\.\s+)?\[")


def written_out(value: Value, rank: int = 2) -> bool:
    """Make nested lists of a value that is a pasted matrix, in its place; whether there is nothing
    wrong with it.

    Any other value stays as it is. Where a list of numbers is wanted, of `rank` 1, they may stand
    below each other. So V: 1 2; 3 4 becomes what V: [[1, 2], [3, 4]] is.
    """
    return _put(value, lambda: _lists_of(value, value.node, rank))


def written_in_file(value: Value) -> bool:
    """The same for a value that is the whole text of a file of rows."""
    of_tabs = value.errors.source.name.lower().endswith(".tsv")
    text = value.text
    if hint := _SEPARATOR_LINE.match(text):
        text = text[hint.end() :].rjust(len(text))
    pasted = PastedText(text, 0, of_file=True, of_tabs=of_tabs)
    return _put(value, lambda: read_pasted(pasted, 2, may_be_one=True))


def _put(value: Value, read: Callable[[], PastedList | None]) -> bool:
    """Put the lists that are read in the place of a value; whether there is nothing wrong with
    it.
    """
    try:
        found = read()
    except PasteError as error:
        value.wrong(*error.args, at=error.at)
        return False
    if found is not None:
        value.node = found
    return True


def in_quotes(text: str) -> str:
    """A text of YAML with its pasted lists in quotes, as YAML can read them: "[1 2]\n [3 4]" for
    [[1 2]\n [3 4]].

    No sign moves: the first and the last of a list become the quotes.
    """
    parts: list[str] = []
    copied = looked_at = 0
    for found in _PASTED_VALUE.finditer(text):
        start = found.start(1)
        if start < looked_at:
            continue
        looked_at, end = _end_of(text, start, found.end())
        if end:
            parts += [text[copied:start], '"', text[start + 1 : end - 1], '"']
            copied = end
        if looked_at == len(text):
            break
    return "".join([*parts, text[copied:]])


def _end_of(text: str, start: int, inside: int) -> tuple[int, int]:
    """How far a list, or a call with one, was looked at, whose first bracket ends at `inside`, and
    where it ends.

    The end is 0 where it is none, or one that YAML can read, too.
    """
    for sign, depth in _with_depth(_BRACKET_OR_NO_LIST.finditer(text, inside - 1)):
        if sign[0] not in "[]":
            return sign.end(), 0
        # Nobody pastes such a list, and a hostile file has millions of brackets.
        if depth > DEPTH_LIMIT:
            break
        if not depth:
            return sign.end(), _end_behind(text, start, sign.end())
    return len(text), 0


def _end_behind(text: str, start: int, end: int) -> int:
    """The same where the last bracket is known to end at `end`."""
    if text.startswith("[", start):
        return end if _ROWS_WITHOUT_COMMA.search(text, start, end) else 0
    closing = CALL_END.match(text, end)
    return closing.end() if closing else 0


def _lists_of(value: Value, node: Node, rank: int) -> PastedList | None:
    """The lists that a node means; None where it is no pasted matrix."""
    source = value.errors.source
    # A problem made in Python has no text.
    text = source.text if source.name else ""
    if isinstance(node, Leaf):
        in_block = bool(text) and node.quoted and text[node.at] in "|>"
        if not in_block and not _looks_pasted(node.text):
            return None
        return read_pasted(_text_of(node, text), rank, may_be_one=in_block)
    if isinstance(node, MappingNode) and text and spelling_at(text, node.at):
        # YAML takes {1 0; 0 1} for a mapping.
        return read_pasted(PastedText(_in_braces(text, node.at), node.at), rank)
    if not isinstance(node, ListNode) or not text or not _holds_several(node):
        return None
    if text.startswith("[", node.at):
        return read_brackets(PastedText(text, 0), node.at, rank)[0]
    if all(isinstance(item, Leaf) for item in node.items):
        return read_entries(node)
    return PastedList(node.at, [_lists_of(value, item, rank - 1) or item for item in node.items])


def _in_braces(text: str, start: int) -> str:
    """What stands between a brace and the one that closes it, and both."""
    braces = _with_depth(_BRACE.finditer(text, start))
    ends = (brace.end() for brace, depth in braces if not depth)
    return text[start : next(ends, len(text))]


def _with_depth(signs: Iterator[re.Match[str]]) -> Iterator[tuple[re.Match[str], int]]:
    """Brackets, and how many are open behind each."""
    depth = 0
    for sign in signs:
        depth += 1 if sign[0] in "[{" else -1
        yield sign, depth


def _looks_pasted(text: str) -> bool:
    """Whether a text is a list, a call with one, or may be several numbers."""
    start = behind_name(text)
    if spelling_at(text, start):
        return True
    return bool(_MATRIX_BEGIN.match(text, start) and SEPARATOR.search(text, start))


def _holds_several(node: ListNode) -> bool:
    """Whether a value in the first row of a matrix is several numbers: 1 2; 3 4."""
    while node.numbers is None and node.length and isinstance(node.items[0], ListNode):
        node = node.items[0]
    if node.numbers is not None:
        return False
    return any(isinstance(item, Leaf) and _is_several(item) for item in node.items)


def _is_several(leaf: Leaf) -> bool:
    """Whether a value is several numbers, and not text, or one number with a comma."""
    if leaf.quoted or not _NUMBER_BEGIN.match(leaf.text):
        return False
    # Nearly all are one number: a matrix of a million of them is read in seconds.
    if not SEPARATOR.search(leaf.text):
        return False
    if NUMBER_WITH_COMMA.fullmatch(leaf.text):
        return False
    return PastedRow.of(leaf.text).is_separated


def _text_of(leaf: Leaf, source: str) -> PastedText:
    """The text of a leaf as it stands in the source, where rows still have lines of their own."""
    if not source:
        return PastedText(leaf.text, leaf.at, 0)
    sign = source[leaf.at] if leaf.quoted else ""
    if sign in _TEXT_IN_QUOTES and (found := _TEXT_IN_QUOTES[sign].match(source, leaf.at)):
        return _text_in_quotes(leaf, sign, found)
    in_block = sign in ("|", ">")
    start = source.find("\n", leaf.at) + 1 if in_block else leaf.at
    try:
        end = _end_of_leaf(leaf, source, start, has_lines=sign == "|")
    except ValueError:
        # It is not as it stands there: its lines end as only YAML knows.
        return PastedText(leaf.text, leaf.at, 0)
    if sign == "|":
        return PastedText(source[start:end], start)
    text, doubt = _unfolded(source[start:end])
    return PastedText(text, start, doubt=doubt)


def _text_in_quotes(leaf: Leaf, sign: str, found: re.Match[str]) -> PastedText:
    content, at = found[1], found.start(1)
    if sign == '"' and "\n" not in content and _CODE_OF_SIGN.search(content):
        # JSON may write ½ as \u00bd, which is longer than what it stands for.
        return PastedText(leaf.text, leaf.at, 0)
    if sign == '"' and r"\n" in content:
        # So its rows end, and other line breaks are for the eye.
        content = content.replace("\n", " ")
    text, doubt = _unfolded(content)
    if sign == '"':
        text = _unescaped(text)
    return PastedText(text, at, doubt=doubt)


def _end_of_leaf(leaf: Leaf, source: str, start: int, *, has_lines: bool) -> int:
    """Where the words of a leaf end, which begin there; ValueError where the source has others."""
    end = start
    for piece in leaf.text.split("\n") if has_lines else leaf.text.split():
        if stripped := piece.strip():
            end = source.index(stripped, end) + len(stripped)
    after = _BLANKS_AT_LINE_END.match(source, end)
    # A tab there is before an empty cell.
    return after.end() if after else end


def _unescaped(text: str) -> str:
    """A text, as long as before, with what its escapes stand for."""
    return _ESCAPE.sub(lambda escape: _ESCAPED_SIGNS.get(escape[1], escape[0]), text)


def _unfolded(text: str) -> tuple[str, int | None]:
    """A text of YAML, as long as before, with its rows on lines, and where it is in doubt that a
    line is a row.

    A person writes each row on a line. A program writes an empty line for each break, and breaks a
    line that is long.
    """
    if "\n" not in text.strip():
        return text, None
    breaks = [*_LINE_BREAK.finditer(text.rstrip())]
    empty = [each for each in breaks if each[1]]
    if len(empty) == len(breaks):
        return _LINE_BREAK.sub(r" \1", text), None
    *broken_lines, _ = _LINE_BREAK.split(text.rstrip())[::2]
    if empty or min(map(len, broken_lines)) > _BROKEN_LINE_LENGTH:
        return text, breaks[0].start()
    return text, None
