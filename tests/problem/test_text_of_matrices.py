"""Problems in texts: matrices behind their names in Markdown, LaTeX, programs and code fences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import attncli
from attncli.errors import AttncliError
from attncli.problem.loader import loads
from tests.cases import in_one_test

INPUTS = Path(__file__).parents[2] / "inputs"
M = [[1, 2], [3, 4]]
LATEX = r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}"
QKV = {"Q": M, "K": M, "V": M}
TEXTS = [
    ("p.md", f"# Homework\n\nLet $Q = {LATEX}$, $K = {LATEX}$ and\n\n$$ V = {LATEX} $$\n", QKV),
    ("p.md", "```\nQ = [1 2; 3 4]\nK = [1 2; 3 4]\nV = [1 2; 3 4]\n```\n", QKV),
    ("p.txt", "Q = [[1, 2], [3, 4]]\nK = [[1, 2],\n     [3, 4]]\nV =\n1 2\n3 4\n", QKV),
    ("p.yaml", "Q = [[1, 2], [3, 4]]\nK = [[1, 2], [3, 4]]\nV = [[1, 2], [3, 4]]\n", QKV),
    ("p.txt", "Q\n1 2\n3 4\n\nK\n1 2\n3 4\n\nV:\n1 2\n3 4\n", QKV),
    (
        "p.py",
        "import numpy as np\nQ = np.array([[1, 2], [3, 4]])\nK = np.array([[1, 2], [3, 4]])\n"
        "V = np.array([[1., 2], [3, 4]])\nS = Q @ K.T\n",
        QKV,
    ),
    (
        "p.tex",
        rf"\begin{{align}} \mathbf{{X}} &= {LATEX} \\ W^{{Q}} &= {LATEX} \\ W^K &= {LATEX} \\"
        rf" W_{{V}} &= {LATEX} \end{{align}} $Q = X W^Q = {LATEX}$",
        {"X": M, "W_Q": M, "W_K": M, "W_V": M},
    ),
]
CAUSAL = f"Use a causal mask.\n\n$Q = {LATEX}$\n\n$K = {LATEX}$\n\n$V = {LATEX}$\n"
REFUSED = [
    ("p.md", CAUSAL, "this text speaks of causal, and no line of it says what is meant"),
    ("p.md", f"$Q = {LATEX}$ with rotary embeddings", "this text speaks of rotary"),
    ("p.md", "Only words.\n", "there is no matrix of a problem in this text"),
    ("p.tex", f"$B = {LATEX}$, $Q = {LATEX}$", "there is no key B"),
    ("p.md", f"$Q = {LATEX}$\n\n$Q = {LATEX}$\n", "Q is given twice"),
    ("p.md", f"$Q = {LATEX}$ and $K^T = {LATEX}$, $V = {LATEX}$", "the keys are missing"),
    ("p.md", "mask: window\n", "window is no mask that a text can have"),
    (
        "p.md",
        r"$Q = \frac{1}{2} \begin{pmatrix} 1 \end{pmatrix}$",
        "there is no matrix of a problem",
    ),
    ("p.html", "<!DOCTYPE html><html></html>", "this is a page that attncli wrote, not a problem"),
]


@in_one_test(("name", "text", "given"), TEXTS)
def test_matrices_have_their_names_before_them(name: str, text: str, given: dict[str, Any]) -> None:
    problem = loads(text.encode(), name)
    assert {key: matrix.value.tolist() for key, matrix in problem.given.items()} == given


def test_a_line_says_how_they_are_used() -> None:
    problem = loads(f"title: Mine\nmask: causal\n\n{CAUSAL}".encode(), "p.md")
    assert problem.title == "Mine"
    trace = attncli.trace(problem)
    assert trace["weights"][0].tolist() == [1, 0]


@in_one_test(("name", "text", "said"), REFUSED)
def test_what_a_text_leaves_open_is_an_error(name: str, text: str, said: str) -> None:
    with pytest.raises(AttncliError) as caught:
        loads(text.encode(), name)
    assert said in str(caught.value)
    assert caught.value.help


@pytest.mark.parametrize("suffix", ["md", "tex", "html", "txt"])
def test_a_page_that_keeps_no_problem_is_none(suffix: str, tmp_path: Path) -> None:
    trace = attncli.trace(attncli.load(INPUTS / "causal.yaml"))
    page = {"md": trace.to_markdown, "tex": trace.to_latex, "html": trace.to_html}
    text = page[suffix]() if suffix in page else str(trace.to_markdown())
    with pytest.raises(AttncliError, match="this is a page that attncli wrote, not a problem"):
        loads(text.encode(), f"page.{suffix}")
