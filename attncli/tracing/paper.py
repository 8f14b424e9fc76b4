"""Work steps out as on paper: every displayed number, rounded half up, feeds the next step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from attncli.attention.rule import Rule
from attncli.backend import Host
from attncli.equation.rounding import round_half_up
from attncli.equation.substitution import decimal_value
from attncli.problem.model import Matrix, Scalar, read_only
from attncli.problem.numbers import as_decimal
from attncli.tracing.cells import each_cell, in_numbers, operands


@dataclass(frozen=True, slots=True)
class PaperWorker:
    """Works cell by cell in decimal; inputs are taken as written and never rounded."""

    precision: int
    parameters: Mapping[str, Scalar | Matrix]
    sizes: Mapping[str, int]
    arrays: dict[str, Host] = field(default_factory=dict)  # of Decimals

    def give(self, name: str, matrix: Matrix) -> Host:
        """Take in a given array exactly: 1/3 is 1/3 to 50 digits."""
        self.arrays[name] = in_numbers(matrix, as_decimal)
        return matrix.value

    def written(self, name: str) -> Host:
        """Every number of a step as it stands on the paper, which a float may not hold."""
        written: Host = np.vectorize(str, otypes=[object])(self.arrays[name])
        return read_only(written)

    def exact(self, name: str) -> None:
        """What is rounded has no closed form."""

    def work(self, rule: Rule) -> Host:
        """The value of a computed step from the rounded numbers of the steps before it."""
        known = operands(self.arrays, self.parameters, as_decimal, Decimal("Infinity"))
        sizes = known.sizes(rule, self.sizes)

        def work(place: Mapping[str, int]) -> Decimal:
            value = decimal_value(rule.equation.expression, place, sizes, known.cell, known.scalars)
            return value if rule.copies or rule.decides else round_half_up(value, self.precision)

        cells = each_cell(rule, sizes, work)
        self.arrays[rule.name] = cells
        return cells.astype(np.float64)
