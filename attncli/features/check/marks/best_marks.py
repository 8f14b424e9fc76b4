"""What a solution earns, and no less than it would with one number more that is wrong.

Who puts a number right loses nothing, though others follow from what stood there before. So a
solution is marked with such numbers in it, too, and the best marks count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from attncli.attention.registry import GRADIENT_RULES
from attncli.features.check.cell_values import CellIndex
from attncli.features.check.diagnosed import diagnosed, diagnosed_as_rounded
from attncli.features.check.diagnosis import Diagnosis, diagnose
from attncli.features.check.marks.as_written import as_written, further_mistakes
from attncli.features.check.marks.likeliest_numbers import likeliest
from attncli.features.check.marks.model import LostShare, Marks, WrongCell
from attncli.features.check.marks.other_numbers import OtherNumbers, WrongOfSteps
from attncli.features.check.marks.partial_mistakes import MOST_WRONG_CELLS
from attncli.features.check.marks.solution import solution_marks
from attncli.features.check.rounded_between import rounded_between
from attncli.features.check.trials import is_of_paper_size
from attncli.features.check.verdicts import Judgement, Solution
from attncli.marking.scheme import Scheme

# So often, further numbers are looked for beside those that were found.
MOST_TURNS = 5


class MarkedSolution(NamedTuple):
    """A solution with what explains it, and what it earns."""

    solution: Solution
    diagnoses: tuple[Diagnosis, ...]
    marks: Marks


def best_marks(
    solution: Solution, diagnoses: Sequence[Diagnosis], scheme: Scheme
) -> MarkedSolution:
    """What a solution earns by a scheme, with the verdicts and diagnoses in the light of that.

    Raises AttncliError (exit 3) for a step of the scheme that the problem has not.
    """
    own = best = _marked(solution, tuple(diagnoses), scheme)
    replaced: dict[WrongCell, str] = {}
    for _ in range(MOST_TURNS):
        found = _better(best, scheme, is_mended=bool(replaced))
        if found is None:
            break
        best, others = found
        replaced.update(others.said)
    if not replaced:
        return own
    return _as_written(own, best, replaced)


def _as_written(
    own: MarkedSolution, best: MarkedSolution, replaced: Mapping[WrongCell, str]
) -> MarkedSolution:
    """The best marks, and what explains the solution as it was written."""
    written, other = own.solution.for_marks, best.solution.for_marks
    marks, following = as_written(written, other, best.marks, replaced, best.diagnoses)
    told = set[WrongCell]()
    for found in following:
        told.update(_cells(found))
    slips = set[WrongCell]()
    for slip in marks.slips:
        slips.update(slip.cells if slip.names else ())
    kept = []
    for found in own.diagnoses:
        known = told if found.likely else told | slips
        if not known.issuperset(_cells(found)):
            kept.append(found)
    further = further_mistakes(written, kept, best.diagnoses)
    return MarkedSolution(own.solution, (*kept, *further, *following), marks)


def _cells(found: Diagnosis) -> Iterator[WrongCell]:
    for index in found.cells:
        yield found.step, index


def _marked(solution: Solution, diagnoses: tuple[Diagnosis, ...], scheme: Scheme) -> MarkedSolution:
    """The marks of a solution as it stands."""
    earned = solution_marks(solution, diagnoses, scheme)
    while enough := _explained_with_few_digits(solution, earned):
        solution = solution.with_enough_digits(enough)
        diagnoses = diagnose(solution.read_as_cut or solution.verdicts)
        earned = solution_marks(solution, diagnoses, scheme)
    return MarkedSolution(solution, diagnoses, earned)


def _explained_with_few_digits(solution: Solution, earned: Marks) -> list[tuple[str, CellIndex]]:
    """The numbers that look as if they had too few decimals, and that a mistake or a slip gives
    which costs something already, or that rounding on the way gives.
    """
    found: list[WrongCell] = []
    if any(map(_is_too_coarse, earned.lost)):
        found += _rounded_with_few_digits(solution)
    for each in (*earned.mistakes, *earned.slips):
        for name, index in each.cells:
            if each.said and solution.verdicts.steps[name][index].too_coarse:
                found.append((name, index))
    return found


def _is_too_coarse(lost: LostShare) -> bool:
    """Whether numbers have too few decimals, each by itself."""
    return lost.reason == "too coarse" and lost.rounded_to is None


def _rounded_with_few_digits(solution: Solution) -> Iterator[WrongCell]:
    """The numbers that are off because of rounding on the way, and end with zeros that are left
    out.
    """
    judgement = solution.verdicts
    for name, cells in rounded_between(judgement).items():
        for index in cells:
            if judgement.steps[name][index].too_coarse:
                yield name, index


def _better(
    marked: MarkedSolution, scheme: Scheme, *, is_mended: bool
) -> tuple[MarkedSolution, OtherNumbers] | None:
    """The solution with other numbers in the place of right ones, if it earns more with them; it
    `is_mended` if it has some already.
    """
    solution, diagnoses, earned = marked
    judgement = solution.of_all
    wrong = _wrong(judgement)
    if not _other_numbers_may_help(judgement, wrong, marked, scheme):
        return None
    # Numbers that are put there are rounded, and no sign that digits were cut off.
    read = diagnosed if solution.read_as_cut is not None else diagnosed_as_rounded
    best = None
    for others, judged, cost in likeliest(judgement, wrong, diagnoses, earned, scheme):
        # They come in the order of what they leave: no other one leaves less.
        if is_mended and earned.lost_for_what_is_written <= cost:
            break
        other = Solution(judged, solution.lenient, solution.other_form)
        diagnosed_other = read(other)
        found = _marked(*diagnosed_other, scheme)
        marks = found.marks
        if marks.balance > earned.balance:
            earned = marks
            best = found, others
            is_mended = True
    return best


def _other_numbers_may_help(
    judgement: Judgement, wrong: WrongOfSteps, marked: MarkedSolution, scheme: Scheme
) -> bool:
    """Whether something is left that other numbers may explain for less."""
    _, diagnoses, earned = marked
    number = sum(map(len, wrong.values()))
    if not 0 < number <= MOST_WRONG_CELLS:
        return False
    if judgement.meant or not _is_forward_on_paper(judgement):
        return False
    # Rounded too early, numbers follow from many others.
    if any(map(_is_too_coarse, earned.lost)) and not _has_all_decimals(judgement):
        return False
    # It has a cause of its own, or follows from what stood where a right number was put.
    if number == 1:
        return _has_number_put_right(judgement)
    if any(lost.reason != "missing" for lost in earned.lost):
        return True
    # A mistake that explains all of it is likelier than a slip, which costs less.
    if len(earned.mistakes) > 1:
        return True
    perhaps = any(taken.perhaps for taken in earned.mistakes)
    # What looks like the same error in several cells may follow from one number.
    of_cells = any(found.error is not None and len(found.cells) > 1 for found in diagnoses)
    is_unsure = perhaps or of_cells or bool(earned.slips)
    return is_unsure and earned.taken_off > scheme.slip


def _has_all_decimals(judgement: Judgement) -> bool:
    """Whether some number has as many decimals as were asked for: then others may end in zeros that
    are left out.
    """
    for answer in judgement.answers.steps.values():
        if not all(claim.exact or claim.coarse for claim in answer.claims):
            return True
    return False


def _has_number_put_right(judgement: Judgement) -> bool:
    """Whether a right number does not follow from those before it."""
    steps = judgement.trace.steps
    for name, _, cell in judgement.cells_that_are("right"):
        is_worked = not steps[name].rule.given
        if is_worked and not cell.follows:
            return True
    return False


def _is_forward_on_paper(judgement: Judgement) -> bool:
    """Whether it has no gradients, and is of a size to be worked by hand."""
    if GRADIENT_RULES.keys() & judgement.steps.keys():
        return False
    return is_of_paper_size(judgement.values)


def _wrong(judgement: Judgement) -> dict[str, tuple[CellIndex, ...]]:
    found: dict[str, list[CellIndex]] = {}
    for name, index, _ in judgement.cells_that_are("wrong"):
        found.setdefault(name, []).append(index)
    return {name: tuple(cells) for name, cells in found.items()}
