"""The scheme by which a set is marked, as `attncli generate` proposes it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import yaml

import attncli
from attncli.cli.sheet_options import read_marks
from attncli.features.generate.marking_scheme import marking
from attncli.marking.asked import asked_steps
from attncli.marking.shares import shares
from attncli.marking.sheet_marks import SheetMarks
from tests.cases import in_one_test


def scheme(marks: int, ask: list[str] | None = None, **more: object) -> dict[str, object]:
    rng = np.random.default_rng(1)
    sizes = {"X": (4, 2), "W_Q": (2, 3), "W_K": (2, 3), "W_V": (2, 5)}
    given = {name: rng.integers(-1, 2, shape) for name, shape in sizes.items()}
    trace = attncli.trace({**given, **more})
    text = "".join(marking(trace, asked_steps(trace, ask), SheetMarks(marks), 2))
    found: dict[str, object] = yaml.safe_load(text)
    return found


def test_every_number_is_worth_about_the_same() -> None:
    """Of 132 numbers and 20 marks, three numbers are worth half a mark: 12 of them 1.8, 16 of them
    2.4 and 20 of them 3.0 marks. Keys that are only copied have none.
    """
    assert scheme(20) == {
        "marks": 20,
        "decimals": 2,
        "steps": {
            "Q": 1.5,
            "K": 1.5,
            "V": 3,
            "scores": 2.5,
            "scaled": 2.5,
            "exp": 2.5,
            "row_sum": 1,
            "weights": 2.5,
            "output": 3,
        },
        "mistake": 2,
        "slip": 1,
        "digit": 0.5,
    }


def test_the_comments_say_what_a_blank_costs_beside_a_slip() -> None:
    """9 / 16 and 11 / 20."""
    rng = np.random.default_rng(1)
    given = {name: rng.integers(-1, 2, (4, 5)) for name in ("Q", "K", "V")}
    trace = attncli.trace(given)
    asked = asked_steps(trace, ["weights", "output"])
    lines = "".join(marking(trace, asked, SheetMarks(20), 2)).splitlines()
    text = " ".join(line.removeprefix("# ") for line in lines)
    assert "instead, here about 0.56 in weights and 0.55 in output." in text
    assert max(map(len, lines)) < 100


@pytest.mark.parametrize(
    ("marks", "mistake", "slip"), [(1, 0.1, 0.05), (5, 0.5, 0.25), (33, 3.5, 1.75), (100, 10, 5)]
)
def test_what_a_mistake_costs(marks: int, mistake: float, slip: float) -> None:
    found = scheme(marks)
    assert (found["mistake"], found["slip"]) == (mistake, slip)


def test_what_is_copied_has_marks_if_nothing_else_is_asked_for() -> None:
    assert scheme(20, ["K"])["steps"] == {"K": 20}
    assert scheme(20, ["K_T"])["steps"] == {"K_T": 20}


def of_two_heads(ask: list[str] | None) -> dict[str, object]:
    rng = np.random.default_rng(1)
    sizes = {"X": (4, 2), "W_Q": (2, 6), "W_K": (2, 6), "W_V": (2, 4)}
    given = {name: rng.integers(-1, 2, shape) for name, shape in sizes.items()}
    trace = attncli.trace({**given, "heads": 2})
    text = "".join(marking(trace, asked_steps(trace, ask), SheetMarks(20), 2))
    found: dict[str, object] = yaml.safe_load(text)["steps"]
    return found


@pytest.mark.parametrize("last", ["heads_output", "concat", "output"])
def test_the_outputs_of_the_heads_bring_marks_in_whatever_form_they_are_asked_for(
    last: str,
) -> None:
    """Side by side they are the output: two heads have 32 weights and 16 numbers of the output."""
    assert of_two_heads(["weights", last]) == {"weights": 13.5, last: 6.5}


def test_the_same_numbers_are_asked_for_once() -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        of_two_heads(["weights", "heads_output", "output"])
    assert caught.value.message == (
        "output has the numbers of heads_output again, which is asked for"
    )
    assert caught.value.help == "leave out output, or heads_output"
    steps = of_two_heads(None)
    assert "heads_output" in steps
    assert "output" not in steps


@in_one_test(
    ("sizes", "marks"),
    [
        ((4, 4, 9), 10),
        ((1, 3, 3, 8), 12),
        ((2, 5, 5, 5, 6), 13),
        ((7, 7), 9),
        ((12, 16, 16, 4), 20),
    ],
)
def test_equal_shares_are_the_nearest_of_all(sizes: tuple[int, ...], marks: int) -> None:
    """Of all half marks that grow with the size, and are the same for steps of one size."""
    halves = 2 * marks
    different = sorted(set(sizes))
    off = {}
    for parts in product(range(1, halves + 1), repeat=len(different)):
        part_of = dict(zip(different, parts, strict=True))
        of_steps = [part_of[size] for size in sizes]
        if sum(of_steps) == halves and [*parts] == sorted(parts):
            right = [Fraction(halves * size, sum(sizes)) for size in different]
            apart = [(part - share) ** 2 for part, share in zip(parts, right, strict=True)]
            off[tuple(of_steps)] = sum(apart)
    names = {f"step {i}": size for i, size in enumerate(sizes)}
    found = tuple(int(2 * share) for share in shares(names, marks).values())
    assert off[found] == min(off.values())


def test_shares_of_many_different_sizes_are_found_at_once() -> None:
    sizes = {f"step {size}": size for size in range(3, 33)}
    assert sum(shares(sizes, 100).values()) == 100


def test_shares_are_half_marks_that_add_up() -> None:
    rng = np.random.default_rng(7)
    for _ in range(300):
        sizes = {
            f"step {i}": int(size)
            for i, size in enumerate(rng.integers(1, 40, rng.integers(1, 10)))
        }
        marks = int(rng.integers(1, 101))
        found = shares(sizes, marks)
        assert sum(found.values()) == marks
        assert [*found] == [*sizes]
        assert all(share > 0 for share in found.values())
        if 2 * marks >= len(sizes):
            assert all((2 * share).denominator == 1 for share in found.values())
        for name, share in found.items():
            right = Fraction(marks * sizes[name], sum(sizes.values()))
            assert abs(share - right) < max(Fraction(3, 2), right / 4)


def test_marks_of_each_step() -> None:
    assert read_marks("--marks", "30") == SheetMarks(30)
    chosen = read_marks("--marks", "scores=4, A=8.5,output=7.5")
    assert chosen == SheetMarks(
        20, {"scores": Fraction(4), "weights": Fraction(17, 2), "output": Fraction(15, 2)}
    )
    chosen.require_all({"scores": 16, "weights": 16, "output": 20}, [*chosen.of_steps])


@pytest.mark.parametrize(
    ("written", "numbers", "message"),
    [
        ("0", {}, "--marks cannot be '0'"),
        ("scores=4,weights=8.5", {}, "add up to 12.5"),
        ("scores=four", {}, "cannot give scores four"),
        ("scores=", {}, "cannot give scores nothing"),
        ("scores=4,S=4", {}, "has scores twice"),
        ("scores=4,", {}, "empty step"),
        ("scores=4", {"scores": 9, "weights": 9}, "has none for weights"),
        ("scores=4,output=4", {"scores": 9}, "output is not asked for"),
        ("scores=4,K_T=4", {"scores": 9}, "K_T is only copied"),
    ],
)
def test_what_are_no_marks(written: str, numbers: dict[str, int], message: str) -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        read_marks("--marks", written).require_all(numbers, ["scores", "K_T", "weights"])
    assert message in str(caught.value)
