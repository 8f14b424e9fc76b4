"""What a package index and an installer see: the metadata, and the README without what leads
nowhere there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_readme_of_the_package_has_no_picture_and_no_link_to_a_file() -> None:
    hook = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    assert hook["fragments"] == [{"path": "README.md"}]
    readme = text = (ROOT / "README.md").read_text(encoding="utf-8")
    for each in hook["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    links = re.findall(r"(?<!!)\[([^\]]+)\]\([^)]*\.md[^)]*\)", readme)
    assert links
    assert [words for words in links if f"[{words}](" in text or words not in text] == []
    prose = re.sub(r"(?ms)^```.*?^```$|`[^`\n]+`", "", text)
    assert re.findall(r"\]\((?!https?:)", prose) == []


def test_the_metadata_names_authors_and_systems_and_no_address() -> None:
    project = PROJECT["project"]
    assert project["authors"] == [{"name": "attncli contributors"}]
    assert "urls" not in project
    systems = [
        line.split(" :: ")[1]
        for line in project["classifiers"]
        if line.startswith("Operating System")
    ]
    assert systems == ["MacOS", "Microsoft", "POSIX"]


MAN = ROOT / "docs" / "man" / "attncli.1"


def test_the_wheel_has_the_man_page() -> None:
    shared = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert shared == {str(MAN.relative_to(ROOT)): "share/man/man1/attncli.1"}


@pytest.mark.skipif(
    shutil.which("man") is None or shutil.which("groff") is None, reason="needs man and groff"
)
@pytest.mark.parametrize("columns", ["40", "80"])
def test_man_shows_it_without_a_warning(columns: str) -> None:
    environment = {**os.environ, "MANWIDTH": columns, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["man", "--warnings", "-l", str(MAN)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    text = re.sub(r"\s+", " ", done.stdout)
    assert "attncli compute [OPTIONS] FILE Work out a problem, step by step." in text
    assert "'scores[0,1]'" in text
    assert "130 stopped with Ctrl-C" in text
    assert max(map(len, done.stdout.splitlines())) <= int(columns)


def test_the_pythons_that_are_named_are_those_that_are_tried() -> None:
    kinds = PROJECT["project"]["classifiers"]
    named = [
        kind.rpartition(" ")[2]
        for kind in kinds
        if kind.startswith("Programming Language :: Python :: 3.")
    ]
    matrix = (ROOT / ".ci" / "matrix").read_text(encoding="utf-8")
    lowest = re.search(r"^with_lowest=(.*)$", matrix, re.MULTILINE)
    newest = re.search(r"^newest=(.*)$", matrix, re.MULTILINE)
    assert lowest
    assert newest
    assert PROJECT["project"]["requires-python"] == f">={lowest[1]}"
    assert (named[0], named[-1]) == (lowest[1], newest[1])
    reliability = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert f"on Python {' and '.join(named)} (`.ci/matrix`, `.ci/run`)" in " ".join(
        reliability.split()
    )
    assert f"prepare {newest[1]} " in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
