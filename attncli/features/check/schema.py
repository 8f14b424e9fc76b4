"""The JSON Schema (draft-07) of the verdicts on a solution, format 1."""

from __future__ import annotations

from typing import Any

from attncli.attention.registry import RULES
from attncli.features.check.verdicts import VERDICTS


def _object(properties: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these properties, of which only the optional ones may be missing; later versions may add some."""
    return {"type": "object", "properties": {**properties, **(optional or {})}, "required": list(properties)}


_TEXT: dict[str, Any] = {"type": "string"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_INDEX: dict[str, Any] = {"type": "array", "items": _COUNT}
_NUMBER: dict[str, Any] = {"anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity", "NaN"]}]}
_STEP: dict[str, Any] = {"enum": list(RULES)}
_PLACE = _object({"step": _STEP, "index": _INDEX})
_MISTAKES: dict[str, Any] = {"type": "array", "items": _TEXT}
_DIAGNOSIS = _object(
    {
        "mistake": _TEXT,
        "step": _STEP,
        "explains": {**_TEXT, "description": "How much of its step, in words."},
        "likely": {"type": "boolean", "description": "False for a slip that chance would explain as well."},
        "cells": {"type": "array", "items": _INDEX, "description": "The wrong cells it explains."},
        "alike": {**_MISTAKES, "description": "Other mistakes that give the same numbers."},
        "rounded_to": {
            "anyOf": [{"type": "null"}, _COUNT],
            "description": "To how many decimals the steps left out have to be rounded on the way, or null.",
        },
        "there_in_full": {
            "type": "boolean",
            "description": "Whether those of the way there are rounded only after they have been worked out in full.",
        },
        "equations": {"type": "array", "items": _TEXT, "description": "The steps as the mistake has them."},
    }
)


def verdict_schema() -> dict[str, Any]:
    """The schema that the verdicts on every solution validate against."""
    cells = {"$ref": "#/definitions/cells"}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Verdicts of attncli on a solution",
        "description": "Every cell of a solution judged, as attncli check writes it with --format json.",
        **_object(
            {
                "attncli": _object({"version": _TEXT, "format": {"const": 1}}),
                "title": _TEXT,
                "steps": {
                    "type": "object",
                    "description": "The steps that were answered, in the order of work.",
                    "propertyNames": _STEP,
                    "additionalProperties": _object({"cells": cells}),
                },
                "first_wrong": {
                    "anyOf": [
                        {"type": "null"},
                        _PLACE,
                    ],
                    "description": "The first cell in which an error was made, in the order of work.",
                },
                "counts": {
                    **_object(dict.fromkeys(VERDICTS, _COUNT)),
                    "description": "How many cells have each verdict.",
                },
                "carried_by_rounding": {
                    "type": "array",
                    "items": _PLACE,
                    "description": "Carried cells that the numbers before them do not give exactly as they stand.",
                },
                "diagnoses": {
                    "type": "array",
                    "items": _DIAGNOSIS,
                    "description": "Known mistakes that reproduce what was written.",
                },
                "passed": {"type": "boolean", "description": "Whether the exit code is 0; else it is 1."},
            },
            {
                "marks": {
                    **_object({name: {"type": "number", "minimum": 0} for name in ("of", "right", "follow_through")}),
                    "description": "With --marks: of how many, for what is right, and with what is carried.",
                }
            },
        ),
        "definitions": {
            "cells": {
                "anyOf": [{"$ref": "#/definitions/cell"}, {"type": "array", "items": cells}],
                "description": "Verdicts, as deep in lists as the step has axes.",
            },
            "cell": _object(
                {
                    "verdict": {"enum": list(VERDICTS)},
                    "given": {"anyOf": [{"type": "null"}, *_NUMBER["anyOf"]], "description": "As written, or null."},
                    "expected": {**_NUMBER, "description": "The true value."},
                    "own": {**_NUMBER, "description": "What the solution's own earlier numbers come to."},
                }
            ),
        },
    }
