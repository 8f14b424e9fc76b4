"""Steps that are a single number, a loss or the gradient of one sink, in every command, format and
detail.

Nothing is said here of which steps these are: they are found in the trace.
"""

from __future__ import annotations

import csv
import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import attncli
from attncli.cli.main import run

FORMATS = ("table", "markdown", "latex", "html")
DETAILS = ("brief", "rows", "cells")
OTHERS = (["theirs.yaml"], ["dump.json"], ["dump.npz"], ["--set", "sink=1"])
OURS = (
    "Q: [[1, 2]]\nK: [[1, 0], [0, 1]]\nV: [[1], [2]]\nsink: 0\nloss: {kind: mse, target: [[1]]}\n"
)
THEIRS = OURS.replace("sink: 0", "sink: 1").replace("[[1]]}", "[[3]]}")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ours.yaml").write_text(OURS)
    Path("theirs.yaml").write_text(THEIRS)
    trace = attncli.trace("theirs.yaml", gradient=True)
    numbers = {name: trace[name].tolist() for name in trace}
    Path("dump.json").write_text(json.dumps(numbers))
    np.savez("dump.npz", **{name: trace[name] for name in trace})
    Path("answers.yaml").write_text(
        "".join(f"{name}: {json.dumps(numbers[name])}\n" for name in single_numbers())
    )


def single_numbers() -> list[str]:
    trace = attncli.trace("ours.yaml", gradient=True)
    return [name for name in trace if not trace[name].shape]


def test_there_are_some() -> None:
    assert single_numbers() == ["loss", "d_sink"]


@pytest.mark.sampled(1)
@pytest.mark.each_choice
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("detail", DETAILS)
def test_compare(
    other: list[str], format: str, detail: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["compare", "ours.yaml", *other, "--gradient", "--format", format, "--detail", detail]
    assert run([*line, "--steps", "loss,d_sink"]) == 1
    assert capsys.readouterr().err == ""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("other", OTHERS)
def test_compared_gradients(other: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The gradient of the sink is minus its share of the row times the row mean of the gradients of
    the weights.

    With x = exp(1/√2), the weights before the sink are x : x² : exp(sink). By hand: the output is
    (x + 2x²) / (x + x² + exp(sink)), and its error times its own double is the row mean.
    """
    line = ["compare", "ours.yaml", *other, "--gradient", "--steps", "d_sink", "--detail", "cells"]
    assert run(line) == 1
    page = capsys.readouterr().out
    x = np.exp(1 / np.sqrt(2))
    shown = []
    for sink, target in ((0, 1), (1, 1 if "--set" in other else 3)):
        total = x + x**2 + np.exp(sink)
        output = (x + 2 * x**2) / total
        shown.append(-np.exp(sink) / total * output * 2 * (output - target))
    for number in (*shown, shown[1] - shown[0]):
        assert f"[ {number:.3f} ]" in page
    # A heading has no comma with nothing behind it.
    assert not re.search(
        r", *(─|$)", "\n".join(row for row in page.splitlines() if row.startswith("──"))
    )


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("more", [[], ["--marks", "3"], ["--steps", "loss"], ["--steps", "d_sink"]])
def test_check(format: str, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "ours.yaml", "answers.yaml", "--format", format, *more]) == 1
    assert capsys.readouterr().err == ""
    assert run(["check", "theirs.yaml", "answers.yaml", "--format", format]) == 0


@pytest.mark.sampled(2)
@pytest.mark.each_choice
@pytest.mark.parametrize(("format", "rounding"), [*product(FORMATS, ("exact", "shown", "paper"))])
def test_one_cell(format: str, rounding: str, capsys: pytest.CaptureFixture[str]) -> None:
    for cell in single_numbers():
        for written in (cell, f"{cell}[]"):
            assert (
                run(
                    [
                        "gradient",
                        "ours.yaml",
                        "--cell",
                        written,
                        "--format",
                        format,
                        "--rounding",
                        rounding,
                    ]
                )
                == 0
            )
            out, err = capsys.readouterr()
            assert (err, "[]" in out) == ("", False)


def test_an_index_too_many_is_told_how_to_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    for name in single_numbers():
        assert run(["gradient", "ours.yaml", "--cell", f"{name}[0]"]) == 2
        assert capsys.readouterr().err.endswith(f"help: write --cell {name}\n")


@pytest.mark.long
def test_pages_heat_maps_worksheets_and_tables(capsys: pytest.CaptureFixture[str]) -> None:
    trace = attncli.trace("ours.yaml", gradient=True)
    for name in single_numbers():
        for format, detail in product(FORMATS, ("brief", "rows", "cells")):
            line = [
                "gradient",
                "ours.yaml",
                "--steps",
                name,
                "--format",
                format,
                "--detail",
                detail,
            ]
            assert run([*line, "--heatmap"]) == 0
        for format in FORMATS:
            assert (
                run(["worksheet", "ours.yaml", "--gradient", "--blank", name, "--format", format])
                == 0
            )
        assert run(["picture", "ours.yaml", "--of", name]) == 2
        capsys.readouterr()
        assert run(["gradient", "ours.yaml", "--steps", name, "--format", "csv"]) == 0
        _, (number,) = csv.reader(capsys.readouterr().out.splitlines())
        assert float(number) == trace[name]
        assert run(["gradient", "ours.yaml", "--steps", name, "-o", "one.npy"]) == 0
        assert np.load("one.npy") == trace[name]
    assert run(["gradient", "ours.yaml", "-o", "book.xlsx"]) == 0
    assert run(["gradient", "ours.yaml", "--pictures", "-o", "page.html"]) == 0
    assert run(["compute", "ours.yaml", "-o", "live.html"]) == 0
    assert capsys.readouterr() == ("", "")
