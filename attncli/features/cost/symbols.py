"""What a cost calls the length of each index: n, m, d_model, …, where two of these are one size, by one name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from attncli.attention.indices import INDICES
from attncli.problem.axes import input_of
from attncli.problem.axes import rows as rows_of
from attncli.problem.keys import SCORES
from attncli.problem.model import Problem

# How many rows there are of queries and keys: as many of both, as many new ones after a cache, or each its own number.
Rows: TypeAlias = Literal["same", "new", "apart"]

SYMBOLS = {letter: index.length for letter, index in INDICES.items()}
FOLLOWING = ("d_joined", "d_pairs", "n_pos")  # from other sizes, which say what grows with them
ORDER = tuple(
    each
    for symbol in SYMBOLS.values()
    if symbol not in FOLLOWING
    for each in (symbol, *["d_context"] * (symbol == "d_model"))
)


def rows_in(problem: Problem) -> Rows:
    """Whether queries and keys come from the same rows, so that one size is that of both."""
    given = problem.given
    if "context" in given:
        return "apart"
    if "past_K" in given:
        return "new" if rows_of("K", given) == rows_of("Q", given) else "apart"
    return "apart" if "Q" in given or {"K", "V"} <= given.keys() else "same"


def symbols(problem: Problem, name: str, rows: Rows) -> Mapping[str, str]:
    """The symbol of each letter in one rule: X may serve only keys, context or query have a width of their own."""
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
    if name in ("W_Q", "b_Q", "Q") and not SCORES[problem.score].is_dot:
        found["k"] = "d_q"
    if "W_O" in problem.given and problem.given["W_O"].value.shape[-1] == _width(problem, "X"):
        found["o"] = "d_model"  # a layer that hands on rows as wide as those it takes
    return found


def growing(symbols: Mapping[str, str], sizes: Mapping[str, int]) -> Mapping[str, str]:
    """The same with a product of other sizes, but for a factor, in place of each that follows from them."""
    positions = "n" if sizes["n"] == sizes["m"] else "m" if sizes["n_pos"] == sizes["m"] else "n"
    follows = dict(zip(FOLLOWING, ("heads*d_v", "d_k", positions), strict=True))
    return {letter: follows.get(symbol, symbol) for letter, symbol in symbols.items()}


def _reads_context(problem: Problem, name: str) -> bool:
    """Whether a rule is the context, what projects it, or what comes of that."""
    made = name.removeprefix("W_").removeprefix("new_")
    return name == "context" or (made in ("K", "V") and input_of(made, problem.given) == "context")


def _width(problem: Problem, name: str) -> int | None:
    """How wide the rows of X or of the context are; of the other one, where only that is there."""
    given = problem.given
    there = name if name in given else "context" if name == "X" else "X"
    return int(given[there].value.shape[-1]) if there in given else None
