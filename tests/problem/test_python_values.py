"""Problems made in Python: the same problem as from a file, the same errors by path, and arrays
that nobody changes.
"""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import attncli
from attncli.problem.keys import KEYS
from attncli.problem.python_values import ProblemKeys
from tests.cases import in_one_test

INPUTS = Path(__file__).parents[2] / "inputs"
ONE = np.eye(2)
QKV: dict[str, Any] = {"Q": ONE, "K": ONE, "V": ONE}


@pytest.mark.sampled(25)
@pytest.mark.parametrize(
    "file",
    sorted([*INPUTS.glob("*.yaml"), *INPUTS.glob("equations/*.yaml")]),
    ids=lambda file: file.stem,
)
def test_a_dict_is_the_problem_of_a_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(INPUTS)  # where {file: …} leads from
    read, problem = attncli.load(file), attncli.load(yaml.safe_load(file.read_text()))
    worked, expected = attncli.trace(problem), attncli.trace(read)
    assert {name: worked[name].tolist() for name in worked} == {
        name: expected[name].tolist() for name in expected
    }
    assert (problem.title, problem.tokens, problem.context_tokens) == (
        read.title,
        read.tokens,
        read.context_tokens,
    )


def test_every_key_has_its_keyword() -> None:
    assert list(ProblemKeys.__annotations__) == list(KEYS)


def test_a_misspelt_keyword_is_an_error_for_mypy_too() -> None:
    with pytest.raises(attncli.AttncliError, match="W_q") as caught:
        attncli.problem(W_q=ONE)  # type: ignore[call-arg]  # which mypy would say is not needed
    assert caught.value.help == "did you mean W_Q?"


def test_numbers_keep_the_way_they_are_given() -> None:
    given = [
        [1, 0.5, "1/3"],
        [Fraction(-2, 7), Decimal("0.70"), "sqrt(2)"],
        [np.float32(0.25), np.int8(-3), "0.10"],
    ]
    matrix = attncli.problem(Q=given, K=[[1, 2, 3]], V=[[1]]).given["Q"]
    assert matrix.written is not None
    assert matrix.written.tolist() == [
        ["1", "0.5", "1/3"],
        ["-2/7", "0.70", "sqrt(2)"],
        ["0.25", "-3", "0.10"],
    ]
    np.testing.assert_allclose(
        matrix.value, [[1, 0.5, 1 / 3], [-2 / 7, 0.7, 2**0.5], [0.25, -3, 0.1]], rtol=1e-15
    )


@in_one_test(
    "dtype", ["int8", "uint16", "int64", "float16", "float32", "float64", "longdouble", "object"]
)
def test_arrays_of_every_real_type(dtype: str) -> None:
    """Weights are 1/2, so the output is the mean of the two values."""
    values = np.array([[1, 4], [3, 8]], dtype)
    assert attncli.trace(Q=[[0]], K=[[1], [2]], V=values)["output"].tolist() == [[2, 6]]
    assert attncli.trace(Q=[[0]], K=[[1], [2]], V=list(values))["output"].tolist() == [[2, 6]]


def test_arrays_are_copied_and_left_alone() -> None:
    values, mask = np.array([[1.0, 4.0], [3.0, 8.0]]), np.array([[True, True]])
    problem = attncli.problem(Q=[[0]], K=[[1], [2]], V=values, mask=mask)
    assert values.flags.writeable
    values[:] = 9
    mask[:] = False
    assert attncli.trace(problem)["output"].tolist() == [[2, 6]]
    with pytest.raises(ValueError, match="read-only"):
        problem.given["V"].value[0, 0] = 7


@pytest.mark.long
def test_large_arrays_are_not_turned_into_lists() -> None:
    """A list of 4 million numbers would take some 130 MB more, and seconds."""
    code = """
import tracemalloc, numpy as np, attncli
keys, mask = np.ones((2000, 2000), np.float32), np.zeros((1, 2000))
mask[0, 1:] = -np.inf
tracemalloc.start()
attncli.problem(Q=keys[:1], K=keys, V=keys, mask=mask)
print(tracemalloc.get_traced_memory()[1])
"""
    peak = int(
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout
    )
    assert peak < 180e6  # two matrices of 32 MB, and what a copy takes meanwhile


