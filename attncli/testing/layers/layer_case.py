"""The cases that layers are tested with: rows of tokens, and the weights of the layer itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attncli.english import count
from attncli.testing.battery import drawn_numbers
from attncli.testing.case import Array, Case, Meaning

ENTRIES, TOKENS, CONTEXT_TOKENS = 2, 3, 4


@dataclass(frozen=True, slots=True)
class LayerCase(Case):
    """Rows of tokens, which a layer makes its queries, keys and values of.

    `queries` are entries × tokens × features, and `keys` and `values` are the same rows, or others:
    then there is a `context`. `weights` are those of the layer, as a problem has them, with the
    numbers of its heads.
    """

    weights: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_context(self) -> bool:
        """Whether keys and values are of other rows than queries."""
        return self.keys is not self.queries

    @property
    def given(self) -> dict[str, Any]:
        """What the problem is given."""
        rows = {"X": self.queries}
        if self.has_context:
            rows["context"] = self.keys
        return {**rows, **self.weights}

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of its output."""
        last = self.weights.get("W_O", self.weights["W_V"])
        return (*self.queries.shape[:-1], last.shape[-1])

    @property
    def sizes(self) -> list[str]:
        """Its sizes in words."""
        entries, tokens, width = self.queries.shape
        sizes = [count(entries, "entry", "entries"), count(tokens, "token")]
        if self.has_context:
            sizes.append(f"{self.keys.shape[-2]} in the context")
        return [*sizes, count(self.weights.get("heads", 1), "head"), f"d_model = {width}"]


def layer_cases(width: int, weights: Mapping[str, Any]) -> Iterator[LayerCase]:
    """Every case of a layer that takes rows so wide; the first is plain."""
    plain = _drawn("a layer", width, weights)
    sees_all = Meaning({}, {"always causal": "no"})
    sees_past = Meaning({"mask": "causal"}, {"always causal": "yes"})
    shows = {"scale": "1/sqrt(d_k)", "softmax": "over keys"}
    yield replace(plain, meanings=(sees_all, sees_past), shows=shows)

    context = _drawn("a layer with a context", width, weights)
    rows = drawn_numbers("the rows of a context", ENTRIES, CONTEXT_TOKENS, width)
    yield replace(context, keys=rows, values=rows)

    causal = _drawn("a causal layer", width, weights)
    past = np.tri(TOKENS, dtype=bool)
    asked = {"causal": True, "mask": past}
    yield replace(causal, asks=asked, meanings=(Meaning({"mask": "causal"}),))

    masked = _drawn("a layer with a mask", width, weights)
    keep = np.array([[True, False, True], [True, True, False], [False, True, True]])
    kept = Meaning({"mask": {"keep": keep}})
    shows = {"mask": "true is seen"}
    yield replace(masked, asks={"mask": keep}, meanings=(kept,), shows=shows)


def _drawn(name: str, width: int, weights: Mapping[str, Any]) -> LayerCase:
    rows = drawn_numbers(name, ENTRIES, TOKENS, width)
    # The problem is whole: no part of it alone gives a row of the output.
    needs = frozenset({"entries", "heads"})
    return LayerCase(name, rows, rows, rows, needs=needs, weights=weights)


def drawn_weight(name: str, shape: tuple[int, ...]) -> Array:
    """Numbers for a weight, so small that no softmax is nearly 0 and 1."""
    return drawn_numbers(name, *shape) / 4
