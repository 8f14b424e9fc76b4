"""Reads JSON text (RFC 8259, strictly) into the tree, keeping where each value stands and its digits as written."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import NoReturn, cast

from attncli.english import shorten
from attncli.problem.builder import Builder
from attncli.problem.escapes import NO_HALF, SURROGATE
from attncli.problem.nodes import Leaf, Mapping, Node, Sequence
from attncli.problem.shortened import read_shortened
from attncli.problem.values import ErrorCollector

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_BEGUN = re.compile(_STRING.pattern.removesuffix('"'))
_BARE = re.compile(r"[^\s,:\[\]{}\"]+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_ENTRY = re.compile(rf'("[^"\\\\\x00-\x1f]*"|{_NUMBER.pattern}|true|false|null)[ \t\n\r]*,[ \t\n\r]*')
_WORDS = ("true", "false", "null")
_REMARKS = ("//", "/*", "#")
_NO_REMARKS = "JSON has no comments", "remove it, or name the file .yaml, where # begins a comment"
NOT_FINITE = ("NaN", "Infinity", "-Infinity")  # which JSON does not have, but most programs write

VALUE, FIRST, KEY, FIRST_KEY, COLON, AFTER_ITEM, AFTER_MEMBER, END = range(8)
_EXPECTED = {  # what should stand there, and the help where something else does
    VALUE: ("a value", "write a number, a text in double quotes, a list or a mapping"),
    FIRST: ("a value or ]", "write a list as [1, 2, 3]"),
    KEY: ("a key in double quotes", 'write {"key": value}'),
    FIRST_KEY: ("a key in double quotes or }", 'write {"key": value}'),
    COLON: ('":"', 'write {"key": value}'),
    AFTER_ITEM: ('"," or "]"', "put a comma between the entries, and a ] after the last"),
    AFTER_MEMBER: ('"," or "}"', "put a comma between the entries, and a } after the last"),
    END: ("the end of the file", "the problem ends before this: remove the rest, or check the brackets"),
}
_CLOSABLE = {"]": (FIRST, AFTER_ITEM), "}": (FIRST_KEY, AFTER_MEMBER)}


def read_json(errors: ErrorCollector, *, not_finite: bool = False) -> Node:
    """The tree of the collector's source; AttncliError where it is not strict JSON, or not but for NaN and Infinity."""
    read = partial(_read, words=_WORDS + NOT_FINITE if not_finite else _WORDS)
    return read_shortened(errors, read, strict=True) or read(errors)


def _read(errors: ErrorCollector, words: tuple[str, ...]) -> Node:
    text = errors.source.text
    builder = Builder(errors)
    expect = VALUE
    at = _space(text, 0)
    while at < len(text):
        if expect in (VALUE, FIRST) and isinstance(inside := builder.inside, Sequence):
            while found := _ENTRY.match(text, at):  # most of a long list, in a fifth of the time
                quoted = found[1][0] == '"'
                inside.items.append(Leaf(found[1][1:-1] if quoted else found[1], quoted, at))
                expect, at = VALUE, found.end()
            if at == len(text):
                break
        mark = text[at]
        if mark in "]}" and expect in _CLOSABLE[mark]:
            builder.close()
            expect = _after(builder)
            after = at + 1
        elif mark == "," and expect in (AFTER_ITEM, AFTER_MEMBER):
            expect = KEY if expect == AFTER_MEMBER else VALUE
            after = at + 1
        elif mark == ":" and expect == COLON:
            expect = VALUE
            after = at + 1
        elif mark in "[{" and expect in (VALUE, FIRST):
            builder.open(Sequence(at) if mark == "[" else Mapping(at))
            expect = FIRST if mark == "[" else FIRST_KEY
            after = at + 1
        elif mark == '"' and expect in (VALUE, FIRST, KEY, FIRST_KEY):
            string, after = _string(text, at, errors)
            builder.put(string)
            expect = COLON if expect in (KEY, FIRST_KEY) else _after(builder)
        elif expect in (VALUE, FIRST) and (found := _BARE.match(text, at)):
            builder.put(_bare(found[0], at, errors, words))
            expect = _after(builder)
            after = found.end()
        else:
            _unexpected(text, at, expect, errors)
        at = _space(text, after)
    if builder.root is None:
        errors.fail("the file is empty", at=0, help='a problem has lines such as "X": [[1, 0], [0, 1]]')
    if expect != END:
        errors.fail(
            f"the file ends where {_EXPECTED[expect][0]} should follow",
            at=builder.inside.at if builder.inside else len(text),
            help="the list or mapping that begins here is not closed",
        )
    return builder.root


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _after(builder: Builder) -> int:
    if builder.inside is None:
        return END
    return AFTER_ITEM if isinstance(builder.inside, Sequence) else AFTER_MEMBER


