"""What each step of a sheet is worth: the marks of the whole, shared out by the numbers of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import TypeAlias

from attncli.marking.asked import copied_from, has_given_numbers
from attncli.marking.sheet_marks import SheetMarks, plain_marks
from attncli.tracing.model import Trace

HALF = Fraction(1, 2)
# By the last part and all units that are shared out: how far off the parts are, and these.
_BestParts: TypeAlias = dict[tuple[int, int], tuple[Fraction, tuple[int, ...]]]


def marks_of_steps(trace: Trace, asked: Sequence[str], marks: SheetMarks) -> dict[str, str]:
    """What each of these steps is worth, as it is written; steps that are only copied are not
    there.
    """
    numbers = numbers_of(trace, asked)
    of_steps = marks.of_steps or shares(numbers, marks.whole)
    written = {}
    for name in numbers:
        written[name] = plain_marks(of_steps[name])
    return written


def numbers_of(trace: Trace, asked: Sequence[str]) -> dict[str, int]:
    """How many numbers the steps have that bring marks: not those that only have the numbers of
    another one again, or given ones, if there are others.
    """
    worked_out = [name for name in asked if not _is_copied(trace, name, asked)]
    numbers = {}
    for name in worked_out or asked:
        numbers[name] = prod(trace.steps[name].shape)
    return numbers


def _is_copied(trace: Trace, name: str, asked: Sequence[str]) -> bool:
    return bool(copied_from(trace, name, asked)) or has_given_numbers(trace, name)


def shares(numbers: Mapping[str, int], marks: int) -> dict[str, Fraction]:
    """The marks of each step, by how many numbers it has.

    They are whole or half marks that add up to the whole. Only if there are more steps than half
    marks, they are smaller. Where that is possible, steps of as many numbers have the same marks.

    >>> shares({"weights": 16, "output": 20}, 20)
    {'weights': Fraction(9, 1), 'output': Fraction(11, 1)}
    """
    unit = HALF
    while marks / unit < len(numbers):
        unit /= 2
    units = int(marks / unit)
    parts = _equal_parts(numbers, units) or _parts(numbers, units)
    return {name: part * unit for name, part in parts.items()}


def _equal_parts(numbers: Mapping[str, int], units: int) -> dict[str, int] | None:
    """So many units, shared out so that steps of as many numbers have the same, and those of more
    have no fewer; None where that is impossible near the right shares.
    """
    steps_of = Counter(sorted(numbers.values()))
    of_all = sum(numbers.values())
    best: _BestParts = {(0, 0): (Fraction(0), ())}
    for size, steps in steps_of.items():
        share = Fraction(units * size, of_all)
        best = _with_next(best, share, steps)
    fitting = [found for (_, used), found in best.items() if used == units]
    if not fitting:
        return None
    _, parts = min(fitting)
    part_of = dict(zip(steps_of, parts, strict=True))
    return {name: part_of[size] for name, size in numbers.items()}


def _with_next(best: _BestParts, share: Fraction, steps: int) -> _BestParts:
    """The best parts with one more for so many steps, near their share, and no less than the
    last.
    """
    near = range(max(1, int(share) - 1), int(share) + 3)
    found: _BestParts = {}
    for (last, used), (off, parts) in best.items():
        for part in near:
            if part < last:
                continue
            key = part, used + part * steps
            with_it = off + (part - share) ** 2, (*parts, part)
            found[key] = min(with_it, found.get(key, with_it))
    return found


def _parts(numbers: Mapping[str, int], units: int) -> dict[str, int]:
    """So many units, at least one for each step; each further one goes where most is lacking, and
    of several such steps to the last, which has most to think about.
    """
    of_all = sum(numbers.values())
    parts = dict.fromkeys(numbers, 1)

    def lacking(name: str) -> Fraction:
        right = Fraction(units * numbers[name], of_all)
        return right - parts[name]

    for _ in range(units - len(parts)):
        neediest = max(reversed(parts), key=lacking)
        parts[neediest] += 1
    return parts
