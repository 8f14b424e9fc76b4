"""Matrices as R, Julia and TensorFlow print them: [1,] before the first row and [,1] above the
first column, the size in the first line, and <tf.Tensor …> around an array of NumPy.
"""

from __future__ import annotations

import re
from dataclasses import replace

from attncli.problem.text.nodes import PastedList
from attncli.problem.text.pasted.lines import read_lines
from attncli.problem.text.pasted.text import PastedText

# Of R: above the columns, and before the rows.
_COLUMN = re.compile(r"\[,([0-9]{1,9})\]")
_ROW = re.compile(r"^[ \t]*\[([0-9]{1,9}),\](?!\S)", re.MULTILINE)
_FIRST_ROW = re.compile(r"\s*(?:[^\n\[\]]*\n)?[ \t]*\[(?:,1\][ \t]|1,\][ \t]|,1\]\n)")
_JULIA_HEAD = re.compile(r"\s*[0-9]+[×x][0-9]+ [A-Za-z][^\n]*:[ \t]*(?=\n)")

_TENSORFLOW = re.compile(
    r"\s*<tf\.(?:Tensor|Variable)\b[^\n]*?\bnumpy=\s*(?P<array>(?:array\()?\[.*)>\s*", re.DOTALL
)


def r_at(text: str, start: int) -> re.Match[str] | None:
    """The beginning of a matrix as R prints it; None where none begins there."""
    return _FIRST_ROW.match(text, start)


def read_r(text: PastedText, begin: re.Match[str], rank: int) -> PastedList:
    """The matrix. What numbers its rows and columns is no name of them."""
    for sign in (_ROW, _COLUMN):
        found = [*sign.finditer(text.text)]
        numbers = [int(each[1]) for each in found]
        if numbers and numbers != [*range(1, len(numbers) + 1)]:
            message = "the columns of this matrix are printed in parts, below each other"
            help = "print it in one, in R after options(width = 10000)"
            raise text.error(message, help, found[0].start())
    numbered = _COLUMN.sub(_as_name, _ROW.sub(_as_name, text.text))
    named = numbered[begin.start() :].rjust(len(numbered))
    found_rows = read_lines(replace(text, text=named), rank, may_be_one=True)
    assert found_rows is not None, "even a number alone is a matrix here"
    if _ROW.search(text.text):
        found_rows.row_names = ()
    if _COLUMN.search(text.text):
        found_rows.column_names = ()
    return found_rows


def _as_name(found: re.Match[str]) -> str:
    """A word that is as long, with blanks before it."""
    bracketed = found[0].lstrip()
    word = "n" * (len(bracketed))
    return word.rjust(len(found[0]))


def tensorflow_at(text: str, start: int) -> re.Match[str] | None:
    """An array of NumPy in what TensorFlow says of it; None where there is none."""
    return _TENSORFLOW.fullmatch(text, start)


def without_head(text: PastedText) -> PastedText:
    """A text without the line in which Julia says how large a matrix is: 2×2 Matrix{Float64}:."""
    head = _JULIA_HEAD.match(text.text)
    if head is None:
        return text
    return replace(text, text=" " * head.end() + text.text[head.end() :])
