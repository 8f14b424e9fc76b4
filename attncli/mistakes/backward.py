"""The mistakes people make on the way back, through attention's gradients, in the order in which they can be made."""

from __future__ import annotations

from attncli.mistakes.changed_gradients import (
    as_received,
    averaged_plainly,
    diagonal,
    down_the_columns,
    mean_of_column,
    scale_undone,
    summed_plainly,
    through_softmax,
    weights_without_mask,
    without_logarithm,
    without_mean,
    without_slope,
)
from attncli.mistakes.changed_scores import scaled_once_more
from attncli.mistakes.changed_sums import (
    alone,
    averaged_over,
    averaged_over_heads,
    head_alone,
    not_averaged,
    of_shared,
    turned_on,
    turned_round,
    without_contribution,
    without_target,
    without_two,
)
from attncli.mistakes.changes import Change, Mistake, exchanged, first, in_turn, said, together
from attncli.mistakes.exchanges import renamed, result_transposed, swapped, transposed

_WEIGHTS = ("W_Q", "W_K", "W_V")
_UNSCALED = exchanged(d_scores=as_received)
_SCALED_LATER = first(
    exchanged(d_Q_rot=scaled_once_more, d_K_rot=scaled_once_more), exchanged(d_Q=scaled_once_more, d_K=scaled_once_more)
)


def _into_input(*names: str) -> Change:
    """The gradient of the input, or of a context, with these weights not transposed."""
    function = in_turn(*map(transposed, names))
    return first(exchanged(d_X=function), exchanged(d_context=function))


def _swapped(one: str, other: str) -> Change:
    """The gradient of the input, or of a context, with two weights in the place of each other."""
    function = swapped(one, other)
    return first(exchanged(d_X=function), exchanged(d_context=function))


MISTAKES_BACK: tuple[Mistake, ...] = (
    Mistake("the loss was added up, not averaged", exchanged(loss=not_averaged)),
    Mistake("the gradient of the loss was taken with the other sign", exchanged(d_output=turned_round)),
    Mistake("the target was not subtracted from the probabilities", exchanged(d_output=without_target)),
    Mistake("the factor 2 of the square was forgotten", exchanged(d_output=without_two)),
    Mistake("the gradient was not divided by the N of the mean", exchanged(d_output=not_averaged)),
    Mistake("the mean was taken over the rows, not over all numbers", exchanged(d_output=averaged_over("rows"))),
    Mistake("the mean was taken over all numbers, not over the rows", exchanged(d_output=averaged_over("numbers"))),
    Mistake(
        "W_O was not transposed on the way back",
        first(exchanged(d_concat=transposed("W_O")), exchanged(d_heads_output=transposed("W_O"))),
    ),
    Mistake("dO V was worked out in place of dO V^T", exchanged(d_weights=transposed("V"))),
    Mistake("the row's mean was not subtracted on the way back through the softmax", through_softmax(without_mean)),
    Mistake("only the diagonal of the softmax's Jacobian was taken", through_softmax(diagonal)),
    Mistake("the softmax's Jacobian was taken down the columns", down_the_columns),
    Mistake("the means of the rows were subtracted from the columns", through_softmax(mean_of_column)),
    Mistake("the gradients of a row were added up without its weights", exchanged(delta=summed_plainly)),
    Mistake("the gradients of a row were averaged without its weights", exchanged(delta=averaged_plainly)),
    Mistake("the softmax was left out on the way back", through_softmax(lambda _, gradient, __: gradient)),
    Mistake(
        "the logarithm of the base was forgotten on the way back",
        first(*(exchanged(**{f"d_{name}": without_logarithm}) for name in ("masked", "capped", "scaled", "scores"))),
    ),
    Mistake("the mask was forgotten on the way back", weights_without_mask),
    Mistake(
        "the softcap's derivative was forgotten",
        first(exchanged(d_scaled=without_slope), exchanged(d_scores=without_slope)),
    ),
    Mistake("the scale was forgotten on the way back", _UNSCALED),
    Mistake("the scale was applied to dQ and dK, not to dS", together(_UNSCALED, _SCALED_LATER)),
    Mistake(
        "the row's mean was not subtracted on the way back, nor the scale applied",
        together(through_softmax(without_mean), _UNSCALED),
    ),
    Mistake("the scale was applied twice on the way back", exchanged(d_scores=scaled_once_more)),
    Mistake("the scale was undone on the way back, not applied", exchanged(d_scores=scale_undone)),
    Mistake("the derivative of the tanh was forgotten", exchanged(d_hidden=without_slope)),
    *(
        Mistake(
            f"{wrong} was worked out in place of {right}",
            first(exchanged(**{f"{step}_rot": rot}), exchanged(**{step: one})),
        )
        for step, wrong, right, one, rot in (
            ("d_Q", "dS^T K", "dS K", transposed("d_scores"), transposed("d_scores")),
            ("d_Q", "dS Q", "dS K", renamed(K="Q"), renamed(K_rot="Q_rot")),
            ("d_K", "dS Q", "dS^T Q", transposed("d_scores"), transposed("d_scores")),
            ("d_K", "dS^T K", "dS^T Q", renamed(Q="K"), renamed(Q_rot="K_rot")),
        )
    ),
    Mistake("A dO was worked out in place of A^T dO", exchanged(d_V=transposed("weights"))),
    Mistake("RoPE turned forward on the way back", exchanged(d_Q=turned_on, d_K=turned_on)),
    Mistake("RoPE was left out on the way back", said("d_Q[i, k] = d_Q_rot[i, k]", "d_K[j, k] = d_K_rot[j, k]")),
    Mistake("only the first of the heads that share keys and values was taken", of_shared(head_alone())),
    Mistake("only the last of the heads that share keys and values was taken", of_shared(head_alone(last=True))),
    Mistake("the heads that share keys and values were averaged, not added up", of_shared(averaged_over_heads)),
    *(Mistake(f"d{name} was transposed", result_transposed(f"d_{name}")) for name in (*_WEIGHTS, "W_O")),
    *(
        Mistake(
            f"what comes back through {name} was left out of the gradient of the input",
            first(*(exchanged(**{step: without_contribution(name)}) for step in ("d_X", "d_context"))),
        )
        for name in "QKV"
    ),
    *(
        Mistake(f"only what comes back through {name} was taken for the gradient of the input", exchanged(d_X=function))
        for name, function in (("Q", alone("Q", "K", "V")), ("K", alone("K", "Q", "V")), ("V", alone("V", "Q", "K")))
    ),
    *(Mistake(f"{name} was not transposed on the way back", _into_input(name)) for name in _WEIGHTS),
    Mistake("W_Q, W_K and W_V were not transposed on the way back", _into_input(*_WEIGHTS)),
    *(
        Mistake(f"{one} and {other} were swapped on the way back", _swapped(one, other))
        for one, other in (("W_Q", "W_K"), ("W_K", "W_V"), ("W_Q", "W_V"))
    ),
)
