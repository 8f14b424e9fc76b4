"""What is too large is refused, with what to do; and a limit of the process is never a crash."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from attncli.cli.main import run

ROOT = Path(__file__).parents[1]
PROBLEM = (
    "Q: {{random: [{0}, 8]}}\nK: {{random: [{0}, 8]}}\nV: {{random: [{0}, 8]}}\nmask: causal\n"
)
BRIEF = ["--steps", "output", "--detail", "brief"]


def test_scores_that_are_too_large_are_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.yaml").write_text(PROBLEM.format(8000))
    assert run(["compute", str(tmp_path / "p.yaml")]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "the matrix of scores would be 8000×8000, which is 64,000,000 numbers" in err
    less = "attncli compute --steps output --detail brief does without it"
    assert f"\nhelp: an array has at most 50,000,000 numbers; {less}\n" in err


@pytest.mark.parametrize(
    "line",
    [
        "compute p.yaml",
        "compute p.yaml --steps weights --detail brief",
        "compute p.yaml --steps output --detail brief --rounding paper",
        "gradient p.yaml --steps output --detail brief",
        "check p.yaml a.yaml",
        "compare p.yaml --set mask=none",
        "compare p.yaml a.json",
        "worksheet p.yaml",
        "export p.yaml --to moodle",
        "picture p.yaml",
        "scaling p.yaml",
        "generate --audit p.yaml",
    ],
)
def test_every_command_that_makes_scores_says_where_and_what_needs_less(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(PROBLEM.format(8000))
    (tmp_path / "a.yaml").write_text("output: [[1]]")
    (tmp_path / "a.json").write_text('{"output": [[1]]}')
    assert run(line.split()) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("attncli: error: p.yaml:2:1: K: the matrix of scores would be 8000×8000")
    assert "attncli compute --steps output --detail brief does without it" in err.splitlines()[-1]


@pytest.mark.long
def test_draws_that_are_too_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.yaml").write_text(PROBLEM.format(500))
    assert run(["scaling", str(tmp_path / "p.yaml"), "--d-k", "8,4096"]) == 3
    out, err = capsys.readouterr()
    first, second = err.splitlines()
    # 50 draws of 2·500 rows of 4096
    said = (
        "50 draws of queries and keys with d_k = 4,096 would need 204,800,000 numbers; the limit is"
        " 200,000,000"
    )
    assert (out, first) == ("", f"attncli: error: {said}")
    assert "give a smaller --d-k, or fewer --draws" in second


def test_formats_are_not_compared_where_there_is_no_memory_for_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("attncli.tracing.number_formats.deviation_from_float64", full)
    (tmp_path / "p.yaml").write_text(PROBLEM.format(4))
    page = tmp_path / "page.json"
    assert run(["compute", str(tmp_path / "p.yaml"), "--dtype", "float32", "-o", str(page)]) == 0
    assert (
        capsys.readouterr().err
        == "attncli: warning: the page does not compare float32 with float64: there is not enough"
        " memory for both\n"
    )
    assert page.exists()


def limited(
    mebibytes: int, *arguments: str, folder: Path = ROOT, module: bool = True
) -> subprocess.CompletedProcess[str]:
    """What a command answers in so little address space; the shell sets it, since a fork of the
    tests would warn.

    The arguments are those of attncli, or without `module` those of Python.
    """
    shell = ["sh", "-c", f'ulimit -v {mebibytes * 1024}; exec "$@"', "sh"]
    attncli = ["-m", "attncli"] if module else []
    command = [*shell, sys.executable, *attncli, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mebibytes", [60, 90, 120, 180, 250, 400])
@pytest.mark.parametrize("options", [["--cell", "weights[0,0]"], BRIEF], ids=["all", "brief"])
def test_a_limit_of_the_process(mebibytes: int, options: list[str], tmp_path: Path) -> None:
    """Whatever the limit, NumPy's library ends nothing by itself, and nothing is killed."""
    (tmp_path / "p.yaml").write_text(PROBLEM.format(1500))

    done = limited(
        mebibytes, "compute", str(tmp_path / "p.yaml"), *options, "-o", str(tmp_path / "a")
    )
    if done.returncode == 0:
        assert done.stderr == ""
        assert mebibytes >= 180
    else:
        assert done.returncode in (3, 5)  # 5: a package could not be imported
        assert done.stderr.startswith("attncli: error: ")
        assert done.stderr.count("\n") == 2
        assert mebibytes < 400


IN_PYTHON = """
import attncli, numpy as np
trace = attncli.trace("p.yaml", steps="output")
np.save("python.npy", trace["output"])
"""


ADDITIVE = "score: additive\nW_1: {random: [8, 16]}\nW_2: {random: [8, 16]}\nv: {random: [16]}\n"


@pytest.mark.long
@pytest.mark.parametrize(
    ("tokens", "score"),
    [(8000, ""), pytest.param(2000, ADDITIVE, marks=pytest.mark.slow)],
    ids=["dot", "additive"],
)
def test_the_output_alone_in_python_needs_no_room_for_scores(
    tokens: int, score: str, tmp_path: Path
) -> None:
    """Of 8,000 tokens, the scores would be 488 MiB: more than there is, and than attncli would
    hold. So would be what v is multiplied by, of 2,000 tokens with an additive score of 16
    features.
    """
    (tmp_path / "p.yaml").write_text(PROBLEM.format(tokens) + score)

    done = limited(450, "-c", IN_PYTHON, folder=tmp_path, module=False)

    assert (done.returncode, done.stderr) == (0, "")
    line = [
        "compute",
        str(tmp_path / "p.yaml"),
        "--steps",
        "output",
        "-o",
        str(tmp_path / "line.npy"),
    ]
    assert run(line) == 0
    assert (tmp_path / "python.npy").read_bytes() == (tmp_path / "line.npy").read_bytes()


def test_help_needs_no_numpy() -> None:
    assert limited(60, "--help").returncode == 0
