"""Work steps out as on paper: every displayed number, rounded half up, feeds the next step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import product

import numpy as np

from attncli.attention.rule import Rule
from attncli.backend import Host
from attncli.equation.decimals import round_half_up
from attncli.equation.shapes import index_sizes
from attncli.equation.substitute import decimal
from attncli.problem.model import Matrix, Scalar, read_only
from attncli.problem.numbers import as_decimal


@dataclass(frozen=True, slots=True)
class PaperWorker:
    """Works cell by cell in decimal; inputs are taken as written and never rounded."""

    precision: int
    parameters: Mapping[str, Scalar | Matrix]
    sizes: Mapping[str, int]
    arrays: dict[str, Host] = field(default_factory=dict)  # of Decimals

    def give(self, name: str, matrix: Matrix) -> Host:
        """Take in a given array exactly: 1/3 is 1/3 to 50 digits."""
        self.arrays[name] = _decimals(matrix)
        return matrix.value

    def written(self, name: str) -> Host:
        """Every number of a step as it stands on the paper, which a float may not hold."""
        written: Host = np.vectorize(str, otypes=[object])(self.arrays[name])
        return read_only(written)

    def exact(self, name: str) -> None:
        """What is rounded has no closed form."""

    def work(self, rule: Rule) -> Host:
        """The value of a computed step from the rounded numbers of the steps before it."""
        scalars = {"inf": Decimal("Infinity")}
        arrays = dict(self.arrays)
        for name, given in self.parameters.items():
            if isinstance(given, Matrix):
                arrays[name] = _decimals(given)
            else:
                scalars[name] = as_decimal(given.written)
        shapes = {name: tuple(array.shape) for name, array in arrays.items()}
        sizes = {**index_sizes(rule.equation, shapes), **self.sizes}
        indices = rule.target.letters
        cells = np.empty(tuple(sizes[index] for index in indices), dtype=object)
        for place in product(*(range(sizes[index]) for index in indices)):
            value = decimal(
                rule.equation.expression,
                dict(zip(indices, place, strict=True)),
                sizes,
                lambda name, at: arrays[name][at],
                scalars,
            )
            cells[place] = value if rule.copies or rule.decides else round_half_up(value, self.precision)
        self.arrays[rule.name] = cells
        return cells.astype(np.float64)


def _decimals(matrix: Matrix) -> Host:
    """Each number as it was written, or the shortest decimal that reads back as the double."""
    decimals: Host
    if matrix.written is None:
        decimals = np.vectorize(lambda value: Decimal(repr(float(value))), otypes=[object])(matrix.value)
    else:
        decimals = np.vectorize(as_decimal, otypes=[object])(matrix.written)
    return decimals
