"""`attncli compute … -o step.npy` and `step.csv`: the numbers of one step, for NumPy and for
spreadsheets.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from attncli.cli.main import run
from attncli.problem import shape_checks
from attncli.problem.loader import load
from attncli.tracing import chunked
from attncli.tracing import run as work_out

INPUTS = Path(__file__).parents[3] / "inputs"


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("step", ["X", "weights", "output"])
def test_one_step(tmp_path: Path, dtype: str, step: str) -> None:
    path = tmp_path / "step.npy"
    arguments = [
        "compute",
        str(INPUTS / "causal.yaml"),
        "--steps",
        step,
        "--dtype",
        dtype,
        "-o",
        str(path),
    ]
    assert run(arguments) == 0
    whole = work_out(load(str(INPUTS / "causal.yaml")), dtype=dtype)[step]
    read = np.load(path)
    assert read.dtype == whole.dtype
    np.testing.assert_array_equal(read, whole)


def test_one_head(tmp_path: Path) -> None:
    path = tmp_path / "step.npy"
    assert (
        run(
            [
                "compute",
                str(INPUTS / "multi_head.yaml"),
                "--steps",
                "A",
                "--head",
                "1",
                "-o",
                str(path),
            ]
        )
        == 0
    )
    np.testing.assert_array_equal(
        np.load(path), work_out(load(str(INPUTS / "multi_head.yaml")))["weights"][1]
    )


def test_large_problems_keep_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked, "MANY_WEIGHTS", 0)
    path = tmp_path / "step.npy"
    assert run(["compute", str(INPUTS / "causal.yaml"), "--steps", "output", "-o", str(path)]) == 0
    np.testing.assert_allclose(
        np.load(path), work_out(load(str(INPUTS / "causal.yaml")))["output"], rtol=1e-14
    )


@pytest.mark.parametrize(
    "options", [[], ["--mask", "causal"], ["--scale", "2"]], ids=["as it is", "mask", "scale"]
)
def test_scores_that_nobody_keeps_may_be_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setattr(chunked, "MANY_WEIGHTS", 0)
    monkeypatch.setattr(shape_checks, "ELEMENT_LIMIT", 10)
    problem = tmp_path / "problem.yaml"
    problem.write_text("".join(f"{name}: {{random: [4, 2]}}\n" for name in "QKV"))
    asked = ["compute", str(problem), *options, "-o", str(tmp_path / "step.npy"), "--steps"]
    assert run([*asked, "output"]) == 0
    assert run([*asked, "weights"]) == 3


@pytest.mark.parametrize(
    ("options", "help"),
    [
        ([], "help: ask for one step: --steps output"),
        (["--steps", "weights,output"], "help: ask for one step: --steps output"),
        (
            ["--cell", "scores[0,0]"],
            "help: --cell works one cell in full; leave out one of the two",
        ),
        (
            ["--steps", "weights", "--heatmap"],
            "help: NPY holds the numbers themselves; leave out --heatmap",
        ),
        (["--steps", "weights", "--detail", "cells"], "help: NPY has no worked lines"),
    ],
)
def test_it_holds_one_array(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], help: str
) -> None:
    path = tmp_path / "step.npy"
    assert run(["compute", str(INPUTS / "causal.yaml"), *options, "-o", str(path)]) == 2
    assert capsys.readouterr().err.rstrip().endswith(help)
    assert not path.exists()


@pytest.mark.parametrize(("suffix", "separator"), [(".csv", ","), (".tsv", "\t")])
@pytest.mark.parametrize(
    ("problem", "step", "head"),
    [
        ("causal.yaml", "weights", ["query", "I", "love", "AI"]),
        ("causal.yaml", "row_sum", ["query", "row_sum"]),
        ("multi_head.yaml", "weights", ["head", "query", "dogs", "chase", "cats"]),
        ("batch.yaml", "output", ["entry", "query", "d1", "d2"]),
    ],
)
def test_a_table_for_a_spreadsheet(
    tmp_path: Path, suffix: str, separator: str, problem: str, step: str, head: list[str]
) -> None:
    path = tmp_path / f"step{suffix}"
    assert run(["compute", str(INPUTS / problem), "--steps", step, "-o", str(path)]) == 0
    with path.open(encoding="utf-8", newline="") as stream:
        names, *rows = csv.reader(stream, delimiter=separator)
    assert names == head
    value = work_out(load(str(INPUTS / problem)))[step]
    width = value.shape[-1] if value.ndim > 1 else 1
    numbers = [[float(cell) for cell in row[-width:]] for row in rows]
    np.testing.assert_array_equal(np.array(numbers), value.reshape(-1, width))
    if value.ndim > 2:
        assert [int(row[0]) for row in rows] == [
            place for place in range(len(value)) for _ in range(value.shape[1])
        ]


def test_a_table_of_a_gradient_and_of_a_single_number(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["gradient", str(INPUTS / "next_token.yaml"), "--format", "csv", "--steps"]
    assert run([*arguments, "loss"]) == 0
    name, number = capsys.readouterr().out.splitlines()
    assert name == '"loss"'
    assert float(number) == work_out(load(str(INPUTS / "next_token.yaml")), gradient=True)["loss"]
    assert run([*arguments, "d_Q"]) == 0
    assert capsys.readouterr().out.startswith('"query","d1",')


def test_labels_are_no_formulas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem = tmp_path / "p.yaml"
    problem.write_text(
        'tokens: ["=cmd()", "a;=b"]\nQ: [[1], [2]]\nK: [[1], [2]]\nV: [[1], [2]]\n',
        encoding="utf-8",
    )
    assert run(["compute", str(problem), "--steps", "scores", "--format", "csv"]) == 0
    assert (
        capsys.readouterr().out == '"query","\'=cmd()","a;=b"\n"\'=cmd()",1.0,2.0\n"a;=b",2.0,4.0\n'
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "a.csv"], "-o a.csv: CSV holds the numbers of one step"),
        (
            ["--format", "tsv", "--steps", "weights,output"],
            "--format tsv holds the numbers of one step",
        ),
        (["--format", "csv", "--cell", "scores[0,0]"], "--cell cannot be used with --format csv"),
        (
            ["--format", "csv", "--steps", "scores", "--detail", "rows"],
            "--detail cannot be used with --format csv",
        ),
        (
            ["--format", "csv", "--steps", "scores", "--heatmap"],
            "--heatmap cannot be used with --format csv",
        ),
    ],
)
def test_a_table_holds_one_step(
    capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert run(["compute", str(INPUTS / "causal.yaml"), *options]) == 2
    assert message in capsys.readouterr().err


def test_other_commands_have_no_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["worksheet", str(INPUTS / "causal.yaml"), "-o", "a.csv"]) == 2
    assert "-o a.csv: this command does not write .csv files" in capsys.readouterr().err
