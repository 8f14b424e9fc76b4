"""The JSON Schema (draft-07) of a comparison written as JSON, format 1."""

from __future__ import annotations

from typing import Any

from attncli.attention.registry import RULES
from attncli.dtypes import DTYPES

_TEXT: dict[str, Any] = {"type": "string"}
_TRUTH: dict[str, Any] = {"type": "boolean"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_INDEX: dict[str, Any] = {"type": "array", "items": _COUNT}
_LABELS: dict[str, Any] = {"type": "array", "items": _TEXT}
_NUMBER: dict[str, Any] = {"anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity", "NaN"]}]}


def comparison_schema() -> dict[str, Any]:
    """The schema that every comparison validates against."""
    step = {"$ref": "#/definitions/step"}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A comparison of attncli",
        "description": "Two ways to work attention out, step by step, as attncli compare writes it with --format json.",
        **_object(
            {
                "attncli": _object({"version": _TEXT, "format": {"const": 1}}),
                "a": _side("The first of the two: before, or FILE_A."),
                "b": _side("The second: after, or FILE_B."),
                "tolerance": {
                    "type": "number",
                    "description": "Cells differ where |a - b| > tolerance * (typical + max(|a|, |b|)); typical is the "
                    "root mean square of the step, or 0.01 if that is more.",
                },
                "same": {**_TRUTH, "description": "Whether no step differs; the exit code is 0 then, else 1."},
                "first_difference": {
                    "anyOf": [{"type": "null"}, {"allOf": [step, _object({"step": _TEXT})]}],
                    "description": "The first step that differs, with its name.",
                },
                "settings": {
                    "type": "object",
                    "description": "Of two problems: the settings that are not the same.",
                    "additionalProperties": _object({"a": {}, "b": {}}),
                },
                "steps": {
                    "type": "object",
                    "description": "All steps of both, in the order in which they are worked out.",
                    "propertyNames": {"enum": list(RULES)},
                    "additionalProperties": step,
                },
                "moved": {
                    "type": "array",
                    "items": _moved(),
                    "description": "The rows of weights of which a part went elsewhere, the largest part first.",
                },
            }
        ),
        "definitions": {"step": _step(), "number": _NUMBER},
    }


def _side(description: str) -> dict[str, Any]:
    kind = {"enum": ["problem", "dump"]}
    rows = {"anyOf": [{"type": "null"}, _INDEX], "description": "The queries compared, where the other side has fewer."}
    side = _object({"name": _TEXT, "kind": kind, "dtype": {"enum": list(DTYPES)}, "title": _TEXT, "rows": rows})
    return {**side, "description": description}


def _step() -> dict[str, Any]:
    shape = {"anyOf": [{"type": "null"}, _INDEX]}
    number = {"$ref": "#/definitions/number"}
    where = _object({"index": _INDEX, "labels": _LABELS, "a": number, "b": number})
    return _object(
        {
            "present": {"type": "array", "items": {"enum": ["a", "b"]}, "description": "On which sides it is."},
            "shape": {**_object({"a": shape, "b": shape}), "description": "On either side; null where it is not."},
            "differs": {**_TRUTH, "description": "Whether it is on both sides with other numbers or another shape."},
            "transposed": {**_TRUTH, "description": "Whether b is a with rows and columns exchanged."},
            "layout": {
                "enum": [None, "split", "repeated", "transposed", "exchanged", "recut", "averaged"],
                "description": "How one side is the other in another layout: split, one has its heads side by side and "
                "is compared split; repeated, one has its KV heads for all query heads, and is compared so; "
                "transposed; exchanged, heads with rows; recut, b is cut into heads by rows; averaged over the heads.",
            },
        },
        {
            "cells": {**_COUNT, "description": "How many cells; this and what follows only where shapes agree."},
            "differing": {**_COUNT, "description": "How many cells differ by more than the tolerance."},
            "max_abs": {**number, "description": "The largest |a - b| of the cells that differ, or of all if none."},
            "max_rel": {**number, "description": "The largest |a - b| / max(|a|, |b|) of the same cells."},
            "where": {**where, "description": "The cell of max_abs, with its two numbers."},
            "needed_tolerance": {**number, "description": "The smallest tolerance with which no cell differs."},
            "factor": {
                "anyOf": [{"type": "null"}, number],
                "description": "c where every cell of b is c times that of a, and c is not 1.",
            },
            "hidden_both_ways": {
                **_COUNT,
                "description": "Cells of a mask that are -inf on one side, -1e4 or less on the other: no difference.",
            },
        },
    )


def _moved() -> dict[str, Any]:
    share = {"type": "number", "description": "A share of all attention of the row, from 0 to 1."}
    shift = _object({"key": _COUNT, "label": _TEXT, "amount": share})
    shifts = {"type": "array", "items": shift, "description": "The keys of the largest changes."}
    others = {**_object({"keys": _COUNT, "amount": share}), "description": "All other keys together."}
    return _object(
        {
            "row": {**_INDEX, "description": "The query, after batch and head where there are any."},
            "labels": _LABELS,
            "amount": {**share, "description": "How much of the row went elsewhere."},
            "from": shifts,
            "others_from": others,
            "to": shifts,
            "others_to": others,
            "sums": _object({"a": {"type": "number"}, "b": {"type": "number"}}),
        }
    )


def _object(properties: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these properties, of which only the optional ones may be missing; later versions may add some."""
    return {"type": "object", "properties": {**properties, **(optional or {})}, "required": list(properties)}
