"""Generated problems with every mistake made in them by NumPy alone: `check` names each from the
output alone.
"""

from __future__ import annotations

import numpy as np
import pytest
import yaml

import attncli
from attncli.features.generate.drawing import Layer
from attncli.features.generate.search import LARGEST_SCORE, LEAST_LEAD, Found, Search
from attncli.problem.loader import loads
from tests.reference.back_in_arrays import RIGHT, sheet_of, steps_of
from tests.reference.in_arrays import Sheet, Steps, worked
from tests.reference.mistaken import (
    ELSEWHERE,
    FORWARD,
    FURTHER,
    OTHERS,
    SENTINELS,
    Again,
    sentinel,
)
from tests.reference.on_paper import Array, half_up, to_decimals

KINDS = [kind for kind in (*FORWARD, *OTHERS, *FURTHER) if kind.alone]


def by_mistake(sheet: Sheet) -> dict[str, Steps]:
    """The other work of each mistake that NumPy can make in this problem."""
    found: dict[str, Steps] = {}
    for kind in KINDS:
        for seed in range(60 if "sentinel" in kind.name else 1):  # which is one of several numbers
            try:
                made = kind.make(sheet, np.random.default_rng(seed), 2)
                if set(made.steps) <= set(steps_of(sheet)):
                    found.setdefault(made.names[0], made.steps)
            except Again:
                continue
    return found


def output(sheet: Sheet, steps: Steps) -> Array | None:
    """The output; None where the mistake does not fit the sizes or the mask, or a number is
    none.
    """
    try:
        with np.errstate(all="ignore"):
            found: Array = worked(sheet, {**steps_of(sheet), **steps}).output
    except (ValueError, KeyError, IndexError, AttributeError, TypeError):
        return None
    return (
        found
        if found.shape == worked(sheet, steps_of(sheet)).output.shape and np.isfinite(found).all()
        else None
    )


def named(found: Found, numbers: Array, decimals: int) -> set[str]:
    """What `check` says of these numbers, when it sees nothing else."""
    texts = [[f"{number:.{decimals}f}" for number in row] for row in half_up(numbers, decimals)]
    diagnoses = attncli.check(loads(found.text.encode(), "p.yaml"), {"output": texts}).diagnoses
    return {name for one in diagnoses if one.whole for name in one.mistakes}


def check_all(found: Found, decimals: int = 2, *, each: int = 1) -> int:
    """Every mistake that shows, or each so-manieth, is named, alone but for those said to be like
    it; how many show.
    """
    sheet, audit = sheet_of(yaml.safe_load(found.text)), found.audit
    outputs = {
        name: made
        for name, steps in by_mistake(sheet).items()
        if (made := output(sheet, steps)) is not None
    }
    right = worked(sheet, steps_of(sheet)).output
    # Mistakes in the weights of models are made elsewhere.
    shown = [name for name in audit.shown if name not in ELSEWHERE]
    assert set(shown) <= set(outputs)
    like = {name: set(group) for group in audit.alike for name in group}
    for name in shown[::each]:
        assert abs(outputs[name] - right).max() >= 2 * 10.0**-decimals - 1e-9
        said = named(found, outputs[name], decimals)
        off = abs(outputs[name] - right).max()
        # A rounding on the way that hardly moves the output is forgiven as one.
        if "rounded" in name and off < 2.5 * 10.0**-decimals and not said:
            continue
        assert name in said, name
        assert said <= like.get(name, {name}), name
    for name in (*audit.same, *audit.hidden):
        if name in outputs:
            assert abs(outputs[name] - right).max() < 2 * 10.0**-decimals
    return len(shown)


def search(layer: Layer, mask: str | None = None, decimals: int = 2) -> Search:
    return Search.of(layer, mask, ["output"], decimals)


PLAIN, HEADS = Layer(4, 2, 3, 5), Layer(4, 2, 3, 2, heads=2)
KINDS_OF_PROBLEMS: dict[str, tuple[Layer, str | None, int]] = {
    "plain": (PLAIN, None, 2),
    "causal": (PLAIN, "causal", 2),
    "Q, K and V": (Layer(4, 2, 3, 5, gives_qkv=True), None, 2),
    "two heads": (HEADS, None, 2),
    "three decimals": (PLAIN, None, 3),
    "square": (Layer(4, 4, 4, 4), None, 2),
    "six tokens": (Layer(6, 4, 4, 4), None, 2),
}
# units of the last digit by which rounding on paper changes the output; else one
MOST_OFF = {"six tokens": 3}


@pytest.mark.long
@pytest.mark.parametrize(
    ("layer", "least", "each"),
    [
        (PLAIN, 25, 3),
        pytest.param(PLAIN, 25, 1, marks=pytest.mark.slow),
        pytest.param(HEADS, 30, 1, marks=pytest.mark.slow),
    ],
    ids=["some", "all", "two heads"],
)
def test_every_mistake_is_named_from_the_output_alone(layer: Layer, least: int, each: int) -> None:
    assert check_all(search(layer).problem(["spring", "Ada"], "Attention"), each=each) >= least


