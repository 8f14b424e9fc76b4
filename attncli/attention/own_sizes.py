"""What an equation of a person's own reads and makes: every place that it takes must exist, and no
array on the way may be too large to be held.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.english import count, listed, shape_text
from attncli.equation.evaluator import Evaluator
from attncli.equation.indexing import free_names, letters
from attncli.equation.nodes import (
    Call,
    Condition,
    Equation,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    cells,
    walk,
)
from attncli.equation.notation import PYTHON
from attncli.equation.printer import write
from attncli.errors import AttncliError
from attncli.problem.limits import ELEMENT_LIMIT
from attncli.problem.parts.equations import OwnEquation

# What an index may be worked out with: whole numbers stay whole.
_OF_INDICES = ("add", "sub", "mul", "neg", "floor_div", "mod", "max", "min", "abs")
# A cell and the equation around it are looked at once for so many places of its letters.
_MOST_PLACES = 10**7


@dataclass(frozen=True)
class OwnSizes:
    """An equation, the `shapes` of what it reads, the `sizes` of its letters, and the numbers that
    it names.
    """

    own: OwnEquation
    equation: Equation
    shapes: Mapping[str, tuple[int, ...]]
    sizes: Mapping[str, int]
    scalars: Mapping[str, float]

    def check(self) -> None:
        """Raises AttncliError (exit 3) for a place outside an array, and for what is too large."""
        seen: dict[str, int] = {}
        for cell, conditions in cells(self.equation.expression):
            number = seen[cell.name] = seen.get(cell.name, 0) + 1
            for axis, index in enumerate(cell.indices):
                if not isinstance(index, str):
                    self._check_index(cell, axis, index, number, conditions)
                elif self.shapes[cell.name][axis] < self.sizes.get(index, 0):
                    self._check_index(cell, axis, Name(index), number, conditions)
        self._require_room(self.equation.target.letters)
        self._axes(self.equation.expression)

    def _is_of_places(self, condition: Condition) -> bool:
        """Whether places alone decide a condition, so that it is known which cells it chooses."""
        for node in walk(condition[0]):
            if isinstance(node, Ref):
                return False
            if isinstance(node, Name) and node.name not in {*self.sizes, *self.scalars}:
                return False
        return True

    def _check_index(
        self,
        cell: Ref,
        axis: int,
        index: Expression,
        number: int,
        conditions: tuple[Condition, ...],
    ) -> None:
        """The index takes whole numbers, and where these conditions choose the cell, places that
        are there.
        """
        written = write(index, PYTHON)
        known = [each for each in conditions if self._is_of_places(each)]
        if odd := _odd_part(index):
            raise self._error(
                f"the index {written} is worked out with {odd}",
                "an index has letters, whole numbers, and + - * // %",
                cell,
                number,
            )
        own = dict.fromkeys(letters(index, self.sizes))
        of_conditions = [name for each, _ in known for name in free_names(each)]
        asked = dict.fromkeys(name for name in of_conditions if name in self.sizes)
        names = (*own, *(name for name in asked if name not in own))
        there = prod(self.sizes[name] for name in names)
        if there > _MOST_PLACES:
            raise self._error(
                f"the index {written} would be worked out for {there:,} places",
                f"at most {_MOST_PLACES:,} are possible",
                cell,
                number,
            )
        taken = self._taken(index, names)
        length = self.shapes[cell.name][axis]
        is_whole = np.isfinite(taken) & (taken == np.floor(taken))
        is_there = (taken >= 0) & (taken < length)
        is_read = np.ones(taken.shape, dtype=bool)
        for condition, is_wanted in known:
            is_read &= (self._taken(condition, names) != 0) == is_wanted
        is_wrong = ~is_whole | (is_read & ~is_there)
        if not is_wrong.any():
            return
        first = np.unravel_index(int(is_wrong.argmax()), taken.shape)
        at = [f"{name} = {place}" for name, place in zip(names, first, strict=True) if name in own]
        where = f" where {listed(at)}" if at else ""
        if not is_whole[first]:
            said = f"the index {written} is no number{where}"
        elif at:
            said = f"the index {written} is {taken[first]:g}{where}"
        else:
            said = f"there is no place {written}"
        help = "where(condition, a, b) can read another cell in its place"
        if len(known) < len(conditions):
            help = "a condition on places is needed, such as where(i < 3, a, b): numbers may change"
        raise self._error(
            f"{said}: {cell.name} has {count(length, 'place')} there, counted from 0",
            help,
            cell,
            number,
        )

    def _taken(self, index: Expression, names: tuple[str, ...]) -> NDArray[Any]:
        """The index at every place of the letters that it depends on."""
        evaluator = Evaluator(np, {}, self.scalars, self.sizes, np.float64)
        with np.errstate(all="ignore"):
            found = evaluator.result(Equation(Ref("index", names), index))
        return np.asarray(found, dtype=np.float64)

    def _axes(self, node: Expression) -> tuple[str, ...]:
        """The letters of the array that a part of the equation makes; AttncliError where it has too
        many numbers.
        """
        match node:
            case Number():
                return ()
            case Name(name=name):
                return (name,) if name in self.sizes else ()
            case Ref(indices=indices):
                found = [name for index in indices for name in letters(index, self.sizes)]
                return self._require_room(tuple(dict.fromkeys(found)))
            case Call(arguments=arguments):
                return self._require_room(self._all_axes(arguments))
            case Reduce(function="add", index=index, body=Call("mul", (left, right))):
                axes = self._all_axes((left, right))
                if not all(index in self._axes(side) for side in (left, right)):
                    # The product is there before it is summed; else both are matrices.
                    self._require_room(axes)
                return self._require_room(tuple(name for name in axes if name != index))
            case Reduce(index=index, body=body):
                return tuple(name for name in self._axes(body) if name != index)

    def _all_axes(self, nodes: tuple[Expression, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for node in nodes for name in self._axes(node)))

    def _require_room(self, axes: tuple[str, ...]) -> tuple[str, ...]:
        shape = tuple(self.sizes[name] for name in axes)
        if prod(shape) <= ELEMENT_LIMIT:
            return axes
        raise self.own.error(
            f"needs a number for each {listed(axes)}: {shape_text(shape)}, which is"
            f" {prod(shape):,} numbers",
            f"an array has at most {ELEMENT_LIMIT:,} numbers: sum over fewer letters at a time",
        )

    def _error(self, message: str, help: str, cell: Ref, number: int) -> AttncliError:
        """An error at the cell, the so-manieth of its name from the left, counted from 1."""
        starts = re.finditer(rf"(?<!\w){re.escape(cell.name)}\s*\[", self.own.source)
        places = [start.start() for start in starts]
        # The cell that is defined stands first where a step reads itself, which is a circle.
        at = places[number - 1] if number <= len(places) else 0
        return self.own.error_at(message, help, at)


def _odd_part(index: Expression) -> str:
    """What an index cannot be worked out with; empty where all is well."""
    match index:
        case Ref(name=name):
            return f"{name}, an array"
        case Reduce():
            return "a sum or a maximum"
        case Call(function=function) if function not in _OF_INDICES:
            return "/" if function == "div" else "**" if function == "pow" else function
        case Call(arguments=arguments):
            return next(filter(None, map(_odd_part, arguments)), "")
        case Number(text=text) if not text.isdigit():
            return text
        case Number() | Name():
            return ""
