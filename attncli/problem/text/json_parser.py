"""Parses JSON text (RFC 8259, strictly) into the tree.

The standard library says whether a text is JSON, and where it no longer is; it tells no places of
values. So the tree is made from the tokens up to there, which are easily told apart in a text that
is known to be right.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import NoReturn, cast

from attncli.english import shorten
from attncli.problem.limits import DEPTH_LIMIT
from attncli.problem.text.building import NO_HALF, SURROGATE, TreeBuilder, build
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import ListNode, Node
from attncli.problem.text.not_a_number import decimal_comma, why_not_a_number

_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_KEY = re.compile(rf"{_STRING.pattern}\s*:")
_STRING_BEGIN = re.compile(_STRING.pattern.removesuffix('"'))
_WORD = re.compile(r"[^\s,:\[\]{}\"]+")
_TOKEN = re.compile(rf'{_STRING.pattern}|[\[\]{{}}"]|{_WORD.pattern}')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORDS = ("true", "false", "null")
_REMARKS = ("//", "/*", "#")
_NO_REMARKS = "JSON has no comments", "remove it, or name the file .yaml, where # begins a comment"
# JSON does not have these, but most programs write them.
NOT_FINITE = ("NaN", "Infinity", "-Infinity")
# Nobody looks at the values: the tree keeps the texts of numbers.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)

_ENTRIES, _VALUES = (
    "put a comma between the entries",
    "write a number, a text in double quotes, a list or a mapping",
)
# What should stand there, and the help where something else does.
_EXPECTED = {
    "value": ("a value", _VALUES),
    "first value": ("a value or ]", "write a list as [1, 2, 3]"),
    "key": ("a key in double quotes", 'write {"key": value}'),
    "first key": ("a key in double quotes or }", 'write {"key": value}'),
    "colon": ('":"', 'write {"key": value}'),
    "after an entry": ('"," or "]"', f"{_ENTRIES}, and a ] after the last"),
    "after a member": ('"," or "}"', f"{_ENTRIES}, and a }} after the last"),
    "end": ("the end of the file", "remove the rest, or check the brackets before it"),
}


def parse_json(errors: ErrorCollector, *, not_finite: bool = False) -> Node:
    """The tree of the errors' source; AttncliError where it is not strict JSON, or not but for NaN
    and Infinity.
    """
    return build(errors, partial(_parse, not_finite=not_finite))


def _parse(builder: TreeBuilder, not_finite: bool) -> None:
    text, errors = builder.text, builder.errors
    end, fault = _decoded_up_to(text, errors)
    for found in _TOKEN.finditer(text, 0, end):
        token, at = found[0], found.start()
        if token == "[":
            builder.open_list(at)
        elif token == "{":
            builder.open_mapping(at)
        elif token in ("]", "}"):
            builder.close()
        elif token == '"':
            _fail_for_string(at, errors)
        elif token[0] != '"':
            if token in NOT_FINITE and not not_finite:
                _fail_for_word(token, at, errors)
            builder.scalar(token, False, at)
        elif "\\" not in token:
            builder.scalar(token[1:-1], True, at)
        else:
            string = json.loads(token)
            if not string.isascii() and SURROGATE.search(string):
                errors.fail(NO_HALF[0], at=at, help=NO_HALF[1])
            builder.scalar(string, True, at)
    if fault:
        _fail_for_syntax(fault, builder)


def _decoded_up_to(text: str, errors: ErrorCollector) -> tuple[int, json.JSONDecodeError | None]:
    """How much of a text is JSON for the standard library, and what it finds wrong there, if
    anything.
    """
    try:
        _DECODER.decode(text)
    except json.JSONDecodeError as error:
        return error.pos, error
    except RecursionError:
        # Each version of Python can read another depth.
        return _deepest(text, errors) + 1, None
    return len(text), None


def _deepest(text: str, errors: ErrorCollector) -> int:
    """Where the first level begins that is deeper than a tree may be, which the builder refuses.

    AttncliError where there is none, and still Python's stack ended: then nothing more is known of
    the text.
    """
    depth = deepest = at = 0
    for found in _TOKEN.finditer(text):
        if found[0] in ("]", "}"):
            depth -= 1
        elif found[0] in ("[", "{"):
            depth += 1
        if depth > deepest:
            deepest, at = depth, found.start()
        if deepest > DEPTH_LIMIT:
            break
    else:
        message = "Python cannot read JSON that is nested as deep as this here"
        errors.fail(message, at=at, help="use fewer lists and mappings inside one another")
    return at


def _fail_for_syntax(fault: json.JSONDecodeError, builder: TreeBuilder) -> NoReturn:
    text, errors = builder.text, builder.errors
    at = fault.pos
    before = text[:at].rstrip()
    if not text.strip():
        errors.fail(
            "the file is empty", at=0, help='a problem has lines such as "X": [[1, 0], [0, 1]]'
        )
    # Since Python 3.13, the fault is at the comma before.
    if fault.msg.startswith("Illegal trailing comma"):
        at = len(text) - len(text[at + 1 :].lstrip())
        before = text[:at].rstrip()
    if fault.msg.startswith("Unterminated string"):
        _fail_for_string(at, errors)
    if text[at : at + 1] in ("]", "}") and before.endswith(","):
        errors.fail(
            f'there is nothing between "," and "{text[at]}"', at=at, help="remove the last comma"
        )
    row = _expected(fault.msg, before, builder)
    if row == "after an entry":
        _fail_for_bracket(at, builder)
    expected, help = _EXPECTED[row]
    if at == len(text):
        errors.fail(
            f"the file ends, but {expected} should follow",
            at=builder.inside.at if builder.inside else at,
            help="the list or mapping that begins here is not closed",
        )
    # A word may go on here, as 010 does behind its 0: then it begins before.
    start = at
    while start and _WORD.match(text, at) and _WORD.match(text[start - 1]):
        start -= 1
    word = _WORD.match(text, start)
    if word and (start < at or fault.msg == "Expecting value"):
        _fail_for_word(word[0], start, errors)
    if text.startswith(_REMARKS, at):
        errors.fail(_NO_REMARKS[0], at=at, help=_NO_REMARKS[1])
    if word and expected == _EXPECTED["key"][0]:
        _fail_for_decimal_comma(word[0], at, errors)
    found = _STRING.match(text, at) or word
    what = shorten(found[0]) if found else text[at]
    errors.fail(f"found {what} instead of {expected}", at=at, help=help)


def _fail_for_bracket(at: int, builder: TreeBuilder) -> None:
    """End the reading where a key stands in a list, or the text ends: the bracket is missing before
    it.
    """
    text = builder.text
    start = at
    if text[at : at + 1] == ":" and isinstance(builder.inside, ListNode):
        start = builder.inside.items[-1].at
    elif at < len(text) and not _KEY.match(text, at):
        return
    end = len(text[:start].rstrip().removesuffix(",").rstrip())
    closing = "]" * builder.unclosed_lists
    builder.errors.fail(
        f'"{closing}" is missing', at=end, help="add it here; write a list as [1, 2, 3]"
    )


def _expected(message: str, before: str, builder: TreeBuilder) -> str:
    """Which row of _EXPECTED is meant by what the standard library says, behind this text."""
    if message == "Expecting value":
        return "first value" if before.endswith("[") else "value"
    if message.startswith("Expecting property name"):
        return "first key" if before.endswith("{") else "key"
    if message == "Expecting ':' delimiter":
        return "colon"
    if message == "Extra data":
        return "end"
    if message == "Expecting ',' delimiter":
        return "after an entry" if isinstance(builder.inside, ListNode) else "after a member"
    return "value"


def _fail_for_string(at: int, errors: ErrorCollector) -> NoReturn:
    text = errors.source.text
    end = cast("re.Match[str]", _STRING_BEGIN.match(text, at)).end()
    if text[end : end + 1] == "\\":
        errors.fail(
            "this escape does not exist",
            at=end,
            help=r"write a backslash as \\ and a line break as \n",
        )
    if text[end : end + 1] not in ("", "\n"):
        what, escape = (
            ("a tab", r"\t")
            if text[end] == "\t"
            else ("a control character", rf"\u{ord(text[end]):04x}")
        )
        errors.fail(f"a text in JSON cannot hold {what}", at=end, help=f"write {escape}")
    help = r"end it with a double quote on the same line; write \n for a line break"
    errors.fail("this text has no closing quotation mark", at=at, help=help)


def _fail_for_word(word: str, at: int, errors: ErrorCollector) -> NoReturn:
    """End the reading for a word without quotes, where a value should stand."""
    lowered = word.lower()
    if lowered in _WORDS:
        message, help = f"JSON has no {word}", f"write {lowered}"
    elif lowered.lstrip("+-") in ("nan", "inf", "infinity"):
        message, help = f"JSON has no {shorten(word)}", 'in a mask, "-inf" in quotes hides a key'
    elif why_not_a_number(word)[0].endswith("keyboard"):
        message, help = why_not_a_number(word)
    elif re.match(r"[-+.]?[0-9]", word):
        _fail_for_decimal_comma(word, at, errors)
        message, help = f"{shorten(word)} is not a number in JSON", _as_number(word)
    elif word.startswith(_REMARKS):
        message, help = _NO_REMARKS
    else:
        message, help = f"{shorten(word)} has no quotes", 'put text in double quotes: "causal"'
    errors.fail(message, at=at, help=help)


def _fail_for_decimal_comma(word: str, at: int, errors: ErrorCollector) -> None:
    """End the reading where the word is what follows the comma of a decimal."""
    if decimal := decimal_comma(errors.source.text, at, word):
        errors.fail(decimal.message, at=decimal.at, help=decimal.help)


def _as_number(word: str) -> str:
    """Help with a number: without a plus and leading zeros, and with digits on both sides of its
    point.
    """
    number = word.lstrip("+-")
    signs = len(word) - len(number)
    number = re.sub(r"^0+(?=[0-9])", "", number)
    number = re.sub(r"^\.", "0.", number)
    number = re.sub(r"\.(?![0-9])", ".0", number)
    if word.startswith("-"):
        number = f"-{number}"
    if signs < 2 and _NUMBER.fullmatch(number):
        return f"write {shorten(number)}"
    return "write 10, -0.5, 0.5 or 1e3"
