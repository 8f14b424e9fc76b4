"""The output in tiles: that of a plain softmax, the same bits for any number of threads, in little
memory.
"""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attncli.attention import parallel, variants
from attncli.attention.fused import outputs as fused
from attncli.attention.plan import plan_for
from attncli.dtypes import DTYPES
from attncli.equation.rule import Rule
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.lengths import Lengths
from attncli.tracing import chunked, run
from attncli.tracing.chunked import MANY_WEIGHTS
from attncli.tracing.model import Settings
from attncli.tracing.shift import Shift

Build = Callable[..., Problem]
SIZE = 700  # tokens: three blocks of rows, the last one short


def drawn(seed: int, size: float = 1.0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {
        name: random.standard_normal((SIZE, 16)) * (size if name != "V" else 1) for name in "QKV"
    }


def reference(arrays: dict[str, np.ndarray], causal: bool = False) -> np.ndarray:
    """As PyTorch's documentation has it, in float64."""
    scores = arrays["Q"] @ arrays["K"].T / math.sqrt(16)
    if causal:
        scores = np.where(np.tri(SIZE, dtype=bool), scores, -np.inf)
    exp = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exp / exp.sum(axis=1, keepdims=True) @ arrays["V"]


@pytest.mark.each_choice
@pytest.mark.parametrize(("dtype", "error"), [("float32", 2e-6), ("float64", 1e-14)])
@pytest.mark.parametrize("causal", [False, True])
# from where e to the scores fits to where it does not
@pytest.mark.parametrize("size", [1.0, 3.0, 30.0])
def test_the_output_is_that_of_a_plain_softmax(
    problem: Build, dtype: str, error: float, causal: bool, size: float
) -> None:
    arrays = {
        name: array.astype(dtype).astype(np.float64) for name, array in drawn(3, size).items()
    }
    trace = run(problem(**arrays, mask=(Causal(),) * causal), dtype=dtype, keep=("output",))
    assert not trace.steps["scores"].kept
    np.testing.assert_allclose(
        trace["output"], reference(arrays, causal), rtol=0, atol=error * size**2
    )


def test_a_step_that_the_fused_path_does_not_know_is_not_left_out(problem: Build) -> None:
    arrays = drawn(3)
    plan = plan_for(problem(**arrays))
    gated = Rule("gated", "G", "Gated scores", "gated[i, j] = scaled[i, j] * tanh(scaled[i, j])")
    longer = replace(plan, rules=(*plan.rules, gated))
    shift = Shift(longer.problem, DTYPES["float64"], DTYPES["float64"].lowest_exponent)
    found = chunked.run_chunked(longer, shift, Settings.of(longer), ("output",))
    scaled = arrays["Q"] @ arrays["K"].T / math.sqrt(16)
    exp = np.exp(scaled * np.tanh(scaled))
    assert found is not None
    np.testing.assert_allclose(
        found["output"], exp / exp.sum(axis=1, keepdims=True) @ arrays["V"], rtol=0, atol=1e-13
    )


def _exp_of(formula: str) -> Callable[[float | None], Rule]:
    rule = replace(variants.COMPUTED_RULES["exp"], formula=formula)
    return lambda base: rule


def test_another_equation_of_a_step_that_it_knows_is_not_taken_for_the_known_one(
    problem: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = drawn(3)
    monkeypatch.setattr(variants, "exponential", _exp_of("exp[i, j] = exp(2 * logits[i, j])"))
    trace = run(problem(**arrays), dtype="float64", keep=("output",))
    expected = reference(arrays | {"Q": 2 * arrays["Q"]})
    np.testing.assert_allclose(trace["output"], expected, rtol=0, atol=1e-13)


def test_what_is_added_to_the_output_is_not_lost(
    problem: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = drawn(3)
    plain = variants.COMPUTED_RULES["output"]
    residual = replace(plain, formula="output[i, c] = sum(j, weights[i, j] * V[j, c]) + Q[i, c]")
    monkeypatch.setitem(variants.COMPUTED_RULES, "output", residual)
    trace = run(problem(**arrays), dtype="float64", keep=("output",))
    np.testing.assert_allclose(trace["output"], reference(arrays) + arrays["Q"], rtol=0, atol=1e-13)


@pytest.mark.sampled(40)
@pytest.mark.parametrize("number", [None, 0.5])
@pytest.mark.parametrize("heads", [(), (2,), (3, 2)])
@pytest.mark.parametrize("mask", [(), (Causal(),), (Lengths((2,)),)])
@pytest.mark.parametrize("alibi", [False, True])
@pytest.mark.parametrize(
    "settings",
    [
        {}, {"score": "dot"}, {"scale": "none"}, {"softcap": 5.0}, {"exp_base": 2.0}, {"sink": 1.0},
        {"sink": 1.0, "exp_base": 2.0}, {"rope": (10000.0, "half")}, {"corner": "bottom-right"},
        {"score": "multiplicative", "W_a": np.eye(2)}, {"W_O": np.ones((2, 3)), "joined": True},
    ],
    ids=str,
)  # fmt: skip
def test_every_setting_of_dot_products_is_known(
    problem: Build,
    settings: dict[str, Any],
    alibi: bool,
    mask: Any,
    heads: tuple[int, ...],
    number: float | None,
) -> None:
    """Else it would be worked out in chunks, and nobody would notice but by the clock."""
    if "W_O" in settings:
        settings = settings | {"W_O": np.ones((2 * math.prod(heads[-1:]), 3))}
    scale = {} if number is None else {"scale": number}
    arrays = {name: np.ones((*heads, 3, 2)) for name in "QKV"}
    plan = plan_for(problem(**arrays, **{"mask": mask, "alibi": alibi, **scale, **settings}))
    softmax = plan.softmax_rules(shift=False)
    assert fused.is_known(plan, next(rule for rule in softmax if "weights" in rule.inputs))


LENGTHS = tuple(range(25, 15, -1))  # of 10 entries
SMALL_HEADS: dict[str, tuple[int, dict[str, Any]]] = {  # heads of keys, and settings
    "plain": (8, {}),
    "heads that share their keys": (2, {}),
    "one mask for all": (8, {"mask": (Causal(),)}),
    "a mask for each entry": (8, {"mask": (Causal(), Lengths(LENGTHS))}),
    "a row that sees no key": (8, {"mask": (Lengths((0, *LENGTHS[1:])),)}),
    "a bias and a sink for each head": (
        8,
        {"alibi": True, "sink": np.linspace(-1, 2, 8), "mask": (Causal(),)},
    ),
    "shared keys, a mask and a cap": (
        4,
        {"mask": (Lengths(LENGTHS),), "softcap": 2.0, "exp_base": 2.0},
    ),
    "rotated": (8, {"rope": (10000.0, "half")}),
}


@pytest.mark.each_choice
@pytest.mark.parametrize("kind", SMALL_HEADS)
@pytest.mark.parametrize("size", [1.0, 30.0])
def test_several_small_heads_at_a_time(
    problem: Build, monkeypatch: pytest.MonkeyPatch, kind: str, size: float
) -> None:
    """Eighty heads: those of 25 rows all at once, those of 50 rows in two parts that share an
    entry.
    """
    monkeypatch.setattr(chunked, "run_in_chunks", None)  # nothing is left to the other way
    kv_heads, settings = SMALL_HEADS[kind]
    random = np.random.default_rng(8)
    for entries, rows in ((10, 25), (10, 50)):
        shapes = {
            "Q": (entries, 8, rows, 4),
            "K": (entries, kv_heads, rows, 4),
            "V": (entries, kv_heads, rows, 3),
        }
        arrays = {name: random.standard_normal(shape) for name, shape in shapes.items()}
        given = problem(**{**arrays, "Q": arrays["Q"] * size}, **settings)
        whole = run(given)
        plan, shift = plan_for(given), Shift.at(3, given, DTYPES["float64"])
        some = chunked.run_chunked(plan, shift, Settings.of(plan), ("output",))
        assert some is not None
        assert not some.steps["weights"].kept
        assert (list(some.steps), some.warnings, some.fully_masked) == (
            list(whole.steps),
            whole.warnings,
            whole.fully_masked,
        )
        np.testing.assert_allclose(some["output"], whole["output"], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [1.0, 30.0])
def test_the_bits_do_not_depend_on_the_number_of_threads(
    problem: Build, monkeypatch: pytest.MonkeyPatch, size: float
) -> None:
    outputs = []
    for threads in (1, 2, 4):
        monkeypatch.setattr(parallel, "thread_count", lambda threads=threads: threads)
        trace = run(problem(**drawn(4, size), mask=(Causal(),)), dtype="float32", keep=("output",))
        outputs.append(trace["output"].tobytes())
    assert outputs[0] == outputs[1] == outputs[2]


@pytest.mark.parametrize(
    ("q", "v", "settings"),
    [
        (1e18, 1.0, {}),  # scores that overflow in float32: the whole trace tells it
        (1.0, 1e-30, {}),  # values that e to the lowest score would lose
        (8.0, 1e30, {}),  # values that e to the highest score would not fit
        (1.0, 1.0, {"sink": 200.0}),
        (1.0, 1.0, {"sink": -200.0}),
        (1.0, 1.0, {"exp_base": 0.5}),
        (30.0, 1.0, {"softcap": 200.0}),
    ],
)
def test_numbers_at_the_ends_of_the_format(
    problem: Build, q: float, v: float, settings: dict[str, Any]
) -> None:
    arrays = drawn(5)
    given = problem(
        **(arrays | {"Q": arrays["Q"] * q, "K": arrays["K"] * q, "V": arrays["V"] * v}), **settings
    )
    whole, some = run(given, dtype="float32"), run(given, dtype="float32", keep=("output",))
    assert (list(some.steps), some.warnings) == (list(whole.steps), whole.warnings)
    scale = np.abs(whole["output"][np.isfinite(whole["output"])]).max(initial=0)
    np.testing.assert_allclose(some["output"], whole["output"], rtol=1e-4, atol=1e-4 * scale)


def test_no_matrix_of_queries_by_keys_is_held(problem: Build) -> None:
    given = problem(**drawn(6))
    run(given, dtype="float32", keep=("output",))
    tracemalloc.start()
    run(given, dtype="float32", keep=("output",))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    tile = fused.ROWS * fused.COLUMNS * 4
    assert SIZE * SIZE >= MANY_WEIGHTS
    assert peak < parallel.thread_count() * tile + 40 * SIZE * 16 * 4


def test_what_a_thread_raises_is_raised() -> None:
    def fail(task: int) -> None:
        raise MemoryError(task)

    with pytest.raises(MemoryError):
        parallel.run_tasks([1, 2, 3], lambda: fail, 2, None)


def test_it_is_told_how_much_is_done() -> None:
    told: list[float] = []
    parallel.run_tasks([1, 2], lambda: lambda task: None, 1, told.append)
    assert told[-1] == 1
