"""The kinds of positions: each class in `POSITIONS` is a key of `position: {…}`.

A kind reads itself, checks itself, and says which steps it adds: either some that stand for the
queries and keys in the scores, or one that is added to the scores. Everything about a kind stands
in its class, but for its arrays, which are rows of `KEYS` as all others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, cast

from attncli.english import count, listed
from attncli.equation.rule import Rule
from attncli.errors import did_you_mean
from attncli.problem.arrays.matrix_reader import read_matrix
from attncli.problem.keys import PAIRINGS, Pairing
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import Shaped, axes_of, past_length, sizes, width
from attncli.problem.parts.masks import Mask
from attncli.problem.parts.offset import Offset
from attncli.problem.text.nodes import Leaf, MappingNode, describe
from attncli.problem.text.reading import Reading
from attncli.problem.text.values import Value, read_scalar, read_truth, read_word, require_keys

# The rules of each step by what asks for them.
Variants = Mapping[str, Mapping[str, Rule]]


class PositionSizes(NamedTuple):
    """What the steps of a position depend on besides itself.

    There are `n` queries and `m` keys, `past` of them from a cache; a key has `d_k` features in
    each of the `heads`. Distances count from `offset`; `given` are the names of the arrays that the
    problem gives.
    """

    n: int
    m: int
    past: int
    d_k: int
    heads: int
    offset: Offset
    given: frozenset[str]

    @classmethod
    def of(cls, given: Mapping[str, Shaped], mask: Mask) -> PositionSizes:
        """Those of a problem with these arrays and this mask."""
        past = past_length(given)
        n, m = sizes(given)
        d_k = width("K", given)
        heads = axes_of(given).number
        offset = mask.offset(n, m, past)
        return cls(n, m, past, d_k, heads, offset, frozenset(given))


class Position(ABC):
    """One kind of positions, as a problem has it.

    `name` is its key in `position: {…}`, `example` what a problem may write, `title` what people
    call it. `rules` are the steps that it adds, each in its plain form. `replaces` says which of
    them the scores read in place of queries and keys, and `keys_meaning` what `K_T` then is; or
    `bias` is the one that is added to the scores.
    """

    __slots__ = ()
    name: ClassVar[str]
    example: ClassVar[str]
    title: ClassVar[str]
    rules: ClassVar[tuple[Rule, ...]]
    replaces: ClassVar[Mapping[str, str]] = {}
    keys_meaning: ClassVar[str] = ""
    bias: ClassVar[str] = ""

    @classmethod
    @abstractmethod
    def read(cls, value: Value) -> Position | None:
        """The position that is written under its name; None where there is none, or after adding an
        error.
        """

    @abstractmethod
    def steps(self, sizes: PositionSizes) -> Iterable[Rule]:
        """The steps that it adds to a plan, in order."""

    def parameters(self, sizes: PositionSizes) -> Mapping[str, Scalar | Matrix]:
        """What its steps read besides other steps."""
        return {}

    def lengths(self, sizes: PositionSizes) -> Mapping[str, int]:
        """How long the indices of its steps are that are on no axis of an array."""
        return {}

    @property
    def arrays(self) -> Mapping[str, Matrix]:
        """The arrays that are written in it, by the names that they have in `ARRAYS`."""
        return {}

    def check(self, given: Mapping[str, Shaped], reading: Reading) -> None:
        """Report what does not fit these arrays, whose queries, keys and heads fit together."""
        return

    @classmethod
    def variants(cls) -> Variants:
        """The rules that its steps may have other than their plain ones."""
        return {}


# Rotary positions

_THETA_HELP = "write a number such as 10000"
_THETA = Scalar(10000, "10000")
_TURNED_BACK = "The gradient of the rotated vectors is rotated back by the same angles."


def _rotated(name: str, pairing: Pairing, shift: str) -> str:
    """The equation of Q_rot or K_rot: feature k turned with its partner, half a vector away or next
    to it.

    `shift` says where query i stands, as in i + past.
    """
    letter, row = name[0], "i" if name[0] == "Q" else "j"
    if pairing == "half":
        first, before, after, pairs = "k < half", "k - half", "k + half", ("k", "k - half")
    else:
        first, before, after, pairs = "k % 2 == 0", "k - 1", "k + 1", ("k // 2", "k // 2")
    turned = [f"angles[{row}{shift}, {pair}]" for pair in pairs]
    return (
        f"{name}[{row}, k] = where({first}, "
        f"{letter}[{row}, k] * cos({turned[0]}) - {letter}[{row}, {after}] * sin({turned[0]}), "
        f"{letter}[{row}, k] * cos({turned[1]}) + {letter}[{row}, {before}] * sin({turned[1]}))"
    )


@dataclass(frozen=True, slots=True)
class Rope(Position):
    """Rotary positions: pair r of a query or key at position t is turned by t / theta^(2r /
    d_k).
    """

    name = "rope"
    example = "{rope: {theta: 10000, pairing: half}}"
    title = "RoPE"
    rules = (
        Rule(
            "angles",
            "angles",
            "Angles",
            "angles[t, r] = t / theta ** (2 * r / d_k)",
            "",
            meaning=(
                "The angle, in radians, by which pair `r` of a query or key at position `t` is"
                " rotated."
            ),
            why=(
                "The first pairs rotate fast, so they distinguish positions that are near each"
                " other. The last pairs rotate slowly, so they distinguish positions that are far"
                " apart."
            ),
            when="with rope",
        ),
        Rule(
            "Q_rot",
            "Q_rot",
            "Queries, rotated",
            _rotated("Q_rot", "half", ""),
            "rotate(Q, angles)",
            meaning=(
                "Each pair of features is a point in a plane. It is rotated by the angle of the"
                " query's position."
            ),
            why=(
                "Positions enter the dot product of two rotated pairs only through the difference"
                " of their angles. So a score depends on how far apart two tokens are, and not on"
                " where they are."
            ),
            when="with rope",
            gradient=(
                "The gradient of a rotated query is a sum over all keys. Each rotated key is"
                " multiplied by the gradient of its score with this query."
            ),
            through=_TURNED_BACK,
        ),
        Rule(
            "K_rot",
            "K_rot",
            "Keys, rotated",
            _rotated("K_rot", "half", ""),
            "rotate(K, angles)",
            meaning="Each pair of features is rotated by the angle of the key's position.",
            when="with rope",
            gradient=(
                "The gradient of a rotated key is a sum over all queries. Each rotated query is"
                " multiplied by the gradient of its score with this key."
            ),
            through=_TURNED_BACK,
        ),
    )
    replaces: ClassVar[Mapping[str, str]] = {"Q": "Q_rot", "K": "K_rot"}
    keys_meaning = "With RoPE, these are the rotated keys."
    theta: Scalar
    pairing: Pairing

    @classmethod
    def read(cls, value: Value) -> Rope | None:
        if isinstance(value.node, Leaf):
            return cls(_THETA, "half") if read_truth(value) else None
        if not isinstance(value.node, MappingNode):
            value.wrong(f"must be a mapping, not {describe(value.node)}", f"write {cls.example}")
            return None
        require_keys(value, ("theta", "pairing"))
        theta: Scalar | None = _THETA
        if "theta" in value.keys:
            theta = read_scalar(value.key("theta"), help=_THETA_HELP)
            if theta is not None and theta.value <= 0:
                value.key("theta").wrong(
                    f"must be greater than 0, not {theta.written}", _THETA_HELP
                )
        pairing = (
            read_word(value.key("pairing"), PAIRINGS) if "pairing" in value.keys else PAIRINGS[0]
        )
        return None if theta is None or pairing is None else cls(theta, cast("Pairing", pairing))

    def check(self, given: Mapping[str, Shaped], reading: Reading) -> None:
        d_q, d_k = width("Q", given), width("K", given)
        if d_k % 2 or d_q != d_k:
            said = f"a key has {count(d_k, 'number')}" + (
                "" if d_q == d_k else f" and a query {d_q}"
            )
            reading.wrong(
                "position.rope",
                f"{said}: rope turns pairs of them",
                "in each head, queries and keys must have the same even number of features",
            )

    def steps(self, sizes: PositionSizes) -> Iterable[Rule]:
        yield self.rules[0]
        yield self.rotated("Q_rot", self.pairing, " + past" if sizes.past else "")
        yield self.rotated("K_rot", self.pairing, "")

    def parameters(self, sizes: PositionSizes) -> Mapping[str, Scalar | Matrix]:
        return {"theta": self.theta} | (
            {"half": Scalar.of(sizes.d_k // 2)} if self.pairing == "half" else {}
        )

    def lengths(self, sizes: PositionSizes) -> Mapping[str, int]:
        return {"t": max(sizes.past + sizes.n, sizes.m), "r": sizes.d_k // 2}

    @classmethod
    def variants(cls) -> Variants:
        after = {"rope, with past": cls.rotated("Q_rot", "half", " + past")}
        return {
            name: (
                {"rope, with pairing: interleaved": cls.rotated(name, "interleaved", "")}
                | (after if name == "Q_rot" else {})
            )
            for name in cls.replaces.values()
        }

    @classmethod
    def rotated(cls, name: str, pairing: Pairing, shift: str) -> Rule:
        """Q_rot or K_rot with features paired in this way; `shift` says where query i stands, as in
        i + past.
        """
        rule = next(rule for rule in cls.rules if rule.name == name)
        where = (
            f" Query `i` is at position `i{shift}`, after the positions of the cache."
            if shift
            else ""
        )
        return replace(rule, formula=_rotated(name, pairing, shift), meaning=rule.meaning + where)


# Biases by distance

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


POSITIONS: Mapping[str, type[Position]] = {kind.name: kind for kind in (Rope, Alibi)}


def read_positions(value: Value) -> tuple[Position, ...] | None:
    """The positions, in the order of `POSITIONS`; None after reporting what is wrong."""
    if isinstance(value.node, Leaf) and value.node.text == "none":
        return ()
    if not isinstance(value.node, MappingNode) or not value.keys:
        forms = listed([f"{{{name}: …}}" for name in POSITIONS], last="or")
        examples = ", or ".join(kind.example for kind in POSITIONS.values())
        value.wrong(f"must be {forms}, not {describe(value.node)}", f"write {examples}")
        return None
    before = value.errors.count
    require_keys(value, tuple(POSITIONS))
    read = [kind.read(value.key(name)) for name, kind in POSITIONS.items() if name in value.keys]
    return (
        tuple(position for position in read if position) if value.errors.count == before else None
    )


def replacements(positions: Sequence[Position | type[Position]]) -> Mapping[str, str]:
    """Which steps the scores read in place of others: Q_rot for Q; ValueError where two kinds
    replace the same.

    >>> replacements([Rope, Alibi])
    {'Q': 'Q_rot', 'K': 'K_rot'}
    """
    found: dict[str, str] = {}
    by: dict[str, str] = {}
    for position in positions:
        for name, other in position.replaces.items():
            if name in by:
                raise ValueError(
                    f"{by[name]} and {position.name} both replace {name} in the scores"
                )
            found[name], by[name] = other, position.name
    return found


def biases(positions: Sequence[Position]) -> tuple[str, ...]:
    """The steps that are added to the scores."""
    return tuple(position.bias for position in positions if position.bias)
