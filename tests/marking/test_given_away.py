"""Which blank steps can be read off the numbers of a sheet."""

from __future__ import annotations

import attncli
from attncli.marking.given_away import given_away
from attncli.page.worksheet import blank_steps
from attncli.tracing.model import Trace

CAUSAL = {
    "X": [[1, 2], [3, 4]],
    "W_Q": [[1, 0], [0, 1]],
    "W_K": [[1, 1], [0, 1]],
    "W_V": [[1, 0], [1, 1]],
    "mask": "causal",
}


def said(trace: Trace, *names: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = given_away(trace, blank_steps(trace, names))
    return found.by, found.steps


def test_what_later_numbers_say_of_earlier_ones() -> None:
    trace = attncli.trace(CAUSAL)
    every = ["Q", "K", "V", "scores", "scaled", "weights", "output"]
    by, steps = said(trace, *every)
    # Z' = Z + M says Z where the mask hides nothing, Z = S / √d_k says S, and A is E divided by r.
    assert by == ("masked", "exp", "row_sum")
    assert steps == ("scores", "scaled", "weights")
    assert said(trace, "scaled") == (("masked",), ("scaled",))
    # From e^Z' comes Z', which is Z + M.
    assert said(trace, "scaled", "masked") == (("exp",), ("scaled", "masked"))


def test_what_is_to_be_worked_out_from_printed_numbers_is_not_given_away() -> None:
    trace = attncli.trace(CAUSAL)
    assert said(trace, "weights", "output") == ((), ())
    assert said(trace, "output") == ((), ())
    assert said(trace, *(step.name for step in trace.computed())) == ((), ())
    # Two unknown numbers stand in one equation: A = E / r.
    assert said(trace, "exp", "row_sum", "weights") == ((), ())


def test_a_sum_of_products_gives_none_of_its_factors_away() -> None:
    trace = attncli.trace(CAUSAL)
    assert said(trace, "Q", "K", "V") == ((), ())
