"""Checks how much a problem would make, before any of it is made: labels, queries, keys, values, scores, output."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from attncli.english import count, shape_text
from attncli.errors import input_error
from attncli.problem.axes import axes_of, maker_of, sizes, source_of, width
from attncli.problem.limits import ELEMENT_LIMIT, TOKEN_LIMIT
from attncli.problem.model import Matrix
from attncli.problem.values import ErrorCollector


def require_scores(given: Mapping[str, Matrix]) -> None:
    """Raises AttncliError (exit 3) where the matrices of scores of all heads would be too large to be held."""
    axes = axes_of(given)
    shape = (*(length for length in (axes.batch or 1, axes.number) if length > 1), *sizes(given))
    if prod(shape) > ELEMENT_LIMIT:
        message, help = _too_many("the matrix of scores", shape)
        raise input_error(message, path=source_of("K", given), help=help)


def check_extent(given: Mapping[str, Matrix], at: Mapping[str, int], errors: ErrorCollector, *, scores: bool) -> None:
    """Ends the reading where there are too many tokens, or where an array on the way would be too large.

    The matrix of scores counts only where it is going to be held.
    """
    n, m = sizes(given)
    axes = axes_of(given)
    each = (axes.batch or 1, axes.number)
    queries, keys = (source_of(letter, given) for letter in "QK")
    for name, rows in ((queries, n), (keys, m)):
        if rows > TOKEN_LIMIT:
            errors.fail(
                f"has {count(rows, 'row')}, one for each token", at=at[name], path=name,
                help=f"{TOKEN_LIMIT:,} tokens are the most",
            )  # fmt: skip
    makers = {letter: maker_of(letter, given) for letter in "QKV"}
    d_q, d_k, d_v = (width(letter, given) for letter in "QKV")
    made: list[tuple[str, str, tuple[int, ...]]] = [
        (makers["Q"], "Q", (n, d_q)),
        (makers["K"], "K", (m, d_k)),
        (makers["V"], "V", (m, d_v)),
        *([(keys, "the matrix of scores", (n, m))] if scores else []),
        (makers["V"], "the output", (n, d_v)),
    ]
    if "W_a" in given:
        made.append(("W_a", "Q·W_a", (n, given["W_a"].shape[1])))
    if "W_O" in given:
        made.append(("W_O", "the output", (n, given["W_O"].shape[1])))
    if "v" in given:  # q·W_1 + k·W_2 for every query and key at once
        made.append(("v", "what v is multiplied by", (n, m, given["v"].shape[0])))
    for name, what, shape in made:
        whole = (*(length for length in each if length > 1), *shape)
        if prod(whole) > ELEMENT_LIMIT:
            message, help = _too_many(what, whole)
            errors.fail(message, at=at[name], path=name, help=help)


def _too_many(what: str, shape: tuple[int, ...]) -> tuple[str, str]:
    """What is wrong with an array of this shape, and how many numbers one may have."""
    return (
        f"{what} would be {shape_text(shape)}, which is {prod(shape):,} numbers",
        f"{ELEMENT_LIMIT:,} numbers in one array are the most",
    )
