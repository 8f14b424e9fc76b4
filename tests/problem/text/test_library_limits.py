"""What is too much is our limit alone: no library has a limit of its own that changes what people
read.

Libraries have such limits, and each version of them has others: libyaml stops at 1,000 levels since
0.2.6, Python's reader of JSON where the stack ends, and its `int` at as many digits as the
environment says. Here each of them stops anywhere beyond our limit, and must not be noticed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attncli.answers.reader import read_answers
from attncli.errors import AttncliError, Exit
from attncli.problem.arrays.stored import strict_json
from attncli.problem.limits import DEPTH_LIMIT
from attncli.problem.loader import loads
from attncli.problem.text import json_parser
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.json_parser import parse_json
from attncli.problem.text.numbers import _parsed
from attncli.problem.text.source import Source
from attncli.problem.text.yaml_parser import parse_yaml
from attncli.tracing import run
from tests.cases import in_one_test

LOADERS = [yaml.SafeLoader, *([yaml.CSafeLoader] if hasattr(yaml, "CSafeLoader") else [])]
TOO_DEEP = (
    f"lists and mappings are nested more than {DEPTH_LIMIT} deep (a matrix has two levels: [[1, 0],"
    " [0, 1]])"
)

# Around our limit, around those that libraries are known to have, and around how far YAML looks
# ahead on a line.
NEAR_A_LIMIT = [
    place + step for place in (DEPTH_LIMIT, 100, 256, 500, 1000, 1024) for step in (-1, 0, 1)
]
LIBRARY_LIMITS = [DEPTH_LIMIT + 1, DEPTH_LIMIT + 2, 100, 999, 1000, 1001, None]

# What opens one level, and what closes it.
YAML_LEVELS = {"[": "]", "{a: ": "}", "[ ": " ]", "[1, ": ", 1]", '{"[": ': "}"}
JSON_LEVELS = {"[": "]", '{"a": ': "}", "[ ": " ]", "[1, ": ", 1]", '{"[": ': "}"}
BEFORE = ["", "\n\n", "  "]
BEHIND = ["@", "]", "}", '"open', '"x" y', ", ,", "&a", "\\"]

Text = tuple[str, int]
"""A text, and the place of its first level that is too deep; -1 where there is none."""


def nested(levels: dict[str, str], end: Callable[[str], list[str]]) -> st.SearchStrategy[Text]:
    """Texts that are nested as deep as some limit, with something right or wrong at the bottom."""

    @st.composite
    def draw(draw: st.DrawFn) -> Text:
        kinds = draw(st.lists(st.sampled_from(sorted(levels)), min_size=1, max_size=3))
        depth = draw(st.sampled_from(NEAR_A_LIMIT))
        opened = [kinds[level % len(kinds)] for level in range(depth)]
        before = draw(st.sampled_from(BEFORE))
        closed = "".join(levels[kind] for kind in reversed(opened))
        inside = draw(st.sampled_from(end(closed)))
        too_deep = before + "".join(opened[:DEPTH_LIMIT])
        # `[1, ` opens its level where it begins, and so does every other kind.
        return before + "".join(opened) + inside, len(too_deep) if depth > DEPTH_LIMIT else -1

    return draw()


def endings(closed: str) -> list[str]:
    """The whole rest of a text, half of it, none of it, and what is wrong there."""
    return [f"1{closed}", f"1{closed[: len(closed) // 2]}", "", *BEHIND]


def first_too_deep(text: str, limit: int) -> int:
    """Where brackets outside quotation marks are first nested deeper than the limit, or -1."""
    depth = 0
    for found in re.finditer(r'"[^"]*"|[\[\]{}]', text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        if depth > limit:
            return found.start()
    return -1


def stopping_at(loader: Any, limit: int | None) -> Any:
    """A loader of PyYAML whose scanner refuses what is deeper, before it tells of anything before
    that place.
    """
    if limit is None:
        return loader

    class Stopping(loader):  # type: ignore[misc]
        def __init__(self, text: str) -> None:
            super().__init__(text)
            self.too_deep = first_too_deep(text, limit)

        def get_event(self) -> Any:
            if self.too_deep >= 0:
                mark = yaml.Mark("", self.too_deep, 0, self.too_deep, None, None)
                message = "exceeded maximum nesting depth"
                raise yaml.scanner.ScannerError("while increasing flow level", None, message, mark)
            return super().get_event()

    return Stopping


class StoppingDecoder(json.JSONDecoder):
    """A decoder that ends as Python's does where the stack ends, unless something is wrong before
    that.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def decode(self, text: str, *_: object) -> None:
        too_deep = first_too_deep(text, self.limit)
        if too_deep < 0:
            json.loads(text)
            return
        try:
            json.loads(text[:too_deep])
        except json.JSONDecodeError as fault:
            # It always ends too early. What is wrong before that is found first.
            if text[fault.pos : too_deep].strip():
                raise
        raise RecursionError


