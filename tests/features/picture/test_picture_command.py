"""The command: its formats and files, and what is wrong with a command line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from base64 import b64decode
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from attncli.cli.main import run as command
from attncli.page.pictures import KINDS
from attncli.render import png
from tests.features.picture.drawn import read

ROOT = Path(__file__).parents[3]
LOVE = str(ROOT / "inputs" / "i_love_ai.yaml")
HEADS = str(ROOT / "inputs" / "multi_head.yaml")


def test_a_picture_is_svg_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["picture", LOVE]) == 0
    out = capsys.readouterr().out
    assert read(out).attrib["role"] == "img"
    assert command(["picture", LOVE, "--of", "weights", "--format", "svg", "-o", "-"]) == 0
    assert capsys.readouterr().out == out


def test_the_name_of_the_file_says_the_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begins = {
        ".svg": "<svg ",
        ".md": "![",
        ".markdown": "![",
        ".tex": "\\documentclass",
        ".latex": "\\documentclass",
    }
    for suffix, begin in begins.items():
        path = tmp_path / f"picture{suffix}"
        assert command(["picture", LOVE, "-o", str(path)]) == 0
        assert path.read_text(encoding="utf-8").startswith(begin)
    assert capsys.readouterr().out == ""


def test_small_pictures_are_small(tmp_path: Path) -> None:
    for of, most in (
        ("weights", 4096),
        ("scores", 4096),
        ("flow", 3100),
        ("output", 5120),
        ("softmax", 5120),
    ):
        assert command(["picture", LOVE, "--of", of, "-o", str(tmp_path / "x.svg")]) == 0
        assert (tmp_path / "x.svg").stat().st_size < most


def test_markdown_holds_the_picture_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["picture", LOVE]) == 0
    svg = capsys.readouterr().out
    assert command(["picture", LOVE, "--format", "markdown"]) == 0
    said, _, data = capsys.readouterr().out.partition("](data:image/svg+xml;base64,")
    assert said.startswith('!["I" pays 70.7 % of its attention to "love"')
    assert b64decode(data.removesuffix(")\n")).decode() == svg


def test_markdown_holds_a_chart_for_mermaid(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["picture", LOVE, "--of", "dimensions", "--format", "markdown"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# I love AI: the shapes of all steps\n\n```mermaid\nflowchart TD\n")
    assert '    s_scores["Scores<br>S = Q Kᵀ"]\n' in out


@pytest.mark.long
@pytest.mark.tex
@pytest.mark.at_most(6)
@pytest.mark.sampled(2)
@pytest.mark.parametrize("of", KINDS)
@pytest.mark.parametrize("name", ["gpt2_layer.yaml", "sink.yaml", "twelve_tokens.yaml"])
def test_latex_is_one_page_of_the_size_of_the_picture(name: str, of: str, tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None or not _has_tikz():
        pytest.skip("needs pdflatex with tikz")
    assert (
        command(
            [
                "picture",
                str(ROOT / "inputs" / name),
                "--of",
                of,
                "-q",
                "-o",
                str(tmp_path / "p.tex"),
            ]
        )
        == 0
    )
    made = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "p.tex"]
    log = subprocess.run(made, cwd=tmp_path, capture_output=True, timeout=120).stdout.decode(
        "utf-8", "replace"
    )
    assert "(1 page, " in log
    assert "Overfull" not in log


def _has_tikz() -> bool:
    found = subprocess.run(["kpsewhich", "tikz.sty"], capture_output=True, text=True)
    return found.returncode == 0


def test_a_fragment_is_the_picture_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["picture", LOVE, "--format", "latex", "--fragment"]) == 0
    first, second, *_, last = capsys.readouterr().out.splitlines()
    assert first == "% Needs \\usepackage{tikz} in the preamble."
    assert second.startswith("\\begin{tikzpicture}")
    assert last == "\\end{tikzpicture}"


# PNG, by programs that stand in for those that a machine may have or not.


def without_renderers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png.shutil, "which", lambda name: None)
    monkeypatch.setattr(png, "find_spec", lambda name: None)


def test_png_without_a_renderer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_renderers(monkeypatch)
    assert command(["picture", LOVE, "-o", str(tmp_path / "x.png")]) == 5
    assert capsys.readouterr().err.splitlines() == [
        "attncli: error: a .png file needs a program that draws SVG, and none is installed",
        (
            "help: pip install 'attncli[png]', or install rsvg-convert (Debian: apt install"
            " librsvg2-bin), or write .svg"
        ),
    ]
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(("script", "code"), [("cat", 0), ("echo no fonts >&2; exit 3", 70)])
def test_png_by_rsvg_convert(
    script: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = tmp_path / "rsvg-convert"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(png.shutil, "which", lambda name: str(program))
    assert command(["picture", LOVE, "-o", str(tmp_path / "x.png")]) == code
    if code:
        assert f"{program} could not draw the picture: no fonts" in capsys.readouterr().err
        assert not (tmp_path / "x.png").exists()
    else:
        # `cat` gives what it got
        assert read((tmp_path / "x.png").read_text(encoding="utf-8")).attrib["role"] == "img"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(
    ("said", "boxes"),
    [
        ("20-7e a0-17f 2190-22ff\\n65e5", "本 and 語"),
        ("20-7e a0-17f 2190-22ff 672c 65e5 8a9e", ""),
        ("20-7e a0-17f 2190-22ff", "日, 本 and 語"),
        # Fontconfig without fonts, and without the program.
        ("", ""),
        (None, ""),
    ],
)
def test_png_says_which_characters_have_no_font(
    said: str | None,
    boxes: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    scripts = {"rsvg-convert": "cat", "fc-list": f"printf '{said}'"}
    for name, script in scripts.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "p.yaml").write_text(
        "tokens: [日本, 語é, x]\nQ: [[0], [0], [0]]\nK: [[0], [0], [0]]\nV: [[1], [1], [1]]\n",
        encoding="utf-8",
    )
    there = {
        name: str(tmp_path / name) for name in scripts if said is not None or name != "fc-list"
    }
    monkeypatch.setattr(png.shutil, "which", there.get)
    assert command(["picture", str(tmp_path / "p.yaml"), "-o", str(tmp_path / "x.png")]) == 0
    warned = (
        f"attncli: warning: no font on this machine has {boxes}, so the picture has boxes there"
    )
    err = capsys.readouterr().err
    assert err.startswith(warned) if boxes else err == ""
    # Vectors take the fonts of whoever reads them.
    assert command(["picture", str(tmp_path / "p.yaml"), "-o", str(tmp_path / "x.svg")]) == 0
    assert capsys.readouterr().err == ""


def test_png_by_resvg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_renderers(monkeypatch)
    called = {}

    def svg_to_bytes(**options: object) -> bytes:
        called.update(options)
        return b"a picture"

    monkeypatch.setattr(png, "find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "resvg_py", SimpleNamespace(svg_to_bytes=svg_to_bytes))
    assert command(["picture", LOVE, "-o", str(tmp_path / "x.png")]) == 0
    assert (tmp_path / "x.png").read_bytes() == b"a picture"
    assert "'DejaVu Sans'" in read(called["svg_string"]).attrib["font-family"]


def test_png_by_what_is_installed(tmp_path: Path) -> None:
    if not shutil.which("rsvg-convert") and not png.find_spec("resvg_py"):
        pytest.skip("needs rsvg-convert or resvg-py")
    assert command(["picture", LOVE, "-o", str(tmp_path / "x.png")]) == 0
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_png_is_not_for_terminals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("attncli.cli.terminal.terminal_width", lambda stream: 80)
    assert command(["picture", LOVE, "--format", "png"]) == 2
    assert "a terminal cannot show a .png file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--of", "wieghts"], "--of cannot be 'wieghts'\nhelp: did you mean weights?"),
        (["--of", "d_scoers"], "--of cannot be 'd_scoers'\nhelp: did you mean d_scores?"),
        (["--of", "capped"], "this problem has no step capped\nhelp: its steps are X, W_Q, "),
        (
            ["-o", "x.pdf"],
            (
                "-o x.pdf: this command does not write .pdf files\nhelp: end the name in .svg,"
                " .png, .md or .tex, "
            ),
        ),
        (
            ["--query", "AI"],
            "--query cannot be used with --of weights\nhelp: use --of flow, output or softmax, ",
        ),
        (["--of", "flow", "--query", "A"], "--query 'A': no query is called 'A'\nhelp: "),
        (
            ["--fragment"],
            "--fragment cannot be used with --format svg\nhelp: --fragment is for --format latex",
        ),
        (
            ["--of", "flow", "--shades", "0..1"],
            "--shades cannot be used with --of flow\nhelp: use --of weights, scores or another ",
        ),
        (
            ["--shades", "1..0"],
            "--shades cannot be '1..0'\nhelp: give two numbers, the smaller one first: --shades 0",
        ),
        (["--shades", "0"], "--shades cannot be '0'\nhelp: give two numbers, "),
        (["--shades", "0..x"], "--shades cannot be '0..x'\nhelp: give two numbers, "),
        (["--head", "0"], "--head needs a problem with a head axis\nhelp: leave out --head"),
    ],
)
def test_what_is_wrong_with_options(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["picture", LOVE, *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"attncli: error: {message}")


def test_a_step_may_be_called_by_its_letter(capsys: pytest.CaptureFixture[str]) -> None:
    outs = []
    for of in ("scores", "S", "d_scores", "dS"):
        assert command(["picture", LOVE, "--of", of]) == 0
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1]
    assert outs[2] == outs[3]
    assert (
        read(outs[2]).findtext("{http://www.w3.org/2000/svg}title")
        == "I love AI: gradient of the scores"
    )


def test_options_of_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["picture", LOVE, "--mask", "causal", "--scale", "none", "--of", "scores"]) == 0
    assert "hidden by the mask" in capsys.readouterr().out
    assert command(["picture", HEADS, "--head", "1"]) == 0
    assert ">Head 0<" not in capsys.readouterr().out


def test_warnings_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    masked = str(ROOT / "inputs" / "fully_masked.yaml")
    for quiet in ([], ["-q"]):
        assert command(["picture", masked, *quiet, "-o", str(tmp_path / "x.svg")]) == 0
        assert bool(capsys.readouterr().err) is not bool(quiet)


@pytest.mark.parametrize("of", KINDS)
def test_a_picture_for_a_caption_has_no_title(of: str, tmp_path: Path) -> None:
    """It is lower by its title, and all else is there; who does not see it is still told."""
    found = []
    for options in ([], ["--no-title"]):
        file = str(tmp_path / f"{len(options)}.svg")
        assert command(["picture", str(LOVE), "--of", of, "-o", file, *options]) == 0
        found.append(Path(file).read_text(encoding="utf-8"))
    titled, untitled = found
    words, left = ([*re.findall(r">([^<>]+)</text>", each)] for each in found)
    of_title = Counter(words) - Counter(left)
    assert "I love AI" in of_title
    # The name of the problem, and what is drawn of it.
    assert of_title.total() == 2
    assert not Counter(left) - Counter(words)
    heights = [int(each) for svg in found for each in re.findall(r'<svg[^>]* height="(\d+)"', svg)]
    assert heights[1] < heights[0]
    assert untitled.count("<title>I love AI: ") == titled.count("<title>I love AI: ") == 1
