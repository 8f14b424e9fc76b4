"""An error report says where, what and what to do, and points at the cell of the terminal that is
meant.
"""

import io

import pytest

from attncli.cli.error_report import describe, report_error, warn
from attncli.errors import AttncliError, Exit, Place, input_error
from tests.cases import in_one_test


def at(column: int, source: str, message: str = "bad") -> AttncliError:
    return input_error(
        message, path="W_Q[1][0]", place=Place("p.yaml", 3, column, source), help="do this"
    )


def test_the_whole_shape() -> None:
    assert describe(at(12, "W_Q: [[1], [abc]]", "abc is not a number")).split("\n") == [
        "attncli: error: p.yaml:3:12: W_Q[1][0]: abc is not a number",
        "  W_Q: [[1], [abc]]",
        "             ^",
        "help: do this",
    ]


def test_without_a_place_or_help_nothing_stands_in_for_them() -> None:
    assert describe(AttncliError(Exit.USAGE, "wrong")) == "attncli: error: wrong"


def test_an_empty_source_line_is_left_out() -> None:
    assert describe(at(1, "   ")).count("\n") == 1


@in_one_test(
    ("source", "column", "shown", "caret"),
    [
        ("日本: x", 5, "日本: x", 6),  # two cells each
        ("e\u0301: x", 5, "e\u0301: x", 3),  # the accent takes no cell
        ("\tx", 2, " x", 1),
        ("a\x1b[31m", 3, "a\\x1b[31m", 5),
        ("a\u202eb", 3, "a\\u202eb", 7),
        ("abc   ", 9, "abc", 3),  # beyond the end: just behind it
    ],
)
def test_the_caret_stands_under_what_is_shown(
    source: str, column: int, shown: str, caret: int
) -> None:
    _, line, pointer, _ = describe(at(column, source)).split("\n")
    assert line == "  " + shown
    assert pointer == "  " + " " * caret + "^"


def test_in_an_ascii_terminal_escapes_are_counted() -> None:
    _, line, pointer, _ = describe(at(3, "日本x"), "ascii").split("\n")
    assert line == "  \\u65e5\\u672cx"
    assert pointer.index("^") == line.index("x")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_signs_that_an_encoding_lacks_have_stand_ins_as_wide(encoding: str) -> None:
    first, line, pointer, help = describe(
        at(8, "Q: [[−1, −x]]", "−1 is no number of 3×4"), encoding
    ).split("\n")
    assert first.endswith(
        ("W_Q[1][0]: -1 is no number of 3×4", "W_Q[1][0]: -1 is no number of 3x4")
    )
    assert line == "  Q: [[-1, -x]]"
    assert pointer == "  " + " " * 7 + "^"
    assert help == "help: do this"


@in_one_test("encoding", ["utf-8", "ascii"])
@in_one_test("column", [1, 2, 30, 77, 500, 980, 999, 1000])
def test_a_long_line_is_a_window_around_the_column(column: int, encoding: str) -> None:
    source = "".join(chr(ord("a") + place % 26) for place in range(1000))
    _, line, pointer, _ = describe(at(column, source), encoding).split("\n")
    assert len(line) <= 78
    assert line[pointer.index("^")] == source[column - 1]
    mark = "…" if encoding == "utf-8" else "..."
    assert line.startswith(f"  {mark}") == (column > 30)
    assert line.endswith(mark) == (column < 980)


def test_a_line_of_megabytes_is_reported_at_once() -> None:
    assert len(describe(at(3_000_000, "x, " * 2_000_000))) < 300


def test_an_error_stays_on_its_line_and_steers_no_terminal() -> None:
    assert (
        describe(AttncliError(Exit.INPUT, "a\nb\x1b]0;c\x07"))
        == "attncli: error: a\\nb\\x1b]0;c\\x07"
    )


def test_several_errors_each_in_full_and_then_their_number() -> None:
    stream = io.StringIO()
    error = AttncliError(
        Exit.INPUT, "one", help="a", more=(AttncliError(Exit.INPUT, "two", help="b"),)
    )
    report_error(error, stream)
    assert (
        stream.getvalue()
        == "attncli: error: one\nhelp: a\nattncli: error: two\nhelp: b\nattncli: 2 errors\n"
    )


@pytest.mark.parametrize(
    ("untold", "said"),
    [
        (28, "the first 2 of 30 errors"),
        (997, "the first 2 of 999 errors"),
        (998, "the first 2 of 1,000 errors or more"),
    ],
)
def test_errors_that_are_only_counted(untold: int, said: str) -> None:
    stream = io.StringIO()
    report_error(
        AttncliError(Exit.INPUT, "one", more=(AttncliError(Exit.INPUT, "two"),), untold=untold),
        stream,
    )
    assert stream.getvalue() == f"attncli: error: one\nattncli: error: two\nattncli: {said}\n"


def test_a_warning_is_one_line() -> None:
    stream = io.StringIO()
    warn("row\n1", stream)
    assert stream.getvalue() == "attncli: warning: row\\n1\n"
