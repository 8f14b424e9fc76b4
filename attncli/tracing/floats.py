"""Work steps out in floating point, on any array namespace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attncli.attention.rule import Rule
from attncli.backend import Backend, Host
from attncli.dtypes import Dtype
from attncli.equation.evaluator import Array, evaluate
from attncli.equation.shapes import index_sizes
from attncli.problem.model import Matrix, Scalar


@dataclass(frozen=True, slots=True)
class FloatWorker:
    """Evaluates each equation on whole arrays and rounds every result to the dtype.

    `sizes` says how far the indices run that no array on the right of an equation tells.
    """

    backend: Backend
    dtype: Dtype
    parameters: Mapping[str, Scalar | Matrix]
    sizes: Mapping[str, int]
    arrays: dict[str, Array] = field(default_factory=dict)

    def give(self, name: str, matrix: Matrix) -> Host:
        """Take in a given array, rounded to the dtype."""
        self.arrays[name] = self.backend.asarray(matrix.value, self.dtype)
        return self.backend.to_host(self.arrays[name])

    def written(self, name: str) -> None:
        """Floats are written nowhere but in their value."""

    def exact(self, name: str) -> None:
        """Floats have no closed forms."""

    def work(self, rule: Rule) -> Host:
        """The value of a computed step, from the steps before it."""
        arrays = self.arrays | {
            name: self.backend.asarray(given.value, self.dtype)
            for name, given in self.parameters.items()
            if isinstance(given, Matrix) and name in rule.inputs
        }
        shapes = {name: tuple(array.shape) for name, array in arrays.items()}
        value = evaluate(
            rule.equation,
            arrays=arrays,
            scalars={name: given.value for name, given in self.parameters.items() if isinstance(given, Scalar)}
            | {"inf": float("inf")},
            sizes={**index_sizes(rule.equation, shapes), **self.sizes},
            xp=self.backend.xp,
            dtype=self.backend.computed(self.dtype),
        )
        self.arrays[rule.name] = self.backend.round(value, self.dtype)
        return self.backend.to_host(self.arrays[rule.name])
