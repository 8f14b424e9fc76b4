"""Every step of attention that is computed, as a rule: its equation, its matrix form, and what it
means.

Equations use three placeholders. `logits` is what the softmax reads (scores, scaled, capped or
masked), `source` is where keys and values come from (X or context), and `visible` stands for the
conditions of a mask. The plan puts the real names in. Every equation is that of a single head; the
plan puts the letters of heads and batches before the others. `equation/indices.py` says what each
letter runs over.

To add a step, add its rule here, and say in `plan.py` when it is needed. If gradients go through
it, the rule has `gradient` or `through`, and its name stands in BACKWARD_ORDER. The steps of
positions are in `problem/parts/positions/`.
"""

from __future__ import annotations

from attncli.english import listed
from attncli.equation.rule import Rule, UnparsedCell
from attncli.problem.keys import ARRAYS
from attncli.problem.parts.axes import HEAD
from attncli.problem.parts.positions import POSITIONS

COMPUTED = (
    *(rule for kind in POSITIONS.values() if kind.inputs for rule in kind.rules),
    Rule(
        "Q",
        "Q",
        "Queries",
        "Q[i, k] = sum(d, X[i, d] * W_Q[d, k])",
        "X @ W_Q",
        meaning="Each row is one token's query: what the token is looking for.",
        why=(
            "A token has three roles. It looks for other tokens (`Q`), other tokens find it (`K`),"
            " and it gives something to them (`V`)."
        ),
        more=(
            "Each role has its own weights, so a token can have a query that differs from its key."
        ),
        when="always: projected from X, or given directly",
        gradient=(
            "The gradient of a query is a sum over all keys. Each key is multiplied by the gradient"
            " of its score with this query."
        ),
    ),
    Rule(
        "new_K",
        "K_new",
        "New keys",
        "new_K[s, k] = sum(d, source[s, d] * W_K[d, k])",
        "source @ W_K",
        meaning="Each row is the key of one new token.",
        why="Only the new tokens are projected. The keys of the earlier tokens are in the cache.",
        when="with past: projected from X or the context, or given directly",
        gradient="The rows of the keys' gradient that belong to the new tokens.",
    ),
    Rule(
        "new_V",
        "V_new",
        "New values",
        "new_V[s, c] = sum(d, source[s, d] * W_V[d, c])",
        "source @ W_V",
        meaning="Each row is the value of one new token.",
        when="with past: projected from X or the context, or given directly",
        gradient="The rows of the values' gradient that belong to the new tokens.",
    ),
    Rule(
        "K",
        "K",
        "Keys",
        "K[j, k] = sum(d, source[j, d] * W_K[d, k])",
        "source @ W_K",
        meaning="Each row is one token's key: what other tokens use to find this token.",
        when="always: projected from X or the context, or given directly",
        gradient=(
            "The gradient of a key is a sum over all queries. Each query is multiplied by the"
            " gradient of its score with this key."
        ),
    ),
    Rule(
        "V",
        "V",
        "Values",
        "V[j, c] = sum(d, source[j, d] * W_V[d, c])",
        "source @ W_V",
        meaning="Each row is one token's value: what the token gives to the tokens that find it.",
        when="always: projected from X or the context, or given directly",
        gradient=(
            "The gradient of a value is a sum over all queries. The gradient of each output row is"
            " multiplied by the weight that its query gives to this value."
        ),
        gradient_why=(
            "If every query gives a value the weight 0, its gradient is 0, so it learns nothing."
        ),
    ),
    *(rule for kind in POSITIONS.values() if kind.replaces for rule in kind.rules),
    Rule(
        "K_T",
        "K_T",
        "Keys, transposed",
        "K_T[k, j] = K[j, k]",
        "transpose(K)",
        meaning="The rows of the keys become columns, so each column is one token's key.",
        why="Queries times this matrix compares every query with every key.",
        when="always, except with score: additive",
    ),
    Rule(
        "scores",
        "S",
        "Scores",
        "scores[i, j] = sum(k, Q[i, k] * K_T[k, j])",
        "Q @ K_T",
        meaning=(
            "Row `i`, column `j` is the dot product of query `i` and key `j`. It says how well the"
            " two match."
        ),
        why="A high score means that the key has what the query is looking for.",
        when="always",
    ),
    Rule(
        "scaled",
        "Z",
        "Scaled scores",
        "scaled[i, j] = scores[i, j] / sqrt(d_k)",
        "scores / sqrt(d_k)",
        meaning=(
            "Every score is divided by the square root of `d_k`, the number of features in a key."
        ),
        why=(
            "Without the division, if `d_k` is large, the softmax gives almost all weight to one"
            " key, and then the model can hardly learn."
        ),
        more=(
            "Typical scores grow like `sqrt(d_k)`. A dot product is a sum of `d_k` terms. If the"
            " terms are independent and each has variance 1, their sum has variance `d_k`."
            " Division by `sqrt(d_k)` makes the variance 1 again. Where one key has almost all"
            " weight, the gradient of the softmax is almost"
            " 0, so hardly anything is learned."
        ),
        when=(
            "with score: scaled_dot, unless the problem has scale: none; with other scores, if it"
            " has a scale"
        ),
        through=(
            "The forward pass scaled each score by a constant. The backward pass scales the"
            " gradient by the same constant."
        ),
    ),
    Rule(
        "capped",
        "S_cap",
        "Capped scores",
        "capped[i, j] = softcap * tanh(logits[i, j] / softcap)",
        "softcap * tanh(logits / softcap)",
        meaning="A smooth curve, the cap, keeps every score between `-softcap` and `softcap`.",
        why="No score can grow without limit. Scores near 0 hardly change.",
        when="with softcap",
        through=(
            "The gradient is multiplied by the slope of the cap. The slope is near 1 for scores"
            " near 0, and near 0 for scores far from 0."
        ),
        through_why="Where the cap is flat, a score hardly learns.",
    ),
    *(rule for kind in POSITIONS.values() if kind.bias for rule in kind.rules),
    Rule(
        "mask",
        "M",
        "Mask",
        "mask[i, j] = where(visible, 0, -inf)",
        "",
        meaning="The mask is 0 where a query may see a key, and `-inf` where it may not.",
        when="with a mask",
    ),
    Rule(
        "masked",
        "Z'",
        "Masked scores",
        "masked[i, j] = add_mask(logits[i, j], mask[i, j])",
        "add_mask(logits, mask)",
        meaning="The mask is added to the scores. The score of a hidden key becomes `-inf`.",
        why="The exponential of `-inf` is 0, so a hidden key gets no attention.",
        when="with a mask, or with "
        + listed([name for name, kind in POSITIONS.items() if kind.bias], last="or"),
        through=(
            "Adding a constant to a score does not change its gradient. The score of a hidden key"
            " gets 0."
        ),
    ),
    # The next two are there where `tracing/shift.py` finds that the softmax has to be shifted.
    Rule(
        "row_max",
        "m",
        "Row maxima",
        "row_max[i] = max(j, logits[i, j])",
        "row_maxima(logits)",
        meaning="Find the largest score of each row.",
        when=(
            "where the softmax is shifted: otherwise exponentials would overflow, or a whole row of"
            " them would be 0"
        ),
    ),
    Rule(
        "shifted",
        "D",
        "Shifted scores",
        "shifted[i, j] = logits[i, j] - finite(row_max[i])",
        "logits - row_max",
        meaning=(
            "The largest score of a row is subtracted from every score of the row, so no score is"
            " above 0."
        ),
        why=(
            "Without this shift, exponentials would be too large for the number format, or so small"
            " that a whole row of them would be 0. The weights do not change."
        ),
        more=(
            "The shift multiplies all exponentials of a row, and so their sum, by the same factor."
            " So each share of the sum stays the same."
        ),
        when=(
            "where the softmax is shifted: otherwise exponentials would overflow, or a whole row of"
            " them would be 0"
        ),
    ),
    Rule(
        "exp",
        "E",
        "Exponentials",
        "exp[i, j] = exp(logits[i, j])",
        "exp(logits)",
        meaning="Take the exponential of every score.",
        why="This step and the next two are the softmax, which turns scores into shares.",
        more=(
            "An exponential is never negative. If a score is higher by 1, its exponential is `e` ≈"
            " 2.718 times as large."
        ),
        when="always",
    ),
    Rule(
        "row_sum",
        "r",
        "Row sums",
        "row_sum[i] = sum(j, exp[i, j])",
        "row_sums(exp)",
        meaning="Add the exponentials of each row. The softmax divides the row by this sum.",
        when="always",
    ),
    Rule(
        "weights",
        "A",
        "Attention weights",
        "weights[i, j] = share(exp[i, j], row_sum[i])",
        "softmax(logits)",
        meaning=(
            "Row `i` says how query `i` divides its attention among the keys. Each row sums to 1."
        ),
        why="The higher the score, the larger the share.",
        more="The softmax turns scores of any size into such shares.",
        when="always",
        gradient=(
            "Row `i`, column `j` is the dot product of the gradient of output `i` and value `j`. It"
            " says how much the loss grows with the weight that query `i` gives to key `j`."
        ),
        through=(
            "The gradient goes back through the softmax. Each weight is multiplied by the"
            " difference between its gradient and `δ`, the weighted sum of its row."
        ),
        through_why=(
            "The weights of a row sum to 1, so one weight can only grow if others shrink. That is"
            " why each row of this gradient sums to 0."
        ),
    ),
    Rule(
        "heads_output",
        "H",
        "Outputs of the heads",
        "heads_output[i, c] = sum(j, weights[i, j] * V[j, c])",
        "weights @ V",
        meaning=(
            "Row `i` is the sum of all values, each multiplied by the weight that query `i` gives"
            " to it."
        ),
        why="Each head can look for something different, and find something different.",
        when="with W_O, or if the heads are put side by side",
        gradient=(
            "How much the loss grows with each number of a head's output. Each head gets its own"
            " part."
        ),
    ),
    Rule(
        "concat",
        "concat",
        "Heads, side by side",
        "concat[i, e] = heads_output[e // d_v, i, e % d_v]",
        "join(heads_output)",
        meaning=(
            "Each row has the outputs of all heads side by side. The output of head 0 comes first."
        ),
        when="with several heads, unless they are an axis of Q, K and V and there is no W_O",
        joins=HEAD,
        gradient="How much the loss grows with each number of the heads' outputs.",
        gradient_why=(
            "Every step of the backward pass follows the chain rule: the gradient that comes in is"
            " multiplied by the derivative of the step."
        ),
    ),
    Rule(
        "output",
        "O",
        "Output",
        "output[i, c] = sum(j, weights[i, j] * V[j, c])",
        "weights @ V",
        meaning=(
            "Row `i` is the sum of all values, each multiplied by the weight that query `i` gives"
            " to it."
        ),
        why=("The token's new row has information from all tokens it looks at."),
        when="always",
        gradient="how much the loss grows with each number of the output.",
    ),
)

