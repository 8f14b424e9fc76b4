"""`attncli.testing.cases`: the cases for tests in Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli.testing
from attncli.errors import AttncliError
from attncli.testing import AttentionCase, cases
from attncli.testing.battery import all_cases
from tests.cases import in_one_test
from tests.testing.other_program import Array, attention


def plain(q: Array, k: Array, v: Array, attn_mask: Array | None = None) -> Array:
    """A function that has one setting, and not of the usual name."""
    is_truth = attn_mask is not None and attn_mask.dtype == np.bool_
    return attention(q, k, v, **{"mask" if is_truth else "bias": attn_mask})


def flat(q: Array, k: Array, v: Array) -> Array:
    """A function of two axes."""
    return attention(q[None, None], k[None, None], v[None, None])[0, 0]


def message(case: AttentionCase, output: object, **settings: Any) -> str:
    with pytest.raises(AssertionError) as error:
        case.judge(output, **settings)
    return str(error.value)


@in_one_test("case", cases(), ids=str)
def test_attention_by_the_book_is_right(case: AttentionCase) -> None:
    case.judge(attention(case.q, case.k, case.v, **case.kwargs))


@in_one_test("case", cases(plain), ids=str)
def test_a_function_is_asked_what_it_has_parameters_for(case: AttentionCase) -> None:
    assert set(case.kwargs) <= {"attn_mask"}
    case.judge(plain(case.q, case.k, case.v, **case.kwargs))


@pytest.mark.parametrize("case", cases(flat, axes=2), ids=str)
def test_a_function_of_two_axes(case: AttentionCase) -> None:
    assert case.q.ndim == 2
    case.judge(flat(case.q, case.k, case.v, **case.kwargs))


def test_which_cases_there_are() -> None:
    names = [case.name for case in all_cases() if case.dtype != "bfloat16"]
    assert [str(case) for case in cases()] == names
    shared = [case.name for case in all_cases() if "grouped" in case.asks]
    assert [name for name in names if name not in map(str, cases(grouped=False))] == shared
    assert not {*shared} & {*map(str, cases(plain))}
    assert {*shared} <= {*map(str, cases(plain, grouped=True))}
    three = cases(axes=3)
    assert all(case.q.ndim == 3 for case in three)
    assert len(names) > len(three) > len(cases(flat, axes=2)) == 4


def test_arrays_have_the_number_format() -> None:
    for case in cases(dtype="float32"):
        assert case.q.dtype == case.dtype
        assert case.dtype in ("float32", "float16")
        masks = [value for name, value in case.kwargs.items() if name == "mask"]
        assert all(mask.dtype == np.bool_ for mask in masks)


def test_nobody_changes_the_cases_of_others() -> None:
    cases()[0].q[:] = 0
    assert cases()[0].q.any()


def test_what_is_said_of_a_wrong_output() -> None:
    (case, *_) = cases()
    scores = case.q @ np.swapaxes(case.k, -1, -2)
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    wrong = weights @ case.v
    right = attention(case.q, case.k, case.v)
    said = message(case, wrong).splitlines()
    assert said[0] == "plain: the scores were not scaled"
    assert "  The first wrong number is output[0, 0, 0, 0]." in said
    assert f"    it gave   {wrong[0, 0, 0, 0]:.3f}" in said
    (worked,) = [line for line in said if line.startswith("    right  ") and "·" in line]
    assert worked.endswith(f"≈ {right[0, 0, 0, 0]:.3f}")
    assert max(map(len, said)) <= 80


def test_a_summary_has_all_names_in_its_first_line() -> None:
    (case, *_) = cases()
    weights = np.exp(case.q @ np.swapaxes(case.k, -1, -2) / case.q.shape[-1])
    said = message(case, weights / weights.sum(axis=-1, keepdims=True) @ case.v)
    first, empty, *_ = said.splitlines()
    assert first.startswith("plain: the scores were divided by d_k, not by its root, or ")
    assert not empty
    assert "This case does not tell these mistakes apart." in said


@pytest.mark.long
def test_the_first_wrong_number_is_named_by_its_place() -> None:
    (case, *_) = cases()
    output = attention(case.q, case.k, case.v)
    output[1, 0, 2, 3] += 0.5
    said = message(case, output)
    assert said.startswith("plain: its output differs")
    assert "No mistake that attncli knows gives this output." in said
    assert "output[1, 0, 2, 3]" in said


@pytest.mark.long
def test_a_query_that_sees_no_key() -> None:
    (case,) = (case for case in cases() if str(case) == "a query that sees no key")
    output = attention(case.q, case.k, case.v, **case.kwargs)
    blind = ~case.kwargs["mask"][0, 0].any(axis=-1)
    for allowed in (0, np.nan):
        output[..., blind, :] = allowed
        case.judge(output)
    output[..., blind, :] = 7
    assert "gets neither 0, nor NaN, nor the average" in message(case, output)


@in_one_test(
    ("output", "said"),
    [
        (None, "plain: it returns nothing"),
        ("text", "plain: it returns a value of type str, not an array of numbers"),
        ({}, "plain: it returns a value of type dict"),
        ((), "plain: it returns an empty tuple"),
        ([[1], [2, 3]], "plain: it returns no array"),
        (np.zeros((2, 2)), "plain: its shape is 2×2, not 2×2×3×6"),
        (np.ones((2, 2, 3, 6), bool), "not an array of numbers"),
    ],
)
def test_what_is_no_output(output: object, said: str) -> None:
    assert said in message(cases()[0], output)


def test_lists_and_tuples_are_outputs() -> None:
    (case, *_) = cases()
    output = attention(case.q, case.k, case.v)
    case.judge(output.tolist())
    case.judge((output, "weights"))


@pytest.mark.long
def test_how_exact_an_output_has_to_be() -> None:
    (case, *_) = cases()
    output = attention(case.q, case.k, case.v)
    case.judge(output.astype(np.float32))
    case.judge(output.astype(np.float16))
    coarse = output.astype(np.float16).astype(np.float64)
    case.judge(coarse, dtype="float16")
    assert message(case, coarse).startswith("plain: its output differs")


def test_tensors_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed", exc_type=ImportError)
    function = torch.nn.functional.scaled_dot_product_attention
    asked = cases(function, dtype="float32", make=torch.from_numpy)
    assert {name for case in asked for name in case.kwargs} == {
        *("attn_mask", "is_causal", "scale", "enable_gqa", "dropout_p")
    }
    for case in asked:
        assert isinstance(case.q, torch.Tensor)
        case.judge(function(case.q.requires_grad_(), case.k, case.v, **case.kwargs))
    (first, *_) = asked
    first.judge(function(first.q, first.k, first.v).bfloat16())
    wrong = function(first.q, first.k, first.v, scale=1.0)
    assert message(first, wrong).startswith("plain: the scores were not scaled")


def test_a_causal_mask_beside_another_is_asked_for() -> None:
    def function(q: object, k: object, v: object, mask: object, is_causal: bool) -> None: ...

    def named(**options: bool) -> set[str]:
        return {case.name for case in cases(function, **options)}

    assert named(combined=True) - named() == {"causal, with a mask"}
    assert named(combined=False) == named()


def test_a_case_says_in_a_line_what_it_is() -> None:
    plain, *others = cases(axes=2)
    assert repr(plain) == "<case plain: q 3×5, k 4×5, v 4×6>"
    (masked,) = (case for case in others if case.name == "a mask of truth values")
    assert repr(masked) == "<case a mask of truth values: q 3×5, k 4×5, v 4×6; mask>"


def test_make_has_to_be_a_function() -> None:
    with pytest.raises(AttncliError, match="make cannot be 3"):
        cases(make=3)  # type: ignore[arg-type]


def _two(q: object, k: object) -> None:
    """A function of too few parameters."""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"axes": 5}, "axes cannot be 5"),
        ({"axes": "four"}, "axes cannot be 'four'"),
        ({"dtype": "bfloat16"}, "dtype cannot be 'bfloat16'"),
        ({"function": "attention"}, "function cannot be 'attention'"),
        ({"function": _two}, "fewer than three parameters: q, k"),
    ],
)
def test_what_cases_does_not_take(given: dict[str, Any], said: str) -> None:
    with pytest.raises(AttncliError, match=said) as error:
        cases(**given)
    assert error.value.exit_code == 2


def test_a_number_format_that_is_none() -> None:
    (case, *_) = cases()
    with pytest.raises(AttncliError, match="dtype cannot be 'float8'"):
        case.judge(attention(case.q, case.k, case.v), dtype="float8")


def test_importing_it_imports_nothing_large() -> None:
    program = "import sys, attncli.testing; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
    assert not hasattr(attncli.testing, "no_such_name")


PROGRAM = """
import numpy as np
import pytest
from attncli.testing import cases

def attention(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2)
    weights = np.exp(scores)
    return weights / weights.sum(axis=-1, keepdims=True) @ v

@pytest.mark.parametrize("case", cases(attention)[:1], ids=str)
def test_attention(case):
    case.judge(attention(case.q, case.k, case.v, **case.kwargs))
"""


@pytest.mark.long
def test_pytest_says_what_the_judge_says(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "AssertionError: plain: the scores were not scaled" in done.stdout
    # What stands inside of attncli does not matter to whoever reads it.
    assert "in_python.py" not in done.stdout
