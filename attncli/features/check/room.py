"""Before a solution is judged: whether what its cells are made of fits into memory, and what to do if not.

The numbers are those of 50 digits, with what was written; measured with problems of 30 to 200 tokens.
"""

from __future__ import annotations

from attncli.answers.model import Answers
from attncli.features.check.cell_equations import before
from attncli.memory import insist
from attncli.tracing.model import Trace

_WRITTEN = 3000  # bytes that a cell takes which was written
_LEFT_OUT = 1000  # one that was not, but may have to be worked out
_TRIED = 20_000  # one that is wrong, or is left out, with what it is by each known mistake


def require_judging(trace: Trace, answers: Answers) -> None:
    """Raises NoRoom (exit 3) where there would be no memory to work out every cell."""
    left_out, written = _cells(trace, answers)
    help = "leave steps out of the answers that need not be judged, or take a problem of fewer tokens"
    insist(_WRITTEN * written + _LEFT_OUT * left_out, f"judging {written:,} numbers", help)


def require_diagnosing(trace: Trace, answers: Answers, wrong: int) -> None:
    """Raises NoRoom (exit 3) where there would be no memory to try what may have been done to so many wrong cells."""
    left_out, _ = _cells(trace, answers)
    help = "judge some of the steps with --steps, write down those between, or take a problem of fewer tokens"
    insist(_TRIED * (wrong + left_out), f"finding out how {wrong:,} numbers went wrong", help)


def _cells(trace: Trace, answers: Answers) -> tuple[int, int]:
    """How many cells lead to what is in the answers without being there, and how many are there."""
    written = {name for name, answer in answers.steps.items() if not answer.blank}
    left_out = sum(trace[name].size for name in before(trace, written) - written)
    return left_out, sum(answers.steps[name].cells.size for name in written)
