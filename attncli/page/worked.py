"""Worked lines: a cell's own sentence with its numbers put in, and `=` only where the printed numbers give it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import inf

import numpy as np

from attncli.attention.registry import RULES, gradient_name
from attncli.equation.functions import FUNCTIONS
from attncli.equation.indexing import GROUP_MEMBER, letters, position
from attncli.equation.nodes import Call, Expression, Name, Number, Reduce, Ref, names_used, rewrite, walk
from attncli.equation.substitution import decimal_value, exact_value, substitute
from attncli.equation.symbols import unicode_name
from attncli.page.document import Math, Text, Worked, WorkedLine, sequence
from attncli.page.labels import cell_label
from attncli.page.long_sums import MOST_TERMS, LongSums, Work
from attncli.page.number_format import printed_value
from attncli.page.printer import Printer
from attncli.problem.axes import LEADING
from attncli.tracing.model import Step, Trace

STAGED = frozenset(name for name, function in FUNCTIONS.items() if function.looked_up)
SAME = Decimal("1e-40")  # numbers of 50 digits that are this near are the same
Print = Callable[[float], Number]
STEP_OF_GRADIENT = {gradient_name(name): name for name in RULES}


def worked_line(
    printer: Printer, step: Step, index: tuple[int, ...], *, in_full: bool = True, sums: LongSums | None = None
) -> WorkedLine:
    """One cell of a computed step, worked out; where many of its cells are, `sums` are the step's."""
    label, trace = cell_label(step, index), printer.trace
    place = dict(zip(step.rule.target.letters, index, strict=True))
    tree = step.rule.equation.expression
    if isinstance(tree, Call) and step.rule.only_hides:
        return WorkedLine(label, remark=_visibility(printer, tree, place))
    if step.rule.divides_rows and (index[:-1] if len(index) > 2 else index[0]) in trace.fully_masked:
        nothing = ("by definition: this query sees no key",)
        return WorkedLine(label, result=printer.number(step.name, index), remark=nothing)
    sizes, scalars = (sums.sizes, sums.scalars) if sums else (trace.sizes(step.rule.equation), printer.scalars())
    result = printer.number(step.name, index)
    if step.exact is not None:
        from attncli.equation.exact import expression_of  # which few pages need
        from attncli.page.exact import exact_line

        closed = substitute(tree, place, sizes, printer.closed_form, scalars)
        sentence = rewrite(substitute(tree, place, sizes, printer.number, scalars), _without_sign)
        if closed != sentence or expression_of(step.exact[index]) != result:
            return exact_line(printer, step, index, label, closed, in_full=in_full)
    work = _work(printer, tree, place, sizes, scalars, sums, in_full=in_full)
    if isinstance(work.shown, Number):  # a copy: nothing to work
        return WorkedLine(label, result=result)
    if not work.shortened and needs_lookup(tree):
        truth = substitute(tree, place, sizes, printer.number_in_full, printer.scalars_in_full())
        following = list(stages(work.shown, truth, printer.rounded))
        if following:
            last = following[-1].sentence
            return WorkedLine(label, chain_stages(work.shown, following), result, exact=_gives(last, result) or False)
    exact = _gives(work.summed, result)
    if exact is None:  # to 50 digits, roots can be told from any number that is printed
        value = decimal_value(
            tree,
            place,
            sizes,
            lambda name, at: printed_value(printer.number(name, at)),
            {name: printed_value(number) for name, number in scalars.items()},
        )
        printed = printed_value(result)
        exact = value.is_finite() and printed.is_finite() and abs(value - printed) < SAME
    return WorkedLine(label, work.shown, result, exact=exact)


def _work(
    printer: Printer,
    expression: Expression,
    place: Mapping[str, int],
    sizes: Mapping[str, int],
    scalars: Mapping[str, Number],
    sums: LongSums | None,
    *,
    in_full: bool,
) -> Work:
    """The sentence of a cell as it is shown, and with its sums worked as far as they are sums of decimals."""
    work = sums.work(expression, place, in_full=in_full) if sums else None
    if work is not None:
        shown, summed = (substitute(each, place, sizes, printer.number, scalars) for each in (work.shown, work.summed))
        return Work(rewrite(shown, _without_sign), summed, work.shortened)
    sentence = rewrite(substitute(expression, place, sizes, printer.number, scalars), _without_sign)
    shown = sentence if in_full else _shortened(sentence)
    return Work(shown, sentence, shown != sentence)


def _without_sign(node: Expression) -> Expression:
    """0·a for -0·a, which nobody writes."""
    match node:
        case Call("neg", (Call("mul", (Number(value=value), _)) as product,)) if value == 0:
            return product
    return node


