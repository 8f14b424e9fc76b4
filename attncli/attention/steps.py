"""Every step of attention that is worked out, as one sentence: its equation, its headline, and what it means.

In equations `logits` stands for whatever the softmax is about to see (scores, scaled, capped or masked), `source` for
where keys and values come from (X, or context), and `visible` for the conditions of a mask; the plan puts the real
names in. All are of a single head: the plan puts heads and batches before their indices. `equation/indices.py`
says what the index letters run over.

To add a step is to add its rule here, and, in `plan.py`, where it comes in. If gradients go through it, the rule says
so (`gradient`, `through`), and its name stands in BACKWARD_ORDER. The steps of positions are in `problem/positions.py`.
"""

from __future__ import annotations

from attncli.english import listed
from attncli.equation.rule import Cell, Rule
from attncli.problem.axes import HEAD
from attncli.problem.keys import ARRAYS
from attncli.problem.positions import POSITIONS

COMPUTED = (
    Rule(
        "Q", "Q", "Queries", "Q[i, k] = sum(d, X[i, d] * W_Q[d, k])", "X @ W_Q",
        meaning="Each row is one token's query: what it is looking for.",
        why="Three projections, because a token plays three parts: it asks (`Q`), it can be found (`K`), and it "
        "hands something over (`V`). Separate weights let it look for something other than what it offers.",
        when="always: projected from X, or given directly",
        gradient="Each query's gradient is a sum of the keys, each times the gradient of its score.",
    ),
    Rule(
        "new_K", "K_new", "New keys", "new_K[s, k] = sum(d, source[s, d] * W_K[d, k])", "source @ W_K",
        meaning="Each row is the key of one new token.",
        why="Only the new tokens are projected: the keys of all others are in the cache.",
        when="with past: projected from X or the context, or given directly",
        gradient="The rows of the keys that are of the new tokens.",
    ),
    Rule(
        "new_V", "V_new", "New values", "new_V[s, c] = sum(d, source[s, d] * W_V[d, c])", "source @ W_V",
        meaning="Each row is the value of one new token.",
        when="with past: projected from X or the context, or given directly",
        gradient="The rows of the values that are of the new tokens.",
    ),
    Rule(
        "K", "K", "Keys", "K[j, k] = sum(d, source[j, d] * W_K[d, k])", "source @ W_K",
        meaning="Each row is one token's key: what it offers to be found by.",
        when="always: projected from X or the context, or given directly",
        gradient="Each key's gradient is a sum of the queries, each times the gradient of its score with this key.",
    ),
    Rule(
        "V", "V", "Values", "V[j, c] = sum(d, source[j, d] * W_V[d, c])", "source @ W_V",
        meaning="Each row is one token's value: what it hands over when another token attends to it.",
        when="always: projected from X or the context, or given directly",
        gradient="Each value collects the gradient of every output that it went into, in the share of its weight.",
        gradient_why="A value that nobody attends to learns nothing.",
    ),
    *(rule for kind in POSITIONS.values() if kind.replaces for rule in kind.rules),
    Rule(
        "K_T", "K_T", "Keys, transposed", "K_T[k, j] = K[j, k]", "transpose(K)",
        meaning="Rows become columns, so that each column is one token's key.",
        why="A query times this matrix meets every key at once.",
        when="always, but with score: additive",
    ),
    Rule(
        "scores", "S", "Scores", "scores[i, j] = sum(k, Q[i, k] * K_T[k, j])", "Q @ K_T",
        meaning="Row `i`, column `j` is the dot product of query `i` with key `j`: how well the two match.",
        why="A large score means that the key has what the query is looking for.",
        when="always",
    ),
    Rule(
        "scaled", "Z", "Scaled scores", "scaled[i, j] = scores[i, j] / sqrt(d_k)", "scores / sqrt(d_k)",
        meaning="Every score divided by `sqrt(d_k)`, the square root of the length of a key.",
        why="A dot product of `d_k` independent terms of variance 1 has variance `d_k`. Dividing by `sqrt(d_k)` "
        "brings it back to 1, so that the softmax does not saturate and its gradient does not vanish.",
        when="with the score scaled_dot unless scale: none, and with any other score where a scale is given",
        through="The scale works on the way back as it did on the way there.",
    ),
    Rule(
        "capped", "S_cap", "Capped scores", "capped[i, j] = softcap * tanh(logits[i, j] / softcap)",
        "softcap * tanh(logits / softcap)",
        meaning="The scores bent smoothly into the range from `-softcap` to `softcap`.",
        why="No single score can then grow without bound; small ones hardly change.",
        when="with softcap",
        through="Through the cap, whose slope is 1 for small scores and near 0 for large ones.",
        through_why="What the cap has flattened hardly learns.",
    ),
    *(rule for kind in POSITIONS.values() if kind.bias for rule in kind.rules),
    Rule(
        "mask", "M", "Mask", "mask[i, j] = where(visible, 0, -inf)", "",
        meaning="0 where a query may see a key, `-inf` where the key is hidden from it.",
        when="with a mask",
    ),
    Rule(
        "masked", "Z'", "Masked scores",
        "masked[i, j] = add_mask(logits[i, j], mask[i, j])", "add_mask(logits, mask)",
        meaning="The mask added to the scores: what is hidden becomes `-inf`.",
        why="The exponential of `-inf` is 0, so a hidden key gets no attention at all.",
        when="with a mask, or with " + listed([name for name, kind in POSITIONS.items() if kind.bias], last="or"),
        through="What is added to a score does not change its gradient; a hidden score gets 0.",
    ),
    # the next two are there where `tracing/run.py` finds that the softmax has to be shifted
    Rule(
        "row_max", "m", "Row maxima", "row_max[i] = max(j, logits[i, j])", "row_maxima(logits)",
        meaning="The largest score of each row.",
        when="where the softmax is shifted, because e to the plain scores would be too large, or a whole row of it 0",
    ),
    Rule(
        "shifted", "D", "Shifted scores", "shifted[i, j] = logits[i, j] - finite(row_max[i])", "logits - row_max",
        meaning="Every score less the largest of its row, so that none is above 0.",
        why="The exponentials of the scores themselves would be too large for the number format, or so small that "
        "a whole row would be 0. The same shift in a whole row multiplies numerator and denominator alike, so the "
        "weights do not change.",
        when="where the softmax is shifted, because e to the plain scores would be too large, or a whole row of it 0",
    ),
    Rule(
        "exp", "E", "Exponentials", "exp[i, j] = exp(logits[i, j])", "exp(logits)",
        meaning="The exponential of every score.",
        why="Exponentials are positive, and they turn differences between scores into ratios: a score that is 1 "
        "higher counts `e` ≈ 2.718 times as much.",
        when="always",
    ),
    Rule(
        "row_sum", "r", "Row sums", "row_sum[i] = sum(j, exp[i, j])", "row_sums(exp)",
        meaning="The sum of each row of exponentials: what the row is divided by.",
        when="always",
    ),
    Rule(
        "weights", "A", "Attention weights", "weights[i, j] = share(exp[i, j], row_sum[i])", "softmax(logits)",
        meaning="Row `i` says how query `i` spreads its attention over the keys; each row sums to 1.",
        why="The softmax turns scores of any size into shares of a whole, without ever choosing only one.",
        when="always",
        gradient="Row `i`, column `j` is the product of the gradient of output `i` with value `j`: it says how much "
        "more attention from `i` to `j` would raise the loss.",
        through="Through the softmax: each weight times how far its gradient lies above `δ`, the mean of its row.",
        through_why="The weights of a row sum to 1, so none can grow unless others shrink: a row of this gradient "
        "sums to 0.",
    ),
    Rule(
        "heads_output", "H", "Outputs of the heads", "heads_output[i, c] = sum(j, weights[i, j] * V[j, c])",
        "weights @ V",
        meaning="Row `i` is the mixture of all values that query `i` attends to, each in the share of its weight.",
        why="Every head looks for something else, and finds something else.",
        when="with W_O, or where the heads are put together",
        gradient="How much the loss changes with each number that a head found: each head gets back its own.",
    ),
    Rule(
        "concat", "concat", "Heads, side by side", "concat[i, e] = heads_output[e // d_v, i, e % d_v]",
        "join(heads_output)",
        meaning="The outputs of all heads in one row: those of head 0 first.",
        when="with several heads, unless they are an axis of Q, K and V and there is no W_O",
        joins=HEAD,
        gradient="How much the loss changes with each number that the heads found.",
        gradient_why="Every step of the way back is the chain rule: what comes in, times the derivative of the step.",
    ),
    Rule(
        "output", "O", "Output", "output[i, c] = sum(j, weights[i, j] * V[j, c])", "weights @ V",
        meaning="Row `i` is the mixture of all values that query `i` attends to, each in the share of its weight.",
        why="This is the token's new representation: it now carries what it found in the others.",
        when="always",
        gradient="how much the loss changes with each number of the output.",
    ),
)  # fmt: skip

