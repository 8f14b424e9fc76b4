"""A rule: one step of attention as a sentence, from which all else about the step is derived."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from attncli.attention.indices import INDICES
from attncli.equation.indexing import LeadingAxes, add_axes, all_letters, fix_axes
from attncli.equation.nodes import Call, Equation, Expression, Number, Ref, is_zero, names_used, rename, walk
from attncli.equation.printer import write, write_equation
from attncli.problem.axes import BATCH


@dataclass(frozen=True, slots=True)
class Rule:
    """One step: `target` is the cell that `expression` defines; a given array has no expression.

    `symbol` is its letter in formulas, `matrix_form` its headline (Q K^T) where it has one. `meaning` says
    what the step is, `why` what it is for, `when` where it is present; expressions stand between backticks.
    `joins` is the leading axis whose places the equation itself runs through, as concat does through the heads;
    `meanings` says what the step is at each entry of a batch, where that is not alike for all.
    """

    name: str
    symbol: str
    title: str
    target: Ref
    expression: Expression | None = None
    matrix_form: Expression | None = None
    meaning: str = ""
    why: str = ""
    when: str = ""
    joins: str = ""
    meanings: tuple[str, ...] = ()

    @property
    def given(self) -> bool:
        return self.expression is None

    @property
    def equation(self) -> Equation:
        """The index form by the names of steps; raises ValueError for a given array."""
        if self.expression is None:
            raise ValueError(f"{self.name} is given and has no equation")
        return Equation(self.target, self.expression)

    @property
    def source(self) -> str | None:
        """The equation in Python syntax, which `parse_equation` reads; None for a given array."""
        from attncli.equation.notation import PYTHON

        return None if self.given else write_equation(self.equation, PYTHON)

    @property
    def matrix_source(self) -> str | None:
        """The headline in Python syntax, which `parse_expression` reads."""
        from attncli.equation.notation import PYTHON

        return None if self.matrix_form is None else write(self.matrix_form, PYTHON)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The arrays the equation reads, in the order of first mention."""
        return () if self.expression is None else names_used(self.expression)

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(INDICES[index].axis for index in self.target.letters)

    @property
    def copies(self) -> bool:
        """Whether every cell is just a cell of another array, as in a transpose, or a 0 in its place."""
        whole = self.expression
        if isinstance(whole, Call) and whole.function == "where":
            cells = [branch for branch in whole.arguments[1:] if not is_zero(branch)]
            return bool(cells) and all(isinstance(cell, Ref) for cell in cells)
        return isinstance(whole, Ref)

    @property
    def shares(self) -> bool:
        """Whether the step divides a row into shares, and so needs a definition where the row is empty."""
        return any(isinstance(node, Call) and node.function == "share" for node in self._nodes())

    @property
    def decides(self) -> bool:
        """Whether the step only decides what is hidden, by conditions that stand in it."""
        hidden = Number(-math.inf, "-inf")
        whole = self.expression
        return isinstance(whole, Call) and whole.function == "where" and whole.arguments[-1] == hidden

    def reading(self, names: Mapping[str, str]) -> Rule:
        """The rule with placeholders such as `logits` replaced by the steps they stand for."""
        return replace(
            self,
            expression=None if self.expression is None else rename(self.expression, names),
            matrix_form=None if self.matrix_form is None else rename(self.matrix_form, names),
        )

    def _nodes(self) -> tuple[Expression, ...]:
        return () if self.expression is None else tuple(walk(self.expression))

    def lifted(self, leads: LeadingAxes, order: Sequence[str], shared: Mapping[str, Expression]) -> Rule:
        """The rule for arrays with leading axes; for a given array, of its own."""
        if self.expression is None:
            return replace(self, target=Ref(self.name, (*leads.get(self.name, ()), *self.target.indices)))
        known = {name: tuple(letter for letter in letters if letter != self.joins) for name, letters in leads.items()}
        lifted = add_axes(self.equation, known, order, shared)
        return replace(self, target=lifted.target, expression=lifted.expression)

    def taken_out(self, fixed: Mapping[str, int]) -> Rule:
        """The rule of one place on the fixed leading axes."""
        meaning = self.meanings[fixed[BATCH]] if self.meanings and BATCH in fixed else self.meaning
        target = Ref(self.name, tuple(index for index in self.target.indices if index not in fixed))
        expression = None if self.given else fix_axes(self.equation.expression, fixed, all_letters(self.equation))
        return replace(self, target=target, expression=expression, meaning=meaning)
