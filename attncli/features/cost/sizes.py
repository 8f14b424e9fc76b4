"""The sizes for which a cost is counted: those of the problem, those given by options, and those
that follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from attncli.attention.plan import Plan, plan_for
from attncli.english import count
from attncli.equation.indices import INDICES, index_of
from attncli.errors import usage_error
from attncli.problem.keys import ARRAYS, SCORES
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.axes import (
    BATCH,
    HEAD,
    KEY_HEAD,
    OF_KEYS,
    OF_QUERIES,
    PER_HEAD,
    input_of,
)
from attncli.problem.parts.axes import rows as rows_of

# There are as many keys as queries ("same"), or as many new keys after a cache ("new"), or any
# number ("apart").
Rows: TypeAlias = Literal["same", "new", "apart"]

SYMBOLS = {letter: index.length for letter, index in INDICES.items()}
# These follow from other sizes, and are not shown.
FOLLOWING = ("d_joined", "d_pairs", "n_pos")


def own_symbol(letter: str) -> str:
    """The symbol of a letter in an equation of a problem's own."""
    return index_of(letter, own=True).length


def _order() -> Iterator[str]:
    """The sizes as they are shown: d_context comes behind d_model."""
    for symbol in SYMBOLS.values():
        if symbol not in FOLLOWING:
            yield symbol
        if symbol == "d_model":
            yield "d_context"


ORDER = tuple(_order())


def rows_of_problem(problem: Problem) -> Rows:
    """Whether queries and keys come from the same rows, so that one size is enough for both."""
    given = problem.given
    if "context" in given:
        return "apart"
    if "past_K" in given:
        return "new" if rows_of("K", given) == rows_of("Q", given) else "apart"
    return "apart" if "Q" in given or {"K", "V"} <= given.keys() else "same"


def symbols(problem: Problem, name: str, rows: Rows) -> Mapping[str, str]:
    """The symbol of each letter in one rule; X may make only keys, and context or queries may have
    another width.
    """
    found = dict(SYMBOLS)
    if rows == "same":
        found["j"] = "n"
    elif rows == "new":
        found["s"] = "n"
    source = found["s" if "past_K" in problem.given else "j"]
    if name == "context":
        found["j"] = source
    elif name == "X" and "Q" in problem.given:
        found["i"] = source
    if _reads_context(problem, name) and _width(problem, "context") != _width(problem, "X"):
        found["d"] = "d_context"
    if name in ("W_Q", "b_Q", "Q") and not SCORES[problem.score].equal_widths:
        found["k"] = "d_q"
    if "W_O" in problem.given and problem.given["W_O"].value.shape[-1] == _width(problem, "X"):
        # The output of the layer is as wide as its input.
        found["o"] = "d_model"
    return found


def growth_symbols(symbols: Mapping[str, str], sizes: Mapping[str, int]) -> Mapping[str, str]:
    """The same symbols, but sizes that follow from others are products of these, without constant
    factors.
    """
    positions = "n"
    if sizes["n_pos"] == sizes["m"] != sizes["n"]:
        positions = "m"
    follows = {"d_joined": "heads*d_v", "d_pairs": "d_k", "n_pos": positions}
    return {letter: follows.get(symbol, symbol) for letter, symbol in symbols.items()}


def _reads_context(problem: Problem, name: str) -> bool:
    """Whether a rule is the context, a projection of it, or the result of one."""
    made = name.removeprefix("W_").removeprefix("new_")
    return name == "context" or (made in ("K", "V") and input_of(made, problem.sized) == "context")


def _width(problem: Problem, name: str) -> int | None:
    """The width of X or of the context; that of the other one, if only the other one is given."""
    given = problem.given
    there = name if name in given else "context" if name == "X" else "X"
    return int(given[there].value.shape[-1]) if there in given else None


@dataclass(frozen=True, slots=True)
class GivenSizes:
    """GivenSizes in place of the problem's own; None keeps those of the problem.

    `d_k` is the width of queries and keys, and `d_v` that of values, both for one head. Without
    `kv_heads`, here and in the problem, there are as many heads of keys and values as of queries.
    """

    n: int | None = None
    m: int | None = None
    d_model: int | None = None
    d_k: int | None = None
    d_v: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    batch: int | None = None
    layers: int = 1


def sizes_of(plan: Plan, requested: GivenSizes, rows: Rows) -> dict[str, int]:
    """Every size by its symbol; raises AttncliError (exit 2) if the requested sizes contradict each
    other.
    """
    found = _sizes_of_arrays(plan, rows)
    if plan.problem.system is not None and requested != GivenSizes(layers=requested.layers):
        raise usage_error(
            "the sizes of a problem with equations of its own are those of its arrays",
            help="leave out the sizes, or give other arrays",
        )
    chosen = {
        "d_model": requested.d_model,
        "d_k": requested.d_k,
        "d_q": requested.d_k,
        "d_v": requested.d_v,
        "batch": requested.batch,
    }
    found |= {symbol: size for symbol, size in chosen.items() if size is not None}
    # A query is as long as a key, if the equation has no letter of its own for it.
    found.setdefault("d_q", found["d_k"])
    found |= _row_counts(found, requested, rows)
    found |= _head_counts(found, requested)
    pairs, odd = divmod(found["d_k"], 2)
    if plan.problem.rope and odd:
        raise usage_error(
            f"rope rotates pairs of features, and d_k = {found['d_k']} is odd",
            help="give an even --d-k",
        )
    positions = max(found.get("n_past", 0) + found["n"], found["m"])
    return found | {"d_joined": found["heads"] * found["d_v"], "d_pairs": pairs, "n_pos": positions}


