"""Colour follows the option, then the environment, then the stream; width is the terminal's or
none.
"""

import io

import pytest

from attncli.cli.pages import wants_color
from attncli.cli.terminal import terminal_width


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("choice", "stream", "environment", "colored"),
    [
        ("auto", Terminal(), {}, True),
        ("auto", io.StringIO(), {}, False),
        ("auto", None, {}, False),
        ("auto", Terminal(), {"TERM": "dumb"}, False),
        ("auto", Terminal(), {"NO_COLOR": "1"}, False),
        ("auto", Terminal(), {"NO_COLOR": ""}, True),  # no-color.org: only if it is not empty
        ("auto", io.StringIO(), {"FORCE_COLOR": "1"}, True),
        ("auto", Terminal(), {"FORCE_COLOR": "0"}, False),
        ("auto", None, {"FORCE_COLOR": "1"}, False),
        ("auto", io.StringIO(), {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ("always", None, {"NO_COLOR": "1", "TERM": "dumb"}, True),
        ("never", Terminal(), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_color(
    choice: str,
    stream: io.StringIO | None,
    environment: dict[str, str],
    colored: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wants_color(choice, stream) is colored


def test_a_terminal_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "57")
    assert terminal_width(Terminal()) == 57


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_a_file_or_a_pipe_has_no_width(
    stream: io.StringIO | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "57")
    assert terminal_width(stream) is None
