"""A rule: one step of attention as a sentence, from which all else about the step is derived."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from attncli.equation.indexing import LeadingAxes, add_axes, all_letters, fix_axes
from attncli.equation.indices import BATCH, index_of
from attncli.equation.nodes import (
    Call,
    Equation,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    is_zero,
    names_used,
    rename,
    walk,
)
from attncli.equation.notation import PYTHON
from attncli.equation.parser import parse_equation, parse_expression
from attncli.equation.printer import write, write_equation


class UnparsedCell(str):
    """A cell as text, X[i, d]: of an array that is given, or of a step before its equation is
    known.
    """


@dataclass(frozen=True)
class Rule:
    """One step: what it is called, what it computes, and what is said about it.

    Rule("K_T", "K_T", "Keys, transposed", "K_T[k, j] = K[j, k]", "transpose(K)") is one on which
    nothing more is said.

    `formula` is its equation, K_T[k, j] = K[j, k], or of an array that is given its cell alone;
    `headline` the same in matrices, empty where there is none. Both may be text in Python syntax,
    which is parsed when it is first asked for, since a problem needs few of all rules: use
    `equation` and `matrix_form`.

    `symbol` is its letter in formulas. `meaning` says what the step is, `why` what it is for, in
    two sentences at most, and `more` what goes beyond, which only `attncli steps` shows. `when`
    says where it is present. Expressions stand between backticks. `meanings` says what it is at
    each entry of a batch, where that is not alike for all. `joins` is the leading axis whose places
    the equation itself runs through, as concat does through the heads.

    `gradient` says what the gradient of the step is, and `gradient_why` what for. `through` is said
    instead of the gradient of what the step reads, where this comes through the step first. A rule
    of a person's `own` may have letters that no rule of ours has, and `symbols` are the letters in
    formulas that steps have in this problem alone: its own ones, and K_rot^T in the place of K^T.
    `lengths` says how long the letters of its equation are, where that is known from elsewhere than
    the arrays that it reads. `axes` names those of its axes that are others than their letters say:
    the gradient of scores[i, j], which an equation reads as scores[u, j], may be d_scores[u, j],
    and u is a query there.
    """

    name: str
    symbol: str
    title: str
    formula: str | Equation | Ref
    headline: str | Expression | None = None
    meaning: str = ""
    why: str = ""
    more: str = field(default="", compare=False)
    when: str = ""
    joins: str = ""
    meanings: tuple[str, ...] = ()
    gradient: str = field(default="", compare=False)
    gradient_why: str = field(default="", compare=False)
    through: str = field(default="", compare=False)
    through_why: str = field(default="", compare=False)
    own: bool = False
    symbols: tuple[tuple[str, str], ...] = ()
    lengths: tuple[tuple[str, int], ...] = field(default=(), compare=False)
    axes: tuple[tuple[str, str], ...] = ()

    @property
    def given(self) -> bool:
        """Whether it is an array that a problem gives, and nothing is computed."""
        return isinstance(self.formula, UnparsedCell | Ref)

    @cached_property
    def equation(self) -> Equation:
        """The index form by the names of steps; raises ValueError for a given array."""
        if isinstance(self.formula, Equation):
            return self.formula
        if isinstance(self.formula, UnparsedCell | Ref):
            raise ValueError(f"{self.name} is given and has no equation")
        return parse_equation(self.formula)

    @cached_property
    def target(self) -> Ref:
        """The cell that is defined, K_T[k, j]."""
        if isinstance(self.formula, Ref):
            return self.formula
        if not isinstance(self.formula, UnparsedCell):
            return self.equation.target
        cell = parse_expression(self.formula)
        if isinstance(cell, Name):
            return Ref(cell.name)
        if not isinstance(cell, Ref):
            raise ValueError(f"{self.formula} is not a cell of an array")
        return cell

    @property
    def expression(self) -> Expression | None:
        """The right side of the equation; None for a given array."""
        return None if self.given else self.equation.expression

    @cached_property
    def matrix_form(self) -> Expression | None:
        """The headline, Q K^T; None where the index form says it best."""
        if isinstance(self.headline, str):
            return parse_expression(self.headline) if self.headline else None
        return self.headline

    def with_formula(self, formula: Equation | Ref, headline: Expression | None) -> Rule:
        """The rule with another equation, or for a given array another cell, and headline."""
        return replace(self, formula=formula, headline=headline)

    @property
    def source(self) -> str | None:
        """The equation in Python syntax, which `parse_equation` reads; None for a given array."""
        return None if self.given else write_equation(self.equation, PYTHON)

    @property
    def matrix_source(self) -> str | None:
        """The headline in Python syntax, which `parse_expression` reads."""
        return None if self.matrix_form is None else write(self.matrix_form, PYTHON)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The arrays the equation reads, in the order of first mention: steps, and arrays that are
        parameters.
        """
        return () if self.given else names_used(self.equation.expression)

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The axes of the result in words: query, key."""
        named = dict(self.axes)
        letters = self.target.letters
        return tuple(named.get(letter) or self._axis_of(letter) for letter in letters)

    def _axis_of(self, letter: str) -> str:
        """What a letter stands for where nothing else is said."""
        return index_of(letter, own=self.own).axis

    def with_axes(self, names: Sequence[str]) -> Rule:
        """The rule whose axes have these names, whatever its letters say.

        >>> rule = Rule("d_S", "dS", "A gradient", "d_S[c, j] = 2 * S[c, j]")
        >>> rule.axis_names, rule.with_axes(["query", "key"]).axis_names
        (('value', 'key'), ('query', 'key'))
        """
        others = []
        for letter, name in zip(self.target.letters, names, strict=True):
            if name != self._axis_of(letter):
                others.append((letter, name))
        return replace(self, axes=tuple(others))

    @property
    def is_copy(self) -> bool:
        """Whether every cell is just a cell of another array, as in a transpose, or a 0 in its
        place.
        """
        match self.expression:
            case Ref():
                return True
            case Call("where", (_, *branches)):
                cells = [branch for branch in branches if not is_zero(branch)]
                return bool(cells) and all(isinstance(cell, Ref) for cell in cells)
            case _:
                return False

    @property
    def divides_rows(self) -> bool:
        """Whether the step divides a row into shares, and so needs a definition where the row is
        empty.
        """
        if self.given:
            return False
        for node in walk(self.equation.expression):
            if isinstance(node, Call) and node.function == "share":
                return True
        return False

    @property
    def only_hides(self) -> bool:
        """Whether the step only decides what is hidden, by conditions that stand in it."""
        match self.expression:
            case Call("where", (*_, otherwise)) as choice:
                has_sums = any(isinstance(node, Reduce) for node in walk(choice))
                return not has_sums and otherwise == Number(-math.inf, "-inf")
            case _:
                return False

    def bind(self, names: Mapping[str, str]) -> Rule:
        """The rule with placeholders such as `logits` replaced by the steps they stand for."""
        if self.given:
            return self
        expression = rename(self.equation.expression, names)
        formula = replace(self.equation, expression=expression)
        form = self.matrix_form
        if form:
            form = rename(form, names)
        return self.with_formula(formula, form)

    def add_axes(
        self, leading: LeadingAxes, order: Sequence[str], shared: Mapping[str, Expression]
    ) -> Rule:
        """The rule for arrays with leading axes; for a given array, of its own."""
        if self.given:
            before = leading.get(self.name, ())
            indices = (*before, *self.target.indices)
            return self.with_formula(Ref(self.name, indices), None)
        known = {}
        for name, letters in leading.items():
            left = [letter for letter in letters if letter != self.joins]
            known[name] = tuple(left)
        equation = add_axes(self.equation, known, order, shared)
        is_parsed = not isinstance(self.headline, str)
        if equation is self.formula and is_parsed:
            # Nothing has changed, and a rule that is read back from JSON is equal to it.
            return self
        return self.with_formula(equation, self.matrix_form)

    def at_place(self, fixed: Mapping[str, int]) -> Rule:
        """The rule of one place on the fixed leading axes."""
        meaning = self.meaning
        if self.meanings and BATCH in fixed:
            entry = fixed[BATCH]
            meaning = self.meanings[entry]
        left = tuple(index for index in self.target.indices if index not in fixed)
        target = Ref(self.name, left)
        if self.given:
            return replace(self, formula=target, meaning=meaning)
        equation = self.equation
        letters = all_letters(equation)
        expression = fix_axes(equation.expression, fixed, letters)
        formula = Equation(target, expression)
        return replace(self, formula=formula, meaning=meaning)


def needed_for(wanted: Iterable[str], rules: Mapping[str, Rule]) -> frozenset[str]:
    """The steps among these rules that the wanted ones are, or depend on.

    >>> rules = {"K_T": Rule("K_T", "K_T", "Keys, transposed", "K_T[k, j] = K[j, k]")}
    >>> sorted(needed_for(["K_T"], rules))
    ['K_T']
    """
    found: set[str] = set()
    left = list(wanted)
    while left:
        name = left.pop()
        if name in found or name not in rules:
            continue
        found.add(name)
        left += rules[name].inputs
    return frozenset(found)
