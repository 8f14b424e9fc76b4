"""Steps that a solution leaves out, worked out as on paper: each number is rounded before the next comes from it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast

from attncli.answers.model import Claim
from attncli.attention.registry import GRADIENT_RULES
from attncli.equation.rounding import round_half_up
from attncli.features.check.carried_values import Sentences
from attncli.features.check.cell_equations import Cell
from attncli.features.check.verdicts import rounds_to
from attncli.tracing.model import Trace

MOST_NUMBERS = 2000  # in all steps of a problem that is worked out on paper


@dataclass(slots=True)
class OnPaper:
    """A solution's numbers exactly as they stand; between them those of the steps left out, with so many decimals.

    With `there_in_full` the way there was left to a calculator: its numbers are rounded only where the way back, which
    is worked on paper, takes them up.
    """

    sentences: Sentences
    decimals: int
    there_in_full: bool = False
    before: OnPaper | None = None  # without the changes by which the sentences have moved
    _found: dict[tuple[str, Cell], Decimal] = field(default_factory=dict)

    def changed(self, trace: Trace, changes: Collection[str]) -> OnPaper:
        """The same solution by a trace with these steps changed."""
        return OnPaper(self.sentences.changed(trace, changes), self.decimals, self.there_in_full, self)

    def gives(self, name: str, index: Cell) -> bool:
        """Whether the equations give this cell as it was written."""
        claim = cast("Claim", self.sentences.answers.steps[name].cells[index])
        given = self.sentences.trace.steps[name].rule.given
        return rounds_to(self.sentences.true(name, index) if given else self._worked(name, index), claim)

    def read(self, name: str, index: Cell) -> Decimal:
        """The number that stands for a cell: written, given, or worked out and rounded."""
        if self.before is not None and name not in self.sentences.moved:
            return self.before.read(name, index)
        claim = self.sentences.written(name, index)
        if claim is not None:
            return claim.value
        step = self.sentences.trace.steps.get(name)
        if step is None or step.rule.given:
            return self.sentences.true(name, index)
        if (name, index) not in self._found:
            in_full = self.there_in_full and name not in GRADIENT_RULES
            value = self.sentences.own(name, index) if in_full else self._worked(name, index)
            plain = step.rule.is_copy or step.rule.only_hides or not value.is_finite()
            self._found[name, index] = value if plain else round_half_up(value, self.decimals)
        return self._found[name, index]

    def _worked(self, name: str, index: Cell) -> Decimal:
        return self.sentences.equations.decimal(name, index, self.read)


def decimals_of(sentences: Sentences, name: str) -> int:
    """How many decimals the numbers of a step have, at most."""
    claims = sentences.answers.steps[name].claims
    return max((max(-claim.half.adjusted() - 1, 0) for claim in claims if not claim.exact), default=0)


def leaves_out(sentences: Sentences, name: str) -> bool:
    """Whether a step is worked out from numbers that are not written, in a problem of a size to be worked on paper."""
    trace, answers = sentences.trace, sentences.answers
    numbers = sum(step.value.size for step in trace.computed())
    computed = (read for read in trace.steps[name].rule.inputs if read in trace and not trace.steps[read].rule.given)
    return numbers <= MOST_NUMBERS and any(read not in answers.steps for read in computed)


def goes_back(sentences: Sentences, name: str) -> bool:
    """Whether a step is one of the way back, and something on the way there is left out before it."""
    if name not in GRADIENT_RULES:
        return False
    computed = (step.name for step in sentences.trace.computed() if step.name not in GRADIENT_RULES)
    return any(step not in sentences.answers.steps for step in computed)
