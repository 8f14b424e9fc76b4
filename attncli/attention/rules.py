"""Every step of attention as one sentence: its equation, its headline, what it means and when it is there.

Everything a page says or a program computes about a step is derived from its rule here. In equations
`logits` stands for whatever the softmax is about to see (scores, scaled, capped or masked), `source` for
where keys and values come from (X, or context), and `visible` for the conditions of a mask; the plan puts
the real names in. `indices.py` says what the index letters run over.
"""

from __future__ import annotations

from collections.abc import Mapping

from attncli.attention.givens import GIVEN
from attncli.attention.rule import Rule, computed
from attncli.equation.tree import Equation, Expression, Ref, rename

COMPUTED = (
    computed(
        "Q", "Q", "Queries", "Q[i, k] = sum(d, X[i, d] * W_Q[d, k])", "X @ W_Q",
        meaning="Each row is one token's query: what it is looking for.",
        why="Three projections, because a token plays three parts: it asks (`Q`), it can be found (`K`), and it "
        "hands something over (`V`). Separate weights let it look for something other than what it offers.",
        when="always: projected from X, or given directly",
    ),
    computed(
        "K", "K", "Keys", "K[j, k] = sum(d, source[j, d] * W_K[d, k])", "source @ W_K",
        meaning="Each row is one token's key: what it offers to be found by.",
        when="always: projected from X or the context, or given directly",
    ),
    computed(
        "V", "V", "Values", "V[j, c] = sum(d, source[j, d] * W_V[d, c])", "source @ W_V",
        meaning="Each row is one token's value: what it hands over when another token attends to it.",
        when="always: projected from X or the context, or given directly",
    ),
    computed(
        "K_T", "K_T", "Keys, transposed", "K_T[k, j] = K[j, k]", "transpose(K)",
        meaning="Rows become columns, so that each column is one token's key.",
        why="A query times this matrix meets every key at once.",
        when="always, but with score: additive",
    ),
    computed(
        "scores", "S", "Scores", "scores[i, j] = sum(k, Q[i, k] * K_T[k, j])", "Q @ K_T",
        meaning="Row i, column j is the dot product of query i with key j: how well the two match.",
        why="A large score means that the key has what the query is looking for.",
        when="always",
    ),
    computed(
        "scaled", "Z", "Scaled scores", "scaled[i, j] = scores[i, j] / sqrt(d_k)", "scores / sqrt(d_k)",
        meaning="Every score divided by `sqrt(d_k)`, the square root of the length of a key.",
        why="A dot product of `d_k` independent terms of variance 1 has variance `d_k`. Dividing by `sqrt(d_k)` "
        "brings it back to 1, so that the softmax does not saturate and its gradient does not vanish.",
        when="with the score scaled_dot unless scale: none, and with any other score where a scale is given",
    ),
    computed(
        "capped", "S_cap", "Capped scores", "capped[i, j] = softcap * tanh(logits[i, j] / softcap)",
        "softcap * tanh(logits / softcap)",
        meaning="The scores bent smoothly into the range from `-softcap` to `softcap`.",
        why="No single score can then grow without bound; small ones hardly change.",
        when="with softcap",
    ),
    computed(
        "mask", "M", "Mask", "mask[i, j] = where(visible, 0, -inf)", "",
        meaning="0 where a query may see a key, `-inf` where the key is hidden from it.",
        when="with a mask",
    ),
    computed(
        "masked", "Z'", "Masked scores",
        "masked[i, j] = add_mask(logits[i, j], mask[i, j])", "add_mask(logits, mask)",
        meaning="The mask added to the scores: what is hidden becomes `-inf`.",
        why="The exponential of `-inf` is 0, so a hidden key gets no attention at all.",
        when="with a mask",
    ),
    computed(
        "row_max", "m", "Row maxima", "row_max[i] = max(j, logits[i, j])", "row_maxima(logits)",
        meaning="The largest score of each row.",
        when="where the softmax is shifted, because e to the plain scores would be too large, or a whole row of it 0",
    ),
    computed(
        "shifted", "D", "Shifted scores", "shifted[i, j] = logits[i, j] - finite(row_max[i])", "logits - row_max",
        meaning="Every score less the largest of its row, so that none is above 0.",
        why="The exponentials of the scores themselves would be too large for the number format, or so small that "
        "a whole row would be 0. The same shift in a whole row multiplies numerator and denominator alike, so the "
        "weights do not change.",
        when="where the softmax is shifted, because e to the plain scores would be too large, or a whole row of it 0",
    ),
    computed(
        "exp", "E", "Exponentials", "exp[i, j] = exp(logits[i, j])", "exp(logits)",
        meaning="The exponential of every score.",
        why="Exponentials are positive, and they turn differences between scores into ratios: a score that is 1 "
        "higher counts e ≈ 2.718 times as much.",
        when="always",
    ),
    computed(
        "row_sum", "r", "Row sums", "row_sum[i] = sum(j, exp[i, j])", "row_sums(exp)",
        meaning="The sum of each row of exponentials: what the row is divided by.",
        when="always",
    ),
    computed(
        "weights", "A", "Attention weights", "weights[i, j] = share(exp[i, j], row_sum[i])", "softmax(logits)",
        meaning="Row i says how query i spreads its attention over the keys; each row sums to 1.",
        why="The softmax turns scores of any size into shares of a whole, without ever choosing only one.",
        when="always",
    ),
    computed(
        "output", "O", "Output", "output[i, c] = sum(j, weights[i, j] * V[j, c])", "weights @ V",
        meaning="Row i is the mixture of all values that query i attends to, each in the share of its weight.",
        why="This is the token's new representation: it now carries what it found in the others.",
        when="always",
    ),
)  # fmt: skip

RULES: Mapping[str, Rule] = {rule.name: rule for rule in (*GIVEN, *COMPUTED)}
GIVEN_RULES: Mapping[str, Rule] = {rule.name: rule for rule in GIVEN}
COMPUTED_RULES: Mapping[str, Rule] = {rule.name: rule for rule in COMPUTED}

_SYMBOLS = {rule.name: rule.symbol for rule in RULES.values()}


def in_symbols(expression: Expression) -> Expression:
    """An expression with every step called by its letter: S for scores, A for weights."""
    return rename(expression, _SYMBOLS)


def headline(rule: Rule) -> Equation | None:
    """The matrix form in the letters of formulas, S = Q K^T; None where the index form says it best."""
    return None if rule.matrix_form is None else Equation(Ref(rule.symbol), in_symbols(rule.matrix_form))


def cell_form(rule: Rule) -> Equation:
    """The index form in the letters of formulas: S[i, j] = Σ_k Q[i, k]·Kᵀ[k, j]."""
    return Equation(Ref(rule.symbol, rule.target.indices), in_symbols(rule.equation.expression))