# Computed only for gradients; their equations are in `backward.py`.
FOR_GRADIENTS = (
    Rule(
        "delta",
        "δ",
        "Weighted sums of the gradients",
        UnparsedCell("delta[i]"),
        meaning=(
            "`hadamard(A, dA)` is each gradient times the weight in its place, cell by cell. Each"
            " row of it is added up."
        ),
        why="The sum equals the dot product of row `i` of the output and the gradient of this row.",
        when="in the backward pass",
    ),
    Rule(
        "hidden",
        "U",
        "Hidden layer",
        UnparsedCell("hidden[i, j, a]"),
        meaning=(
            "What the tanh in the score is taken of, for each query and key. The gradients below"
            " need it."
        ),
        when="in the backward pass, with score: additive",
        gradient=(
            "The gradient before the tanh of the hidden layer. Where the tanh is flat, this"
            " gradient is near 0."
        ),
    ),
)

# The arrays of a problem that have a gradient, in the order in which the gradients are computed.
# Those of the cache come first, right after the keys and values that they are a part of; X and
# context, which several steps read, last.
_FIRST_INPUTS = ("past_K", "past_V")
_LAST_INPUTS = ("X", "context")
_STEPS = {rule.name for rule in COMPUTED}
_OTHERS = (
    name for name, array in ARRAYS.items() if array.gradient is not None and name not in _STEPS
)
INPUT_GRADIENTS = (
    *_FIRST_INPUTS,
    *(name for name in _OTHERS if name not in (*_FIRST_INPUTS, *_LAST_INPUTS)),
    *_LAST_INPUTS,
)

# The steps that have a gradient, in the order in which the gradients are computed. The other steps
# need none: positions and masks are not learned, K_T is read as K, and the gradient of the softmax
# is taken in one step.
BACKWARD_ORDER = (
    "output",
    "concat",
    "heads_output",
    "weights",
    "delta",
    "masked",
    "capped",
    "scaled",
    "scores",
    "hidden",
    *(name for kind in POSITIONS.values() for name in kind.replaces.values()),
    "Q",
    "K",
    "V",
    "new_K",
    "new_V",
    *(name for kind in POSITIONS.values() for name in kind.inputs.values()),
    *INPUT_GRADIENTS,
)
