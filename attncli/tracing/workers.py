"""How numbers are worked out: what a worker does, and the one that works in floating point.

Those that work cell by cell, in decimals or exactly, are in `cell_workers.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from attncli.backend import Backend, Host
from attncli.dtypes import Dtype
from attncli.equation.evaluator import Array, evaluate
from attncli.equation.rule import Rule
from attncli.equation.shapes import index_sizes
from attncli.problem.matrix import Matrix, Scalar, read_only
from attncli.tracing.model import Parameters


class Worked(NamedTuple):
    """The numbers of a step in host memory; each as it is written, and its closed form, where there
    are such.
    """

    value: Host
    written: Host | None = None
    exact: Host | None = None


class Worker(Protocol):
    """Works out the steps of one trace, in order."""

    def give(self, name: str, matrix: Matrix) -> Worked:
        """Take in the numbers of a step that is given."""
        ...

    def work(self, rule: Rule) -> Worked:
        """Work out a step from the steps before it."""
        ...


@dataclass(frozen=True, slots=True)
class FloatWorker:
    """Evaluates each equation on whole arrays of a backend, and rounds every result to the dtype.

    `sizes` says how far the indices run that no array on the right of an equation tells; `arrays`
    are those of the steps so far, and of parameters that were read.
    """

    backend: Backend
    dtype: Dtype
    parameters: Parameters
    sizes: Mapping[str, int]
    arrays: dict[str, Array] = field(default_factory=dict)
    texts: dict[str, Host] = field(default_factory=dict)

    def give(self, name: str, matrix: Matrix) -> Worked:
        """The numbers as given, rounded to the dtype."""
        self.arrays[name] = self.backend.asarray(matrix.value, self.dtype)
        written = None
        if self._shows_texts:
            written = matrix.written
        if written is not None:
            self.texts[name] = written
        value = self.backend.to_host(self.arrays[name])
        return Worked(value, written)

    def work(self, rule: Rule) -> Worked:
        """The value of a step, which no format but float64 shows as it was written."""
        arrays = {}
        shapes = {}
        for name in rule.inputs:
            if self._is_array(name):
                arrays[name] = self.array(name)
                shapes[name] = tuple(arrays[name].shape)
        sizes = index_sizes(rule.equation, shapes, {**self.sizes, **dict(rule.lengths)})
        exact = evaluate(
            rule.equation,
            arrays=arrays,
            scalars=self.scalars,
            sizes=sizes,
            xp=self.backend.xp,
            dtype=self.backend.computed(self.dtype),
        )
        value = self.backend.round(exact, self.dtype)
        self.arrays[rule.name] = value
        written = None
        if self._shows_texts:
            written = copied_texts(rule, self.texts, self.parameters, self.sizes)
        return Worked(self.backend.to_host(value), written)

    def array(self, name: str) -> Array:
        """The array of a step or of a parameter, on the backend."""
        if name not in self.arrays:
            given = self.parameters[name]
            value = np.asarray(given.value)
            self.arrays[name] = self.backend.asarray(value, self.dtype)
        return self.arrays[name]

    @property
    def scalars(self) -> dict[str, float]:
        """The numbers that equations read by name."""
        numbers = {
            name: given.value
            for name, given in self.parameters.items()
            if isinstance(given, Scalar)
        }
        return numbers | {"inf": float("inf")}

    def _is_array(self, name: str) -> bool:
        return name in self.arrays or isinstance(self.parameters.get(name), Matrix)

    @property
    def _shows_texts(self) -> bool:
        """Whether numbers show as they were written: other formats have rounded them."""
        return self.dtype.name == "float64"


def copied_texts(
    rule: Rule, texts: dict[str, Host], parameters: Parameters, sizes: Mapping[str, int]
) -> Host | None:
    """How each number of a step was written, where the step only copies such numbers; None for any
    other step.

    `texts` has those of the steps before it, and takes up what is found.
    """
    if not rule.is_copy:
        return None
    read: dict[str, Host] = {}
    for name in rule.inputs:
        text = texts.get(name)
        given = parameters.get(name)
        if name not in texts and isinstance(given, Matrix):
            text = given.written
        if text is None:
            return None
        read[name] = text
    scalars = {
        name: number.value for name, number in parameters.items() if isinstance(number, Scalar)
    }
    shapes = {name: array.shape for name, array in read.items()}
    copied = evaluate(
        rule.equation,
        arrays=read,
        scalars=scalars,
        sizes=index_sizes(rule.equation, shapes, {**sizes, **dict(rule.lengths)}),
        xp=np,
        dtype=np.dtype(object),
    )
    texts[rule.name] = read_only(copied)
    return texts[rule.name]
