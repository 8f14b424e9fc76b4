"""Which known mistake gives the numbers that are wrong in a solution: only what gives them as written is named.

A mistake is tried by changing its equations in the trace: every cell is then what it would be by the solution's own
earlier numbers, through all that was left out, had the mistake been made. So an output alone is told from as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from attncli.features.check.carried_values import Sentences
from attncli.features.check.cell_equations import Cell
from attncli.features.check.explanation import Explained, InRanges, explanation
from attncli.features.check.on_paper import OnPaper, decimals_of, goes_back, leaves_out
from attncli.features.check.single_cell_errors import Slip, slips
from attncli.features.check.verdicts import Verdicts
from attncli.mistakes.catalogue import MISTAKES

BY_CHANCE = 0.1  # cells of a step that slips may be expected to explain by chance, and still be named
MOST_SLIPS = 3  # in one step; more that is wrong has another cause, or one for most of it
MOST_GUESSES = 3  # slips that are named for a cell although chance would do as well
ROUNDED_ON_THE_WAY = "the steps left out were rounded on the way"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What explains the wrong cells of a step: one of these mistakes, which its numbers cannot tell apart.

    `cells` are the wrong cells it explains; `whole` says whether it gives all the other numbers of the step, too.
    It is not `likely` where chance, or so few cells, would let it be named as well. `rounded` is to how many decimals
    the steps that are left out are rounded on the way, if they have to be; those of the way there only when they have
    been worked out `there_in_full`. `slip` is the first of its slips.
    """

    step: str
    mistakes: tuple[str, ...]
    cells: tuple[Cell, ...]
    whole: bool
    likely: bool = True
    rounded: int | None = None
    there_in_full: bool = False
    slip: Slip | None = None


def diagnose(verdicts: Verdicts) -> tuple[Diagnosis, ...]:
    """For every step with wrong cells that a known mistake explains, all mistakes that explain the most."""
    wrong = _wrong(verdicts)
    if not wrong:
        return ()
    plain = InRanges(Sentences(verdicts.trace, verdicts.answers))
    found = [explained for mistake in MISTAKES if (explained := explanation(mistake, verdicts, wrong, plain))]
    return tuple(one for step, cells in wrong.items() for one in _of_step(verdicts, step, cells, found))


def _of_step(verdicts: Verdicts, step: str, cells: tuple[Cell, ...], found: list[Explained]) -> Iterator[Diagnosis]:
    sentences = Sentences(verdicts.trace, verdicts.answers)
    named, whole = _best(step, found)
    if whole:
        yield Diagnosis(step, named, cells, True)
        return
    if leaves_out(sentences, step):
        fewest = decimals_of(sentences, step)
        ways = (False, True) if goes_back(sentences, step) else (False,)
        for there_in_full, decimals in product(ways, (fewest, fewest + 1)):
            plain = OnPaper(sentences, decimals, there_in_full)
            if rounded := _rounded(verdicts, step, cells, plain):
                yield Diagnosis(step, rounded, cells, True, rounded=decimals, there_in_full=there_in_full)
                return
    if len(cells) > 1 and named:
        yield Diagnosis(step, named, cells, False, likely=len(cells) > MOST_SLIPS)
        return
    slipped = _slips(sentences, step, cells)
    if not slipped and 0 < len(named) <= MOST_GUESSES:
        yield Diagnosis(step, named, cells, False, likely=False)
    for (names, likely), (of, slip) in slipped.items():
        yield Diagnosis(step, names, of, False, likely, slip=slip)


def _best(step: str, found: list[Explained]) -> tuple[tuple[str, ...], bool]:
    """The mistakes that explain a step best, and whether they give all of its numbers."""
    able = [one for one in found if step in one.steps]
    best = max((one.rank(step) for one in able), default=(False, False, 0))
    named = tuple(one.mistake.name for one in _agreeing([one for one in able if one.rank(step) == best]))
    return named, best[1]


def _rounded(verdicts: Verdicts, step: str, cells: tuple[Cell, ...], plain: OnPaper) -> tuple[str, ...]:
    """What gives all numbers of a step if those left out are rounded on the way: that alone, or a mistake with it."""
    claims = verdicts.answers.steps[step].cells
    if all(plain.gives(step, cell) for cell in np.ndindex(claims.shape) if claims[cell] is not None):
        return (ROUNDED_ON_THE_WAY,)
    tried = (explanation(mistake, verdicts, {step: cells}, plain) for mistake in MISTAKES)
    named, whole = _best(step, [explained for explained in tried if explained])
    return named if whole else ()


def _slips(
    sentences: Sentences, step: str, cells: tuple[Cell, ...]
) -> dict[tuple[tuple[str, ...], bool], tuple[tuple[Cell, ...], Slip]]:
    """The likeliest slips of each cell, those first that explain most of them, and whether they are more than chance;
    with the cells that have the same, and the first of the slips."""
    if sentences.trace.steps[step].rule.given:
        return {}
    found: dict[Cell, list[Slip]] = {}
    often: Counter[str] = Counter()
    for cell in cells:
        found[cell] = slips(sentences, step, cell)
        often.update({slip.name for slip in found[cell]})
        if len(found) > MOST_SLIPS and 2 * max(often.values(), default=0) <= len(found):
            return {}
    groups: dict[tuple[tuple[str, ...], bool], tuple[tuple[Cell, ...], Slip]] = {}
    for cell, each in found.items():
        telling = [slip for slip in each if _tells(slip, often[slip.name], len(cells))]
        possible = telling or [slip for slip in each if slip.plain and len(cells) <= MOST_SLIPS]
        best = min(((-often[slip.name], slip.kind) for slip in possible), default=None)
        chosen = {slip.name: slip for slip in possible if (-often[slip.name], slip.kind) == best}
        if chosen and (telling or len(chosen) <= MOST_GUESSES):
            key = tuple(chosen), bool(telling)
            before, first = groups.get(key, ((), next(iter(chosen.values()))))
            groups[key] = (*before, cell), first
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
