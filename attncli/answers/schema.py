"""The JSON Schema of a file of answers: the steps by name or letter, and what may stand in a cell."""

from __future__ import annotations

from typing import Any

from attncli.attention.registry import RULES, STEP_NAMES

_NESTED = {"$ref": "#/definitions/cells"}


def answers_schema() -> dict[str, Any]:
    """The schema of a file of answers in YAML or JSON (JSON Schema draft-07)."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Answers to a problem for attncli",
        "description": "Some or all steps as somebody worked them out; a blank is null.",
        "type": "object",
        "properties": {
            spelled: {"allOf": [_NESTED], "description": _said(spelled, name)} for spelled, name in STEP_NAMES.items()
        },
        "additionalProperties": False,
        "minProperties": 1,
        "definitions": {
            "cells": {
                "anyOf": [{"$ref": "#/definitions/cell"}, {"type": "array", "minItems": 1, "items": _NESTED}],
                "description": "Numbers, as deep in lists as the step has axes.",
            },
            "cell": {
                "type": ["number", "string", "null"],
                "description": "The digits as written are the precision claimed. Text is an exact number, such as "
                '"7/10", "5/sqrt(3)", "e^(5/sqrt(3))" or "-inf", or one whose last zeros count: "0.70".',
            },
        },
    }


def _said(spelled: str, name: str) -> str:
    rule = RULES[name]
    axes = " × ".join(rule.axes) or ("one number" if name == "loss" else "one for each head")
    return f"{rule.title}: {axes}." if spelled == name else f"{rule.title}: another name for {name}."
