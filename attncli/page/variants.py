"""The other forms of a step, each beside the line of a problem that asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from attncli.attention.masks import clauses, mask_rule
from attncli.attention.offset import mask_offset
from attncli.attention.rule import Rule
from attncli.attention.rules import GIVEN_RULES, RULES
from attncli.attention.variants import SCALED, SCORES, exponential, projection, weights
from attncli.problem.model import Additive, Causal, Hide, Keep, Lengths, Mask, Matrix, Padding, Window

_MASKS = {
    "causal": Mask((Causal(),)),
    "{causal: true, corner: bottom-right}": Mask((Causal(),), "bottom-right"),
    "{window: [left, right]}": Mask((Window(1, 1),)),
    "{padding: [1, 1, 0]}": Mask((Padding(((True, True, False),)),)),
    "{lengths: [2]}": Mask((Lengths((2,)),)),
    "{keep: …}, or a matrix of true and false": Mask((Keep(np.ones((2, 3), dtype=bool)),)),
    "{hide: …}": Mask((Hide(np.zeros((2, 3), dtype=bool)),)),
    "{additive: …}, or a matrix of other numbers": Mask((Additive(Matrix(np.zeros((2, 3)))),)),
}


def variants(name: str) -> Mapping[str, Rule]:
    """The rules a step may have other than its plain one, by what asks for them; empty where there are none."""
    match name:
        case "Q" | "K" | "V":
            found = {} if name == "Q" else {"with a context": projection(name, "context", False)}
            return {**found, f"with b_{name}": projection(name, "X", True), "given directly": GIVEN_RULES[name]}
        case "scores":
            return {f"score: {score}": rule for score, rule in SCORES.items() if rule != RULES[name]}
        case "scaled":
            return {"scale: a number": SCALED["number"]}
        case "exp":
            return {"exp_base: a number": exponential(2.0)}
        case "weights":
            return {"exp_base: a number": weights(2.0, False), "sink: a number, or one per head": weights(None, True)}
        case "mask":
            return dict(_masks())
    return {}


def _masks() -> Iterator[tuple[str, Rule]]:
    for form, mask in _MASKS.items():
        rule = mask_rule(clauses(mask, mask_offset(mask, 2, 3, 0)))
        yield f"mask: {form}", replace(rule, meaning=RULES["mask"].meaning)  # its own tells of these 2 × 3 cells
