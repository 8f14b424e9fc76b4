"""The Jacobian of the softmax for one row, diag(a) - a aᵀ, and that it gives the same as the compact form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from attncli.attention.registry import in_symbols
from attncli.attention.rule import Rule
from attncli.english import count
from attncli.equation.nodes import Call, Equation, Expression, Reduce, Ref, whole
from attncli.equation.parser import parse_expression
from attncli.page.document import Block, Formula, Paragraph
from attncli.page.printer import Printer
from attncli.page.section import grid
from attncli.page.worked import worked
from attncli.problem.model import Scalar, read_only
from attncli.tracing.cell_workers import ExactWorker
from attncli.tracing.model import Step, masked_out

WIDEST = 12  # keys of a row whose Jacobian is shown unasked


def jacobian_section(printer: Printer, gradient: Step, row: int | None = None) -> Iterator[Block]:
    """The Jacobian of a row of a single head, by default the first in which more than one key has a share.

    `gradient` is that of what the softmax saw. Nothing where there is no such row, where it is too wide, or where it
    would tell what is left blank.
    """
    weights = printer.trace.steps["weights"]
    if not printer.tells(gradient) or "weights" in printer.blank:
        return
    if row is None:
        shared = [number for number, each in enumerate(weights.value) if np.count_nonzero(each) > 1]
        if not shared or weights.shape[1] > WIDEST:
            return
        row = shared[0]
    base = printer.trace.parameters.get("exp_base")
    slope = np.log(base.value) if isinstance(base, Scalar) else 1.0
    a = weights.value[row].astype(np.float64)
    cell = _times_slope(printer, _cell(f"weights[{row}, j]", f"weights[{row}, l]"))
    rule = Rule("J", "J", "Jacobian", Ref("J", ("j", "l")), cell)
    jacobian = Step(rule, read_only(slope * (np.diag(a) - np.outer(a, a))), weights.labels[1:] * 2)
    if weights.exact is not None:
        worker = ExactWorker(printer.trace.parameters, {"j": len(a), "l": len(a)}, {"weights": weights.exact})
        worked_exactly = worker.work(rule)
        jacobian = replace(jacobian, value=worked_exactly.value, exact=worked_exactly.exact)
    product = Reduce("add", "l", parse_expression(f"J[j, l] * d_weights[{row}, l]"))
    exact = None if gradient.exact is None else gradient.exact[row]
    of_row = Step(
        Rule("row", "", "", Ref("row", ("j",)), product), gradient.value[row], gradient.labels[1:], exact=exact
    )
    steps = {**printer.trace.steps, jacobian.name: jacobian, of_row.name: of_row}
    inside = replace(printer, trace=replace(printer.trace, steps=steps))

    hidden = masked_out(printer.trace.steps)
    unseen = 0 if hidden is None else int(hidden[row].sum())
    scores = count(len(a), "score") + (f", {unseen:,} of them hidden," if unseen else "")
    said = f'Take one row, that of "{weights.labels[0][row]}": its softmax turns {scores} into the weights '
    rest = ". Their derivatives are a square matrix, the Jacobian: how much each weight changes with each score."
    yield Paragraph((said, *printer.prose("`a`"), rest))
    yield _formula(printer, Ref("J"), _times_slope(printer, parse_expression("diagonal(a) - a @ transposed(a)")))
    yield _formula(printer, rule.target, _times_slope(printer, _cell("a[j]", "a[l]")))
    yield grid(inside, jacobian)
    yield worked(inside, jacobian, "rows")
    yield Paragraph(("The Jacobian times the gradient of the weights is the same row as above, worked the long way:",))
    yield _formula(printer, Ref(gradient.rule.symbol, (whole(row), "j")), product)
    yield worked(inside, of_row, "rows")


def _cell(one: str, other: str) -> Expression:
    """A cell of the Jacobian, of two weights of the row."""
    return parse_expression(f"where(j == l, {one} * (1 - {one}), -{one} * {other})")


def _times_slope(printer: Printer, expression: Expression) -> Expression:
    """The same times ln b, where the softmax takes powers of b instead of e."""
    if "exp_base" not in printer.trace.parameters:
        return expression
    return Call("mul", (parse_expression("log(exp_base)"), expression))


def _formula(printer: Printer, target: Ref, expression: Expression) -> Formula:
    return Formula(printer.formula(Equation(target, in_symbols(expression))))
