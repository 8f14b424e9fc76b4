"""Reads what is given in a mapping of its own: the positions of tokens, and the keys and values of a cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from attncli.errors import did_you_mean
from attncli.problem.keys import PAIRINGS, Pairing
from attncli.problem.matrices import DEEPEST, read_matrix
from attncli.problem.model import Matrix, Rope, Scalar
from attncli.problem.nodes import Leaf, Mapping, describe
from attncli.problem.spot import Spot
from attncli.problem.values import insist_keys, read_scalar, read_truth, read_word

_ROPE = "write {rope: {theta: 10000, pairing: half}}"
_THETA = "write a number such as 10000"
_ALIBI = "write {alibi: true}, or {alibi: {slopes: [0.5, 0.25]}}"
_PAST = "write past: {K: [[1, 0]], V: [[0, 1]]}"
THETA = Scalar(10000, "10000")


@dataclass(frozen=True, slots=True)
class Position:
    """How positions enter: by rotation, by biases, or by both; `slopes` where they are given, one per head."""

    rope: Rope | None = None
    alibi: bool = False
    slopes: Matrix | None = None


def read_position(spot: Spot) -> Position | None:
    """The positions; None after reporting what is wrong."""
    if isinstance(spot.node, Leaf) and spot.node.text == "none":
        return Position()
    if not isinstance(spot.node, Mapping) or not spot.keys:
        spot.wrong(f"must be {{rope: …}} or {{alibi: …}}, not {describe(spot.node)}", f"{_ROPE}, or {{alibi: true}}")
        return None
    before = spot.report.count
    insist_keys(spot, ("rope", "alibi"))
    rope = _read_rope(spot.key("rope")) if "rope" in spot.keys else None
    alibi, slopes = _read_alibi(spot.key("alibi")) if "alibi" in spot.keys else (False, None)
    return Position(rope, alibi, slopes) if spot.report.count == before else None


def read_past(spot: Spot) -> dict[str, Matrix | None] | None:
    """The arrays of a cache, by the names of their steps; None after reporting what is wrong."""
    if not isinstance(spot.node, Mapping):
        spot.wrong(f"must be {{K: …, V: …}}, not {describe(spot.node)}", _PAST)
        return None
    whole = insist_keys(spot, ("K", "V"))
    for name in "KV":
        if whole and name not in spot.keys:
            spot.wrong(f"has no {name}: a cache holds a key and a value of every earlier token", _PAST)
            return None
    return {f"past_{name}": read_matrix(spot.key(name), deepest=DEEPEST) for name in "KV" if name in spot.keys}


def _read_rope(spot: Spot) -> Rope | None:
    if isinstance(spot.node, Leaf):
        return Rope(THETA, "half") if read_truth(spot) else None
    if not isinstance(spot.node, Mapping):
        spot.wrong(f"must be a mapping, not {describe(spot.node)}", _ROPE)
        return None
    insist_keys(spot, ("theta", "pairing"))
    theta: Scalar | None = THETA
    if "theta" in spot.keys:
        theta = read_scalar(spot.key("theta"), help=_THETA)
        if theta is not None and theta.value <= 0:
            spot.key("theta").wrong(f"must be greater than 0, not {theta.written}", _THETA)
    pairing = read_word(spot.key("pairing"), PAIRINGS) if "pairing" in spot.keys else PAIRINGS[0]
    return None if theta is None or pairing is None else Rope(theta, cast("Pairing", pairing))


def _read_alibi(spot: Spot) -> tuple[bool, Matrix | None]:
    if isinstance(spot.node, Leaf):
        return bool(read_truth(spot)), None
    if not isinstance(spot.node, Mapping) or "slopes" not in spot.keys:
        help = did_you_mean(next(iter(spot.keys), ""), ["slopes"], _ALIBI)
        spot.wrong(f"must be true or {{slopes: …}}, not {describe(spot.node)}", help)
        return False, None
    insist_keys(spot, ("slopes",))
    return True, read_matrix(spot.key("slopes"), rank=1)
