"""A derivation for programs: the trace as data, with the lines worked and the reading in words."""

from __future__ import annotations

from typing import Any

from attncli.page.plain import plain_line
from attncli.page.printer import Printer
from attncli.page.worked import cell_label, lines, worked_line
from attncli.study.words import reading
from attncli.tracing.model import Step, Trace


def trace_data(trace: Trace, names: tuple[str, ...], printer: Printer, detail: str) -> dict[str, Any]:
    """The trace cut to the named steps, each with its worked lines at this detail; format 1."""
    data = trace.to_dict()
    data["steps"] = {name: data["steps"][name] for name in names}
    if detail != "brief":
        for name in names:
            worked = lines(printer, trace.steps[name], detail)
            if worked:
                data["steps"][name]["worked"] = [{"cell": line.label, "text": plain_line(line)} for line in worked]
    data["reading"] = list(reading(trace))
    return data


def cell_data(trace: Trace, step: Step, index: tuple[int, ...], printer: Printer) -> dict[str, Any]:
    """The trace cut to one step, and its one cell worked."""
    data = trace_data(trace, (step.name,), printer, "brief")
    data["cell"] = {"step": step.name, "index": list(index), "label": cell_label(step, index)}
    if not step.rule.given:
        data["cell"]["text"] = plain_line(worked_line(printer, step, index))
    return data
