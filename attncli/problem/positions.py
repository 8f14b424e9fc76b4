"""Reads what is given in a mapping of its own: the positions of tokens, and the keys and values of a cache.

The rules of positions are in `attention/variants.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from attncli.english import count
from attncli.errors import did_you_mean
from attncli.problem.axes import PER_HEAD, axes_of, width
from attncli.problem.keys import PAIRINGS, Pairing, array_path
from attncli.problem.matrices import DEEPEST, read_matrix
from attncli.problem.model import Matrix, Rope, Scalar
from attncli.problem.nodes import Leaf, describe
from attncli.problem.nodes import Mapping as Keyed
from attncli.problem.values import ErrorCollector, Places, Value, read_scalar, read_truth, read_word, require_keys

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


def read_position(value: Value) -> Position | None:
    """The positions; None after reporting what is wrong."""
    if isinstance(value.node, Leaf) and value.node.text == "none":
        return Position()
    if not isinstance(value.node, Keyed) or not value.keys:
        value.wrong(f"must be {{rope: …}} or {{alibi: …}}, not {describe(value.node)}", f"{_ROPE}, or {{alibi: true}}")
        return None
    before = value.errors.count
    require_keys(value, ("rope", "alibi"))
    rope = _read_rope(value.key("rope")) if "rope" in value.keys else None
    alibi, slopes = _read_alibi(value.key("alibi")) if "alibi" in value.keys else (False, None)
    return Position(rope, alibi, slopes) if value.errors.count == before else None


def read_past(value: Value) -> dict[str, Matrix | None] | None:
    """The arrays of a cache, by the names of their steps; None after reporting what is wrong."""
    if not isinstance(value.node, Keyed):
        value.wrong(f"must be {{K: …, V: …}}, not {describe(value.node)}", _PAST)
        return None
    whole = require_keys(value, ("K", "V"))
    for name in "KV":
        if whole and name not in value.keys:
            value.wrong(f"has no {name}: a cache holds a key and a value of every earlier token", _PAST)
            return None
    return {f"past_{name}": read_matrix(value.key(name), deepest=DEEPEST) for name in "KV" if name in value.keys}


def _read_rope(value: Value) -> Rope | None:
    if isinstance(value.node, Leaf):
        return Rope(THETA, "half") if read_truth(value) else None
    if not isinstance(value.node, Keyed):
        value.wrong(f"must be a mapping, not {describe(value.node)}", _ROPE)
        return None
    require_keys(value, ("theta", "pairing"))
    theta: Scalar | None = THETA
    if "theta" in value.keys:
        theta = read_scalar(value.key("theta"), help=_THETA)
        if theta is not None and theta.value <= 0:
            value.key("theta").wrong(f"must be greater than 0, not {theta.written}", _THETA)
    pairing = read_word(value.key("pairing"), PAIRINGS) if "pairing" in value.keys else PAIRINGS[0]
    return None if theta is None or pairing is None else Rope(theta, cast("Pairing", pairing))


def _read_alibi(value: Value) -> tuple[bool, Matrix | None]:
    if isinstance(value.node, Leaf):
        return bool(read_truth(value)), None
    if not isinstance(value.node, Keyed) or "slopes" not in value.keys:
        help = did_you_mean(next(iter(value.keys), ""), ["slopes"], _ALIBI)
        value.wrong(f"must be true or {{slopes: …}}, not {describe(value.node)}", help)
        return False, None
    require_keys(value, ("slopes",))
    return True, read_matrix(value.key("slopes"), rank=1)


def check_positions(given: Mapping[str, Matrix], rope: Rope | None, at: Places, errors: ErrorCollector) -> None:
    """Pairs to turn, and one slope and one sink for each head."""
    if rope:
        d_q, d_k = width("Q", given), width("K", given)
        if d_k % 2 or d_q != d_k:
            said = f"a key has {count(d_k, 'number')}" + ("" if d_q == d_k else f" and a query {d_q}")
            errors.add(
                f"{said}: rope turns pairs of them", at=at["position.rope"], path="position.rope",
                help="queries and keys must have the same even number of features in each head",
            )  # fmt: skip
    heads = axes_of(given).number
    for name in PER_HEAD:
        if name in given and (length := given[name].shape[0]) != heads:
            errors.add(
                f"{count(length, 'number')} for {count(heads, 'head')}", at=at[array_path(name)], path=array_path(name),
                help="give one number for each head",
            )  # fmt: skip