def _sizes_of_arrays(plan: Plan, rows: Rows) -> dict[str, int]:
    """The sizes of the problem's arrays."""
    problem = plan.problem
    found = {"n": len(problem.tokens), "m": len(problem.context_tokens)}
    for rule in plan.rules:
        if rule.given and not rule.own:
            called = symbols(problem, rule.name, rows)
            shape = plan.given[rule.name].value.shape
            found |= {
                called[letter]: size
                for letter, size in zip(rule.target.letters, shape, strict=True)
            }
    if problem.system is not None:
        found |= {own_symbol(letter): size for letter, size in plan.sizes.items()}
        for rule in (*plan.rules, *plan.softmax_rules(shift=False)):
            if rule.own:
                found |= {own_symbol(letter): size for letter, size in rule.lengths}
    return found


def _row_counts(own: Mapping[str, int], requested: GivenSizes, rows: Rows) -> dict[str, int]:
    """The numbers of queries and keys, and how many of the keys are cached and new."""
    n = requested.n or own["n"]
    if rows == "same":
        return {"n": n, "m": n}
    if "n_past" not in own:
        return {"n": n, "m": requested.m or own["m"]}
    new = n if rows == "new" else own["n_new"]
    m = requested.m or own["n_past"] + new
    if m <= new:
        said = f"{count(m, 'key')} cannot be {new} new keys and at least one key from the cache"
        smaller = ", or give a smaller --n" if rows == "new" else ""
        raise usage_error(said, help=f"give --m {new + 1} or more{smaller}")
    return {"n": n, "m": m, "n_new": new, "n_past": m - new}


def _head_counts(own: Mapping[str, int], requested: GivenSizes) -> dict[str, int]:
    """The numbers of heads of queries, and of keys and values."""
    heads = requested.heads or own.get("heads", 1)
    kv_heads = requested.kv_heads or own.get("kv_heads", heads)
    if heads % kv_heads:
        said = (
            f"{count(heads, 'query head')} cannot be divided evenly among {count(kv_heads, 'head')}"
            " of keys and values"
        )
        raise usage_error(said, help="make --heads a multiple of --kv-heads")
    return {"heads": heads, "kv_heads": kv_heads}


_ROWS = ("X", "context")
# These are stacked by heads, and then by entries.
_STACKED = ("Q", "K", "V", "past_K", "past_V")


def as_cross_attention(problem: Problem) -> Problem:
    """Cross-attention in place of self-attention: X is also the context."""
    given = {**problem.given, "context": problem.given["X"]}
    return replace(problem, given={name: given[name] for name in ARRAYS if name in given})


def with_leading_axes(plan: Plan, requested: GivenSizes, sizes: Mapping[str, int]) -> Plan:
    """The plan with an axis for heads, for those of keys and for entries where these sizes need
    one.

    These axes are as short as possible: a plan only depends on whether there are several heads, and
    fewer of keys.
    """
    problem, axes = plan.problem, plan.axes
    batched = axes.batch is not None
    split = axes.heads is not None or axes.kv_heads is not None
    batch = batched or sizes.get("batch", 1) > 1
    heads = split or sizes["heads"] > 1
    grouped = sizes["kv_heads"] < sizes["heads"]
    has_them = (batched, split, axes.group > 1) == (batch, heads, grouped)
    if has_them and requested.kv_heads is None:
        # If one K serves all heads, it still does.
        return plan
    several = min(sizes["heads"], 2)
    short = {BATCH: 1, HEAD: several, KEY_HEAD: 1 if grouped else several}
    given = {}
    for name, matrix in problem.given.items():
        if name in PER_HEAD:
            given[name] = matrix
            continue
        rank = len(ARRAYS[name].letters)
        own = matrix.value.shape[matrix.value.ndim - rank :]
        leading = [short[letter] for letter in _leading(name, batch=batch, heads=heads)]
        given[name] = Matrix(np.broadcast_to(0.0, (*leading, *own)))
    return plan_for(replace(problem, given=given))


def _leading(name: str, *, batch: bool, heads: bool) -> Iterator[str]:
    """The letters of the axes before those of one head, for a problem with entries and with
    heads.
    """
    stacked = batch and name in _STACKED
    if stacked or (batch and name in _ROWS):
        yield BATCH
    if stacked or (heads and name in (*OF_QUERIES, *OF_KEYS)):
        yield KEY_HEAD if name in OF_KEYS else HEAD
