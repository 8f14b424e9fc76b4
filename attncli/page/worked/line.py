"""A cell worked out on a line: its own sentence with its numbers put in, and `=` only where these
numbers give it.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import inf

from attncli.equation.nodes import Call, Expression, Number, rewrite
from attncli.equation.substitution import exact_value, substitute
from attncli.page.document import WorkedLine
from attncli.page.printer import Printer
from attncli.page.worked.long_sums import MOST_TERMS, LongSums, Work
from attncli.page.worked.lookups import (
    NO_DIVISOR,
    chain_stages,
    divides_by_nothing,
    gives,
    needs_lookup,
    stages,
    value_of_numbers,
)
from attncli.page.worked.partial_sums import partial_sums
from attncli.page.worked.visibility import visibility
from attncli.tracing.model import Step

NO_KEY = "by definition, because this query sees no key"
Cell = tuple[int, ...]
Place = Mapping[str, int]


def worked_line(printer: Printer, step: Step, index: Cell, *, in_full: bool = True) -> WorkedLine:
    """One cell of a computed step, worked out; unless it is `in_full`, only the largest terms of a
    long sum.
    """
    return LineWriter(printer, step).line(index, in_full=in_full)


class LineWriter:
    """Writes the worked lines of a step. Where these are `many`, it reads the numbers of their sums
    once for all.
    """

    def __init__(self, printer: Printer, step: Step, *, many: bool = False) -> None:
        self.printer, self.step, self.tree = printer, step, step.rule.equation.expression
        self.sizes, self.scalars = printer.trace.sizes(step.rule.equation), printer.scalars()
        self.sums = LongSums(printer, self.sizes) if many else None
        self.closed_form = cache(printer.closed_form)

    def lines(self, index: Cell, *, in_full: bool) -> tuple[WorkedLine, ...]:
        """A cell on a line; where it adds up several sums, each on a line, and then what they add
        up to.
        """
        place = self._place(index)
        parts = (
            ()
            if self.step.exact is not None
            else partial_sums(self.printer, self.tree, place, self.sizes)
        )
        if not parts:
            return (self.line(index, in_full=in_full),)
        label, found = self.step.cell_label(index), []
        for part in parts:
            work = self._work(part.expression, part.place, in_full=in_full)
            result = self.printer.rounded(
                float(value_of_numbers(self._in_full(part.expression, part.place)))
            )
            found.append(_line(f"{label} through {part.through}", work.shown, work.summed, result))
        total = Call("add", tuple(line.result for line in found if line.result))
        return (
            *found,
            _line(f"{label} in total", total, total, self.printer.number(self.step.name, index)),
        )

    def line(self, index: Cell, *, in_full: bool = True) -> WorkedLine:
        """A cell on one line."""
        return self._whole(index, in_full=in_full)._replace(cell=index)

    def _whole(self, index: Cell, *, in_full: bool) -> WorkedLine:
        label, place, rule = self.step.cell_label(index), self._place(index), self.step.rule
        if rule.only_hides and isinstance(self.tree, Call):
            return WorkedLine(label, remark=visibility(self.printer, self.tree, place))
        result = self.printer.number(self.step.name, index)
        if rule.divides_rows and self._sees_no_key(index):
            return WorkedLine(label, result=result, remark=(NO_KEY,))
        if closed := self._in_closed_forms(index, label, in_full=in_full):
            return closed
        work = self._work(self.tree, place, in_full=in_full)
        if isinstance(work.shown, Number):  # a copy: nothing to work
            return WorkedLine(label, result=result)
        if not work.shortened and needs_lookup(self.tree):
            following = list(
                stages(work.shown, self._in_full(self.tree, place), self.printer.rounded)
            )
            if following:
                return _line(
                    label, chain_stages(work.shown, following), following[-1].sentence, result
                )
        return _line(label, work.shown, work.summed, result)

    def _place(self, index: Cell) -> dict[str, int]:
        return dict(zip(self.step.rule.target.letters, index, strict=True))

    def _sees_no_key(self, index: Cell) -> bool:
        # a number where there are neither heads nor entries
        row = index[:-1] if len(index) > 2 else index[0]
        return row in self.printer.trace.fully_masked

    def _in_closed_forms(self, index: Cell, label: str, *, in_full: bool) -> WorkedLine | None:
        """The line in closed forms; None where they are no others than the decimals."""
        if self.step.exact is None:
            return None
        from attncli.equation.exact import expression_of  # which few pages need
        from attncli.page.worked.closed_forms import exact_line, exact_sentence

        number, place = self.step.exact[index], self._place(index)
        sentence = exact_sentence(self.printer, self.step, place, self.closed_form, in_full=in_full)
        if isinstance(number, Decimal):
            if sentence is None:
                return None
        elif expression_of(number) == self.printer.number(self.step.name, index):
            closed = substitute(self.tree, place, self.sizes, self.closed_form, self.scalars)
            if closed == self._sentence(self.tree, place):
                return None
        return exact_line(self.printer, self.step, index, label, sentence, in_full=in_full)

    def _work(self, expression: Expression, place: Place, *, in_full: bool) -> Work:
        """The sentence of a cell as it is shown, and with its sums worked as far as they are sums
        of decimals.
        """
        work = self.sums.work(expression, place, in_full=in_full) if self.sums else None
        if work is not None:
            return Work(
                self._sentence(work.shown, place),
                self._sentence(work.summed, place),
                work.shortened,
            )
        sentence = self._sentence(expression, place)
        shown = sentence if in_full else _shortened(sentence)
        return Work(shown, sentence, shown != sentence)

    def _sentence(self, expression: Expression, place: Place) -> Expression:
        """An expression with printed numbers put in."""
        sentence = substitute(expression, place, self.sizes, self.printer.number, self.scalars)
        return rewrite(sentence, _without_sign_of_zero)

    def _in_full(self, expression: Expression, place: Place) -> Expression:
        """The same with all digits of the numbers."""
        return substitute(
            expression,
            place,
            self.sizes,
            self.printer.number_in_full,
            self.printer.scalars_in_full(),
        )


def _line(label: str, work: Expression, last: Expression, result: Number) -> WorkedLine:
    """A line that holds where its last stage, all terms of its sums among it, gives the result."""
    if divides_by_nothing(last):
        return WorkedLine(label, result=result, remark=NO_DIVISOR)
    return WorkedLine(label, work, result, holds=gives(last, result))


def _without_sign_of_zero(node: Expression) -> Expression:
    """0·a for -0·a, which nobody writes."""
    match node:
        case Call("neg", (Call("mul", (Number(value=value), _)) as product,)) if value == 0:
            return product
    return node


def _shortened(sentence: Expression) -> Expression:
    """A long sum without its smallest terms, and said so."""

    def change(node: Expression) -> Expression:
        if (
            not isinstance(node, Call)
            or node.function not in ("add", "max")
            or len(node.arguments) <= MOST_TERMS
        ):
            return node
        # of which alike ones may be one and the same
        terms = node.arguments
        heaviest = sorted(range(len(terms)), key=lambda place: _weight(terms[place]), reverse=True)[
            : MOST_TERMS - 1
        ]
        kept = [terms[place] for place in sorted(heaviest)]
        count = len(terms) - len(kept)
        return Call(
            node.function, (*kept, Call("left_out", (Number(Fraction(count), str(count)),)))
        )

    return rewrite(sentence, change)


def _weight(term: Expression) -> Fraction | float:
    value = exact_value(term)
    return inf if value is None else abs(value)
