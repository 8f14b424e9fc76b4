"""The pictures of the docs are those that the commands beside them draw; `--update` draws them anew."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from attncli.cli.main import run as command

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "pictures.md").read_text(encoding="utf-8")
COMMANDS = {name: line for line, name in re.findall(r"^\$ attncli (picture .*) -o (\w+\.svg)$", PAGE, re.MULTILINE)}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_picture_is_as_its_command_draws_it(
    name: str, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert command(shlex.split(COMMANDS[name])) == 0
    written, kept = capsys.readouterr().out, ROOT / "docs" / "pictures" / name
    if pytestconfig.getoption("--update"):
        kept.write_text(written, encoding="utf-8")
    assert kept.read_text(encoding="utf-8") == written


def test_every_picture_is_shown() -> None:
    assert {*re.findall(r"\]\(\.\./pictures/(.*)\)", PAGE)} == {*COMMANDS}
