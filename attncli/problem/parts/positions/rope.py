"""RoPE: rotary positions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from attncli.english import count
from attncli.equation.nodes import Name, walk
from attncli.equation.rule import Rule
from attncli.problem.keys import Pairing
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import Shaped, width
from attncli.problem.parts.positions.position import Position, PositionSizes, Variants
from attncli.problem.parts.positions.rope_reader import DEFAULT_THETA, read_settings
from attncli.problem.parts.positions.rope_types import (
    BASE_FREQUENCIES,
    FREQUENCIES,
    RAMP,
    ROPE_TYPES,
)
from attncli.problem.text.nodes import Leaf, MappingNode, describe
from attncli.problem.text.reading import Reading
from attncli.problem.text.values import Value, read_truth

_TURNED_BACK = "The gradient of the rotated vectors is rotated back by the same angles."
# The whole turn of a pair, in radians.
_TURN = Scalar.of(2 * math.pi)


def _rotated(name: str, pairing: Pairing, shift: str, is_partial: bool) -> str:
    """The equation of Q_rot or K_rot: feature k turned with its partner, half a vector away or next
    to it.

    `shift` says where query i stands, as in i + past. Where only a part of the features is turned,
    the others stay as they are.
    """
    letter, row = name[0], "i" if name[0] == "Q" else "j"
    cell = f"{letter}[{row}, k]"
    if pairing == "half":
        first, before, after, pairs = "k < half", "k - half", "k + half", ("k", "k - half")
    else:
        first, before, after, pairs = "k % 2 == 0", "k - 1", "k + 1", ("k // 2", "k // 2")
    turned = [f"angles[{row}{shift}, {pair}]" for pair in pairs]
    of_first = f"{cell} * cos({turned[0]}) - {letter}[{row}, {after}] * sin({turned[0]})"
    of_second = f"{cell} * cos({turned[1]}) + {letter}[{row}, {before}] * sin({turned[1]})"
    if not is_partial:
        formula = f"where({first}, {of_first}, {of_second})"
    elif pairing == "half":
        formula = f"where({first}, {of_first}, where(k < rotary_dim, {of_second}, {cell}))"
    else:
        formula = f"where(k >= rotary_dim, {cell}, where({first}, {of_first}, {of_second}))"
    return f"{name}[{row}, k] = {formula}"


@dataclass(frozen=True, slots=True)
class Rope(Position):
    """Rotary positions: pair r of a query or key at position t is turned by t times the frequency
    of the pair, theta^(-2r / d_k) where nothing else is said.

    The fields have the names and meanings of a model's config.json, but for `theta`, which is its
    rope_theta. None where it says nothing.
    """

    name = "rope"
    example = "{rope: {theta: 10000, pairing: half}}"
    title = "RoPE"
    rules = (
        BASE_FREQUENCIES,
        RAMP,
        FREQUENCIES,
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
            _rotated("Q_rot", "half", "", is_partial=False),
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
            _rotated("K_rot", "half", "", is_partial=False),
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
    rope_type: str = "default"
    partial_rotary_factor: Scalar | None = None
    factor: Scalar | None = None
    low_freq_factor: Scalar | None = None
    high_freq_factor: Scalar | None = None
    original_max_position_embeddings: Scalar | None = None

    @classmethod
    def read(cls, value: Value) -> Rope | None:
        if isinstance(value.node, Leaf):
            return cls(DEFAULT_THETA, "half") if read_truth(value) else None
        if not isinstance(value.node, MappingNode):
            value.wrong(f"must be a mapping, not {describe(value.node)}", f"write {cls.example}")
            return None
        settings = read_settings(value)
        return None if settings is None else cls(**settings)

    def check(self, given: Mapping[str, Shaped], reading: Reading) -> None:
        d_q, d_k = width("Q", given), width("K", given)
        turned = self.turned(d_k)
        has_pairs = turned > 0 and turned % 2 == 0
        if d_q == d_k and has_pairs:
            return
        if d_q == d_k and self.partial_rotary_factor is not None:
            reading.wrong(
                "position.rope",
                f"{self.partial_rotary_factor.written} of {count(d_k, 'feature')} are"
                f" {turned}: rope turns pairs of them",
                "choose a partial_rotary_factor that gives an even number of features",
            )
            return
        said = f"a key has {count(d_k, 'number')}"
        if d_q != d_k:
            said += f" and a query {d_q}"
        reading.wrong(
            "position.rope",
            f"{said}: rope turns pairs of them",
            "in each head, queries and keys must have the same even number of features",
        )

    def turned(self, d_k: int) -> int:
        """How many of the features of a key are turned, the first ones."""
        if self.partial_rotary_factor is None:
            return d_k
        # As models calculate it, in double precision.
        return int(d_k * self.partial_rotary_factor.value)

    def steps(self, sizes: PositionSizes) -> Iterable[Rule]:
        is_partial = self.turned(sizes.d_k) < sizes.d_k
        yield from self._angles(is_partial)
        yield self.rotated("Q_rot", self.pairing, " + past" if sizes.past else "", is_partial)
        yield self.rotated("K_rot", self.pairing, "", is_partial)

    def _angles(self, is_partial: bool) -> Iterator[Rule]:
        """The steps up to the angles: one where all pairs turn as the paper has it."""
        if self.rope_type == "default" and not is_partial:
            yield _ANGLES
            return
        divisor = "rotary_dim" if is_partial else "d_k"
        yield from ROPE_TYPES[self.rope_type].rules(divisor)
        yield _ANGLES_OF_FREQUENCIES

    def parameters(self, sizes: PositionSizes) -> Mapping[str, Scalar | Matrix]:
        turned = self.turned(sizes.d_k)
        known = {
            "theta": self.theta,
            "factor": self.factor,
            "low_freq_factor": self.low_freq_factor,
            "high_freq_factor": self.high_freq_factor,
            "original_length": self.original_max_position_embeddings,
            "turn": _TURN,
            "rotary_dim": Scalar.of(turned),
            "half": Scalar.of(turned // 2),
        }
        read = set()
        for rule in self.steps(sizes):
            nodes = walk(rule.equation.expression)
            read |= {node.name for node in nodes if isinstance(node, Name)}
        return {name: value for name, value in known.items() if name in read and value is not None}

    def lengths(self, sizes: PositionSizes) -> Mapping[str, int]:
        longest = max(sizes.past + sizes.n, sizes.m)
        return {"t": longest, "r": self.turned(sizes.d_k) // 2}

    @classmethod
    def variants(cls) -> Variants:
        frequencies = {
            f"rope_type: {name}": kind.frequencies("d_k")
            for name, kind in ROPE_TYPES.items()
            if name != "default"
        }
        partial = ROPE_TYPES["default"].frequencies("rotary_dim")
        found = {
            "frequencies": {**frequencies, "rope, with partial_rotary_factor": partial},
            "angles": {"rope, with frequencies": _ANGLES_OF_FREQUENCIES},
        }
        for name in cls.replaces.values():
            found[name] = {
                "rope, with pairing: interleaved": cls.rotated(name, "interleaved", ""),
                "rope, with partial_rotary_factor": cls.rotated(name, "half", "", is_partial=True),
            }
        found["Q_rot"]["rope, with past"] = cls.rotated("Q_rot", "half", " + past")
        return found

    @classmethod
    def rotated(cls, name: str, pairing: Pairing, shift: str, is_partial: bool = False) -> Rule:
        """Q_rot or K_rot with features paired in this way; `shift` says where query i stands, as in
        i + past.
        """
        rule = next(rule for rule in cls.rules if rule.name == name)
        meaning = rule.meaning
        headline = rule.headline
        if is_partial:
            meaning += " The features from `rotary_dim` on stay as they are."
            headline = ""
        if shift:
            meaning += f" Query `i` is at position `i{shift}`, after the positions of the cache."
        formula = _rotated(name, pairing, shift, is_partial)
        return replace(rule, formula=formula, headline=headline, meaning=meaning)


_ANGLES = next(rule for rule in Rope.rules if rule.name == "angles")
_ANGLES_OF_FREQUENCIES = replace(
    _ANGLES,
    formula="angles[t, r] = t * frequencies[r]",
    why="",
)
