"""What does not fit into memory is told before it is taken, with what to do; and a limit is never a crash."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from attncli import memory
from attncli.cli.main import run
from attncli.errors import AttncliError

ROOT = Path(__file__).parents[1]
PROBLEM = "Q: {{random: [{0}, 8]}}\nK: {{random: [{0}, 8]}}\nV: {{random: [{0}, 8]}}\nmask: causal\n"
BRIEF = ["--steps", "output", "--detail", "brief"]


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six matrices of 400 × 400, 1.28 MB each in float64, as if these were large."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(memory, "SMALL", 2**21)
    (tmp_path / "p.yaml").write_text(PROBLEM.format(400))
    return tmp_path


@pytest.mark.parametrize(
    ("left", "options", "message"),
    [
        # three matrices at once from the first step on: 3 × 400² × 8 bytes are 3.66 MiB; then 4, 5, …
        (3, [], "scores would take 3.7 MiB, and 3.0 MiB of memory are left"),
        (4, [], "scaled, with the matrix before it, would take 4.9 MiB, and 4.0 MiB of memory are left"),
        (6, [], "mask, with the 2 matrices before it, would take 6.1 MiB, and 6.0 MiB of memory are left"),
        (9, [], "weights, with the 5 matrices before it, would take 9.8 MiB, and 9.0 MiB of memory are left"),
        (4, ["--dtype", "float32"],
         "exp, with the 4 matrices before it, would take 4.3 MiB, and 4.0 MiB of memory are left"),
    ],
)  # fmt: skip
def test_the_first_step_that_would_not_fit(
    left: int, options: list[str], message: str, large: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(memory, "available", lambda: left * 2**20)
    assert run(["compute", "p.yaml", "--format", "json", *options]) == 3
    out, err = capsys.readouterr()
    first, second = err.splitlines()
    assert (out, first) == ("", f"attncli: error: {message}")
    assert "--steps output --detail brief" in second
    assert ("--dtype float32" in second) == (not options)


@pytest.mark.parametrize(
    ("command", "message", "help"),
    [
        # 4·12·8 numbers of Q, K, Kᵀ and V, 6·12·12, 12 sums and 12·8: 1,356, 100 bytes each
        (["worksheet"], "a page of 1,356 numbers would take 0.1 MiB", "take a problem of fewer tokens"),
        # 50 draws, and 5 times as much to work one out, of 2·12 rows of 512 numbers of 8 bytes: 5.16 MiB
        (
            ["scaling"],
            "50 draws of queries and keys of 512 numbers would take 5.2 MiB",
            "give a smaller --d-k, or fewer --draws",
        ),
        # 1 + 5 of 2·12 rows of 4096
        (
            ["scaling", "--draws", "1", "--d-k", "8,4096"],
            "1 draw of queries and keys of 4,096 numbers would take 4.5 MiB",
            "--d-k",
        ),
    ],
)
def test_a_page_or_a_draw_too_large(
    command: list[str], message: str, help: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(memory, "SMALL", 2**16)
    monkeypatch.setattr(memory, "available", lambda: 2**16)
    (tmp_path / "p.yaml").write_text(PROBLEM.format(12))
    assert run([command[0], str(tmp_path / "p.yaml"), *command[1:]]) == 3
    out, err = capsys.readouterr()
    first, second = err.splitlines()
    assert (out, first) == ("", f"attncli: error: {message}, and 0.1 MiB of memory are left")
    assert help in second


@pytest.mark.parametrize(
    "command",
    [["compare", "p.yaml", "--set", "mask=none"], ["worksheet", "p.yaml"], ["gradient", "p.yaml", "--verify"]],
)
def test_the_help_names_options_of_the_command_that_has_them(
    command: list[str], large: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 3 * 2**20)
    assert run(command) == 3
    assert capsys.readouterr().err.splitlines()[1] == (
        "help: attncli compute --steps output --detail brief holds no matrix of queries by keys, "
        "and its --dtype float32 takes half of it"
    )


def test_what_the_help_says_helps(
    large: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 6 * 2**20)
    assert run(["compute", "p.yaml", "-q", *BRIEF, "-o", "page.md"]) == 0
    assert capsys.readouterr().err == ""
    assert run(["compute", "p.yaml", "--format", "json", "--dtype", "float32", "-o", "page.json"]) == 0
    assert capsys.readouterr().err == (
        "attncli: warning: where float32 parts from float64 is not told: there is no memory left to work out both\n"
    )


def test_a_page_too_large_to_be_laid_out(
    large: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 90 * 2**20)
    assert run(["compute", "p.yaml", "-o", "page.md"]) == 3
    # six matrices of queries by keys; Q, K, V, K_T and the output; the sum of each row
    assert 6 * 400 * 400 + 5 * 400 * 8 + 400 == 976_400
    assert capsys.readouterr().err.startswith(
        "attncli: error: a page of 976,400 numbers would take 93.1 MiB, and 90.0 "
    )
    assert not (large / "page.md").exists()


def test_small_things_are_not_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 0)
    memory.insist(memory.SMALL - 1, "a matrix", "")
    with pytest.raises(AttncliError, match=r"^a matrix would take 64\.0 MiB, and 0\.0 MiB of memory are left$"):
        memory.insist(memory.SMALL, "a matrix", "")


def test_the_least_of_all_limits_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for names in (["_limits"], ["_groups"], ["_machine"]):
        for name in ("_limits", "_groups", "_machine"):
            monkeypatch.setattr(memory, name, lambda name=name: iter([5 if name in names else 7]))  # noqa: B023
        assert memory.available() == 5
    for name in ("_limits", "_groups", "_machine"):
        monkeypatch.setattr(memory, name, lambda: iter([]))
    assert memory.available() is None
    memory.insist(2**60, "a matrix", "")  # what nobody can tell is tried


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="only Linux tells it there")
def test_the_machine_tells_what_is_left() -> None:
    left = memory.available()
    assert left is not None
    assert 2**20 < left < 2**50


def limited(mebibytes: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a command answers in so little address space; the shell sets it, since a fork of the tests would warn."""
    shell = ["sh", "-c", f'ulimit -v {mebibytes * 1024}; exec "$@"', "sh"]
    command = [*shell, sys.executable, "-m", "attncli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mebibytes", [60, 90, 120, 180, 250, 400])
@pytest.mark.parametrize("options", [["--cell", "weights[0,0]"], BRIEF], ids=["all", "brief"])
def test_a_limit_of_the_process(mebibytes: int, options: list[str], tmp_path: Path) -> None:
    """Whatever the limit, NumPy's library ends nothing by itself, and nothing is killed."""
    (tmp_path / "p.yaml").write_text(PROBLEM.format(1500))

    done = limited(mebibytes, "compute", str(tmp_path / "p.yaml"), *options, "-o", str(tmp_path / "a"))
    if done.returncode == 0:
        assert done.stderr == ""
        assert mebibytes >= 180
    else:
        assert done.returncode in (3, 5)  # 5: a package could not be imported
        assert done.stderr.startswith("attncli: error: ")
        assert done.stderr.count("\n") == 2
        assert mebibytes < 400


def test_help_needs_no_numpy() -> None:
    assert limited(60, "--help").returncode == 0