# What is worked out for gradients only: `backward.py` has the equations.
FOR_GRADIENTS = (
    Rule(
        "delta", "δ", "Row means of the gradients", Cell("delta[i]"),
        meaning="The mean of the weights' gradients in row `i`, each in the share of its weight.",
        why="It is the same as the product of the output's gradient with the output itself, row by row.",
        when="in the backward pass",
    ),
    Rule(
        "hidden", "U", "Hidden layer", Cell("hidden[i, j, a]"),
        meaning="What stands in the tanh of the score, for each query with each key: worked out once more, since "
        "gradients need it.",
        when="in the backward pass, with score: additive",
        gradient="What the hidden layer receives, before its tanh: where that is flat, little comes through.",
    ),
)  # fmt: skip

# The arrays of a problem that have a gradient, in the order in which it is worked out: first those of the cache, with
# the keys and values that they are a part of; last what several projections read.
_FIRST, _LAST = ("past_K", "past_V"), ("X", "context")
_STEPS = {rule.name for rule in COMPUTED}
_OTHERS = (name for name, array in ARRAYS.items() if array.gradient is not None and name not in _STEPS)
INPUT_GRADIENTS = (*_FIRST, *(name for name in _OTHERS if name not in (*_FIRST, *_LAST)), *_LAST)

# The steps that have a gradient, in the order in which it is worked out. None goes through the others: positions and
# masks are not learned here, K_T is read as K, and the softmax is taken as a whole.
BACKWARD_ORDER = (
    "output", "concat", "heads_output", "weights", "delta", "masked", "capped", "scaled", "scores", "hidden",
    *(name for kind in POSITIONS.values() for name in kind.replaces.values()),
    "Q", "K", "V", "new_K", "new_V", *INPUT_GRADIENTS,
)  # fmt: skip
