"""Every example as text and Markdown, and eight of them as HTML and LaTeX, word for word.

`pytest tests/test_golden.py --update` writes the files anew. They hold printed numbers only, at
three decimals, since the last bits of a float differ between machines. What the numbers must be is
proved elsewhere, against oracles; these files show what a change does to a page, in as few lines as
a reviewer can read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

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
    "causal.yaml",
    "next_token.yaml",
    "grouped_query.yaml",
    "kv_cache.yaml",
    "bahdanau.yaml",
    "luong.yaml",
    "rope.yaml",
    "gemma2_softcap.yaml",
    "sink.yaml",
    "base_two.yaml",
)
INPUTS = sorted(file.name for file in (ROOT / "inputs").glob("*.[jy]*"))
# Equations of a problem's own, which are all worded in the same way: as on a terminal.
OF_EQUATIONS = sorted(f"equations/{file.name}" for file in (ROOT / "inputs/equations").glob("*"))
PAGES = (*INPUTS, *(f"gradient.{name}" for name in GRADIENTS))
READ_BY_PEOPLE = ("table", "markdown")
# Markup says of every page the same in its own words: these have all that a page can have.
WITH_MARKUP = (
    "i_love_ai.yaml",
    "exact_fractions.yaml",
    "fully_masked.yaml",
    "rope.yaml",
    "batch.yaml",
    "gpt2_layer.yaml",
    "twelve_tokens.yaml",
    "gradient.next_token.yaml",
)
CASES = [
    *product(PAGES, READ_BY_PEOPLE),
    *product(OF_EQUATIONS, ("table",)),
    *product(WITH_MARKUP, set(SUFFIXES).difference(READ_BY_PEOPLE)),
]


@lru_cache(maxsize=2)  # its formats come one after another
def page(name: str) -> Document:
    """What `attncli compute inputs/NAME` writes, or of gradient.NAME `attncli gradient
    inputs/NAME`.
    """
    gradient = name.startswith("gradient.")
    trace = run(load(str(ROOT / "inputs" / name.removeprefix("gradient."))), gradient=gradient)
    return gradient_page(trace, View()) if gradient else derivation(trace, View())


def written(document: Document, format: str) -> str:
    """The page, as on a terminal of 80 columns; without its style sheet, which is the same on every
    page.
    """
    text = render(document, format, Style(width=80 if format == "table" else None))
    return re.sub(r"<style>.*?</style>", "<style></style>", text, flags=re.DOTALL)


def file_of(name: str, format: str) -> str:
    """The name of the golden file of a page."""
    return f"{name.replace('/', '.')}.{SUFFIXES[format]}"


@pytest.mark.parametrize(("name", "format"), sorted(CASES))
def test_page_is_as_it_was(name: str, format: str, pytestconfig: pytest.Config) -> None:
    now = written(page(name), format)
    golden = GOLDEN / file_of(name, format)
    if pytestconfig.getoption("--update"):
        golden.write_text(now, encoding="utf-8")
    assert golden.exists(), f"no golden file {golden.name}; write it with --update and read it"
    assert now == golden.read_text(encoding="utf-8")


def test_no_golden_file_is_left_over() -> None:
    expected = {file_of(name, format) for name, format in CASES}
    assert {file.name for file in GOLDEN.iterdir()} == expected


def parts_of(block: Any) -> Iterator[str]:
    """Every kind of block inside this one, and every field of it that says something: Heading,
    Heading.part, …
    """
    kind = type(block)
    if isinstance(block, Sequence) and not isinstance(block, str) and not hasattr(block, "_fields"):
        for inner in block:
            yield from parts_of(inner)
    elif kind.__module__ == Document.__module__:
        for name in getattr(kind, "_fields", ("blocks",)):
            value = getattr(block, name)
            if value is not None and value is not False and value != ():
                yield f"{kind.__name__}.{name}"
                yield from parts_of(value)


@pytest.mark.slow
def test_those_with_markup_have_all_that_a_page_can_have() -> None:
    with_markup = {part for name in WITH_MARKUP for part in parts_of(page(name))}
    assert "Heading.part" in with_markup
    assert {part for name in PAGES for part in parts_of(page(name))} - with_markup == set()
