"""Pages as PDF: TeX gets the page in LaTeX, may run nothing, and what is missing is said."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from attncli.cli.main import run
from attncli.errors import Exit

LOVE = str(Path(__file__).parents[2] / "inputs" / "i_love_ai.yaml")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def only_program(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, script: str) -> None:
    """The only TeX that there is: a program of this name, which does this."""
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(
        "attncli.render.pdf.shutil.which", lambda asked: str(program) if asked == name else None
    )


@pytest.mark.parametrize(
    "line",
    [
        ["compute", LOVE],
        ["gradient", LOVE, "--steps", "d_V"],
        ["worksheet", LOVE],
        ["compare", LOVE, "--set", "mask=causal"],
        ["steps", "weights"],
    ],
)
def test_a_page_is_given_to_tex_without_a_shell(
    line: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_program(folder, monkeypatch, "pdflatex", 'echo "$@" > page.pdf; cat page.tex >> page.pdf')
    code = run([*line, "-o", "page.PDF"])
    assert code in (Exit.OK, Exit.DIFFERENCE)
    options, first, *_ = Path("page.PDF").read_text(encoding="utf-8").splitlines()
    assert "-no-shell-escape" in options.split()
    assert first.startswith("\\documentclass")
    # It is what the page in LaTeX has.
    assert run([*line, "-o", "page.tex"]) == code
    written = Path("page.tex").read_text(encoding="utf-8")
    given = Path("page.PDF").read_text(encoding="utf-8").partition("\n")[2]
    # Besides, TeX is asked where the last page ends.
    assert re.sub(r".*\\AtEndDocument.*\n", "", given) == written


def test_without_tex_nothing_is_worked_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("attncli.render.pdf.shutil.which", lambda name: None)
    # The file of the problem is not even read.
    assert run(["compute", "nothing.yaml", "-o", "solution.pdf"]) == Exit.MISSING
    err = capsys.readouterr().err
    assert err.startswith("attncli: error: a .pdf file needs TeX, and none is installed\n")
    assert "or write .html and print it in a browser" in err
    assert not Path("solution.pdf").exists()


def test_an_error_of_tex_leaves_the_old_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("solution.pdf").write_bytes(b"old")
    only_program(folder, monkeypatch, "xelatex", "echo '! LaTeX Error: no font.'; exit 1")
    assert run(["compute", LOVE, "-o", "solution.pdf"]) == Exit.FILE
    assert "xelatex made no PDF: LaTeX Error: no font." in capsys.readouterr().err
    assert Path("solution.pdf").read_bytes() == b"old"


@pytest.mark.parametrize("option", ["--fragment", "--static", "--ascii"])
def test_what_a_pdf_has_not(option: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compute", LOVE, option, "-o", "solution.pdf"]) == Exit.USAGE
    assert f"{option} cannot be used with --format pdf" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("end", "pages", "margins"),
    [
        (700, 1, "vmargin={12mm, 16mm}, footskip=8mm"),
        # Nothing is saved.
        (700, 2, "vmargin={18mm, 21mm}"),
        # The last page has more on it.
        (300, 1, "vmargin={18mm, 21mm}"),
    ],
)
def test_a_last_page_with_few_lines_is_saved(
    end: int, pages: int, margins: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_program(
        folder,
        monkeypatch,
        "pdflatex",
        f"cp page.tex page.pdf; echo ENDS AT {end} OF 1000\n"
        f"grep -q 12mm page.tex && number={pages} || number=2\n"
        'echo "Output written on page.pdf ($number pages, 99 bytes)."',
    )
    assert run(["compute", LOVE, "-o", "page.pdf"]) == Exit.OK
    assert margins in Path("page.pdf").read_text(encoding="utf-8")


@pytest.mark.tex
def test_three_steps_with_a_mask_take_two_pages(folder: Path) -> None:
    """On a third one stood the output alone."""
    if shutil.which("pdfinfo") is None:
        pytest.skip("needs pdfinfo")
    problem = str(Path(LOVE).with_name("additive_mask.yaml"))
    assert run(["compute", problem, "-o", "solution.pdf"]) == 0
    told = subprocess.run(["pdfinfo", "solution.pdf"], check=True, capture_output=True, text=True)
    assert re.search(r"Pages: +2\n", told.stdout)


@pytest.mark.long
@pytest.mark.tex
def test_the_same_page_is_the_same_file(folder: Path) -> None:
    for name in ("one.pdf", "two.pdf"):
        assert run(["steps", "weights", "-o", name]) == 0
        # A second later, another time would stand in it.
        time.sleep(1.1)
    assert Path("one.pdf").read_bytes() == Path("two.pdf").read_bytes()


@pytest.mark.tex
def test_a_real_engine_sets_the_page(folder: Path) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("needs pdftotext")
    assert run(["compute", LOVE, "--no-title", "-o", "solution.pdf"]) == 0
    command = ["pdftotext", "-layout", "solution.pdf", "-"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # How much air is between the signs is for TeX to say.
    joined = "".join(told.split())
    assert "2\u00b72+0\u00b71+1\u00b71=5" in joined
    assert "0.707" in joined
    assert "IloveAI" not in joined.partition("Scaleddot-product")[0]
