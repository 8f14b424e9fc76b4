"""The sizes a cost is counted with: a problem's own, those asked for instead, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attncli.attention.plan import Plan
from attncli.english import count
from attncli.errors import usage_error
from attncli.features.cost.symbols import Rows, symbols
from attncli.problem.model import Problem


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes to count with instead of a problem's own; None keeps them.

    `d_k` is the width of queries and keys and `d_v` that of values, both in one head. `kv_heads` is as many as
    `heads` where neither the problem nor this says otherwise.
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


def sizes_of(problem: Problem, plan: Plan, asked: Sizes, rows: Rows) -> dict[str, int]:
    """Every size by its symbol; raises AttncliError (exit 2) where those asked for do not go together."""
    found = _own(problem, plan, rows)
    chosen = {"d_model": asked.d_model, "d_k": asked.d_k, "d_q": asked.d_k, "d_v": asked.d_v, "batch": asked.batch}
    found |= {symbol: size for symbol, size in chosen.items() if size is not None}
    found |= _rows(found, asked, rows)
    found |= _heads(found, asked)
    pairs, odd = divmod(found["d_k"], 2)
    if problem.rope and odd:
        raise usage_error(f"rope turns pairs of features, and d_k is {found['d_k']}", help="give an even --d-k")
    positions = max(found.get("n_past", 0) + found["n"], found["m"])
    return found | {"d_joined": found["heads"] * found["d_v"], "d_pairs": pairs, "n_pos": positions}


def _own(problem: Problem, plan: Plan, rows: Rows) -> dict[str, int]:
    """Those of the problem's arrays."""
    found = {"n": len(problem.tokens), "m": len(problem.context_tokens)}
    for rule in plan.rules:
        if rule.given:
            called = symbols(problem, rule.name, rows)
            shape = plan.given[rule.name].value.shape
            found |= {called[letter]: size for letter, size in zip(rule.target.letters, shape, strict=True)}
    return found


def _rows(own: Mapping[str, int], asked: Sizes, rows: Rows) -> dict[str, int]:
    """How many queries and keys there are; of keys, how many are cached and how many are new."""
    n = asked.n or own["n"]
    if rows == "same":
        return {"n": n, "m": n}
    if "n_past" not in own:
        return {"n": n, "m": asked.m or own["m"]}
    new = n if rows == "new" else own["n_new"]
    m = asked.m or own["n_past"] + new
    if m <= new:
        said = f"{count(m, 'key')} cannot hold {new} new and any of the cache"
        raise usage_error(said, help=f"give at least {new + 1} as --m" + (", or fewer as --n" if rows == "new" else ""))
    return {"n": n, "m": m, "n_new": new, "n_past": m - new}


def _heads(own: Mapping[str, int], asked: Sizes) -> dict[str, int]:
    """How many heads there are of queries, and of keys and values."""
    heads = asked.heads or own.get("heads", 1)
    kv_heads = asked.kv_heads or own.get("kv_heads", heads)
    if heads % kv_heads:
        said = f"{count(heads, 'head')} of queries cannot be shared out among {kv_heads} of keys and values"
        raise usage_error(said, help="make --heads a multiple of --kv-heads")
    return {"heads": heads, "kv_heads": kv_heads}
