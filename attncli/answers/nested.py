"""Reads the answer to one step from nested lists."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TypeAlias

import numpy as np

from attncli.answers.claims import read_claim
from attncli.answers.model import Answer, Claim, OtherShape, OtherShapes
from attncli.answers.percent import percentage
from attncli.answers.steps import StepPart, in_shape_of, shape_error
from attncli.english import count, shape_text
from attncli.problem.text.decimal_commas import comma_advice, report_doubtful_commas
from attncli.problem.text.nested_lists import read_cells
from attncli.problem.text.nodes import (
    Leaf,
    ListNode,
    MappingNode,
    Node,
    PastedList,
    describe,
    is_null,
)
from attncli.problem.text.number_forms import NumberError
from attncli.problem.text.pasted.finding import written_out
from attncli.problem.text.pasted.names import other_order
from attncli.problem.text.values import Value
from attncli.tracing.model import Step

ReadCell: TypeAlias = Callable[[Value], Claim | None]
# A help line writes out no more cells.
_MOST_WRITTEN_OUT = 12


def read_nested(
    value: Value, step: Step, others: OtherShapes = None, *, in_percent: bool = False
) -> Answer | None:
    """The answer to one step, its lists nested as in the trace; None after reporting what is wrong
    with it. What has another shape is blank, if `others` are kept. Its numbers may all be
    `in_percent`.
    """
    read_cell = _read_percentage if in_percent else _read_cell
    if is_null(value.node):
        return blank_answer(step)
    if not step.shape:
        return _read_number(value, step, read_cell)
    if not written_out(value, len(step.shape), of_answers=True, shape=step.shape):
        return None
    if isinstance(value.node, PastedList) and _reports_order(value, value.node, step):
        return None
    if not isinstance(value.node, ListNode):
        rows = "a list of rows" if len(step.shape) > 1 else "a list of numbers"
        value.wrong(
            f"must be {rows}, not {describe(value.node)}", _form(step.shape, f"{value.name}: ")
        )
        return None
    if report_doubtful_commas(value):
        return None
    # The shape of a list that was read in one go is known before all its cells are.
    if value.node.numbers is not None:
        shape = value.node.numbers.array.shape
        if in_shape_of(np.broadcast_to(np.array(None), shape), step.shape) is None:
            return _of_other_shape(value, step, shape, others)
    value.node = _with_blanks(value.node, step.shape)
    read = read_cells(value, read_cell, empty=_form(step.shape))
    if read is None:
        return None
    cells = np.empty(read[1], dtype=object)
    cells.ravel()[:] = read[0]
    answered = in_shape_of(cells, step.shape)
    if answered is None:
        return _of_other_shape(value, step, cells.shape, others)
    answered.setflags(write=False)
    return Answer(step.name, answered)


def blank_answer(step: Step) -> Answer:
    """The answer of which nothing is filled in."""
    return Answer(step.name, np.full(step.shape, None, dtype=object))


def _of_other_shape(
    value: Value, step: Step, shape: tuple[int, ...], others: OtherShapes
) -> Answer | None:
    """A blank answer in place of one that has another shape, if `others` are kept; else None after
    reporting it.
    """
    other = OtherShape(step.name, (), shape, step.shape)
    # Where these made two numbers of one, the shape is none that anybody meant.
    advice = _advice_on_commas(value)
    if others is not None and not advice:
        others.append(other)
        return blank_answer(step)
    message, help = shape_error(other, StepPart.of(step))
    value.wrong(message, advice or help)
    return None


def _reports_order(value: Value, pasted: PastedList, step: Step) -> bool:
    """Whether a pasted table has its rows or columns in another order than the problem, which is
    reported.
    """
    if len(step.shape) != 2:
        return False
    rows, columns = step.labels
    message = other_order(pasted.row_names, rows, "rows")
    message = message or other_order(pasted.column_names, columns, "columns")
    if message:
        value.wrong(message, "write them in the order of the problem")
    return bool(message)


def _advice_on_commas(value: Value) -> str:
    """The help where decimal commas made more numbers than there should be; empty elsewhere."""
    last = value.node
    while isinstance(last, ListNode) and last.items:
        last = last.items[-1]
    text = value.errors.source.text
    end = text.find("]", last.at) + 1
    return comma_advice(text, value.node.at, end).removeprefix("; ")


def _read_number(value: Value, step: Step, read_cell: ReadCell) -> Answer | None:
    """The answer to a step of one number, which may stand in brackets: 14.38, [14.38]."""
    inner = value
    while isinstance(inner.node, ListNode):
        length = len(inner.node.items)
        if length != 1:
            found = "an empty list"
            if length:
                found = f"a list of {count(length, 'entry')}"
            value.wrong(f"must be one number, not {found}", f"write {value.path}: 0.70")
            return None
        inner = inner.entry(0)
    if not isinstance(inner.node, Leaf):
        value.wrong(f"must be one number, not {describe(inner.node)}", f"write {value.path}: 0.70")
        return None
    cell = np.empty((), dtype=object)
    cell[()] = read_cell(inner)
    cell.setflags(write=False)
    return Answer(step.name, cell)


def _form(shape: tuple[int, ...], key: str = "") -> str:
    """How a step of this shape is written: all of it blank, or of a large one how many numbers it
    takes.
    """
    if prod(shape) > _MOST_WRITTEN_OUT:
        where = "each row in a list" if len(shape) > 1 else "in a list"
        return f"it takes {shape_text(shape)} numbers, {where}"
    return f"write {key}{_blanks(shape)}, with numbers in place of null"


def _blanks(shape: tuple[int, ...]) -> str:
    if not shape:
        return "null"
    first, *others = shape
    entries = [_blanks(tuple(others))] * first
    return f"[{', '.join(entries)}]"


def _with_blanks(node: Node, shape: tuple[int, ...]) -> Node:
    """The same lists, a null in the place of a whole row or matrix as one of nulls, and for each
    row that is not there yet, or cell of the last row.
    """
    if not shape:
        return node
    first, *others = shape
    if is_null(node):
        items = [node] * first
    elif isinstance(node, ListNode) and not others and node.numbers is None:
        return ListNode(node.at, [*map(_without_question_mark, node.items)])
    elif isinstance(node, ListNode) and others:
        blank_rows = _not_there(node, shape)
        items = [*node.items, *blank_rows]
    else:
        return node
    return ListNode(node.at, [_with_blanks(item, tuple(others)) for item in items])


def _without_question_mark(node: Node) -> Node:
    """A blank for ? at the end of a list, which YAML takes for a key without a value."""
    is_question = isinstance(node, MappingNode) and {*node.keys} == {""}
    return Leaf("", False, node.at) if is_question else node


def _not_there(node: ListNode, shape: tuple[int, ...]) -> list[Node]:
    """A null for each row that a solution has not come to, which may have left its last row
    unfinished: the cells that are missing there are put into it.
    """
    down, across = shape[:2]
    last = node.items[-1] if node.items else None
    if len(shape) != 2 or node.length > down or not isinstance(last, ListNode):
        return []
    # Of a matrix in a list of its own, the row is a whole matrix.
    is_begun = 0 < last.length <= across and isinstance(last.items[0], Leaf)
    if not is_begun:
        return []
    *before, _ = node.items
    # Rows of another length are those of another matrix.
    if any(isinstance(row, ListNode) and row.length != across for row in before):
        return []
    if last.length < across and (before or node.length == down == 1):
        blanks = [Leaf("", False, last.at)] * (across - last.length)
        node.items[-1] = ListNode(last.at, [*last.items, *blanks])
    elif last.length < across:
        return []
    return [Leaf("", False, node.at)] * (down - node.length)


def _read_cell(value: Value) -> Claim | None:
    """A claim, also in quotes, which keep the zeros that other programs drop: "0.70"; None for a
    blank cell, or after reporting what is no number.
    """
    return _read_text(value, value.text)


def _read_percentage(value: Value) -> Claim | None:
    """The same of a cell below a name that says its numbers are in percent."""
    return _read_text(value, percentage(value.text))


def _read_text(value: Value, text: str) -> Claim | None:
    if is_null(value.node):
        return None
    try:
        return read_claim(text)
    except NumberError as error:
        value.wrong_number(error.message, error.help)
        return None
