"""Comparisons of whole traces: the first step that differs, steps on one side, shapes, dumps,
properties.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.comparison.moved_weights import moved_weights
from attncli.features.compare.dumps import Dump, in_order
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.tracing import Trace, run
from attncli.tracing.comparison import TOLERANCES, Comparison, Operand, compare

Build = Callable[..., Problem]
SMALL: dict[str, Any] = {"Q": [[1, 0], [0, 2]], "K": [[1, 1], [2, 0]], "V": [[1], [3]]}


def side(source: Trace | Dump, word: str = "A") -> Operand:
    names = "file.yaml", word, f"in {word}"
    return source.operand(*names) if isinstance(source, Dump) else Operand.of_trace(source, *names)


def both(a: Trace | Dump, b: Trace | Dump, **options: Any) -> Comparison:
    return compare(side(a), side(b, "B"), **options)


def dump(dtype: str = "float64", **arrays: Any) -> Dump:
    return Dump(
        in_order({name: np.array(array, dtype=float) for name, array in arrays.items()}), dtype
    )


def test_a_trace_and_itself(love: Problem) -> None:
    found = both(run(love), run(love))
    assert found.first is None
    assert all(step.identical for step in found.steps)
    assert (moved_weights(found), found.settings, found.tolerance) == ((), {}, 1e-9)


def test_a_mask_shows_first_in_the_exponentials(problem: Build) -> None:
    found = both(run(problem(**SMALL)), run(problem(**SMALL, mask=(Causal(),))))
    assert found.first is not None
    assert found.first.name == "exp"
    assert [step.name for step in found.steps if step.one_sided] == ["mask", "masked"]
    assert found["mask"].shapes == (None, (2, 2))
    assert not found["mask"].differs
    assert found.settings == {"mask": ((), ("causal",))}
    # query 0 scores 1 and 2: it moves e²/(e + e²) of exp(1/√2) to itself
    (move,) = moved_weights(found)
    ratio = np.exp(1 / np.sqrt(2))
    assert (move.row, move.gained[0].key) == ((0,), 0)
    assert move.amount == pytest.approx(ratio / (1 + ratio), rel=1e-12)


def test_a_step_keeps_its_place_whichever_side_has_it(problem: Build) -> None:
    plain, capped = run(problem(**SMALL, scale="none")), run(problem(**SMALL, softcap=5))
    names = [
        "Q",
        "K",
        "V",
        "K_T",
        "scores",
        "scaled",
        "capped",
        "exp",
        "row_sum",
        "weights",
        "output",
    ]
    assert [step.name for step in both(plain, capped).steps] == names
    assert [step.name for step in both(capped, plain).steps] == names


def test_a_forgotten_scale_is_a_factor(problem: Build) -> None:
    ours = run(problem(**SMALL))
    found = both(ours, dump(scaled=ours["scores"]))
    assert found.first is not None
    assert (found.first.name, found.first.factor) == ("scaled", pytest.approx(np.sqrt(2)))


def test_another_number_of_tokens(problem: Build) -> None:
    more = run(problem(Q=[[1, 0], [0, 2], [1, 1]], K=SMALL["K"], V=SMALL["V"]))
    found = both(run(problem(**SMALL)), more)
    assert found.first is not None
    assert (found.first.name, found.first.shapes) == ("Q", ((2, 2), (3, 2)))
    assert found["weights"].difference is None
    assert found["weights"].differs
    assert not found["K"].differs
    assert moved_weights(found) == ()


def test_the_queries_that_both_have_are_compared(problem: Build) -> None:
    keys = {"K": [[1, 1], [2, 0], [0, 3]], "V": [[1], [3], [4]]}
    labels = {"context_tokens": ("a", "b", "c")}
    whole = run(problem(Q=[[1, 0], [0, 2], [1, 1]], tokens=("a", "b", "c"), **keys, **labels))
    part = run(problem(Q=[[1, 1], [0, 2]], tokens=("c", "b"), **keys, **labels))
    found = both(whole, part)
    assert (found.a.rows, found.b.rows, found.first) == ((2, 1), None, None)
    assert found["weights"].labels == (("c", "b"), ("a", "b", "c"))
    assert found.a.index("scores", (0, 1)) == (2, 1)
    assert found.a.index("K", (0, 1)) == (0, 1)
    assert both(part, whole).b.rows == (2, 1)
    changed = both(whole, run(problem(Q=[[1, 1], [0, 5]], tokens=("c", "b"), **keys, **labels)))
    assert changed.first is not None
    assert (changed.first.name, changed.first.cell(changed.a), changed.first.cell(changed.b)) == (
        "Q",
        (1, 1),
        (1, 1),
    )
    (move,) = moved_weights(changed)
    assert move.row == (1,)
    twice = run(problem(Q=[[1, 1], [0, 2]], tokens=("c", "c"), **keys, **labels))
    assert both(whole, twice).a.rows is None


def test_only_some_steps(problem: Build) -> None:
    found = both(
        run(problem(**SMALL)), run(problem(**SMALL, scale="none")), steps=("scores", "weights")
    )
    assert [step.name for step in found.steps] == ["scores", "weights"]
    assert found.first is found["weights"]


@pytest.mark.parametrize("shape", [(2, 2), (1, 2, 2), (1, 1, 2, 2)])
def test_a_dump_may_have_a_batch_and_a_head_of_one(problem: Build, shape: tuple[int, ...]) -> None:
    ours = run(problem(**SMALL))
    found = both(
        ours,
        dump(
            scores=np.array(ours["scores"]).reshape(shape), weights=ours["weights"].reshape(shape)
        ),
    )
    assert found.first is None
    assert found["scores"].shapes == ((2, 2), shape)


def test_a_dump_that_hides_with_a_number(problem: Build) -> None:
    ours = run(problem(**SMALL, mask=(Causal(),)))
    theirs = np.where(np.isinf(ours["masked"]), -1e9, ours["masked"])
    found = both(ours, dump(masked=theirs, weights=ours["weights"]))
    assert found.first is None
    assert found["masked"].difference is not None
    assert (found["masked"].difference.hidden, found["masked"].difference.sentinel) == (1, -1e9)
    leaking = both(ours, dump(masked=theirs, weights=[[0.9, 0.1], ours["weights"][1]]))
    assert leaking.first is leaking["weights"]


@pytest.mark.parametrize(
    ("ours", "theirs"), [("float64", "float16"), ("bfloat16", "float32"), ("float32", "float64")]
)
def test_the_tolerance_is_that_of_the_coarser_format(love: Problem, ours: str, theirs: str) -> None:
    coarser = {"float64": "float16", "bfloat16": "bfloat16", "float32": "float32"}[ours]
    assert (
        both(run(love, dtype=ours), dump(theirs, weights=np.zeros((3, 3)))).tolerance
        == TOLERANCES[coarser]
    )


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@given(seed=st.integers(0, 2**32))
def test_the_tolerances_let_a_format_pass(problem: Build, dtype: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    given = problem(**{name: random.normal(size=(4, 8)) for name in "QKV"})
    low = run(given, dtype=dtype)
    assert both(run(given, shifted=low.shifted), low).first is None


@given(seed=st.integers(0, 2**32), data=st.data())
def test_a_cell_that_was_changed_is_found_in_its_step(
    problem: Build, seed: int, data: st.DataObject
) -> None:
    random = np.random.default_rng(seed)
    ours = run(problem(**{name: random.normal(size=(3, 4)) for name in "QKV"}))
    name = data.draw(st.sampled_from(list(ours.steps)))
    arrays = {step: ours[step].copy() for step in ours}
    where = tuple(data.draw(st.integers(0, size - 1)) for size in arrays[name].shape)
    arrays[name][where] += 1e-6
    found = both(ours, Dump(arrays, "float64"))
    assert [step.name for step in found.steps if step.differs] == [name]
    assert found.first is not None
    assert found.first.difference is not None
    assert (found.first.difference.where, found.first.difference.differing) == (where, 1)


def test_a_trace_without_a_step_names_its_dump(love: Problem) -> None:
    found = both(dump(weights=np.zeros((3, 3))), dump(weights=np.zeros((3, 3))))
    assert found["weights"].labels == (("0", "1", "2"), ("0", "1", "2"))
    assert found.settings == {}
