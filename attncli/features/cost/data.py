"""A cost for programs: every count an exact whole number, every growth a formula in ASCII."""

from __future__ import annotations

from typing import Any

from attncli import __version__
from attncli.equation.nodes import Expression
from attncli.equation.notation import PLAIN
from attncli.equation.printer import write
from attncli.features.cost.model import Cost, StepCost
from attncli.tracing.serialization import FORMAT


def cost_data(cost: Cost) -> dict[str, Any]:
    """The sizes, every step's counts and bytes, and their sums; format 1."""
    return {
        "attncli": {"version": __version__, "format": FORMAT},
        "title": cost.title,
        "sizes": {"heads": cost.heads, **cost.sizes, "layers": cost.layers},
        "dtype": cost.dtype.name,
        "bytes_per_number": cost.dtype.size,
        "steps": {step.rule.name: _step(cost, step) for step in cost.steps},
        "operations": cost.operations,
        "operations_of_projections": cost.projections,
        "operations_of_attention": cost.operations - cost.projections,
        "bytes": cost.bytes(),
        "bytes_cached": cost.bytes_cached,
        "bytes_cached_per_token": cost.bytes_cached_per_token,
        "crossover": cost.crossover,
    }


def _step(cost: Cost, step: StepCost) -> dict[str, Any]:
    return {
        "title": step.rule.title,
        "equation": step.rule.source,
        "shape": list(step.shape),
        "one_layer": {kind.replace(" ", "_"): count for kind, count in step.kinds.items()},
        "operations": step.operations,
        "operations_grow": _formula(step.operations_grow),
        "bytes": step.numbers * cost.dtype.size,
        "bytes_grow": _formula(step.bytes_grow),
    }


def _formula(growth: Expression | None) -> str | None:
    return None if growth is None else write(growth, PLAIN)
