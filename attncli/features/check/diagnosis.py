"""Which known mistake gives the numbers that are wrong in a solution: only what gives them as
written is named.

A mistake is tried by changing its equations in the trace: every cell is then what it would be by
the solution's own earlier numbers, through all that was left out, had the mistake been made. So an
output alone can be diagnosed, too. Where no mistake gives the numbers with all digits, the steps
that were left out are rounded on the way, as on paper. Then one is looked for that gives all
numbers but a few, which have slips of their own, and last an error in a single cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import islice, product
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from attncli.answers.model import Answers, Claim
from attncli.features.check.causes.misread_given import misread_given
from attncli.features.check.causes.nearly_given import (
    CELLS_FOR_TWO_MISTAKES,
    cells_nearly_given,
)
from attncli.features.check.causes.other_scale import other_scale
from attncli.features.check.causes.row_errors import RowError, coincidence, row_errors
from attncli.features.check.cell_values import CellIndex, CellValues
from attncli.features.check.hidden_cells import (
    MASKED_BEFORE,
    masked_before,
    without_hidden,
    without_meant,
)
from attncli.features.check.single_cell_errors import (
    CellError,
    ErrorKind,
    cell_errors,
)
from attncli.features.check.trials import (
    GivenCells,
    Reproduction,
    RoundedOnTheWay,
    Trial,
    Trials,
    WithinPrecision,
    decimals_of,
    is_after_left_out_forward_pass,
    left_out_before,
    trials_of,
)
from attncli.features.check.verdicts import Judgement, indices_where, rounds_to
from attncli.mistakes.catalogue import known_mistakes
from attncli.mistakes.forward import NAMES_OF_DECIMALS, rounded_first
from attncli.mistakes.model import each_of, has_more_than

# Errors are named if chance would explain fewer cells of a step than this.
MOST_BY_CHANCE = 0.1
# The same for a cell that is a neighbour's number: small numbers often are.
MOST_NEIGHBOURS_BY_CHANCE = 0.01
# A mistake is not named if chance would let so many of those that are tried give the same cells.
MOST_MISTAKES_BY_CHANCE = 1.0
# It is only perhaps the one that was made if chance would let so many.
MOST_BY_CHANCE_BESIDE_A_LIKELY_ONE = 0.5
# If more cells of a step are wrong, they have one cause, or most of them do.
MOST_CELL_ERRORS = 3
# Fewer numbers of a step may all end in zeros by chance.
FEWEST_ROUNDED = 3
# A mistake may leave over one wrong cell of so many.
CELLS_FOR_A_SLIP = 4
# Of errors that chance would explain as well, so many are named, and of more none.
MOST_GUESSES = 3
ABOUT_AS_LIKELY = {
    ErrorKind.RESULT_CUT,
    ErrorKind.RESULT_OF_NEIGHBOUR,
    ErrorKind.WRONG_TERM,
    ErrorKind.STEP_READ,
    ErrorKind.NEIGHBOUR_READ,
}
ROUNDED_ON_THE_WAY = "the steps between were rounded"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What explains the wrong cells of a step: one of these mistakes, which its numbers cannot tell
    apart.

    `cells` are the wrong cells it explains; `whole` says whether it gives all the other numbers of
    the step, too, but for the `slips`: wrong cells that have an error of their own beside it. It is
    not `likely` if chance could explain the cells as well, or if they are too few. `rounded` is to
    how many decimals the steps that are left out have to be rounded on the way, if they have to be;
    those of the forward pass only after they have been worked out `forward_in_full`. `error` is the
    first of its errors. One `of_unwritten` is a slip in a number that the solution does not have,
    one of `two_numbers` is that these were exchanged, and one of `one_number` that this was read
    wrongly from the problem.
    """

    step: str
    mistakes: tuple[str, ...]
    cells: tuple[CellIndex, ...]
    whole: bool
    likely: bool = True
    rounded: int | None = None
    forward_in_full: bool = False
    error: CellError | None = None
    slips: tuple[CellIndex, ...] = ()
    of_unwritten: bool = False
    two_numbers: bool = False
    one_number: bool = False


