"""The steps of a short page: several that are made alike are one section, a transpose is a line of
the step that reads it, and what is given stands where it is used, once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from attncli.attention.registry import in_symbols
from attncli.english import listed
from attncli.equation.nodes import Call, Name
from attncli.equation.shapes import product_factors
from attncli.page.document import Block, Formula, Heading, Math, Paragraph, Product, Shapes, Text
from attncli.page.grid import grid
from attncli.page.printer import Printer
from attncli.page.product import beside_factors
from attncli.page.sections import (
    explanation,
    formulas_of,
    given_section,
    shapes,
    step_pictures,
    worked_section,
)
from attncli.page.view import View
from attncli.tracing.model import Step, Trace
from attncli.tracing.slices import with_key_head

Places = Mapping[str, int]


@dataclass(slots=True)
class ShownOnce:
    """The arrays that a page shows where it first uses them, and which of them it has shown.

    An array that has heads is another one in each head.
    """

    trace: Trace
    names: Collection[str]
    _shown: dict[str, list[Places]] = field(default_factory=dict)

    def new_ones(self, names: Sequence[str], place: Places) -> list[str]:
        """Those of these arrays that the page has not shown yet, at this place of its heads."""
        return [name for name in names if name in self.names and not self.is_shown(name, place)]

    def is_shown(self, name: str, place: Places) -> bool:
        """Whether it stands there, at this place, or head by head, or as a part of the whole."""
        if name not in self.names:
            return False
        own = self._own_place(name, place)
        return any(_agree(own, other) for other in self._shown.get(name, ()))

    def show(self, name: str, place: Places) -> None:
        own = self._own_place(name, place)
        self._shown.setdefault(name, []).append(own)

    def _own_place(self, name: str, place: Places) -> Places:
        """The place on the leading axes that the array has."""
        letters = self.trace.steps[name].rule.target.letters
        places = with_key_head(self.trace, place)
        return {letter: at for letter, at in places.items() if letter in letters}


def _agree(one: Places, other: Places) -> bool:
    """Whether no axis has them at two places."""
    return all(other.get(letter, at) == at for letter, at in one.items())


def is_used(trace: Trace, name: str, names: Sequence[str]) -> bool:
    """Whether one of these steps reads a given array, so that it stands there."""
    return any(name in trace.steps[each].rule.inputs for each in names)


def short_sections(
    whole: Printer,
    here: Printer,
    names: Sequence[str],
    view: View,
    given: ShownOnce,
    place: Places,
    explained: Collection[str] = (),
) -> Iterator[Block]:
    """The chosen steps at one place, numbered as in the whole trace; those `explained` before are
    not explained again.
    """
    numbers = {step.name: number for number, step in enumerate(whole.trace.computed(), 1)}
    chosen = [name for name in names if name in numbers]
    # A transpose that was asked for has a section of its own.
    transposes = () if view.steps is not None else _transposes(here.trace, chosen)
    for group in _groups(here.trace, chosen, transposes):
        section = _Section(here, view, given, place, group)
        yield from section.blocks(numbers, explained)


def _groups(trace: Trace, names: Sequence[str], transposes: Collection[str]) -> Iterator[list[str]]:
    """Steps of one section: products of what is given, or a step after the transpose it reads."""
    group: list[str] = []
    for name in names:
        if group and not _goes_on(trace, group[-1], name, transposes):
            yield group
            group = []
        group.append(name)
    if group:
        yield group


def _goes_on(trace: Trace, before: str, name: str, transposes: Collection[str]) -> bool:
    last, step = trace.steps[before], trace.steps[name]
    if before in transposes:
        return before in step.rule.inputs
    return _is_projection(trace, last) and _is_projection(trace, step)


def _transposes(trace: Trace, names: Sequence[str]) -> list[str]:
    return [name for name in names if is_transpose(trace.steps[name])]


def is_transpose(step: Step) -> bool:
    """Whether a step is nothing but another array with its rows as columns."""
    match step.rule.matrix_form:
        case Call("transpose" | "transposed", (Name(),)):
            return True
        case _:
            return False


def _is_projection(trace: Trace, step: Step) -> bool:
    """Whether a step is a product of given matrices: Q = X W_Q."""
    form = step.rule.matrix_form
    if not form or not product_factors(form):
        return False
    return all(trace.steps[name].rule.given for name in step.rule.inputs if name in trace.steps)


@dataclass(frozen=True, slots=True)
class _Section:
    """Some steps under one title."""

    here: Printer
    view: View
    given: ShownOnce
    place: Places
    names: Sequence[str]

    @property
    def is_brief(self) -> bool:
        return self.view.detail == "brief"

    @property
    def steps(self) -> list[Step]:
        """The steps that have a matrix of their own."""
        found = [self.here.trace.steps[name] for name in self.names]
        return [step for step in found if step is found[-1] or not is_transpose(step)]

    def blocks(self, numbers: Mapping[str, int], explained: Collection[str]) -> Iterator[Block]:
        steps = self.steps
        if self.is_brief and len(steps) > 1:
            # Each is a small section that may stand beside the others.
            for step in steps:
                yield from replace(self, names=[step.name]).blocks(numbers, explained)
            return
        yield self._heading(numbers)
        yield from self._explanation(numbers, explained)
        formulas = [list(self._formulas(step)) for step in steps]
        stand_together = all(len(each) == 1 for each in formulas)
        if stand_together:
            for each in formulas:
                yield from each
        for step, each in zip(steps, formulas, strict=True):
            if not stand_together:
                yield from each
            yield from self._work(step)

    def _formulas(self, step: Step) -> Iterator[Formula]:
        """Its formulas; where all steps have the same shapes, the last one says them."""
        steps = self.steps
        product = shapes(self.here.trace, step)
        if self._shapes() and step is not steps[-1]:
            product = ()
        is_one = len(steps) == 1
        yield from formulas_of(self.here, step, product, self.view.detail, titled=is_one)

    def _heading(self, numbers: Mapping[str, int]) -> Heading:
        formula = None
        if len(self.steps) == 1:
            [step] = self.steps
            first_formula = next(formulas_of(self.here, step, (), self.view.detail))
            formula = first_formula.equation
        first, last = numbers[self.names[0]], numbers[self.names[-1]]
        titles = [step.rule.title for step in self.steps]
        title = listed([titles[0], *(each[0].lower() + each[1:] for each in titles[1:])])
        return Heading(
            title,
            first if first == last else f"{first}–{last}",
            self._shapes(),
            step=self.steps[0].name,
            formula=formula,
            beside=self.is_brief,
        )

    def _shapes(self) -> Shapes:
        """The shapes of the product, where all steps have the same."""
        found = {shapes(self.here.trace, step) for step in self.steps}
        return found.pop() if len(found) == 1 else ()

    def _explanation(
        self, numbers: Mapping[str, int], explained: Collection[str]
    ) -> Iterator[Block]:
        """What the steps are; of several the reason of the first, and what is not built in."""
        if self.is_brief or all(step.name in explained for step in self.steps):
            return
        said = ""
        steps = self.steps
        if len(steps) == 1:
            said = explanation(steps[0])
        else:
            whys = [step.rule.why for step in steps if step.rule.why]
            own = [step.rule.meaning for step in steps if step.rule.own and step.rule.meaning]
            said = " ".join((*whys[:1], *own))
        text: list[Text] = []
        if said:
            text.append(self.here.prose(said))
        for name in self.names[:-1]:
            step = self.here.trace.steps[name]
            if is_transpose(step):
                text.append((f"Step {numbers[name]}: ", *_transpose_in_words(step)))
        if text:
            first, *others = text
            joined = first
            for other in others:
                joined = (*joined, " ", *other)
            yield Paragraph(joined)

    def _work(self, step: Step) -> Iterator[Block]:
        """What is given for a step, its matrix, and its worked lines."""
        new = self.given.new_ones(self._inputs(step), self.place)
        if any(name not in step.rule.inputs for name in new):
            # What a transpose is of stands here with its labels, and so does what is beside it.
            in_order = [name for name in self.here.trace.steps if name in new]
            yield from self._sections_of_given(in_order)
            for name in new:
                self.given.show(name, self.place)
            new = []
        matrix = grid(self.here, step, self.view.heatmap)
        block: Block = matrix
        if not self.is_brief:
            known = [name for name in step.rule.inputs if self.given.is_shown(name, self.place)]
            block = beside_factors(self.here, step, matrix, known)
        factors: Collection[str] = ()
        if isinstance(block, Product):
            # All that it reads stands beside it.
            factors = step.rule.inputs
            apart = [*self._sections_of_given([n for n in new if n in factors]), *block.instead]
            block = block._replace(instead=tuple(apart))
        yield from self._sections_of_given([name for name in new if name not in factors])
        for name in new:
            self.given.show(name, self.place)
        yield block
        yield from worked_section(self.here, step, self.view.detail)
        yield from step_pictures(self.here, step.name, self.view, self.place)

    def _inputs(self, step: Step) -> list[str]:
        """What it reads, and what the transposes read that are lines of it."""
        found: list[str] = []
        for name in (*self.names, step.name):
            each = self.here.trace.steps[name]
            if each is step or is_transpose(each):
                found += each.rule.inputs
        return list(dict.fromkeys(found))

    def _sections_of_given(self, names: Sequence[str]) -> Iterator[Block]:
        for name in names:
            yield from given_section(self.here, self.here.trace.steps[name], self.view.detail)


def _transpose_in_words(step: Step) -> Text:
    """Kᵀ is K with its rows as columns."""
    [read] = step.rule.inputs
    name = Math(in_symbols(Name(step.name), step.rule.symbols))
    of = Math(in_symbols(Name(read), step.rule.symbols))
    return (name, " is ", of, " with its rows as columns.")