def test_tensors_become_arrays() -> None:
    torch = pytest.importorskip("torch")
    trace = attncli.trace(Q=torch.zeros(1, 1), K=torch.ones(2, 1), V=torch.tensor([[1, 4], [3, 8]]))
    assert trace["output"].tolist() == [[2, 6]]


def test_tensors_that_numpy_cannot_read() -> None:
    """One with a gradient, one of bfloat16, and both in a list; 1.003 is 1.0 in bfloat16."""
    torch = pytest.importorskip("torch")
    with_gradient = torch.tensor([[1.0, 4], [3, 8]], requires_grad=True)
    of_16_bits = torch.tensor([[1.003, 4], [3, 8]], dtype=torch.bfloat16)
    for values in (with_gradient, of_16_bits, [*with_gradient], [*of_16_bits]):
        trace = attncli.trace(Q=[[0]], K=[[1], [1]], V=values)
        assert trace["output"].tolist() == [[2, 6]]
    scaled = attncli.trace(Q=ONE, K=ONE, V=ONE, scale=torch.tensor(2.0, requires_grad=True))
    assert scaled.settings.scale == 2
    problem = attncli.problem(Q=[[0]], K=[[1], [1]], V=with_gradient)
    mean = with_gradient.mean(dim=0, keepdim=True)
    for answer in (mean, mean.bfloat16()):
        assert attncli.check(problem, {"output": answer}).passed


def test_a_tensor_on_a_gpu_is_copied() -> None:
    """A stand-in for a tensor that NumPy cannot read before it is on the CPU."""

    class OnGpu:
        dtype = "torch.float32"

        def __array__(self, *_: Any, **__: Any) -> Any:
            raise TypeError("can't convert cuda:0 device type tensor to numpy")

        def detach(self) -> OnGpu:
            return self

        def cpu(self) -> Any:
            return np.array([[1, 4], [3, 8]], np.float32)

    problem = attncli.problem(Q=ONE, K=ONE, V=OnGpu())
    assert problem.given["V"].value.tolist() == [[1, 4], [3, 8]]


def test_a_tensor_without_plain_numbers() -> None:
    torch = pytest.importorskip("torch")
    sparse = torch.eye(2).to_sparse()
    with pytest.raises(attncli.AttncliError, match=r"^V: a value of type Tensor cannot") as caught:
        attncli.problem(Q=ONE, K=ONE, V=sparse)
    assert "in the computer's memory" in caught.value.help


class _DLPack:
    """What has no other way to hand over its numbers than DLPack."""

    ndim = 2

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **choices: Any) -> Any:
        return self._array.__dlpack__(**choices)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def test_dlpack_is_enough() -> None:
    assert attncli.trace(Q=[[0]], K=[[1], [2]], V=_DLPack(np.array([[1, 4], [3, 8]])))[
        "output"
    ].tolist() == [[2, 6]]  # type: ignore[arg-type]


