"""The steps of the backward pass by name: how each is called, and what its gradient says.

Their equations are not here: `backward.py` has them from those of the forward pass.
"""

from __future__ import annotations

from collections.abc import Mapping

from attncli.attention.inputs import GIVEN
from attncli.attention.steps import COMPUTED
from attncli.attention.written import Written, by_name
from attncli.equation.symbols import differential

# What carries no gradient: positions and masks are not learned here, and K_T is read as K.
CONSTANT = ("angles", "slopes", "bias", "mask", "K_T", "row_max", "shifted", "exp", "row_sum")
# In the order in which they are worked out.
ORDER = (
    "output", "concat", "heads_output", "weights", "delta", "masked", "capped", "scaled", "scores", "hidden",
    "Q_rot", "K_rot", "Q", "K", "V", "new_K", "new_V", "past_K", "past_V", "W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K",
    "b_V", "b_O", "W_a", "W_1", "W_2", "v", "sink", "X", "context",
)  # fmt: skip

# What the gradient of a step says, and what for.
_SAID: Mapping[str, tuple[str, str]] = {
    "output": ("how much the loss changes with each number of the output.", ""),
    "concat": (
        "How much the loss changes with each number that the heads found.",
        "Every step of the way back is the chain rule: what comes in, times the derivative of the step.",
    ),
    "heads_output": (
        "How much the loss changes with each number that a head found: each head gets back its own.",
        "",
    ),
    "weights": (
        "Row `i`, column `j` is the product of the gradient of output `i` with value `j`: it says how much more "
        "attention from `i` to `j` would raise the loss.",
        "",
    ),
    "Q": (
        "Each query's gradient is a sum of the keys, each times the gradient of its score.",
        "",
    ),
    "K": (
        "Each key's gradient is a sum of the queries, each times the gradient of its score with this key.",
        "",
    ),
    "V": (
        "Each value collects the gradient of every output that it went into, in the share of its weight.",
        "A value that nobody attends to learns nothing.",
    ),
    "Q_rot": ("What the turned queries receive from the scores.", ""),
    "K_rot": ("What the turned keys receive from the scores.", ""),
    "hidden": ("What the hidden layer receives, before its tanh: where that is flat, little comes through.", ""),
    "new_K": ("The rows of the keys that are of the new tokens.", ""),
    "new_V": ("The rows of the values that are of the new tokens.", ""),
    "past_K": ("The rows of the keys that came from the cache.", ""),
    "past_V": ("The rows of the values that came from the cache.", ""),
    "W_Q": ("For each weight, what came in through it times the gradient of what went out, added over all tokens.", ""),
    "W_K": ("The same for the keys: their input, transposed, times the gradient of the keys.", ""),
    "W_V": ("The same for the values.", ""),
    "W_O": ("What the heads found, transposed, times the gradient of the output.", ""),
    "b_Q": ("A bias is added to every row, so it collects the gradient of all rows.", ""),
    "b_K": ("The sum of the gradients of all keys.", ""),
    "b_V": ("The sum of the gradients of all values.", ""),
    "b_O": ("The sum of the gradients of all rows of the output.", ""),
    "W_a": ("Every pair of a query and a key adds its product, times the gradient of its score.", ""),
    "W_1": ("What the hidden layer receives, times the query that went into it, over all pairs.", ""),
    "W_2": ("What the hidden layer receives, times the key that went into it, over all pairs.", ""),
    "v": ("What each hidden feature was, times the gradient of its score, added over all pairs.", ""),
    "sink": (
        "The sink is one more logit, whose value is nothing: it loses where the row's mean is above 0.",
        "",
    ),
    "X": (
        "The input was used by every projection, and receives from each of them: their gradients are added.",
        "",
    ),
    "context": ("The context receives from the keys and from the values: their gradients are added.", ""),
}
_TURNED_BACK = ("The gradient of what was turned is turned back, by the same angles.", "")
# What a gradient says by the step that its array went into, and that of the output by its loss.
SAID_THROUGH: Mapping[str, tuple[str, str]] = {
    "weights": (
        "Through the softmax: each weight times how far its gradient lies above `δ`, the mean of its row.",
        "The weights of a row sum to 1, so none can grow unless others shrink: a row of this gradient sums to 0.",
    ),
    "sink": (
        "Through the softmax: each weight times how far its gradient lies above `δ`, the mean of its row.",
        "The weights of a row and that of its sink sum to 1, so none can grow unless others shrink.",
    ),
    "masked": ("What is added to a score does not change its gradient; a hidden score gets 0.", ""),
    "capped": (
        "Through the cap, whose slope is 1 for small scores and near 0 for large ones.",
        "What the cap has flattened hardly learns.",
    ),
    "error": (
        "Each number of the output changes the loss by twice its error, in its share of the mean.",
        "The way back begins here.",
    ),
    "row_loss": (
        "What each row gives each class, less the 1 that the right class should have, in the row's share of the mean.",
        "Softmax and logarithm together leave just this difference, with which the way back begins.",
    ),
    "scaled": ("The scale works on the way back as it did on the way there.", ""),
    "Q_rot": _TURNED_BACK,
    "K_rot": _TURNED_BACK,
    "W_a for Q": (
        "Each query's gradient is a sum of the keys, as the score weights let it see them, each times the gradient of "
        "its score.",
        "",
    ),
    "W_a for K": (
        "Each key's gradient is a sum of the queries, as the score weights let it see them, each times the gradient of "
        "its score with this key.",
        "",
    ),
    "hidden for Q": (
        "What the hidden layer receives from a query with all keys, back through the weights by which the query "
        "came in.",
        "",
    ),
    "hidden for K": (
        "What the hidden layer receives from a key with all queries, back through the weights by which the key "
        "came in.",
        "",
    ),
}
_HELPERS = (
    Written(
        "delta", "δ", "Row means of the gradients", "delta[i]",
        meaning="The mean of the weights' gradients in row `i`, each in the share of its weight.",
        why="It is the same as the product of the output's gradient with the output itself, row by row.",
        when="in the backward pass",
    ),
    Written(
        "hidden", "U", "Hidden layer", "hidden[i, j, a]",
        meaning="What stands in the tanh of the score, for each query with each key: worked out once more, since "
        "gradients need it.",
        when="in the backward pass, with score: additive",
    ),
)  # fmt: skip


def gradient_name(name: str) -> str:
    """What the gradient of a step is called."""
    return f"d_{name}"


def _gradient(of: Written) -> Written:
    meaning, why = _SAID.get(of.name, ("", ""))
    return Written(
        gradient_name(of.name), differential(of.symbol), f"Gradient of the {of.title[0].lower()}{of.title[1:]}",
        gradient_name(of.cell), meaning=meaning, why=why,
        when=f"in the backward pass, where {of.name} is there",
    )  # fmt: skip


def _steps() -> tuple[Written, ...]:
    """The gradient of every step that has one, in order, with what is worked out besides."""
    known = {each.name: each for each in (*GIVEN, *COMPUTED, *_HELPERS)}
    found = {each.name: each for each in _HELPERS}
    for name in ORDER:
        if name != "delta":
            written = _gradient(known[name])
            found[written.name] = written
    names = [each for name in ORDER for each in ((name,) if name == "delta" else _with_hidden(name))]
    return tuple(found[name] for name in names)


def _with_hidden(name: str) -> tuple[str, ...]:
    return ("hidden", "d_hidden") if name == "hidden" else (gradient_name(name),)


GRADIENT_RULES = by_name(_steps())
