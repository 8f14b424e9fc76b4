"""`attncli compute … -o step.npy`: the numbers of one step as NumPy reads them."""

from __future__ import annotations

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
    arguments = ["compute", str(INPUTS / "causal.yaml"), "--steps", step, "--dtype", dtype, "-o", str(path)]
    assert run(arguments) == 0
    whole = work_out(load(str(INPUTS / "causal.yaml")), dtype=dtype)[step]
    read = np.load(path)
    assert read.dtype == whole.dtype
    np.testing.assert_array_equal(read, whole)


def test_one_head(tmp_path: Path) -> None:
    path = tmp_path / "step.npy"
    assert run(["compute", str(INPUTS / "multi_head.yaml"), "--steps", "A", "--head", "1", "-o", str(path)]) == 0
    np.testing.assert_array_equal(np.load(path), work_out(load(str(INPUTS / "multi_head.yaml")))["weights"][1])


def test_large_problems_keep_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked, "LARGE", 0)
    path = tmp_path / "step.npy"
    assert run(["compute", str(INPUTS / "causal.yaml"), "--steps", "output", "-o", str(path)]) == 0
    np.testing.assert_allclose(np.load(path), work_out(load(str(INPUTS / "causal.yaml")))["output"], rtol=1e-14)


@pytest.mark.parametrize("options", [[], ["--mask", "causal"], ["--scale", "2"]], ids=["as it is", "mask", "scale"])
def test_scores_that_nobody_keeps_may_be_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setattr(chunked, "LARGE", 0)
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
        (["--cell", "scores[0,0]"], "help: --cell works one cell in full; leave out one of the two"),
        (["--steps", "weights", "--heatmap"], "help: NPY holds the numbers themselves; leave out --heatmap"),
        (["--steps", "weights", "--detail", "cells"], "help: a .npy file has no worked lines"),
    ],
)
def test_it_holds_one_array(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], help: str) -> None:
    path = tmp_path / "step.npy"
    assert run(["compute", str(INPUTS / "causal.yaml"), *options, "-o", str(path)]) == 2
    assert capsys.readouterr().err.rstrip().endswith(help)
    assert not path.exists()
