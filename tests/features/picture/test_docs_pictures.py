"""The pictures of the docs are those that the commands beside them draw; `--update` draws them
anew.
"""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest

from attncli.cli.main import run as command

ROOT = Path(__file__).parents[3]
TERMINAL = "terminal.svg"
PAGES = [
    page.read_text(encoding="utf-8")
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
]
SHOWN = {
    name for page in PAGES for name in re.findall(r"!\[.*?\]\([\w./]*pictures/(.*?\.svg)\)", page)
} - {TERMINAL}
_DRAWN = {
    (name, line)
    for page in PAGES
    for line, name in re.findall(r"^\$ attncli (picture .*) -o (\w+\.svg)$", page, re.M)
}
COMMANDS = dict(sorted((name, line) for name, line in _DRAWN if name in SHOWN))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_picture_is_as_its_command_draws_it(
    name: str,
    pytestconfig: pytest.Config,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    assert command(shlex.split(COMMANDS[name])) == 0
    written, kept = capsys.readouterr().out, ROOT / "docs" / "pictures" / name
    if pytestconfig.getoption("--update"):
        kept.write_text(written, encoding="utf-8")
    assert kept.read_text(encoding="utf-8") == written


def test_every_picture_is_shown_and_drawn_by_one_command() -> None:
    assert (
        {*COMMANDS}
        == SHOWN
        == {path.name for path in (ROOT / "docs" / "pictures").glob("*.svg")} - {TERMINAL}
    )
    assert len([name for name, _ in _DRAWN if name in SHOWN]) == len(COMMANDS)


def test_the_terminal_of_the_readme_shows_what_the_program_prints(
    pytestconfig: pytest.Config,
) -> None:
    """Line by line; how Rich draws a terminal may differ from version to version."""
    folder = ROOT / "docs" / "pictures"
    drawn = runpy.run_path(str(folder / "make.py"))["picture"]()
    if pytestconfig.getoption("--update"):
        (folder / "terminal.svg").write_text(drawn, encoding="utf-8")
    kept = (folder / "terminal.svg").read_text(encoding="utf-8")
    shown = terminal_lines(kept)
    assert shown == terminal_lines(drawn)
    assert "I love AI" in shown[1]
    assert "AI, d3 1·1 + 1·0 + 0·0 + 0·1 = 1" in shown


def terminal_lines(svg: str) -> list[str]:
    """The lines of a terminal drawn by Rich, which places each run of a line by itself."""
    lines: dict[float, list[tuple[float, str]]] = {}
    for element in xml.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        if "clip-path" in element.attrib:  # the title of the window has none
            run = float(element.attrib["x"]), (element.text or "").replace("\xa0", " ").strip()
            lines.setdefault(float(element.attrib["y"]), []).append(run)
    written = (
        " ".join(" ".join(text for _, text in sorted(runs)).split())
        for _, runs in sorted(lines.items())
    )
    return [line for line in written if line]
