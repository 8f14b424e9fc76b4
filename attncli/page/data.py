"""A derivation for programs: the trace as data, with the lines worked and the reading in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from attncli.page.document import Lazy, WorkedLine, plain_line
from attncli.page.in_words import attention_in_words
from attncli.page.printer import Printer, printer_for
from attncli.page.view import View, chosen_cell, chosen_steps, selected_part
from attncli.page.worked.cells import worked
from attncli.page.worked.worked_line import worked_line
from attncli.tracing.json_numbers import json_values
from attncli.tracing.model import Trace
from attncli.tracing.serialization import to_dict

if TYPE_CHECKING:
    from attncli.tracing.number_formats import FormatDeviation


# An array with more numbers is not in memory as lists.
MOST_NUMBERS_AS_LISTS = 2**12


def view_data(trace: Trace, view: View, deviation: FormatDeviation | None = None) -> dict[str, Any]:
    """The trace cut to what the view asks for, with its worked lines and its deviation from
    float64; format 1.

    Raises (exit 2) where the view asks for a step or a cell that is not there.
    """
    whole, trace = trace, selected_part(trace, view)
    printer = printer_for(trace, view)
    if view.cell is not None:
        return _cell_data(trace, whole, view.cell, printer)
    names = tuple(trace.steps)
    if view.steps is not None:
        names = chosen_steps(trace, view.steps, whole)
    data = to_dict(trace, names, number_rows)
    if "weights" in names and trace.is_plain:
        data["reading"] = list(attention_in_words(trace))
    if view.detail != "brief":
        for name in names:
            lines = worked(printer, trace.steps[name], view.detail).lines
            if lines:
                data["steps"][name]["worked"] = [_line_data(line) for line in lines]
    if deviation is not None:
        # Few pages compare, and what does takes a while to import.
        from attncli.page.number_formats import deviation_data

        data["parting"] = deviation_data(deviation)
    return data


def _line_data(line: WorkedLine) -> dict[str, str]:
    return {"cell": line.label, "text": plain_line(line)}


def number_rows(array: NDArray[Any]) -> Any:
    """An array as nested lists of plain numbers; those of a large one are made when it is their
    turn.
    """
    if array.size < MOST_NUMBERS_AS_LISTS or array.ndim < 2:
        return json_values(array)
    return Lazy(lambda: map(json_values if array.ndim == 2 else number_rows, array))


def _cell_data(trace: Trace, whole: Trace, cell: str, printer: Printer) -> dict[str, Any]:
    step, index = chosen_cell(trace, cell, whole)
    found: dict[str, Any] = {
        "step": step.name,
        "index": list(index),
        "label": step.cell_label(index),
    }
    if not step.rule.given:
        found["text"] = plain_line(worked_line(printer, step, index))
    return to_dict(trace, (step.name,)) | {
        "reading": list(attention_in_words(trace)),
        "cell": found,
    }