def place(text: str, at: int) -> str:
    """LINE:COLUMN of a place."""
    line = text.rfind("\n", 0, at) + 1
    return f"{text.count(chr(10), 0, at) + 1}:{at - line + 1}"


@pytest.mark.long
@pytest.mark.parametrize("loader", LOADERS)
@given(nested(YAML_LEVELS, endings), st.sampled_from(LIBRARY_LIMITS))
@example(("[" * 25_000, DEPTH_LIMIT), None)
@example(("[" * 70 + "@", DEPTH_LIMIT), None)
def test_yaml(loader: Any, faults: Any, text: Text, limit: int | None) -> None:
    found = faults(lambda errors: parse_yaml(errors, stopping_at(loader, limit)), text[0])
    if text[1] >= 0:
        assert found == [f"{place(*text)}: {TOO_DEEP}"]
    else:
        assert found == faults(lambda errors: parse_yaml(errors, yaml.SafeLoader), text[0])
        assert TOO_DEEP not in "".join(found)


@pytest.mark.parametrize(
    "text", ["[" * 1000, "[" * 70 + "@", "[1 2; 3 @", "Q: [[1 2\n3 4]] x", "Q: [1 2; 3 4]\nK: @"]
)
def test_a_text_that_is_read_again_has_the_same_exit_code(text: str) -> None:
    errors = ErrorCollector(Source("--mask", text), Exit.USAGE)
    with pytest.raises(AttncliError) as caught:
        parse_yaml(errors)
    assert {each.exit_code for each in (caught.value, *caught.value.more)} == {Exit.USAGE}


@given(nested(JSON_LEVELS, endings), st.sampled_from(LIBRARY_LIMITS))
@example(("[" * 100_000 + "]" * 100_000, DEPTH_LIMIT), None)
def test_json(faults: Any, text: Text, limit: int | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if limit is not None:
            patch.setattr(json_parser, "_DECODER", StoppingDecoder(limit))
        found = faults(parse_json, text[0])
    if text[1] >= 0:
        assert found == [f"{place(*text)}: {TOO_DEEP}"]
    else:
        assert found == faults(parse_json, text[0])
        assert TOO_DEEP not in "".join(found)


@in_one_test("limit", [1, 5, DEPTH_LIMIT - 1, DEPTH_LIMIT])
@in_one_test("end", ["", "1", "@", "]" * DEPTH_LIMIT, "]" * 2 * DEPTH_LIMIT, "}", '"'])
def test_a_library_that_cannot_go_as_deep_as_we_do(faults: Any, limit: int, end: str) -> None:
    """Such a text cannot be read, and people learn why, and where it is."""
    text = "[" * DEPTH_LIMIT + end
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_parser, "_DECODER", StoppingDecoder(limit))
        found = faults(parse_json, text)
    if limit < DEPTH_LIMIT:
        assert found == [
            f"1:{DEPTH_LIMIT}: Python cannot read JSON that is nested as deep as this here "
            "(use fewer lists and mappings inside one another)"
        ]
    else:
        assert found == faults(parse_json, text)
    for loader in LOADERS:
        found = faults(
            lambda errors, loader=loader: parse_yaml(errors, stopping_at(loader, limit)), text
        )
        if limit < DEPTH_LIMIT:
            assert [line.partition(" ")[0] for line in found] == [f"1:{limit + 1}:"]