def each_alone(found: Diagnosis) -> Iterator[Diagnosis]:
    """A diagnosis for each of the mistakes that were made together, as a class has them."""
    made = [each_of(name) for name in found.mistakes]
    for names in zip(*made, strict=True):
        yield replace(found, mistakes=tuple(dict.fromkeys(names)))


def diagnose(judgement: Judgement) -> tuple[Diagnosis, ...]:
    """For every step with wrong cells that a known mistake explains, all mistakes that explain the
    most.
    """
    hidden = masked_before(judgement)
    found = [*_of_all_but_hidden(without_meant(without_hidden(judgement, hidden)))]
    for step, cells in hidden.items():
        wrong = tuple(cell for cell in cells if judgement.steps[step][cell].verdict == "wrong")
        if wrong:
            found.append(Diagnosis(step, (MASKED_BEFORE,), wrong, False))
    for said, cells_of_steps in judgement.meant.items():
        for step, cells in cells_of_steps.items():
            if step in judgement.steps:
                whole = len(cells) == len(indices_where(judgement.steps[step], "wrong"))
                found.append(Diagnosis(step, (said,), cells, whole))
    order = [*judgement.steps]
    return tuple(sorted(found, key=lambda one: order.index(one.step)))


def _of_all_but_hidden(judgement: Judgement) -> Iterator[Diagnosis]:
    wrong = _wrong(judgement)
    if not wrong:
        return
    trials = trials_of(judgement)
    found = _explanations(trials, wrong, trials.within_precision)
    for step in wrong:
        yield from _diagnose_step(trials, step, wrong, found)


def _diagnose_step(
    trials: Trials,
    step: str,
    wrong: Mapping[str, tuple[CellIndex, ...]],
    found: list[Explanation],
) -> Iterator[Diagnosis]:
    values = trials.judgement.values
    cells = wrong[step]
    best = _best(trials, step, cells, found)
    named = best.names
    is_more_than_a_cell = len(cells) > 1 or not values.trace.steps[step].shape
    is_likely = is_more_than_a_cell and best.likely
    if not (best.whole and is_likely):
        misread = _misread(trials, step, wrong, near=False)
        if misread:
            yield misread
            return
    if best.whole:
        yield Diagnosis(step, named, cells, True, is_likely)
        return
    if name := _rounded_first(trials, step):
        yield Diagnosis(step, (name,), cells, True)
        return
    if trials.leaves_out(step):
        fewest = decimals_of(values, step)
        in_full = (False, True) if is_after_left_out_forward_pass(values, step) else (False,)
        # The backward pass adds up what the forward pass was rounded to.
        near: Sequence[Trial] = trials.of_mistakes
        if len(in_full) == 1:
            near = _near(trials, near, step, cells)
        for forward_in_full, decimals in product(in_full, (fewest, fewest + 1)):
            plain = trials.rounded_on_the_way(decimals, forward_in_full)
            rounded = _rounded(trials, step, cells, plain, near)
            if rounded.whole:
                yield Diagnosis(
                    step,
                    rounded.names,
                    cells,
                    True,
                    rounded.likely,
                    rounded=decimals,
                    forward_in_full=forward_in_full,
                )
                return
    rows = _row_errors(trials, step, cells) if len(cells) > 1 else []
    in_rows = {cell for row in rows for cell in row.cells}
    mostly = None if named or in_rows == set(cells) else _mistake_with_slips(trials, step, cells)
    if mostly and len(mostly.cells) > len(in_rows):
        yield mostly
        return
    scale = None if named or in_rows else other_scale(values, step, cells)
    if scale:
        yield Diagnosis(step, (scale.name,), cells, True)
        return
    both = None if in_rows else _two_mistakes(trials, step, cells)
    if both:
        yield both
        return
    if not named or in_rows == set(cells):
        for row in rows:
            yield Diagnosis(step, row.names, row.cells, False, two_numbers=row.of_two_numbers)
        cells = tuple(cell for cell in cells if cell not in in_rows)
        if not cells:
            return
    if len(cells) > 1 and named:
        likely = len(cells) > MOST_CELL_ERRORS and best.likely
        yield Diagnosis(step, named, cells, False, likely)
        return
    errors_of_cells = _cell_errors(values, step, cells)
    is_one_error = any(of == cells for of, _ in errors_of_cells.values())
    misread = None if is_one_error else _misread(trials, step, wrong, near=True)
    if misread:
        yield misread
        return
    if not errors_of_cells and 0 < len(named) <= MOST_GUESSES:
        yield Diagnosis(step, named, cells, False, likely=False)
    for (names, likely), (of, error) in errors_of_cells.items():
        yield Diagnosis(step, names, of, False, likely, error=error)