@in_one_test(
    ("change", "error"),
    [
        ({"V": [[1, 0], [1, "x"]]}, "V[1][1]: x is not a number"),
        ({"V": np.array([[1, np.nan], [2, 3]])}, "V[0][1]: nan is not a finite number"),
        ({"V": [[1, float("inf")], [2, 3]]}, "V[0][1]: inf is not allowed here"),
        ({"V": [[1, True], [2, 3]]}, "V[0][1]: true is a truth value, not a number"),
        ({"V": ONE > 0}, "V: holds truth values, not numbers"),
        ({"V": ONE * 1j}, "V[0][0]: a value of type complex cannot be read"),
        (
            {"V": np.zeros((0, 2))},
            "V: the array has the shape (0, 2): it is empty, or it is not a matrix",
        ),
        ({"V": [ONE, np.ones((3, 2))]}, "V[1]: has 3 rows, but V[0] has 2"),
        (
            {"V": [[2**60 + 1, 10**5000]]},
            "V[0][1]: 10000000000000000000…0000000000 (5,001 characters) is too long for a number",
        ),
        (
            {"V": np.array([[2**53 + 1, 1], [1, 1]])},
            (
                "V[0][0]: 9007199254740993 would become 9007199254740992: a "
                "double does not hold all its digits"
            ),
        ),
        ({"V": np.ma.array(ONE, mask=ONE > 0)}, "V: has masked cells, which hold no numbers"),
        ({"V": [["_", 1], ["_", 2]]}, "V[0][0]: 2 numbers are still to be written"),
        ({"V": b"12"}, "V: a value of type bytes cannot be read"),
        ({"V": {1, 2}}, "V: a value of type set cannot be read"),
        ({"V": {1: 2}}, "V: a key must be a word, not 1"),
        ({"V": {"file": "../arrays.npy"}}, "V.file: ../arrays.npy is outside the problem's folder"),
        (
            {"K": np.ones((2, 3))},
            "K: a key has 3 numbers and a query 2: a dot product needs the same number",
        ),
        (
            {"Q": None, "X": ONE, "W_Q": np.ones((3, 2))},
            "W_Q: X is 2×2 and W_Q is 3×2: X has 2 columns, but W_Q has 3 rows",
        ),
        ({"past": ONE}, "past: must be a mapping, not an array"),
        ({"loss": ONE}, "loss: must be a mapping, not an array"),
        ({"position": ONE}, "position: must be a mapping, not an array"),
        ({"tokens": ONE}, "tokens: must be a list of labels, not an array"),
        (
            {"tokens": ["a", "\ud800"]},
            "tokens[1]: this is half of a surrogate pair, not a character",
        ),
        ({"scale": ONE}, "scale: must be a number, not an array"),
        ({"heads": 0.5}, "heads: must be a whole number of at least 1, not 0.5"),
        ({"mask": ONE}, "mask: a mask of only 0 and 1 is ambiguous: 1 can mean visible or hidden"),
        ({"mask": {"causal": ONE}}, "mask.causal: must be true or false, not an array"),
        (
            {"mask": {"padding": np.array([1, 2])}},
            "mask.padding[1]: must be true or false, 1 or 0, not 2",
        ),
        ({"W_q": ONE}, "there is no key W_q"),
        ({"V": None}, "the values are missing"),
    ],
)
def test_errors_have_a_path_and_no_place(change: dict[str, Any], error: str) -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.load(QKV | change)
    assert str(caught.value) == error
    assert (caught.value.place, int(caught.value.exit_code)) == (None, 3)
    assert caught.value.help


def test_lists_inside_themselves_are_an_error() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(attncli.AttncliError, match="nested more than 64 deep"):
        attncli.load(QKV | {"V": endless})


@in_one_test(
    "change",
    [
        {"tokens": np.array(["a", "b"])},
        {"tokens": ("a", "b"), "title": "t", "heads": np.int64(1), "scale": Fraction(1, 3)},
        {"sink": np.array([0.5])},
        {"Q": None, "K": None, "V": None, "X": ONE, "W_Q": ONE, "W_K": ONE, "W_V": ONE},
        {"sink": np.float32(0.5)},
        {"mask": np.where(ONE > 0, 0, -np.inf)},
        {"mask": {"lengths": np.array([2])}},
        {"mask": {"padding": np.array([True, False])}},
        {"mask": [{"window": np.array([1, 0])}, "causal"]},
        {"mask": None, "scale": None, "loss": None},
        {"loss": {"kind": "cross_entropy", "targets": np.array([0, 1])}},
        {"loss": {"kind": "mse", "target": ONE}},
        {"past": {"K": ONE, "V": ONE}},
        {"Q": {"random": [2, 2], "seed": 1}},
        {"Q": range(2)} | {"Q": [range(2), range(2)]},
    ],
)
def test_arrays_stand_wherever_lists_do(change: dict[str, Any]) -> None:
    assert "output" in attncli.trace(QKV | change)


def test_a_convention_and_a_problem_as_one_line() -> None:
    mask = np.array([[True, False], [False, True]])
    assert attncli.problem(**QKV, mask=mask, convention="torch-mha").mask.names == ["hide"]
    assert attncli.load(QKV | {"mask": mask}, convention="torch").mask.names == ["keep"]
    assert attncli.trace(**QKV)["weights"].shape == (2, 2)
    with pytest.raises(attncli.AttncliError, match=r"(?m)^Q and K given beside a problem$"):
        attncli.trace(attncli.problem(**QKV), Q=ONE, K=ONE)
    with pytest.raises(attncli.AttncliError, match=r"'precison'\nhelp: did you mean precision\?$"):
        attncli.trace(attncli.problem(**QKV), precison=2)


def test_the_function_is_called_like_the_package() -> None:
    """After an import of a module of it, Python finds the package under that name."""
    import attncli.problem.loader

    assert attncli.problem.loader.load
    assert isinstance(attncli.problem(**QKV), attncli.Problem)
