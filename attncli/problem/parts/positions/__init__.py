"""The kinds of positions: each class in `POSITIONS` is a key of `position: {…}`.

A kind reads itself, checks itself, and says which steps it adds: some that stand for the queries
and keys in the scores, one that is added to the scores, or some that stand for X. Everything about
a kind stands in its class, but for its arrays, which are rows of `KEYS` as all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attncli.english import listed
from attncli.problem.parts.positions.alibi import Alibi
from attncli.problem.parts.positions.position import Position, PositionSizes, Variants
from attncli.problem.parts.positions.rope import Rope
from attncli.problem.parts.positions.sinusoidal import Sinusoidal
from attncli.problem.text.nodes import Leaf, MappingNode, describe
from attncli.problem.text.values import Value, require_keys

__all__ = [
    "POSITIONS",
    "Alibi",
    "Position",
    "PositionSizes",
    "Rope",
    "Sinusoidal",
    "Variants",
    "biases",
    "inputs",
    "read_positions",
    "replacements",
]

POSITIONS: Mapping[str, type[Position]] = {kind.name: kind for kind in (Rope, Alibi, Sinusoidal)}


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


def inputs(positions: Sequence[Position]) -> Mapping[str, str]:
    """Which steps the projections read in place of what is given: X_pos for X."""
    found: dict[str, str] = {}
    for position in positions:
        found |= position.inputs
    return found


def biases(positions: Sequence[Position]) -> tuple[str, ...]:
    """The steps that are added to the scores."""
    return tuple(position.bias for position in positions if position.bias)
