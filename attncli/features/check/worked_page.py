"""The first wrong cell worked twice: from the solution's own numbers, and from the true ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from attncli.answers.model import Claim
from attncli.dtypes import PRECISION
from attncli.equation.nodes import Expression, Number, Ref, rewrite
from attncli.equation.substitution import exact_value
from attncli.features.check.carried_values import Sentences
from attncli.features.check.cell_equations import Cell
from attncli.features.check.single_cell_errors import Slip
from attncli.features.check.verdicts import Verdicts
from attncli.page.document import WorkedLine
from attncli.page.labels import cell_label
from attncli.page.number_format import NO_NUMBERS, format_number, number_node
from attncli.page.printer import GIVEN_DECIMALS, Printer
from attncli.page.worked import worked_line
from attncli.problem.model import Matrix
from attncli.problem.numbers import NumberError, canonical
from attncli.tracing.model import Step

FEWEST = 3  # decimals of a number beside one that was written


def claimed(claim: Claim) -> str:
    """What is printed for a claim: its own digits, or for a calculation its value."""
    if claim.text in NO_NUMBERS:
        return claim.text
    try:
        return canonical(claim.text) if claim.exact else claim.text
    except NumberError:
        return format_number(float(claim.value), GIVEN_DECIMALS)


def decimals(claims: Iterator[Claim | None]) -> int:
    """How many decimals tell whether these claims are right: one more than they have."""
    written = [-claim.half.adjusted() for claim in claims if claim is not None and not claim.exact]
    return min(max([FEWEST, *written]), PRECISION[-1])


@dataclass(frozen=True, slots=True)
class OwnPrinter(Printer):
    """Prints a solution's own numbers: what was written, and what follows from that where nothing was.

    The cell `worked` counts as not written.
    """

    sentences: Sentences | None = None
    worked: tuple[str, Cell] | None = None

    def text(self, array: Step | Matrix, index: tuple[int, ...]) -> str:
        if not isinstance(array, Step):
            return Printer.text(self, array, index)
        claim = self._claim(array.name, index)
        if claim is not None:
            return claimed(claim)
        if array.rule.given:
            return Printer.text(self, array, index)
        assert self.sentences is not None
        tree = self.sentences.of(array.name, index).tree
        if isinstance(tree, Ref):  # a copy
            copied = self._claim(tree.name, tuple(int(str(place)) for place in tree.indices))
            return claimed(copied) if copied is not None else Printer.text(self, array, index)
        return format_number(self._own(array.name, index), self.precision)

    def in_full(self, name: str, index: tuple[int, ...]) -> Number:
        step = self.trace.steps.get(name)
        claim = self._claim(name, index)
        if claim is not None:
            return number_node(claimed(claim))
        if step is None or step.rule.given:
            return Printer.in_full(self, name, index)
        return number_node(repr(self._own(name, index)))

    def _claim(self, name: str, index: Cell) -> Claim | None:
        assert self.sentences is not None
        answer = self.sentences.answers.steps.get(name)
        if answer is None or (name, index) == self.worked:
            return None
        claim: Claim | None = answer.cells[index]
        return claim

    def _own(self, name: str, index: Cell) -> float:
        assert self.sentences is not None
        return float(self.sentences.own(name, index))


def worked_twice(verdicts: Verdicts, name: str, index: Cell) -> tuple[WorkedLine, ...]:
    """What was written, what the solution's own numbers give where that is something else, and the truth."""
    step, judged = verdicts.trace.steps[name], verdicts.steps[name][index]
    digits = decimals(iter([judged.given]))
    truth = Printer(verdicts.trace, digits)
    lines = [] if judged.given is None else [WorkedLine("written", result=number_node(claimed(judged.given)))]
    if step.rule.given:
        return (*lines, WorkedLine("given", result=truth.number(name, index)))
    own, true = worked_from_own(verdicts, name, index), worked_line(truth, step, index)
    if replace(own, label="") != replace(true, label=""):
        lines.append(replace(own, label="by your own numbers"))
    return (*lines, replace(true, label="in truth"))


def worked_from_own(verdicts: Verdicts, name: str, index: Cell, *, beside: Claim | None = None) -> WorkedLine:
    """A cell worked from the solution's own earlier numbers exactly as they stand.

    It has digits enough to stand `beside` a claim, which is the one to this very cell if no other is told.
    """
    sentences = Sentences(verdicts.trace, verdicts.answers)
    digits = decimals(iter([beside or verdicts.steps[name][index].given]))
    own = OwnPrinter(verdicts.trace, digits, sentences=sentences, worked=(name, index))
    return worked_line(own, verdicts.trace.steps[name], index)


def slipped(verdicts: Verdicts, name: str, index: Cell, slip: Slip) -> WorkedLine:
    """A cell worked with a slip, from the solution's own numbers, to what was written."""
    step, claim = verdicts.trace.steps[name], verdicts.steps[name][index].given
    sentences = Sentences(verdicts.trace, verdicts.answers)
    own = OwnPrinter(verdicts.trace, decimals(iter([claim])), sentences=sentences, worked=(name, index))

    def put(node: Expression) -> Expression:
        if not isinstance(node, Ref):
            return node
        if node in slip.box:
            return number_node(slip.copied)
        return own.number(node.name, tuple(int(str(at)) for at in node.indices))

    work, result = rewrite(slip.tree, put), number_node(claimed(claim))
    return WorkedLine(cell_label(step, index), work, result, exact=exact_value(work) == result.value)
