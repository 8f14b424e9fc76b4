"""A small problem starts no threads; what may be large, and what the person chose, is left
alone.
"""

from __future__ import annotations

import os

import pytest

from attncli.cli.input import limit_threads

PROBLEM = "Q: [[1, 0]]\nK: [[1, 0]]\nV: [[1, 2]]\n"


@pytest.fixture(autouse=True)
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "")  # so that the test's own change is undone
        monkeypatch.delenv(name)


def test_a_small_problem_gets_one_thread() -> None:
    limit_threads(PROBLEM)
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"


@pytest.mark.parametrize(
    "text",
    ["X: {file: a.npy}", "X: {random: [4000, 4000]}", "# " + "long " * 200_001],
    ids=["file", "random", "large"],
)
def test_a_large_problem_gets_all_threads(text: str) -> None:
    limit_threads(text)
    assert "OPENBLAS_NUM_THREADS" not in os.environ


def test_the_users_choice_of_threads_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    limit_threads(PROBLEM)
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
