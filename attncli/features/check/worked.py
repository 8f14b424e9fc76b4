"""Worked lines of a solution: a cell from its own numbers, from the true ones, and with an error in
it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from attncli.answers.model import Claim
from attncli.dtypes import PRECISION
from attncli.equation.nodes import Expression, Number, Ref, rewrite
from attncli.equation.substitution import exact_value
from attncli.features.check.cell_values import CellIndex, CellValues, cell_of
from attncli.features.check.single_cell_errors import CellError
from attncli.features.check.verdicts import Judgement
from attncli.page.document import WorkedLine
from attncli.page.printer import GIVEN_DECIMALS, NO_NUMBERS, Printer, format_number, number_node
from attncli.page.worked.worked_line import worked_line
from attncli.problem.matrix import Matrix
from attncli.problem.text.number_forms import NumberError
from attncli.problem.text.numbers import canonical
from attncli.tracing.model import Step

# A number that is compared with a written one has at least so many decimals.
FEWEST_DECIMALS = 3


def claim_text(claim: Claim) -> str:
    """What is printed for a claim: its own digits, or for a calculation its value.

    >>> from attncli.answers.claims import read_claim
    >>> claim_text(read_claim("0.50")), claim_text(read_claim("1/sqrt(3)"))
    ('0.50', 'sqrt(3)/3')
    """
    if claim.text in NO_NUMBERS:
        return claim.text
    try:
        return canonical(claim.text) if claim.exact else claim.text
    except NumberError:
        return format_number(float(claim.value), GIVEN_DECIMALS)


def decimals_to_compare(claims: Iterable[Claim | None]) -> int:
    """How many decimals tell whether these claims are right: one more than they have.

    >>> from attncli.answers.claims import read_claim
    >>> decimals_to_compare([read_claim("0.58"), read_claim("0.5774"), None])
    5
    """
    written = [claim for claim in claims if claim is not None]
    rounded = [claim for claim in written if not claim.exact]
    decimals = [-claim.half.adjusted() for claim in rounded]
    most = max([FEWEST_DECIMALS, *decimals])
    return min(most, PRECISION[-1])


@dataclass(frozen=True, slots=True)
class OwnNumbersPrinter(Printer):
    """Prints a solution's own numbers: what was written, and what follows from that where nothing
    was.

    The cell `worked` counts as not written.
    """

    values: CellValues | None = None
    worked: tuple[str, CellIndex] | None = None

    def text(self, array: Step | Matrix, index: tuple[int, ...]) -> str:
        if not isinstance(array, Step):
            return Printer.text(self, array, index)
        claim = self._claim(array.name, index)
        if claim is not None:
            return claim_text(claim)
        if array.rule.given:
            return Printer.text(self, array, index)
        assert self.values is not None
        tree = self.values.equation(array.name, index).tree
        # The cell is only a copy.
        if isinstance(tree, Ref):
            copied = self._claim(tree.name, cell_of(tree))
            return claim_text(copied) if copied is not None else Printer.text(self, array, index)
        return format_number(self._own(array.name, index), self.precision)

    def number_in_full(self, name: str, index: tuple[int, ...]) -> Number:
        step = self.trace.steps.get(name)
        claim = self._claim(name, index)
        if claim is not None:
            return number_node(claim_text(claim))
        if step is None or step.rule.given:
            return Printer.number_in_full(self, name, index)
        return number_node(repr(self._own(name, index)))

    def _claim(self, name: str, index: CellIndex) -> Claim | None:
        assert self.values is not None
        answer = self.values.answers.steps.get(name)
        if answer is None or (name, index) == self.worked:
            return None
        claim: Claim | None = answer.cells[index]
        return claim

    def _own(self, name: str, index: CellIndex) -> float:
        assert self.values is not None
        return float(self.values.own(name, index))


def worked_both_ways(judgement: Judgement, name: str, index: CellIndex) -> tuple[WorkedLine, ...]:
    """What was written, what the solution's own numbers give where that is something else, and the
    truth.
    """
    step, judged = judgement.trace.steps[name], judgement.steps[name][index]
    digits = decimals_to_compare([judged.given])
    truth = Printer(judgement.trace, digits)
    lines = []
    if judged.given is not None:
        # Digits that recur are shown as the fraction that they are.
        label = f"you wrote {judged.given.written}".rstrip()
        lines.append(WorkedLine(label, result=number_node(claim_text(judged.given))))
    if step.rule.given:
        return (*lines, WorkedLine("given", result=truth.number(name, index)))
    true = worked_line(truth, step, index)
    # Where the own numbers give the true value, a line of them would only say it in fewer digits.
    if format_number(judged.own, digits) != format_number(judged.expected, digits):
        own = worked_from_own_numbers(judgement, name, index)
        lines.append(own._replace(label="from your own numbers"))
    return (*lines, true._replace(label="true value"))


def worked_from_own_numbers(
    judgement: Judgement, name: str, index: CellIndex, *, as_precise_as: Claim | None = None
) -> WorkedLine:
    """A cell worked from the solution's own earlier numbers exactly as they stand.

    It has digits enough to be compared with a claim, `as_precise_as` or else the one to this very
    cell.
    """
    own = _own_numbers(judgement, name, index, as_precise_as or judgement.steps[name][index].given)
    return worked_line(own, judgement.trace.steps[name], index)


def _own_numbers(
    judgement: Judgement, name: str, index: CellIndex, claim: Claim | None
) -> OwnNumbersPrinter:
    decimals = decimals_to_compare([claim])
    worked = (name, index)
    return OwnNumbersPrinter(judgement.trace, decimals, values=judgement.values, worked=worked)


def worked_with_error(
    judgement: Judgement, name: str, index: CellIndex, error: CellError
) -> WorkedLine:
    """A cell worked with an error in a single cell, from the solution's own numbers, to what was
    written.
    """
    step, claim = judgement.trace.steps[name], judgement.steps[name][index].given
    own = _own_numbers(judgement, name, index, claim)

    def put(node: Expression) -> Expression:
        if not isinstance(node, Ref):
            return node
        if error.copied and node in error.ranges:
            return number_node(error.copied)
        return own.number(node.name, cell_of(node))

    work, result = rewrite(error.tree, put), number_node(claim_text(claim))
    return WorkedLine(step.cell_label(index), work, result, holds=exact_value(work) == result.value)
