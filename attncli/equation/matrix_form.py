"""The headline of an equation: the same in matrices, dV = Aᵀ dO for dV[j, c] = Σ_i A[i, j]·dO[i,
c].
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from attncli.equation.indexing import free_names, index_names
from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Reduce, Ref, walk

_CELL_BY_CELL = ("add", "sub", "neg", "pow", "tanh", "exp", "div")


def matrix_form(equation: Equation, leading: Collection[str]) -> Expression | None:
    """The right side in matrices, each called by its name; None where only the index form says it.

    `leading` are the letters of axes before those of a single head, which a headline leaves out.
    """
    axes = tuple(letter for letter in equation.target.letters if letter not in leading)
    if not 1 <= len(axes) <= 2:
        return None
    return _Former(frozenset(leading)).form(equation.expression, axes)


@dataclass(frozen=True, slots=True)
class _Former:
    leading: frozenset[str]

    def form(self, node: Expression, axes: tuple[str, ...]) -> Expression | None:
        """An expression as a matrix whose rows and columns are these letters, or as a vector of
        one.
        """
        match node:
            case Ref():
                return self.array(node, axes)
            case Number() | Name():
                return node
            case Reduce(function="add", index=index, body=body) if index in self.leading:
                inner = self.form(body, axes)
                return inner and Reduce("add", index, inner)
            case Reduce(function="add", index=index, body=body):
                return self.summed(index, body, axes)
            case Call(function="mul", arguments=(left, right)):
                alike = "mul" if self.is_number(left) or self.is_number(right) else "hadamard"
                return self.call(alike, (left, right), axes)
            case Call(function="div", arguments=(_, by)) if not self.is_number(by):
                return None
            case Call(function=function, arguments=arguments) if self.is_number(node):
                return node
            case Call(function=function, arguments=arguments) if function in _CELL_BY_CELL:
                return self.call(function, arguments, axes)
        return None

    def array(self, cell: Ref, axes: tuple[str, ...]) -> Expression | None:
        own = tuple(
            index
            for index in cell.indices
            if not self.leading & {*index_names(index)} or {*index_names(index)} & {*axes}
        )
        # a vector of rows stands in every column
        if own in (axes, axes[:1]):
            return Name(cell.name)
        return Call("transposed", (Name(cell.name),)) if own == axes[::-1] else None

    def summed(self, index: str, body: Expression, axes: tuple[str, ...]) -> Expression | None:
        """A sum over rows or columns: of a product of two matrices, or of the cells of one."""
        if len(axes) == 2 and isinstance(body, Call) and body.function == "mul":
            left, right = body.arguments
            factors = self.form(left, (axes[0], index)), self.form(right, (index, axes[1]))
            return Call("matmul", (factors[0], factors[1])) if factors[0] and factors[1] else None
        if len(axes) == 2:
            return None
        (axis,) = axes
        for sums, way in (("row_sums", (axis, index)), ("column_sums", (index, axis))):
            summed = self.form(body, way)
            if summed and not any(_is_turned(node) for node in walk(summed)):
                return Call(sums, (summed,))
        return None

    def call(
        self, function: str, arguments: tuple[Expression, ...], axes: tuple[str, ...]
    ) -> Expression | None:
        formed = tuple(self.form(argument, axes) for argument in arguments)
        return Call(function, tuple(part for part in formed if part)) if all(formed) else None

    def is_number(self, expression: Expression) -> bool:
        """Whether it is the same in every cell of a head."""
        of_arrays = any(isinstance(part, Ref) for part in walk(expression))
        return not of_arrays and not free_names(expression) & self.leading


def _is_turned(node: Expression) -> bool:
    return isinstance(node, Call) and node.function == "transposed"
