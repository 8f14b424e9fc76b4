"""The keys of a problem file, one row each, with the scores to choose from and the words that keys
take.

What a key holds follows from its row: how it is read (by its kind, `loader.py`), what its arrays
are called, which axes they have, and what `attncli steps` says about them
(`attention/registry.py`). A setting fills the field of `Problem` that has its name.
`problem.schema.json` describes each key for editors; a test tells where the two differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias, get_args

from attncli.equation.indices import BATCH, HEAD, KEY_HEAD

Kind: TypeAlias = Literal[
    "text",
    "labels",
    "entries",
    "heads",
    "matrix",
    "vector",
    "past",
    "score",
    "scale",
    "positive",
    "base",
    "mask",
    "position",
    "sink",
    "count",
    "loss",
    "arrays",
    "equations",
    "step",
    "result",
]
ScaleWord: TypeAlias = Literal["none", "default"]
Corner: TypeAlias = Literal["top-left", "bottom-right"]
Pairing: TypeAlias = Literal["half", "interleaved"]
SineLayout: TypeAlias = Literal["interleaved", "halves"]
Part: TypeAlias = Literal["q", "k", "v"]
Layout: TypeAlias = Literal["parts", "heads"]

SCALE_WORDS: tuple[ScaleWord, ...] = get_args(ScaleWord)
CORNERS: tuple[Corner, ...] = get_args(Corner)
PAIRINGS: tuple[Pairing, ...] = get_args(Pairing)
SINE_LAYOUTS: tuple[SineLayout, ...] = get_args(SineLayout)
# The parts of a fused array in a file.
PARTS: tuple[Part, ...] = get_args(Part)
LAYOUTS: tuple[Layout, ...] = get_args(Layout)

_OF_QUERIES, _OF_KEYS = (BATCH, HEAD), (BATCH, KEY_HEAD)


class GivenArray(NamedTuple):
    """An array that a problem may give.

    `cell` is one number of it, W_Q[d, k], in one head and one entry of a batch: its letters say
    along which indices of `equation/indices.py` it runs, and equal letters of two arrays are
    equally long. `leading` are the axes that may stand before these, from the left. `meaning` and
    `when` say what it is and when it is there, `symbol` is its letter in formulas if that is not
    its name, `inside` the path to it in a problem where it is inside a mapping. `gradient` says
    what its gradient is; None, that it has none.
    """

    cell: str
    title: str
    meaning: str
    when: str
    leading: tuple[str, ...] = ()
    symbol: str = ""
    inside: str = ""
    gradient: str | None = "What comes back from every step that reads it, added up."

    @property
    def name(self) -> str:
        """What it is called in equations: W_Q."""
        return self.cell.partition("[")[0]

    @property
    def path(self) -> str:
        """The keys that lead to it: past.K for past_K."""
        return self.inside or self.name

    @property
    def letters(self) -> tuple[str, ...]:
        """The indices of its cell: d and k."""
        inside = self.cell.partition("[")[2].rstrip("]")
        return tuple(inside.split(", ")) if inside else ()


class Key(NamedTuple):
    """How a key is read, which arrays are in it, and whether it is a setting: the field of
    `Problem` of its name.
    """

    kind: Kind
    arrays: tuple[GivenArray, ...] = ()
    setting: bool = False


class Score(NamedTuple):
    """A way to compare a query with a key.

    `equation`, `headline` and `meaning` say it in place of the step `scores`, which is the dot
    product; `arrays` are those it reads besides Q and K. Scores that are `divided` are divided by
    sqrt(d_k) where no scale is given. With `equal_widths` a query must be as long as a key.
    """

    equation: str = ""
    headline: str = ""
    meaning: str = ""
    arrays: tuple[GivenArray, ...] = ()
    divided: bool = False
    equal_widths: bool = True

    @property
    def is_dot(self) -> bool:
        """Whether it is the product of a query and a key."""
        return not self.equation


SCORES: Mapping[str, Score] = {
    "scaled_dot": Score(divided=True),
    "dot": Score(),
    "multiplicative": Score(
        "scores[i, j] = sum(k, sum(p, Q[i, p] * W_a[p, k]) * K_T[k, j])",
        "Q @ W_a @ K_T",
        "Row `i`, column `j` compares query `i` with key `j` through a matrix of weights (Luong).",
        (
            GivenArray(
                "W_a[p, k]",
                "Score weights",
                meaning="compares a query with a key (Luong).",
                when="with score: multiplicative",
                gradient=(
                    "A sum over all pairs of a query and a key: their product, times the gradient"
                    " of their score."
                ),
            ),
        ),
        equal_widths=False,
    ),
    "additive": Score(
        "scores[i, j] = sum(a, v[a] * tanh(sum(p, Q[i, p] * W_1[p, a]) + sum(k, K[j, k] * W_2[k,"
        " a])))",
        "",
        "Row `i`, column `j` compares query `i` with key `j` through a small hidden layer"
        " (Bahdanau).",
        (
            GivenArray(
                "W_1[p, a]",
                "Score weights of the queries",
                meaning="takes a query into the hidden layer (Bahdanau).",
                when="with score: additive",
                gradient="A sum over all pairs: the query, times the gradient of the hidden layer.",
            ),
            GivenArray(
                "W_2[k, a]",
                "Score weights of the keys",
                meaning="takes a key into the hidden layer (Bahdanau).",
                when="with score: additive",
                gradient="A sum over all pairs: the key, times the gradient of the hidden layer.",
            ),
            GivenArray(
                "v[a]",
                "Score vector",
                meaning="turns the hidden layer into one number.",
                when="with score: additive",
                gradient=(
                    "A sum over all pairs: the hidden feature after its tanh, times the gradient of"
                    " the score."
                ),
            ),
        ),
        equal_widths=False,
    ),
}


def _key(kind: Kind, *arrays: GivenArray) -> Key:
    return Key(kind, arrays)


def _of_score(array: GivenArray) -> Key:
    return _key("matrix" if len(array.letters) == 2 else "vector", array)


KEYS: Mapping[str, Key] = {
    "title": Key("text"),
    "tokens": Key("labels"),
    "context_tokens": Key("labels"),
    "X": _key(
        "entries",
        GivenArray(
            "X[i, d]",
            "Input",
            leading=(BATCH,),
            meaning="each row is one token, written as numbers (its embedding).",
            when="if Q is projected, or if K or V is projected and there is no context",
            gradient=(
                "Every projection reads the input, so each gives it a gradient. These gradients are"
                " added."
            ),
        ),
    ),
    "context": _key(
        "entries",
        GivenArray(
            "context[j, d]",
            "Context",
            symbol="C",
            leading=(BATCH,),
            meaning="the other sequence: the keys and values come from it.",
            when="in cross-attention, if K or V is projected from it and not from X",
            gradient=(
                "The keys and the values read the context, so both give it a gradient. These"
                " gradients are added."
            ),
        ),
    ),
    "heads": Key("count"),
    "kv_heads": Key("count"),
    "W_Q": _key(
        "matrix",
        GivenArray(
            "W_Q[d, k]",
            "Query weights",
            leading=_OF_QUERIES,
            meaning="they turn an embedding into a query.",
            when="unless Q is given directly",
            gradient=(
                "Each weight multiplies a feature of a token, and the product is a part of the"
                " token's query. So its gradient is the feature times the gradient of the query,"
                " added over all tokens."
            ),
        ),
    ),
    "W_K": _key(
        "matrix",
        GivenArray(
            "W_K[d, k]",
            "Key weights",
            leading=_OF_KEYS,
            meaning="they turn an embedding into a key.",
            when="unless K is given directly",
            gradient=(
                "The same for the keys: their input, transposed, times the gradient of the keys."
            ),
        ),
    ),
    "W_V": _key(
        "matrix",
        GivenArray(
            "W_V[d, c]",
            "Value weights",
            leading=_OF_KEYS,
            meaning="they turn an embedding into a value.",
            when="unless V is given directly",
            gradient="The same for the values.",
        ),
    ),
    "W_O": _key(
        "matrix",
        GivenArray(
            "W_O[e, o]",
            "Output weights",
            meaning="they mix the outputs of all heads.",
            when="if the problem gives it",
            gradient="The outputs of the heads, transposed, times the gradient of the output.",
        ),
    ),
    "b_Q": _key(
        "vector",
        GivenArray(
            "b_Q[k]",
            "Query bias",
            leading=_OF_QUERIES,
            meaning="added to every query.",
            when="if the problem gives it, beside W_Q",
            gradient=(
                "A bias is added to every row, so its gradient is the sum of the gradients of all"
                " rows."
            ),
        ),
    ),
    "b_K": _key(
        "vector",
        GivenArray(
            "b_K[k]",
            "Key bias",
            leading=_OF_KEYS,
            meaning="added to every key.",
            when="if the problem gives it, beside W_K",
            gradient="The sum of the gradients of all keys.",
        ),
    ),
    "b_V": _key(
        "vector",
        GivenArray(
            "b_V[c]",
            "Value bias",
            leading=_OF_KEYS,
            meaning="added to every value.",
            when="if the problem gives it, beside W_V",
            gradient="The sum of the gradients of all values.",
        ),
    ),
    "b_O": _key(
        "vector",
        GivenArray(
            "b_O[o]",
            "Output bias",
            meaning="added to every row of the output.",
            when="if the problem gives it, beside W_O",
            gradient="The sum of the gradients of all rows of the output.",
        ),
    ),
    "Q": _key(
        "heads",
        GivenArray(
            "Q[i, k]",
            "Queries",
            leading=_OF_QUERIES,
            meaning="one row per query: what this token is looking for.",
            when="if the problem gives it",
        ),
    ),
    "K": _key(
        "heads",
        GivenArray(
            "K[j, k]",
            "Keys",
            leading=_OF_KEYS,
            meaning="one row per key: what other tokens use to find this token.",
            when="if the problem gives it",
        ),
    ),
    "V": _key(
        "heads",
        GivenArray(
            "V[j, c]",
            "Values",
            leading=_OF_KEYS,
            meaning="one row per value: what this token gives to the tokens that find it.",
            when="if the problem gives it",
        ),
    ),
    "past": _key(
        "past",
        GivenArray(
            "past_K[u, k]",
            "Cached keys",
            symbol="K_past",
            inside="past.K",
            leading=_OF_KEYS,
            meaning="one row per earlier token: its key, from the time when it was new.",
            when="if the problem gives past",
            gradient="The rows of the keys' gradient that belong to the cache.",
        ),
        GivenArray(
            "past_V[u, c]",
            "Cached values",
            symbol="V_past",
            inside="past.V",
            leading=_OF_KEYS,
            meaning="one row per earlier token: its value, from the time when it was new.",
            when="if the problem gives past",
            gradient="The rows of the values' gradient that belong to the cache.",
        ),
    ),
    "mask": Key("mask"),
    "score": Key("score", setting=True),
    "scale": Key("scale", setting=True),
    "softcap": Key("positive", setting=True),
    "exp_base": Key("base", setting=True),
    **{array.name: _of_score(array) for score in SCORES.values() for array in score.arrays},
    "position": _key(
        "position",
        GivenArray(
            "slopes",
            "Slopes",
            inside="position.alibi.slopes",
            leading=(HEAD,),
            meaning="for each head, how much a score loses per position between query and key.",
            when="with alibi, if the problem gives slopes for several heads",
            gradient=None,
        ),
    ),
    "sink": _key(
        "sink",
        GivenArray(
            "sink",
            "Sinks",
            leading=(HEAD,),
            meaning=(
                "for each head, one more logit in the softmax of every row. It belongs to no key."
            ),
            when="if the problem gives sink for each head",
            gradient=(
                "The sink is one more logit, but it has no value. Its gradient is minus its share"
                " of a row times `δ` of the row, added over all rows."
            ),
        ),
    ),
    "d_output": Key("result", setting=True),
    "loss": Key("loss"),
    "arrays": Key("arrays"),
    "equations": Key("equations"),
    "result": Key("step"),
}
ARRAYS: Mapping[str, GivenArray] = {
    array.name: array for key in KEYS.values() for array in key.arrays
}
# Steps of which nobody thinks as of keys of a problem, and a name that people have for one.
ANSWERED = (
    *("scores", "scaled", "masked", "exp", "row_sum", "weights", "output", "S", "Z", "A", "O"),
    "softmax",
)
# What is said of a file that has nothing else in it: the error, and what to do.
HOLDS_ANSWERS = (
    "this file holds answers, not a problem",
    "check takes the problem first, and then the answers: attncli check PROBLEM ANSWERS",
)


def array_path(name: str) -> str:
    """The keys that lead to an array, past.K for past_K; a key itself."""
    return ARRAYS[name].path if name in ARRAYS else name
