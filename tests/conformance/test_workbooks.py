"""Workbooks: their formulas, worked out by a spreadsheet of these tests and by LibreOffice, give
what NumPy finds.
"""

from __future__ import annotations

import copy
import io
import math
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import attncli
from attncli.page.derivation import derivation
from attncli.page.view import View
from attncli.page.workbook import with_workbook
from attncli.problem.loader import load
from attncli.problem.matrix import Matrix
from attncli.render.xlsx import xlsx
from tests.conformance.drawn import problem_files
from tests.conformance.spreadsheet import Spreadsheet, Written
from tests.reference import in_arrays

pytest.importorskip("xlsxwriter")

INPUTS = sorted((Path(__file__).parents[2] / "inputs").glob("*.yaml"))


StepsOf = Callable[[Spreadsheet, attncli.Trace], dict[str, np.ndarray]]


def file_of(trace: attncli.Trace) -> bytes:
    # with the gradient, where the trace has it
    return xlsx(with_workbook(derivation(trace, View()), trace, View()))


def book_of(trace: attncli.Trace) -> Spreadsheet:
    return Spreadsheet(file_of(trace))


def values(book: Spreadsheet, step: int, shape: tuple[int, ...]) -> np.ndarray:
    """What the formulas of a step come to."""
    found = [
        -np.inf if isinstance(value, str) else value
        for row in book.rows(step)
        for value in map(book.value, row)
    ]
    return np.array(found, dtype=float).reshape(shape)


@pytest.fixture(scope="session")
def steps_of(full: Callable[[dict[str, Any], bool], np.ndarray]) -> StepsOf:
    """`steps_of(book, trace)` is every step that is worked out, with all axes."""

    def steps(book: Spreadsheet, trace: attncli.Trace) -> dict[str, np.ndarray]:
        joined = {"concat", "output"} if "heads_output" in trace else {"concat"}
        numbered = enumerate(trace.computed(), 1)
        found = {step: values(book, number, step.shape) for number, step in numbered}
        return {
            step.name: full(
                {"value": value, "axes": step.rule.axis_names, "shape": step.shape},
                step.name in joined,
            )
            for step, value in found.items()
        }

    return steps


def agree(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> None:
    if ours["output"].ndim == 4:  # the heads stay apart
        theirs["output"] = theirs["heads_output"]
    for name in in_arrays.STEPS:
        if name in ours:
            one, other = np.broadcast_arrays(ours[name], theirs[name])
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10, err_msg=name)


@pytest.mark.long
@settings.get_profile("few")
@given(problem=problem_files(small=True))
def test_formulas_give_what_numpy_finds(
    trace: Callable[..., attncli.Trace], steps_of: StepsOf, problem: dict[str, Any]
) -> None:
    found = trace(problem)
    book = book_of(found)
    agree(steps_of(book, found), in_arrays.attention(problem))
    for key, cached in book.cached.items():
        if not isinstance(cached, str):
            assert book.value(key) == pytest.approx(cached, rel=1e-12, abs=1e-12)
        else:
            assert book.value(key) == cached


@pytest.mark.long
@settings.get_profile("few")
@given(problem=problem_files(small=True))
def test_numbers_that_are_typed_over_reach_all_that_follows(
    trace: Callable[..., attncli.Trace], steps_of: StepsOf, problem: dict[str, Any]
) -> None:
    found = trace(problem)
    book = book_of(found)
    name = next(name for name in ("X", "V", "K", "Q") if name in problem)
    given = found.steps[f"new_{name}" if f"new_{name}" in found else name]
    rows = book.rows_below(f"{given.rule.title} ")
    book.set(rows[0][0], 0.375)
    changed = copy.deepcopy(problem)
    array = np.array(changed[name])
    array[(0,) * array.ndim] = 0.375
    changed[name] = array.tolist()
    agree(steps_of(book, found), in_arrays.attention(changed))


