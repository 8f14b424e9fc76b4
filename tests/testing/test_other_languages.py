"""The programs of `docs/how-to/test-a-kernel.md` in other languages are what the page says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from attncli.cli.main import run
from tests.test_docs import agrees

pytestmark = pytest.mark.slow
PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "test-a-kernel.md").read_text("utf-8")
LINE_WITH_THE_MISTAKE = re.compile(r"int first = .*;")


def program(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def page_after(language: str) -> list[str]:
    """What the docs say that attncli prints about the program."""
    behind = PAGE.split(f"```{language}\n")[1]
    (found, *_) = re.findall(r"^```text\n(.*?)^```$", behind, re.MULTILINE | re.DOTALL)
    return str(found).splitlines()


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    to = tmp_path / "cases"
    assert run(["test", "--export", str(to)]) == 0
    return to


def compiled(text: str, folder: Path) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (folder / "attention.c").write_text(text, "utf-8")
    made = folder / "attention"
    strict = ["-std=c99", "-pedantic", "-Wall", "-Werror", "-O2"]
    command = [compiler, *strict, "-o", str(made), str(folder / "attention.c"), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return made


def test_the_kernel_in_c_has_the_mistake_that_the_page_names(
    cases: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = compiled(program("c"), cases.parent)
    subprocess.run([made], cwd=cases, check=True, timeout=60)
    monkeypatch.chdir(cases.parent)
    assert run(["test", "--outputs", "cases"]) == 1
    assert agrees(page_after("c"), capsys.readouterr().out.splitlines())


def test_the_line_that_the_page_calls_right_is_right(cases: Path) -> None:
    wrong, right = LINE_WITH_THE_MISTAKE.findall(PAGE)
    made = compiled(program("c").replace(wrong, right), cases.parent)
    subprocess.run([made], cwd=cases, check=True, timeout=60)
    assert run(["test", "--outputs", str(cases)]) == 0


@pytest.fixture
def node() -> str:
    """Where Node.js is; skips where it is not installed."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("there is no Node")
    return found


def test_the_program_in_javascript(
    node: str, cases: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (cases.parent / "attention.mjs").write_text(program("js"), "utf-8")
    subprocess.run([node, "attention.mjs", "cases"], cwd=cases.parent, check=True, timeout=60)
    monkeypatch.chdir(cases.parent)
    assert run(["test", "--outputs", "cases"]) == 0
    assert agrees(page_after("js"), capsys.readouterr().out.splitlines())


def test_the_gradients_in_javascript(
    node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["test", "--export", "back", "--gradient"]) == 0
    forward, _ = program("js").split("const { cases }")
    Path("backward.mjs").write_text(forward + program("javascript"), "utf-8")
    subprocess.run([node, "backward.mjs", "back"], check=True, timeout=60)
    assert run(["test", "--outputs", "back", "--gradient"]) == 0
    assert agrees(page_after("javascript"), capsys.readouterr().out.splitlines())


def test_the_words_of_the_page_are_those_of_the_file(cases: Path) -> None:
    back = cases.parent / "back"
    assert run(["test", "--export", str(back), "--gradient"]) == 0
    words = (cases / "cases.txt").read_text("ascii")
    (example,) = re.findall(r"^```text\n(case .*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert example in words
    section = PAGE.split("## The files\n")[1].split("## Outputs\n")[0]
    table = section.split("| word |")[1].split("\n\n")[0]
    described = set(re.findall(r"^\| `(\w+)(?:\.…)?`", table, re.MULTILINE)) - {"tokens_first"}
    sizes = {"case", "end", "entries", "heads", "kv_heads", "queries", "keys", "d_k", "d_v"}
    with_gradients = (back / "cases.txt").read_text("ascii")
    assert first_words(with_gradients) - sizes == described
    assert first_words(words) - sizes == described - {"dO"}


def first_words(text: str) -> set[str]:
    """What the lines begin with; rope_parameters for all of its keys."""
    return {line.split()[0].partition(".")[0] for line in text.splitlines()}
