"""Some steps of a large problem on a device: in little of its memory, with few copies, by the
thread that asks.

NumPy stands in for the device's own namespace, as a backend that is not the CPU's.
"""

from __future__ import annotations

import json
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.attention.plan import plan_for
from attncli.backend import CPU, Backend, Host
from attncli.cli.main import run as command
from attncli.dtypes import DTYPES
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.padding import Padding
from attncli.tracing import chunked, run
from attncli.tracing.chunked import MATRICES_HELD, queries_at_once

Build = Callable[..., Problem]
TOKENS, WIDTH = 1024, 4
CELLS = 2**16  # of a part: 64 queries


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked, "CELLS_OF_A_BUSY_GPU", CELLS)


@pytest.fixture
def copied() -> list[tuple[int, ...]]:
    """The shape of every array that was brought back from the device."""
    return []


@pytest.fixture
def device(copied: list[tuple[int, ...]]) -> Backend:
    def to_host(array: Any) -> Host:
        copied.append(array.shape)
        return np.array(array)

    return Backend(np, "gpu", to_host)


def drawn(size: float = 1.0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(7)
    return {
        name: random.standard_normal((TOKENS, WIDTH)) * (size if name != "V" else 1)
        for name in "QKV"
    }


KINDS: dict[str, dict[str, Any]] = {
    "plain": drawn(),
    "shifted": drawn(40),
    "causal": {**drawn(), "mask": (Causal(), Padding(((True,) * (TOKENS - 3) + (False,) * 3,)))},
    "causal, shifted": {**drawn(40), "mask": (Causal(),)},
    "all at once": {
        **drawn(),
        "mask": (Causal(),),
        "softcap": 5,
        "alibi": True,
        "slope": 0.5,
        "sink": 1,
        "exp_base": 2,
    },
    "additive": {
        **drawn(),
        "score": "additive",
        "W_1": np.ones((WIDTH, 3)),
        "W_2": np.ones((WIDTH, 3)),
        "v": np.ones(3),
    },
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_little_of_its_memory_is_taken(
    problem: Build, device: Backend, kind: str, dtype: str
) -> None:
    given, each = problem(**KINDS[kind]), np.dtype(DTYPES[dtype].computed).itemsize
    run(given, dtype=dtype, backend=device, keep=("output",))
    tracemalloc.start()
    trace = run(given, dtype=dtype, backend=device, keep=("output",))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert not trace.steps["scores"].kept
    small = 2**19  # Q, K, V and what is made of them, here and there, and all that Python makes
    assert (
        peak < MATRICES_HELD * CELLS * each + small
    )  # one matrix of queries by keys is 16 × CELLS


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_are_those_of_the_whole_trace(
    problem: Build, device: Backend, kind: str
) -> None:
    given = problem(**KINDS[kind])
    some, whole = (run(given, backend=device, keep=keep) for keep in (("output", "exp"), None))
    assert list(some.steps) == list(whole.steps)
    for name in ("output", "exp"):
        np.testing.assert_allclose(some[name], whole[name], rtol=1e-12, atol=1e-14)


def test_what_is_looked_at_stays_on_the_device(
    problem: Build, device: Backend, copied: list[tuple[int, ...]]
) -> None:
    run(problem(**KINDS["causal"]), backend=device, keep=("output",))
    rows = CELLS // TOKENS
    before = [(TOKENS, WIDTH)] * 3 + [(WIDTH, TOKENS)]  # Q, K, V and K_T
    each = [(rows,), (rows, WIDTH), (rows,)]  # the largest logits, the output, and who sees no key
    assert copied == before + each * (TOKENS // rows)


def test_what_is_kept_comes_back_part_by_part(
    problem: Build, device: Backend, copied: list[tuple[int, ...]]
) -> None:
    run(problem(**KINDS["plain"]), backend=device, keep=("weights",))
    assert copied.count((CELLS // TOKENS, TOKENS)) == TOKENS * TOKENS // CELLS
    assert (TOKENS, TOKENS) not in copied


def test_progress_is_told_after_each_part_and_ctrl_c_is_answered_between_two(
    problem: Build, device: Backend
) -> None:
    told: list[float] = []

    def report(share: float) -> None:
        assert threading.current_thread() is threading.main_thread()
        told.append(share)
        if len(told) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(problem(**KINDS["plain"]), backend=device, keep=("output",), report=report)
    assert told == [part / 16 for part in range(1, 6)]


@pytest.mark.parametrize(
    ("cells", "free", "dtype", "queries"),
    [
        (2**26, None, "float32", 2**16),  # 2²⁶ cells, 2¹⁰ keys
        (2**26, 2**40, "float32", 2**16),
        (2**26, 2**30, "float32", 2**14),  # 8 matrices of 2²⁴ cells of 4 bytes are 2²⁹, the half
        (2**26, 2**30, "float64", 2**13),
        (2**26, 2**30, "bfloat16", 2**14),  # in float32
        (2**26, 10, "float64", 1),
    ],
)
def test_parts_go_by_what_is_free(
    problem: Build,
    monkeypatch: pytest.MonkeyPatch,
    cells: int,
    free: int | None,
    dtype: str,
    queries: int,
) -> None:
    monkeypatch.setattr(chunked, "CELLS_OF_A_BUSY_GPU", cells)
    plan = plan_for(problem(**KINDS["plain"]))
    assert (
        queries_at_once(plan, DTYPES[dtype], Backend(np, "gpu", np.array, lambda: free)) == queries
    )
    assert queries_at_once(plan, DTYPES[dtype], CPU) == 2**9


def test_an_additive_score_has_all_its_features_at_once(problem: Build, device: Backend) -> None:
    assert (
        queries_at_once(plan_for(problem(**KINDS["additive"])), DTYPES["float32"], device)
        == 64 // 3
    )


def test_the_command_line_asks_a_device_for_no_more_than_is_shown(
    device: Backend, copied: list[tuple[int, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules["attncli.tracing.run"], "backend_for", lambda _: device)
    given = {name: {"random": [TOKENS, WIDTH]} for name in "QKV"}
    (tmp_path / "p.json").write_text(json.dumps(given))
    options = ["--device", "gpu", "--steps", "output", "--format", "json", "-o", "o.json"]
    assert command(["compute", "p.json", *options]) == 0
    assert max(map(np.prod, copied)) <= TOKENS * WIDTH
    found = json.loads((tmp_path / "o.json").read_text())
    assert found["settings"]["device"] == "gpu"
    assert list(found["steps"]) == ["output"]
