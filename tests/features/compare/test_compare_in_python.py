"""`attncli.compare`: the command's own comparison, of what Python hands over."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import attncli
from attncli.cli.main import run
from attncli.features.schema.command import schemas
from tests.cases import in_one_test

SCHEMA = json.loads(schemas()["comparison"].read_text(encoding="utf-8"))
INPUTS = Path(__file__).parents[3] / "inputs"
CAUSAL, LOVE = INPUTS / "causal.yaml", INPUTS / "i_love_ai.yaml"
X = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]])
W_Q = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1]])
W_K = np.array([[0, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]])
W_V = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])


def weights(scale: float = 3**-0.5, hidden: float = -np.inf) -> Any:
    """Those of inputs/causal.yaml, by NumPy alone."""
    masked = np.where(np.tri(3) > 0, X @ W_Q @ (X @ W_K).T * scale, hidden)
    exp = np.exp(masked - masked.max(axis=-1, keepdims=True))
    return exp / exp.sum(axis=-1, keepdims=True)


OUTPUT = weights() @ X @ W_V


@in_one_test(
    "other",
    [
        OUTPUT,
        OUTPUT.tolist(),
        {"output": OUTPUT},
        {"weights": weights(), "output": OUTPUT},
        {"A": weights(), "attn_output": OUTPUT, "seconds": 3.5, "none": None},
        {"scores": [[Fraction(1), 5, 3], [3, 3, 3], [2, 4, 3]]},
        attncli.trace(CAUSAL),
        attncli.trace(CAUSAL).to_dict(),
        attncli.load(CAUSAL),
        CAUSAL,
        str(CAUSAL),
        {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "mask": "causal"},
    ],
)
def test_what_agrees(other: Any) -> None:
    found = attncli.compare(CAUSAL, other)
    assert found
    assert found.agrees
    assert (found.first, found.mistakes) == (None, ())
    assert not any(step.differs for step in found.steps.values())
    assert repr(found) == "<compared 'I love AI, from left to right': no step differs>"


@pytest.mark.long
def test_what_differs_says_where() -> None:
    scale = 1 / 3
    theirs = {"weights": weights(scale), "output": weights(scale) @ X @ W_V}
    found = attncli.compare(attncli.load(CAUSAL), theirs)
    assert not found
    assert (found.agrees, found.first) == (False, "weights")
    # Both are the same factor where n is d_k.
    assert found.mistakes[0] == "the scores were divided by d_k, not by its root"
    assert [*found.steps] == ["weights", "output"]
    step = found.steps["weights"]
    apart = abs(weights() - weights(scale))
    where = np.unravel_index(apart.argmax(), apart.shape)
    assert (step.name, step.differs, step.where, step.cell) == ("weights", True, where, "AI → love")
    np.testing.assert_allclose(
        [step.absolute, step.a, step.b],
        [apart.max(), weights()[where], weights(scale)[where]],
        rtol=1e-12,
    )
    assert repr(found).startswith(
        "<compared 'I love AI, from left to right': weights differs in 3 of 9 cells, most at"
        f" AI → love: {step.a:.6g} and {step.b:.6g}; the scores were divided by d_k"
    )


def test_shapes_that_differ_have_no_numbers() -> None:
    found = attncli.compare(CAUSAL, np.eye(2))
    step = found.steps["output"]
    assert (step.differs, step.absolute, step.where, step.cell) == (True, None, None, None)
    assert "output is 3×3 and 2×2" in repr(found)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_tensors_have_the_tolerance_of_their_format(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(OUTPUT, dtype=getattr(torch, dtype), requires_grad=True)
    found = attncli.compare(CAUSAL, tensor)
    assert found
    assert found.to_dict()["b"]["dtype"] == dtype
    assert not attncli.compare(CAUSAL, tensor, tolerance=0)


@pytest.mark.long
def test_it_is_what_the_command_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = tmp_path / "theirs.npz"
    arrays = {"scaled": X @ W_Q @ (X @ W_K).T / 2, "att": weights(0.5), "output": OUTPUT}
    np.savez(dump, **arrays)
    options = ["--rename", "att=weights", "--tolerance", "1e-6", "--set", "dtype=float32"]
    assert run(["compare", str(CAUSAL), str(dump), *options, "--format", "json"]) == 1
    said = json.loads(capsys.readouterr().out)
    choices: dict[str, Any] = {"rename": {"att": "weights"}, "tolerance": 1e-6, "dtype": "float32"}
    found = attncli.compare(CAUSAL, dump, **choices)
    assert found.to_dict() == said
    # What is handed over has no file, and is called by its argument.
    held = attncli.compare(attncli.load(CAUSAL), arrays, **choices).to_dict()
    jsonschema.validate(held, SCHEMA, jsonschema.Draft7Validator)
    assert (held["a"].pop("name"), held["b"].pop("name")) == ("problem", "other")
    for side in "ab":
        del said[side]["name"]
    assert held == said
    assert run(["compare", str(CAUSAL), str(dump), *options, "--format", "markdown"]) == 1
    page = capsys.readouterr().out
    assert found._repr_markdown_() == found.to_markdown()
    assert found.to_markdown().count("A known mistake gives all numbers") == page.count(
        "A known mistake gives all numbers"
    )


@pytest.mark.long
def test_steps_and_gradients() -> None:
    trace = attncli.trace(CAUSAL, gradient=True)
    wrong = {"weights": np.eye(3), "output": OUTPUT, "d_V": trace["d_V"]}
    assert attncli.compare(CAUSAL, wrong).first == "weights"
    found = attncli.compare(CAUSAL, wrong, steps="output,d_V")
    assert found
    assert [*found.steps] == ["output", "d_V"]
    of_two = attncli.compare(CAUSAL, LOVE, gradient=True)
    assert "d_W_Q" in of_two.steps
    assert of_two.mistakes == ("the mask was forgotten",)


def test_names_that_are_not_read() -> None:
    found = attncli.compare(CAUSAL, {"output": OUTPUT, "attn": weights()})
    (warning,) = found.warnings
    assert warning == (
        "other: not compared, because no step has this name: attn (it may be weights or output:"
        ' write rename={"attn": "weights"})'
    )
    found = attncli.compare(
        CAUSAL, {"output": OUTPUT, "attn": weights()}, rename={"attn": "weights"}
    )
    assert (found.warnings, [*found.steps]) == ((), ["weights", "output"])


def test_an_array_may_be_changed_afterwards() -> None:
    output = OUTPUT.copy()
    found = attncli.compare(CAUSAL, output, tolerance=1e-9)
    output[0] = 7
    assert found.to_markdown(detail="cells", precision=5).count("7") == 0


@in_one_test(
    ("other", "choices", "code", "message", "help"),
    [
        (3, {}, 2, "other cannot be 3", "the output alone, a trace, a file, or another problem"),
        ({1: OUTPUT}, {}, 2, "other: no step is called 1", "give steps with their arrays"),
        ("none.npz", {}, 4, "cannot read none.npz: this file does not exist", "spelling"),
        ({}, {}, 3, "other has no array", "the steps are X"),
        ({"outptu": OUTPUT}, {}, 3, "other: no step is called outptu", "did you mean output?"),
        ({"attn": OUTPUT}, {}, 3, "no step is called attn", 'rename={"attn": "weights"}'),
        ({"output": "a"}, {}, 3, "other: output has no numbers: its type is <U1", "give steps"),
        ({"output": [[1j]]}, {}, 3, "output has no numbers: its type is complex128", "give"),
        ({"output": [[1], [1, 2]]}, {}, 3, "output cannot become a NumPy array", "give"),
        ({"output": [[object()]]}, {}, 3, "output cannot become a NumPy array", "give"),
        ([], {}, 3, "other: output has the shape (0,): it is empty", "a matrix"),
        (OUTPUT, {"sees_no_key": "zeros"}, 2, "sees_no_key cannot be 'zeros'", "0, nan or mean"),
        (CAUSAL, {"sees_no_key": "0"}, 2, "both sides are problems", "leave out sees_no_key"),
        (OUTPUT, {"tolerance": -1}, 2, "tolerance cannot be -1", "give a number such as 1e-6"),
        (OUTPUT, {"tolerance": float("nan")}, 2, "tolerance cannot be nan", "give a number"),
        (OUTPUT, {"tolerance": "1e-6"}, 2, "tolerance cannot be '1e-6'", "give a number"),
        (OUTPUT, {"dtype": "float12"}, 2, "dtype cannot be 'float12'", "float32"),
        (OUTPUT, {"steps": "weights"}, 2, "no step in common", "leave out steps"),
        (OUTPUT, {"steps": "wieghts"}, 2, "no step is called 'wieghts'", "did you mean weights?"),
        (OUTPUT, {"steps": "d_Q"}, 2, "d_Q is a step of the backward pass", "gradient=True"),
        (OUTPUT, {"gradient": OUTPUT}, 2, "gradient cannot be array", "give True or False"),
        (OUTPUT, {"rename": "att=weights"}, 2, "rename cannot be 'att=weights'", "rename={"),
        (OUTPUT, {"rename": {1: "weights"}}, 2, "rename: 1 is no name", "rename={"),
        (OUTPUT, {"rename": {"att": "wieghts"}}, 2, "no step is called 'wieghts'", "weights?"),
        (OUTPUT, {"rename": {"att": "weights"}}, 2, "rename att: other has no such name", "output"),
        ({"Q": X, "K": X, "V": [["x"]]}, {}, 3, "V[0][0]: x is not a number", "write a number"),
    ],
)
def test_what_cannot_be_compared(
    other: Any, choices: dict[str, Any], code: int, message: str, help: str
) -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.compare(CAUSAL, other, **choices)
    assert message in str(caught.value)
    assert help in caught.value.help
    assert int(caught.value.exit_code) == code


@pytest.mark.parametrize("problem", [3, OUTPUT, {"weights": weights()}, attncli.trace(CAUSAL)])
def test_what_is_no_problem(problem: Any) -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.compare(problem, OUTPUT)
    assert int(caught.value.exit_code) in (2, 3)


def test_views_that_are_none() -> None:
    found = attncli.compare(CAUSAL, OUTPUT)
    with pytest.raises(attncli.AttncliError, match="detail cannot be 'cell'"):
        found.to_markdown(detail="cell")
    with pytest.raises(attncli.AttncliError, match="precision cannot be 99"):
        found.to_markdown(precision=99)
