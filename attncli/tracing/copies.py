"""How the numbers of a step were written by whoever gave them, also where the step only copies what was given."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attncli.attention.plan import Plan
from attncli.attention.rule import Rule
from attncli.backend import Host
from attncli.equation.evaluator import evaluate
from attncli.equation.shapes import index_sizes
from attncli.problem.model import Matrix, Scalar, read_only
from attncli.tracing.model import Step


def written_as_given(rule: Rule, given: Matrix | None, plan: Plan, steps: Mapping[str, Step]) -> Host | None:
    """Each number's text ("1/3"), in the shape of the step; None where some of it was computed or not written out.

    `given` holds the numbers of a step that is not computed.
    """
    if given is not None:
        return given.written
    if not rule.copies:
        return None
    texts = {name: (steps[name] if name in steps else plan.parameters[name]).written for name in rule.inputs}
    arrays = {name: text for name, text in texts.items() if isinstance(text, np.ndarray)}
    if len(arrays) < len(texts):
        return None
    sizes = index_sizes(rule.equation, {name: array.shape for name, array in arrays.items()})
    scalars = {name: number.value for name, number in plan.parameters.items() if isinstance(number, Scalar)}
    copied = evaluate(
        rule.equation, arrays=arrays, scalars=scalars, sizes={**sizes, **plan.sizes}, xp=np, dtype=np.dtype(object)
    )
    return read_only(copied)
