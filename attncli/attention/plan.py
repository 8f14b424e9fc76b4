"""Which rules a problem needs, in order: first up to the logits, then the softmax and the output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attncli.attention.masks import clauses, mask_rule
from attncli.attention.rule import Rule
from attncli.attention.rules import COMPUTED_RULES, GIVEN_RULES
from attncli.attention.variants import SCALED, SCORES, exponential, projection, weights
from attncli.problem.model import Matrix, Problem, Scalar
from attncli.problem.projections import input_of


@dataclass(frozen=True, slots=True)
class Plan:
    """Rules in order of work, and what their equations read besides steps.

    `logits` names the last rule: the step that the softmax will see. `parameters` are scalars (d_k,
    offset, …) and arrays of the mask (exists, keep, …).
    """

    rules: tuple[Rule, ...]
    logits: str
    parameters: Mapping[str, Scalar | Matrix]


def plan_logits(problem: Problem) -> Plan:
    """Everything up to the numbers whose softmax is taken; given arrays come first, as the contract lists them."""
    rules = [GIVEN_RULES[name] for name in problem.given if name not in "QKV"]
    rules += [_query_key_value(problem, name) for name in "QKV"]
    parameters: dict[str, Scalar | Matrix] = {"d_k": Scalar.of(_width(problem, "K"))}

    if problem.score != "additive":
        rules.append(COMPUTED_RULES["K_T"])
    rules.append(SCORES[problem.score])
    if isinstance(problem.scale, Scalar):
        rules.append(SCALED["number"])
        parameters["scale"] = problem.scale
    elif problem.scale == "default" and problem.score == "scaled_dot":
        rules.append(SCALED["default"])
    if problem.softcap is not None:
        rules.append(COMPUTED_RULES["capped"].reading({"logits": rules[-1].name}))
        parameters["softcap"] = problem.softcap
    if problem.mask.parts:
        parts = clauses(problem.mask, len(problem.tokens), len(problem.context_tokens))
        before = rules[-1].name
        rules += [mask_rule(parts), COMPUTED_RULES["masked"].reading({"logits": before})]
        for part in parts:
            parameters |= part.parameters
    if problem.exp_base is not None:
        parameters["exp_base"] = problem.exp_base
    return Plan(tuple(rules), rules[-1].name, parameters)


def plan_softmax(problem: Problem, logits: str, *, shift: bool) -> tuple[Rule, ...]:
    """The rules from the logits to the output, through the shifted scores where the shift is needed."""
    rules: list[Rule] = []
    if shift:
        rules += [COMPUTED_RULES[name].reading({"logits": logits}) for name in ("row_max", "shifted")]
    seen = "shifted" if shift else logits
    base = problem.exp_base.value if problem.exp_base else None
    rules.append(exponential(base).reading({"logits": seen}))
    rules += [
        COMPUTED_RULES["row_sum"],
        weights(base).reading({"logits": logits}),
        COMPUTED_RULES["output"],
    ]
    return tuple(rules)


def _query_key_value(problem: Problem, name: str) -> Rule:
    if name in problem.given:
        return GIVEN_RULES[name]
    return projection(name, input_of(name, problem.given), f"b_{name}" in problem.given)


def _width(problem: Problem, name: str) -> int:
    given = problem.given[name if name in problem.given else f"W_{name}"]
    return int(given.value.shape[-1])
