"""The JSON Schema of a problem file, made from the table of keys; editors read draft-07."""

from __future__ import annotations

from typing import Any

from attncli.problem.keys import CORNERS, KEYS, MASK_WORDS, SCALE_WORDS, SCORES, Kind
from attncli.problem.numbers import MINUS_INFINITY

Schema = dict[str, Any]

_EXACT = {
    "type": "string",
    "pattern": r"/|sqrt\(",
    "description": 'An exact number, such as "1/3", "-2/5" or "sqrt(2)".',
}
_NUMBER: Schema = {"anyOf": [{"type": "number"}, _EXACT]}
_MINUS_INFINITY: Schema = {"enum": list(MINUS_INFINITY), "description": "Hides a key."}
_FILE = {
    "type": "object",
    "description": "An array in a file beside this one.",
    "properties": {
        "file": {"type": "string", "minLength": 1, "description": "A .npy or .npz file."},
        "name": {"type": "string", "minLength": 1, "description": "Which array of a .npz file."},
    },
    "required": ["file"],
    "additionalProperties": False,
}
_RANDOM = {
    "type": "object",
    "description": "Numbers drawn evenly from low up to high; the same seed gives the same numbers.",
    "properties": {
        "random": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1},
        "seed": {"type": "integer", "minimum": 0, "default": 0},
        "low": {**_NUMBER, "default": 0},
        "high": {**_NUMBER, "default": 1},
    },
    "required": ["random"],
    "additionalProperties": False,
}


def _list(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, "minItems": 1, **more}


def _rows(cell: Schema) -> Schema:
    """A matrix, or one within leading axes of length 1."""
    batch = {"minItems": 1, "maxItems": 1}
    matrix = _list(_list(cell))
    return {"anyOf": [matrix, {**_list(matrix), **batch}, {**_list({**_list(matrix), **batch}), **batch}]}


_TRUTH: Schema = {"enum": [True, False, 0, 1]}
_ADDED: Schema = {"anyOf": [{"type": "number"}, _EXACT, _MINUS_INFINITY]}
_TRUTHS = {"anyOf": [_rows(_TRUTH), _FILE]}
_FORMS = {
    "causal": {"type": "boolean", "description": "Key j is visible to query i if j <= i + offset."},
    "corner": {
        "enum": list(CORNERS),
        "description": "The offset of causal and window: 0 (the default), or keys that exist minus queries.",
    },
    "padding": {
        "anyOf": [_list(_TRUTH), _list(_list(_TRUTH), maxItems=1), _FILE],
        "description": "Which keys exist: 1 is real, 0 is padding.",
    },
    "lengths": {
        "anyOf": [{"type": "integer", "minimum": 0}, _list({"type": "integer", "minimum": 0}, maxItems=1)],
        "description": "How many keys exist, counted from the left.",
    },
    "window": {
        "type": "array",
        "items": {"type": "integer", "minimum": -1},
        "minItems": 2,
        "maxItems": 2,
        "description": "How far to the left and right a query sees; -1 is unbounded.",
    },
    "keep": {**_TRUTHS, "description": "n × m; true or 1: may attend."},
    "hide": {**_TRUTHS, "description": "n × m; true or 1: is hidden."},
    "additive": {
        "anyOf": [_rows(_ADDED), _FILE, _RANDOM],
        "description": "n × m; added to the scaled scores, -inf hides.",
    },
}
_FORM = {
    "type": "object",
    "properties": _FORMS,
    "additionalProperties": False,
    "minProperties": 1,
    "dependencies": {"corner": {"anyOf": [{"required": ["causal"]}, {"required": ["window"]}]}},
}
_BARE = {
    "anyOf": [_rows({"type": "boolean"}), {**_rows(_ADDED), "not": _rows({"enum": [0, 1]})}],
    "description": "n × m: true may attend; numbers (not only 0 and 1) are added to the scaled scores.",
}
_WORD = {"enum": list(MASK_WORDS)}
_ONE_MASK = [_WORD, _BARE, _FILE, _FORM]
_TEXT: Schema = {"type": ["string", "number", "boolean"], "minLength": 1}

_OF_KIND: dict[Kind, Schema] = {
    "text": _TEXT,
    "labels": {"type": "array", "items": {**_TEXT, "type": [*_TEXT["type"], "null"]}},
    "matrix": {"anyOf": [_rows(_NUMBER), _FILE, _RANDOM]},
    "vector": {"anyOf": [_list(_NUMBER), _FILE, _RANDOM]},
    "score": {"enum": list(SCORES)},
    "scale": {"anyOf": [{"enum": list(SCALE_WORDS)}, *_NUMBER["anyOf"]]},
    "positive": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, _EXACT]},
    "base": {"anyOf": [{"const": "e"}, {"type": "number", "exclusiveMinimum": 1}, _EXACT]},
    "mask": {"anyOf": [*_ONE_MASK, _list({"anyOf": _ONE_MASK}, contains={"not": {"type": "array"}})]},
    "one": {"const": 1},
}


def problem_schema() -> Schema:
    """The schema of a problem file (JSON Schema draft-07)."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A problem for attncli",
        "description": "Scaled dot-product attention, one head: X and projections, or Q, K and V themselves.",
        "type": "object",
        "properties": {name: {**_OF_KIND[key.kind], "description": key.description} for name, key in KEYS.items()},
        "additionalProperties": False,
    }
