"""Queries that see no key, of which other software means to give something else than attncli does:
what PyTorch and NumPy work out is right then, and nothing else is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.cli.main import run

Array = np.ndarray[Any, Any]
SEEN = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1]], dtype=bool)
RANDOM = np.random.default_rng(5)
Q, K = (RANDOM.normal(size=(2, 3, 4)) for _ in range(2))
V = RANDOM.normal(size=(2, 3, 5))
PROBLEM = attncli.problem(Q=Q, K=K, V=V, mask=SEEN)


def attention(fill: float, *, shifts: bool = True, scale: float = 0.5) -> dict[str, Array]:
    """Steps as programs work them out: the softmax of masked scores."""
    masked = np.where(SEEN, Q @ K.swapaxes(-1, -2) * scale, fill)
    with np.errstate(all="ignore"):
        row_max = masked.max(axis=-1, keepdims=True)
        shifted = masked - row_max if shifts else masked
        exp = np.exp(shifted)
        row_sum = exp.sum(axis=-1)
        weights = exp / row_sum[..., None]
    steps = {"masked": masked, "exp": exp, "row_sum": row_sum, "weights": weights}
    if shifts:
        steps |= {"row_max": row_max[..., 0], "shifted": shifted}
    return {**steps, "output": weights @ V}


FILLED = {"nan": -np.inf, "mean": -1e9}


# e^-1e9 is 0, so no program gives the mean without a shift.
@pytest.mark.each_choice
@pytest.mark.parametrize(("meant", "shifts"), [("nan", True), ("nan", False), ("mean", True)])
@pytest.mark.parametrize("only", [(), ("output",), ("weights",), ("exp", "row_sum", "output")])
def test_what_is_meant_is_right(meant: str, shifts: bool, only: tuple[str, ...]) -> None:
    steps = attention(FILLED[meant], shifts=shifts)
    theirs = {name: steps[name] for name in only} or steps
    found = attncli.compare(PROBLEM, theirs, sees_no_key=meant)
    assert found.agrees, found
    assert not attncli.compare(PROBLEM, theirs)
    for other in {"0", "nan", "mean"} - {meant}:
        assert not attncli.compare(PROBLEM, theirs, sees_no_key=other)


def test_zeros_are_right_only_where_they_are_meant() -> None:
    zeros = np.nan_to_num(attention(-np.inf)["output"], nan=0.0)
    assert attncli.compare(PROBLEM, zeros, sees_no_key="0")
    assert attncli.compare(PROBLEM, zeros)
    assert attncli.compare(PROBLEM, zeros, sees_no_key="nan").first == "output"
    assert attncli.compare(PROBLEM, zeros, sees_no_key="mean").first == "output"


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_what_pytorch_gives_without_a_rule_of_its_own(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    of_format = getattr(torch, dtype)
    q, k, v = (torch.tensor(array, dtype=of_format) for array in (Q, K, V))
    problem = attncli.problem(Q=q, K=k, V=v, mask=SEEN)
    scores = q @ k.transpose(-1, -2) / 2
    for meant, fill in (("nan", -torch.inf), ("mean", torch.finfo(of_format).min)):
        masked = scores.masked_fill(~torch.tensor(SEEN), fill)
        weights = masked.softmax(dim=-1)
        theirs = {"weights": weights, "output": weights @ v}
        assert attncli.compare(problem, theirs, sees_no_key=meant, dtype=dtype)
        assert not attncli.compare(problem, theirs, dtype=dtype)


def test_the_output_of_joined_heads() -> None:
    """A query is blind in one of two heads, so its output is NaN, or has the mean of that head."""
    X, W = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=(4, 4))
    seen = np.stack([SEEN, np.ones((3, 3), bool)])
    problem = attncli.problem(X=X, W_Q=W, W_K=W.T, W_V=W, W_O=W, heads=2, mask=seen)
    q, k, v = ((X @ weights).reshape(3, 2, 2).swapaxes(0, 1) for weights in (W, W.T, W))
    for meant, fill in FILLED.items():
        scores = np.where(seen, q @ k.swapaxes(-1, -2) / np.sqrt(2), fill)
        with np.errstate(invalid="ignore"):
            exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights = exp / exp.sum(axis=-1, keepdims=True)
        heads = weights @ v
        output = heads.swapaxes(0, 1).reshape(3, 4) @ W
        theirs = {"heads_output": heads, "output": output}
        assert attncli.compare(problem, theirs, sees_no_key=meant)
        if meant == "nan":
            # The queries that see keys in both heads are still compared.
            output[0, 0] += 1
            found = attncli.compare(problem, theirs, sees_no_key=meant)
            assert (found.first, found.steps["output"].where) == ("output", (0, 0))


def test_gradients_of_the_mean() -> None:
    """Those of PyTorch, through a large number in the place of -inf."""
    torch = pytest.importorskip("torch")
    q, k, v = (torch.tensor(array, requires_grad=True) for array in (Q, K, V))
    masked = (q @ k.transpose(-1, -2) / 2).masked_fill(~torch.tensor(SEEN), -1e9)
    (masked.softmax(dim=-1) @ v).sum().backward()
    theirs = {"d_Q": q.grad, "d_K": k.grad, "d_V": v.grad}
    assert attncli.compare(PROBLEM, theirs, sees_no_key="mean")
    assert attncli.compare(PROBLEM, theirs).first == "d_V"


def test_a_sink_leaves_no_row_without_weight() -> None:
    """What is left to a sink is 0 everywhere, whatever other software does without one."""
    problem = attncli.problem(Q=Q, K=K, V=V, mask=SEEN, sink=[0.5, 0.5])
    output = attncli.trace(problem)["output"]
    assert (output[:, 1] == 0).all()
    for meant in ("0", "nan", "mean"):
        assert attncli.compare(problem, output, sees_no_key=meant)


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize(("meant", "fill"), FILLED.items())
def test_a_mistake_is_still_named(meant: str, fill: float) -> None:
    unscaled = attention(fill, scale=1.0)["output"]
    found = attncli.compare(PROBLEM, unscaled, sees_no_key=meant)
    assert found.mistakes == ("the scores were not scaled",)


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("fill", FILLED.values())
def test_another_rule_for_these_rows_is_no_mistake(fill: float) -> None:
    """Here d_model is d_k, so that the root of the one is that of the other."""
    X, W = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=(4, 4))
    problem = attncli.problem(X=X, W_Q=W, W_K=W.T, W_V=W, mask=SEEN)
    scores = np.where(SEEN, X @ W @ W @ X.T / 2, fill)
    with np.errstate(invalid="ignore"):
        exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = exp / exp.sum(axis=-1, keepdims=True)
    found = attncli.compare(problem, weights @ X @ W)
    assert found.first == "output"
    # A large number in the place of -inf is a mistake that fits.
    named = {"hidden scores were set to -100, not to -inf"} if fill > -np.inf else set()
    assert {*found.mistakes} == named


@pytest.mark.long
def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = tmp_path / "theirs.npz"
    np.savez(dump, **attention(-np.inf))
    problem = tmp_path / "problem.yaml"
    attncli.save(PROBLEM, problem)

    def compared(*options: str) -> tuple[int, str, str]:
        code = run(["compare", str(problem), str(dump), *options])
        return code, *capsys.readouterr()

    code, page, warned = compared("--sees-no-key", "nan", "--format", "markdown")
    assert (code, warned) == (0, "")
    assert "with NaN for queries that see no key" in page
    code, page, warned = compared("--sees-no-key", "zero")
    assert code == 1
    assert "sees no key" in warned
    # Either side may be the dump, and 0 is another name of zero.
    assert run(["compare", str(dump), str(problem), "--sees-no-key", "NaN"]) == 0
    capsys.readouterr()
    assert compared("--sees-no-key", "0")[0] == 1
    _, text, _ = compared("--sees-no-key", "mean", "--format", "json")
    data = json.loads(text)
    assert (data["a"]["sees_no_key"], data["b"]["sees_no_key"]) == ("mean", None)


@pytest.mark.parametrize("files", [["problem", "problem"], ["dump", "dump"]])
def test_it_needs_a_problem_and_a_dump(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = {"problem": tmp_path / "p.yaml", "dump": tmp_path / "d.npz"}
    attncli.save(PROBLEM, paths["problem"])
    np.savez(paths["dump"], output=V)
    arguments = [str(paths[file]) for file in files]
    assert run(["compare", *arguments, "--sees-no-key", "nan"]) == 2
    assert "leave out --sees-no-key" in capsys.readouterr().err