@pytest.mark.long
def test_what_no_number_tells_apart_is_said() -> None:
    found = search(PLAIN).problem(["spring", "Ada"], "Attention")
    assert found.audit.alike == (
        ("W_Q and W_K were swapped", "K Q^T was worked out instead of Q K^T"),
        ("the scores were divided by d_k, not by its root", "the scores were scaled twice"),
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS_OF_PROBLEMS)
def test_every_mistake_is_named_in_many_problems(kind: str) -> None:
    layer, mask, decimals = KINDS_OF_PROBLEMS[kind]
    looking = search(layer, mask, decimals)
    assert check_all(looking.problem(["slow", "Ada"], "Attention"), decimals) >= 20


@pytest.mark.parametrize(
    "kind",
    [
        "causal",
        *(
            pytest.param(kind, marks=pytest.mark.slow)
            for kind in KINDS_OF_PROBLEMS
            if kind != "causal"
        ),
    ],
)
def test_a_problem_is_a_pleasure_to_work_out(kind: str) -> None:
    """Small whole numbers, no zero rows, a clear winner in each row, no large exponential, no
    doubtful rounding, and on paper the same output but for one unit.
    """
    layer, mask, decimals = KINDS_OF_PROBLEMS[kind]
    text = search(layer, mask, decimals).problem(["spring", "Ada"], "Attention").text
    given = yaml.safe_load(text)
    sheet = sheet_of(given)
    matrices = {
        name: np.array(given[name])
        for name in ("X", "W_Q", "W_K", "W_V", "Q", "K", "V")
        if name in given
    }
    assert all(
        matrix.dtype == int and set(matrix.ravel()) <= {-1, 0, 1, 2} for matrix in matrices.values()
    )
    assert all(
        matrix.any(axis=-1).all() and matrix.any(axis=-2).all() for matrix in matrices.values()
    )
    full = worked(sheet, steps_of(sheet))
    weights = np.sort(full.weights, axis=-1)
    assert (weights[..., -1] - weights[..., -2]).min() >= LEAST_LEAD - 1e-6
    assert full.scaled.max() <= LARGEST_SCORE
    for name in RIGHT:
        if name in full and name not in ("mask", "masked"):
            units = full[name] * 10.0**decimals
            assert (abs(units - np.floor(units) - 0.5) > 1e-7).all()
    paper = worked(sheet, steps_of(sheet), to_decimals(decimals))
    assert abs(paper.output - full.output).max() <= 1.01 * MOST_OFF.get(kind, 1) * 10.0**-decimals


@pytest.mark.slow
def test_sizes_of_which_there_is_no_problem_are_refused() -> None:
    with pytest.raises(
        attncli.AttncliError, match="has small scores and a clear winner in every row"
    ) as error:
        search(Layer(16, 8, 8, 8))
    assert "--dims 4,2,3,5" in error.value.help


def test_numbers_are_drawn_as_the_reference_says() -> None:
    """From SHAKE-256 of the key in JSON, two bytes for each number: so that no version of a library
    can change them. X has a zero in each column, W_V one in all.
    """
    from hashlib import shake_256

    layer = Layer(3, 2, 1, 2)
    drawn = layer.matrices(layer.draw(["midterm", "Ada"], range(5, 6)))
    shapes = {"X": (3, 2), "W_Q": (2, 1), "W_K": (2, 1), "W_V": (2, 2)}
    cells = sum(rows * columns for rows, columns in shapes.values())
    data = shake_256(b'["midterm", "Ada", 5]').digest(2 * cells)
    numbers, places = iter(data[:cells]), iter(data[cells:])
    for name, (rows, columns) in shapes.items():
        among = [-1, 1] if name == "W_V" else [-1, 1, 2]
        expected = [
            [among[next(numbers) % len(among)] for _ in range(columns)] for _ in range(rows)
        ]
        lowest = {(i, j): next(places) for i in range(rows) for j in range(columns)}
        groups = {"X": [[(i, j) for i in range(3)] for j in range(2)], "W_V": [[*lowest]]}
        for group in groups.get(name, []):
            row, column = min(group, key=lowest.__getitem__)
            expected[row][column] = 0
        assert drawn[name].tolist() == [expected], name


def test_numbers_that_stand_for_minus_infinity_are_all_tried() -> None:
    """Or the test above would not have to find them."""
    made = by_mistake(
        sheet_of(
            {
                "X": [[1, 0], [0, 1]],
                "W_Q": [[1], [2]],
                "W_K": [[2], [1]],
                "W_V": [[1], [1]],
                "mask": "causal",
            }
        )
    )
    assert {f"{sentinel(number)} was added instead of -inf" for number in SENTINELS} <= set(made)