def _misread(
    trials: Trials, step: str, wrong: Mapping[str, tuple[CellIndex, ...]], *, near: bool
) -> Diagnosis | None:
    """What was read wrongly from the problem, if that gives wrong numbers of this step, beyond
    chance: in this step, or before it.
    """
    found = []
    for each in misread_given(trials, wrong):
        if each.near == near and step in each.cells:
            found.append(each)
    if not found:
        return None
    cells = found[0].cells[step]
    slips = tuple(cell for cell in wrong[step] if cell not in cells)
    names = tuple(each.name for each in found[:MOST_GUESSES])
    one_number = all(each.one_number for each in found)
    return Diagnosis(step, names, cells, True, slips=slips, one_number=one_number)


@dataclass(frozen=True, slots=True)
class _Best:
    """The mistakes that explain a step best, whether they give all of its numbers, and whether they
    do so by more than chance.
    """

    names: tuple[str, ...] = ()
    whole: bool = False
    likely: bool = False


def _best(
    trials: Trials, step: str, cells: tuple[CellIndex, ...], found: list[Explanation]
) -> _Best:
    """The mistakes that explain the wrong cells of a step best; none where chance would do it, too.

    An output of one decimal after scores of one decimal may be 0.3 to 0.5, say, with nearly every
    mistake. So one of 80 gives a wrong 0.4 there, whatever was done.
    """
    able = [one for one in found if step in one.steps and one.may_be_named(step)]
    if not able:
        return _Best()
    best = max(one.rank(step) for one in able)
    likeliest = [one for one in able if one.rank(step) == best]
    gives_all_numbers = best[1]
    given = cells
    if gives_all_numbers:
        # What is only off by one is given as it was written, too.
        given += tuple(indices_where(trials.judgement.steps[step], "rounding"))
    by_chance = min(_by_chance(trials, step, given, one) for one in likeliest)
    if by_chance >= MOST_MISTAKES_BY_CHANCE:
        return _Best()
    as_ours = [one for one in likeliest if one.trial.as_ours]
    agreeing = _agreeing(as_ours or likeliest)
    return _Best(
        _names(_without_what_may_be_right(agreeing, step)),
        gives_all_numbers,
        by_chance < MOST_BY_CHANCE_BESIDE_A_LIKELY_ONE,
    )


def _by_chance(
    trials: Trials, step: str, given: tuple[CellIndex, ...], found: Explanation
) -> float:
    """How many mistakes chance would let give these cells, by the way in which this one gives them
    that says most: numbers as they stand leave less room than all within their precision.
    """
    tried = trials.like(found.trial, step)
    by_chance = mistakes_by_chance(trials, {step: GivenCells(given, found.by)}, tried)
    if by_chance < MOST_BY_CHANCE_BESIDE_A_LIKELY_ONE or not trials.leaves_out(step):
        return by_chance
    fewest = decimals_of(trials.judgement.values, step)
    for decimals in (fewest, fewest + 1):
        by = trials.by(found.trial, trials.rounded_on_the_way(decimals))
        if all(by.gives(step, cell) for cell in given):
            as_they_stand = mistakes_by_chance(trials, {step: GivenCells(given, by)}, tried)
            by_chance = min(by_chance, as_they_stand)
    return by_chance


def mistakes_by_chance(
    trials: Trials, given: Mapping[str, GivenCells], of: Sequence[Trial]
) -> float:
    """How many of the mistakes that are tried would give these cells of steps, were they any
    numbers about as far from the right ones.

    A large step has many cells: as soon as some of them are enough, the others are not looked at.
    """
    tried = [trial for trial in of if given.keys() & trial.affected.keys()]
    found = float(len(tried))
    for step, cells in given.items():
        for share in cells.shares_by_chance(trials.judgement.values, step):
            if found < MOST_BY_CHANCE_BESIDE_A_LIKELY_ONE:
                return found
            found *= share
    return found