def _string(text: str, at: int, errors: ErrorCollector) -> tuple[Leaf, int]:
    found = _STRING.match(text, at)
    if not found:
        _bad_string(text, at, errors)
    string = json.loads(found[0])
    if not string.isascii() and SURROGATE.search(string):
        errors.fail(NO_HALF[0], at=at, help=NO_HALF[1])
    return Leaf(string, True, at), found.end()


def _bad_string(text: str, at: int, errors: ErrorCollector) -> NoReturn:
    end = cast("re.Match[str]", _BEGUN.match(text, at)).end()
    if text[end : end + 1] == "\\":
        errors.fail("there is no such escape in a text", at=end, help=r"write a backslash as \\ and a line break as \n")
    if text[end : end + 1] not in ("", "\n"):
        what, escape = ("a tab", r"\t") if text[end] == "\t" else ("a control character", rf"\u{ord(text[end]):04x}")
        errors.fail(f"{what} cannot stand in a text of JSON", at=end, help=f"write {escape}")
    help = r"end it with a double quote on the same line; write \n for a line break"
    errors.fail("this text is not closed", at=at, help=help)


def _bare(word: str, at: int, errors: ErrorCollector, words: tuple[str, ...]) -> Leaf:
    if word in words or _NUMBER.fullmatch(word):
        return Leaf(word, False, at)
    lowered = word.lower()
    if lowered in _WORDS:
        message, help = f"JSON has no {word}", f"write {lowered}"
    elif lowered.lstrip("+-") in ("nan", "inf", "infinity"):
        message, help = f"JSON has no {shorten(word)}", 'in a mask, "-inf" in quotes hides a key'
    elif re.match(r"[-+.]?[0-9]", word):
        message, help = f"JSON writes numbers otherwise than {shorten(word)}", _as_number(word)
    elif word.startswith(_REMARKS):
        message, help = _NO_REMARKS
    else:
        message, help = f"{shorten(word)} stands without quotes", 'put text in double quotes: "causal"'
    return errors.fail(message, at=at, help=help)


def _as_number(word: str) -> str:
    """Help with a number: without a plus and leading zeros, and with digits on both sides of its point."""
    sign, number = ("-" if word.startswith("-") else ""), word.lstrip("+-")
    number = re.sub(r"\.(?![0-9])", ".0", re.sub(r"^\.", "0.", re.sub(r"^0+(?=[0-9])", "", number)))
    right = len(word) - len(word.lstrip("+-")) < 2 and _NUMBER.fullmatch(sign + number)
    return f"write {shorten(sign + number)}" if right else "write 10, -0.5, 0.5 or 1e3"


def _unexpected(text: str, at: int, expect: int, errors: ErrorCollector) -> NoReturn:
    if text[at] in "]}" and expect in (VALUE, KEY) and text[:at].rstrip().endswith(","):
        errors.fail(f'there is nothing between "," and "{text[at]}"', at=at, help="remove the last comma")
    if text.startswith(_REMARKS, at):
        errors.fail(_NO_REMARKS[0], at=at, help=_NO_REMARKS[1])
    found = _STRING.match(text, at) or _BARE.match(text, at)
    what = shorten(found[0]) if found else text[at]
    expected, help = _EXPECTED[expect]
    errors.fail(f"{what} stands where {expected} should be", at=at, help=help)
