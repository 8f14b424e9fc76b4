"""Steps worked out cell by cell, in numbers of Python's own rather than in arrays of floats: decimal, or exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from attncli.attention.rule import Rule
from attncli.backend import Host
from attncli.equation.shapes import index_sizes
from attncli.problem.model import Matrix
from attncli.tracing.model import Parameters

Read = Callable[[str], Any]  # a number as it is written


@dataclass(frozen=True, slots=True)
class Operands:
    """What equations read, in one kind of number: arrays, those of steps and of the mask, and numbers by name."""

    arrays: Mapping[str, Host]
    scalars: Mapping[str, Any]

    def cell(self, name: str, index: tuple[int, ...]) -> Any:
        """One cell of an array."""
        return self.arrays[name][index]

    def sizes(self, rule: Rule, known: Mapping[str, int]) -> dict[str, int]:
        """How far each index of a rule runs; `known` are those that no array tells."""
        return {**index_sizes(rule.equation, {name: array.shape for name, array in self.arrays.items()}), **known}


def operands(steps: Mapping[str, Host], parameters: Parameters, read: Read, infinity: Any) -> Operands:
    """The steps so far and what else equations read."""
    arrays, scalars = dict(steps), {"inf": infinity}
    for name, given in parameters.items():
        if isinstance(given, Matrix):
            arrays[name] = in_numbers(given, read)
        else:
            scalars[name] = read(given.written)
    return Operands(arrays, scalars)


def in_numbers(matrix: Matrix, read: Read) -> Host:
    """Each number as it was written, or the shortest decimal that reads back as the double."""
    if matrix.written is None:
        numbers: Host = np.vectorize(lambda value: read(repr(float(value))), otypes=[object])(matrix.value)
    else:
        numbers = np.vectorize(read, otypes=[object])(matrix.written)
    return numbers


def each_cell(rule: Rule, sizes: Mapping[str, int], work: Callable[[Mapping[str, int]], Any]) -> Host:
    """The cells of a step, of which `work` finds one at the place of its indices."""
    indices = rule.target.letters
    cells = np.empty(tuple(sizes[index] for index in indices), dtype=object)
    for place in product(*(range(sizes[index]) for index in indices)):
        cells[place] = work(dict(zip(indices, place, strict=True)))
    return cells