def _names(found: list[Explanation]) -> tuple[str, ...]:
    """Each mistake once, in however many ways it explains the numbers."""
    return tuple(dict.fromkeys(one.trial.mistake.name for one in found))


def _rounded(
    trials: Trials,
    step: str,
    cells: tuple[CellIndex, ...],
    plain: RoundedOnTheWay,
    near: Sequence[Trial],
) -> _Best:
    """What gives all numbers of a step if those left out are rounded on the way: that alone, or one
    of the mistakes that are `near` with it.
    """
    claims = trials.judgement.answers.steps[step].cells
    if all(
        plain.gives(step, cell) for cell in np.ndindex(claims.shape) if claims[cell] is not None
    ):
        return _Best((ROUNDED_ON_THE_WAY,), whole=True, likely=True)
    found = _explanations(trials, {step: cells}, plain, tried=near)
    return _best(trials, step, cells, found)


def _mistake_with_slips(
    trials: Trials, step: str, cells: tuple[CellIndex, ...]
) -> Diagnosis | None:
    """What gives all numbers of a step but a few that are wrong in another way, if that is more
    than chance.
    """
    if len(cells) < CELLS_FOR_A_SLIP:
        return None
    # One with few decimals may be a slip beside the mistake, too.
    wrong = tuple(indices_where(trials.judgement.steps[step], "wrong"))
    values = trials.judgement.values
    readings: list[tuple[Reproduction, int | None]] = [(trials.within_precision, None)]
    if trials.leaves_out(step):
        fewest = decimals_of(values, step)
        readings += [
            (trials.rounded_on_the_way(decimals), decimals) for decimals in (fewest, fewest + 1)
        ]
    for reading, decimals in readings:
        tried = _explanations(trials, {step: wrong}, reading, with_slips=True)
        able = [one for one in tried if one.steps[step] and not one.trial.mistake.of_own]
        if not able:
            continue
        best = max(able, key=lambda one: one.rank(step))
        alike = _agreeing([one for one in able if one.slips == best.slips])
        explained = tuple(cell for cell in wrong if cell not in best.slips)
        claims = values.answers.steps[step].cells
        different = {claims[cell].value: cell for cell in explained}.values()
        by_chance = len(known_mistakes()) * coincidence(values.trace.steps[step], claims, different)
        # Who divides by nearly nothing may have any number.
        any_number = _by_chance(trials, step, explained, best)
        if by_chance < MOST_BY_CHANCE and any_number < MOST_BY_CHANCE_BESIDE_A_LIKELY_ONE:
            return Diagnosis(
                step, _names(alike), explained, True, rounded=decimals, slips=best.slips
            )
    return None


def _two_mistakes(trials: Trials, step: str, cells: tuple[CellIndex, ...]) -> Diagnosis | None:
    """Two mistakes behind steps that are not written, if these give all numbers of a step together,
    and chance would not.
    """
    if len(cells) < CELLS_FOR_TWO_MISTAKES or not trials.leaves_out(step):
        return None
    values = trials.judgement.values
    fewest = decimals_of(values, step)
    readings: list[tuple[Reproduction, int | None]] = [
        (trials.rounded_on_the_way(fewest), fewest),
        (trials.rounded_on_the_way(fewest + 1), fewest + 1),
        (trials.within_precision, None),
    ]
    tried = _near(trials, trials.of_two(step), step, cells)
    for reading, decimals in readings:
        found = _explanations(trials, {step: cells}, reading, tried=tried)
        able = [one for one in found if one.steps[step]]
        by_chance = [_by_chance(trials, step, cells, one) for one in able]
        if able and min(by_chance) < MOST_BY_CHANCE_BESIDE_A_LIKELY_ONE:
            names = _names(_agreeing(able))[:MOST_GUESSES]
            return Diagnosis(step, names, cells, True, rounded=decimals)
    return None


