"""A page cut into its sections: LaTeX that fits on slides, and HTML."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from pages import PRODUCT, grid, page

from attncli.page.derivation import derivation
from attncli.page.document import Block, Heading, Paragraph
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.render import Style
from attncli.render.latex import FRAGMENT_BEGINS, FRAGMENT_ENDS
from attncli.render.sections import sections
from attncli.tracing import run

INPUTS = Path(__file__).parents[2] / "inputs"


def cut(*blocks: Block, title: str = "", has_title: bool = True) -> dict[str, str]:
    style = Style(fragment=True, title=has_title)
    return {
        name: "".join(text) for name, text in sections(page(*blocks, title=title), "latex", style)
    }


STEPS = (
    Paragraph(("First.",)),
    Heading("What is given"),
    Paragraph(("X.",)),
    Heading("Queries", 1),
    Paragraph(("Q.",)),
    Heading("Keys", 2),
    Paragraph(("K.",)),
    Heading("Summary"),
    Paragraph(("All.",)),
)


def test_steps_have_their_numbers_what_is_given_is_0_and_what_stands_before_is_the_start() -> None:
    found = cut(*STEPS, title="50 % _")
    assert list(found) == ["start", "0", "1", "2", "3"]
    beginning = f"% 50 \\% \\_\n{FRAGMENT_BEGINS}\\begin{{center}}\n{{\\LARGE"
    assert found["start"].startswith(beginning)
    assert found["0"] == (
        f"% What is given\n{FRAGMENT_BEGINS}\\section*{{What is given}}\n\nX.{FRAGMENT_ENDS}"
    )
    assert found["2"] == (f"% 2 Keys\n{FRAGMENT_BEGINS}\\section*{{Keys}}\n\nK.{FRAGMENT_ENDS}")
    assert found["3"].startswith("% Summary\n")


def test_without_titles_there_are_no_headings() -> None:
    found = cut(*STEPS, title="T", has_title=False)
    assert found["start"] == f"% T\n{FRAGMENT_BEGINS}First.{FRAGMENT_ENDS}"
    assert found["1"] == f"% 1 Queries\n{FRAGMENT_BEGINS}Q.{FRAGMENT_ENDS}"


def test_headings_that_follow_each_other_begin_one_section() -> None:
    found = cut(
        Heading("All share", part=True),
        Heading("Mask", 7),
        Paragraph(("M.",)),
        Heading("Head 0", part=True),
        Heading("Queries", 1),
        Paragraph(("Q.",)),
    )
    assert {name: text.splitlines()[0] for name, text in found.items()} == {
        "1": "% All share / 7 Mask",
        "2": "% Head 0 / 1 Queries",
    }


def test_a_page_without_steps_is_counted_from_its_first_heading() -> None:
    found = cut(
        Paragraph(("First.",)),
        Heading("One"),
        Paragraph(("1.",)),
        Heading("Two"),
        Paragraph(("2.",)),
    )
    assert list(found) == ["start", "1", "2"]
    assert list(cut(Paragraph(("First.",)))) == ["start"]
    assert cut(title="T", has_title=False) == {}


def test_each_section_names_its_packages_and_explains_its_labels() -> None:
    names = ("日", "b")
    shaded = grid("S", names, names, "0.1 0.2", "0.3 0.4", shaded=True)
    plain = grid("S", names, names, "1 2", "3 4")
    found = cut(Heading("One", 1), shaded, Heading("Two", 2), PRODUCT, Heading("Three", 3), plain)
    assert found["1"].startswith("% 1 One\n% Needs \\usepackage{color} in the preamble.\n")
    assert ["T1~=~" in found[name] for name in found] == [True, False, True]


@pytest.mark.long
@pytest.mark.tex
@pytest.mark.at_most(3)
@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", ["", "[aspectratio=169]"])
@pytest.mark.parametrize(
    ("name", "count"), [("i_love_ai", 12), ("causal", 14), ("wide_values", 12)]
)
def test_each_section_of_a_small_problem_fits_on_a_slide(
    name: str, count: int, options: str, tmp_path: Path
) -> None:
    if not shutil.which("pdflatex") or not beamer_is_there():
        pytest.skip("pdflatex or beamer is not installed")
    document = derivation(run(load(str(INPUTS / f"{name}.yaml"))), View(short=False))
    frames = []
    for part, text in sections(document, "latex", Style(fragment=True, title=False)):
        (tmp_path / f"step-{part}.tex").write_text("".join(text), encoding="ascii")
        begin = "\\begin{frame}[allowframebreaks]{A title}"
        frames.append(f"{begin}\n\\input{{step-{part}}}\n\\end{{frame}}\n")
    head = f"\\documentclass{options}{{beamer}}\n\\usepackage{{color}}\n"
    source = f"{head}\\begin{{document}}\n{''.join(frames)}\\end{{document}}\n"
    (tmp_path / "slides.tex").write_text(source, encoding="ascii")
    command = [
        "pdflatex",
        "-interaction=nonstopmode",
        "-halt-on-error",
        "-no-shell-escape",
        "slides.tex",
    ]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    log = (tmp_path / "slides.log").read_text(encoding="utf-8", errors="replace")
    assert result.returncode == 0, log[-2000:]
    assert len(frames) == count
    assert "Overfull" not in log


def beamer_is_there() -> bool:
    found = shutil.which("kpsewhich")
    return (
        bool(found)
        and subprocess.run([str(found), "beamer.cls"], capture_output=True, check=False).returncode
        == 0
    )


def test_html_has_its_sections_too_and_a_comment_cannot_be_left() -> None:
    document = page(*STEPS, Heading("a --> <script>"), Paragraph(("S.",)), title="T")
    found = {name: "".join(text) for name, text in sections(document, "html", Style(fragment=True))}
    assert list(found) == ["start", "0", "1", "2", "3", "4"]
    assert found["2"].startswith('<!-- 2 Keys -->\n<section class="attncli">')
    assert found["4"].startswith("<!-- a - -> <script> -->\n")
    assert "<p>S.</p>" in found["4"]
