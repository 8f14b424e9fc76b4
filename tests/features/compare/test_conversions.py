"""What was done to weights when they were converted, where only the numbers of both sides tell it:
another order, other heads, nothing that was read.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.cli.main import run
from attncli.comparison.compared import Compared

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(11)
HEADS, D_MODEL, WIDTH = 4, 16, 4
X = RANDOM.normal(size=(6, D_MODEL))
WEIGHTS = {name: RANDOM.normal(size=(HEADS, D_MODEL, WIDTH)) for name in ("W_Q", "W_K", "W_V")}
OTHER = np.random.default_rng(12)


def side_by_side(weights: Array) -> Array:
    return np.concatenate([*weights], axis=1)


def problem(weights: dict[str, Array]) -> attncli.Problem:
    joined = {name: side_by_side(each) for name, each in weights.items()}
    return attncli.problem(X=X, **joined, heads=HEADS, mask="causal")


def compared(**changed: Array) -> Compared:
    """Our weights against a model that has others, by what it dumped of all steps."""
    theirs = attncli.trace(problem(WEIGHTS | changed))
    return attncli.compare(problem(WEIGHTS), {name: theirs[name] for name in theirs})


CONVERTED: dict[str, tuple[Callable[[], dict[str, Array]], str]] = {
    "heads": (
        lambda: {name: WEIGHTS[name][[2, 0, 3, 1]] for name in ("W_Q", "W_K")},
        "the heads of W_Q and W_K (2, 0, 3, 1) were put in another order",
    ),
    "heads, each its own way": (
        lambda: {"W_K": WEIGHTS["W_K"][[1, 0, 2, 3]], "W_V": WEIGHTS["W_V"][::-1]},
        "the heads of W_K (1, 0, 2, 3) and W_V (3, 2, 1, 0) were put in another order",
    ),
    "features": (
        lambda: {"W_V": WEIGHTS["W_V"][..., [0, 2, 1, 3]]},
        "the features of each head of W_V (0, 2, 1, 3) were put in another order",
    ),
    "shards": (
        lambda: {
            "W_Q": np.stack([*WEIGHTS["W_Q"][:2], *WEIGHTS["W_K"][:2]]),
            "W_K": np.stack([*WEIGHTS["W_V"][:2], *WEIGHTS["W_Q"][2:]]),
        },
        "W_Q (W_Q 0, W_Q 1, W_K 0, W_K 1) and W_K (W_V 0, W_V 1, W_Q 2, W_Q 3) were cut from the"
        " heads of several",
    ),
    "zeros": (
        lambda: {"W_V": np.zeros_like(WEIGHTS["W_V"])},
        "W_V was not loaded: all cells are 0",
    ),
    "untrained": (
        lambda: {"W_K": OTHER.normal(size=(HEADS, D_MODEL, WIDTH), scale=0.02)},
        "W_K was not loaded, or is another layer's: nothing in it is like the right one",
    ),
}


@pytest.mark.parametrize("what", CONVERTED)
def test_what_was_done_is_named(what: str) -> None:
    make, name = CONVERTED[what]
    assert compared(**make()).mistakes == (name,)


@pytest.mark.parametrize(
    "change",
    [
        # One row of one head is another one.
        lambda w: w + np.eye(D_MODEL)[0][:, None] * np.eye(HEADS)[1][:, None, None],
        # All are a little off, as after a step of training.
        lambda w: w + OTHER.normal(size=w.shape, scale=0.1),
        # Rows that were cut from the columns of all three.
        lambda w: np.stack([w[0], WEIGHTS["W_Q"][1], w[2], w[3]])[..., ::-1],
        # The same numbers in an order that nobody gives to heads or features.
        lambda w: OTHER.permuted(w.ravel()).reshape(w.shape),
    ],
)
def test_what_has_no_name(change: Callable[[Array], Array]) -> None:
    found = compared(W_V=change(WEIGHTS["W_V"]))
    assert found.first == "W_V"
    assert found.mistakes == ()


def test_what_a_mistake_leaves_unread_may_be_anything() -> None:
    """A program without sinks still has them in its dump, as -1e9 or as 0."""
    keys = {"Q": WEIGHTS["W_Q"], "K": WEIGHTS["W_K"], "V": WEIGHTS["W_V"]}
    ours = attncli.problem(**keys, sink=[0.5, 1, -1, 2])
    theirs = attncli.trace(**keys)
    dump = {name: theirs[name] for name in ("scaled", "weights", "output")}
    found = attncli.compare(ours, dump | {"sink": np.full(HEADS, -1e9)})
    assert found.mistakes == ("the sink got no share of the weights",)


def test_what_has_no_effect_on_the_output() -> None:
    """Rows of W_Q and W_K that are exchanged alike leave every score as it was."""
    order = [3, 2, 1, 0]
    found = compared(**{name: WEIGHTS[name][..., order] for name in ("W_Q", "W_K")})
    assert found.mistakes == (
        "the features of each head of W_Q and W_K (3, 2, 1, 0) were put in another order",
    )
    assert (
        "From scores on, both sides agree: what differs has no effect on the output."
        in found.to_markdown()
    )


def test_numbers_that_overflow_in_a_dump_bring_no_warning_of_numpy(tmp_path: Path) -> None:
    """Weights that were put in another order are looked for among finite numbers alone."""
    problem, dump = tmp_path / "problem.yaml", tmp_path / "dump.npz"
    problem.write_text("K: [[-1.89e+299], [1.77]]\nV: [[1], [1]]\nQ: [[-6.9e+299], [4.24e+153]]\n")
    huge = np.array([[-np.inf], [np.inf]], dtype=np.float32)
    np.savez(dump, Q=huge, K=huge, V=np.ones((2, 1), dtype=np.float32))
    assert run(["compare", str(problem), str(dump)]) == 1