def test_a_mask_that_is_typed_over_is_followed(
    trace: Callable[..., attncli.Trace], steps_of: StepsOf
) -> None:
    problem = {"Q": [[1, 0], [0, 2]], "K": [[1, 1], [0, 1]], "V": [[1], [5]], "mask": "causal"}
    found = trace(problem)
    book = book_of(found)
    (_, corner), _ = mask = book.rows([*found].index("mask") - 2)
    assert [[book.value(key) for key in row] for row in mask] == [[0, "−∞"], [0, 0]]
    book.set(corner, 0.0)
    all_seen = {"keep": [[True, True], [True, True]]}
    agree(steps_of(book, found), in_arrays.attention(problem | {"mask": all_seen}))
    book.set(mask[0][0], "hidden")
    agree(
        steps_of(book, found),
        in_arrays.attention(problem | {"mask": {"keep": [[False, True], [True, True]]}}),
    )
    book.set(corner, "-inf")  # no key is left
    assert [book.value(key) for key in book.rows(len(found.computed()))[0]] == [0]


def test_d_k_is_a_cell(trace: Callable[..., attncli.Trace], steps_of: StepsOf) -> None:
    problem = {"Q": [[1, 0], [0, 2]], "K": [[1, 1], [0, 1]], "V": [[1], [5]]}
    found = trace(problem)
    book = book_of(found)
    (d_k,) = book.rows_below("Numbers in the formulas")
    assert book.value(d_k[0]) == 2
    book.set(d_k[0], 9.0)
    agree(steps_of(book, found), in_arrays.attention(problem | {"scale": 1 / 3}))


LAYERS: list[dict[str, Any]] = [
    {
        "X": [[1, 0.5], [-1, 2]],
        "W_Q": [[1, 0], [2, 1]],
        "W_K": [[0, 1], [1, 1]],
        "W_V": [[1, 2], [0, 1]],
    },
    {
        "X": [[1, 0.5], [-1, 2]],
        "W_Q": [[1, 0.5], [2, 1]],
        "W_K": [[0, 1], [1, 1]],
        "W_V": [[1, 2], [0, 1]],
        "heads": 2,
        "mask": "causal",
        "b_Q": [0.5, 1],
        "W_O": [[1, 2], [0, -1]],
    },
]


