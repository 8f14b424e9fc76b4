"""Sines as positions: numbers that only the place of a token decides are added to its embedding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, cast

from attncli.english import count
from attncli.equation.rule import Rule
from attncli.problem.keys import SINE_LAYOUTS, SineLayout
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import Shaped
from attncli.problem.parts.positions.position import Position, PositionSizes, Variants
from attncli.problem.text.nodes import Leaf, MappingNode, describe
from attncli.problem.text.reading import Reading
from attncli.problem.text.values import (
    Value,
    read_integer,
    read_scalar,
    read_truth,
    read_word,
    require_keys,
)

_BASE = Scalar(10000, "10000")
_BASE_HELP = "write a number such as 10000"
_FIRST_HELP = "write the position of the first row of X, mostly 0"


def _sines(layout: SineLayout, position: str) -> str:
    """The equation of PE: even features are sines, or those of the first half."""
    if layout == "interleaved":
        is_sine, of_sine, of_cosine = "d % 2 == 0", "d / d_model", "(d - 1) / d_model"
    else:
        is_sine, of_sine, of_cosine = "d < d_model / 2", "2 * d / d_model", "2 * d / d_model - 1"
    sine = f"sin({position} / base ** ({of_sine}))"
    cosine = f"cos({position} / base ** ({of_cosine}))"
    return f"PE[i, d] = where({is_sine}, {sine}, {cosine})"


@dataclass(frozen=True, slots=True)
class Sinusoidal(Position):
    """Sines and cosines of the position, added to X: the angle of pair r at position t is t /
    base^(2r / d_model). The first row of X is at position `first`, or behind a cache.
    """

    name = "sinusoidal"
    example = "{sinusoidal: true}"
    title = "sines"
    rules = (
        Rule(
            "PE",
            "PE",
            "Positions",
            _sines("interleaved", "i"),
            "",
            meaning=(
                "Each pair of features is the sine and the cosine of an angle, in radians. The"
                " angle grows with the position, in each pair more slowly than in the one before."
            ),
            why=(
                "Each position has a row of its own, and the row of a position some steps further"
                " is always the same rotation of it. So attention can learn to look some tokens"
                " back."
            ),
            when="with sinusoidal",
        ),
        Rule(
            "X_pos",
            "X_pos",
            "Embeddings with positions",
            "X_pos[i, d] = X[i, d] + PE[i, d]",
            "X + PE",
            meaning="The embedding of each token, with the row of its position added.",
            why=(
                "Without positions, attention would give the same result for the same tokens in any"
                " order."
            ),
            when="with sinusoidal",
            gradient=(
                "Every matrix that is made of the embeddings with positions adds its share to their"
                " gradient."
            ),
            through="The gradient of a sum is the gradient of each of its terms.",
        ),
    )
    inputs: ClassVar[Mapping[str, str]] = {"X": "X_pos"}
    keys: ClassVar[Mapping[str, str]] = {"first": "from"}
    base: Scalar = _BASE
    layout: SineLayout = "interleaved"
    first: int = 0

    @classmethod
    def read(cls, value: Value) -> Sinusoidal | None:
        if isinstance(value.node, Leaf):
            return cls() if read_truth(value) else None
        if not isinstance(value.node, MappingNode):
            value.wrong(f"must be a mapping, not {describe(value.node)}", f"write {cls.example}")
            return None
        require_keys(value, ("base", "layout", "from"))
        base: Scalar | None = _BASE
        layout: str | None = SINE_LAYOUTS[0]
        first: int | None = 0
        if "base" in value.keys:
            base = _read_base(value.key("base"))
        if "layout" in value.keys:
            layout = read_word(value.key("layout"), SINE_LAYOUTS)
        if "from" in value.keys:
            first = read_integer(value.key("from"), least=0, help=_FIRST_HELP)
        if base is None or layout is None or first is None:
            return None
        return cls(base, cast("SineLayout", layout), first)

    def check(self, given: Mapping[str, Shaped], reading: Reading) -> None:
        if "X" not in given:
            reading.wrong(
                "position.sinusoidal",
                "the sines are added to X, and there is no X",
                "give X with W_Q, W_K and W_V; of Q, K and V nobody can tell what they are made of",
            )
            return
        d_model = given["X"].shape[-1]
        if self.layout == "halves" and d_model % 2:
            reading.wrong(
                "position.sinusoidal.layout",
                f"a row of X has {count(d_model, 'number')}, which are no two halves",
                "give X an even number of features, or write layout: interleaved",
            )

    def steps(self, sizes: PositionSizes) -> Iterable[Rule]:
        table = self.table(self.layout, is_moved=self.first > 0, is_cached=sizes.past > 0)
        # A row of a context may be longer than one of X.
        yield replace(table, lengths=(("d", sizes.d_model),))
        yield self.rules[1]

    def parameters(self, sizes: PositionSizes) -> Mapping[str, Scalar | Matrix]:
        found = {"base": self.base, "d_model": Scalar.of(sizes.d_model)}
        if self.first:
            found["start"] = Scalar.of(self.first)
        return found

    @classmethod
    def variants(cls) -> Variants:
        return {
            "PE": {
                "sinusoidal, with layout: halves": cls.table("halves"),
                "sinusoidal, with from": cls.table("interleaved", is_moved=True),
                "sinusoidal, with past": cls.table("interleaved", is_cached=True),
            }
        }

    @classmethod
    def table(cls, layout: SineLayout, *, is_moved: bool = False, is_cached: bool = False) -> Rule:
        """PE in this layout, where row i is `is_cached` behind a cache, or `is_moved` by where the
        first row is.
        """
        terms = ["i"]
        if is_cached:
            terms.append("past")
        if is_moved:
            terms.append("start")
        position = " + ".join(terms)
        rule = cls.rules[0]
        where = ""
        if len(terms) > 1:
            where = f" Row `i` is at position `{position}`."
            position = f"({position})"
        return replace(rule, formula=_sines(layout, position), meaning=rule.meaning + where)


def _read_base(value: Value) -> Scalar | None:
    base = read_scalar(value, help=_BASE_HELP)
    if base is not None and base.value <= 0:
        value.wrong(f"must be greater than 0, not {base.written}", _BASE_HELP)
        return None
    return base
