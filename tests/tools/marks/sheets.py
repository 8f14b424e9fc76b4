"""What a class works out: four matrices, or all the steps that a set asks for, and what people do
otherwise in each of them. Everything is NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from tests.features.check.solutions_by_hand import WORK, Array, Matrices, Work, softmax


@dataclass(frozen=True)
class Sheet:
    """The steps with their work, in order; each mistake as other work for one of them; and what the
    numbers of each step are worth.
    """

    work: Mapping[str, Work]
    mistakes: Mapping[str, tuple[str, Work]]
    worth: Mapping[str, float]

    def worked(self, given: Mapping[str, object]) -> Matrices:
        """The right numbers of a problem."""
        numbers = matrices_of(given)
        for name, work in self.work.items():
            numbers[name] = work(numbers)
        return numbers


def matrices_of(given: Mapping[str, object]) -> Matrices:
    """What a problem gives, without its mask, which has a name; weights of heads side by side as
    one matrix for each head.
    """
    heads = cast("int", given.get("heads", 1))
    found = {}
    for name in given.keys() - {"mask", "heads"}:
        array = np.array(given[name], dtype=float)
        is_of_heads = heads > 1 and name.startswith("W_")
        found[name] = np.stack(np.split(array, heads, axis=-1)) if is_of_heads else array
    return found


def _over_all(z: Array) -> Array:
    exponentials = np.exp(z)
    return np.asarray(exponentials / exponentials.sum())


def _shares(z: Array) -> Array:
    # On paper, a sum of nothing is 0, and no 1e-16.
    total = np.round(z.sum(axis=-1, keepdims=True), 9)
    return np.where(total, z / total, np.nan)


def _powers(base: float) -> Work:
    return lambda m: _shares(base ** m["scaled"])


def _root_of_d_k(m: Matrices) -> float:
    return math.sqrt(m["K"].shape[-1])


# Those of scores and of outputs need as many queries as keys, or as many features of keys as of
# values.
OF_SCORES: dict[str, tuple[str, Work]] = {
    "K Q^T": ("scores", lambda m: m["K"] @ m["Q"].T),
    "Q Q^T": ("scores", lambda m: m["Q"] @ m["Q"].T),
    "K K^T": ("scores", lambda m: m["K"] @ m["K"].T),
}
OF_SCALE: dict[str, tuple[str, Work]] = {
    "not scaled": ("scaled", lambda m: m["scores"]),
    "by d_k": ("scaled", lambda m: m["scores"] / m["K"].shape[-1]),
    "by the root of n": ("scaled", lambda m: m["scores"] / math.sqrt(len(m["K"]))),
    "by n": ("scaled", lambda m: m["scores"] / len(m["K"])),
    "times the root": ("scaled", lambda m: m["scores"] * _root_of_d_k(m)),
}
OF_VALUES: dict[str, tuple[str, Work]] = {"Q V^T": ("scores", lambda m: m["Q"] @ m["V"].T)}
OF_WEIGHTS: dict[str, tuple[str, Work]] = {
    "columns": ("weights", lambda m: softmax(m["scaled"].T).T),
    "whole matrix": ("weights", lambda m: _over_all(m["scaled"])),
    "plain shares": ("weights", lambda m: _shares(m["scaled"])),
    "base 2": ("weights", _powers(2)),
    "base 3": ("weights", _powers(3)),
    "squares": ("weights", lambda m: _shares(m["scaled"] ** 2)),
    "no sum": ("weights", lambda m: np.exp(m["scaled"])),
    "twice": ("weights", lambda m: softmax(softmax(m["scaled"]))),
    "A K": ("output", lambda m: m["weights"] @ m["K"]),
    "A Q": ("output", lambda m: m["weights"] @ m["Q"]),
    "A^T V": ("output", lambda m: m["weights"].T @ m["V"]),
    "scores, not weights": ("output", lambda m: m["scaled"] @ m["V"]),
}
MATRICES = Sheet(
    WORK,
    OF_SCORES | OF_VALUES | OF_SCALE | OF_WEIGHTS,
    {"scores": 4, "scaled": 4, "weights": 6, "output": 6},
)

# Where the exponentials and their sums are written, too.
OF_SUMS: dict[str, tuple[str, Work]] = {
    "exp of scores": ("exp", lambda m: np.exp(m["scores"])),
    "base 2": ("exp", lambda m: 2 ** m["scaled"]),
    "base 3": ("exp", lambda m: 3 ** m["scaled"]),
    "squares": ("exp", lambda m: m["scaled"] ** 2),
    "columns": ("row_sum", lambda m: m["exp"].sum(axis=0)),
    "whole matrix": ("row_sum", lambda m: np.full(len(m["exp"]), m["exp"].sum())),
    "sum of scores": ("row_sum", lambda m: m["scaled"].sum(axis=1)),
    "no sum": ("weights", lambda m: m["exp"]),
    "plain shares": ("weights", lambda m: _shares(m["scaled"])),
    "A^T V": ("output", lambda m: m["weights"].T @ m["V"]),
    "scores, not weights": ("output", lambda m: m["scaled"] @ m["V"]),
    "exponentials, not weights": ("output", lambda m: m["exp"] @ m["V"]),
}
_SUMS: dict[str, Work] = {
    "scores": WORK["scores"],
    "scaled": WORK["scaled"],
    "exp": lambda m: np.exp(m["scaled"]),
    "row_sum": lambda m: m["exp"].sum(axis=1),
    "weights": lambda m: m["exp"] / m["row_sum"][:, None],
    "output": WORK["output"],
}
SUMS = Sheet(
    _SUMS,
    OF_SCORES | OF_SCALE | OF_SUMS,
    {"scores": 3, "scaled": 3, "exp": 4, "row_sum": 1, "weights": 4, "output": 5},
)

# All that a set asks for by itself, with the marks that it gives.
_OF_TOKENS: dict[str, tuple[str, Work]] = {
    "X W_K for Q": ("Q", lambda m: m["X"] @ m["W_K"]),
    "X W_Q for K": ("K", lambda m: m["X"] @ m["W_Q"]),
}
_TOKENS: dict[str, Work] = {
    "Q": lambda m: m["X"] @ m["W_Q"],
    "K": lambda m: m["X"] @ m["W_K"],
    "V": lambda m: m["X"] @ m["W_V"],
}
_WORTH_OF_TOKENS: dict[str, float] = {"Q": 1.5, "K": 1.5, "V": 3}
_WORTH_OF_SUMS: dict[str, float] = {
    "scores": 2.5,
    "scaled": 2.5,
    "exp": 2.5,
    "row_sum": 1,
    "weights": 2.5,
    "output": 3,
}
WHOLE = Sheet(
    _TOKENS | _SUMS,
    _OF_TOKENS | OF_SCORES | OF_SCALE | OF_SUMS,
    _WORTH_OF_TOKENS | _WORTH_OF_SUMS,
)

# An exam with biases, in which only the weights and the output are asked for.
_BIASED: dict[str, Work] = {
    "Q": lambda m: m["X"] @ m["W_Q"] + m["b_Q"],
    "K": lambda m: m["X"] @ m["W_K"] + m["b_K"],
    "V": lambda m: m["X"] @ m["W_V"] + m["b_V"],
}
EXAM = Sheet(_BIASED | WORK, OF_SCORES | OF_SCALE | OF_WEIGHTS, {"weights": 10, "output": 10})


# All that a set asks for whose queries do not see the keys after them.
def _hidden(m: Matrices, *, before: bool = False) -> Array:
    """A mask of the keys after each query, or of those before it."""
    hidden = np.full(m["scaled"].shape, -np.inf)
    return np.tril(hidden, -1) if before else np.triu(hidden, 1)


def _set_to(number: float) -> Work:
    """Masked scores with another number in the place of what is hidden."""
    return lambda m: np.where(np.isfinite(m["mask"]), m["scaled"], number)


_MASKED: dict[str, Work] = {
    "scores": WORK["scores"],
    "scaled": WORK["scaled"],
    "mask": _hidden,
    "masked": lambda m: m["scaled"] + m["mask"],
    "exp": lambda m: np.exp(m["masked"]),
    "row_sum": lambda m: m["exp"].sum(axis=1),
    "weights": lambda m: m["exp"] / m["row_sum"][:, None],
    "output": WORK["output"],
}
OF_MASKS: dict[str, tuple[str, Work]] = {
    "the mask turned": ("mask", lambda m: _hidden(m, before=True)),
    "no mask": ("masked", lambda m: m["scaled"]),
    "hidden scores are 0": ("masked", _set_to(0)),
    "the mask on scores": ("masked", lambda m: m["scores"] + m["mask"]),
    "exponentials of all": ("exp", lambda m: np.exp(m["scaled"])),
    "base 2": ("exp", lambda m: 2 ** m["masked"]),
    "columns": ("row_sum", lambda m: m["exp"].sum(axis=0)),
    "whole matrix": ("row_sum", lambda m: np.full(len(m["exp"]), m["exp"].sum())),
    "no sum": ("weights", lambda m: m["exp"]),
    "A^T V": ("output", lambda m: m["weights"].T @ m["V"]),
    "exponentials, not weights": ("output", lambda m: m["exp"] @ m["V"]),
}
CAUSAL = Sheet(
    _MASKED,
    OF_SCORES | OF_SCALE | OF_MASKS,
    {"mask": 2, "masked": 2, "scores": 3, "scaled": 3, "exp": 3, "row_sum": 1}
    | {"weights": 3, "output": 3},
)


# All that a set asks for with two heads, but for putting them side by side.
def _turned(array: Array) -> Array:
    return array.swapaxes(-1, -2)


def _split_by_rows(m: Matrices, name: str) -> Array:
    """The rows of all heads side by side, cut into heads where the rows end."""
    side_by_side = np.concatenate([*m[name]], axis=-1)
    return side_by_side.reshape(m[name].shape)


_OF_HEADS: dict[str, Work] = {
    **_TOKENS,
    "scores": lambda m: m["Q"] @ _turned(m["K"]),
    "scaled": WORK["scaled"],
    "exp": lambda m: np.exp(m["scaled"]),
    "row_sum": lambda m: m["exp"].sum(axis=-1),
    "weights": lambda m: m["exp"] / m["row_sum"][..., None],
    "heads_output": lambda m: m["weights"] @ m["V"],
}
IN_HEADS: dict[str, tuple[str, Work]] = {
    "split by rows": ("Q", lambda m: _split_by_rows({"Q": m["X"] @ m["W_Q"]}, "Q")),
    "one head for both": ("K", lambda m: np.stack([m["X"] @ m["W_K"][0]] * 2)),
    "K Q^T": ("scores", lambda m: m["K"] @ _turned(m["Q"])),
    "Q Q^T": ("scores", lambda m: m["Q"] @ _turned(m["Q"])),
    "by the root of d_model": ("scaled", lambda m: m["scores"] / math.sqrt(2 * m["K"].shape[-1])),
    "base 2": ("exp", lambda m: 2 ** m["scaled"]),
    "columns": ("row_sum", lambda m: m["exp"].sum(axis=-2)),
    "over the heads": ("weights", lambda m: m["exp"] / m["exp"].sum(axis=0)),
    "no sum": ("weights", lambda m: m["exp"]),
    "A^T V": ("heads_output", lambda m: _turned(m["weights"]) @ m["V"]),
}
HEADS = Sheet(
    _OF_HEADS,
    _OF_TOKENS | OF_SCALE | IN_HEADS,
    {"Q": 2, "K": 2, "V": 1.5, "scores": 3, "scaled": 3, "exp": 3, "row_sum": 1}
    | {"weights": 3, "heads_output": 1.5},
)
