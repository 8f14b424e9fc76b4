"""A comparison for programs; `comparison.schema.json` describes it."""

from __future__ import annotations

from typing import Any

from attncli.comparison.known_mistakes import Explanation
from attncli.comparison.moved_weights import KeyChange, MovedWeights, moved_weights
from attncli.page.comparison import step_data
from attncli.tracing.comparison import Comparison, Operand
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__


def comparison_data(comparison: Comparison, explained: Explanation | None) -> dict[str, Any]:
    """The comparison as data: both sides, all steps with their differences, the weights that moved.

    `explained` are the known mistakes that give the numbers of one side, if there are any.
    """
    first = comparison.first
    return {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "tolerance": comparison.tolerance,
        "same": first is None,
        "first_difference": None if first is None else {"step": first.name, **step_data(first)},
        "explanation": None if explained is None else _explanation(comparison, explained),
        "settings": {
            name: {"a": _plain(ours), "b": _plain(theirs)}
            for name, (ours, theirs) in comparison.settings.items()
        },
        "steps": {step.name: step_data(step) for step in comparison.steps},
        "moved": [_moved(comparison, move) for move in moved_weights(comparison)],
    }


def _side(side: Operand) -> dict[str, Any]:
    return {
        "name": side.name,
        "kind": "problem" if side.trace else "dump",
        "dtype": side.dtype.name,
        "title": side.trace.title if side.trace else "",
        "rows": None if side.rows is None else list(side.rows),
        "read_as": dict(side.read_as),
        "sees_no_key": side.sees_no_key,
    }


def _explanation(comparison: Comparison, explained: Explanation) -> dict[str, Any]:
    side = "a" if explained.side is comparison.a else "b"
    return {
        "side": side,
        "step": explained.step,
        "mistakes": list(explained.mistakes),
        "shared": list(explained.shared),
        "sees_no_key": explained.blind_labels,
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _moved(comparison: Comparison, move: MovedWeights) -> dict[str, Any]:
    keys = comparison["weights"].labels[-1]
    labels = comparison["weights"].labels[:-1]

    def shifts(named: tuple[KeyChange, ...]) -> list[dict[str, Any]]:
        data = []
        for shift in named:
            label = keys[shift.key]
            data.append({"key": shift.key, "label": label, "amount": shift.amount})
        return data

    def others(keys_and_amount: tuple[int, float]) -> dict[str, Any]:
        number, amount = keys_and_amount
        return {"keys": number, "amount": amount}

    before, after = move.sums
    return {
        "row": list(move.row),
        "labels": [names[at] for names, at in zip(labels, move.row, strict=True)],
        "amount": move.amount,
        "from": shifts(move.lost),
        "others_from": others(move.others_lost),
        "to": shifts(move.gained),
        "others_to": others(move.others_gained),
        "sums": {"a": before, "b": after},
    }
