"""How a matrix can be pasted: each spelling has a module, and its entry here."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, NoReturn

from attncli.english import shorten
from attncli.problem.text.compact_fractions import FRACTION_SIGN
from attncli.problem.text.nodes import Leaf, ListNode, Node, PastedList
from attncli.problem.text.number_signs import DASHES
from attncli.problem.text.pasted.brackets import LIST_BEGIN, read_list
from attncli.problem.text.pasted.drawn import drawn_at, read_drawn
from attncli.problem.text.pasted.latex import latex_at, read_latex
from attncli.problem.text.pasted.lines import read_lines
from attncli.problem.text.pasted.printed import r_at, read_r, tensorflow_at, without_head
from attncli.problem.text.pasted.text import PastedText, PasteError


class Spelling(NamedTuple):
    """One way to write a matrix: what finds its beginning at a place, and who reads the whole text
    then, where a list of this rank is wanted.
    """

    begin: Callable[[str, int], re.Match[str] | None]
    read: Callable[[PastedText, re.Match[str], int], PastedList]


# The brackets of other programs: what attncli has in place of each.
_MEANT_BRACKETS = str.maketrans("{}()", "[][]")
_PAIRS = {"{": "{ }", "(": "( )"}
_NUMBER = rf"[-+{DASHES}]?(?:[0-9.][0-9./]*|{FRACTION_SIGN})"
# A parenthesis may also be one of a number, as in (1/3) 2.
_OTHER_BRACKETS = re.compile(
    rf"\{{(?:\s*[{{(])*\s*{_NUMBER}|\((?:\s*[({{])*\s*{_NUMBER}(?:\s+|\s*[,;]\s*){_NUMBER}"
)
# MATLAB prints 1.0e+03 * above numbers of very different sizes.
_FACTOR = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?[ \t]*\*\s*(?=\[|\n)")
# A list of tuples.
ROWS_IN_PARENTHESES = re.compile(rf"\[\s*\(\s*{_NUMBER}\s*,")
# R counts the numbers of a vector before each of its lines.
_COUNTED_VECTOR = re.compile(rf"\[1\][ \t]+{_NUMBER}")
# What another program would work out, or print.
_OTHER_CALL = re.compile(r"(?P<name>(?!sqrt)[A-Za-z_][\w.:]*!?)(?:\(\s*(?:\[|\(|c\()|\[vec!)")
_HTML = re.compile(r"<(?:table|thead|tbody|tr|td|th|math)\b", re.IGNORECASE)
_LONGEST_HELP = 100


def refuse_brackets(text: PastedText, begin: re.Match[str], rank: int) -> NoReturn:
    """Raises what to write for a matrix in brackets of another kind: {{1, 0}, {0, 1}}."""
    meant = "[[1, 0], [0, 1]]"
    if len(text.text) <= _LONGEST_HELP:
        # What is not clear in other brackets is told when it stands in ours.
        with suppress(PasteError):
            meant = _in_our_brackets(text, rank)
    pair = _PAIRS[begin[0].lstrip("[ ")[0]]
    message = f"the brackets of a matrix are [ ], not {pair}"
    raise text.error(message, f"write {meant}", begin.start())


def refuse_factor(text: PastedText, begin: re.Match[str], rank: int) -> NoReturn:
    """Raises what to do with a factor that all numbers of a matrix have."""
    factor = begin[0].strip()
    message = f"{factor} is a factor of all numbers of the matrix"
    help = "multiply them, or print them without it, in MATLAB after format longG"
    raise text.error(message, help, begin.start())


def refuse_counts(text: PastedText, begin: re.Match[str], rank: int) -> NoReturn:
    """Raises what to do with [1] before the numbers of a vector, as R prints it."""
    message = "[1] counts the numbers of a vector here, as R prints it"
    raise text.error(message, "leave it out, and write [1, 0] for the numbers", begin.start())


def refuse_call(text: PastedText, begin: re.Match[str], rank: int) -> NoReturn:
    """Raises what to write for a call of a function that only another program knows."""
    message = f"{shorten(begin['name'])}(…) is a call of another program, and nothing is executed"
    raise text.error(message, "write the numbers themselves: [[1, 0], [0, 1]]", begin.start())


def refuse_html(text: PastedText, begin: re.Match[str], rank: int) -> NoReturn:
    """Raises what to do with the tags of a page."""
    message = "this is HTML, with tags around the numbers"
    raise text.error(message, "copy the matrix from the page itself, without tags", begin.start())


def read_tensorflow(text: PastedText, begin: re.Match[str], rank: int) -> PastedList:
    """The array in what TensorFlow says of it."""
    start, end = begin.span("array")
    found = read_pasted(replace(text, text=text.text[start:end].rjust(end)), rank, may_be_one=True)
    assert found is not None, "even a number alone is a matrix here"
    return found


SPELLINGS = (
    Spelling(latex_at, read_latex),
    Spelling(drawn_at, read_drawn),
    Spelling(r_at, read_r),
    Spelling(tensorflow_at, read_tensorflow),
    Spelling(_COUNTED_VECTOR.match, refuse_counts),
    Spelling(ROWS_IN_PARENTHESES.match, refuse_brackets),
    Spelling(LIST_BEGIN.match, read_list),
    Spelling(_OTHER_BRACKETS.match, refuse_brackets),
    Spelling(_FACTOR.match, refuse_factor),
    Spelling(_OTHER_CALL.match, refuse_call),
    Spelling(_HTML.match, refuse_html),
)
# Remarks, and the W_Q = of W_Q = [1 2; 3 4].
_BEFORE_MATRIX = re.compile(
    r"(?:\s|#[^\n]*\n)*+(?:>>>[ ]|(?:Out|In)[ ]?\[[0-9]{1,6}\]:\s*)?"
    r"(?a:[*`$]{0,2}[A-Za-z_]\w*[*`$]{0,2}\s*(?::\s*[A-Za-z_][\w.]*\s*)?=(?!=)\s*)?"
)


def behind_name(text: str) -> int:
    """Where a matrix begins: behind its name, if it has one, and behind remarks above it."""
    before = _BEFORE_MATRIX.match(text)
    assert before is not None, "or nothing, which matches too"
    return before.end()


def spelling_at(text: str, start: int) -> tuple[Spelling, re.Match[str]] | None:
    """The spelling that begins at this place, and its beginning; None for rows on lines."""
    for spelling in SPELLINGS:
        if begin := spelling.begin(text, start):
            return spelling, begin
    return None


def read_pasted(text: PastedText, rank: int, *, may_be_one: bool = False) -> PastedList | None:
    """The lists of a whole text; None for a number alone, unless that `may_be_one`.

    np.array([[1, 2]]) means [[1, 2]], and so does W = [1 2].
    """
    text = without_head(text)
    start = behind_name(text.text)
    if found := spelling_at(text.text, start):
        spelling, begin = found
        return spelling.read(text, begin, rank)
    # In a file, k=1,k=2 are names of columns.
    if "=" in text.text[:start] and not text.of_file:
        text = replace(text, text=text.text[start:].rjust(len(text.text)))
    return read_lines(text, rank, may_be_one=may_be_one)


def _in_our_brackets(text: PastedText, rank: int) -> str:
    """The matrix as a problem has it, [[1, 0], [0, 1]]; PasteError where it cannot be read."""
    meant = replace(text, text=text.text.translate(_MEANT_BRACKETS))
    found = read_pasted(meant, rank, may_be_one=True)
    assert found is not None
    return _written(found)


def _written(node: Node) -> str:
    if isinstance(node, ListNode):
        return f"[{', '.join(map(_written, node.items))}]"
    assert isinstance(node, Leaf)
    return node.text
