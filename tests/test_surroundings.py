"""Whatever terminal, locale and width there is: every command answers, whole and without a
character too many.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from attncli.cli.main import run

ROOT = Path(__file__).parents[1]
# of the exponentials: a score of 5 for keys of length 3
LARGEST = f"{math.exp(5 / math.sqrt(3)):.3f}"
LABELS = 'tokens: ["日本", "é", "😀"]\n'
ESCAPE = re.compile("\x1b\\[[0-9;]*m")


def cells(line: str) -> int:
    """How many cells of a terminal a line takes, by Unicode's own table."""
    marks = {"W": 2, "F": 2}
    return sum(
        marks.get(unicodedata.east_asian_width(each), not unicodedata.combining(each))
        for each in line
    )


@pytest.fixture
def problem(tmp_path: Path) -> str:
    """Labels that few encodings have, two cells wide and more."""
    love = (ROOT / "inputs" / "i_love_ai.yaml").read_text(encoding="utf-8")
    path = tmp_path / "p.yaml"
    path.write_text(re.sub(r"(?m)^tokens:.*\n", LABELS, love), encoding="utf-8")
    return str(path)


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("variables", "encoding"),
    [
        ({"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, "ascii"),
        ({"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, "ascii"),
        ({"PYTHONIOENCODING": "latin-1"}, "latin-1"),
        ({"PYTHONIOENCODING": "cp437"}, "cp437"),
        ({"LC_ALL": "C.UTF-8"}, "utf-8"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_locale(variables: dict[str, str], encoding: str, problem: str) -> None:
    bare = {
        name: value
        for name, value in os.environ.items()
        if name not in ("LANG", "LC_ALL", "PYTHONIOENCODING")
    }
    done = subprocess.run(
        [sys.executable, "-m", "attncli", "compute", problem],
        capture_output=True,
        env=bare | variables,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    page = done.stdout.decode(encoding)
    assert ("日本" in page) == (encoding == "utf-8")
    assert encoding == "utf-8" or "\\u65e5\\u672c" in page or "U+65E5" in page
    for number in ("0.577", "2.887", LARGEST):  # 1/√3, 5/√3
        assert number in page


COMMANDS = [
    "compute inputs/twelve_tokens.yaml",
    "compute inputs/rope.yaml --detail cells",
    "compute inputs/bahdanau.yaml --heatmap",
    "compute inputs/batch.yaml",
    "compute inputs/i_love_ai.yaml --dtype float16",
    "compute inputs/i_love_ai.yaml --cell scores[0,1]",
    "gradient inputs/next_token.yaml --verify",
    "gradient inputs/multi_head.yaml --step-size 0.1",
    "check inputs/printed_example.yaml inputs/answers/printed_example.yaml",
    "compare inputs/rope.yaml inputs/rope_interleaved.yaml",
    "compare inputs/i_love_ai.yaml --set mask=causal --detail cells",
    "compare inputs/i_love_ai.yaml --dtypes",
    "cost inputs/llama_layer.yaml",
    "scaling inputs/i_love_ai.yaml --draws 3",
    "steps",
    "steps Q_rot",
    "worksheet inputs/multi_head.yaml",
]


@pytest.mark.sampled(1)
@pytest.mark.at_most(44)
@pytest.mark.each_choice
@pytest.mark.parametrize("width", [20, 40, 80, 400])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_fits_every_width(
    command: str, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("attncli.cli.terminal.terminal_width", lambda stream: width)
    assert run(command.split()) in (0, 1)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if cells(line) > width] == []
    assert "…" not in "".join(lines)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_page_in_words(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert run([*command.split(), "--ascii"]) in (0, 1)
    page = capsys.readouterr().out
    assert page.isascii()
    assert re.findall(r"---+|==+|[\[|] +\S.*[\]|]$", page, re.MULTILINE) == []


@pytest.mark.long
def test_only_one_number_or_one_name_is_wider_than_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("attncli.cli.terminal.terminal_width", lambda stream: 20)
    assert run(["compute", "inputs/exact_fractions.yaml", "--rounding", "exact"]) == 0
    assert run(["steps", "--mistakes"]) == 0
    over = {line.strip() for line in capsys.readouterr().out.splitlines() if cells(line) > 20}
    assert over  # it can fail
    one = r"[^ ] [⎡⎣] *[^ ]+( \+ [^ ]+)? [⎤⎦]|e\^[^ ]*"
    # A long name with the signs that stand at it.
    name = r"([-=/] )?\(?[a-z_]{12,}(\[r\])?(\^2|\)+)?(/\(2)?·?"
    wider = [line for line in over if not re.fullmatch(one, line)]
    assert [line for line in wider if not re.fullmatch(name, line)] == []


@pytest.mark.parametrize("width", [20, 33, 40, 79, 80, 120, 400])
def test_every_width(
    width: int, problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("attncli.cli.terminal.terminal_width", lambda stream: width)
    assert run(["compute", problem]) == 0
    page = capsys.readouterr().out
    assert page.count(LARGEST) >= 1
    assert "…" not in page
    assert max(cells(line) for line in page.splitlines()) <= width


@pytest.mark.parametrize(
    ("variables", "option", "colored"),
    [
        ({}, "always", True),
        ({"NO_COLOR": "1"}, "auto", False),
        ({"TERM": "dumb"}, "auto", False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, "auto", False),
        ({"FORCE_COLOR": "1"}, "auto", True),
        ({"NO_COLOR": "1"}, "always", True),
        ({}, "auto", False),
    ],
)
def test_colors(
    variables: dict[str, str],
    option: str,
    colored: bool,
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert run(["compute", problem, "--heatmap", "--color", option]) == 0
    page = capsys.readouterr().out
    assert ("\x1b[" in page) == colored
    assert "\x1b" not in ESCAPE.sub("", page)
    assert LARGEST in page


@pytest.mark.long
@pytest.mark.parametrize(("term", "colored"), [("dumb", False), ("xterm-256color", True)])
def test_a_terminal(term: str, colored: bool) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    bare = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")
    }
    command = [
        sys.executable,
        "-m",
        "attncli",
        "compute",
        "inputs/i_love_ai.yaml",
        "--cell",
        "scores[0,1]",
        "--heatmap",
    ]
    with subprocess.Popen(
        command, stdout=theirs, cwd=ROOT, env=bare | {"TERM": term, "COLUMNS": "60"}
    ) as process:
        os.close(theirs)
        page = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                # as Linux says that the other side is closed
                break
            if not piece:
                break
            page += piece
    os.close(ours)
    assert process.returncode == 0
    assert (b"\x1b[" in page) == colored


OVERFLOWS = {
    # what overflows in float64, at which step and cell
    "Q: [[1, 0], [1e200, 0]]\nK: [[1, 0], [1e200, 0]]\nV: [[1], [2]]\n": "scores[t2,t2]",
    "Q: [[1e-200]]\nK: [[1e-200]]\nV: [[1e308]]\nW_O: [[1e308]]\n": "output[t1,d1]",
}


@pytest.mark.parametrize("text", OVERFLOWS)
def test_what_is_made_inside_and_is_no_number_is_told_with_step_and_cell(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.yaml").write_text(text)
    assert run(["compute", str(tmp_path / "p.yaml"), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert f"(the first at {OVERFLOWS[text]})" in err
    assert err.startswith("attncli: warning: ")
    assert not re.search(r"[^\"]\b(NaN|Infinity)\b(?!\")", out)
