"""ALiBi: a bias that grows with the distance between query and key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from attncli.equation.rule import Rule
from attncli.errors import did_you_mean
from attncli.problem.arrays.matrix_reader import read_matrix
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.positions.position import Position, PositionSizes, Variants
from attncli.problem.text.nodes import Leaf, MappingNode, describe
from attncli.problem.text.values import Value, read_truth, require_keys

_ALIBI_HELP = "write {alibi: true}, or {alibi: {slopes: [0.5, 0.25]}}"


@dataclass(frozen=True, slots=True)
class Alibi(Position):
    """Biases by distance; `slopes` where they are given, one for each head, else the usual ones."""

    name = "alibi"
    example = "{alibi: true}"
    title = "ALiBi"
    rules = (
        Rule(
            "slopes",
            "slopes",
            "Slopes",
            "slopes[h] = 1 / 2 ** (8 * (h + 1) / heads)",
            "",
            meaning="For each head, how much a score loses per position between query and key.",
            why=(
                "A head with a large slope attends mostly to near keys, one with a small slope also"
                " to far keys."
            ),
            when="with alibi and several heads",
        ),
        Rule(
            "bias",
            "B",
            "Bias",
            "bias[i, j] = -slopes * abs(i - j)",
            "",
            meaning=(
                "How much a score loses by the distance between query and key: the slope of the"
                " head, times the number of positions between them."
            ),
            why=(
                "So near keys count more, although the embeddings say nothing about positions"
                " (ALiBi)."
            ),
            when="with alibi",
        ),
    )
    bias = "bias"
    slopes: Matrix | None = None

    @classmethod
    def read(cls, value: Value) -> Alibi | None:
        if isinstance(value.node, Leaf):
            return cls() if read_truth(value) else None
        if not isinstance(value.node, MappingNode) or "slopes" not in value.keys:
            help = did_you_mean(next(iter(value.keys), ""), ["slopes"], _ALIBI_HELP)
            value.wrong(f"must be true or {{slopes: …}}, not {describe(value.node)}", help)
            return None
        require_keys(value, ("slopes",))
        return cls(read_matrix(value.key("slopes"), rank=1))

    @property
    def arrays(self) -> Mapping[str, Matrix]:
        return {} if self.slopes is None else {"slopes": self.slopes}

    def steps(self, sizes: PositionSizes) -> Iterable[Rule]:
        if sizes.heads > 1 and "slopes" not in sizes.given:
            yield self.usual_slopes(sizes.heads)
        yield self._bias(shifted=any(sizes.offset.by))

    def parameters(self, sizes: PositionSizes) -> Mapping[str, Scalar | Matrix]:
        found: dict[str, Scalar | Matrix] = dict(sizes.offset.parameters)
        if "slopes" in sizes.given:
            return found
        if sizes.heads == 1:
            slope = self.slopes.only_number if self.slopes else Scalar.of(2.0**-8)
            return {"slopes": slope, **found}
        near = _power_of_two_below(sizes.heads)
        name = "heads" if near == sizes.heads else "near"
        return {name: Scalar.of(near), **found}

    @classmethod
    def variants(cls) -> Variants:
        return {
            "slopes": {"alibi, where heads is no power of two": cls.usual_slopes(6)},
            "bias": {"alibi, where the mask has an offset": cls._bias(shifted=True)},
        }

    @classmethod
    def usual_slopes(cls, heads: int) -> Rule:
        """The slopes of so many heads; where they are no power of two, the others lie between the
        first ones.
        """
        rule = cls.rules[0]
        if _power_of_two_below(heads) == heads:
            return rule
        return replace(
            rule,
            formula=(
                "slopes[h] = where(h < near, 1 / 2 ** (8 * (h + 1) / near), 1 / 2 ** (4 * (2 * (h -"
                " near) + 1) / near))"
            ),
            meaning=(
                "For each head, how much a score loses per position between query and key: first"
                " the slopes of `near` heads, then slopes that lie between them."
            ),
        )

    @classmethod
    def _bias(cls, *, shifted: bool) -> Rule:
        """What a key loses for its distance from position i, or i + offset."""
        rule = cls.rules[1]
        return (
            replace(rule, formula="bias[i, j] = -slopes * abs(i + offset - j)") if shifted else rule
        )


def _power_of_two_below(heads: int) -> int:
    return 1 << (heads.bit_length() - 1)
