"""Work steps out exactly: every cell keeps its closed form, a fraction, 5/√3 or e^(5/√3)/(e^(1/√3) + e^√3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, prod

import numpy as np

from attncli.attention.rule import Rule
from attncli.backend import Host
from attncli.english import shorten
from attncli.equation.exact import Exact, ExactError, evaluate_exactly, float_of, read_exact
from attncli.equation.nodes import Reduce, walk
from attncli.errors import usage_error
from attncli.problem.model import Matrix, Scalar, read_only
from attncli.problem.numbers import MINUS_INFINITY, as_exact
from attncli.tracing.cells import each_cell, in_numbers, operands

MOST_CELLS = 1024  # of one step
MOST_WORK = 10**6  # products in one step
ADVICE = "use --rounding shown, or a smaller problem: closed forms are for what fits on paper"


@dataclass(frozen=True, slots=True)
class ExactWorker:
    """Works cell by cell in fractions and closed forms; a decimal that was given is the fraction it says."""

    parameters: Mapping[str, Scalar | Matrix]
    sizes: Mapping[str, int]
    arrays: dict[str, Host] = field(default_factory=dict)  # of Fractions, Closed numbers and -inf

    def give(self, name: str, matrix: Matrix) -> Host:
        """Take in a given array as it is written: 0.1 is 1/10."""
        self.arrays[name] = in_numbers(matrix, _number)
        return matrix.value

    def written(self, name: str) -> None:
        """What is worked out is written nowhere but in its closed form."""

    def exact(self, name: str) -> Host:
        """The closed form of every cell of a step."""
        return read_only(self.arrays[name])

    def work(self, rule: Rule) -> Host:
        """The value of a computed step from the exact numbers of the steps before it.

        Raises AttncliError (exit 2) where that is too much, or where a number has no closed form.
        """
        known = operands(self.arrays, self.parameters, _number, inf)
        sizes = known.sizes(rule, self.sizes)
        _check_size(rule, sizes)

        def work(place: Mapping[str, int]) -> Exact | float:
            try:
                value: Exact | float = evaluate_exactly(
                    rule.equation.expression, place, sizes, known.cell, known.scalars
                )
            except ExactError as error:
                where = f"{rule.name}[{', '.join(map(str, place.values()))}]"
                raise usage_error(f"rounding 'exact' cannot work out {where}: {error}", help=ADVICE) from None
            return value

        cells = each_cell(rule, sizes, work)
        self.arrays[rule.name] = cells
        value: Host = np.vectorize(float_of, otypes=[np.float64])(cells)
        return value


def _check_size(rule: Rule, sizes: Mapping[str, int]) -> None:
    """Raises (exit 2) for a step whose closed forms nobody would read, before they are made."""
    cells = prod(sizes[index] for index in rule.target.letters)
    sums = {node.index for node in walk(rule.equation.expression) if isinstance(node, Reduce)}
    terms = cells * prod(sizes[index] for index in sums)
    for what, number, most in (("numbers", cells, MOST_CELLS), ("terms", terms, MOST_WORK)):
        if number > most:
            raise usage_error(
                f"rounding 'exact' works out at most {most:,} {what} in a step, and {rule.name} has {number:,}",
                help=ADVICE,
            )


def _number(text: str) -> Exact | float:
    """A number as it is written in a problem, exactly; -inf stays. Raises (exit 2) for a root that cannot be found."""
    if text in MINUS_INFINITY:
        return -inf
    exact = as_exact(text)
    try:
        return read_exact(text) if exact is None else exact
    except ExactError as error:
        raise usage_error(f"rounding 'exact' cannot take {shorten(text)}: {error}", help=ADVICE) from None
