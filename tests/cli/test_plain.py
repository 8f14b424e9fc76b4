"""A command line that is read without Typer means what it means to Typer."""

import sys
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.cli import options
from attncli.cli.app import answer
from attncli.cli.plain import read
from attncli.features.check.command import check
from attncli.features.compute.command import compute


def example(
    file: options.Problem,
    other: Annotated[str | None, options.Argument("OTHER", "Another one.")] = None,
    output: options.Output = None,
    precision: options.Precision = "3",
    heatmap: options.Heatmap = False,
    quiet: options.Quiet = False,
    several: Annotated[list[str] | None, options.Option("--several", help="More than one.")] = None,
) -> dict[str, Any]:
    """A command."""
    return dict(locals())


PLAIN = [
    "a.yaml",
    "-",
    "a.yaml b.yaml",
    "a.yaml -o b.md",
    "a.yaml -o - --precision 5",
    "--precision=5 a.yaml --heatmap",
    "-q --output=x=y a.yaml",
    "--quiet --output b a.yaml",
]
ODD = [
    "",
    "-q",
    "a b c",
    "a --nope",
    "a --prec 3",
    "a --help",
    "a -o",
    "a -ob",
    "a -qo b",
    "a -o --quiet",
    "a -o -b",
    "a -o=",
    "a --output=",
    "a --heatmap=1",
    "a -q -q",
    "a -q --quiet",
    "a -o b -o c",
    "-- a",
    "a --several b",
    "a -5",
]


def by_typer(words: list[str]) -> object:
    return answer({"example": example}, lambda: None, ["example", *words])


@pytest.mark.parametrize("line", PLAIN)
def test_what_is_plain_means_the_same(line: str) -> None:
    found = read(example, line.split())
    assert found is not None
    assert example(**found) == by_typer(line.split())


@pytest.mark.parametrize("line", ODD)
def test_what_is_odd_is_left_to_typer(line: str) -> None:
    assert read(example, line.split()) is None


WORDS = ["a", "-", "--", "", "-q", "--quiet", "-o", "--output", "--output=b", "--output=", "--precision", "5",
         "--heatmap", "-x", "-ob", "--several", "c=d", "--heatmap=1"]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=6))
def test_nothing_is_read_otherwise_than_by_typer(words: list[str]) -> None:
    found = read(example, words)
    if found is not None:
        assert example(**found) == by_typer(words)


@pytest.mark.parametrize(("command", "words"), [(compute, ["a"]), (check, ["a", "b"])])
def test_commands_are_plain(command: Any, words: list[str]) -> None:
    assert read(command, words) is not None


def test_typer_is_imported_only_by_what_is_odd() -> None:
    import subprocess

    program = "import sys\nfrom attncli.cli.main import run\nrun({!r})\nassert ('typer' in sys.modules) is {!r}"
    for words, expected in ((["cost", "--n", "2", "-o", "-"], False), (["--version"], False), (["cost", "-n"], True)):
        subprocess.run([sys.executable, "-c", program.format(words, expected)], check=True, capture_output=True)
