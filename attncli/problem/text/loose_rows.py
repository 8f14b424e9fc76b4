"""Rows that stand below their key without blanks before them, Q = in the place of Q:, and signs of
other keyboards.

YAML refuses all of them, and nobody who pastes a matrix knows that.
"""

from __future__ import annotations

import re
from dataclasses import replace

from attncli.problem.keys import ARRAYS, KEYS
from attncli.problem.text.pasted.finding import SIGNS_OF_KEYBOARDS
from attncli.problem.text.pasted.text import LONGEST_PASTED
from attncli.problem.text.source import Source

# Keys of matrices, and the keys whose matrices may stand below them.
_HAVE_ROWS = ({*ARRAYS} & {*KEYS}) | {"mask"}
_NAMES = "|".join(sorted(KEYS, key=len, reverse=True))
_KEY = re.compile(
    rf"(?P<key>{_NAMES})[ \t]*(?P<sign>[:=：＝]|<-)(?!=)[ \t\xa0\u3000]*(?P<value>.*)"
)
_BLOCK_SIGN = re.compile(r"(?:[|>][-+]?)?[ \t]*(?:#.*)?")
# No row begins so.
_NEXT_KEY = re.compile(r"[A-Za-z_][\w.]*[ \t]*(?:[:=：＝]|<-)(?!=)|---|\.\.\.|\}")
_NO_ROW = re.compile(r"[ ]*(?:#|-(?:[ \t]|$)|\{|[\"'A-Za-z_][\w\"']*[ \t]*:(?:[ \t]|$))")
_LOOSE = re.compile(r"[^ \t#]|[ ]*\t")
_BLANK_BEHIND_KEY = re.compile(r"^([ ]*[\w.]+:)\xa0", re.MULTILINE)
_FENCE = re.compile(r"[ \t]*(?:`{3}|~{3})[ \t]*\w*[ \t]*")
# Julia prints this above a matrix, and YAML takes it for a key.
_HEAD_OF_JULIA = re.compile(r"[ \t]*[0-9]+×[0-9]+ [A-Za-z].*:[ \t]*")
# What begins so may go on in the next line: LaTeX, and what TensorFlow prints.
_GOES_ON = re.compile(r"[\\$<]")
# Mathematica and C have such lists, and YAML takes them for mappings.
_BRACES = re.compile(r"\{\s*(?:\{|[-+.]?[0-9])")
_INDENTATION, _QUOTE = "  ", "'"


def with_tight_rows(source: Source) -> Source:
    """The same text as YAML has it, or the source itself where it has nothing of the kind.

    Every line stays a line, so what is wrong in it is told where the person wrote it.
    """
    text = source.text
    if len(text) > LONGEST_PASTED:
        return source
    lines = _BLANK_BEHIND_KEY.sub(r"\1 ", text).split("\n")
    for number, line in enumerate(lines):
        if _FENCE.fullmatch(line):
            lines[number] = ""
    moved: dict[int, int] = {}
    number = 0
    while number < len(lines):
        end = _end_of_rows(lines, number + 1)
        if found := _KEY.fullmatch(lines[number]):
            _tighten(lines, number, end, found, moved)
        number = end
    mended = "\n".join(lines)
    return source if mended == text else replace(source, text=mended, written=text, moved=moved)


def _end_of_rows(lines: list[str], start: int) -> int:
    """The line of the next key, from this one on."""
    for number in range(start, len(lines)):
        if _NEXT_KEY.match(lines[number]):
            return number
    return len(lines)


def _tighten(
    lines: list[str], number: int, end: int, found: re.Match[str], moved: dict[int, int]
) -> None:
    """Write a key and the lines behind it, up to `end`, as YAML has them."""
    key, value = found["key"], found["value"]
    if key not in _HAVE_ROWS:
        if found["sign"] not in ":：":
            _put_value(lines, number, found, value, moved)
        return
    value = value.translate(SIGNS_OF_KEYBOARDS)
    rows = [row for row in range(number + 1, end) if lines[row].strip()]
    for row in rows:
        lines[row] = lines[row].translate(SIGNS_OF_KEYBOARDS)
    if _BLOCK_SIGN.fullmatch(value):
        if rows and _are_loose(lines, rows, found["sign"]):
            lines[number] = f"{key}: |"
            for row in rows:
                _put(lines, row, _INDENTATION + lines[row], moved)
        return
    is_text = _BRACES.match(value) or (rows and _GOES_ON.match(value))
    _put_value(lines, number, found, _QUOTE + value if is_text else value, moved)
    if is_text:
        lines[rows[-1] if rows else number] += _QUOTE


def _are_loose(lines: list[str], rows: list[int], sign: str) -> bool:
    first = lines[rows[0]]
    if _NO_ROW.match(first):
        return False
    if sign not in ":：" or _HEAD_OF_JULIA.fullmatch(first):
        return True
    return any(_LOOSE.match(lines[row]) for row in rows)


def _put_value(
    lines: list[str], number: int, found: re.Match[str], value: str, moved: dict[int, int]
) -> None:
    """Put a value behind its key, where it stood if there is room for it."""
    key = f"{found['key']}:"
    room = found.end("value") - len(value)
    _put(lines, number, key.ljust(max(room, len(key) + 1)) + value, moved)


def _put(lines: list[str], number: int, line: str, moved: dict[int, int]) -> None:
    """Put a line in the place of one whose end it has."""
    moved[number + 1] = len(line) - len(lines[number])
    lines[number] = line
