"""Which known mistake gives the numbers that are wrong in a solution: only what gives them as written is named.

A mistake is tried by changing its equations in the trace: every cell is then what it would be by the solution's own
earlier numbers, through all that was left out, had the mistake been made. So an output alone is told from as well.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from attncli.study.explanation import Explained, explanation
from attncli.study.mistakes import MISTAKES
from attncli.study.sentences import Cell, Sentences
from attncli.study.slips import Slip, slips
from attncli.study.verdicts import Verdicts

BY_CHANCE = 0.1  # cells of a step that slips may be expected to explain by chance, and still be named
MOST_SLIPS = 3  # in one step; more that is wrong has another cause, or one for most of it
MOST_GUESSES = 3  # slips that are named for a cell although chance would do as well


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What explains the wrong cells of a step: one of these mistakes, which its numbers cannot tell apart.

    `cells` are the wrong cells it explains; `whole` says whether it gives all the other numbers of the step, too.
    It is not `likely` if so many slips of its kind can be made that one of them gives just any number.
    """

    step: str
    mistakes: tuple[str, ...]
    cells: tuple[Cell, ...]
    whole: bool
    likely: bool = True


def diagnose(verdicts: Verdicts) -> tuple[Diagnosis, ...]:
    """For every step with wrong cells that a known mistake explains, all mistakes that explain the most."""
    wrong = _wrong(verdicts)
    if not wrong:
        return ()
    found = [explained for mistake in MISTAKES if (explained := explanation(mistake, verdicts, wrong))]
    sentences = Sentences(verdicts.trace, verdicts.answers)
    diagnoses: list[Diagnosis] = []
    for step, cells in wrong.items():
        able = [one for one in found if step in one.steps]
        best = max((one.rank(step) for one in able), default=(False, False, 0))
        named = tuple(one.mistake.name for one in _agreeing([one for one in able if one.rank(step) == best]))
        if named and (best[1] or len(cells) > 1):
            diagnoses.append(Diagnosis(step, named, cells, best[1]))
            continue
        for (slipped, likely), of in _slips(sentences, step, cells).items():
            diagnoses.append(Diagnosis(step, (*named, *slipped), of, False, likely))
        if named and not any(diagnosis.step == step for diagnosis in diagnoses):
            diagnoses.append(Diagnosis(step, named, cells, False))
    return tuple(diagnoses)


def _slips(
    sentences: Sentences, step: str, cells: tuple[Cell, ...]
) -> dict[tuple[tuple[str, ...], bool], tuple[Cell, ...]]:
    """The likeliest slips of each cell, those first that explain most of them, whether they are more than chance, and
    the cells that have the same."""
    if sentences.trace.steps[step].rule.given:
        return {}
    found: dict[Cell, list[Slip]] = {}
    often: Counter[str] = Counter()
    for cell in cells:
        found[cell] = slips(sentences, step, cell)
        often.update({slip.name for slip in found[cell]})
        if len(found) > MOST_SLIPS and 2 * max(often.values(), default=0) <= len(found):
            return {}
    groups: dict[tuple[tuple[str, ...], bool], tuple[Cell, ...]] = {}
    for cell, each in found.items():
        telling = [slip for slip in each if _tells(slip, often[slip.name], len(cells))]
        possible = telling or [slip for slip in each if slip.plain and len(cells) <= MOST_SLIPS]
        best = min(((-often[slip.name], slip.kind) for slip in possible), default=None)
        named = tuple(dict.fromkeys(slip.name for slip in possible if (-often[slip.name], slip.kind) == best))
        if named and (telling or len(named) <= MOST_GUESSES):
            groups[named, bool(telling)] = (*groups.get((named, bool(telling)), ()), cell)
    return groups


def _tells(slip: Slip, often: int, wrong: int) -> bool:
    """Whether a slip that explains so many of the wrong cells of a step does so by more than chance."""
    return 2 * often > wrong > 1 or (wrong <= MOST_SLIPS and slip.chance * wrong < BY_CHANCE)


def _agreeing(able: list[Explained]) -> list[Explained]:
    """Those that give the most numbers of the whole solution, also where these are right for another reason."""
    if len(able) < 2:
        return able
    agreement = [one.agreement for one in able]
    return [one for one, agreed in zip(able, agreement, strict=True) if agreed == max(agreement)]


def _wrong(verdicts: Verdicts) -> dict[str, tuple[Cell, ...]]:
    """The wrong cells of every step that has any."""
    found: dict[str, list[Cell]] = {}
    for name, index, judged in verdicts.cells():
        if judged.verdict == "wrong":
            found.setdefault(name, []).append(index)
    return {name: tuple(cells) for name, cells in found.items()}
