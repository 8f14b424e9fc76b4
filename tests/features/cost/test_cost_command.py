"""`attncli cost` takes a problem or no file at all, and answers bad sizes as all bad input is
answered.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attncli.cli.main import run

INPUTS = Path(__file__).parents[3] / "inputs"


def answered(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["cost", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(answered([str(INPUTS / "i_love_ai.yaml"), "--format", "json"], capsys))
    assert data["title"] == "I love AI"
    assert data["operations"] == 313


def test_one_mebibyte(capsys: pytest.CaptureFixture[str]) -> None:
    out = " ".join(
        answered(
            ["--n", "512", "--layers", "12", "--heads", "12", "--dtype", "float32"], capsys
        ).split()
    )
    assert (
        "With n = 512, one attention matrix in float32 takes 1 MiB. 12 layers × 12 heads take 144"
        " MiB." in out
    )


def test_d_is_short_for_d_model(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(
        answered(["--n", "9", "--d", "24", "--heads", "4", "--format", "json"], capsys)
    )
    assert data["sizes"] == {
        "heads": 4,
        "n": 9,
        "m": 9,
        "d_model": 24,
        "d_k": 6,
        "d_v": 6,
        "layers": 1,
    }


def test_options_replace_sizes_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {
        "batch": 8,
        "heads": 4,
        "kv_heads": 2,
        "n": 7,
        "m": 9,
        "d_model": 5,
        "d_k": 2,
        "d_v": 3,
        "layers": 6,
    }
    options = [
        part for name, size in sizes.items() for part in (f"--{name.replace('_', '-')}", str(size))
    ]
    data = json.loads(answered([str(INPUTS / "causal.yaml"), *options, "--format", "json"], capsys))
    assert data["sizes"] == sizes


@pytest.mark.sampled(30)
@pytest.mark.parametrize("file", sorted(INPUTS.glob("*.[jy]*")), ids=lambda path: path.name)
@pytest.mark.parametrize("format", ["table", "markdown", "latex", "html", "json"])
def test_every_input_in_every_format(
    file: Path, format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "weights" in answered([str(file), "--format", format, "--n", "6", "--m", "8"], capsys)


def test_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answered(["-o", str(tmp_path / "cost.md")], capsys) == ""
    assert (tmp_path / "cost.md").read_text("utf-8").startswith("# Self-attention: what it costs\n")


WHOLE = "give a whole number from 1 to 1000000000"
BAD = [
    (["--n", "0"], "--n cannot be '0'", WHOLE),
    (["--m", "-3"], "--m cannot be '-3'", WHOLE),
    (["--d-model", "1.5"], "--d-model cannot be '1.5'", WHOLE),
    (["--d-k", "1e3"], "--d-k cannot be '1e3'", WHOLE),
    (["--d-v", ""], "--d-v cannot be ''", WHOLE),
    (
        ["--heads", "9" * 5000],
        f"--heads cannot be '{'9' * 19}…{'9' * 9}' (5,002 characters)",
        WHOLE,
    ),
    (["--layers", "²"], "--layers cannot be '²'", WHOLE),
    (["--batch", "0"], "--batch cannot be '0'", WHOLE),
    (
        ["--kv-heads", "3"],
        "8 query heads cannot be divided evenly among 3 heads of keys and values",
        "make --heads a multiple of --kv-heads",
    ),
    (
        [str(INPUTS / "rope.yaml"), "--d-k", "5"],
        "rope rotates pairs of features, and d_k = 5 is odd",
        "give an even --d-k",
    ),
    (["--dtype", "flaot16"], "--dtype cannot be 'flaot16'", "did you mean float16?"),
    (
        ["--dtype", "int8"],
        "--dtype cannot be 'int8'",
        "choose float16, bfloat16, float32 or float64",
    ),
    (
        ["--format", "odt"],
        "--format cannot be 'odt'",
        "choose table, markdown, latex, html, json or pdf",
    ),
    (
        ["-o", ""],
        "-o needs the name of a file",
        "write -o solution.md, or -o - for standard output",
    ),
    (["--d-mode", "4"], "there is no option --d-mode", "did you mean --d-model?"),
    (
        [str(INPUTS / "qkv_given.yaml"), "--d-model", "4"],
        "this problem has no d_model: Q, K and V are given",
        "leave out --d-model",
    ),
]


@pytest.mark.parametrize(("arguments", "message", "help"), BAD, ids=[line[0][-2] for line in BAD])
def test_bad_options(
    arguments: list[str], message: str, help: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["cost", *arguments]) == 2
    assert capsys.readouterr() == ("", f"attncli: error: {message}\nhelp: {help}\n")


def test_a_missing_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cost", "nowhere.yaml"]) == 4
    assert capsys.readouterr() == (
        "",
        (
            "attncli: error: cannot read nowhere.yaml: this file does not exist\nhelp: check the"
            " spelling and the folder\n"
        ),
    )


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
def test_huge_sizes_take_no_memory() -> None:
    names = ("n", "d-model", "d-k", "d-v", "heads", "kv-heads", "batch", "layers")
    sizes = [part for name in names for part in (f"--{name}", "1000000000")]
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); "
        "from attncli.cli.main import run; sys.exit(run(['cost', *sys.argv[1:]]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, *sizes],
        capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
