"""A whole solution judged: in the form of the softmax that it has, with what its verdicts come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from attncli.answers.model import Answers
from attncli.errors import AttncliError
from attncli.features.check.verdicts import Verdict, Verdicts, judge
from attncli.problem.model import Problem
from attncli.tracing import run
from attncli.tracing.model import Trace

ONLY_SHIFTED = ("row_max", "shifted")
BY_FORM = ("exp", "row_sum")  # which are other numbers where the softmax is shifted


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Verdicts, and how strictly they are taken: `lenient` counts what is a matter of rounding as right.

    `other_form` says that these answers have a softmax shifted where ours is not, or the other way round.
    """

    verdicts: Verdicts
    lenient: bool
    other_form: bool = False

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong or missing; a matter of rounding passes only where that is `lenient`."""
        counts = self.verdicts.counts
        return not (counts["wrong"] or counts["missing"] or (counts["rounding"] and not self.lenient))

    def share(self, *, follow_through: bool) -> Fraction:
        """The part of all cells worked out that earns marks: what is right, and with follow-through what is carried."""
        earning: list[Verdict] = ["right"]
        earning += ["carried"] if follow_through else []
        earning += ["rounding"] if self.lenient else []
        steps = self.verdicts.trace.steps
        worked = [judged.verdict for name, _, judged in self.verdicts.cells() if not steps[name].rule.given]
        return Fraction(sum(verdict in earning for verdict in worked), max(len(worked), 1))

    def only(self, names: Sequence[str]) -> Solution:
        """The verdicts on these steps, which still follow from what was written in all others."""
        steps = {name: cells for name, cells in self.verdicts.steps.items() if name in names}
        return replace(self, verdicts=replace(self.verdicts, steps=steps))


def judged(
    problem: Problem, read: Callable[[Trace], Answers], *, lenient: bool = False, gradient: bool = False
) -> Solution:
    """The solution that `read` finds for a trace, judged; for one with its `gradient`, if so asked.

    Exponentials of the plain scores are as good as those of scores less the largest of their row. Which of the two an
    answer has is told by the steps it names, and else by which has fewer errors. Raises what `read` raises.
    """
    plain = run(problem, gradient=gradient)
    try:
        answers = read(plain)
    except AttncliError as error:
        if plain.shifted:
            raise
        return _shifted(run(problem, shifted=True, gradient=gradient), read, error, lenient)
    verdicts = judge(plain, answers)
    if _named(answers, ONLY_SHIFTED) or not _errors(verdicts):
        return Solution(verdicts, lenient)
    trace = replace(run(problem, shifted=not plain.shifted, gradient=gradient), warnings=plain.warnings)
    if trace.shifted and _above_one(answers):
        return Solution(verdicts, lenient)
    other = judge(trace, answers)
    if _errors(other) < _errors(verdicts):
        return Solution(other, lenient, other_form=True)
    return Solution(verdicts, lenient)


def _shifted(trace: Trace, read: Callable[[Trace], Answers], error: AttncliError, lenient: bool) -> Solution:
    """The solution read as one whose softmax is shifted; the `error` is what is wrong with it as one that is not."""
    try:
        answers = read(trace)
    except AttncliError as other:
        raise error if other.message == error.message else other from None
    return Solution(judge(trace, answers), lenient, other_form=_named(answers, ONLY_SHIFTED))


def _named(answers: Answers, names: Sequence[str]) -> bool:
    return any(name in answers.steps and not answers.steps[name].blank for name in names)


def _above_one(answers: Answers) -> bool:
    """Whether an exponential is above 1, as none is where the largest score is subtracted first."""
    claims = answers.steps["exp"].claims if "exp" in answers.steps else ()
    return any(claim.value - claim.half > 1 for claim in claims)


def _errors(verdicts: Verdicts) -> int:
    """How many exponentials and sums are not as they should be."""
    cells = (judged for name, _, judged in verdicts.cells() if name in BY_FORM)
    return sum(judged.verdict in ("wrong", "rounding") for judged in cells)
