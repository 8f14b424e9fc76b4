"""A value of a problem where it stands, and the readers of single values.

A `Value` is a node of the tree with its path and the collector of errors; each reader returns what
it read, or None after adding an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from attncli.english import count, named, shorten
from attncli.errors import AttncliError, did_you_mean
from attncli.problem.limits import LABEL_LIMIT, TITLE_LIMIT, TOKEN_LIMIT
from attncli.problem.matrix import Scalar
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import (
    HeldArray,
    Leaf,
    ListNode,
    MappingNode,
    Node,
    describe,
    is_null,
    truth,
)
from attncli.problem.text.not_a_number import decimal_comma, why_not_a_number
from attncli.problem.text.number_forms import BLANK, MINUS_INFINITY, NumberError, is_plain
from attncli.problem.text.numbers import QUOTED, as_float, as_spelled
from attncli.problem.text.reading import Reading

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
# Whole numbers of so many digits fit into 64 bits.
_MOST_DIGITS = 18


# It is not frozen: every number of a problem has one, and freezing would double its cost.
@dataclass(slots=True)
class Value:
    """A value of a problem, whose `path` is its name in messages: mask.keep[0].

    Of {Q: [[1, 0]]}, `value.key("Q").entry(0).entry(1)` is the 0, with the path Q[0][1].
    """

    node: Node
    path: str
    reading: Reading

    @property
    def errors(self) -> ErrorCollector:
        """Collects what is wrong."""
        return self.reading.errors

    def wrong(self, message: str, help: str, *, at: int | None = None) -> None:
        """Report something wrong with the value, where it begins or at another place inside it."""
        self.errors.add(message, at=self.node.at if at is None else at, path=self.path, help=help)

    def wrong_number(self, message: str, help: str) -> None:
        """Report that the text is no number; the 07 of 0,07 is reported as the whole of it."""
        assert isinstance(self.node, Leaf)
        decimal = decimal_comma(self.errors.source.text, self.node.at, self.text)
        if decimal:
            self.wrong(decimal.message, decimal.help, at=decimal.at)
        else:
            self.wrong(message, help)

    def add_error(self, error: AttncliError) -> None:
        """Report an error that the value led to elsewhere, such as a file that is not there."""
        self.errors.add_error(error, at=self.node.at, path=self.path)

    @property
    def name(self) -> str:
        """The last key of the path, as it stands in the file: target for loss.target."""
        return self.path.rpartition(".")[2]

    @property
    def text(self) -> str:
        """The text of a single value."""
        assert isinstance(self.node, Leaf)
        return self.node.text

    @property
    def keys(self) -> dict[str, int]:
        """Where each key of a mapping stands; anything else has none."""
        return self.node.keys if isinstance(self.node, MappingNode) else {}

    def key(self, name: str) -> Value:
        """The value under a key that is there."""
        assert isinstance(self.node, MappingNode)
        return Value(self.node.values[name], f"{self.path}.{name}", self.reading)

    @property
    def items(self) -> Iterator[Value]:
        """The entries of a list one after another; anything else has none."""
        entries = self.node.items if isinstance(self.node, ListNode) else ()
        return (
            Value(entry, f"{self.path}[{place}]", self.reading)
            for place, entry in enumerate(entries)
        )

    def entry(self, place: int) -> Value:
        """One entry of a list."""
        assert isinstance(self.node, ListNode)
        return Value(self.node.items[place], f"{self.path}[{place}]", self.reading)


def read_number(value: Value, *, minus_infinity: bool = False) -> float | None:
    """A finite number (or -inf where a mask allows it); None after reporting anything else."""
    if not isinstance(value.node, Leaf):
        value.wrong(f"must be a number, not {describe(value.node)}", "write one number")
        return None
    text = value.text
    if text in MINUS_INFINITY:
        if minus_infinity:
            return float("-inf")
        message, help = why_not_a_number(text)
    elif value.node.quoted and is_plain(text):
        message, help = (
            f'"{shorten(text)}" is text, not a number',
            f"remove the quotes: {shorten(text)}",
        )
    else:
        try:
            number = as_float(text)
            # What calculates with a number, or prints it, knows one spelling of each.
            value.node.text = as_spelled(text)
            return number
        except NumberError as error:
            if text and not text.strip(BLANK) and not value.node.quoted:
                value.errors.leave_blank(value.path, at=value.node.at)
                return None
            message, help = error.message, error.help
    value.wrong_number(message, help)
    return None


def read_scalar(value: Value, *, help: str = "") -> Scalar | None:
    """A finite number with its text; None after reporting anything else.

    `help` says what to write for nothing, or a truth number, where 0 and 1 may not stand.
    """
    node = value.node
    if (
        help
        and isinstance(node, Leaf)
        and (not node.text or is_null(node) or truth(node) is not None)
    ):
        value.wrong(why_not_a_number(node.text)[0], help)
        return None
    number = read_number(value)
    return None if number is None else Scalar(number, value.text)


def read_integer(value: Value, *, least: int, help: str) -> int | None:
    """A whole number of at least `least`; None after reporting anything else."""
    node = value.node
    if isinstance(node, Leaf) and not node.quoted and _INTEGER.fullmatch(node.text):
        if len(node.text.lstrip("+-")) <= _MOST_DIGITS:
            number = int(node.text)
            if number >= least:
                return number
        elif not node.text.startswith("-"):
            value.wrong(
                f"{shorten(node.text)} is too large",
                f"a whole number has at most {_MOST_DIGITS} digits here",
            )
            return None
    value.wrong(f"must be a whole number of at least {least}, not {describe(node)}", help)
    return None


def read_truth(value: Value) -> bool | None:
    """true or false; None after reporting anything else."""
    found = truth(value.node)
    if found is None:
        value.wrong(f"must be true or false, not {describe(value.node)}", "write true or false")
    return found


def read_word(value: Value, choices: Collection[str]) -> str | None:
    """One of some words; None after reporting anything else."""
    node = value.node
    if isinstance(node, Leaf) and node.text in choices:
        return node.text
    listed = ", ".join(choices)
    help = f"choose one of {listed}"
    if isinstance(node, Leaf):
        help = did_you_mean(node.text, list(choices), help)
    value.wrong(f"must be one of {listed}, not {describe(node)}", help)
    return None


def read_text(value: Value) -> str | None:
    """Text in one value, taken as it was written; None after reporting anything else."""
    node = value.node
    if isinstance(node, Leaf) and node.text and (node.quoted or not is_null(node)):
        return node.text
    empty = isinstance(node, Leaf) and node.quoted
    value.wrong(
        "must not be empty" if empty else f"must be text, not {describe(node)}",
        "write text in quotes",
    )
    return None


def read_title(value: Value) -> str | None:
    """A text that is not too long for the head of a page; None after reporting anything else."""
    text = read_text(value)
    if text is not None and len(text) > TITLE_LIMIT:
        value.wrong(
            f"has {len(text):,} characters", f"a title has at most {TITLE_LIMIT:,} characters"
        )
        return None
    return text


def read_labels(value: Value) -> tuple[str, ...] | None:
    """A list of labels, taken as written (2024 stays 2024, null is the word); None after reporting
    anything else.
    """
    if not isinstance(value.node, ListNode):
        value.wrong(
            f"must be a list of labels, not {describe(value.node)}",
            f'write {value.path}: ["I", "love", "AI"]',
        )
        return None
    before = value.errors.count
    if (number := value.node.length) > TOKEN_LIMIT:
        value.wrong(
            f"has {count(number, 'label')}, one for each token",
            f"at most {TOKEN_LIMIT:,} tokens are possible",
        )
        return None
    labels = []
    for item in value.items:
        node = item.node
        if isinstance(node, Leaf) and node.text:
            if len(node.text) > LABEL_LIMIT:
                item.wrong(
                    f"this label has {len(node.text):,} characters",
                    f"a label has at most {LABEL_LIMIT:,}",
                )
            in_quotes = QUOTED.fullmatch(node.text)
            labels.append(in_quotes[1] if in_quotes and not node.quoted else node.text)
            continue
        what = '""' if isinstance(node, Leaf) and node.quoted else describe(node)
        item.wrong(
            f"a label must be a text of at least one character, not {what}",
            "every row needs a name",
        )
    return tuple(labels) if value.errors.count == before else None


def require_keys(
    value: Value, known: Collection[str], meant: Callable[[str, Value], str] | None = None
) -> bool:
    """Whether a mapping has known keys only, each unknown one reported.

    `meant` gives the help for a key of other software, and nothing for one that it does not know.
    """
    if isinstance(value.node, HeldArray) and "file" not in known:
        value.wrong("must be a mapping, not an array", f"the keys here are {', '.join(known)}")
        return False
    for key, at in value.keys.items():
        if key not in known:
            help = meant(key, value.key(key)) if meant else ""
            if not help:
                help = did_you_mean(key, list(known), f"the keys here are {', '.join(known)}")
            value.wrong(f"there is no key {named(key)}", help, at=at)
    return all(key in known for key in value.keys)
