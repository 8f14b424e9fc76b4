"""Markdown between dollars goes through pandoc to PDF: fonts of LaTeX lack ≈, √ and █, so that
these are formulas.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest
from pages import EVERY_BLOCK, grid, page

from attncli.page.derivation import derivation
from attncli.page.document import Heading, Paragraph, text
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.render import Style, render
from attncli.tracing import run

INPUTS = Path(__file__).parents[2] / "inputs"
DOLLARS = Style(math="dollars")
MATH = re.compile(r"\$\$\n.*?\n\$\$|\$(?!\$)(?:\\.|[^$\\])+\$(?![0-9])", re.DOTALL)
TYPOGRAPHY = set("–—…“”‘’")  # every font of LaTeX has these
FEW = ["i_love_ai", "exact_fractions", "fully_masked"]


def written(name: str, rounding: str = "shown") -> str:
    trace = run(load(str(INPUTS / f"{name}.yaml")), rounding=rounding)
    return render(derivation(trace, View(heatmap=True)), "markdown", DOLLARS)


def signs_outside_of_math(source: str) -> set[str]:
    prose = MATH.sub("", source)
    assert "$" not in prose
    return {
        sign
        for sign in prose
        if not (
            sign.isascii()
            or unicodedata.category(sign).startswith(("L", "M"))
            or sign in TYPOGRAPHY
        )
    }


@pytest.mark.each_choice
@pytest.mark.parametrize("rounding", ["shown", "exact", "paper"])
@pytest.mark.parametrize("name", FEW)
def test_no_sign_stands_outside_of_math(name: str, rounding: str) -> None:
    assert signs_outside_of_math(written(name, rounding)) == set()


def test_no_sign_of_any_block_stands_outside_of_math() -> None:
    blocks = (*EVERY_BLOCK, Heading("a → b, 3×4, √2, 10⁻⁶"), grid("S", ("a →",), ("≤ b",), "-inf"))
    assert signs_outside_of_math(render(page(*blocks), "markdown", DOLLARS)) == set()


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("after ≈ it", r"after $\approx$ it"),
        # pandoc: no digit after a closing dollar
        ("(3×4)·(4×3)", r"(3$\times 4$)$\cdot$(4$\times 3$)"),
        ("a →`b`", r"a $\to b$"),
        ("10⁻⁶", r"10${}^{-6}$"),
        ("$5 → $6", r"&#36;5 $\to$ &#36;6"),
    ],
)
def test_a_sign_in_prose(said: str, expected: str) -> None:
    assert render(page(Paragraph(text(said))), "markdown", DOLLARS) == f"{expected}\n"


def test_signs_stay_as_they_are_for_github() -> None:
    assert render(page(Paragraph(("a ≈ b → c",))), "markdown") == "a ≈ b → c\n"


def pandoc(*arguments: str) -> str:
    ran = subprocess.run(
        ["pandoc", *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


@pytest.mark.slow
@pytest.mark.tex
@pytest.mark.parametrize("name", FEW)
def test_pandoc_makes_a_pdf(name: str, tmp_path: Path) -> None:
    for program in ("pandoc", "pdflatex", "xelatex"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    source = tmp_path / "page.md"
    source.write_text(written(name, "exact"), encoding="utf-8")
    pandoc(str(source), "-o", str(tmp_path / "page.pdf"), "--pdf-engine=pdflatex")
    pandoc(str(source), "--standalone", "-o", str(tmp_path / "page.tex"))
    subprocess.run(
        ["xelatex", "-interaction=batchmode", "page.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert "Missing character" not in (tmp_path / "page.log").read_text(
        encoding="utf-8", errors="replace"
    )
