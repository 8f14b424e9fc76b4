"""How much work a problem is by hand: how many terms its products have that are not zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.equation.nodes import Call, Equation, Reduce, Ref
from attncli.problem.parts.axes import BATCH
from attncli.tracing.model import Trace

Terms = Mapping[str, NDArray[np.int64]]


def terms_of_products(trace: Trace) -> Terms:
    """Of each step that is a product, in each entry of a batch, the terms that are not zero.

    Those of S[i, j] = Σ_k Q[i, k]·Kᵀ[k, j] are as many as there are i, j and k of which neither
    Q[i, k] nor Kᵀ[k, j] is 0.
    """
    found = {}
    for step in trace.computed():
        match step.rule.equation:
            case Equation(target, Reduce("add", _, Call("mul", (Ref() as left, Ref() as right)))):
                if BATCH in target.letters:
                    found[step.name] = _terms(trace, left, right)
            case _:
                pass
    return found


def _terms(trace: Trace, left: Ref, right: Ref) -> NDArray[np.int64]:
    letters = dict.fromkeys((BATCH, *left.letters, *right.letters))
    axes = {letter: number for number, letter in enumerate(letters)}
    operands: list[Any] = []
    for factor in (left, right):
        operands.append((trace[factor.name] != 0).astype(np.int64))
        operands.append([axes[letter] for letter in factor.letters])
    operands.append([axes[BATCH]])
    counted: NDArray[np.int64] = np.einsum(*operands)
    return counted