def _near(
    trials: Trials, tried: Sequence[Trial], step: str, cells: tuple[CellIndex, ...]
) -> list[Trial]:
    """The mistakes that nearly give all of these cells."""
    nearly = cells_nearly_given(trials, tried, step, cells)
    return [trial for trial, given in nearly if len(given) == len(cells)]


def _rounded_first(trials: Trials, step: str) -> str | None:
    """What it is called that a step's own numbers were rounded to fewer decimals than they are
    written with, if that gives all: from the numbers before them, or from the right ones.
    """
    values = trials.judgement.values
    claims = {}
    for cell, claim in np.ndenumerate(values.answers.steps[step].cells):
        if isinstance(claim, Claim) and claim.value.is_finite():
            claims[cell] = claim
    different = {claim.value for claim in claims.values()}
    if len(different) < FEWEST_ROUNDED:
        return None
    for decimals in range(min(decimals_of(values, step), len(NAMES_OF_DECIMALS))):
        in_units = (Fraction(claim.value) * 10**decimals for claim in claims.values())
        if all(number.denominator == 1 for number in in_units):
            half = Decimal("0.5").scaleb(-decimals)
            coarse = {cell: replace(claim, half=half) for cell, claim in claims.items()}
            is_rounded = _all_given(trials, step, coarse)
            return rounded_first(step, decimals) if is_rounded else None
    return None


def _all_given(trials: Trials, step: str, claims: Mapping[CellIndex, Claim]) -> bool:
    """Whether all of these numbers of a step are right, or follow from those before them."""
    values = trials.judgement.values
    for cell, claim in claims.items():
        if rounds_to(values.true(step, cell), claim):
            continue
        if not trials.within_precision.gives(step, cell, claim):
            return False
    return True


def _row_errors(trials: Trials, step: str, cells: tuple[CellIndex, ...]) -> list[RowError]:
    """The rows and columns that were copied or exchanged, and the numbers that were exchanged, if
    that is more than chance.
    """
    values = trials.judgement.values
    readings: list[Reproduction] = [trials.within_precision]
    if trials.leaves_out(step):
        decimals = decimals_of(values, step)
        readings.append(trials.rounded_on_the_way(decimals))
        readings.append(trials.rounded_on_the_way(decimals + 1))

    def may_be(cell: CellIndex, claim: Claim) -> bool:
        return any(reading.gives(step, cell, claim) for reading in readings)

    claims = values.answers.steps[step].cells
    found = row_errors(values.trace.steps[step], claims, cells, may_be)
    return [row for row in found if row.chance < MOST_BY_CHANCE]


def _cell_errors(
    values: CellValues, step: str, cells: tuple[CellIndex, ...]
) -> dict[tuple[tuple[str, ...], bool], tuple[tuple[CellIndex, ...], CellError]]:
    """The likeliest errors of each cell, those first that explain most of them, and whether they
    are more than chance; with the cells that have the same, and the first of the errors.
    """
    if values.trace.steps[step].rule.given:
        return {}
    found: dict[CellIndex, list[CellError]] = {}
    often: Counter[str] = Counter()
    for cell in cells:
        found[cell] = cell_errors(values, step, cell)
        often.update({error.name for error in found[cell]})
        if len(found) > MOST_CELL_ERRORS and 2 * max(often.values(), default=0) <= len(found):
            return {}
    groups: dict[tuple[tuple[str, ...], bool], tuple[tuple[CellIndex, ...], CellError]] = {}
    for cell, each in found.items():
        beyond_chance = [
            error for error in each if _is_beyond_chance(error, often[error.name], len(cells))
        ]
        # A number whose digits were cut off has few left, so chance says little against that.
        if beyond_chance:
            beyond_chance = [
                error
                for error in each
                if error in beyond_chance or error.kind == ErrorKind.RESULT_CUT
            ]
        possible = beyond_chance or [
            error for error in each if error.plain and len(cells) <= MOST_CELL_ERRORS
        ]
        chosen = {
            error.name: error for error in _likeliest(possible, often, together=bool(beyond_chance))
        }
        if chosen and (beyond_chance or len(chosen) <= MOST_GUESSES):
            key = (
                tuple(chosen),
                bool(beyond_chance) and _is_evident(beyond_chance, often, len(cells)),
            )
            before, first = groups.get(key, ((), next(iter(chosen.values()))))
            groups[key] = (*before, cell), first
    return groups


