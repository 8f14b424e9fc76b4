"""The JSON Schema (draft-07) of a trace written as JSON, format 1."""

from __future__ import annotations

from typing import Any

from attncli.attention.indices import INDICES
from attncli.attention.registry import RULES
from attncli.dtypes import DEVICES, DTYPES, ROUNDINGS
from attncli.problem.conventions import CONVENTIONS
from attncli.problem.keys import CORNERS, PAIRINGS, SCORES

_STRINGS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_TEXT: dict[str, Any] = {"type": "string"}
_NESTED: dict[str, Any] = {"$ref": "#/definitions/nested"}
_TEXT_OR_NULL: dict[str, Any] = {"type": ["string", "null"]}


def trace_schema() -> dict[str, Any]:
    """The schema that every trace validates against."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A trace of attncli",
        "description": "Every step of one attention problem, as attncli writes it with --format json.",
        **_object(
            {
                "attncli": {
                    **_object({"version": _TEXT, "format": {"const": 1}}),
                    "description": "What wrote the trace, and in which version of this format.",
                },
                "title": _TEXT,
                "tokens": {**_STRINGS, "description": "The labels of the queries."},
                "context_tokens": {**_STRINGS, "description": "The labels of the keys and values."},
                "settings": _settings(),
                "parameters": {
                    "type": "object",
                    "description": "What equations read besides steps, such as d_k.",
                    "additionalProperties": _NESTED,
                },
                "steps": {
                    "type": "object",
                    "description": "The steps, in the order in which they are worked out.",
                    "propertyNames": {"enum": list(RULES)},
                    "additionalProperties": _step(),
                },
                "warnings": {**_STRINGS, "description": "What a reader must be told, in words."},
                "fully_masked": {
                    "type": "array",
                    "items": {
                        "anyOf": [
                            {"type": "integer", "minimum": 0},
                            {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 3},
                        ]
                    },
                    "description": "The rows, from 0, of queries that see no key; with heads [head, row], and so on.",
                },
            },
            {
                "written": {
                    "type": "object",
                    "description": "The parameters as they were given, where that says more than their values.",
                    "additionalProperties": {"type": ["string", "array"]},
                },
                "truth": {
                    "type": "object",
                    "description": "With rounding paper: the value of each step at full precision.",
                    "additionalProperties": _NESTED,
                },
                "reading": {**_STRINGS, "description": "What the weights and the output say, in words."},
                "parting": {
                    "type": "object",
                    "description": "Of a whole trace in a lower number format: how its steps differ from float64.",
                },
                "verified": {
                    "type": "object",
                    "description": "With --verify: each gradient beside central finite differences.",
                },
                "descent": {
                    "type": "object",
                    "description": "With --step-size: one step of gradient descent, the loss before and after it.",
                },
                "cell": {
                    **_object(
                        {"step": _TEXT, "index": {"type": "array", "items": {"type": "integer"}}, "label": _TEXT},
                        {"text": _TEXT},
                    ),
                    "description": "The one cell that was asked for, worked out where it is not given.",
                },
            },
        ),
        "definitions": {
            "number": {
                "anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity", "NaN"]}],
                "description": "A number; what JSON has no number for is one of three words.",
            },
            "texts": {
                "anyOf": [_TEXT, {"type": "array", "items": {"$ref": "#/definitions/texts"}}],
                "description": "Texts, as deep in lists as an array has axes.",
            },
            "nested": {
                "anyOf": [{"$ref": "#/definitions/number"}, {"type": "array", "items": _NESTED}],
                "description": "An array: numbers, as deep in lists as it has axes.",
            },
        },
    }


def _settings() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "The choices under which the trace was worked out.",
        "properties": {
            "score": {"enum": list(SCORES)},
            "scale": {"type": ["number", "null"], "description": "What the scores were multiplied by, if anything."},
            "mask": {**_STRINGS, "description": "The parts of the mask."},
            "corner": {"enum": list(CORNERS), "description": "Of a causal mask or a window, where not the top left."},
            "convention": {
                "enum": list(CONVENTIONS),
                "description": "As what the mask was read, where not as our own.",
            },
            "softcap": {"type": "number", "description": "The bound of the scores, where there is one."},
            "exp_base": {"type": "number", "description": "The base of the exponentials, where it is not e."},
            "dtype": {"enum": list(DTYPES)},
            "device": {"enum": list(DEVICES)},
            "rounding": {"enum": list(ROUNDINGS)},
            "precision": {"type": "integer", "description": "The decimals each step was rounded to, on paper."},
            "heads": {"type": "integer", "description": "How many heads there are, where they are an axis."},
            "kv_heads": {"type": "integer", "description": "Those of keys and values, where they are fewer."},
            "position": {**_STRINGS, "description": "What positions do: rope turns, alibi takes away."},
            "pairing": {"enum": list(PAIRINGS), "description": "Which features rope turns together."},
        },
        "required": ["score", "scale", "mask", "dtype", "device", "rounding"],
    }


def _step() -> dict[str, Any]:
    optional = {
        "written": {"type": ["array", "string"], "description": 'The numbers as they were given, such as "1/3".'},
        "meanings": {**_STRINGS, "description": "What the step is in each entry of a batch, where that differs."},
        "exact": {
            "$ref": "#/definitions/texts",
            "description": "With rounding exact: the closed form of each number, such as e^(5/sqrt(3)).",
        },
        "worked": {
            "type": "array",
            "items": _object({"cell": _TEXT, "text": _TEXT}),
            "description": "Cells worked out line by line, as --detail asked for.",
        },
    }
    return _object(
        {
            "title": {**_TEXT, "description": "The name of the step, for people."},
            "symbol": {**_TEXT, "description": "Its letter in formulas."},
            "equation": {**_TEXT_OR_NULL, "description": "What it computes, cell by cell; null where it is given."},
            "formula": {**_TEXT_OR_NULL, "description": "The same in matrix form, with the letters."},
            "headline": {**_TEXT_OR_NULL, "description": "The right side of the matrix form, with names of steps."},
            "inputs": {**_STRINGS, "description": "The steps that the equation reads."},
            "axes": {"type": "array", "items": {"enum": sorted({index.axis for index in INDICES.values()})}},
            "labels": {"type": "array", "items": _STRINGS, "description": "For each axis, a label for each place."},
            "shape": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "value": _NESTED,
            "meaning": {**_TEXT, "description": "What the step is."},
            "why": {**_TEXT, "description": "What the step is for."},
        },
        optional,
    )


def _object(properties: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these properties, of which only the optional ones may be missing; later versions may add some."""
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
    }
