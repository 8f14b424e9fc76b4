"""Every example in every format, word for word: `pytest tests/test_golden.py --update` writes the files anew.

The files hold printed numbers only, at three decimals, since the last bits of a float differ between machines.
What the numbers must be is proved elsewhere, against oracles; these files show what a change does to a page.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest

from attncli.page.derivation import derivation
from attncli.page.document import Document
from attncli.page.gradient import gradient_page
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.render import Style, render
from attncli.tracing import run

ROOT = Path(__file__).parents[1]
GOLDEN = Path(__file__).parent / "golden"
SUFFIXES = {"table": "txt", "markdown": "md", "latex": "tex", "html": "html"}
GRADIENTS = (  # one for each thing that the way back has of its own
    "causal.yaml", "next_token.yaml", "grouped_query.yaml", "kv_cache.yaml", "bahdanau.yaml", "luong.yaml", "rope.yaml",
    "gemma2_softcap.yaml", "sink.yaml", "base_two.yaml",
)  # fmt: skip
INPUTS = sorted(file.name for file in (ROOT / "inputs").glob("*.[jy]*"))


@lru_cache(maxsize=2)  # its formats come one after another
def page(name: str, *, gradient: bool = False) -> Document:
    """What `attncli compute inputs/NAME` writes, or `attncli gradient`."""
    trace = run(load(str(ROOT / "inputs" / name)), gradient=gradient)
    return gradient_page(trace, View()) if gradient else derivation(trace, View())


def written(document: Document, format: str) -> str:
    """The page, as on a terminal of 80 columns; without its style sheet, which is the same on every page."""
    text = render(document, format, Style(width=80 if format == "table" else None))
    return re.sub(r"<style>.*?</style>", "<style></style>", text, flags=re.DOTALL)


@pytest.mark.parametrize("format", SUFFIXES)
@pytest.mark.parametrize("name", INPUTS)
def test_page_is_as_it_was(name: str, format: str, pytestconfig: pytest.Config) -> None:
    assert_as_it_was(f"{name}.{SUFFIXES[format]}", written(page(name), format), pytestconfig)


@pytest.mark.parametrize("format", SUFFIXES)
@pytest.mark.parametrize("name", GRADIENTS)
def test_page_of_gradients_is_as_it_was(name: str, format: str, pytestconfig: pytest.Config) -> None:
    assert_as_it_was(f"gradient.{name}.{SUFFIXES[format]}", written(page(name, gradient=True), format), pytestconfig)


def assert_as_it_was(file: str, written: str, pytestconfig: pytest.Config) -> None:
    golden = GOLDEN / file
    if pytestconfig.getoption("--update"):
        golden.write_text(written, encoding="utf-8")
    assert golden.exists(), f"no golden file {golden.name}; write it with --update and read it"
    assert written == golden.read_text(encoding="utf-8")


def test_no_golden_file_is_left_over() -> None:
    names = (*INPUTS, *(f"gradient.{name}" for name in GRADIENTS))
    expected = {f"{name}.{suffix}" for name in names for suffix in SUFFIXES.values()}
    assert {file.name for file in GOLDEN.iterdir()} == expected
