"""What is compared, step by step: the flow that the command and Python share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attncli.comparison.blind_rows import with_blind_rows
from attncli.english import listed
from attncli.errors import input_error, usage_error
from attncli.features.compare.operands import InputFile, operands
from attncli.page.view import chosen_names
from attncli.tracing.comparison import Comparison, compare


class Wishes(NamedTuple):
    """How two sides are compared.

    `precision` is the decimals of a problem that is worked out on paper. `steps` are the names or
    letters of the only ones wanted. `sees_no_key` is what other software means to give a query that
    sees no key, one of `SEES_NO_KEY`.
    """

    precision: int = 3
    gradient: bool = False
    tolerance: float | None = None
    steps: Sequence[str] | None = None
    sees_no_key: str | None = None


def compare_files(files: Sequence[InputFile], wishes: Wishes) -> Comparison:
    """Both sides worked out and compared.

    Raises AttncliError: exit 2 for wishes that do not go with these sides, exit 3 where the sides
    have no step in common.
    """
    a, b = operands(files, wishes.precision, gradient=wishes.gradient)
    if wishes.sees_no_key is not None:
        a, b = with_blind_rows(a, b, wishes.sees_no_key)
    names = None
    if wishes.steps is not None:
        there = dict.fromkeys([*a.names, *b.names])
        names = chosen_names(wishes.steps, tuple(there))
    comparison = compare(a, b, tolerance=wishes.tolerance, steps=names)
    _require_common_step(comparison, chosen=names is not None)
    return comparison


def _require_common_step(comparison: Comparison, *, chosen: bool) -> None:
    """Raises AttncliError if the sides have no step in common: exit 2 if --steps chose them, else
    exit 3.
    """
    if not all(step.one_sided for step in comparison.steps):
        return
    message = "there is nothing to compare: the two sides have no step in common"
    if chosen:
        raise usage_error(message, help="leave out --steps")
    sides = (comparison.a, comparison.b)
    few = min(sides, key=lambda side: len(side.names))
    names = listed(few.names)
    raise input_error(message, help=f"{few.name} has only {names}")
