"""A comparison for programs; `comparison.schema.json` describes it."""

from __future__ import annotations

from typing import Any

from attncli import __version__
from attncli.features.compare.comparison import Comparison
from attncli.features.compare.dump import Dump
from attncli.features.compare.moved import Moved, Shift
from attncli.features.compare.operand import Side
from attncli.features.compare.step import StepComparison
from attncli.tracing.json_numbers import json_float
from attncli.tracing.serialization import FORMAT


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """Both sides, all steps with their differences, the first difference, and the weights that moved; format 1."""
    first = comparison.first
    return {
        "attncli": {"version": __version__, "format": FORMAT},
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "tolerance": comparison.tolerance,
        "same": first is None,
        "first_difference": None if first is None else {"step": first.name, **step_data(first)},
        "settings": {
            name: {"a": _plain(ours), "b": _plain(theirs)} for name, (ours, theirs) in comparison.settings.items()
        },
        "steps": {step.name: step_data(step) for step in comparison.steps},
        "moved": [_moved(comparison, move) for move in comparison.moved],
    }


def step_data(step: StepComparison) -> dict[str, Any]:
    """One step: where it is, and if it has one shape on both sides, how far the two are apart."""
    a, b = step.shapes
    data: dict[str, Any] = {
        "present": [side for side, shape in (("a", a), ("b", b)) if shape is not None],
        "shape": {"a": None if a is None else list(a), "b": None if b is None else list(b)},
        "differs": step.differs,
    }
    data |= {"transposed": step.transposed, "layout": step.layout}
    found = step.difference
    if found is None:
        return data
    return data | {
        "cells": found.cells,
        "differing": found.differing,
        "max_abs": json_float(found.absolute),
        "max_rel": json_float(found.relative),
        "where": {
            "index": list(found.where),
            "labels": [names[at] for names, at in zip(step.labels, found.where, strict=True)],
            "a": json_float(found.a),
            "b": json_float(found.b),
        },
        "needed_tolerance": json_float(found.needed),
        "factor": None if step.factor is None else json_float(step.factor),
        "hidden_both_ways": found.hidden,
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "kind": "dump" if isinstance(side.source, Dump) else "problem",
        "dtype": side.dtype.name,
        "title": side.trace.title if side.trace else "",
        "rows": None if side.rows is None else list(side.rows),
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _moved(comparison: Comparison, move: Moved) -> dict[str, Any]:
    keys = comparison["weights"].labels[-1]
    labels = comparison["weights"].labels[:-1]

    def shifts(named: tuple[Shift, ...]) -> list[dict[str, Any]]:
        return [{"key": shift.key, "label": keys[shift.key], "amount": shift.amount} for shift in named]

    return {
        "row": list(move.row),
        "labels": [names[at] for names, at in zip(labels, move.row, strict=True)],
        "amount": move.amount,
        "from": shifts(move.lost),
        "others_from": {"keys": move.others_lost[0], "amount": move.others_lost[1]},
        "to": shifts(move.gained),
        "others_to": {"keys": move.others_gained[0], "amount": move.others_gained[1]},
        "sums": {"a": move.sums[0], "b": move.sums[1]},
    }
