"""Masks that do not say what they mean, read as other software reads them; tests/frameworks runs
that software.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attncli.cli.input import change
from attncli.cli.overrides import Overrides
from attncli.errors import AttncliError
from attncli.problem.loader import load, loads
from attncli.problem.parts.conventions import CONVENTIONS, OWN
from attncli.problem.parts.masks import Mask
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.keep_and_hide import Hide, Keep
from attncli.tracing import run
from tests.cases import in_one_test

QKV = "{Q: [[1, 0], [0, 1]], K: [[1, 0], [0, 1], [1, 1]], V: [[1], [2], [3]]"
TRUTHS, ONES, FLOATS, NUMBERS = (
    f"[[{row}], [{row}]]" for row in ("true, false, true", "1, 0, 1", "1.0, 0, 1.0", "0, -1, -inf")
)


def read(mask: str, convention: str | None) -> Mask:
    return loads(f"{QKV},\nmask: {mask}}}".encode(), "p.yaml", convention=convention).mask


def refusal(mask: str, convention: str | None) -> AttncliError:
    with pytest.raises(AttncliError) as caught:
        read(mask, convention)
    return caught.value


@in_one_test(
    ("convention", "truths", "ones"),
    [
        ("torch", Keep, Additive),
        ("torch-mha", Hide, Additive),
        ("keras", Keep, Keep),
        ("jax", Keep, Additive),
        ("onnx", Keep, Additive),
        ("flash", Keep, Keep),
        ("mlx", Keep, Additive),
    ],
)
def test_what_true_and_what_one_mean(convention: str, truths: type, ones: type) -> None:
    for mask, expected in ((TRUTHS, truths), (FLOATS, ones), (ONES, ones)):
        if mask == ONES and convention.startswith("torch"):
            continue  # refused, as below
        (part,) = read(mask, convention).parts
        assert type(part) is expected
        matrix = part.matrix.value if isinstance(part, Additive) else part.matrix  # type: ignore[union-attr]
        np.testing.assert_array_equal(matrix, [[1, 0, 1], [1, 0, 1]])


@pytest.mark.parametrize("convention", ["torch", "torch-mha", "jax", "onnx", "mlx"])
def test_numbers_are_added(convention: str) -> None:
    (part,) = read(NUMBERS, convention).parts
    assert isinstance(part, Additive)


@pytest.mark.parametrize("convention", ["keras", "flash"])
def test_numbers_are_refused_where_they_would_stand_for_truth_values(convention: str) -> None:
    error = refusal(NUMBERS, convention)
    assert (
        str(error)
        == f"mask: {convention} never adds a mask to the scores: its masks hold true and false, or"
        " 1 and 0"
    )
    assert error.help == "write true and false, or {additive: …} for numbers that are added"
    assert error.exit_code == 3


@pytest.mark.parametrize("convention", ["torch", "torch-mha"])
def test_zeros_and_ones_as_integers_are_refused_where_they_are_an_error(convention: str) -> None:
    error = refusal(ONES, convention)
    assert (
        str(error)
        == f"mask: {convention} does not accept a mask of integers: 1 can mean visible or hidden"
    )
    assert (
        error.help
        == "write true and false, {keep: …} or {hide: …}; or for numbers to add {additive: …}, or"
        " 1.0 and 0.0"
    )
    assert error.exit_code == 3
    with pytest.raises(AttncliError) as caught:
        change(loads(f"{QKV}}}".encode(), "p.yaml", convention=convention), Overrides(mask=ONES))
    assert caught.value.exit_code == 2


@in_one_test(
    ("convention", "mask"), [("onnx", ONES), ("jax", ONES), ("torch", FLOATS), ("onnx", FLOATS)]
)
@in_one_test("more", ["", ", {padding: [1, 1, 0]}"])
def test_zeros_and_ones_that_are_added_hide_nothing_and_are_told(
    convention: str, mask: str, more: str
) -> None:
    form = f"[{{additive: {mask}}}{more}]" if more else mask
    trace = run(loads(f"{QKV},\nmask: {form}}}".encode(), "p.yaml", convention=convention))
    said = f"this mask of 0 and 1 hides no key: {convention} adds its numbers to the scores"
    assert trace.warnings == (said,)


@pytest.mark.parametrize(
    ("convention", "mask"),
    [("keras", ONES), ("torch", TRUTHS), ("jax", NUMBERS), (None, f"{{additive: {ONES}}}")],
)
def test_masks_that_hide_or_say_that_they_are_added_are_not_told(
    convention: str | None, mask: str
) -> None:
    assert (
        run(loads(f"{QKV},\nmask: {mask}}}".encode(), "p.yaml", convention=convention)).warnings
        == ()
    )


@in_one_test("convention", CONVENTIONS)
@in_one_test(
    "mask", ["causal", "{causal: true}", "{window: [1, 0]}", "[causal, {padding: [1, 1, 0]}]"]
)
def test_a_corner_that_is_not_written(convention: str, mask: str) -> None:
    assert read(mask, convention).corner == (
        "bottom-right" if convention in ("flash", "mlx") else "top-left"
    )


@pytest.mark.parametrize("corner", ["top-left", "bottom-right"])
def test_a_corner_that_is_written_stays(corner: str) -> None:
    assert (
        read(f"[{{causal: true, corner: {corner}}}, {{window: [1, 0]}}]", "flash").corner == corner
    )


@pytest.mark.parametrize("mask", ["none", TRUTHS, "{padding: [1, 1, 0]}"])
def test_what_has_no_corner_gets_none(mask: str) -> None:
    assert read(mask, "flash").corner == OWN.corner


@pytest.mark.parametrize(
    "mask", [f"{{keep: {ONES}}}", f"{{hide: {TRUTHS}}}", f"{{additive: {ONES}}}"]
)
def test_forms_say_themselves_what_they_mean(mask: str) -> None:
    types = {
        tuple(type(part) for part in read(mask, convention).parts)
        for convention in (None, *CONVENTIONS)
    }
    assert len(types) == 1


def test_without_a_convention_zeros_and_ones_are_still_refused() -> None:
    assert (
        str(refusal(ONES, None))
        == "mask: a mask of only 0 and 1 is ambiguous: 1 can mean visible or hidden"
    )


def test_arrays_in_files(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "m.npz",
        truths=np.eye(2, 3, dtype=bool),
        ones=np.eye(2, 3, dtype=np.int8),
        floats=np.eye(2, 3),
        numbers=np.ones((2, 3)) * 2,
    )
    problem = tmp_path / "p.yaml"

    def part(name: str, convention: str) -> type:
        problem.write_text(f"{QKV}, mask: {{file: m.npz, name: {name}}}}}")
        return type(load(str(problem), convention=convention).mask.parts[0])

    assert [part("truths", name) for name in ("torch", "torch-mha", "keras")] == [Keep, Hide, Keep]
    assert [part("ones", name) for name in ("onnx", "jax", "keras")] == [Additive, Additive, Keep]
    assert [part("floats", name) for name in ("torch", "torch-mha", "keras")] == [
        Additive,
        Additive,
        Keep,
    ]
    with pytest.raises(AttncliError, match="torch does not accept a mask of integers"):
        part("ones", "torch")
    assert part("numbers", "jax") is Additive
    with pytest.raises(AttncliError, match="keras never adds a mask"):
        part("numbers", "keras")


def test_another_mask_is_read_by_the_same_convention() -> None:
    problem = loads(f"{QKV}}}".encode(), "p.yaml", convention="torch-mha")
    assert problem.convention == "torch-mha"
    (part,) = change(problem, Overrides(mask=TRUTHS)).mask.parts
    assert isinstance(part, Hide)
    assert (
        change(
            loads(f"{QKV}}}".encode(), "p.yaml", convention="flash"), Overrides(mask="causal")
        ).mask.corner
        == "bottom-right"
    )


def test_an_unknown_convention() -> None:
    with pytest.raises(AttncliError) as caught:
        loads(f"{QKV}}}".encode(), "p.yaml", convention="tourch")
    assert (str(caught.value), caught.value.help) == (
        "convention cannot be 'tourch'",
        "did you mean torch?",
    )
    assert caught.value.exit_code == 2
