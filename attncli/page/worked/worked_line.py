"""A cell worked out on a line: its equation with its numbers put in, 2·2 + 0·1 + 1·1 = 5."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import inf

from attncli.equation.nodes import Call, Expression, Number, rewrite
from attncli.equation.substitution import Known, exact_value, substitute
from attncli.page.document import WorkedLine
from attncli.page.printer import Printer
from attncli.page.relation import (
    DIVISOR_IS_0,
    NO_DIVISOR,
    divides_by_nothing,
    gives,
    needs_lookup,
    value_of_numbers,
)
from attncli.page.worked.long_sums import LongSums, Work, with_largest_terms
from attncli.page.worked.lookups import Stage, chain_stages, stages
from attncli.page.worked.partial_sums import PartialSum, partial_sums
from attncli.page.worked.visibility import visibility
from attncli.tracing.model import Step, hidden_beside

OF_A_BLIND_QUERY = "by definition, because this query sees no key"


def worked_line(
    printer: Printer, step: Step, index: tuple[int, ...], *, in_full: bool = True
) -> WorkedLine:
    """One cell of a computed step, worked out: 2·2 + 0·1 + 1·1 = 5.

    Unless it is `in_full`, a long sum has only its largest terms: 3·4 + 2·5 + … 9 more … = 24.1.
    """
    return LineWriter(printer, step).line(index, in_full=in_full)


class LineWriter:
    """Writes the worked lines of a step.

    Where these are `many`, it reads the numbers of their sums once for all.
    """

    def __init__(self, printer: Printer, step: Step, *, many: bool = False) -> None:
        equation = step.rule.equation
        self.printer = printer
        self.step = step
        self.tree = equation.expression
        self.sizes = printer.trace.sizes(equation)
        self.scalars = printer.scalars()
        self.sums: LongSums | None = None
        if many:
            self.sums = LongSums(printer, self.sizes)
        self.closed_form = cache(printer.closed_form)
        self.known: Known = {}
        self.known_in_full: Known = {}

    def lines(self, index: tuple[int, ...], *, in_full: bool) -> tuple[WorkedLine, ...]:
        """A cell on a line; where it adds up several sums, each on a line, and then their sum."""
        parts: list[PartialSum] = []
        if self.step.exact is None:
            parts = partial_sums(self.printer, self.tree, self._place(index), self.sizes)
        if not parts:
            return (self.line(index, in_full=in_full),)
        label = self.step.cell_label(index)
        found = [self._line_of_part(label, part, in_full=in_full) for part in parts]
        total = Call("add", tuple(line.result for line in found if line.result))
        result = self.printer.number(self.step.name, index)
        return (*found, _line(f"{label} in total", total, total, result))

    def line(self, index: tuple[int, ...], *, in_full: bool = True) -> WorkedLine:
        """A cell on one line."""
        return self._whole(index, in_full=in_full)._replace(cell=index)

    def _line_of_part(self, label: str, part: PartialSum, *, in_full: bool) -> WorkedLine:
        work = self._work(part.expression, part.place, in_full=in_full)
        value = value_of_numbers(self._in_full(part.expression, part.place))
        result = self.printer.rounded(float(value))
        through = f"{label} through {part.through}"
        line = _line(through, work.shown, work.summed, result)
        return self._about_the_divisor(line, part.expression, part.place)

    def _whole(self, index: tuple[int, ...], *, in_full: bool) -> WorkedLine:
        label = self.step.cell_label(index)
        place = self._place(index)
        rule = self.step.rule
        if rule.only_hides and isinstance(self.tree, Call):
            said = visibility(self.printer, self.tree, place)
            return WorkedLine(label, remark=said)
        result = self.printer.number(self.step.name, index)
        if rule.divides_rows and self._is_of_a_blind_query(index):
            return WorkedLine(label, result=result, remark=(OF_A_BLIND_QUERY,))
        closed = self._in_closed_forms(index, label, in_full=in_full)
        if closed:
            return self._about_the_divisor(closed, self.tree, place)
        work = self._work(self.tree, place, in_full=in_full)
        if isinstance(work.shown, Number):
            # It is a copy, in which there is nothing to work.
            return WorkedLine(label, result=result)
        following: list[Stage] = []
        if needs_lookup(self.tree) and not work.shortened:
            truth = self._in_full(self.tree, place)
            following.extend(stages(work.shown, truth, self.printer.rounded))
        chain: Expression = work.shown
        last = work.summed
        if following:
            chain = chain_stages(work.shown, following)
            last = following[-1].sentence
        line = _line(label, chain, last, result)
        return self._about_the_divisor(line, self.tree, place)

    def _about_the_divisor(
        self, line: WorkedLine, expression: Expression, place: Mapping[str, int]
    ) -> WorkedLine:
        """The line, which says of a divisor that is printed as 0 whether it is 0."""
        if line.remark == NO_DIVISOR and divides_by_nothing(self._in_full(expression, place)):
            return line._replace(remark=DIVISOR_IS_0)
        return line

    def _place(self, index: tuple[int, ...]) -> dict[str, int]:
        return dict(zip(self.step.rule.target.letters, index, strict=True))

    def _is_of_a_blind_query(self, index: tuple[int, ...]) -> bool:
        step = self.step
        if not self.printer.trace.fully_masked:
            return False
        is_of_pairs = step.rule.axis_names[-2:] == ("query", "key")
        if not is_of_pairs or step.value[index] != 0:
            return False
        hidden = hidden_beside(self.printer.trace.steps, step)
        return hidden is not None and bool(hidden[index[:-1]].all())

    def _in_closed_forms(
        self, index: tuple[int, ...], label: str, *, in_full: bool
    ) -> WorkedLine | None:
        """The line in closed forms; None where they are no others than the decimals."""
        if self.step.exact is None:
            return None
        # Few pages have closed forms, and what works with them takes a while to import.
        from attncli.page.worked.closed_forms import exact_line, exact_sentence

        place = self._place(index)
        sentence = exact_sentence(self.printer, self.step, place, self.closed_form, in_full=in_full)
        if self._says_no_more_than_decimals(index, sentence):
            return None
        return exact_line(self.printer, self.step, index, label, sentence, in_full=in_full)

    def _says_no_more_than_decimals(
        self, index: tuple[int, ...], sentence: Expression | None
    ) -> bool:
        from attncli.equation.exact import expression_of

        assert self.step.exact is not None
        number = self.step.exact[index]
        if isinstance(number, Decimal):
            return sentence is None
        if expression_of(number) != self.printer.number(self.step.name, index):
            return False
        place = self._place(index)
        closed = substitute(self.tree, place, self.sizes, self.closed_form, self.scalars)
        return closed == self._sentence(self.tree, place)

    def _work(self, expression: Expression, place: Mapping[str, int], *, in_full: bool) -> Work:
        """The sentence of a cell as it is shown, and with its sums worked.

        They are worked as far as they are sums of decimals.
        """
        work = self.sums.work(expression, place, in_full=in_full) if self.sums else None
        if work is not None:
            shown = self._sentence(work.shown, place)
            summed = self._sentence(work.summed, place)
            return Work(shown, summed, work.shortened)
        sentence = self._sentence(expression, place)
        shown = sentence if in_full else rewrite(sentence, _with_largest_terms)
        return Work(shown, sentence, shown != sentence)

    def _sentence(self, expression: Expression, place: Mapping[str, int]) -> Expression:
        """An expression with printed numbers put in."""
        printer = self.printer
        return substitute(
            expression,
            place,
            self.sizes,
            printer.number,
            self.scalars,
            printer.number_in_full,
            self.known,
        )

    def _in_full(self, expression: Expression, place: Mapping[str, int]) -> Expression:
        """The same with all digits of the numbers."""
        number = self.printer.number_in_full
        scalars = self.printer.scalars_in_full()
        return substitute(expression, place, self.sizes, number, scalars, known=self.known_in_full)


def _line(label: str, work: Expression, last: Expression, result: Number) -> WorkedLine:
    """A line that holds where its last stage, with all terms of its sums, gives the result."""
    if divides_by_nothing(last):
        return WorkedLine(label, result=result, remark=NO_DIVISOR)
    # Only now: up to here the printed numbers stand as those in full do.
    shown = rewrite(work, _without_sign_of_zero)
    return WorkedLine(label, shown, result, holds=gives(last, result))


def _without_sign_of_zero(node: Expression) -> Expression:
    """0·a for -0·a, which nobody writes."""
    match node:
        case Call("neg", (Call("mul", (Number(value=value), _)) as product,)) if value == 0:
            return product
    return node


def _with_largest_terms(node: Expression) -> Expression:
    """A long sum of numbers without its smallest terms, and said so."""
    if not isinstance(node, Call) or node.function not in ("add", "max"):
        return node
    terms = node.arguments

    def heaviest(count: int) -> list[int]:
        places = sorted(range(len(terms)), key=lambda at: _weight(terms[at]), reverse=True)
        return sorted(places[:count])

    return with_largest_terms(node, len(terms), heaviest, terms.__getitem__)


def _weight(term: Expression) -> Fraction | float:
    value = exact_value(term)
    return inf if value is None else abs(value)
