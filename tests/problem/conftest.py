"""What the tests of reading share: the problems found in a text, as lines a person can read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from attncli.errors import AttncliError
from attncli.problem.loader import loads
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode, Node
from attncli.problem.text.source import Source

QKV = "{Q: [[1, 0], [0, 1]], K: [[1, 0], [0, 1]], V: [[1, 2], [3, 4]]"


def error_lines(error: AttncliError) -> list[str]:
    """`LINE:COLUMN: path: message (help)` of an error and of those found with it."""
    lines = []
    for each in (error, *error.more):
        place = f"{each.place.line}:{each.place.column}: " if each.place else ""
        lines.append(f"{place}{each} ({each.help})")
    return lines


def as_data(node: Node, value: Callable[[Leaf], Any]) -> Any:
    """The tree in lists and dictionaries, with `value` of each leaf."""
    if isinstance(node, MappingNode):
        return {key: as_data(item, value) for key, item in node.values.items()}
    if isinstance(node, ListNode):
        return [as_data(item, value) for item in node.items]
    return value(node)


@pytest.fixture(scope="session")
def plain() -> Callable[[Node, Callable[[Leaf], Any]], Any]:
    """`plain(tree, value)` is the tree in lists and dictionaries, with `value` of each leaf."""
    return as_data


@pytest.fixture(scope="session")
def faults() -> Callable[[Callable[[ErrorCollector], object], str], list[str]]:
    """`faults(parse_json, text)` tells what a reader of text finds wrong, in order."""

    def find(read: Callable[[ErrorCollector], object], text: str) -> list[str]:
        errors = ErrorCollector(Source("p", text))
        try:
            read(errors)
            errors.stop()
        except AttncliError as error:
            return error_lines(error)
        return []

    return find


@pytest.fixture(scope="session")
def problems() -> Callable[..., list[str]]:
    """`problems(text)` reads a problem and tells what is wrong with it, in order."""

    def read(text: str | bytes, name: str = "problem.yaml") -> list[str]:
        data = text if isinstance(text, bytes) else text.encode()
        with pytest.raises(AttncliError) as caught:
            loads(data, name)
        assert {int(each.exit_code) for each in (caught.value, *caught.value.more)} <= {3, 4}
        return error_lines(caught.value)

    return read


@pytest.fixture(scope="session")
def with_mask(problems: Callable[..., list[str]]) -> Callable[[str], list[str]]:
    """`with_mask(text)` tells what is wrong with a mask for two queries and two keys, on a line of
    its own.
    """
    return lambda mask: problems(f"{QKV},\nmask: {mask}}}")
