"""Worked lines: a cell's own sentence with its numbers put in, and `=` only where the printed numbers give it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import inf

import numpy as np

from attncli.equation.nodes import Call, Expression, Name, Number, rewrite
from attncli.equation.substitution import decimal, exact, substitute
from attncli.page.document import Worked, WorkedLine
from attncli.page.labels import cell_label
from attncli.page.literal import printed
from attncli.page.printer import Printer
from attncli.page.stages import chained, looks_up, nowhere, stages
from attncli.page.sums import parts_of
from attncli.page.visibility import visibility
from attncli.tracing.model import Step, Trace

NOTHING = Decimal("1e-40")
MOST_TERMS = 12  # in a line that stands for its row; a cell asked for is always worked in full


def worked_line(printer: Printer, step: Step, index: tuple[int, ...], *, in_full: bool = True) -> WorkedLine:
    """One cell of a computed step, worked out."""
    label, trace = cell_label(step, index), printer.trace
    place = dict(zip(step.rule.target.letters, index, strict=True))
    tree = step.rule.equation.expression
    if isinstance(tree, Call) and step.rule.decides:
        return WorkedLine(label, remark=visibility(printer, tree, place))
    if step.rule.shares and (index[:-1] if len(index) > 2 else index[0]) in trace.fully_masked:
        nothing = ("by definition: this query sees no key",)
        return WorkedLine(label, result=printer.number(step.name, index), remark=nothing)
    sizes, scalars = trace.sizes(step.rule.equation), printer.scalars()
    sentence, result = substitute(tree, place, sizes, printer.number, scalars), printer.number(step.name, index)
    sentence = rewrite(sentence, _without_sign)
    if step.exact is not None:
        from attncli.equation.exact import expression_of  # which few pages need
        from attncli.page.exact import exact_line

        closed = substitute(tree, place, sizes, printer.closed, scalars)
        if closed != sentence or expression_of(step.exact[index]) != result:
            return exact_line(printer, step, index, label, closed, in_full=in_full)
    if isinstance(sentence, Number):  # a copy: nothing to work
        return WorkedLine(label, result=result)
    shown = sentence if in_full else _shortened(sentence)
    if shown == sentence and looks_up(tree):
        truth = substitute(tree, place, sizes, printer.in_full, printer.scalars_in_full())
        following = list(stages(sentence, truth, printer.worked_out))
        if following:
            last = following[-1].sentence
            return WorkedLine(label, chained(sentence, following), result, exact=_tells(last, result) or False)
    told = _tells(sentence, result)
    if told is None:  # to 50 digits, roots can be told from any number that is printed
        value = decimal(
            tree,
            place,
            sizes,
            lambda name, at: printed(printer.number(name, at)),
            {name: printed(number) for name, number in scalars.items()},
        )
        result_printed = printed(result)
        told = value.is_finite() and result_printed.is_finite() and abs(value - result_printed) < NOTHING
    return WorkedLine(label, shown, result, exact=told)


def _without_sign(node: Expression) -> Expression:
    """0·a for -0·a, which nobody writes."""
    match node:
        case Call("neg", (Call("mul", (Number(value=value), _)) as product,)) if value == 0:
            return product
    return node


def _tells(sentence: Expression, result: Number) -> bool | None:
    """Whether the printed numbers give exactly the result; None where roots, as in √2·√2, leave it open."""
    if isinstance(sentence, Call) and sentence.function == "share" and exact(sentence.arguments[1]) == 0:
        return False  # a sum that is printed as 0 without being 0 divides nothing
    truth = exact(sentence)
    if truth is not None or looks_up(sentence):
        return truth is not None and bool(truth == result.value)
    return None


def worked(printer: Printer, step: Step, detail: str) -> Worked:
    """The worked lines of a step: one for each row ("rows"), or one for every cell ("cells")."""
    if step.rule.given or step.rule.copies:
        return Worked(())
    every = detail == "cells" or lists_closed_forms(printer, step)
    along = len(step.shape) > 1 and step.rule.axes[-1] != "query"  # a row has more than one cell
    rows = list(product(*map(range, step.shape[:-1] if along else step.shape)))
    columns = range(step.shape[-1]) if along else ()
    places: Iterator[tuple[int, ...]] = iter(printer.some(rows))
    if along and every:
        places = ((*row, column) for row in printer.some(rows) for column in printer.some(columns))
    elif along:
        places = (_telling_cell(printer.trace, step, row) for row in printer.some(rows))
    found = (cell_lines(printer, step, place, in_full=detail == "cells") for place in places)
    left = printer.left_out(row=len(rows), column=len(columns) if every else 0)
    return Worked(tuple(line for each in found for line in each), left)


def lists_closed_forms(printer: Printer, step: Step) -> bool:
    """Whether every cell has a line of its own, since a matrix of its closed forms would be too wide."""
    if step.exact is None:
        return False
    from attncli.page.exact import need_lines

    return need_lines(printer, step)


def cell_lines(printer: Printer, step: Step, index: tuple[int, ...], *, in_full: bool = True) -> tuple[WorkedLine, ...]:
    """One cell worked out on a line; where it adds up several sums, each on a line, and then what they add up to."""
    place, sizes = dict(zip(step.rule.target.letters, index, strict=True)), printer.trace.sizes(step.rule.equation)
    parts = () if step.exact is not None else parts_of(printer, step.rule.equation.expression, place, sizes)
    if not parts:
        return (worked_line(printer, step, index, in_full=in_full),)
    label, found = cell_label(step, index), []
    for part in parts:
        sentence = substitute(part.expression, part.place, sizes, printer.number, printer.scalars())
        truth = substitute(part.expression, part.place, sizes, printer.in_full, printer.scalars_in_full())
        result = printer.worked_out(float(decimal(truth, {}, {}, nowhere, {})))
        shown, told = sentence if in_full else _shortened(sentence), _tells(sentence, result) or False
        found.append(WorkedLine(f"{label} through {part.through}", shown, result, exact=told))
    total, result = Call("add", tuple(line.result for line in found if line.result)), printer.number(step.name, index)
    return (*found, WorkedLine(f"{label} in all", total, result, exact=_tells(total, result) or False))


def turned_together(printer: Printer, step: Step, index: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The cells of a rotation by a 2×2 matrix that this cell is one of, in order; of any other step, just this cell."""
    form = step.rule.matrix_form
    if not isinstance(form, Call) or form.function != "rotate":
        return (index,)
    read: list[tuple[int, ...]] = []

    def note(name: str, at: tuple[int, ...]) -> Number:
        read.extend([at] if at[:-1] == index[:-1] and Name(name) in form.arguments[:1] else [])
        return printer.number(name, at)

    place = dict(zip(step.rule.target.letters, index, strict=True))
    substitute(step.rule.equation.expression, place, {}, note, printer.scalars())
    return tuple(sorted(read))


