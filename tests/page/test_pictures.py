"""Pages with pictures: where they stand, and how each format shows them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from urllib.parse import unquote

import pytest

from attncli.cli.main import run as command
from attncli.page.derivation import derivation
from attncli.page.document import Heading, Picture
from attncli.page.gradient import gradient_page
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.tracing import run
from tests.cases import in_one_test
from tests.features.picture.drawn import SVG, read, texts

ROOT = Path(__file__).parents[2]
INPUTS = ROOT / "inputs"
NAMES = sorted(file.name for file in INPUTS.glob("*.[jy]*"))
LOVE = str(INPUTS / "i_love_ai.yaml")
LINK = re.compile(r"^!\[(?P<said>.*)\]\((?P<target>.*)\)$", re.MULTILINE)


def pictures(name: str, **choice: object) -> list[tuple[str, str]]:
    """The step, or what else a section is about, and the name of each picture in it."""
    found, section = [], ""
    for block in derivation(
        run(load(str(INPUTS / name))), View(detail="brief", pictures=True, **choice)
    ).blocks:
        if isinstance(block, Heading):
            section = block.step or block.text
        elif isinstance(block, Picture):
            found.append((section, block.name))
    return found


def test_pictures_stand_after_what_they_show() -> None:
    assert pictures("i_love_ai.yaml") == [
        ("", "dimensions"),
        ("weights", "weights"),
        ("output", "output"),
    ]
    assert pictures("multi_head.yaml") == [
        ("", "dimensions"),
        ("weights", "head-0-weights"),
        ("heads_output", "head-0-output"),
        ("weights", "head-1-weights"),
        ("heads_output", "head-1-output"),
    ]
    assert pictures("multi_head.yaml", head=1, steps=["weights"]) == [("weights", "weights")]
    assert pictures("i_love_ai.yaml", steps=["scores", "output"]) == [("output", "output")]


@pytest.mark.long
@in_one_test("name", NAMES)
def test_no_two_pictures_of_a_page_have_one_name(name: str) -> None:
    names = [each for _, each in pictures(name)]
    assert names[0] == "dimensions"
    assert len({*names}) == len(names) >= 3


def test_beside_a_page_of_markdown_stand_the_files_that_it_links_to(tmp_path: Path) -> None:
    path = tmp_path / "worked ü.md"
    assert command(["compute", LOVE, "--pictures", "-o", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    assert "```mermaid\nflowchart TD\n" in text  # which GitHub draws
    files = [unquote(link["target"]) for link in LINK.finditer(text)]
    assert files == ["worked ü-weights.svg", "worked ü-output.svg"]
    assert {*os.listdir(tmp_path)} == {path.name, *files}
    for name in files:
        assert read((tmp_path / name).read_text(encoding="utf-8")).attrib["role"] == "img"
    assert '!["I" pays 70.7 % of its attention to "love"' in text


def test_for_pandoc_the_chart_is_a_file_too(tmp_path: Path) -> None:
    assert (
        command(["compute", LOVE, "--pictures", "--math", "dollars", "-o", str(tmp_path / "p.md")])
        == 0
    )
    assert {*os.listdir(tmp_path)} == {"p.md", "p-dimensions.svg", "p-weights.svg", "p-output.svg"}
    assert "mermaid" not in (tmp_path / "p.md").read_text(encoding="utf-8")


def test_on_standard_output_pictures_are_in_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["compute", LOVE, "--pictures", "--format", "markdown"]) == 0
    targets = [link["target"] for link in LINK.finditer(capsys.readouterr().out)]
    assert len(targets) == 2
    for target in targets:
        begin, _, data = target.partition("base64,")
        assert begin == "data:image/svg+xml;"
        assert read(b64decode(data).decode()).tag == f"{SVG}svg"


def test_the_page_is_written_with_all_its_pictures_or_not_at_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p-weights.svg").mkdir()
    assert command(["compute", LOVE, "--pictures", "-o", str(tmp_path / "p.md")]) == 4
    assert "p-weights.svg" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["p-weights.svg"]


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_a_stream_has_no_files_beside_it() -> None:
    line = [
        sys.executable,
        "-m",
        "attncli",
        "compute",
        LOVE,
        "--pictures",
        "--format",
        "markdown",
        "-o",
        "/dev/stdout",
    ]
    assert (
        subprocess.run(line, capture_output=True, check=True).stdout.count(b"](data:image/svg+xml")
        == 2
    )


def test_html_holds_its_pictures_in_the_fonts_of_the_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command(["compute", LOVE, "--pictures", "--format", "html", "--static"]) == 0
    page = capsys.readouterr().out
    figures = re.findall(r'<figure data-picture="(\w+)">(.*?)</figure>', page, re.DOTALL)
    assert [name for name, _ in figures] == ["dimensions", "weights", "output"]
    drawn = [read(svg) for _, svg in figures]
    assert [each.attrib["font-family"] for each in drawn] == ["inherit"] * 3
    shown = [each.text for each in texts(drawn[1]) if re.fullmatch(r"0\.\d{3}", each.text)]
    assert sorted(shown) == sorted(
        # The last one is of the legend.
        ["0.070", "0.707", "0.223", *["0.333"] * 3, "0.168", "0.533", "0.299", "0.707"]
    )


@pytest.mark.long
def test_a_live_page_has_the_pictures_of_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    """The chart of each, and the pictures of numbers, which disappear when a number is changed."""
    assert command(["compute", LOVE, "--pictures", "--format", "html"]) == 0
    page = capsys.readouterr().out
    main, _, script = page.partition('<script type="application/json"')
    assert main.count("<figure ") == 3
    assert "hidden by the mask" not in main
    assert "hidden by the mask" in script  # of the causal mask
    hidden = '.attncli.numbers-changed figure[data-picture]:not([data-picture="dimensions"])'
    assert re.search(rf"{re.escape(hidden)}\s*{{\s*display: ?none", main)


def test_latex_draws_with_tikz(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["compute", LOVE, "--pictures", "--format", "latex"]) == 0
    page = capsys.readouterr().out
    assert page.index("\\usepackage{tikz}") < page.index("\\begin{document}")
    assert page.count("\\begin{tikzpicture}") == page.count("\\end{tikzpicture}") == 3
    assert (
        command(
            ["compute", LOVE, "--pictures", "--steps", "weights", "--format", "latex", "--fragment"]
        )
        == 0
    )
    assert capsys.readouterr().out.startswith("% Needs \\usepackage{tikz} in the preamble.\n")
    assert command(["compute", LOVE, "--format", "latex"]) == 0
    assert "tikz" not in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.tex
@pytest.mark.at_most(3)
@pytest.mark.sampled(1)
@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
@pytest.mark.parametrize("name", ["gpt2_layer.yaml", "sink.yaml", "twelve_tokens.yaml"])
def test_latex_fits_its_pages(name: str, engine: str, tmp_path: Path) -> None:
    if (
        shutil.which(engine) is None
        or subprocess.run(["kpsewhich", "tikz.sty"], capture_output=True).returncode
    ):
        pytest.skip(f"needs {engine} with tikz")
    assert (
        command(["compute", str(INPUTS / name), "--pictures", "-q", "-o", str(tmp_path / "p.tex")])
        == 0
    )
    made = [engine, "-interaction=nonstopmode", "-halt-on-error", "p.tex"]
    log = subprocess.run(made, cwd=tmp_path, capture_output=True, timeout=120).stdout.decode(
        "utf-8", "replace"
    )
    assert "Output written on p.pdf" in log
    assert "Overfull" not in log


def test_the_page_of_a_gradient_draws_both_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["gradient", LOVE, "--forward", "--pictures", "--format", "html"]) == 0
    forward, _, backward = (
        capsys.readouterr().out.partition("<main>")[2].partition(">The backward pass<")
    )
    drawn = re.compile(r'<figure data-picture="(\w+)">')
    assert drawn.findall(forward) == ["dimensions", "weights", "output"]
    assert drawn.findall(backward) == ["d_weights", "d_scores"]
    assert command(["gradient", LOVE, "--pictures", "--format", "html", "--steps", "d_scores"]) == 0
    assert drawn.findall(capsys.readouterr().out) == ["d_scores"]


@pytest.mark.parametrize("name", ["multi_head.yaml", "batch.yaml", "grouped_query.yaml"])
def test_each_head_of_a_gradient_has_its_own_pictures(name: str) -> None:
    trace = run(load(str(INPUTS / name)), gradient=True)
    view = View(detail="brief", pictures=True, forward=True)
    blocks = gradient_page(trace, view).blocks
    names = [each.name for each in blocks if isinstance(each, Picture)]
    parts = trace["d_scores"].shape[0]
    assert len({*names}) == len(names) == 1 + 4 * parts
    assert [name.endswith("-1-d_scores") for name in names].count(True) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            [],
            (
                "--pictures cannot be used with --format table\nhelp: --pictures is for --format"
                " markdown, latex, html or pdf"
            ),
        ),
        (
            ["--format", "json"],
            "--pictures cannot be used with --format json\nhelp: JSON holds the numbers ",
        ),
        (
            ["-o", "x.npy"],
            "--pictures cannot be used with a .npy file\nhelp: NPY holds the numbers themselves; ",
        ),
        (
            ["--format", "html", "--cell", "weights[0,0]"],
            "--cell cannot be used with --pictures\nhelp: --cell works ",
        ),
        (
            ["--format", "html", "--query", "I"],
            "--query cannot be used with --pictures\nhelp: --query shows one row",
        ),
        (
            ["--format", "html", "--steps", "Q,scores"],
            (
                "--pictures has nothing to draw: of the steps, only weights and output have a"
                " picture\nhelp: leave out "
            ),
        ),
    ],
)
def test_where_there_is_nothing_to_draw(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["compute", LOVE, "--pictures", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"attncli: error: {message}")


@pytest.mark.parametrize("rounding", ["exact", "paper"])
def test_digits_of_pictures_are_those_of_the_page(
    rounding: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """On paper with one decimal, 1.8, 17.9 and 5.7 are 0.1, 0.7 and 0.2 of 25.4."""
    line = [
        "compute",
        LOVE,
        "--pictures",
        "--steps",
        "weights",
        "--format",
        "html",
        "--rounding",
        rounding,
    ]
    assert command([*line, "--precision", "1"]) == 0
    (svg,) = re.findall(r"<svg .*</svg>", capsys.readouterr().out, re.DOTALL)
    assert {each.text for each in texts(read(svg))} >= {"0.1", "0.7", "0.2"}


def test_labels_without_letters_in_tex_have_the_same_short_names_in_a_page_and_its_pictures(
    tmp_path: Path,
) -> None:
    """A label that is too long for a matrix comes first, so that the one in Chinese is T2."""
    (tmp_path / "p.yaml").write_text(
        f"tokens: [{'x' * 40}, 日]\nQ: [[0], [0]]\nK: [[0], [0]]\nV: [[1], [1]]\n", encoding="utf-8"
    )
    assert (
        command(["compute", str(tmp_path / "p.yaml"), "--pictures", "-o", str(tmp_path / "p.tex")])
        == 0
    )
    page = (tmp_path / "p.tex").read_text(encoding="ascii")
    assert page.count("In labels, ") == 1
    drawn = re.findall(r"\\node at \(.*?\) {(.*)};", page)
    assert {"T1", "T2"} <= {*drawn}
    assert not [text for text in drawn if "U+65E5" in text]
