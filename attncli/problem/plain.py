"""Reads YAML of the plainest kind by itself: PyYAML, whose import takes a tenth of a small run, is for all other.

That kind is `key: words`, `key: [[1, 0], [0, 1]]` on one line, and a key above lines of `- [1, 0]`; with comments, and
in printable ASCII. Where anything else stands, there may be more to it, and the whole text is left alone.
"""

from __future__ import annotations

import re

from attncli.problem.nodes import LONG, Leaf, Mapping, Node, Sequence

_KEY = r"([A-Za-z_][A-Za-z0-9_]{0,99}):(?: +|$)"
_WORDS = r"[-+]?\.?[A-Za-z0-9_][A-Za-z0-9_.,/+*() -]*"
_ROW = r"( +)- +(?=\[)"
_SIGN = r" *([\[\],]|[-+]?\.?[A-Za-z0-9_][A-Za-z0-9_./+*()-]*)"  # what a list is made of; the others are its leaves


_DEEPEST = 8  # lists within lists; YAML is told how deep it may be


class _NotPlain(Exception):
    """There may be more to this text."""


def read_plain(text: str) -> Mapping | None:
    """The tree of a text of this kind, the same as its YAML has; None for any other, be it right or wrong."""
    if len(text) >= LONG or not text.isascii() or not text.replace("\n", "").isprintable():
        return None
    try:
        return _mapping(text)
    except _NotPlain:
        return None


def _mapping(text: str) -> Mapping:
    found: Mapping | None = None
    rows, indent = None, ""  # the list below the last key, and how far in it stands
    start = 0
    for whole in text.split("\n"):
        at, start = start, start + len(whole) + 1
        line = whole.partition(" #")[0].rstrip(" ")
        if not line or line[0] == "#":
            continue
        if (row := re.match(_ROW, line)) and rows is not None:
            if not rows.items:
                rows.at, indent = at + len(row[1]), row[1]
            elif row[1] != indent:
                raise _NotPlain
            rows.items.append(_list(line, row.end(), at))
        elif key := re.match(_KEY, line):
            found = found or Mapping(at)
            if key[1] in found.keys or (rows is not None and not rows.items):
                raise _NotPlain
            rows = Sequence(at) if key.end() == len(line) else None
            found.keys[key[1]] = at
            found.values[key[1]] = _value(line, key.end(), at) if rows is None else rows
        else:
            raise _NotPlain
    if found is None or (rows is not None and not rows.items):
        raise _NotPlain
    return found


def _value(line: str, begin: int, at: int) -> Node:
    """What stands behind a key, on a line that begins at `at`."""
    if line[begin] == "[":
        return _list(line, begin, at)
    if not re.fullmatch(_WORDS, line[begin:]):
        raise _NotPlain
    return Leaf(line[begin:], False, at + begin)


def _list(line: str, begin: int, at: int) -> Sequence:
    """The list that begins here and ends with the line."""
    outer = [Sequence(-1)]  # and the lists within that are still open
    whole, again = False, re.compile(_SIGN)  # whether an entry ends here
    while found := again.match(line, begin):
        begin, sign, place = found.end(), found[1], at + found.start(1)
        if whole is not (sign in ",]") or len(outer) > _DEEPEST:  # a sign in the place of an entry, or an entry in its
            raise _NotPlain
        whole = sign != "," and sign != "["
        if sign == "[":
            inner = Sequence(place)
            outer[-1].items.append(inner)
            outer.append(inner)
        elif sign == "]":
            outer.pop()
            if len(outer) == 1:
                break
        elif sign != ",":
            outer[-1].items.append(Leaf(sign, False, place))
    if len(outer) > 1 or begin < len(line):
        raise _NotPlain
    (only,) = outer[0].items
    assert isinstance(only, Sequence)
    return only