def _likeliest(
    possible: list[CellError], often: Counter[str], *, together: bool
) -> list[CellError]:
    """The errors that explain most cells, of the likeliest kind; `together` with kinds as likely,
    if they are few.
    """
    if not possible:
        return []
    most, kind = min((-often[error.name], error.kind) for error in possible)
    best = [error for error in possible if (-often[error.name], error.kind) == (most, kind)]
    others = [
        error
        for error in possible
        if -often[error.name] == most and {error.kind, kind} <= ABOUT_AS_LIKELY
    ]
    return others if together and len(best) < len(others) <= MOST_GUESSES else best


def _is_beyond_chance(error: CellError, often: int, wrong: int) -> bool:
    """Whether an error that explains so many of the wrong cells of a step does so by more than
    chance.
    """
    return 2 * often > wrong > 1 or (
        wrong <= MOST_CELL_ERRORS and error.chance * wrong < MOST_BY_CHANCE
    )


def _is_evident(possible: list[CellError], often: Counter[str], wrong: int) -> bool:
    """Whether an error explains several cells; or the only wrong one, and nothing but errors of its
    kind does.

    A digit can be miscopied in so many ways that one cell says little for it, nor against another
    error.
    """
    if max(often[error.name] for error in possible) > 1:
        return True
    if wrong > 1:
        return False
    kinds = {error.kind for error in possible} - {ErrorKind.MISCOPIED}
    if len(kinds) != 1:
        return False
    of_neighbour = kinds == {ErrorKind.RESULT_OF_NEIGHBOUR}
    most = MOST_NEIGHBOURS_BY_CHANCE if of_neighbour else MOST_BY_CHANCE
    return min(error.chance for error in possible) < most


def _agreeing(able: list[Explanation]) -> list[Explanation]:
    """Those that give the most numbers of the whole solution, also where these are right for
    another reason.
    """
    if len(able) < 2:
        return able
    agreement = [one.agreement for one in able]
    return [one for one, agreed in zip(able, agreement, strict=True) if agreed == max(agreement)]


def _without_what_may_be_right(found: list[Explanation], step: str) -> list[Explanation]:
    """Those of which a step shows more than what may as well be right with them, if that is all
    that another one changes: a mask of -1000 is added, whatever else hidden scores may be set to.
    """

    def is_all_of(other: Explanation, one: Explanation) -> bool:
        shown = one.trial.affected[step]
        changes = other.trial.changes
        may_be_right = shown <= {*one.trial.mistake.optional}
        return (
            may_be_right and changes.keys() == shown and has_more_than(one.trial.changes, changes)
        )

    kept = []
    for one in found:
        if not any(is_all_of(other, one) for other in found):
            kept.append(one)
    return kept


def _wrong(judgement: Judgement) -> dict[str, tuple[CellIndex, ...]]:
    """The wrong cells of every step that has any, but for those that only lack decimals."""
    found = {name: tuple(_wrong_cells(cells)) for name, cells in judgement.steps.items()}
    return {name: cells for name, cells in found.items() if cells}


def _wrong_cells(cells: NDArray[np.object_]) -> list[CellIndex]:
    return [index for index in indices_where(cells, "wrong") if not cells[index].too_coarse]


# What a mistake explains


@dataclass(frozen=True, slots=True)
class Explanation:
    """How much of a solution a mistake explains: the steps whose wrong cells it gives, all or but
    for the `slips`, and whether it gives all other numbers of the step; `consistent` where no step
    that it changes says otherwise.
    """

    trial: Trial
    by: Reproduction
    steps: Mapping[str, bool]
    consistent: bool
    cells: int
    slips: tuple[CellIndex, ...] = ()

    def rank(self, step: str) -> tuple[bool, bool, int]:
        return self.steps[step] and self.consistent, self.steps[step], self.cells

    def may_be_named(self, step: str) -> bool:
        """Whether it gives all numbers of the step, where that is asked for."""
        return self.steps[step] or not self.trial.mistake.of_own

    @property
    def agreement(self) -> int:
        """How many numbers of the solution follow from those before them."""
        answers = self.by.values.answers
        return sum(
            self.by.gives(name, cell)
            for name in answers.steps
            for cell in _others(answers, name, ())
        )


