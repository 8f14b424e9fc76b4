"""The JSON Schema of a problem file, made from the table of keys; editors read draft-07."""

from __future__ import annotations

from typing import Any

from attncli.problem.keys import CORNERS, KEYS, LAYOUTS, MASK_WORDS, PAIRINGS, PARTS, SCALE_WORDS, SCORES, Kind
from attncli.problem.numbers import MINUS_INFINITY

Schema = dict[str, Any]

_EXACT = {
    "type": "string",
    "pattern": r"/|sqrt\(",
    "description": 'An exact number, such as "1/3", "-2/5" or "sqrt(2)".',
}
_NUMBER: Schema = {"anyOf": [{"type": "number"}, _EXACT]}
_MINUS_INFINITY: Schema = {"enum": list(MINUS_INFINITY), "description": "Hides a key."}
_INDEX: Schema = {"type": "integer", "minimum": 0}
_FILE = {
    "type": "object",
    "description": "An array in a file beside this one.",
    "properties": {
        "file": {"type": "string", "minLength": 1, "description": "A .safetensors, .npz or .npy file."},
        "name": {"type": "string", "minLength": 1, "description": "Which array, where the file holds several."},
        "index": {
            "anyOf": [_INDEX, {"type": "array", "items": _INDEX}],
            "description": "Which entry of the first axis, or of the first axes.",
        },
        "transpose": {"type": "boolean", "description": "Swaps rows and columns, as for torch.nn.Linear."},
        "part": {"enum": list(PARTS), "description": "Which part of fused queries, keys and values."},
        "layout": {
            "enum": list(LAYOUTS),
            "description": "How fused parts lie: all q, all k, all v (the default), or head by head.",
        },
    },
    "required": ["file"],
    "additionalProperties": False,
    "dependencies": {"layout": ["part"]},
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


def _rows(cell: Schema, deepest: int = 4) -> Schema:
    """A matrix, or several in lists up to so many axes deep."""
    ranks = [_list(_list(cell))]
    while len(ranks) < deepest - 1:
        ranks.append(_list(ranks[-1]))
    return {"anyOf": ranks}


def _array(cell: Schema, deepest: int) -> Schema:
    return {"anyOf": [_rows(cell, deepest), _FILE, _RANDOM]}


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
        "anyOf": [_list(_TRUTH), _list(_list(_TRUTH)), _FILE],
        "description": "Which keys exist: 1 is real, 0 is padding; or a row for each entry of the batch.",
    },
    "lengths": {
        "anyOf": [{"type": "integer", "minimum": 0}, _list({"type": "integer", "minimum": 0})],
        "description": "How many keys exist, counted from the left, one number for each entry of the batch.",
    },
    "window": {
        "type": "array",
        "items": {"type": "integer", "minimum": -1},
        "minItems": 2,
        "maxItems": 2,
        "description": "How far to the left and right a query sees; -1 is unbounded.",
    },
    "keep": {**_TRUTHS, "description": "n × m, with heads or batch × heads before them; true or 1: may attend."},
    "hide": {**_TRUTHS, "description": "n × m, with heads or batch × heads before them; true or 1: is hidden."},
    "additive": {
        "anyOf": [_rows(_ADDED), _FILE, _RANDOM],
        "description": "n × m, with heads or batch × heads before them; added to the scores, -inf hides.",
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
_VECTOR: Schema = {"anyOf": [_list(_NUMBER), _FILE, _RANDOM]}
_ROPE: Schema = {
    "type": "object",
    "properties": {
        "theta": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, _EXACT], "default": 10000},
        "pairing": {"enum": list(PAIRINGS), "default": PAIRINGS[0]},
    },
    "additionalProperties": False,
    "description": "Turns pairs of features of queries and keys by their position.",
}
_SLOPES: Schema = {"type": "object", "properties": {"slopes": _VECTOR}, "required": ["slopes"]}
_POSITION: Schema = {
    "type": "object",
    "properties": {
        "rope": {"anyOf": [{"type": "boolean"}, _ROPE]},
        "alibi": {
            "anyOf": [{"type": "boolean"}, {**_SLOPES, "additionalProperties": False}],
            "description": "Takes a slope times the distance from every score; slopes are one per head.",
        },
    },
    "additionalProperties": False,
    "minProperties": 1,
}
_CLASSES: Schema = {"anyOf": [_INDEX, _list(_INDEX), _list(_list(_INDEX))]}
_LOSS: Schema = {
    "anyOf": [
        {
            "type": "object",
            "properties": {
                "kind": {"const": "mse", "description": "The mean of the squared differences, over all numbers."},
                "target": {**_array(_NUMBER, 4), "description": "What the output should have been, in its shape."},
            },
            "required": ["kind", "target"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {
                "kind": {"const": "cross_entropy", "description": "Of rows taken as logits; the mean over all rows."},
                "targets": {
                    "anyOf": [_list(_CLASSES), _FILE],
                    "description": "For each row of the output the column of its class, counted from 0.",
                },
            },
            "required": ["kind", "targets"],
            "additionalProperties": False,
        },
    ]
}
_TEXT: Schema = {"type": ["string", "number", "boolean"], "minLength": 1}

_OF_KIND: dict[Kind, Schema] = {
    "text": _TEXT,
    "labels": {"type": "array", "items": {**_TEXT, "type": [*_TEXT["type"], "null"]}},
    "entries": _array(_NUMBER, 3),
    "heads": _array(_NUMBER, 4),
    "matrix": {"anyOf": [_rows(_NUMBER), _FILE, _RANDOM]},
    "vector": _VECTOR,
    "past": {
        "type": "object",
        "properties": {name: _array(_NUMBER, 4) for name in "KV"},
        "required": ["K", "V"],
        "additionalProperties": False,
    },
    "score": {"enum": list(SCORES)},
    "scale": {"anyOf": [{"enum": list(SCALE_WORDS)}, *_NUMBER["anyOf"]]},
    "positive": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, _EXACT]},
    "base": {"anyOf": [{"const": "e"}, {"type": "number", "exclusiveMinimum": 1}, _EXACT]},
    "mask": {"anyOf": [*_ONE_MASK, _list({"anyOf": _ONE_MASK}, contains={"not": {"type": "array"}})]},
    "position": {"anyOf": [{"const": "none"}, _POSITION]},
    "sink": {"anyOf": [*_NUMBER["anyOf"], *_VECTOR["anyOf"]]},
    "count": {"type": "integer", "minimum": 1},
    "loss": _LOSS,
}


def problem_schema() -> Schema:
    """The schema of a problem file (JSON Schema draft-07)."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A problem for attncli",
        "description": "Scaled dot-product attention: X and projections, or Q, K and V themselves.",
        "type": "object",
        "properties": {name: {**_OF_KIND[key.kind], "description": key.description} for name, key in KEYS.items()},
        "additionalProperties": False,
    }