def _telling_cell(trace: Trace, step: Step, row: tuple[int, ...]) -> tuple[int, ...]:
    """The cell that stands for its row: where the query looks most, so that one thread runs through all steps."""
    if len(row) == len(step.shape):
        return row
    if step.rule.axes[-2:] != ("query", "key"):
        return (*row, 0)
    hidden = step.value[row] == -inf
    if step.name == "mask" and hidden.any():
        return (*row, int(np.argmax(hidden)))
    weights = trace.steps["weights"]
    place = dict(zip(step.rule.target.letters, row, strict=False))  # a mask of all heads looks where the first one does
    index = tuple(place.get(letter, 0) for letter in weights.rule.target.letters[:-1])
    return (*row, int(np.argmax(weights.value[index])))


def _shortened(sentence: Expression) -> Expression:
    """A long sum without its smallest terms, and said so."""

    def change(node: Expression) -> Expression:
        if not isinstance(node, Call) or node.function not in ("add", "max") or len(node.arguments) <= MOST_TERMS:
            return node
        terms = node.arguments  # of which alike ones may be one and the same
        heaviest = sorted(range(len(terms)), key=lambda place: _weight(terms[place]), reverse=True)[: MOST_TERMS - 1]
        kept = [terms[place] for place in sorted(heaviest)]
        count = len(terms) - len(kept)
        return Call(node.function, (*kept, Call("left_out", (Number(Fraction(count), str(count)),))))

    return rewrite(sentence, change)


def _weight(term: Expression) -> Fraction | float:
    value = exact(term)
    return inf if value is None else abs(value)