def _explanations(
    trials: Trials,
    wrong: Mapping[str, tuple[CellIndex, ...]],
    plain: Reproduction,
    *,
    with_slips: bool = False,
    tried: Sequence[Trial] | None = None,
) -> list[Explanation]:
    """What each known mistake explains, where that is anything, or each of those that are `tried`;
    `plain` is how cells come about without it.

    One `with_slips` may leave a few wrong cells over.
    """
    found = (
        _explain(trial, trials, wrong, plain, with_slips=with_slips)
        for trial in (trials.of_mistakes if tried is None else tried)
    )
    return [explanation for explanation in found if explanation is not None]


def _explain(
    trial: Trial,
    trials: Trials,
    wrong: Mapping[str, tuple[CellIndex, ...]],
    plain: Reproduction,
    *,
    with_slips: bool,
) -> Explanation | None:
    judgement, answers, affected = trials.judgement, trials.judgement.answers, trial.affected
    if not affected.keys() & wrong.keys():
        return None
    by = trials.by(trial, plain)
    steps, slips = {}, []
    for name, cells in wrong.items():
        if name not in affected:
            continue
        most = min(len(cells) // CELLS_FOR_A_SLIP, MOST_CELL_ERRORS) if with_slips else 0
        missed = list(islice((cell for cell in cells if not by.gives(name, cell)), most + 1))
        if len(missed) <= most and not _denied(name, affected, judgement, by):
            steps[name] = all(by.gives(name, cell) for cell in _others(answers, name, cells))
            slips += missed
    if not steps:
        return None

    def is_as_made(name: str) -> bool:
        if name in steps:
            return steps[name]
        return all(by.gives(name, cell) for cell in _others(answers, name, ()))

    consistent = all(is_as_made(name) for name in answers.steps if name in affected)
    explained = sum(len(wrong[name]) for name in steps) - len(slips)
    return Explanation(trial, by, steps, consistent, explained, tuple(slips))


def _denied(
    name: str, affected: Mapping[str, set[str]], judgement: Judgement, by: Reproduction
) -> bool:
    """Whether numbers of other steps that follow from those before them say that no such mistake
    was made in a step left out before. A right number that does not follow says nothing.
    """
    hidden = affected[name] - {name}
    ranges = WithinPrecision.of(by.values)
    return any(
        not ranges.gives(other, cell)
        for other, seen in affected.items()
        if other != name and seen & hidden
        for cell, judged in np.ndenumerate(judgement.steps[other])
        if judged.follows
    )


def _others(answers: Answers, name: str, cells: tuple[CellIndex, ...]) -> Iterator[CellIndex]:
    """The cells of a step that were filled in, without these."""
    there = answers.steps[name].cells
    left_out = set(cells)
    return (
        index
        for index in np.ndindex(there.shape)
        if there[index] is not None and index not in left_out
    )


def rounded_early(judgement: Judgement) -> tuple[str, int, str] | None:
    """A step that was rounded to fewer decimals than the first step with carried cells after it:
    its name, how many they are, and the name of that other step. None where an error is what is
    carried on, or no rounding is early.
    """
    values = judgement.values
    for name, cells in judgement.steps.items():
        if indices_where(cells, "wrong", "rounding"):
            return None
        if not indices_where(cells, "carried"):
            continue
        left_out = left_out_before(values.trace, values.answers, name)
        read = {
            of
            for step in left_out
            for of in values.trace.steps[step].rule.inputs
            if of in judgement.steps
        }
        early = [
            (decimals_of(values, of), of)
            for of in judgement.steps
            if of in read and _is_rounded(values, of)
        ]
        decimals, step = min(early, key=itemgetter(0), default=(0, ""))
        return (step, decimals, name) if step and decimals < decimals_of(values, name) else None
    return None


def _is_rounded(values: CellValues, name: str) -> bool:
    cells = np.ndenumerate(values.answers.steps[name].cells)
    return any(
        claim is not None and not claim.exact and claim.value != values.own(name, at)
        for at, claim in cells
    )
