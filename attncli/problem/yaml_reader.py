"""Reads YAML text into the tree: the plain part of YAML 1.2, without aliases, tags and other indirections."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, NoReturn

import yaml

from attncli.english import shorten
from attncli.problem.builder import Builder
from attncli.problem.escapes import SURROGATE, fail_at, fail_in_words, fail_inside
from attncli.problem.nodes import Leaf, Mapping, Node, Sequence
from attncli.problem.shortened import read_shortened
from attncli.problem.values import ErrorCollector

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C module is not everywhere
_UNPRINTABLE = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # slow to compile
_ASCII = b"\t\n\r" + bytes(range(0x20, 0x7F))  # what YAML has of it
_TAG_DIRECTIVE = r"(?:\A|[\n\r\x85\u2028\u2029])(?=%TAG\b)"  # after all that ends a line in YAML
_AT_LENGTH = "write the value out in full"

# PyYAML's two parsers word the same fault differently: (pattern of either's words, ours, help).
_FAULTS = (
    (r"sequence.*expected ',' or '\]'", 'a "," or "]" is missing', "a list is written [1, 2, 3]"),
    (r"mapping.*expected ',' or '}'", 'a "," or "}" is missing', "a mapping is written {padding: [1, 1, 0]}"),
    (r"mapping values are not allowed", 'a ":" cannot stand here',
     "check the indentation, or put a text that holds a colon in quotes"),
    (r"quoted scalar.*end of stream", "a quotation mark is not closed", "add the closing quotation mark"),
    (r"node content", "a value is missing", "check the commas and brackets"),
    (r"simple key.*expected ':'", 'a ":" is missing', "a line is written key: value"),
    (r"plain scalar.*unexpected ':'", 'a blank is missing after ":"', "a mapping is written {window: [1, 0]}"),
    (r"expected (key|<block end>|'-')", "this does not belong here", "check the indentation and the brackets"),
    (r"incompatible YAML", "this version of YAML is unknown", "remove the line that begins with %YAML"),
)  # fmt: skip


def read_yaml(errors: ErrorCollector, loader: Any = LOADER) -> Node:
    """The tree of the collector's source; AttncliError where it is not YAML or uses what is refused."""
    return read_shortened(errors, partial(_read, loader=loader), strict=False) or _read(errors, loader)


def _read(errors: ErrorCollector, loader: Any) -> Node:
    text = errors.source.text
    if found := _unprintable(text):
        errors.fail(
            f"a control character (U+{ord(found[0]):04X}) cannot stand in YAML",
            at=found.start(),
            help=r'remove it; in a quoted text it can be written as an escape such as "\x07"',
        )
    if "%TAG" in text and (found := re.search(_TAG_DIRECTIVE, text)):  # parsing 100,000 of them takes minutes
        errors.fail("tags (%TAG) are not read", at=found.end(), help="remove the line, or indent it if it is text")
    builder = Builder(errors)
    documents = 0
    parser = loader(text)
    try:
        while parser.check_event():
            event = parser.get_event()
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents == 2:
                    errors.fail(
                        "a second document begins here",
                        at=_at(event),
                        help="a file holds one problem: put the other in a file of its own",
                    )
            elif isinstance(event, yaml.CollectionEndEvent):
                builder.close()
            elif isinstance(event, yaml.NodeEvent):
                _put(event, builder, errors)
    except yaml.MarkedYAMLError as error:
        _syntax_error(error, errors)
    except (ValueError, OverflowError):  # no character has such a number
        fail_at(errors, parser.index - len(r"\U"))
    root = builder.root
    if root is None or (isinstance(root, Leaf) and not root.quoted and not root.text):
        errors.fail("the file is empty", at=0, help="a problem has lines such as X: [[1, 0], [0, 1]]")
    return root


def _unprintable(text: str) -> re.Match[str] | None:
    """The first character that YAML does not have, which in ASCII is looked for only where there is one."""
    if text.isascii() and not text.encode("ascii").translate(None, _ASCII):
        return None
    return None if text.replace("\n", "").isprintable() else re.search(_UNPRINTABLE, text)


def _at(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark else 0


def _put(event: yaml.NodeEvent, builder: Builder, errors: ErrorCollector) -> None:
    at = _at(event)
    if isinstance(event, yaml.AliasEvent):
        errors.fail(f"aliases (*{shorten(event.anchor or '')}) are not read", at=at, help=_AT_LENGTH)
    if event.anchor:
        errors.fail(f"anchors (&{shorten(event.anchor)}) are not read", at=at, help="remove the anchor")
    if tag := getattr(event, "tag", None):
        errors.fail(
            f"tags ({shorten(tag.replace('tag:yaml.org,2002:', '!!'))}) are not read",
            at=at,
            help="remove the tag; the value says what it is",
        )
    if isinstance(event, yaml.SequenceStartEvent):
        builder.open(Sequence(at))
    elif isinstance(event, yaml.MappingStartEvent):
        builder.open(Mapping(at))
    elif isinstance(event, yaml.ScalarEvent):
        quoted = bool(event.style)
        if event.value == "<<" and not quoted and isinstance(builder.inside, Mapping):
            errors.fail("merge keys (<<) are not read", at=at, help=_AT_LENGTH)
        if quoted and not event.value.isascii() and SURROGATE.search(event.value):
            fail_inside(errors, at)
        builder.put(Leaf(event.value, quoted, at))


def _syntax_error(error: yaml.MarkedYAMLError, errors: ErrorCollector) -> NoReturn:
    words = f"{error.context or ''} {error.problem or ''}"
    mark = error.problem_mark or error.context_mark
    at = mark.index if mark else 0
    text = errors.source.text
    fail_in_words(errors, at, words)
    if error.context_mark and (not text[at:].strip() or "simple key" in words):
        at = error.context_mark.index  # where the thing begins that the end of the file, or the next line, leaves open
    if "cannot start any token" in words:
        if text[at] == "\t":
            errors.fail("a tab cannot indent YAML", at=at, help="indent with spaces")
        errors.fail(f"a value cannot begin with {text[at]}", at=at, help="put the text in quotes")
    for pattern, message, help in _FAULTS:
        if re.search(pattern, words):
            errors.fail(message, at=at, help=help)
    errors.fail(
        f"this is not YAML: {shorten(error.problem or '', 200)}",
        at=at,
        help="check the indentation, brackets and quotes",
    )
