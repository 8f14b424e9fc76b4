"""Parses YAML text into the tree: the plain part of YAML 1.2, without aliases, tags and other
indirections.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import yaml

from attncli.english import shorten
from attncli.problem.keys import KEYS
from attncli.problem.text.building import NO_HALF, SURROGATE, TreeBuilder, build
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode, Node

# The module in C is not everywhere.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# This pattern is slow to compile, so it is compiled where it is needed.
_UNPRINTABLE = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
# The characters of ASCII that YAML has.
_ASCII = b"\t\n\r" + bytes(range(0x20, 0x7F))
# It comes after all that ends a line in YAML.
_TAG_DIRECTIVE = r"(?:\A|[\n\r\x85\u2028\u2029])(?=%TAG\b)"
OF_A_PROBLEM = "a problem has lines such as X: [[1, 0], [0, 1]]"
_AT_LENGTH = "write the value out in full"

_NO_BLANK = 'a blank is missing after ":"'
_KEY = re.compile(r"""[ \t]*(?:- +)*["']?([A-Za-z_][\w.-]*)["']?[ \t]*""")
_LISTS, _MAPPINGS = "write a list as [1, 2, 3]", "write a mapping as {padding: [1, 1, 0]}"
_ROW = re.compile(r"([ \t]*)[-+.]*[0-9]")
_BEFORE_ROWS = re.compile(
    r"([ ]*)(?:- +)*[\w\"'-]+:[ \t]*(?:[|>][-+]?)?[ \t]*(?:#[^\n]*)?$", re.MULTILINE
)
# A key in quotes, or the end of a mapping.
_LINE_OF_JSON = re.compile(r'("[\w.-]+"\s*:|\})')
_SIGN_APART = re.compile(r"(-)[ \t]+([0-9.][0-9./]*|inf|Infinity|∞|oo)(?=\s*[,\]])")
_REMARK = re.compile(r"(?:^|(?<=\s))#[^\n]*")

# PyYAML's two parsers word the same fault differently: (pattern of either's words, ours, help).
_FAULTS = (
    (
        r"mapping values are not allowed",
        '":" does not belong here',
        "put a text that holds a colon in quotes; if this is a key, check its indentation",
    ),
    (
        r"quoted scalar.*end of stream",
        "this text has no closing quotation mark",
        "add the closing quotation mark",
    ),
    (
        r"node content",
        "a value is missing",
        "write _ for a number that is not there yet, or check the commas and brackets",
    ),
    (r"simple key.*expected ':'", 'a ":" is missing', "write a line as key: value"),
    (r"plain scalar.*unexpected ':'", _NO_BLANK, "write a mapping as {window: [1, 0]}"),
    (
        r"expected (key|<block end>|'-')",
        "this does not belong here",
        "check the indentation, the brackets and the commas",
    ),
    (
        r"block scalar.*(comment|indicators)",
        "a text begins only on the line below a | or >",
        "write a matrix as [[1, 0], [0, 1]], and put any other text that begins so in quotes",
    ),
    (
        r"incompatible YAML",
        "attncli does not know this version of YAML",
        "remove the line that begins with %YAML",
    ),
)

# It opens a level, merges, or is read by no problem.
_MAY_BE_REFUSED = re.compile(r"[\[{?:<&*!-]")

_ESCAPE_DIGITS = {"x": 2, "u": 4, "U": 8}
_FIRST_HALF, _LAST_HALF, _LAST_CHARACTER = 0xD800, 0xDFFF, 0x10FFFF
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
# Two halves of a character, as JSON writes them.
_SURROGATE_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def parse_yaml(
    errors: ErrorCollector, loader: Any = LOADER, *, example: str = OF_A_PROBLEM
) -> Node:
    """The tree of the errors' source; AttncliError where it is not YAML or uses what is refused.

    The `example` is the help where the file is empty.
    """
    return build(errors, partial(_parse, loader=loader, example=example))


def _parse(builder: TreeBuilder, loader: Any, example: str) -> None:
    text, errors = builder.text, builder.errors
    if found := _unprintable(text):
        errors.fail(
            f"YAML cannot hold the control character U+{ord(found[0]):04X}",
            at=found.start(),
            help=r'remove it; in a quoted text it can be written as an escape such as "\x07"',
        )
    # To parse 100,000 of them takes minutes.
    if "%TAG" in text and (found := re.search(_TAG_DIRECTIVE, text)):
        errors.fail(
            "attncli does not read tags (%TAG)",
            at=found.end(),
            help="remove the line, or indent it if it is text",
        )
    try:
        _put_all(text, builder, loader)
    except yaml.MarkedYAMLError as error:
        _read_with_pasted_lists(error, builder, loader)
    root = builder.root
    if root is None or (isinstance(root, Leaf) and not root.quoted and not root.text):
        errors.fail("the file is empty", at=0, help=example)


def _put_all(text: str, builder: TreeBuilder, loader: Any) -> None:
    """Put all values of a text, where each is at its place in the builder's, into the builder."""
    errors, documents = builder.errors, 0
    parser = loader(text)
    try:
        while event := parser.get_event():
            if isinstance(event, yaml.NodeEvent):
                _put(event, builder, text)
            elif isinstance(event, yaml.CollectionEndEvent):
                builder.close()
            elif isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents == 2:
                    errors.fail(
                        "a second document begins here",
                        at=event.start_mark.index if event.start_mark else 0,
                        help="a file holds one problem: put the second one in another file",
                    )
    except (ValueError, OverflowError):
        # No character has such a number.
        _fail_for_escape(parser.index - len(r"\U"), errors)


def _read_with_pasted_lists(error: yaml.MarkedYAMLError, builder: TreeBuilder, loader: Any) -> None:
    """Read a text with this error in it again, with the pasted lists in it as texts; AttncliError
    for what is wrong.
    """
    from attncli.problem.text.pasted.finding import as_yaml_reads

    if (quoted := as_yaml_reads(builder.text)) == builder.text:
        _fail(error, builder.text, builder, loader)
    again = builder.anew()
    try:
        _put_all(quoted, again, loader)
    except yaml.MarkedYAMLError as later:
        if _place_of(later) > _place_of(error):
            _fail(later, quoted, again, loader)
        _fail(error, builder.text, builder, loader)
    again.errors.stop()
    builder.take(again)


def _fail(error: yaml.MarkedYAMLError, text: str, builder: TreeBuilder, loader: Any) -> NoReturn:
    """End the reading for an error of the parser, or for what the builder refuses before its place.

    A parser looks ahead on a line, so it may find an error, or a limit of its own, before it hands
    over what stands before that. What stands first in the text is what people read.
    """
    marks = (error.context_mark, error.problem_mark)
    begin = min((mark.index for mark in marks if mark), default=0)
    if _MAY_BE_REFUSED.search(text, builder.reached + 1, begin):
        before = builder.anew()
        # Cut off there, the text is rarely whole.
        with suppress(yaml.MarkedYAMLError):
            _put_all(text[:begin], before, loader)
    _fail_for_syntax(error, builder)


def _place_of(error: yaml.MarkedYAMLError) -> int:
    mark = error.problem_mark or error.context_mark
    return mark.index if mark else 0


def _unprintable(text: str) -> re.Match[str] | None:
    """The first character that YAML does not have, which in ASCII is looked for only where there is
    one.
    """
    if text.isascii():
        others = text.encode("ascii").translate(None, _ASCII)
        if not others:
            return None
    on_one_line = text.replace("\n", "")
    if on_one_line.isprintable():
        return None
    return re.search(_UNPRINTABLE, text)


def _put(event: Any, builder: TreeBuilder, parsed: str) -> None:
    at, fail = event.start_mark.index, builder.errors.fail
    if event.anchor is not None:
        if isinstance(event, yaml.AliasEvent):
            fail(
                f"attncli does not read aliases (*{shorten(event.anchor)})", at=at, help=_AT_LENGTH
            )
        fail(
            f"attncli does not read anchors (&{shorten(event.anchor)})",
            at=at,
            help="remove the anchor",
        )
    if tag := event.tag:
        fail(
            f"attncli does not read tags ({shorten(tag.replace('tag:yaml.org,2002:', '!!'))})",
            at=at,
            help="remove the tag; the value says what it is",
        )
    if isinstance(event, yaml.ScalarEvent):
        quoted = bool(event.style)
        if event.value == "<<" and not quoted and isinstance(builder.inside, MappingNode):
            fail("attncli does not read merge keys (<<)", at=at, help=_AT_LENGTH)
        if quoted and not event.value.isascii() and SURROGATE.search(event.value):
            _fail_for_half(at, builder.errors)
        builder.scalar(_text_of(event, parsed, builder.text), quoted, at)
    elif isinstance(event, yaml.SequenceStartEvent):
        builder.open_list(at)
    else:
        builder.open_mapping(at)


def _text_of(event: Any, parsed: str, text: str) -> str:
    """What a value says: what stands in the text, where YAML was given something else to read."""
    start = event.start_mark.index
    if parsed is text or not event.end_mark:
        return str(event.value)
    end = event.end_mark.index
    is_changed = bool(event.style) and parsed[start:end] != text[start:end]
    if not is_changed:
        return str(event.value)
    if event.style in ("|", ">"):
        return text[text.index("\n", start) + 1 : end]
    return text[start:end]


def _fail_for_syntax(error: yaml.MarkedYAMLError, builder: TreeBuilder) -> NoReturn:
    errors = builder.errors
    words = f"{error.context or ''} {error.problem or ''}"
    at = _place_of(error)
    text = errors.source.text
    if "unknown escape" in words:
        _fail_for_escape(at - (text[at : at + 1] != "\\"), errors)
    if "hexdecimal" in words or "hexadecimal" in words or "invalid Unicode" in words:
        _fail_for_escape(at - len(r"\u"), errors)
    if re.search(r"expected ',' or '[\]}]'", words):
        _fail_for_bracket(at, builder)
    for begin in filter(None, (error.context_mark, error.problem_mark)):
        _fail_for_row(text.rfind("\n", 0, begin.index) + 1, errors)
    # A tab may be before names of columns, which are no row.
    if "indentation space" in words and text[at : at + 1] == "\t":
        message, help = _row_with_tab(text[text.rfind("\n", 0, at) + 1 : at + 1])
        errors.fail(message, at=at, help=help)
    if "mapping values are not allowed" in words or "simple key" in words:
        mark = error.context_mark or error.problem_mark
        line = text.rfind("\n", 0, mark.index if mark else at) + 1
        fail_for_key(line, errors)
        # The line is right in itself, but the one before it may not be.
        if _KEY.fullmatch(text, line, at):
            before = text.rfind("\n", 0, _content_end(text, line)) + 1
            fail_for_key(before, errors)
            _fail_for_missing_colon(before, line, errors)
    if error.context_mark and (not text[at:].strip() or "simple key" in words):
        # Here the thing begins that the end of the file, or the next line, leaves open.
        at = error.context_mark.index
    if "cannot start any token" in words:
        if text[at] == "\t":
            errors.fail("YAML does not allow a tab here", at=at, help="indent with spaces")
        errors.fail(f"a value cannot begin with {text[at]}", at=at, help="put the text in quotes")
    if "block" in words and text[at : at + 1] in ("]", "}"):
        errors.fail(
            f'"{text[at]}" closes nothing',
            at=at,
            help="remove it, or add the bracket that it closes",
        )
    if "block" in words and text[at : at + 1] == ",":
        errors.fail('"," does not belong here', at=at, help=_without_comma(text, at))
    if "simple key" in words and text[at : at + 1] == "[":
        errors.fail(
            "this list has no key",
            at=at,
            help="indent it if it belongs to the key above: Q: [[1, 2], [3, 4]]",
        )
    if sign := _SIGN_APART.match(text, at):
        help = f"write {sign[1]}{sign[2]}, without blanks"
        errors.fail("a blank stands between a sign and its number", at=at, help=help)
    for pattern, message, help in _FAULTS:
        if re.search(pattern, words):
            errors.fail(message, at=at, help=help)
    errors.fail(
        f"this is not YAML: {shorten(error.problem or '', 200)}",
        at=at,
        help="check the indentation, brackets and quotes",
    )


def _without_comma(text: str, at: int) -> str:
    """What to write for a comma behind a value: of a matrix, or of a line of JSON."""
    line = text[text.rfind("\n", 0, at) + 1 : at].strip()
    if not _LINE_OF_JSON.match(line):
        return "a matrix is one list of rows: [[1, 2], [3, 4]]"
    return f"write {shorten(line)} without it; or all lines of JSON between {{ and }}"


def _fail_for_row(line: int, errors: ErrorCollector) -> None:
    """End the reading where the line that begins there is a row of a pasted matrix with a wrong
    indentation.
    """
    text = errors.source.text
    row, above = _ROW.match(text, line), line
    while above and _ROW.match(text, above):
        above = text.rfind("\n", 0, above - 1) + 1
    key = _BEFORE_ROWS.match(text, above)
    if not row or not key:
        return
    if "\t" in row[1]:
        message, help = _row_with_tab(row[1])
    elif len(row[1]) <= len(key[1]):
        message, help = "this row is not indented", "put two spaces before each row of the matrix"
    else:
        help = (
            f"put equally many spaces before each row, or write |{len(row[1]) - len(key[1])} in"
            " place of |"
        )
        message = "this row begins further to the left than the first row"
    errors.fail(message, at=row.end(1), help=help)


def _row_with_tab(indentation: str) -> tuple[str, str]:
    """(message, help) for a row of a pasted matrix that has a tab before it."""
    if indentation.startswith("\t"):
        return (
            "this row is indented with a tab",
            "put two spaces before each row of the matrix, in place of the tab",
        )
    help = "remove the tab, and paste numbers only: no names of rows and columns"
    return "this row begins with a tab, so its first cell is empty", help


def _content_end(text: str, end: int) -> int:
    """Where the text before this place ends, without its last blanks, empty lines and comments."""
    while True:
        start = text.rfind("\n", 0, end) + 1
        line = _REMARK.sub("", text[start:end]).rstrip()
        if line or not start:
            return start + len(line)
        end = start - 1


def _fail_for_bracket(at: int, builder: TreeBuilder) -> NoReturn:
    """End the reading for a list or a mapping in brackets that goes on, at this place, as it
    cannot.
    """
    errors, text = builder.errors, builder.text
    is_list = isinstance(builder.inside, ListNode)
    closing, form = ("]", _LISTS) if is_list else ("}", _MAPPINGS)
    line = text.rfind("\n", 0, at) + 1
    key = _KEY.match(text, line)
    begins_key = key is not None and key.end() >= at and text.startswith(":", key.end())
    begins_entry = text[line:at].strip() == "-"
    begins_anew = begins_key or begins_entry
    if text[at : at + 1] in ("]", "}"):
        errors.fail(f'found "{text[at]}" instead of "{closing}"', at=at, help=form)
    text_ends = not text[at:].strip()
    missing = builder.unclosed_lists if is_list and (begins_anew or text_ends) else 0
    if missing and (end := builder.where_a_list_should_end()):
        help = "close each list before the next one begins: [[1, 2], [3, 4]]"
        errors.fail('"]" is missing', at=end, help=help)
    if begins_anew or not text[line:at].strip():
        at = _content_end(text, len(text) if text_ends else line)
    if missing:
        brackets = "]" * missing
        errors.fail(f'"{brackets}" is missing', at=at, help=f"add it here; {form}")
    errors.fail(f'"," or "{closing}" is missing', at=at, help=form)


def fail_for_key(line: int, errors: ErrorCollector) -> None:
    """End the reading where the line that begins there has a key, but not the colon and the blank
    after it: K:[[1]].
    """
    text = errors.source.text
    key = _KEY.match(text, line)
    if not key:
        return
    end = text.find("\n", line)
    if end < 0:
        end = len(text)
    rest = text[key.end() : end].rstrip()
    if not rest:
        return
    written = shorten(f"{key[1]}: {rest.lstrip(':= ')}")
    if rest[0] == ":" and rest[1:2].strip():
        errors.fail(_NO_BLANK, at=key.end() + 1, help=f"write {written}")
    if key[1] in KEYS and rest[0] in "=[{":
        errors.fail(f'":" is missing after {key[1]}', at=key.end(), help=f"write {written}")


def _fail_for_missing_colon(above: int, line: int, errors: ErrorCollector) -> None:
    """End the reading where a line has no colon and the next one, with as many blanks before it, is
    a key: YAML reads both as one text.
    """
    text = errors.source.text
    key, next_key = _KEY.match(text, above), _KEY.match(text, line)
    if above == line or not key or not next_key:
        return
    rest = text[key.end() : _content_end(text, line)].strip()
    is_below = key.start(1) - above == next_key.start(1) - line
    if ":" in rest or not is_below:
        return
    help = f"write {shorten(f'{key[1]}: {rest}')}" if rest else f"write {key[1]}: and its value"
    errors.fail(f'":" is missing after {key[1]}', at=key.end(1), help=help)


# Of PyYAML's two parsers, the one in C refuses half of a surrogate pair and the one in Python lets
# it pass; past the last of characters the one in Python fails altogether.


def _fail_for_half(at: int, errors: ErrorCollector) -> NoReturn:
    """End the reading for the first half of a surrogate pair in the text that begins there."""
    for found in _ESCAPE.finditer(errors.source.text, at):
        escape = found[0]
        if escape[1] in "uU" and _FIRST_HALF <= int(escape[2:], 16) <= _LAST_HALF:
            _fail_for_escape(found.start(), errors)
    raise AssertionError("unreachable: only an escape makes a surrogate")


def _fail_for_escape(at: int, errors: ErrorCollector) -> NoReturn:
    """End the reading for the escape with this backslash."""
    text = errors.source.text
    sign = text[at + 1 : at + 2]
    if sign not in _ESCAPE_DIGITS:
        help = r"write a backslash as \\, or use single quotes"
        errors.fail("this escape does not exist", at=at, help=help)
    number = _ESCAPE_DIGITS[sign]
    digits = text[at + 2 : at + 2 + number]
    if not re.fullmatch(f"[0-9a-fA-F]{{{number}}}", digits):
        help = rf"write a backslash as \\, or an escape such as \{sign}{'e9'.zfill(number)}"
        errors.fail(rf"\{sign} needs {number} hexadecimal digits", at=at, help=help)
    if pair := _SURROGATE_PAIR.match(text, at):
        import json

        character = json.loads(f'"{pair[0]}"')
        help = f"write the character itself, or \\U{ord(character):08X}"
        errors.fail(
            f"YAML cannot hold a character in two halves, as in {pair[0]}", at=at, help=help
        )
    if int(digits, 16) > _LAST_CHARACTER:
        errors.fail(
            f"there is no character U+{digits.lstrip('0').upper()}",
            at=at,
            help=f"U+{_LAST_CHARACTER:X} is the last",
        )
    errors.fail(NO_HALF[0], at=at, help=NO_HALF[1])
