"""Cells that a `where` chooses: their places must exist where it reads them, and only there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import attncli
from attncli.cli.main import run
from tests.cases import in_one_test

QKV: dict[str, Any] = {
    "Q": [[1, 0], [0, 1], [1, 1]],
    "K": [[1, 1], [0, 2], [1, 0]],
    "V": [[1, 0], [0, 1], [2, 1]],
}
SHORT = {"short[j]": [5, 7]}


def file_of(equation: str, folder: Path, **more: Any) -> str:
    path = folder / "problem.json"
    path.write_text(json.dumps({**QKV, **more, "equations": [equation], "result": "it"}))
    return str(path)


@in_one_test(
    ("equation", "found"),
    [
        ("it[j] = where(j > 0, V[j - 1, 0], 9)", [9, 1, 0]),
        ("it[j] = where(j < 1, 9, V[j - 1, 0])", [9, 1, 0]),
        ("it[j] = where(j > 0, where(j < 2, V[j + 1, 0] + V[j - 1, 0], 8), 9)", [9, 3, 8]),
        ("it[j] = where(j < n_k, V[j, 0], V[j - n_k, 1])", [1, 0, 0]),
        ("it[j] = sum(t, where(t < 2 and t < j, V[j - t - 1, 0], 0) * ones[t])", [0, 1, 1]),
        ("it[j] = where(j > 5, V[7, 0], 1)", [1, 1, 1]),
        ("it[i] = where(0 < Q[i, 0], V[min(i + 1, 2), 0], 4)", [0, 4, 2]),
    ],
)
def test_what_is_not_chosen_need_not_exist(equation: str, found: list[float]) -> None:
    arrays = {"ones[t]": [1, 1]} if "ones" in equation else {}
    trace = attncli.trace(**QKV, arrays=arrays, equations=[equation], result="it", gradient=True)
    assert trace["it"].tolist() == found


@pytest.mark.parametrize("detail", ["rows", "cells"])
@pytest.mark.parametrize("rounding", ["shown", "paper", "exact"])
def test_a_shorter_array_is_read_where_it_is(detail: str, rounding: str, tmp_path: Path) -> None:
    """The letter of the left side has the length that it has in this problem."""
    path = file_of(
        "it[j] = where(j < 2, short[min(1, j)], V[j, 0])", tmp_path, arrays={"short[t]": [5, 7]}
    )
    assert attncli.trace(path)["it"].tolist() == [5, 7, 2]
    assert run(["gradient", path, "--detail", detail, "--rounding", rounding]) == 0


@pytest.mark.parametrize(
    ("equation", "said"),
    [
        ("it[j] = where(j > 0, V[j, 3], 9)", "there is no place 3"),
        ("it[j] = where(j > 0, V[j + 1, 0], 9)", "the index j + 1 is 3 where j = 2"),
        ("it[j] = where(j > 0, 9, V[j - 1, 0])", "the index j - 1 is -1 where j = 0"),
        ("it[j] = where(j >= 0 and j < 9, V[j - 1, 0], 9)", "the index j - 1 is -1 where j = 0"),
        ("it[i, j] = where(i < 2, V[i + j, 0], 9)", "the index i + j is 3 where i = 1 and j = 2"),
        ("it[i] = where(0 < Q[i, 0], V[i + 1, 0], 4)", "the index i + 1 is 3 where i = 2"),
    ],
)
def test_what_is_chosen_must_exist(
    equation: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compute", file_of(equation, tmp_path)]) == 3
    assert said in capsys.readouterr().err


def test_a_condition_of_numbers_says_nothing_of_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file_of("it[i] = where(0 < Q[i, 0], V[i + 1, 0], 4)", tmp_path)
    assert run(["compute", path]) == 3
    assert "a condition on places is needed" in capsys.readouterr().err
