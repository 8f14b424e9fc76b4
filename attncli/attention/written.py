"""Rules as they are written down: in text, which is read when a rule is first asked for, since a problem needs few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from attncli.attention.rule import Rule
from attncli.equation.nodes import Name, Ref
from attncli.equation.parser import parse_equation, parse_expression


@dataclass(frozen=True, slots=True)
class Written:
    """A rule in text: `equation` is such as K_T[k, j] = K[j, k]; of an array that is given its cell alone, X[i, d].

    `matrix_form` is the headline, empty where there is none; the others are as in `Rule`.
    """

    name: str
    symbol: str
    title: str
    equation: str
    matrix_form: str = ""
    meaning: str = ""
    why: str = ""
    when: str = ""
    joins: str = ""

    @property
    def cell(self) -> str:
        """The left side: K_T[k, j]."""
        return self.equation.partition(" = ")[0]


class Rules(Mapping[str, Rule]):
    """Rules in order; `written` has their texts, of which none is read."""

    def __init__(self, written: Mapping[str, Written]) -> None:
        self.written = written

    def __getitem__(self, name: str) -> Rule:
        return read(self.written[name])

    def __contains__(self, name: object) -> bool:
        return name in self.written

    def __iter__(self) -> Iterator[str]:
        return iter(self.written)

    def __len__(self) -> int:
        return len(self.written)


def by_name(written: Iterable[Written]) -> Rules:
    """These rules by their names; of two of one name the second."""
    return Rules({each.name: each for each in written})


@cache
def read(written: Written) -> Rule:
    """The rule that is written; EquationError where that cannot be read."""
    if written.cell == written.equation:
        target, expression = _cell(written.equation), None
    else:
        equation = parse_equation(written.equation)
        target, expression = equation.target, equation.expression
    return Rule(
        written.name,
        written.symbol,
        written.title,
        target,
        expression,
        parse_expression(written.matrix_form) if written.matrix_form else None,
        written.meaning,
        written.why,
        written.when,
        written.joins,
    )


def _cell(text: str) -> Ref:
    cell = parse_expression(text)
    if isinstance(cell, Name):
        return Ref(cell.name)
    if not isinstance(cell, Ref):
        raise ValueError(f"{text} is not a cell of an array")
    return cell
