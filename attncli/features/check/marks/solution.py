"""The marks of a solution: its verdicts and diagnoses, put into the model of `model.py`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from types import MappingProxyType

from attncli.features.check.causes.misread_given import MisreadGiven, misread_given
from attncli.features.check.cell_values import CellIndex, steps_after
from attncli.features.check.cut_digits import CUT_OFF, cut_off
from attncli.features.check.diagnosis import MOST_GUESSES, ROUNDED_ON_THE_WAY, Diagnosis
from attncli.features.check.diagnosis_page import with_labels
from attncli.features.check.hidden_cells import (
    MASKED_BEFORE,
    masked_before,
    without_hidden,
    without_meant,
)
from attncli.features.check.marks.model import (
    NOTHING,
    Cause,
    MarkedStep,
    Marks,
    TakenOff,
    WrongCell,
    marks_of,
)
from attncli.features.check.marks.partial_mistakes import (
    FEWEST_CELLS,
    PartialMistake,
    coarse_roundings,
    partial_mistakes,
)
from attncli.features.check.marks.slips_before import slips_before
from attncli.features.check.no_work import is_nothing_but_zeros, is_one_number, without_work
from attncli.features.check.rounded_between import rounded_between
from attncli.features.check.single_cell_errors import ErrorKind
from attncli.features.check.trials import decimals_of, trials_of
from attncli.features.check.verdicts import (
    WITHOUT_MINUS,
    Judgement,
    Solution,
    indices_where,
)
from attncli.marking.scheme import Scheme
from attncli.mistakes.forward import decimals_of_rounding
from attncli.mistakes.model import each_of

# What is not sure is called so.
PERHAPS = "perhaps"
# What is said of a number that is not written where others deny each one that it may be.
ONE_NUMBER_BEFORE = f"{PERHAPS} one number that these are worked out from"
# Who reads one number wrongly, and works on with it, has made one slip, whatever follows from it.
READ_WRONGLY = {ErrorKind.NEIGHBOUR_READ, ErrorKind.DIGITS_SWAPPED, ErrorKind.MISCOPIED}


def solution_marks(solution: Solution, diagnoses: Sequence[Diagnosis], scheme: Scheme) -> Marks:
    """What a solution earns by a scheme. The diagnoses are those of all that was answered.

    Raises AttncliError (exit 3) for a step of the scheme that the problem has not.
    """
    judgement = solution.for_marks
    scheme.require_steps(judgement.trace)
    certain = _certain(solution, diagnoses, scheme)
    possible = causes(judgement, diagnoses, scheme)
    rounded = _forgiven(judgement, diagnoses)
    steps = [
        _marked_step(judgement, name, rounded.get(name, set()), diagnoses)
        for name in _steps(judgement, scheme)
    ]
    forgiven = sum(map(len, rounded.values()))
    told = without_meant(without_hidden(judgement, masked_before(judgement)))
    before = [*_slips_before(told, steps, scheme), *_misread(told, steps, scheme)]
    marks = marks_of(scheme, steps, [*possible, *before], certain)
    if _partial_mistakes_may_help(marks):
        explained = {each.step: each.mistakes for each in diagnoses if _explains_step(each)}
        found = partial_mistakes(told, _wrong(told, steps, with_coarse=True), explained)
        likely = _likely_mistakes(judgement, diagnoses)
        further = {name: partly.cells for name, partly in found.items() if name in likely}
        possible = causes(judgement, diagnoses, scheme, further)
        partial = _partial(judgement, found, scheme)
        marks = marks_of(scheme, steps, [*possible, *before, *partial], certain)
    return replace(marks, forgiven=forgiven)


def _explains_step(found: Diagnosis) -> bool:
    """Whether mistakes that were likely made give all numbers of a step."""
    return found.whole and found.likely and not found.slips


def _partial(
    judgement: Judgement, found: Mapping[str, PartialMistake], scheme: Scheme
) -> Iterator[Cause]:
    """The mistakes that give two or more of the wrong cells, and not all of a step."""
    one_number = {name for name in judgement.steps if is_one_number(judgement, name)}
    for name, partly in found.items():
        # A few of its numbers are often 0, too.
        explained = frozenset(cell for cell in partly.cells if cell[0] not in one_number)
        if len(explained) >= FEWEST_CELLS:
            said = f"{PERHAPS} {with_labels(judgement, name)}"
            costs = _cost_of(name, scheme, partly.slips)
            is_slip = partly.slips == len(each_of(name))
            yield Cause(said, costs, explained, is_slip, partly.likely, (name,), perhaps=True)


def _cost_of(name: str, scheme: Scheme, slips: int = 0) -> Fraction:
    """What a mistake costs, or several that were made together; so many of them are slips."""
    mistakes = len(each_of(name)) - slips
    return mistakes * scheme.mistake + slips * scheme.slip


def _likely_mistakes(judgement: Judgement, diagnoses: Sequence[Diagnosis]) -> set[str]:
    """The mistakes that were likely made, as far as they cost something."""
    likely = [_costly(judgement, found) for found in diagnoses if found.likely]
    return set[str]().union(*likely)


def _costly(judgement: Judgement, found: Diagnosis) -> set[str]:
    """The mistakes of a diagnosis that cost something, and are no slip."""
    if found.error is not None:
        return set()
    return {*found.mistakes} - coarse_roundings(judgement, found.step) - {ROUNDED_ON_THE_WAY}


def _forgiven(judgement: Judgement, diagnoses: Sequence[Diagnosis]) -> dict[str, set[CellIndex]]:
    """The cells that rounding on the way explains, without those of a mistake that gives others,
    too: that costs the same, however near to the right numbers some of its own happen to be.
    """
    rounded = rounded_between(without_meant(judgement))
    of_mistakes: dict[str, set[WrongCell]] = {}
    for found in diagnoses:
        if found.likely or found.whole:
            for name in _costly(judgement, found):
                cells = of_mistakes.setdefault(name, set())
                cells.update((found.step, index) for index in found.cells)
    forgiven = {(name, index) for name, cells in rounded.items() for index in cells}
    for cells in of_mistakes.values():
        if len(cells) > 1 and not cells <= forgiven:
            for name, index in cells:
                rounded.get(name, set()).discard(index)
    return rounded


def _slips_before(judgement: Judgement, steps: Sequence[MarkedStep], scheme: Scheme) -> list[Cause]:
    """Slips in numbers that are not written. Numbers that explain the same are one cause."""
    names: dict[tuple[str, tuple[CellIndex, ...]], list[str]] = {}
    plain = _wrong(judgement, steps, with_coarse=False)
    with_coarse = _wrong(judgement, steps, with_coarse=True)
    # Most steps have no number with too few decimals: they are looked at once.
    others = {step: cells for step, cells in with_coarse.items() if cells != plain.get(step)}
    for wrong in (plain, others):
        for slip in slips_before(judgement, wrong):
            either = names.setdefault((slip.step, slip.cells), [])
            if slip.sure and slip.cell not in either:
                either.append(slip.cell)
    found = []
    for (step, cells), either in names.items():
        explained = frozenset((step, cell) for cell in cells)
        labelled = [with_labels(judgement, cell) for cell in either]
        said = f"{', or '.join(labelled) or ONE_NUMBER_BEFORE} is wrong"
        called = tuple(f"{cell} is wrong" for cell in either)
        found.append(
            Cause(said, scheme.slip, explained, is_slip=True, names=called, perhaps=not either)
        )
    return found


def _misread(judgement: Judgement, steps: Sequence[MarkedStep], scheme: Scheme) -> Iterator[Cause]:
    """What was read wrongly from the problem; what gives the same numbers is one cause."""
    alike: dict[frozenset[WrongCell], list[MisreadGiven]] = {}
    wrong = _wrong(judgement, steps, with_coarse=True)
    for found in misread_given(trials_of(judgement), wrong):
        given = set[WrongCell]()
        for name, cells in found.cells.items():
            given.update((name, index) for index in cells)
        either = alike.setdefault(frozenset(given), [])
        either.append(found)
    for explained, either in alike.items():
        is_slip = all(each.one_number for each in either)
        costs = scheme.slip if is_slip else scheme.mistake
        names = tuple(each.name for each in either)[:MOST_GUESSES]
        said = ", or ".join(with_labels(judgement, name) for name in names)
        yield Cause(said, costs, explained, is_slip, names=names, beyond_chance=True)


def with_all_that_costs(
    judgement: Judgement, diagnoses: Sequence[Diagnosis], marks: Marks
) -> tuple[Diagnosis, ...]:
    """The diagnoses, and what else takes marks off: a mistake that gives some of the numbers of a
    step, and a slip in a number that is not written.
    """
    further: list[Diagnosis] = []
    for mistake in marks.mistakes:
        further += _lacking(judgement, diagnoses, mistake, is_slip=False)
    for slip in marks.slips:
        further += _lacking(judgement, diagnoses, slip, is_slip=True)
    order = [*judgement.trace.steps]
    return tuple(sorted([*diagnoses, *further], key=lambda found: order.index(found.step)))


def _lacking(
    judgement: Judgement, diagnoses: Sequence[Diagnosis], taken: TakenOff, *, is_slip: bool
) -> Iterator[Diagnosis]:
    """A diagnosis for each step of what was taken off, unless it has one."""
    if not taken.names:
        return
    is_likely = is_slip and not taken.perhaps
    wrong = [cell for cell in taken.cells if cell in judgement.wrong]
    for step in dict.fromkeys(name for name, _ in wrong):
        known = {name for found in diagnoses if found.step == step for name in found.mistakes}
        if known.isdisjoint(taken.names):
            cells = tuple(index for name, index in wrong if name == step)
            yield Diagnosis(step, taken.names, cells, False, is_likely, of_unwritten=is_slip)


def without_uncharged(diagnoses: Sequence[Diagnosis], marks: Marks) -> tuple[Diagnosis, ...]:
    """The diagnoses without those of numbers that lose their shares as wrong, and so were not made
    by a mistake that costs something.
    """
    lost = {each.step for each in marks.lost if each.reason == "wrong"}
    charged = {cell for each in (*marks.mistakes, *marks.slips) for cell in each.cells}
    kept = []
    for found in diagnoses:
        cells = {(found.step, index) for index in found.cells}
        if found.step not in lost or not found.likely or cells & charged:
            kept.append(found)
    return tuple(kept)


def without_guesses_at_slips(
    judgement: Judgement, diagnoses: Sequence[Diagnosis], marks: Marks
) -> tuple[Diagnosis, ...]:
    """The diagnoses without those that only perhaps explain a single number, where that is a slip
    without a name, or follows from one.
    """
    slips = set[WrongCell]()
    for each in marks.slips:
        if each.names or not each.said:
            slips.update(each.cells)
    kept = [found for found in diagnoses if not _is_guess_at_slip(judgement, found, slips)]
    return tuple(kept)


def _is_guess_at_slip(judgement: Judgement, found: Diagnosis, slips: Collection[WrongCell]) -> bool:
    if found.likely or len(found.cells) != 1 or _gives_what_is_off(judgement, found):
        return False
    return (found.step, found.cells[0]) in slips


def _gives_what_is_off(judgement: Judgement, found: Diagnosis) -> bool:
    """Whether it gives all of a step, also numbers that are off by one in the last digit."""
    return found.whole and bool(indices_where(judgement.steps[found.step], "rounding"))


def with_named_slips(judgement: Judgement, diagnoses: Sequence[Diagnosis], marks: Marks) -> Marks:
    """The marks, with a slip called by what perhaps explains it and all other numbers of its step,
    as the diagnoses have it.
    """
    said: dict[WrongCell, str] = {}
    for found in diagnoses:
        if len(found.cells) == 1 and _gives_what_is_off(judgement, found):
            names = ", or ".join(with_labels(judgement, name) for name in found.mistakes)
            said[found.step, found.cells[0]] = f"{PERHAPS} {names}"
    slips = []
    for each in marks.slips:
        guess = said.get(each.cells[0], "")
        is_single = len(each.cells) == 1 and not each.said
        if is_single and guess:
            each = replace(each, said=guess, perhaps=True)
        slips.append(each)
    return replace(marks, slips=tuple(slips))


def _partial_mistakes_may_help(marks: Marks) -> bool:
    """Whether the wrong cells have several causes, or some have none: a mistake that gives more of
    them than a diagnosis says may cost less.
    """
    slips = sum(len(each.cells) for each in marks.slips)
    have_no_cause = any(each.reason in ("wrong", "too coarse") for each in marks.lost)
    # One of two that were made together may give the same numbers, rounded on the way.
    mistakes = sum(len(each_of(mistake.said)) for mistake in marks.mistakes)
    return have_no_cause or mistakes + slips > 1


def _wrong(
    judgement: Judgement, steps: Sequence[MarkedStep], *, with_coarse: bool
) -> dict[str, tuple[CellIndex, ...]]:
    """The wrong cells of each step that has any but those with too few decimals: without these, or
    with them. They are those that are filled in.
    """
    found = {}
    for step in steps:
        name = step.name
        plain = step.wrong - step.coarse.keys()
        cells = step.wrong if with_coarse else plain
        indices = sorted(index for _, index in cells)
        filled = [index for index in indices if _is_filled(judgement, name, index)]
        if plain and filled:
            found[name] = tuple(filled)
    return found


def _is_filled(judgement: Judgement, name: str, index: CellIndex) -> bool:
    return judgement.steps[name][index].given is not None


def _steps(judgement: Judgement, scheme: Scheme) -> Iterator[str]:
    """Those that are marked and those that were answered, in the order of work."""
    for name in judgement.trace.steps:
        if name in scheme.steps or name in judgement.steps:
            yield name


def _marked_step(
    judgement: Judgement,
    name: str,
    rounded: Collection[CellIndex],
    diagnoses: Sequence[Diagnosis],
) -> MarkedStep:
    """A step with its wrong cells, but for those that were only `rounded` on the way."""
    size = prod(judgement.trace.steps[name].shape)
    cells = judgement.steps.get(name)
    if cells is None:
        return MarkedStep(name, size, missing=size)
    wrong = {index for index in indices_where(cells, "wrong") if index not in rounded}
    rounding = _rounding(judgement, name, diagnoses)
    coarse = _coarse(judgement, name, wrong, rounding)
    wrong.update(coarse)
    is_alike = is_one_number(judgement, name)
    if is_alike:
        # Decimals are not what 0 everywhere lacks.
        coarse = {}
    return MarkedStep(
        name,
        size,
        missing=len(indices_where(cells, "missing")),
        wrong=frozenset((name, index) for index in wrong),
        coarse={(name, index): missing for index, missing in coarse.items()},
        hollow=_hollow(judgement, name),
        alike=is_alike,
        rounded_to=_rounded_to(rounding),
        padded=_padded(judgement, name, coarse, rounding),
    )


def _coarse(
    judgement: Judgement, name: str, wrong: Collection[CellIndex], rounding: Diagnosis | None
) -> dict[CellIndex, int]:
    """The cells with too few decimals, and how many are missing in each: all that are off, if the
    step was rounded.
    """
    cells = judgement.steps[name]
    decimals = _rounded_to(rounding)
    if rounding is not None and decimals is not None:
        off = indices_where(cells, "wrong", "rounding")
        # What follows from other numbers was rounded, too, if all of the step were.
        if rounding.whole:
            off += indices_where(cells, "carried")
        asked = decimals_of(judgement.values, name)
        return dict.fromkeys(off, asked - decimals)
    found = {}
    for index in wrong:
        if cells[index].too_coarse:
            found[index] = cells[index].given.decimals_missing
    return found


def _padded(
    judgement: Judgement, name: str, coarse: Collection[CellIndex], rounding: Diagnosis | None
) -> frozenset[WrongCell]:
    """The coarse cells in which zeros stand behind the decimals that they were rounded to."""
    decimals = _rounded_to(rounding)
    if decimals is None:
        return frozenset()
    cells = judgement.steps[name]
    padded = [(name, index) for index in coarse if cells[index].given.decimals_written > decimals]
    return frozenset(padded)


def _rounded_to(rounding: Diagnosis | None) -> int | None:
    """To how many decimals a step was rounded, if these are fewer than were asked for, and it was
    then written with zeros: 1.00 for 0.93 is no better than 1.
    """
    if rounding is None:
        return None
    name = rounding.mistakes[0]
    return decimals_of_rounding(rounding.step, name)


def _rounding(judgement: Judgement, name: str, diagnoses: Sequence[Diagnosis]) -> Diagnosis | None:
    """What says that a step was rounded to too few decimals, if nothing else gives its numbers:
    weights of scores that were not scaled may be 1.00 and 0.00, and nobody rounded them.
    """
    names = coarse_roundings(judgement, name)
    for found in diagnoses:
        if found.step == name and names.issuperset(found.mistakes):
            return found
    return None


def _hollow(judgement: Judgement, name: str) -> dict[str, frozenset[WrongCell]]:
    """The numbers of a step that need no work, for each step that is mostly wrong: this one, or one
    that it is worked out from, through all between them.
    """
    found = {}
    for first, cells in judgement.steps.items():
        wrong = indices_where(cells, "wrong")
        is_mostly_wrong = 2 * len(wrong) > cells.size or is_one_number(judgement, first)
        follows = name == first or name in steps_after(judgement.trace, {first})
        if is_mostly_wrong and follows:
            hollow = without_work(judgement, first, name)
            found[first] = frozenset((name, index) for index in hollow)
    return found


def _certain(solution: Solution, diagnoses: Sequence[Diagnosis], scheme: Scheme) -> list[Cause]:
    """What explains numbers that are nearly right: the digits were cut off."""
    cut = cut_off(solution, diagnoses)
    if cut is None:
        return []
    return [Cause(CUT_OFF, scheme.slip, frozenset(cut))]


def causes(
    judgement: Judgement,
    diagnoses: Sequence[Diagnosis],
    scheme: Scheme,
    further: Mapping[str, Collection[WrongCell]] = MappingProxyType({}),
) -> list[Cause]:
    """What may explain the wrong cells. A mistake that shows in several steps is one cause, and
    mistakes that explain the same cells are one, too. Some mistakes give `further` cells.
    """
    explained: dict[tuple[str, int], set[WrongCell]] = {}
    of: dict[tuple[str, int], Diagnosis] = {}
    for number, found in enumerate(diagnoses):
        for name in found.mistakes:
            if name in coarse_roundings(judgement, found.step):
                continue
            # The same slip in two steps is two slips.
            key = (name, number if found.error else -1)
            cells = explained.setdefault(key, set(further.get(name, ())))
            cells.update((found.step, cell) for cell in found.cells)
            if key not in of or found.likely:
                of[key] = found
    names: dict[tuple[frozenset[WrongCell], Fraction, bool, bool, bool], list[str]] = {}
    for key, cells in explained.items():
        name, found = key[0], of[key]
        of_slip = is_slip(found)
        costs = _price(name, scheme, of_slip=of_slip)
        # Zeros alone are a sign of nothing.
        likely = found.likely and not is_nothing_but_zeros(judgement, found.step)
        said = with_labels(judgement, name)
        if not likely:
            said = f"{PERHAPS} {said}"
        # That it is no chance was asked before a misread number was named.
        kind = (frozenset(cells), costs, of_slip, likely, found.one_number)
        names.setdefault(kind, []).append(said)
    return [
        Cause(
            ", or ".join(said),
            costs,
            cells,
            of_slip,
            likely,
            perhaps=not likely,
            beyond_chance=misread,
        )
        for (cells, costs, of_slip, likely, misread), said in names.items()
    ]


def _price(name: str, scheme: Scheme, *, of_slip: bool) -> Fraction:
    """What a mistake or a slip costs."""
    if name == ROUNDED_ON_THE_WAY:
        return NOTHING
    # The weights are those of the right way.
    if of_slip or name in (MASKED_BEFORE, WITHOUT_MINUS):
        return scheme.slip
    return _cost_of(name, scheme)


def is_slip(found: Diagnosis) -> bool:
    """Whether a single number went wrong: one that was written, one that was read, or one that the
    problem gives; or two that were exchanged.
    """
    if found.two_numbers or found.one_number:
        return True
    if found.error is None:
        return False
    return len(found.cells) == 1 or found.error.kind in READ_WRONGLY
