"""What Python has of a comparison: whether the sides agree, every step, and known mistakes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from attncli.arguments import in_words_of_python
from attncli.comparison import known_mistakes
from attncli.comparison.data import comparison_data
from attncli.comparison.known_mistakes import Explanation
from attncli.comparison.page import page_of
from attncli.dtypes import DETAILS, DetailWord, check_precision, chosen
from attncli.english import count, entitled, listed, shape_text
from attncli.page.measures import place
from attncli.render import Style, render
from attncli.tracing.comparison import Comparison, StepComparison


@dataclass(frozen=True, slots=True)
class ComparedStep:
    """A step that both sides have.

    `absolute` is the largest |a - b|, over the cells that differ, or over all if none does. `where`
    is the index of this cell, `cell` the same in words, and `a` and `b` are the two numbers there.
    All these are None where the shapes differ.
    """

    name: str
    differs: bool
    absolute: float | None = None
    where: tuple[int, ...] | None = None
    cell: str | None = None
    a: float | None = None
    b: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Compared:
    """A comparison: true if no step differs. A notebook shows it as the page of `attncli compare`.

    `comparison` has the numbers of both sides.
    """

    comparison: Comparison

    def __bool__(self) -> bool:
        return self.agrees

    def __repr__(self) -> str:
        trace = self.comparison.a.trace or self.comparison.b.trace
        title = trace.title if trace else ""
        said = self._said()
        if self.mistakes:
            said += f"; {listed(self.mistakes, last='or')}"
        return f"<{entitled('compared', title)}: {said}>"

    def _said(self) -> str:
        """Where the first difference is: output differs in 2 of 6 cells, most at I, d2: 0 and 1."""
        first = self.comparison.first
        if first is None:
            return "no step differs"
        found = first.difference
        if found is None:
            shapes = [shape_text(shape) for shape in first.shapes if shape is not None]
            return f"{first.name} is {listed(shapes)}"
        cells = f"{found.differing:,} of {count(found.cells, 'cell')}"
        cell = place(first, found.where)
        at = f", most at {cell}" if cell else ""
        return f"{first.name} differs in {cells}{at}: {found.a:.6g} and {found.b:.6g}"

    @property
    def agrees(self) -> bool:
        """Whether no step differs."""
        return self.comparison.first is None

    @property
    def first(self) -> str | None:
        """The name of the first step that differs."""
        first = self.comparison.first
        return None if first is None else first.name

    @property
    def steps(self) -> Mapping[str, ComparedStep]:
        """The steps that both sides have, by name, in order."""
        both = [step for step in self.comparison.steps if not step.one_sided]
        return {step.name: _in_python(step) for step in both}

    @cached_property
    def explanation(self) -> Explanation | None:
        """The known mistakes that give the numbers of one side, and what they share; None if there
        are none.
        """
        # Each mistake works the problem out once more: only who asks for them waits.
        return known_mistakes.explanation(self.comparison)

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The known mistakes that give the numbers of one side; more than one if several fit."""
        return self.explanation.mistakes if self.explanation else ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the command warns of, such as names that no step has."""
        return tuple(map(in_words_of_python, self.comparison.warnings))

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON data, as `attncli compare --format json` has it."""
        return comparison_data(self.comparison, self.explanation)

    def to_markdown(self, *, detail: DetailWord = "rows", precision: int = 3) -> str:
        """The page as Markdown with dollar math."""
        chosen("detail", detail, DETAILS)
        check_precision(precision)
        page = page_of(self.comparison, self.explanation, detail, precision)
        return render(page, "markdown", Style(math="dollars"))

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def _in_python(step: StepComparison) -> ComparedStep:
    found = step.difference
    if found is None:
        return ComparedStep(step.name, step.differs)
    cell = place(step, found.where)
    return ComparedStep(
        step.name, step.differs, found.absolute, found.where, cell, found.a, found.b
    )
