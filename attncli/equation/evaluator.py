"""Evaluate an equation on whole arrays of any array-API namespace.

Every intermediate is an array with named axes; a sum over a product of two such arrays becomes one
matmul.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan, prod
from typing import Any, TypeAlias

from attncli.equation.functions import FUNCTIONS
from attncli.equation.indexing import index_names, letters, position
from attncli.equation.nodes import (
    Call,
    Equation,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    number_node,
)

# An array of NumPy, of CuPy, or of any other namespace.
Array: TypeAlias = Any


# One is made for each node that is worked out, and frozen it would take three times as long.
@dataclass(slots=True)
class _Axed:
    """An array and the index letter of each of its axes."""

    array: Array
    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Works an equation out on arrays of floats; a subclass may work with another kind of number.

    `scalars` has the numbers that stand in no array, `sizes` the length of every index. Of
    S[i, j] = Σ_k Q[i, k]·K_T[k, j] / √d_k, `arrays` has Q and K_T, `scalars` is {"d_k": 2.0}, and
    `sizes` {"i": 3, "j": 4, "k": 2}.
    """

    xp: Any
    arrays: Mapping[str, Array]
    scalars: Mapping[str, float]
    sizes: Mapping[str, int]
    dtype: Any
    # The order of the axes of the result: an array that is made in it need not be transposed.
    order: tuple[str, ...] = ()

    def result(self, equation: Equation) -> Array:
        """The array that the equation defines, its axes in the order of the target's indices."""
        axes = equation.target.letters
        shape = self.lengths(axes)
        value = self.value(equation.expression)
        if not isinstance(value, _Axed):
            return self.xp.full(shape, value, dtype=self.dtype)
        whole = self.spread(value, axes)
        if whole.shape != shape:
            whole = self.xp.broadcast_to(whole, shape)
        # A `where` between two bare numbers does not know the format.
        return self.xp.asarray(whole, dtype=self.dtype)

    def constant(self, number: Number) -> float:
        """A number that stands in the equation."""
        assert number.value is not None
        return float(number.value)

    def positions(self, letter: str) -> Array:
        """0, 1, 2, … for an index that stands for its own value."""
        return self.xp.arange(self.sizes[letter], dtype=self.dtype)

    def apply(self, function: str, *operands: Any) -> Array:
        """A function of operands of which one is an array."""
        return FUNCTIONS[function].array(self.xp, *operands)

    def apply_to_scalars(self, function: str, *values: Any) -> float:
        """A function of bare numbers; what is too large is infinite, as in arrays: only
        exponentials become so.
        """
        try:
            found = FUNCTIONS[function].scalar(*values)
        except OverflowError:
            return inf
        except (ValueError, ZeroDivisionError):
            # Arrays have an infinity or NaN for what Python refuses, such as log(0).
            in_format = [self.xp.asarray(value, dtype=self.dtype) for value in values]
            found = self.apply(function, *in_format)
        if isinstance(found, complex):
            # It is a root of a number below 0.
            return nan
        return found if isinstance(found, bool) else float(found)

    def total(self, array: Array, axis: int) -> Array:
        """The sums along an axis."""
        return self.xp.sum(array, axis=axis)

    def largest(self, array: Array, axis: int) -> Array:
        """The largest values along an axis."""
        return self.xp.max(array, axis=axis)

    def value(self, node: Expression) -> _Axed | float:
        match node:
            case Number(value=value) if value is not None:
                return self.constant(node)
            case Name(name=name) if name in self.sizes:
                return _Axed(self.positions(name), (name,))
            case Name(name=name):
                return self.scalars[name]
            case Ref(name=name, indices=indices):
                return self.cells(self.arrays[name], indices)
            case Call(function=function, arguments=arguments):
                return self.call(function, arguments)
            case Reduce(
                function="add", index=index, body=Call(function="mul", arguments=(left, right))
            ):
                return self.contract(index, self.value(left), self.value(right))
            case Reduce(function=function, index=index, body=body):
                return self.reduce(function, index, self.value(body))
            case Number():
                raise TypeError(f"cannot evaluate {node!r}")

    def cells(self, array: Array, indices: Sequence[str | Expression]) -> _Axed:
        """An array read at these indices; a letter that runs over its whole axis names it."""
        kept: dict[int, str] = {}
        sought: dict[int, str | Expression] = {}
        used = [name for index in indices for name in dict.fromkeys(letters(index, self.sizes))]
        for at, index in enumerate(indices):
            # Of a diagonal, X[j, j], the places are sought, since no axis is that of j alone.
            if not isinstance(index, str) or used.count(index) > 1:
                sought[at] = index
            elif self.sizes[index] == array.shape[at]:
                kept[at] = index
            else:
                sought[at] = index
        if not sought:
            return _Axed(array, tuple(kept.values()))
        single: dict[int, str] = {}
        found: dict[str, None] = {}
        for at, index in sought.items():
            own = dict.fromkeys(letters(index, self.sizes))
            found |= own
            if len(own) == 1:
                (single[at],) = own
        axes = {**kept, **single}
        has_one_each = len(single) == len(sought)
        is_apart = len({*axes.values()}) == len(axes)
        if has_one_each and is_apart:
            return self.taken(array, sought, axes)
        return self.gathered(array, kept, sought, tuple(found))

    def gathered(
        self,
        array: Array,
        kept: Mapping[int, str],
        sought: Mapping[int, str | Expression],
        axes: tuple[str, ...],
    ) -> _Axed:
        """The axes `kept` as they are; the places `sought` on the others, for each place on the
        letters `axes`.
        """
        chosen = self.flat_positions(array, sought, axes)
        shape = tuple(array.shape[at] for at in kept)
        length = prod(array.shape[at] for at in sought)
        rows = _permute(self.xp, array, (*kept, *sought))
        rows = self.xp.reshape(rows, (*shape, length))
        found = self.xp.take(rows, chosen, axis=len(kept))
        found = self.xp.reshape(found, (*shape, *self.lengths(axes)))
        return _Axed(found, (*kept.values(), *axes))

    def taken(
        self, array: Array, sought: Mapping[int, str | Expression], axes: Mapping[int, str]
    ) -> _Axed:
        """An array whose axes are each read by a letter of their own: one axis after the other,
        where it stands.
        """
        for at, index in sought.items():
            chosen = self.positions_at(index, (axes[at],), array.shape[at])
            array = self.xp.take(array, chosen, axis=at)
        in_order = tuple(axes[at] for at in sorted(axes))
        return _Axed(array, in_order)

    def flat_positions(
        self, array: Array, sought: Mapping[int, str | Expression], axes: tuple[str, ...]
    ) -> Array:
        """The positions on the axes `sought` laid end to end, for each place on the letters `axes`
        one after another.
        """
        shape = self.lengths(axes)
        flat = self.xp.zeros(shape, dtype=self.xp.int64)
        for at, index in sought.items():
            length = array.shape[at]
            flat = flat * length + self.positions_at(index, axes, length)
        return self.xp.reshape(flat, (prod(shape),))

    def positions_at(self, index: str | Expression, axes: tuple[str, ...], length: int) -> Array:
        """Where an index points on an axis of this length, for each place on the letters `axes`; of
        one outside, which no `where` chooses, the nearest.
        """
        numbers = {}
        for name in index_names(index):
            if name not in self.sizes:
                numbers[name] = position(Name(name), {}, self.scalars)
        whole = _WholeEvaluator(self.xp, {}, numbers, self.sizes, self.xp.int64)
        expression = Name(index) if isinstance(index, str) else index
        target = Ref("index", axes)
        equation = Equation(target, expression)
        found = whole.result(equation)
        not_before = whole.apply("max", found, 0)
        return whole.apply("min", not_before, length - 1)

    def call(self, function: str, arguments: Sequence[Expression]) -> _Axed | float:
        return self.applied(function, [self.value(argument) for argument in arguments])

    def applied(self, function: str, values: Sequence[_Axed | float]) -> _Axed | float:
        """A function of values that are worked out."""
        axed = [value for value in values if isinstance(value, _Axed)]
        if not axed:
            return self.apply_to_scalars(function, *values)
        axes = self.in_order(axed)
        operands = []
        for value in values:
            if isinstance(value, _Axed):
                operands.append(self.spread(value, axes))
            else:
                operands.append(value)
        result = self.apply(function, *operands)
        return _Axed(result, axes)

    def in_order(self, values: Sequence[_Axed]) -> tuple[str, ...]:
        """All axes of these arrays: in the order of the result, if it has them all."""
        axes: dict[str, None] = {}
        for value in values:
            axes |= dict.fromkeys(value.axes)
        of_result = tuple(axis for axis in self.order if axis in axes)
        if len(of_result) < len(axes):
            return tuple(axes)
        return of_result

    def spread(self, value: _Axed, axes: tuple[str, ...]) -> Array:
        """The array with its axes in the given order and length 1 where it has none."""
        array = value.array
        if value.axes == axes:
            return array
        own = [axis for axis in axes if axis in value.axes]
        order = [value.axes.index(axis) for axis in own]
        if order != sorted(order):
            array = _permute(self.xp, array, order)
        lengths = iter(array.shape)
        shape = []
        for axis in axes:
            if axis in own:
                shape.append(next(lengths))
            else:
                shape.append(1)
        return self.xp.reshape(array, tuple(shape))

    def reduce(self, function: str, index: str, value: _Axed | float) -> _Axed | float:
        if not isinstance(value, _Axed) or index not in value.axes:
            return self.of_equal(function, index, value)
        axis = value.axes.index(index)
        left = (*value.axes[:axis], *value.axes[axis + 1 :])
        if function == "add":
            reduced = self.total(value.array, axis)
        else:
            reduced = self.largest(value.array, axis)
        return _Axed(reduced, left)

    def of_equal(self, function: str, index: str, value: _Axed | float) -> _Axed | float:
        """The sum of as many equal values as the index has places, or the largest of them."""
        if function != "add":
            return value
        return self.times(value, self.constant(number_node(self.sizes[index])))

    def times(self, one: _Axed | float, other: _Axed | float) -> _Axed | float:
        """The product of two values."""
        return self.applied("mul", (one, other))

    def contract(self, index: str, left: _Axed | float, right: _Axed | float) -> _Axed | float:
        """The sum over `index` of a product: shared axes are batches, the rest rows and columns."""
        if not (isinstance(left, _Axed) and isinstance(right, _Axed)):
            return self.reduce("add", index, self.times(left, right))
        if index not in (*left.axes, *right.axes):
            return self.of_equal("add", index, self.times(left, right))
        batch, rows, columns = _axes_of_product(index, left, right)
        axes = (*batch, *rows, *columns)
        is_in_both = index in left.axes and index in right.axes
        if not is_in_both:
            all_axes = (*axes, index)
            of_left = self.spread(left, all_axes)
            of_right = self.spread(right, all_axes)
            products = _Axed(of_left * of_right, all_axes)
            return self.reduce("add", index, products)
        upright = self.as_matrices(left, batch, rows, (index,))
        across = self.as_matrices(right, batch, (index,), columns)
        result = self.xp.matmul(upright, across)
        apart = self.xp.reshape(result, self.lengths(axes))
        return _Axed(apart, axes)

    def as_matrices(
        self, value: _Axed, batch: Sequence[str], rows: Sequence[str], columns: Sequence[str]
    ) -> Array:
        """A stack of matrices, whose rows and columns may each be several axes laid end to end."""
        array = self.spread(value, (*batch, *rows, *columns))
        stack = self.lengths(batch)
        height = prod(self.lengths(rows))
        width = prod(self.lengths(columns))
        shape = (*stack, height, width)
        return self.xp.reshape(array, shape)

    def lengths(self, axes: Sequence[str]) -> tuple[int, ...]:
        """How long each of these axes is."""
        return tuple(self.sizes[axis] for axis in axes)


