"""A page that is put into a larger one: the levels of its headings, and what it keeps to itself."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import attncli
from attncli.cli.main import run
from attncli.errors import AttncliError, Exit
from attncli.page.document import Document, Heading, Paragraph
from attncli.render import Style, render

LOVE = str(Path(__file__).parents[2] / "inputs" / "i_love_ai.yaml")
PLAIN = Document("T", (Heading("Scores", 1), Paragraph(("x",))))
PARTED = Document("T", (Heading("Head 0", part=True), Heading("Scores", 1), Paragraph(("x",))))


@pytest.mark.parametrize(
    ("document", "style", "headings"),
    [
        (PLAIN, Style(), ["# T", "## 1. Scores"]),
        (PLAIN, Style(heading_level=3), ["### T", "#### 1. Scores"]),
        (PLAIN, Style(heading_level=3, title=False), ["### 1. Scores"]),
        (PLAIN, Style(title=False), ["## 1. Scores"]),
        (PARTED, Style(heading_level=2), ["## T", "### Head 0", "#### 1. Scores"]),
        # There is no lower level.
        (PARTED, Style(heading_level=6), ["###### T", "###### Head 0", "###### 1. Scores"]),
    ],
)
def test_markdown(document: Document, style: Style, headings: list[str]) -> None:
    text = render(document, "markdown", style)
    assert re.findall("^#.*$", text, re.MULTILINE) == headings


@pytest.mark.parametrize(
    ("document", "style", "headings"),
    [
        (PLAIN, Style(fragment=True), ["h2", "h3"]),
        (PLAIN, Style(fragment=True, heading_level=4), ["h4", "h5"]),
        (PLAIN, Style(fragment=True, heading_level=2, title=False), ["h2"]),
        (PARTED, Style(fragment=True, heading_level=1), ["h1", "h2", "h3"]),
    ],
)
def test_html(document: Document, style: Style, headings: list[str]) -> None:
    text = render(document, "html", style)
    assert re.findall(r"<(h[1-6])>", text) == headings
    # Two fragments may stand in one page, so none has a name that another one has, too.
    assert " id=" not in text


@pytest.mark.parametrize(
    ("document", "style", "headings"),
    [
        (PLAIN, Style(fragment=True), ["section"]),
        (PLAIN, Style(fragment=True, heading_level=1), ["section", "subsection"]),
        (PLAIN, Style(fragment=True, heading_level=2, title=False), ["subsection"]),
        (PARTED, Style(fragment=True, heading_level=1), ["section", "subsection", "subsubsection"]),
        (PLAIN, Style(fragment=True, heading_level=6), ["subparagraph", "subparagraph"]),
    ],
)
def test_latex(document: Document, style: Style, headings: list[str]) -> None:
    text = render(document, "latex", style)
    # Each with a star: they are not numbered.
    assert re.findall(r"\\((?:sub)*(?:section|paragraph))\*\{", text) == headings
    assert text.count("section") + text.count("paragraph") == len(headings)
    assert ("\\begin{center}" in text) == (style.heading_level is None)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["-o", "a.html"], "--heading-level cannot be used with a whole page"),
        (["-o", "a.tex"], "--heading-level cannot be used with a whole page"),
        (["-o", "a.pdf"], "--heading-level cannot be used with --format pdf"),
        ([], "--heading-level cannot be used with --format table"),
        (["-o", "a.md", "--heading-level", "7"], "--heading-level cannot be '7'"),
    ],
)
def test_a_whole_page_has_its_own_levels(
    line: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["compute", LOVE, "--heading-level", "2", *line]) == Exit.USAGE
    assert message in capsys.readouterr().err


def test_levels_in_python() -> None:
    trace = attncli.trace(LOVE)
    assert trace.to_markdown(title=False, heading_level=4).count("#### 4–5. Scores") == 1
    assert "<h3>" in trace.to_html(fragment=True, heading_level=3)
    with pytest.raises(AttncliError, match="heading_level is for a fragment"):
        trace.to_latex(heading_level=2)
    for level in (0, 7, True, "2"):
        with pytest.raises(AttncliError, match="heading_level cannot be"):
            trace.to_markdown(heading_level=level)  # type: ignore[arg-type]


def test_sections_of_markdown_are_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["compute", LOVE, "--format", "markdown", "--fragment", "--steps", "Q,scores"]
    assert run([*line, "-o", "part-{n}.md"]) == 0
    first = Path("part-1.md").read_text(encoding="utf-8")
    assert first.startswith("<!-- 1 Queries -->\n## 1. Queries\n")


@pytest.mark.tex
def test_a_fragment_leaves_the_document_around_it_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["compute", LOVE, "--fragment", "--no-title", "--heading-level", "2"]
    assert run([*line, "-o", "part.tex"]) == 0
    document = (
        r"\documentclass{article}\usepackage{color}\begin{document}"
        r"\section{One}\typeout{before \the\parindent}Words before \input{part.tex} and behind."
        r"\typeout{behind \the\parindent}\section{Two}\typeout{section \arabic{section}}"
        r"\end{document}"
    )
    Path("exam.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "exam.tex"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    before, behind = (re.search(rf"{word} ([\d.]+pt)", told) for word in ("before", "behind"))
    assert before is not None
    assert behind is not None
    assert before[1] == behind[1] != "0.0pt"
    assert "section 2" in told
