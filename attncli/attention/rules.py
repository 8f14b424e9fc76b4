"""Every step of attention as one sentence: its equation, its headline and what it means.

Everything a page says or a program computes about a step is derived from its rule here. In equations
`logits` stands for whatever the softmax is about to see (scores, scaled, capped or masked) and `source`
for where keys and values come from (X, or context); the plan puts the real names in.

Indices: i a query, j a key, d a feature of the model, k a feature of queries and keys, c a feature of values,
p a feature of a query where it differs from a key's, a a hidden feature of additive attention.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from attncli.equation.parse import parse_equation, parse_expression
from attncli.equation.tree import Equation, Expression, Ref, names_used, rename

AXES = {
    "i": "query", "j": "key", "d": "model", "k": "feature", "c": "value", "p": "feature", "a": "hidden",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """One step: `equation` in index form, or the bare cell where the array is given; `formula` its headline.

    `meaning` says what the step is, `why` what it is for; expressions stand between backticks.
    """

    name: str
    symbol: str
    title: str
    equation: str
    formula: str = ""
    meaning: str = ""
    why: str = ""

    @property
    def given(self) -> bool:
        return "=" not in self.equation

    @property
    def target(self) -> Ref:
        cell = parse_expression(self.equation) if self.given else self.tree.target
        assert isinstance(cell, Ref)
        return cell

    @property
    def tree(self) -> Equation:
        return parse_equation(self.equation)

    @property
    def headline(self) -> Equation | None:
        """The matrix form in the letters of formulas, S = Q K^T; None where the index form says it best."""
        return Equation(Ref(self.symbol), in_symbols(parse_expression(self.formula))) if self.formula else None

    @property
    def cell_form(self) -> Equation:
        """The index form in the letters of formulas: S[i, j] = Σ_k Q[i, k]·Kᵀ[k, j]."""
        return Equation(Ref(self.symbol, self.target.indices), in_symbols(self.tree.expression))

    @property
    def inputs(self) -> tuple[str, ...]:
        return () if self.given else names_used(self.tree.expression)

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(AXES[index] for index in self.target.indices)

    def reading(self, names: Mapping[str, str]) -> Rule:
        """The rule with placeholders such as `logits` replaced by the steps they stand for."""

        def put(source: str) -> str:
            for placeholder, name in names.items():
                source = source.replace(placeholder, name)
            return source

        return replace(self, equation=put(self.equation), formula=put(self.formula))


def in_symbols(expression: Expression) -> Expression:
    """An expression with every step called by its letter: S for scores, A for weights."""
    return rename(expression, {rule.name: rule.symbol for rule in RULES.values()})


GIVEN = (
    Rule("X", "X", "Input", "X[i, d]", meaning="one row per token, one column per feature of its embedding."),
    Rule("context", "C", "Context", "context[j, d]", meaning="the other sequence, where keys and values come from."),
    Rule("W_Q", "W_Q", "Query weights", "W_Q[d, k]", meaning="turns an embedding into a query."),
    Rule("W_K", "W_K", "Key weights", "W_K[d, k]", meaning="turns an embedding into a key."),
    Rule("W_V", "W_V", "Value weights", "W_V[d, c]", meaning="turns an embedding into a value."),
    Rule("b_Q", "b_Q", "Query bias", "b_Q[k]", meaning="added to every query."),
    Rule("b_K", "b_K", "Key bias", "b_K[k]", meaning="added to every key."),
    Rule("b_V", "b_V", "Value bias", "b_V[c]", meaning="added to every value."),
    Rule("W_a", "W_a", "Score weights", "W_a[p, k]", meaning="compares a query with a key (Luong)."),
    Rule("W_1", "W_1", "Score weights", "W_1[p, a]", meaning="brings a query into the hidden layer (Bahdanau)."),
    Rule("W_2", "W_2", "Score weights", "W_2[k, a]", meaning="brings a key into the hidden layer (Bahdanau)."),
    Rule("v", "v", "Score vector", "v[a]", meaning="turns the hidden layer into one number."),
    Rule("Q", "Q", "Queries", "Q[i, k]", meaning="one row per query: what each token is looking for."),
    Rule("K", "K", "Keys", "K[j, k]", meaning="one row per key: what each token offers to be found by."),
    Rule("V", "V", "Values", "V[j, c]", meaning="one row per value: what each token hands over."),
)

COMPUTED = (
    Rule(
        "Q", "Q", "Queries", "Q[i, k] = sum(d, X[i, d] * W_Q[d, k])", "X @ W_Q",
        meaning="Each row is one token's query: what it is looking for.",
        why="Three projections, because a token plays three parts: it asks (`Q`), it can be found (`K`), and it "
        "hands something over (`V`). Separate weights let it look for something other than what it offers.",
    ),
    Rule(
        "K", "K", "Keys", "K[j, k] = sum(d, source[j, d] * W_K[d, k])", "source @ W_K",
        meaning="Each row is one token's key: what it offers to be found by.",
    ),
    Rule(
        "V", "V", "Values", "V[j, c] = sum(d, source[j, d] * W_V[d, c])", "source @ W_V",
        meaning="Each row is one token's value: what it hands over when another token attends to it.",
    ),
    Rule(
        "K_T", "K_T", "Keys, transposed", "K_T[k, j] = K[j, k]", "transpose(K)",
        meaning="Rows become columns, so that each column is one token's key.",
        why="A query times this matrix meets every key at once.",
    ),
    Rule(
        "scores", "S", "Scores", "scores[i, j] = sum(k, Q[i, k] * K_T[k, j])", "Q @ K_T",
        meaning="Row i, column j is the dot product of query i with key j: how well the two match.",
        why="A large score means that the key has what the query is looking for.",
    ),
    Rule(
        "scaled", "Z", "Scaled scores", "scaled[i, j] = scores[i, j] / sqrt(d_k)", "scores / sqrt(d_k)",
        meaning="Every score divided by `sqrt(d_k)`, the square root of the length of a key.",
        why="A dot product of `d_k` independent terms of variance 1 has variance `d_k`. Dividing by `sqrt(d_k)` "
        "brings it back to 1, so that the softmax does not saturate and its gradient does not vanish.",
    ),
    Rule(
        "capped", "S_cap", "Capped scores", "capped[i, j] = softcap * tanh(logits[i, j] / softcap)",
        "softcap * tanh(logits / softcap)",
        meaning="The scores bent smoothly into the range from `-softcap` to `softcap`.",
        why="No single score can then grow without bound; small ones hardly change.",
    ),
    Rule(
        "mask", "M", "Mask", "mask[i, j] = where(visible, 0, -inf)", "",
        meaning="0 where a query may see a key, `-inf` where the key is hidden from it. Positions count from 0.",
    ),
    Rule(
        "masked", "Z'", "Masked scores",
        "masked[i, j] = where(mask[i, j] > -inf, logits[i, j] + mask[i, j], -inf)", "logits + mask",
        meaning="The mask added to the scores: what is hidden becomes `-inf`.",
        why="The exponential of `-inf` is 0, so a hidden key gets no attention at all.",
    ),
    Rule(
        "row_max", "m", "Row maxima", "row_max[i] = max(j, logits[i, j])", "row_maxima(logits)",
        meaning="The largest score of each row.",
    ),
    Rule(
        "shifted", "D", "Shifted scores", "shifted[i, j] = logits[i, j] - finite(row_max[i])", "logits - row_max",
        meaning="Every score less the largest of its row, so that none is above 0.",
        why="The exponentials of these scores would leave the range of the number format. The same shift in a "
        "whole row multiplies numerator and denominator alike, so the weights do not change.",
    ),
    Rule(
        "exp", "E", "Exponentials", "exp[i, j] = exp(logits[i, j])", "exp(logits)",
        meaning="The exponential of every score.",
        why="Exponentials are positive, and they turn differences between scores into ratios: a score that is 1 "
        "higher counts e ≈ 2.718 times as much.",
    ),
    Rule(
        "row_sum", "r", "Row sums", "row_sum[i] = sum(j, exp[i, j])", "row_sums(exp)",
        meaning="The sum of each row of exponentials: what the row is divided by.",
    ),
    Rule(
        "weights", "A", "Attention weights", "weights[i, j] = share(exp[i, j], row_sum[i])", "softmax(logits)",
        meaning="Row i says how query i spreads its attention over the keys; each row sums to 1.",
        why="The softmax turns scores of any size into shares of a whole, without ever choosing only one.",
    ),
    Rule(
        "output", "O", "Output", "output[i, c] = sum(j, weights[i, j] * V[j, c])", "weights @ V",
        meaning="Row i is the mixture of all values that query i attends to, each in the share of its weight.",
        why="This is the token's new representation: it now carries what it found in the others.",
    ),
)  # fmt: skip

RULES: Mapping[str, Rule] = {rule.name: rule for rule in (*GIVEN, *COMPUTED)}
GIVEN_RULES: Mapping[str, Rule] = {rule.name: rule for rule in GIVEN}