class _WholeEvaluator(Evaluator):
    """Works out indices, on arrays of whole numbers."""

    def constant(self, number: Number) -> int:
        assert number.value is not None
        return int(number.value)

    def apply_to_scalars(self, function: str, *values: Any) -> int:
        return int(FUNCTIONS[function].scalar(*values))


def evaluate(
    equation: Equation,
    *,
    arrays: Mapping[str, Array],
    scalars: Mapping[str, float],
    sizes: Mapping[str, int],
    xp: Any,
    dtype: Any,
) -> Array:
    """The array an equation defines, its axes in the order of the target's indices.

    `sizes` gives the length of every index; arrays must have one axis per index they are read with.
    A position outside an array reads its nearest cell: in a `where`, what the other branch is there
    for.

    >>> import numpy as np
    >>> from attncli.equation.parser import parse_equation
    >>> evaluate(
    ...     parse_equation("S[i, j] = sum(k, Q[i, k] * K[j, k])"),
    ...     arrays={"Q": np.array([[1.0, 2.0]]), "K": np.array([[3.0, 4.0], [5.0, 6.0]])},
    ...     scalars={},
    ...     sizes={"i": 1, "j": 2, "k": 2},
    ...     xp=np,
    ...     dtype=np.float64,
    ... ).tolist()
    [[11.0, 17.0]]
    """
    return Evaluator(xp, arrays, scalars, sizes, dtype, equation.target.letters).result(equation)


def _axes_of_product(
    index: str, left: _Axed, right: _Axed
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The axes that both have, those of the left alone and those of the right alone, without the
    one that is summed over.
    """
    batch = []
    rows = []
    for axis in left.axes:
        if axis == index:
            continue
        if axis in right.axes:
            batch.append(axis)
        else:
            rows.append(axis)
    taken = (*left.axes, index)
    columns = [axis for axis in right.axes if axis not in taken]
    return tuple(batch), tuple(rows), tuple(columns)


def _permute(xp: Any, array: Array, order: Sequence[int]) -> Array:
    # CuPy 13 has only the older name of this function.
    permute = getattr(xp, "permute_dims", None) or xp.transpose
    return permute(array, tuple(order))
