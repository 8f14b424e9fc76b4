"""The mistakes people make in attention: each by its name, and what it changes in the equations, in one place."""

from __future__ import annotations

from fractions import Fraction

from attncli.equation.nodes import Call, Number, whole
from attncli.mistakes.backward import MISTAKES_BACK
from attncli.mistakes.changed_heads import joined_by_rows, other_pairs, split_by_rows, tiled
from attncli.mistakes.changed_masks import (
    capped_last,
    filled,
    forgotten,
    hiding_by,
    inverted,
    on_the_weights,
    other_corner,
    strictly_before,
    uncapped,
)
from attncli.mistakes.changed_scores import (
    UNSCALED,
    mixing,
    powers_of,
    powers_of_e,
    rounded,
    scaled,
    scaled_once_more,
    scaled_unasked,
    summed,
    without_bias,
)
from attncli.mistakes.changes import Mistake, exchanged, said, together
from attncli.mistakes.exchanges import renamed, transposed, turned

SENTINELS = ("-1e9", "-1e4", "-9999", "-1000", "-100", "-10", "-1")
DECIMALS = {0: "whole numbers", 1: "one decimal", 2: "2 decimals", 3: "3 decimals"}


def _number(text: str) -> Number:
    return Number(Fraction(text), text)


_TRANSPOSED = {name: exchanged(**{name[2:]: transposed(name)}) for name in ("W_Q", "W_K", "W_V")}

MISTAKES: tuple[Mistake, ...] = (
    Mistake("W_Q and W_K were swapped", exchanged(Q=renamed(W_Q="W_K"), K=renamed(W_K="W_Q"))),
    Mistake("W_K and W_V were swapped", exchanged(K=renamed(W_K="W_V"), V=renamed(W_V="W_K"))),
    Mistake("W_Q and W_V were swapped", exchanged(Q=renamed(W_Q="W_V"), V=renamed(W_V="W_Q"))),
    Mistake("W_Q, W_K and W_V were transposed", together(*_TRANSPOSED.values())),
    *(Mistake(f"{name} was transposed", change) for name, change in _TRANSPOSED.items()),
    Mistake("W_O was transposed", exchanged(output=transposed("W_O"))),
    Mistake("a bias was left out of Q", exchanged(Q=without_bias)),
    Mistake("a bias was left out of K", exchanged(K=without_bias)),
    Mistake("a bias was left out of V", exchanged(V=without_bias)),
    Mistake("heads were split by rows, without moving their axis", together(*map(split_by_rows, "QKV"))),
    Mistake("heads were joined without moving their axis back", exchanged(concat=joined_by_rows)),
    Mistake("RoPE turned the other pairs of features", together(other_pairs("Q_rot"), other_pairs("K_rot"))),
    Mistake("RoPE was left out", said("Q_rot[i, k] = Q[i, k]", "K_rot[j, k] = K[j, k]")),
    Mistake("RoPE turned the other way", exchanged(angles=lambda own, _: Call("neg", (own,)))),
    Mistake("K Q^T was worked out in place of Q K^T", exchanged(scores=turned)),
    Mistake("K was not transposed", said("K_T[k, j] = K[k, j]")),
    Mistake("KV heads were tiled, not repeated", tiled),
    Mistake("the scores were not scaled", UNSCALED),
    Mistake("the scores were divided by d_k, not by its root", scaled("scores[i, j] / d_k")),
    Mistake("the scores were scaled twice", exchanged(scaled=scaled_once_more)),
    Mistake("the scores were divided by the root of d_model", scaled("scores[i, j] / sqrt({d_model})")),
    Mistake("the scores were divided by the root of n", scaled("scores[i, j] / sqrt({n})")),
    Mistake("the scores were divided by the root of d_k of all heads", scaled("scores[i, j] / sqrt({joined})")),
    Mistake("the scores were multiplied by the root of d_k", scaled("scores[i, j] * sqrt(d_k)")),
    Mistake("the scores were scaled, though no scale is asked for", scaled_unasked),
    Mistake("the scale was applied after the softmax", together(UNSCALED, exchanged(weights=scaled_once_more))),
    Mistake("the softcap was left out", exchanged(capped=uncapped)),
    Mistake("the softcap was applied after the mask", exchanged(masked=capped_last)),
    Mistake("the mask was forgotten", exchanged(masked=forgotten)),
    Mistake("the mask was inverted", exchanged(mask=inverted)),
    Mistake("the mask was transposed", exchanged(mask=turned)),
    Mistake("the mask hid each token from itself", exchanged(mask=strictly_before)),
    Mistake("the mask was aligned to the other corner", exchanged(mask=other_corner)),
    Mistake("hidden scores were set to 0, not to -inf", exchanged(masked=filled(whole(0)))),
    Mistake("the mask was put on the weights, after the softmax", exchanged(masked=forgotten, weights=on_the_weights)),
    *(Mistake(f"{text} was added in place of -inf", exchanged(mask=hiding_by(_number(text)))) for text in SENTINELS),
    *(
        Mistake(f"hidden scores were set to {text}, not to -inf", exchanged(masked=filled(_number(text))))
        for text in SENTINELS
    ),
    Mistake("the softmax was taken down the columns", summed("sum(p, exp[p, j])")),
    Mistake("the softmax was taken over the whole matrix", summed("sum(p, sum(u, exp[p, u]))")),
    Mistake(
        "the scores were divided by their sum, without exponentials",
        said("weights[i, j] = share(finite({logits}[i, j]), sum(u, finite({logits}[i, u])))"),
    ),
    Mistake("the base was e, not the one given", powers_of_e),
    *(Mistake(f"{base} was taken for e", powers_of(base)) for base in ("2", "3", "2.7", "2.71", "2.718", "10")),
    Mistake("A X was worked out in place of A V", mixing("{source}")),
    Mistake("A K was worked out in place of A V", mixing("K")),
    Mistake("A Q was worked out in place of A V", mixing("Q")),
    Mistake("A^T V was worked out in place of A V", said("{mixed}[i, c] = sum(j, weights[j, i] * V[j, c])")),
    *(
        Mistake(f"{title} were rounded to {text} first", rounded(name, decimals))
        for name, title in (("scores", "the scores"), ("scaled", "the scaled scores"), ("weights", "the weights"))
        for decimals, text in DECIMALS.items()
    ),
    *MISTAKES_BACK,
)
