"""Every step of attention that is worked out, as one sentence: its equation, its headline, and what it means.

In equations `logits` stands for whatever the softmax is about to see (scores, scaled, capped or masked), `source` for
where keys and values come from (X, or context), and `visible` for the conditions of a mask; the plan puts the real
names in. All are of a single head: the plan puts heads and batches before their indices. `indices.py` says what the
index letters run over.
"""

from __future__ import annotations

from attncli.attention.written import Written
from attncli.problem.axes import HEAD

COMPUTED = (
    Written(
        "Q", "Q", "Queries", "Q[i, k] = sum(d, X[i, d] * W_Q[d, k])", "X @ W_Q",
        meaning="Each row is one token's query: what it is looking for.",
        why="Three projections, because a token plays three parts: it asks (`Q`), it can be found (`K`), and it "
        "hands something over (`V`). Separate weights let it look for something other than what it offers.",
        when="always: projected from X, or given directly",
    ),
    Written(
        "new_K", "K_new", "New keys", "new_K[s, k] = sum(d, source[s, d] * W_K[d, k])", "source @ W_K",
        meaning="Each row is the key of one new token.",
        why="Only the new tokens are projected: the keys of all others are in the cache.",
        when="with past: projected from X or the context, or given directly",
    ),
    Written(
        "new_V", "V_new", "New values", "new_V[s, c] = sum(d, source[s, d] * W_V[d, c])", "source @ W_V",
        meaning="Each row is the value of one new token.",
        when="with past: projected from X or the context, or given directly",
    ),
    Written(
        "K", "K", "Keys", "K[j, k] = sum(d, source[j, d] * W_K[d, k])", "source @ W_K",
        meaning="Each row is one token's key: what it offers to be found by.",
        when="always: projected from X or the context, or given directly",
    ),
    Written(
        "V", "V", "Values", "V[j, c] = sum(d, source[j, d] * W_V[d, c])", "source @ W_V",
        meaning="Each row is one token's value: what it hands over when another token attends to it.",
        when="always: projected from X or the context, or given directly",
    ),
    Written(
        "angles", "angles", "Angles", "angles[t, r] = t / theta ** (2 * r / d_k)", "",
        meaning="How far pair `r` of a query or key at position `t` is turned, in radians.",
        why="The first pairs turn fast and tell near positions apart, the last turn slowly and tell far ones apart.",
        when="with rope",
    ),
    Written(
        "Q_rot", "Q_rot", "Queries, rotated",
        "Q_rot[i, k] = where(k < half, Q[i, k] * cos(angles[i, k]) - Q[i, k + half] * sin(angles[i, k]), "
        "Q[i, k] * cos(angles[i, k - half]) + Q[i, k - half] * sin(angles[i, k - half]))", "rotate(Q, angles)",
        meaning="Each pair of features is one point in a plane, turned by the angle of the query's position.",
        why="The dot product of two turned pairs depends on the difference of their angles alone, and so on how far "
        "apart the two tokens are.",
        when="with rope",
    ),
    Written(
        "K_rot", "K_rot", "Keys, rotated",
        "K_rot[j, k] = where(k < half, K[j, k] * cos(angles[j, k]) - K[j, k + half] * sin(angles[j, k]), "
        "K[j, k] * cos(angles[j, k - half]) + K[j, k - half] * sin(angles[j, k - half]))", "rotate(K, angles)",
        meaning="Each pair of features is turned by the angle of the key's position.",
        when="with rope",
    ),
    Written(
        "K_T", "K_T", "Keys, transposed", "K_T[k, j] = K[j, k]", "transpose(K)",
        meaning="Rows become columns, so that each column is one token's key.",
        why="A query times this matrix meets every key at once.",
        when="always, but with score: additive",
    ),
    Written(
        "scores", "S", "Scores", "scores[i, j] = sum(k, Q[i, k] * K_T[k, j])", "Q @ K_T",
        meaning="Row `i`, column `j` is the dot product of query `i` with key `j`: how well the two match.",
        why="A large score means that the key has what the query is looking for.",
        when="always",
    ),
    Written(
        "scaled", "Z", "Scaled scores", "scaled[i, j] = scores[i, j] / sqrt(d_k)", "scores / sqrt(d_k)",
        meaning="Every score divided by `sqrt(d_k)`, the square root of the length of a key.",
        why="A dot product of `d_k` independent terms of variance 1 has variance `d_k`. Dividing by `sqrt(d_k)` "
        "brings it back to 1, so that the softmax does not saturate and its gradient does not vanish.",
        when="with the score scaled_dot unless scale: none, and with any other score where a scale is given",
    ),
    Written(
        "capped", "S_cap", "Capped scores", "capped[i, j] = softcap * tanh(logits[i, j] / softcap)",
        "softcap * tanh(logits / softcap)",
        meaning="The scores bent smoothly into the range from `-softcap` to `softcap`.",
        why="No single score can then grow without bound; small ones hardly change.",
        when="with softcap",
    ),
    Written(
        "slopes", "slopes", "Slopes", "slopes[h] = 1 / 2 ** (8 * (h + 1) / heads)", "",
        meaning="How much a score loses with each position that a key is away, in each head.",
        why="Steep heads look near, flat ones far.",
        when="with alibi and several heads",
    ),
    Written(
        "bias", "B", "Bias", "bias[i, j] = -slopes * abs(i - j)", "",
        meaning="What a key loses for its distance from the query: the slope of its head for each position "
        "between them.",
        why="Near keys are preferred without any position in the embeddings (ALiBi).",
        when="with alibi",
    ),
    Written(
        "mask", "M", "Mask", "mask[i, j] = where(visible, 0, -inf)", "",
        meaning="0 where a query may see a key, `-inf` where the key is hidden from it.",
        when="with a mask",
    ),
    Written(
        "masked", "Z'", "Masked scores",
        "masked[i, j] = add_mask(logits[i, j], mask[i, j])", "add_mask(logits, mask)",
        meaning="The mask added to the scores: what is hidden becomes `-inf`.",
        why="The exponential of `-inf` is 0, so a hidden key gets no attention at all.",
        when="with a mask, or with alibi",
    ),
    Written(
        "row_max", "m", "Row maxima", "row_max[i] = max(j, logits[i, j])", "row_maxima(logits)",
        meaning="The largest score of each row.",
        when="where the softmax is shifted, because e to the plain scores would be too large, or a whole row of it 0",
    ),
    Written(
        "shifted", "D", "Shifted scores", "shifted[i, j] = logits[i, j] - finite(row_max[i])", "logits - row_max",
        meaning="Every score less the largest of its row, so that none is above 0.",
        why="The exponentials of the scores themselves would be too large for the number format, or so small that "
        "a whole row would be 0. The same shift in a whole row multiplies numerator and denominator alike, so the "
        "weights do not change.",
        when="where the softmax is shifted, because e to the plain scores would be too large, or a whole row of it 0",
    ),
    Written(
        "exp", "E", "Exponentials", "exp[i, j] = exp(logits[i, j])", "exp(logits)",
        meaning="The exponential of every score.",
        why="Exponentials are positive, and they turn differences between scores into ratios: a score that is 1 "
        "higher counts `e` ≈ 2.718 times as much.",
        when="always",
    ),
    Written(
        "row_sum", "r", "Row sums", "row_sum[i] = sum(j, exp[i, j])", "row_sums(exp)",
        meaning="The sum of each row of exponentials: what the row is divided by.",
        when="always",
    ),
    Written(
        "weights", "A", "Attention weights", "weights[i, j] = share(exp[i, j], row_sum[i])", "softmax(logits)",
        meaning="Row `i` says how query `i` spreads its attention over the keys; each row sums to 1.",
        why="The softmax turns scores of any size into shares of a whole, without ever choosing only one.",
        when="always",
    ),
    Written(
        "heads_output", "H", "Outputs of the heads", "heads_output[i, c] = sum(j, weights[i, j] * V[j, c])",
        "weights @ V",
        meaning="Row `i` is the mixture of all values that query `i` attends to, each in the share of its weight.",
        why="Every head looks for something else, and finds something else.",
        when="with W_O, or where the heads are put together",
    ),
    Written(
        "concat", "concat", "Heads, side by side", "concat[i, e] = heads_output[e // d_v, i, e % d_v]",
        "join(heads_output)",
        meaning="The outputs of all heads in one row: those of head 0 first.",
        when="with several heads, unless they are an axis of Q, K and V and there is no W_O",
        joins=HEAD,
    ),
    Written(
        "output", "O", "Output", "output[i, c] = sum(j, weights[i, j] * V[j, c])", "weights @ V",
        meaning="Row `i` is the mixture of all values that query `i` attends to, each in the share of its weight.",
        why="This is the token's new representation: it now carries what it found in the others.",
        when="always",
    ),
)  # fmt: skip