def _gives(sentence: Expression, result: Number) -> bool | None:
    """Whether the printed numbers give exactly the result; None where roots, as in √2·√2, leave it open."""
    if isinstance(sentence, Call) and sentence.function == "share" and exact_value(sentence.arguments[1]) == 0:
        return False  # a sum that is printed as 0 without being 0 divides nothing
    truth = exact_value(sentence)
    if truth is not None or needs_lookup(sentence):
        return truth is not None and bool(truth == result.value)
    return None


def worked(printer: Printer, step: Step, detail: str) -> Worked:
    """The worked lines of a step: one for each row ("rows"), or one for every cell ("cells")."""
    if step.rule.given or step.rule.is_copy:
        return Worked(())
    every = detail == "cells" or lists_closed_forms(printer, step)
    along = len(step.shape) > 1 and step.rule.axis_names[-1] != "query"  # a row has more than one cell
    rows = list(product(*map(range, step.shape[:-1] if along else step.shape)))
    columns = range(step.shape[-1]) if along else ()

    def places() -> Iterator[tuple[int, ...]]:
        for row in printer.elide(rows):
            if along and every:
                yield from ((*row, column) for column in printer.elide(columns))
            else:
                yield _representative(printer.trace, step, row) if along else row

    def lines() -> Iterator[WorkedLine]:
        sums = LongSums(printer, printer.trace.sizes(step.rule.equation))
        for place in places():
            yield from cell_lines(printer, step, place, in_full=detail == "cells", sums=sums)

    left = printer.left_out(row=len(rows), column=len(columns) if every else 0)
    return Worked(sequence(lines, lazy=printer.is_large), left)


def lists_closed_forms(printer: Printer, step: Step) -> bool:
    """Whether every cell has a line of its own, since a matrix of its closed forms would be too wide."""
    if step.exact is None:
        return False
    from attncli.page.exact import need_lines

    return need_lines(printer, step)


def cell_lines(
    printer: Printer, step: Step, index: tuple[int, ...], *, in_full: bool = True, sums: LongSums | None = None
) -> tuple[WorkedLine, ...]:
    """One cell worked out on a line; where it adds up several sums, each on a line, and then what they add up to."""
    place = dict(zip(step.rule.target.letters, index, strict=True))
    sizes = sums.sizes if sums else printer.trace.sizes(step.rule.equation)
    parts = () if step.exact is not None else _partial_sums(printer, step.rule.equation.expression, place, sizes)
    if not parts:
        return (worked_line(printer, step, index, in_full=in_full, sums=sums),)
    label, found = cell_label(step, index), []
    for part in parts:
        work = _work(printer, part.expression, part.place, sizes, printer.scalars(), sums, in_full=in_full)
        truth = substitute(part.expression, part.place, sizes, printer.number_in_full, printer.scalars_in_full())
        result = printer.rounded(float(decimal_value(truth, {}, {}, _no_array, {})))
        exact = _gives(work.summed, result) or False
        found.append(WorkedLine(f"{label} through {part.through}", work.shown, result, exact=exact))
    total, result = Call("add", tuple(line.result for line in found if line.result)), printer.number(step.name, index)
    return (*found, WorkedLine(f"{label} in all", total, result, exact=_gives(total, result) or False))


