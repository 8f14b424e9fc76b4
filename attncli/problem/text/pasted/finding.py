"""Finds pasted matrices in a file: which values are one, and where its text stands.

YAML makes one line of a text on several, and refuses [[1 2]\n [3 4]]. So the text is looked up
where it stands in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from attncli.problem.limits import DEPTH_LIMIT
from attncli.problem.text.compact_fractions import FRACTION_SIGN
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode, Node, PastedList
from attncli.problem.text.number_signs import DASHES
from attncli.problem.text.pasted.brackets import CALL, CALL_END, read_brackets
from attncli.problem.text.pasted.grammar import SEPARATOR, PastedRow
from attncli.problem.text.pasted.lines import NUMBER_WITH_COMMA, read_entries
from attncli.problem.text.pasted.spellings import (
    ROWS_IN_PARENTHESES,
    behind_name,
    read_pasted,
    spelling_at,
)
from attncli.problem.text.pasted.text import LONGEST_PASTED, PastedText, PasteError
from attncli.problem.text.values import Value

_NUMBER_SIGNS = rf"[-+{DASHES}]?\s?(?:\.?\d|[Oo]\.\d|√|sqrt\(|∞|\.?inf|\.?nan\b|{FRACTION_SIGN})"
_NUMBER_BEGIN = re.compile(
    r"""["']?(?:[-+−]?\s?(?:\.?\d|√|sqrt\(|\.?inf)|_|true\b|false\b)""", re.IGNORECASE
)
# A text that may be a whole matrix begins so, in whatever brackets and with whatever dash.
_MATRIX_BEGIN = re.compile(
    rf"""["']?(?:{_NUMBER_SIGNS}|_|true\b|false\b|\(\s*{_NUMBER_SIGNS})""", re.IGNORECASE
)
_BRACE, _BRACKET = re.compile(r"[{}]"), re.compile(r"[\[\]]")
_BLANKS_AT_LINE_END = re.compile(r"[ \t]+(?=\r?\n|\Z)")
_TEXT_IN_QUOTES = {
    '"': re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL),
    "'": re.compile(r"'((?:[^']|'')*)'"),
}
_CODE_OF_SIGN = re.compile(r"\\[xuU]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
# What escapes stand for is as long as they are in the text, so that nothing moves.
_ESCAPED_SIGNS = {"n": " \n", "t": " \t", "r": "  ", " ": "  ", '"': ' "'}
# What is left of \\begin, \\frac, \\right, \\tfrac and \\text.
_LATEX_ESCAPED = re.compile(r"\x08(?=egin\{)|\x0c(?=rac)|\t(?=frac|ext\{)")
_GAP_BEFORE_NUMBER = re.compile(r"[\s,;|][-+−]?[0-9.√½]")
# Excel reads sep=; on the first line.
_SEPARATOR_LINE = re.compile(r"sep=[^\n]?\r?(?=\n)")
_LINE_BREAK = re.compile(r"\n((?:[ \t]*\n)*)")
# Programs break no line of fewer characters.
_BROKEN_LINE_LENGTH = 60
_PASTED_VALUE = re.compile(
    rf"(?:(?<=: )|(?<=:\n)|(?<=[-{{\[,] ))\s*((?:{CALL})?\[|\|(?=[^\n]*\|))", re.ASCII
)
_QUESTION = re.compile(r"(?<=[\[, ])\?(?=[ \t]*[,\]])")
_NEXT_ROW = re.compile(r",?[ \t]*\n[ \t]+(?=\[)")
# Chinese and Japanese keyboards have these, and web pages the blank.
SIGNS_OF_KEYBOARDS = str.maketrans("［］｛｝，：；　\xa0", "[]{},:;  ")
_IN_WIDE_BRACKETS = re.compile(r"［.*］", re.DOTALL)
# The last bar becomes a quote.
_BARRED_ROWS = re.compile(r"""\|[^\n"\\]*\|(?:[ \t]*\n[ \t]+\|[^\n"\\]*\|)*""")
_BLOCK_BEGIN = re.compile(r"[|>][-+0-9]*[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
# A block of text, with all that is further to the right than its key.
_BLOCK = re.compile(
    r"^(?P<indent> *)(?:- +)*[\w\"'.-]+: *[|>][-+]? *(?:#[^\n]*)?\n"
    r"(?P<rows>(?:(?P=indent)[ \t]+[^\n]*(?:\n|\Z)|[ \t]*\n)+)",
    re.MULTILINE,
)
# These are the brackets of lists, and what no pasted list has in it.
_BRACKET_OR_NO_LIST = re.compile(r"[\[\]\"'{}:&*\\]")
# NumPy prints rows so.
_ROWS_WITHOUT_COMMA = re.compile(r"\]\s+(?:\.\.\.\s+)?\[")


def written_out(
    value: Value, rank: int = 2, *, of_answers: bool = False, shape: tuple[int, ...] = ()
) -> bool:
    """Make nested lists of a value that is a pasted matrix, in its place; whether there is nothing
    wrong with it. Its `shape` is that of an answer.

    Any other value stays as it is. Where a list of numbers is wanted, of `rank` 1, they may stand
    below each other. So V: 1 2; 3 4 becomes what V: [[1, 2], [3, 4]] is.
    """

    def read() -> PastedList | None:
        return _lists_of(value, value.node, rank, of_answers, shape)

    return _put(value, read)


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
        if found.row_names:
            value.reading.row_names[value.path] = found.row_names
    return True


def as_yaml_reads(text: str) -> str:
    """A text of YAML with its pasted matrices as YAML can read them: "[1 2]\n [3 4]" for
    [[1 2]\n [3 4]].

    No sign moves. The first and the last of a list, or of a table with bars, become quotes, and a
    question mark in place of a number the sign of a blank. The first row of a block may stand
    further to the right than others, as names above columns do: a letter stands for the blank
    before it. A text that is longer than any that people paste stays as it is.
    """
    if len(text) > LONGEST_PASTED:
        return text
    return _with_even_blocks(_in_quotes(_QUESTION.sub("_", text)))


def _in_quotes(text: str) -> str:
    parts: list[str] = []
    copied = looked_at = 0
    for found in _PASTED_VALUE.finditer(text):
        start = found.start(1)
        if start < looked_at:
            continue
        if text.startswith("|", start):
            end = _end_of_table(text, start)
            looked_at = end or start + 1
        else:
            looked_at, end = _end_of(text, start, found.end())
        if end:
            parts += [text[copied:start], '"', text[start + 1 : end - 1], '"']
            copied = end
        if looked_at == len(text):
            break
    return "".join([*parts, text[copied:]])


def _end_of_table(text: str, start: int) -> int:
    """Where the last bar of a table ends whose first is at `start`, on a line below a key; 0
    where none begins there.
    """
    rows = _BARRED_ROWS.match(text, start)
    is_below_key = text[:start].rstrip(" ").endswith("\n")
    return rows.end() if rows and is_below_key else 0


def _with_even_blocks(text: str) -> str:
    """A text whose blocks are indented by their first row, as YAML takes it."""
    return _BLOCK.sub(_with_even_first_row, text)


def _with_even_first_row(block: re.Match[str]) -> str:
    rows = block["rows"]
    lines = [line for line in rows.split("\n") if line.strip()]
    least = min((len(line) - len(line.lstrip(" ")) for line in lines), default=0)
    if not lines or least <= len(block["indent"]):
        return block[0]
    first = rows.index(lines[0]) + least
    if not rows[first].isspace():
        return block[0]
    return f"{block[0][: block.start('rows') - block.start()]}{rows[:first]}x{rows[first + 1 :]}"


def _end_of(text: str, start: int, inside: int) -> tuple[int, int]:
    """How far a list, or a call with one, was looked at, whose first bracket ends at `inside`, and
    where it ends.

    The end is 0 where it is none, or one that YAML can read, too.
    """
    ends: list[int] = []
    for sign, depth in _with_depth(_BRACKET_OR_NO_LIST.finditer(text, inside - 1)):
        if sign[0] not in "[]":
            return sign.end(), _end_of_rows(ends)
        # Nobody pastes such a list, and a hostile file has millions of brackets.
        if depth > DEPTH_LIMIT:
            break
        if depth:
            continue
        end = sign.end()
        ends.append(end)
        # The next row may have brackets of its own, below this one.
        if not _NEXT_ROW.match(text, end):
            return end, _end_of_rows(ends) or _end_behind(text, start, end)
    return len(text), _end_of_rows(ends)


def _end_of_rows(ends: list[int]) -> int:
    """The end of the last of several rows that have brackets of their own; 0 for less."""
    return ends[-1] if len(ends) > 1 else 0


def _end_behind(text: str, start: int, end: int) -> int:
    """The same where the last bracket is known to end at `end`."""
    if text.startswith("[", start):
        return end if _ROWS_WITHOUT_COMMA.search(text, start, end) else 0
    closing = CALL_END.match(text, end)
    return closing.end() if closing else 0


def _lists_of(
    value: Value, node: Node, rank: int, of_answers: bool, shape: tuple[int, ...]
) -> PastedList | None:
    """The lists that a node means; None where it is no pasted matrix."""
    source = value.errors.source
    # A problem made in Python has no text.
    text = source.text if source.name else ""
    if isinstance(node, Leaf):
        if _IN_WIDE_BRACKETS.match(node.text):
            text, node = "", replace(node, text=node.text.translate(SIGNS_OF_KEYBOARDS))
        in_block = bool(text) and node.quoted and _BLOCK_BEGIN.match(text, node.at) is not None
        is_escaped = node.quoted and _LATEX_ESCAPED.search(node.text) is not None
        is_pasted = in_block or is_escaped or _looks_pasted(node.text) or _has_lines(node, text)
        if not is_pasted:
            return None
        pasted = replace(_text_of(node, text), of_answers=of_answers, shape=shape)
        _require_backslashes(node, pasted)
        return read_pasted(pasted, rank, may_be_one=in_block)
    if isinstance(node, MappingNode) and text:
        # YAML takes {1 0; 0 1} for a mapping.
        whole = _in_pairs(_BRACE, text, node.at)
        return read_pasted(PastedText(whole, node.at), rank) if spelling_at(whole, 0) else None
    if isinstance(node, ListNode) and text and ROWS_IN_PARENTHESES.match(text, node.at):
        # And [(1, 2), (3, 4)] for a list of four texts.
        whole = _in_pairs(_BRACKET, text, node.at)
        return read_pasted(PastedText(whole, node.at), rank)
    if not isinstance(node, ListNode) or not text or not _holds_several(node):
        return None
    if text.startswith("[", node.at):
        pasted = PastedText(text, 0, of_answers=of_answers, shape=shape)
        return read_brackets(pasted, node.at, rank)[0]
    if all(isinstance(item, Leaf) for item in node.items):
        return read_entries(node)
    below = shape[1:]
    items = [_lists_of(value, item, rank - 1, of_answers, below) or item for item in node.items]
    return PastedList(node.at, items)


def _in_pairs(signs: re.Pattern[str], text: str, start: int) -> str:
    """What stands between a brace or a bracket and the one that closes it, and both."""
    found = _with_depth(signs.finditer(text, start))
    ends = (sign.end() for sign, depth in found if not depth)
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


def _require_backslashes(leaf: Leaf, text: PastedText) -> None:
    """Raises what is wrong with "\\begin{pmatrix}" in double quotes, where \\b is another sign."""
    if _LATEX_ESCAPED.search(leaf.text):
        message = r"in double quotes, \b, \f, \r and \t are single signs, and no backslash"
        raise text.error(message, "write the matrix on the lines below a |, or in single quotes", 0)


def _has_lines(leaf: Leaf, source: str) -> bool:
    """Whether a text has numbers on several lines, as a table with names above them does."""
    if not _GAP_BEFORE_NUMBER.search(leaf.text):
        return False
    return "\n" in _text_of(leaf, source).text.strip()


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
    in_block = _BLOCK_BEGIN.match(source, leaf.at) is not None
    sign = sign if in_block else ""
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
    # JSON may write ½ as \u00bd, and writes LaTeX as \\frac, which are longer than what they
    # stand for.
    has_codes = "\n" not in content and _CODE_OF_SIGN.search(content) is not None
    if sign == '"' and (has_codes or "\\\\" in content):
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
