"""The headline of an equation: the same in matrices, dV = Aᵀ dO for dV[j, c] = Σ_i A[i, j]·dO[i,
c].
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from attncli.equation.functions import FUNCTIONS
from attncli.equation.indexing import free_names, index_names
from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Reduce, Ref, walk


def matrix_form(equation: Equation, leading: Collection[str]) -> Expression | None:
    """The right side in matrices, each called by its name; None where only the index form says it.

    `leading` are the letters of axes before those of a single head, which a headline leaves out.

    >>> from attncli.equation.parser import parse_equation, parse_expression
    >>> scores = parse_equation("S[h, i, j] = sum(k, Q[h, i, k] * K_T[h, k, j])")
    >>> matrix_form(scores, leading="h") == parse_expression("Q @ K_T")
    True
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
                is_multiple = self.is_number(left) or self.is_number(right)
                function = "mul" if is_multiple else "hadamard"
                return self.call(function, (left, right), axes)
            case Call(function="div", arguments=(_, by)) if not self.is_number(by):
                return None
            case Call(function=function, arguments=arguments) if self.is_number(node):
                return node
            case Call(function=function, arguments=arguments) if _is_between_matrices(function):
                return self.call(function, arguments, axes)
        return None

    def array(self, cell: Ref, axes: tuple[str, ...]) -> Expression | None:
        own: tuple[str | Expression, ...] = ()
        for index in cell.indices:
            names = {*index_names(index)}
            is_leading = bool(self.leading & names)
            if not is_leading or names & {*axes}:
                own = (*own, index)
        # A vector over the rows stands in every column.
        if own in (axes, axes[:1]):
            return Name(cell.name)
        if own == axes[::-1]:
            return Call("transposed", (Name(cell.name),))
        return None

    def summed(self, index: str, body: Expression, axes: tuple[str, ...]) -> Expression | None:
        """A sum over rows or columns: of a product of two matrices, or of the cells of one."""
        if len(axes) == 2:
            return self.matrix_product(index, body, axes)
        (axis,) = axes
        for sums, way in (("row_sums", (axis, index)), ("column_sums", (index, axis))):
            summed = self.form(body, way)
            if summed and not any(_is_turned(node) for node in walk(summed)):
                return Call(sums, (summed,))
        return None

    def matrix_product(
        self, index: str, body: Expression, axes: tuple[str, ...]
    ) -> Expression | None:
        """A sum of products of two cells as a product of two matrices; None for other sums."""
        if not isinstance(body, Call) or body.function != "mul":
            return None
        row, column = axes
        first, second = body.arguments
        left = self.form(first, (row, index))
        right = self.form(second, (index, column))
        return Call("matmul", (left, right)) if left and right else None

    def call(
        self, function: str, arguments: tuple[Expression, ...], axes: tuple[str, ...]
    ) -> Expression | None:
        formed: list[Expression] = []
        for argument in arguments:
            part = self.form(argument, axes)
            if part is None:
                return None
            formed.append(part)
        return Call(function, tuple(formed))

    def is_number(self, expression: Expression) -> bool:
        """Whether it is the same in every cell of a head."""
        of_arrays = any(isinstance(part, Ref) for part in walk(expression))
        return not of_arrays and not free_names(expression) & self.leading


def _is_between_matrices(function: str) -> bool:
    return function in FUNCTIONS and FUNCTIONS[function].between_matrices


def _is_turned(node: Expression) -> bool:
    return isinstance(node, Call) and node.function == "transposed"