def rotated_pair(printer: Printer, step: Step, index: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
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


def _representative(trace: Trace, step: Step, row: tuple[int, ...]) -> tuple[int, ...]:
    """The cell that stands for its row: where the query looks most, so that one thread runs through all steps."""
    if len(row) == len(step.shape):
        return row
    if step.rule.axis_names[-2:] != ("query", "key"):
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
    value = exact_value(term)
    return inf if value is None else abs(value)


@dataclass(frozen=True, slots=True)
class Stage:
    """A line once more with some of its parts as numbers; `exact` where those are all that they stand for."""

    sentence: Expression
    exact: bool


def needs_lookup(expression: Expression) -> bool:
    """Whether there is such a function in it, whose values are hardly ever rational."""
    return any(isinstance(node, Call) and node.function in STAGED for node in walk(expression))


def stages(sentence: Expression, truth: Expression, number: Print) -> Iterator[Stage]:
    """The stages after a sentence of printed numbers; none where it calls no such function inside another one.

    `truth` is the same sentence with numbers in full, of which what is inside is worked out.
    """
    worker = _Worker(number)
    while not (isinstance(sentence, Call) and _is_ready(sentence)):
        worker.exact = True
        next_sentence, truth = worker.step(sentence, truth)
        if next_sentence == sentence:
            return
        sentence = next_sentence
        yield Stage(sentence, worker.exact)


def chain_stages(sentence: Expression, following: list[Stage]) -> Expression:
    """Sentence = stage ≈ stage, as one expression."""
    for stage in following:
        sentence = Call("comes_to" if stage.exact else "comes_near", (sentence, stage.sentence))
    return sentence


def has_inexact_stage(worked: Expression | None) -> bool:
    """Whether one of the stages is only near the one before it."""
    match worked:
        case Call(function="comes_to" | "comes_near" as relation, arguments=(before, _)):
            return relation == "comes_near" or has_inexact_stage(before)
    return False


@dataclass(slots=True)
class _Worker:
    number: Print
    exact: bool = True

    def step(self, node: Expression, truth: Expression) -> tuple[Expression, Expression]:
        """One stage further: arguments that are not numbers become so, and else the function of them does."""
        if not isinstance(node, Call) or not isinstance(truth, Call):
            return node, truth
        if node.function not in STAGED:
            pairs = [self.step(one, true) for one, true in zip(node.arguments, truth.arguments, strict=True)]
        elif _is_ready(node):
            return self.worked(node, truth)
        else:
            pairs = [self.worked(one, true) for one, true in zip(node.arguments, truth.arguments, strict=True)]
        first, second = zip(*pairs, strict=True)
        return Call(node.function, first), Call(node.function, second)

    def worked(self, node: Expression, truth: Expression) -> tuple[Expression, Expression]:
        """The number that comes of a node, printed and in full."""
        if isinstance(node, Number):
            return node, truth
        value = decimal_value(truth, {}, {}, _no_array, {})
        shown = self.number(float(value))
        self.exact &= exact_value(node) is not None and bool(exact_value(node) == shown.value)
        return shown, Number(None, str(value))


def _is_ready(node: Call) -> bool:
    """Whether nothing is left to do but to look the function up."""
    return node.function in STAGED and all(isinstance(argument, Number) for argument in node.arguments)


def _no_array(name: str, index: tuple[int, ...]) -> Decimal:
    """In the place of arrays, for a sentence that holds numbers only."""
    raise LookupError(f"{name}{list(index)} is still in a sentence that should hold numbers only")


@dataclass(frozen=True, slots=True)
class PartialSum:
    """One of the sums: what it comes through, and its expression at a place."""

    through: str
    expression: Expression
    place: Mapping[str, int]


def _partial_sums(
    printer: Printer, expression: Expression, place: Mapping[str, int], sizes: Mapping[str, int]
) -> list[PartialSum]:
    """The sums that a cell adds up; none where it is a single sum, or adds up anything else."""
    match expression:
        case Reduce(function="add", index=index, body=Reduce() as body) if index in (*LEADING, GROUP_MEMBER):
            inside = ({**place, index: at} for at in range(sizes[index]))
            return [PartialSum(_label(printer, body, index, at), body, at) for at in inside]
    sums = [(each, _gradient_symbol(each)) for each in _summands(expression)]
    named = len(sums) > 1 and all(name for _, name in sums)
    return [PartialSum(name, each, place) for each, name in sums] if named else []


def _summands(expression: Expression) -> Iterator[Expression]:
    match expression:
        case Reduce(function="add"):
            yield expression
        case Call(function="add", arguments=arguments):
            found = [list(_summands(argument)) for argument in arguments]
            if all(found):
                yield from (each for part in found for each in part)


def _gradient_symbol(part: Expression) -> str:
    """What a sum comes through: Q where it reads the gradient of Q; nothing where it reads none."""
    steps = (STEP_OF_GRADIENT[name] for name in names_used(part) if name in STEP_OF_GRADIENT)
    return next((unicode_name(RULES[name].symbol) for name in steps), "")


def _label(printer: Printer, body: Expression, letter: str, place: Mapping[str, int]) -> str:
    """What the place is called on the axis that the letter runs through: head 2."""
    cells = (node for node in walk(body) if isinstance(node, Ref) and node.name in printer.trace)
    read = ((cell.name, axis, index) for cell in cells for axis, index in enumerate(cell.indices))
    name, axis, index = next(found for found in read if letter in letters(found[2], (letter,)))
    return printer.trace.steps[name].labels[axis][position(index, place, printer.scalars())]


def _visibility(printer: Printer, tree: Call, place: dict[str, int]) -> Text:
    """Why a key is visible or hidden: every condition of the mask with its numbers put in."""
    condition, visible, hidden = tree.arguments
    parts = condition.arguments if isinstance(condition, Call) and condition.function == "and_" else (condition,)
    said: list[str | Math] = []
    seen = True
    for part in parts:
        numbers = substitute(part, place, {}, printer.number, printer.scalars())
        holds = bool(exact_value(numbers))
        seen &= holds
        said += [*_fact(printer.with_settings(part), numbers, place, holds), ", "]
    value = substitute(visible if seen else hidden, place, {}, printer.number, printer.scalars())
    return (*said, "so " if seen else "so hidden: ", Math(value))


def _fact(condition: Expression, numbers: Expression, place: dict[str, int], holds: bool) -> Text:
    """A condition on positions with its verdict; of a matrix, just what stands in its cell."""
    match condition, numbers:
        case Call(arguments=(Ref(name=name, indices=indices), _)), Call(arguments=(found, _)):
            return Math(Ref(name, tuple(str(position(index, place, {})) for index in indices))), " = ", Math(found)
    return Math(condition), ": ", Math(numbers), " holds" if holds else " does not hold"