@in_one_test("depth", [DEPTH_LIMIT - 1, DEPTH_LIMIT, DEPTH_LIMIT + 1, 1000, 50_000, 200_000])
@in_one_test(("opening", "closing"), [("[", "]"), ('{"a": ', "}"), ('[1, {"b": ', "}]")])
def test_strict_json(depth: int, opening: str, closing: str) -> None:
    levels = depth // len(closing)
    data = f"{opening * levels}1{closing * levels}".encode()
    if levels * len(closing) <= DEPTH_LIMIT:
        assert strict_json(data) == json.loads(data)
        return
    with pytest.raises(ValueError, match="nested too deep"):
        strict_json(data)


# characters, around each limit there is
LONG_TEXT = [1, 399, 400, 401, 639, 640, 641, 700, 4299, 4300, 4301, 10_000]
LONG_NUMBERS = ["{}", "-{}", "{}.5", "0.{}", "1e{}", "1/{}", "{}/3", "sqrt({})", "[{}]", '"{}"']
PLACES = [
    '{"Q": [[N]]}',
    '{"heads": N}',
    '{"scale": N}',
    '{"softcap": N}',
    '{"mask": {"window": [N, 0]}}',
    '{"mask": {"lengths": [N]}}',
    '{"Q": {"random": [N, 2]}}',
    '{"Q": {"random": [2, 2], "seed": N}}',
    '{"positions": {"rope": {"base": N}}}',
]
NO_PROBLEM = "Q: [[1]]\nK: [[1]]\nV: [[1]]\n"


def with_each_limit_of_python(read: Callable[[], object]) -> list[object]:
    """What a reader finds where Python reads any number of digits, as few as can be set, and as
    many as usual.
    """
    before = sys.get_int_max_str_digits()
    found = []
    try:
        for limit in (0, 640, 4300):
            sys.set_int_max_str_digits(limit)
            # A number that was read before is remembered.
            _parsed.cache_clear()
            found.append(read())
    finally:
        sys.set_int_max_str_digits(before)
    return found


def in_words(read: Callable[[], object]) -> list[str]:
    """What is wrong, with places and help, or nothing."""
    try:
        read()
    except AttncliError as error:
        return [f"{each.place}: {each} ({each.help})" for each in (error, *error.more)]
    return []


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", ["p.yaml", "p.json"])
@pytest.mark.parametrize("place", PLACES)
@settings.get_profile("few")
@given(number=st.sampled_from(LONG_NUMBERS), length=st.sampled_from(LONG_TEXT))
def test_digits(place: str, name: str, number: str, length: int) -> None:
    text = place.replace("N", number.format("9" * length))
    found = with_each_limit_of_python(lambda: in_words(lambda: loads(text.encode(), name)))
    assert found == [found[0]] * 3


@pytest.mark.parametrize("form", ["scores: [[{}]]", "## scores\n\n| {} |\n", "\\[ scores = {} \\]"])
@given(number=st.sampled_from(LONG_NUMBERS), length=st.sampled_from(LONG_TEXT))
def test_digits_of_answers(form: str, number: str, length: int) -> None:
    trace = run(loads(NO_PROBLEM.encode(), "p.yaml"))
    source = Source("answers", form.format(number.format("9" * length)))
    found = with_each_limit_of_python(lambda: in_words(lambda: read_answers(source, trace)))
    assert found == [found[0]] * 3


@in_one_test("length", LONG_TEXT)
def test_digits_in_a_header(length: int) -> None:
    header = f'{{"q": {{"shape": [{"9" * length}]}}}}'.encode()

    def read() -> object:
        try:
            return strict_json(header)
        except ValueError:
            return "no JSON"

    found = with_each_limit_of_python(read)
    assert found == [found[0]] * 3
