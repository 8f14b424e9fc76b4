"""Every command does on Windows and on macOS what it does here, as far as a stand-in for them can
show.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from elsewhere import ROOT, attncli, environment

from attncli.cli.app import command_names

LINES = {
    "check": [
        "inputs/i_love_ai.yaml inputs/answers/homework.yaml --marks 10",
        "inputs/printed_example.yaml inputs/answers/printed_example.yaml --format json",
        "inputs/i_love_ai.yaml copies/0.yaml copies/1.yaml -o results.csv --feedback pages",
        "--batch class.csv --workers 2 -o results.json",
        "--batch class.csv --workers 100",
    ],
    "compare": [
        "inputs/i_love_ai.yaml --set mask=causal --detail cells",
        "inputs/rope.yaml inputs/rope_interleaved.yaml -o compared.md",
    ],
    "compute": [
        "inputs/i_love_ai.yaml",
        "inputs/i_love_ai.yaml --heatmap --detail cells --rounding exact",
        "inputs/gpt2_layer.yaml --steps weights",
        "inputs/causal.yaml",
        "inputs/bahdanau.yaml",
        "inputs/multi_head.yaml --pictures -o page.md",
        "inputs/multi_head.yaml -o page.html",
        "inputs/causal.yaml --fragment -o step-{n}.tex",
        "inputs/causal.yaml --format json",
        "inputs/causal.yaml --steps weights -o old.npy",
        "- --steps weights",
        "inputs/missing.yaml",
        "inputs/i_love_ai.yaml -o missing/page.md",
        "inputs",
        "inputs/i_love_ai.yaml --mask cuasal",
    ],
    "cost": ["inputs/llama_layer.yaml", "inputs/i_love_ai.yaml -o cost.json"],
    "example": ["", "i_love_ai", "gpt2_layer -o mine.yaml"],
    "export": [
        "inputs/i_love_ai.yaml -o quiz.xml",
        "inputs/i_love_ai.yaml inputs/causal.yaml -o p-{n}.Rmd",
    ],
    "generate": ["--seed s --roster names.txt -d set", "--audit inputs/i_love_ai.yaml"],
    "gradient": [
        "inputs/next_token.yaml --verify",
        "inputs/multi_head.yaml --step-size 0.1 -o gradient.md",
    ],
    "mask": [
        "inputs/functions/masks.py:sliding_window -n 4 -m 6",
        "inputs/functions/masks.py:capped -n 3 -o mask.yaml",
    ],
    "new": ["", "--random --seed 3 -o mine.yaml", "--equations -o own.yaml"],
    "picture": [
        "inputs/i_love_ai.yaml --of weights -o weights.svg",
        "inputs/i_love_ai.yaml --of flow",
    ],
    "record": ["missing --text word"],
    "scaling": ["inputs/i_love_ai.yaml --draws 3"],
    "schema": ["problem", "trace -o trace.json"],
    "steps": ["--all", "weights", "--mistakes"],
    "test": [
        "inputs/functions/corrected.py:attention",
        "inputs/functions/homework.py:attention -o failing.yaml",
        "inputs/functions/backward.py:attention_backward --gradient",
        "--export cases",
        "--outputs inputs",
    ],
    "worksheet": [
        "inputs/i_love_ai.yaml -o sheet.tex --answers answers.yaml --key key.md",
        "inputs/i_love_ai.yaml",
    ],
    "": [
        "",
        "--help",
        "--version",
        "nonsense",
        "inputs/i_love_ai.yaml",
        "compute --help",
        "compute --nonsense",
    ],
}
ALL = [f"{command} {line}".strip() for command, lines in LINES.items() for line in lines]
# What systems do in different ways: files are written, processes are begun, streams are read.
DIFFERS = re.compile(r"(^| )(-o|-d|--workers|-)( |$)")
FIRST = [f"{command} {lines[0]}".strip() for command, lines in LINES.items()]
# The first line of each command, and each that systems may end in another way.
TELLING = [line for line in ALL if line in FIRST or DIFFERS.search(line)]
OTHERS = [line for line in ALL if line not in TELLING]


def most_telling(command: str) -> str:
    """A line of a command that writes, begins processes or reads a stream; else its first one."""
    lines = [f"{command} {line}".strip() for line in LINES[command]]
    return next(filter(DIFFERS.search, lines), lines[0])


IN_THE_FAST_TIER = [most_telling(command) for command in LINES]


def on_windows() -> Iterator[Any]:
    """The telling lines with either encoding, and the others with that which can spell all that
    Linux says; in the fast tier at most one line of each command, with one encoding.
    """
    encodings = ("cp65001", "cp1252")
    for line, first in zip(TELLING, cycle(encodings)):
        for encoding in encodings:
            is_fast = line in IN_THE_FAST_TIER and encoding == first
            yield pytest.param(line, encoding, marks=() if is_fast else pytest.mark.slow)
    for line in OTHERS:
        yield pytest.param(line, encodings[0], marks=pytest.mark.slow)


CLASS = "student,problem,answers\n" + "".join(
    f"student {number},inputs/i_love_ai.yaml,copies/{number}.yaml\n" for number in range(9)
)
ESCAPED = re.compile(r"\\x[0-9a-f]{2}|\\u[0-9a-f]{4}")
NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Ended(NamedTuple):
    """What a command did: its exit code, what it wrote to its streams, and the files that are new
    or changed.
    """

    code: int
    out: str
    err: str
    files: dict[str, bytes]


def with_problems(folder: Path) -> Path:
    """The folder, in which the examples are, a class that sits an exam, and a file that is written
    over.
    """
    shutil.copytree(ROOT / "inputs", folder / "inputs")
    (folder / "class.csv").write_text(CLASS, encoding="utf-8")
    (folder / "copies").mkdir()
    for number in range(9):
        answers = "homework" if number % 2 else "i_love_ai"
        shutil.copy(
            ROOT / "inputs" / "answers" / f"{answers}.yaml", folder / "copies" / f"{number}.yaml"
        )
    (folder / "names.txt").write_text("Ada\nada\ncon\n李雷\n", encoding="utf-8")
    (folder / "old.npy").write_bytes(b"old")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def ended(line: str, folder: Path, platform: str, encoding: str) -> Ended:
    before = contents(with_problems(folder))
    given = (ROOT / "inputs" / "causal.yaml").read_bytes()
    done = attncli(line.split(), folder, platform=platform, encoding=encoding, input=given)
    files = {path: data for path, data in contents(folder).items() if before.get(path) != data}
    # What is for programs is UTF-8 everywhere: some of its bytes are no characters of a console.
    errors = "strict" if line in FOR_PEOPLE else "replace"
    out, err = (
        text.decode(encoding, errors).replace("\r\n", "\n") for text in (done.stdout, done.stderr)
    )
    return Ended(done.returncode, out, err, files)


def test_every_command_is_tried() -> None:
    assert set(LINES) == {*command_names(), ""}


@pytest.fixture(scope="session")
def here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ended]:
    """What each line does on this system, filled in as it is asked for."""
    return {}


def ended_here(line: str, folder: Path, here: dict[str, Ended]) -> Ended:
    if line not in here:
        here[line] = ended(line, folder / "here", "linux", "utf-8")
    return here[line]


@pytest.mark.long
@pytest.mark.sampled(8)
@pytest.mark.parametrize(("line", "encoding"), [*on_windows()])
def test_windows_does_as_linux_does(
    line: str, encoding: str, tmp_path: Path, here: dict[str, Ended]
) -> None:
    expected = ended_here(line, tmp_path, here)
    found = ended(line, tmp_path / "there", "win32", encoding)
    assert (found.code, found.files) == (expected.code, expected.files)
    assert expected.code not in (70, 120)
    if encoding == "cp65001":  # UTF-8, by the name that Windows has for it
        assert (found.out, found.err) == (expected.out, expected.err)


# Most of what is in it as in Windows is tried there.
@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("line", [*TELLING, *OTHERS[::3]])
def test_macos_does_as_linux_does(line: str, tmp_path: Path, here: dict[str, Ended]) -> None:
    expected = ended_here(line, tmp_path, here)
    assert ended(line, tmp_path / "there", "darwin", "utf-8") == expected


NAME_IN_CODES = r"\u674e\u96f7"  # 李雷, a student
FOR_PEOPLE = [
    line for line in ALL if not re.search("-o |--format|^(example|new|schema|picture)", line)
]


@pytest.mark.long
@pytest.mark.at_most(48)
@pytest.mark.sampled(3)
@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "cp65001"])
@pytest.mark.parametrize("line", FOR_PEOPLE)
def test_a_console_gets_every_number_and_no_codes(
    line: str, encoding: str, tmp_path: Path, here: dict[str, Ended]
) -> None:
    """Where an encoding lacks √, −∞, ⎡ or Σ, there is another spelling of them and not their
    code.
    """
    expected, found = (
        ended_here(line, tmp_path, here),
        ended(line, tmp_path / "there", "win32", encoding),
    )
    assert found.code == expected.code
    for text, wanted in ((found.out, expected.out), (found.err, expected.err)):
        assert ESCAPED.findall(text.replace(NAME_IN_CODES, "")) == []
        assert {*NUMBER.findall(text)} >= {*NUMBER.findall(wanted)}


@pytest.mark.long
def test_labels_that_a_console_lacks_are_shown_as_codes(tmp_path: Path) -> None:
    matrix = "[[1, 2], [3, 4]]"
    problem = f"tokens: [李雷, é]\nQ: {matrix}\nK: {matrix}\nV: {matrix}\n"
    (tmp_path / "p.yaml").write_text(problem, encoding="utf-8")
    done = attncli(["compute", "p.yaml"], tmp_path, encoding="cp1252")
    page = done.stdout.decode("cp1252")
    assert (done.returncode, done.stderr) == (0, b"")
    assert NAME_IN_CODES in page
    assert "é" in page


@pytest.mark.long
def test_a_file_that_another_program_has_open_stays(tmp_path: Path) -> None:
    """Its handle is handed over as standard input, since the stand-in sees only what its own
    process has open.
    """
    with_problems(tmp_path)
    before = contents(tmp_path)
    with (tmp_path / "old.npy").open("rb") as stream:
        done = attncli(
            ["compute", "inputs/causal.yaml", "--steps", "weights", "-o", "old.npy"],
            tmp_path,
            stdin=stream,
        )
    assert done.returncode == 4
    assert done.stderr.decode().startswith(
        "attncli: error: cannot write old.npy: the file is being used"
    )
    assert contents(tmp_path) == before


@pytest.mark.long
@pytest.mark.parametrize("platform", ["win32", "darwin", "linux"])
def test_a_typed_name_that_windows_refuses(platform: str, tmp_path: Path) -> None:
    with_problems(tmp_path)
    before = contents(tmp_path)
    done = attncli(["schema", "trace", "-o", "inputs/con.json"], tmp_path, platform=platform)
    if platform != "win32":
        assert (done.returncode, done.stderr) == (0, b"")
        assert {*contents(tmp_path)} - {*before} == {os.path.join("inputs", "con.json")}
        return
    assert done.returncode == 2
    assert done.stderr.decode().replace("\r\n", "\n") == (
        "attncli: error: cannot write inputs/con.json: Windows takes con for a device\n"
        "help: write -o inputs/_con.json\n"
    )
    assert contents(tmp_path) == before


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "line", ["--help", "schema trace", "compute inputs/i_love_ai.yaml", "steps --all"]
)
def test_a_pipe_without_a_reader_ends_quietly(line: str, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = attncli(line.split(), with_problems(tmp_path), stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_ends_the_process_leaves_the_old_file(number: int, tmp_path: Path) -> None:
    """The signal comes while the file is written: it is sent by the first look at the free names
    beside it.
    """
    with_problems(tmp_path)
    before = contents(tmp_path)
    program = f"""
import os, sys
from attncli.cli import files, main
written = files._name_beside
def interrupted(path):
    os.kill(os.getpid(), {int(number)})
    return written(path)
files._name_beside = interrupted
sys.argv = ["attncli", "compute", "inputs/causal.yaml", "-o", "old.npy", "--steps", "weights"]
main.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment("win32", "cp65001"),
        capture_output=True,
    )
    assert done.returncode == (130 if number == signal.SIGINT else -number)
    assert done.stderr == b""
    assert contents(tmp_path) == before


@pytest.mark.long
def test_ctrl_c_ends_what_is_watched(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "attncli",
        "compute",
        "inputs/causal.yaml",
        "--watch",
        "-o",
        "page.md",
    ]
    surroundings = environment("win32", "cp65001")
    with_problems(tmp_path)
    with subprocess.Popen(
        command, cwd=tmp_path, env=surroundings, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        assert b"watching inputs/causal.yaml" in process.stderr.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
