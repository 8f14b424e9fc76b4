"""Operations are those that really happen when an equation is evaluated, and polynomials that say
how they grow.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from attncli.attention.plan import plan_for
from attncli.equation.evaluator import evaluate
from attncli.equation.functions import FUNCTIONS
from attncli.equation.notation import PLAIN
from attncli.equation.parser import parse_equation
from attncli.equation.printer import write
from attncli.equation.shapes import index_sizes
from attncli.features.cost.operations import growth, in_cells, number, operations
from attncli.problem.model import Problem
from tests.cases import in_one_test


class Counted:
    """A number that notes every operation done with it."""

    def __init__(self, value: float, log: Counter[str]) -> None:
        self.value, self.log = value, log

    def _noted(self, kind: str, value: float) -> Counted:
        self.log[kind] += 1
        return Counted(value, self.log)

    def __add__(self, other: Any) -> Counted:
        return self._noted("additions", self.value + getattr(other, "value", other))

    def __mul__(self, other: Any) -> Counted:
        return self._noted("multiplications", self.value * getattr(other, "value", other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Counted:
        return self._noted("divisions", self.value / getattr(other, "value", other))

    def exp(self) -> Counted:
        return self._noted("exponentials", math.exp(self.value))

    def tanh(self) -> Counted:
        return self._noted("hyperbolic tangents", math.tanh(self.value))

    def __eq__(self, other: object) -> bool:
        return self.value == getattr(other, "value", other)

    __hash__ = None  # type: ignore[assignment]


def work(problem: Problem) -> dict[str, tuple[Counter[str], dict[str, int]]]:
    """Each computed step of a problem evaluated with such numbers: what was noted, and the counts
    claimed.
    """
    plan = plan_for(problem)
    log: Counter[str] = Counter()
    arrays: dict[str, Any] = {}
    result = {}
    for rule in (*plan.rules, *plan.softmax_rules(shift=False)):
        if rule.given:
            value = problem.given[rule.name].value
            arrays[rule.name] = np.vectorize(lambda x: Counted(float(x), log), otypes=[object])(
                value
            )
            continue
        sizes = {
            **index_sizes(rule.equation, {name: array.shape for name, array in arrays.items()}),
            **plan.sizes,
        }
        log.clear()
        scalars = {name: given.value for name, given in plan.parameters.items()}
        arrays[rule.name] = evaluate(
            rule.equation, arrays=arrays, scalars=scalars, sizes=sizes, xp=np, dtype=object
        )
        claimed = {kind: number(count, sizes) for kind, count in operations(rule.equation).items()}
        result[rule.name] = (Counter(log), claimed)
    return result


def random(*shape: int) -> Any:
    return np.random.default_rng(3).uniform(-1, 1, shape)


@in_one_test(
    "given",
    [
        {"X": (3, 4), "W_Q": (4, 2), "W_K": (4, 2), "W_V": (4, 5)},
        {"X": (1, 1), "W_Q": (1, 1), "W_K": (1, 1), "W_V": (1, 1)},
        {
            "X": (2, 3),
            "context": (4, 3),
            "W_Q": (3, 2),
            "W_K": (3, 2),
            "W_V": (3, 1),
            "b_Q": (2,),
            "b_V": (1,),
        },
        {"Q": (2, 3), "K": (5, 4), "V": (5, 2), "W_a": (3, 4), "score": "multiplicative"},
        {
            "Q": (2, 3),
            "K": (5, 4),
            "V": (5, 2),
            "W_1": (3, 6),
            "W_2": (4, 6),
            "v": (6,),
            "score": "additive",
        },
        {"Q": (2, 3), "K": (5, 3), "V": (5, 2), "scale": 0.5, "softcap": 2.0},
        {
            "X": (2, 3, 4),
            "W_Q": (4, 4, 2),
            "W_K": (2, 4, 2),
            "W_V": (2, 4, 3),
            "W_O": (12, 5),
            "b_K": (2, 2),
        },
        {"Q": (2, 4, 3, 2), "K": (5, 2), "V": (2, 1, 5, 3)},
    ],
    ids=[
        "plain",
        "one by one",
        "cross with biases",
        "multiplicative",
        "additive",
        "scaled and capped",
        "grouped heads in a batch",
        "keys for all heads",
    ],
)
def test_counts_are_what_happens(given: dict[str, Any], problem: Callable[..., Problem]) -> None:
    arrays = {
        name: random(*shape) if isinstance(shape, tuple) else shape for name, shape in given.items()
    }
    for name, (happened, claimed) in work(problem(**arrays)).items():
        # a root of a scalar is taken before any array is seen
        counted = {kind: count for kind, count in claimed.items() if count and kind != "roots"}
        assert counted == dict(happened), name


def test_every_function_that_is_evaluated_has_a_kind() -> None:
    assert all(function.operation for function in FUNCTIONS.values())


def test_what_is_done_in_every_cell_is_told_from_what_cells_share() -> None:
    equation = parse_equation(
        "masked[h, i, j] = scores[h, i, j] + slopes[h] * abs(i - j) / sqrt(d_k)"
    )
    apart = {kind: dict(in_cells(equation, count)) for kind, count in operations(equation).items()}
    assert apart == {
        "multiplications": {("h", "i", "j"): 1},
        "additions": {("h", "i", "j"): 1},
        "subtractions": {},
        "divisions": {("h", "i", "j"): 1},
        "roots": {},
        "absolute values": {},
    }


def test_of_a_choice_only_one_branch_is_worked() -> None:
    turned = (
        "where(k < half, Q[i, k] * cos(angles[i, k]), Q[i, k] * cos(angles[i, k]) + Q[i, k - half])"
    )
    assert operations(parse_equation(f"Q_rot[i, k] = {turned}")) == {
        "multiplications": {("i", "k"): 1},
        "additions": {("i", "k"): 1},
        "cosines": {("i", "k"): 1},
        "comparisons": {("k",): 1},
        "choices": {("i", "k"): 1},
    }


def test_a_sum_takes_one_addition_less_than_it_has_terms() -> None:
    counts = operations(parse_equation("Q[i, k] = sum(d, X[i, d] * W_Q[d, k])"))
    assert counts == {
        "multiplications": {("d", "i", "k"): 1},
        "additions": {("d", "i", "k"): 1, ("i", "k"): -1},
    }


@in_one_test(
    ("equation", "counts"),
    [
        ("K_T[k, j] = K[j, k]", {}),
        (
            "scaled[i, j] = scores[i, j] / sqrt(d_k)",
            {"divisions": {("i", "j"): 1}, "roots": {(): 1}},
        ),
        (
            "mask[i, j] = where(j <= i, 0, -inf)",
            {"comparisons": {("i", "j"): 1}, "choices": {("i", "j"): 1}},
        ),
        (
            "mask[i, j] = where(exists[j] == 1, 0, -inf)",
            {"comparisons": {("j",): 1}, "choices": {("j",): 1}},
        ),
        (
            "mask[i, j] = where(j >= i + offset - left and j <= i, 0, -inf)",
            {
                "additions": {("i",): 1},
                "subtractions": {("i",): 1},
                "comparisons": {("i", "j"): 2},
                "conjunctions": {("i", "j"): 1},
                "choices": {("i", "j"): 1},
            },
        ),
        ("row_max[i] = max(j, scores[i, j])", {"comparisons": {("i", "j"): 1, ("i",): -1}}),
        ("exp[i, j] = exp_base ** scores[i, j]", {"powers": {("i", "j"): 1}}),
    ],
)
def test_parts_count_once_for_each_place_they_depend_on(equation: str, counts: Any) -> None:
    assert operations(parse_equation(equation)) == counts


def test_numbers_are_exact_at_any_size() -> None:
    assert (
        number({("i", "j"): 1, ("i",): -1, (): 5}, {"i": 10**9, "j": 10**9}) == 10**18 - 10**9 + 5
    )


@in_one_test(
    ("terms", "formula"),
    [
        ([("i", "j")], "n^2"),
        ([("d", "i", "k"), ("i", "k")], "n*d_model*d_k"),
        ([("i", "j", "k"), ()], "n^2*d_k"),
        ([("d", "k"), ("i",)], "n + d_model*d_k"),
        ([()], "1"),
        ([("d", "e"), ("e",)], "d_model*heads*d_v"),
    ],
)
def test_growth_keeps_what_nothing_outgrows(terms: Any, formula: str) -> None:
    symbols = {"i": "n", "j": "n", "d": "d_model", "k": "d_k", "e": "heads*d_v"}
    found = growth([dict.fromkeys(terms, 1)], symbols)
    assert found is not None
    assert write(found, PLAIN) == formula


def test_what_is_not_counted_does_not_grow() -> None:
    assert growth([{}], {"i": "n"}) is None
