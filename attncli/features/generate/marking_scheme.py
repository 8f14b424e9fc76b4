"""The scheme by which a set is marked: what was asked, what each step is worth, and what a mistake
costs.

A teacher reads it and may change it, and `attncli check` marks by it. So every line says what it
does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from operator import mul

from attncli.english import count, either, listed
from attncli.features.generate.asked import copied_from, has_given_numbers
from attncli.features.generate.sheet_marks import SheetMarks, plain_marks
from attncli.tracing.model import Trace

# Of the marks of the whole, a mistake costs this share, and a slip half of it.
_SHARE_OF_A_MISTAKE = Fraction(1, 10)
_HALF = Fraction(1, 2)

_BEGINNING = """\
# How attncli check marks this set. Change any number, and leave the words before the colons.
# Whatever you change counts the next time that you run attncli check --batch manifest.csv.

# The marks of the whole sheet.
marks: {marks}

# How many decimals the sheets ask for. A number that was rounded to fewer is not right; a whole
# number needs none.
decimals: {decimals}

# The marks of each step. They add up to those of the whole sheet: change two at once. Every number
# that a student writes is worth about the same, so a step of more numbers has more marks. A step
# without a line here is not marked, but a mistake in it is still found, and costs what it costs.
{copies}steps:
"""
_END = """
# Taken off once for each mistake, such as dividing by d_k and not by its root, in whatever step it
# was made. The numbers that follow from it cost nothing more.
mistake: {mistake}

# Taken off for each single number that is wrong by itself, such as 2·3 = 5. What follows from it
# costs nothing more. Several in one step cost no more than a mistake, or than the marks of their
# numbers, if these are more.
slip: {slip}

# The part of its marks that a number loses for each decimal that is missing. With 0.5, one decimal
# where two are asked for costs half of them, and a whole number all. With 1, each costs all.
digit: 0.5
"""


def marking(trace: Trace, asked: Sequence[str], marks: SheetMarks, decimals: int) -> Iterator[str]:
    """The lines of marking.yaml for these steps of a trace, which all problems of the set have."""
    numbers = numbers_of(trace, asked)
    copied = [name for name in asked if name not in numbers]
    said = ""
    if copied:
        said = f"# {listed(copied)} {either(len(copied), 'is', 'are')} only copied: no marks.\n"
    yield _BEGINNING.format(marks=marks.whole, decimals=decimals, copies=said)
    for name, share in marks_of_steps(trace, asked, marks).items():
        title = trace.steps[name].rule.title.lower()
        yield f"  {name}: {share}  # {title}, {count(numbers[name], 'number')}\n"
    mistake = _cost_of_a_mistake(marks.whole)
    yield _END.format(mistake=plain_marks(mistake), slip=plain_marks(mistake / 2))


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
    unit = _HALF
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
    right = [Fraction(units * size, of_all) for size in steps_of]
    near = [range(max(1, int(share) - 1), int(share) + 3) for share in right]
    fitting = []
    for parts in product(*near):
        shared = sum(map(mul, parts, steps_of.values()))
        grows = [*parts] == sorted(parts)
        if shared != units or not grows:
            continue
        off = sum(abs(part - share) ** 2 for part, share in zip(parts, right, strict=True))
        fitting.append((off, parts))
    if not fitting:
        return None
    _, best = min(fitting)
    part_of = dict(zip(steps_of, best, strict=True))
    return {name: part_of[size] for name, size in numbers.items()}


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


def _cost_of_a_mistake(marks: int) -> Fraction:
    """A tenth of all marks, rounded to half a mark where it is that much."""
    tenth = marks * _SHARE_OF_A_MISTAKE
    if tenth < _HALF:
        return tenth
    return Fraction(int(tenth / _HALF + _HALF)) * _HALF
