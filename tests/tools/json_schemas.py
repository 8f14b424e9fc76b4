"""A JSON Schema without its definitions: each reference is replaced by what it refers to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEFINITIONS = "#/definitions/"


def expanded(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema with every definition written out where it is used.

    Draft-07 ignores words beside a `$ref`, so a description stands beside an `allOf` of one:

    >>> count = {"allOf": [{"$ref": "#/definitions/n"}], "description": "How many."}
    >>> expanded({**count, "definitions": {"n": {"minimum": 1}}})
    {'minimum': 1, 'description': 'How many.'}
    """
    found: dict[str, Any] = _expanded(schema, schema.get("definitions", {}))
    return found


def _expanded(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_expanded(item, definitions) for item in node]
    if not isinstance(node, Mapping):
        return node
    if "$ref" in node:
        return _expanded(definitions[node["$ref"].removeprefix(DEFINITIONS)], definitions)
    if _is_a_described_reference(node):
        [reference] = node["allOf"]
        beside = {key: value for key, value in node.items() if key != "allOf"}
        return {**_expanded(reference, definitions), **_expanded(beside, definitions)}
    return {
        key: _expanded(value, definitions) for key, value in node.items() if key != "definitions"
    }


def _is_a_described_reference(node: Mapping[str, Any]) -> bool:
    parts = node.get("allOf", [])
    return len(parts) == 1 and list(parts[0]) == ["$ref"]