@pytest.mark.parametrize("problem", LAYERS)
def test_gradients_follow_a_number_that_is_typed_over(
    trace: Callable[..., attncli.Trace], problem: dict[str, Any]
) -> None:
    """As central differences of the sum of all outputs find them, which NumPy works out."""
    found = trace(problem, gradient=True)
    book = book_of(found)
    book.set(book.rows_below("Input ")[0][0], 0.375)

    def loss(name: str, at: tuple[int, ...], step: float) -> float:
        changed = copy.deepcopy(problem)
        changed["X"][0][0] = 0.375
        array = np.array(changed[name], dtype=float)
        array[at] += step
        changed[name] = array.tolist()
        return float(in_arrays.attention(changed)["output"].sum())

    numbers = {step.name: number for number, step in enumerate(found.computed(), 1)}
    for name in ("X", "W_Q", "W_V"):
        expected = [
            (loss(name, at, 1e-5) - loss(name, at, -1e-5)) / 2e-5
            for at in np.ndindex(np.shape(problem[name]))
        ]
        own = values(book, numbers[f"d_{name}"], (len(book.rows(numbers[f"d_{name}"])), -1))
        if "heads" in problem and name != "X":  # a row of every head, one head after the other
            own = np.hstack(np.split(own, 2))
        np.testing.assert_allclose(own.ravel(), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize("width", [30, 31])
def test_long_sums_are_those_of_rows_and_columns(
    trace: Callable[..., attncli.Trace], steps_of: StepsOf, width: int
) -> None:
    random = np.random.default_rng(width)
    numbers = {
        name: random.normal(size=shape).round(2).tolist()
        for name, shape in {
            "X": (2, width),
            "W_Q": (width, width),
            "W_K": (width, width),
            "V": (2, 1),
        }.items()
    }
    found = trace(numbers)
    book = book_of(found)
    formulas = [str(book.cells[key]) for row in book.rows(1) for key in row]
    assert all(("SUMPRODUCT(MMULT(" in formula) == (width == 31) for formula in formulas)
    agree(steps_of(book, found), in_arrays.attention(numbers))


def typed_over(file: bytes, cells: dict[tuple[int, str], float]) -> bytes:
    """The file with other numbers in some cells, and the results of its formulas as they were."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(file)) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            text = old.read(name).decode()
            for (sheet, address), number in cells.items():
                if name == f"xl/worksheets/sheet{sheet + 1}.xml":
                    text, count = re.subn(
                        rf'(<c r="{address}"[^>]*><v>)[^<]*', rf"\g<1>{number!r}", text
                    )
                    assert count == 1
            new.writestr(name, text)
    return changed.getvalue()


@pytest.mark.slow
@pytest.mark.libreoffice
def test_libreoffice_calculates_the_same(tmp_path: Path) -> None:
    """Of every example with its gradient, and of every one with the first number of each given
    array typed over.
    """
    expected: dict[str, attncli.Trace] = {}
    for file in INPUTS:
        problem = load(str(file))
        trace = attncli.trace(problem, gradient=True)
        written, given, cells = file_of(trace), dict(problem.given), {}
        book = Spreadsheet(written)
        for name, matrix in problem.given.items():
            step = trace.steps[f"new_{name}" if f"new_{name}" in trace else name]
            cell = book.rows_below(f"{step.rule.title} ")[0][0]
            values = matrix.value.copy()
            if isinstance(book.cells[cell], Written):  # a fraction
                continue
            values[(0,) * values.ndim] = cells[book.names.index(cell[0]), cell[1]] = 0.375
            given[name] = Matrix(values)
        (tmp_path / f"{file.stem}.xlsx").write_bytes(written)
        (tmp_path / f"{file.stem}_changed.xlsx").write_bytes(typed_over(written, cells))
        expected[file.stem] = trace
        expected[f"{file.stem}_changed"] = attncli.trace(
            replace(problem, given=given), gradient=True
        )
    recalculated(tmp_path)
    for name, trace in expected.items():
        if trace.shifted != expected[name.removesuffix("_changed")].shifted:
            continue  # other steps
        book = Spreadsheet(tmp_path / "out" / f"{name}.xlsx")
        assert not [key for key, value in book.cached.items() if str(value).startswith("#")]
        for number, step in enumerate(trace.computed(), 1):
            found = [
                -math.inf if book.cached[key] == "−∞" else book.cached[key]
                for row in book.rows(number)
                for key in row
            ]
            np.testing.assert_allclose(
                found, step.value.ravel(), rtol=1e-12, atol=1e-12, err_msg=f"{name}: {step.name}"
            )


@pytest.mark.slow
@pytest.mark.libreoffice
def test_libreoffice_finds_no_error_in_a_worksheet_filled_with_text(tmp_path: Path) -> None:
    for name in ("causal", "multi_head", "additive_mask", "sink"):
        trace = attncli.trace(load(str(INPUTS[0].with_name(f"{name}.yaml"))))
        view = View(blank=frozenset(step.name for step in trace.computed() if step.name != "mask"))
        file = xlsx(with_workbook(derivation(trace, view), trace, view))
        changed = io.BytesIO()
        filled = 0
        with zipfile.ZipFile(io.BytesIO(file)) as old, zipfile.ZipFile(changed, "w") as new:
            for part in old.namelist():
                text = old.read(part).decode()
                tops = re.findall(r'sqref="(\w+)[:"]', text)
                blank = {
                    style
                    for top in tops
                    for style in re.findall(rf'<c r="{top}" s="(\d+)"/>', text)
                }
                for style in blank:
                    text, count = re.subn(
                        rf'<c r="(\w+)" s="{style}"/>',
                        rf'<c r="\1" s="{style}" t="inlineStr"><is><t>three</t></is></c>',
                        text,
                    )
                    filled += count
                new.writestr(part, text)
        assert filled == sum(trace.steps[step].value.size for step in view.blank)
        (tmp_path / f"{name}.xlsx").write_bytes(changed.getvalue())
    recalculated(tmp_path)
    for path in (tmp_path / "out").iterdir():
        assert not [
            key for key, value in Spreadsheet(path).cached.items() if str(value).startswith("#")
        ]


def recalculated(folder: Path) -> None:
    """Have LibreOffice calculate every workbook of a folder again, into its folder `out`."""
    if shutil.which("soffice") is None:
        pytest.skip("needs LibreOffice")
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    # without it, results are taken from the file
    (profile / "user" / "registrymodifications.xcu").write_text(
        """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item></oor:items>"""
    )
    command = [
        "soffice",
        f"-env:UserInstallation={profile.as_uri()}",
        "--headless",
        "--convert-to",
        "xlsx",
    ]
    files = sorted(map(str, folder.glob("*.xlsx")))
    ran = subprocess.run(
        [*command, "--outdir", str(folder / "out"), *files], capture_output=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
