"""Where Q, K and V come from: each from one projection or given directly, and nothing given goes unused."""

from __future__ import annotations

from collections.abc import Mapping

from attncli.problem.axes import input_of
from attncli.problem.keys import ARRAYS, SCORES
from attncli.problem.values import ErrorCollector

_WORDS = {"Q": "queries", "K": "keys", "V": "values"}


def check_projections(at: Mapping[str, int], score: str | None, errors: ErrorCollector, start: int) -> None:
    """`at` maps the keys of the problem to their places; `start` is the place for what is missing altogether.

    `score` is None where it could not be read. What it needs and lacks is told with its shape, by `shapes`.
    """
    given = {name: at[name] for name in ARRAYS if name in at and name != "sink"}
    for letter in "QKV":
        _check_letter(letter, given, errors, start)
    used = {input_of(letter, given) for letter in "QKV" if letter not in given}
    for name in ("X", "context"):
        if name in given and name not in used:
            direct = "Q, K and V are" if name == "X" and "context" not in given else "K and V are"
            if name == "X" and "context" in given:
                direct = "Q is"
            errors.add(f"is not used: {direct} given directly", at=given[name], path=name, help=f"remove {name}")
    for kind, other in SCORES.items() if score else ():
        for name in (array.name for array in other.arrays):
            if score != kind and name in given:
                errors.add(
                    f"is used with score: {kind} only", at=given[name], path=name,
                    help=f"remove {name}, or write score: {kind}",
                )  # fmt: skip


def _check_letter(letter: str, given: Mapping[str, int], errors: ErrorCollector, start: int) -> None:
    weights, bias, source = f"W_{letter}", f"b_{letter}", input_of(letter, given)
    if letter in given:
        if weights in given:
            errors.add(
                f"both {letter} and {weights} are given: which one makes the {_WORDS[letter]}?",
                at=max(given[letter], given[weights]),
                help=f"remove {weights} to use {letter} as it is, or remove {letter} to project {source}",
            )
        elif bias in given:
            errors.add(
                f"has no projection to be added to: {letter} is given directly",
                at=given[bias], path=bias, help=f"add it to {letter} yourself, or give {weights} instead of {letter}",
            )  # fmt: skip
    elif weights in given:
        if source not in given:
            errors.add(
                f"there is no {source} to project", at=given[weights], path=weights,
                help=f"give {source}, or {letter} itself instead of {weights}",
            )  # fmt: skip
    else:
        needed = f"{weights} to project {source}" if source in given else f"X and {weights}"
        if letter != "Q" and source not in given:
            needed = f"X (or context) and {weights}"
        errors.add(f"there is nothing to make the {_WORDS[letter]} from", at=start, help=f"give {letter}, or {needed}")
