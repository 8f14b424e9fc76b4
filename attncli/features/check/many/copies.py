"""Answers that are more alike than students who work alone would have made them: a note for the
teacher, and never a verdict.

Two things show it. Answers may be wrong for their own problem, and right for that of another
student. And two solutions may have the same wrong numbers in the same cells, which no known mistake
explains. Each is noted only if chance would bring less than one such case in a hundred classes.

How likely chance is, is counted in the class itself, and to the side of the students: a number that
others have written there, too, is no sign of anything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, prod
from typing import NamedTuple

from attncli.cli.classes.summary import all_named
from attncli.features.check.diagnosis import Diagnosis
from attncli.features.check.verdicts import DIFFER_WHEN_SHIFTED, ONLY_SHIFTED, Solution

# A note is written if fewer classes than this would have such a case by chance.
MOST_BY_CHANCE = 0.01
# One number may be alike in any two solutions.
FEWEST_NUMBERS = 2
# Wrong numbers are often near the right one: two are the same in one case of so many.
WRONG_NUMBERS_THAT_ARE_USUAL = 20
# A slip with a name, such as a sign that is wrong, is made by many: two are the same in one case of
# so many.
NAMED_SLIPS_THAT_ARE_USUAL = 3
# If more cells of a step are wrong, they have one cause, which two students may share.
MOST_SLIPS = 3
# Two students whose step is wrong as a whole have the same cause in one case of so many.
CAUSES_THAT_ARE_USUAL = 5
# Whether these are right depends on how the softmax was worked out.
_OF_EITHER_FORM = frozenset({*ONLY_SHIFTED, *DIFFER_WHEN_SHIFTED})

Cell = tuple[str, tuple[int, ...]]
# A cell, and what stands in it.
Key = tuple[Cell, float]
# The numbers of a problem, by the cells that they stand in.
Truth = Mapping[Cell, float]


class Written(NamedTuple):
    """A number that a student wrote, which stands for all numbers within `half` of `value`.

    It may be `right`. If it is not, it is `unexplained` where it does not follow from the numbers
    before it, and no mistake of a whole step gives it either. It may be a slip that has a name.
    """

    cell: Cell
    value: float
    half: float
    right: bool
    unexplained: bool
    named: bool = False

    @property
    def key(self) -> Key:
        """What two students share who wrote the same number in the same cell."""
        return self.cell, self.value

    @property
    def step(self) -> str:
        """The step that it stands in."""
        return self.cell[0]

    def is_in(self, truth: Truth) -> bool:
        """Whether the number is right, as written, for a problem with these numbers."""
        right = truth.get(self.cell)
        if right is None:
            return False
        size = max(abs(right), 1)
        room = self.half + 1e-12 * size
        apart = abs(self.value - right)
        return apart <= room


def written_numbers(solution: Solution, diagnoses: Sequence[Diagnosis]) -> tuple[Written, ...]:
    """The numbers of a solution that can show whose they are."""
    of_mistakes, of_slips = set[Cell](), set[Cell]()
    for one in diagnoses:
        # Of several cells, an error is one cause that others may share, as a mistake is.
        is_slip = one.error is not None and len(one.cells) == 1
        cells = of_slips if is_slip else of_mistakes
        cells.update((one.step, index) for index in one.cells)
    found = []
    for name, index, cell in solution.verdicts.cells_that_are("right", "wrong", "carried"):
        if cell.given is None or name in _OF_EITHER_FORM:
            continue
        at = (name, index)
        number = Written(
            at,
            float(cell.given.value),
            float(cell.given.half),
            right=cell.verdict == "right",
            unexplained=cell.verdict == "wrong" and at not in of_mistakes,
            named=at in of_slips,
        )
        found.append(number)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class OfAnother:
    """A student whose numbers are those of others, who have another problem: so many `numbers`,
    `of` all that are not right for the student's own problem.

    They are the right ones for the problem of the `others`, or else the ones that the other one has
    written, too.
    """

    student: str
    others: tuple[str, ...]
    right_there: bool
    numbers: int
    of: int
    chance: float


@dataclass(frozen=True, slots=True)
class Alike:
    """Students with the same wrong numbers in the same cells, and the fewest that two who are alike
    share.
    """

    students: tuple[str, ...]
    numbers: int
    chance: float


@dataclass(frozen=True, slots=True)
class Copies:
    """All that is alike in a class. `chance` is how many cases like it a class would have."""

    of_another: tuple[OfAnother, ...] = ()
    alike: tuple[Alike, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.of_another or self.alike)

    def note(self, student: str) -> str:
        """What the row of a student says of it; nothing if there is nothing to say."""
        notes = []
        for found in self.of_another:
            if found.student == student:
                what = "the answers to the problem of" if found.right_there else "the answers of"
                notes.append(f"these are {what} {all_named(found.others)}")
        for group in self.alike:
            if student in group.students:
                others = [name for name in group.students if name != student]
                notes.append(f"the same wrong numbers as {all_named(others)}")
        return "; ".join(notes)


@dataclass(frozen=True, slots=True)
class Handed:
    """What a student handed in: the numbers, and the name of the problem."""

    student: str
    problem: str
    written: tuple[Written, ...] = field(repr=False)

    @property
    def not_right(self) -> tuple[Written, ...]:
        """The numbers that are not right for the student's own problem."""
        return tuple(number for number in self.written if not number.right)


def copies(handed: Sequence[Handed], truth_of: Callable[[str], Truth]) -> Copies:
    """All answers of a class that are alike beyond chance.

    `truth_of` gives the numbers of a problem by its name. It is asked only if somebody has more
    wrong numbers than right ones.
    """
    of_another = tuple(_of_another(handed, truth_of))
    # What was copied from another sheet is alike for this reason.
    known = {found.student for found in of_another}
    rest = [each for each in handed if each.student not in known]
    return Copies(of_another, tuple(_alike(rest)))


# The numbers of a student who has another problem


@dataclass(frozen=True, slots=True)
class _Source:
    """Numbers that may have been copied: the right ones of a problem, or those that a student
    wrote.
    """

    students: tuple[str, ...]
    problem: str
    numbers: Truth
    right: bool


def _of_another(handed: Sequence[Handed], truth_of: Callable[[str], Truth]) -> Iterator[OfAnother]:
    problems: dict[str, list[str]] = defaultdict(list)
    for each in handed:
        problems[each.problem].append(each.student)
    suspects = [each for each in handed if 2 * len(each.not_right) > len(each.written)]
    if len(problems) < 2 or not suspects:
        return
    right = [
        _Source(tuple(students), name, truth_of(name), right=True)
        for name, students in problems.items()
    ]
    written = [
        _Source((each.student,), each.problem, _by_cell(each.written), right=False)
        for each in handed
    ]
    for each in suspects:
        # Numbers that are right somewhere say more than those that somebody else has, too.
        found = _likeliest(each, right) or _likeliest(each, written)
        if found:
            yield found


def _by_cell(written: Iterable[Written]) -> Truth:
    return {number.cell: number.value for number in written}


def _likeliest(each: Handed, sources: Sequence[_Source]) -> OfAnother | None:
    """The source of which a student has most numbers, if that is not by chance."""
    others = [source for source in sources if source.problem != each.problem]
    found = [_fitting(each, source, others) for source in others]
    fitting = [one for one in found if one is not None]
    return max(fitting, key=lambda one: one.numbers, default=None)


def _fitting(each: Handed, source: _Source, sources: Sequence[_Source]) -> OfAnother | None:
    """Whether the wrong numbers of a student are those of this source, and not by chance."""
    not_right = each.not_right
    fitting = [number for number in not_right if number.is_in(source.numbers)]
    numbers = len(fitting)
    if 2 * numbers <= len(not_right):
        return None
    # What follows from other numbers shows nothing beyond them.
    shown = [number for number in fitting if number.unexplained]
    if len(shown) < FEWEST_NUMBERS:
        return None
    others = [one.numbers for one in sources if one.problem != source.problem]
    by_chance = [_share_that_has(number, others) for number in shown]
    # Whoever looks at many sources finds one that has some of the numbers.
    unexplained = sum(number.unexplained for number in not_right)
    ways = comb(unexplained, len(shown)) * len(sources)
    expected = ways * prod(by_chance)
    chance = min(expected, 1.0)
    if chance >= MOST_BY_CHANCE:
        return None
    return OfAnother(each.student, source.students, source.right, numbers, len(not_right), chance)


def _share_that_has(number: Written, others: Sequence[Truth]) -> float:
    """How often such a cell has this number, as these others have it."""
    found = sum(number.is_in(numbers) for numbers in others)
    usual = 1 / WRONG_NUMBERS_THAT_ARE_USUAL
    if not found:
        return usual
    return max((found + 1) / (len(others) + 2), usual)


# The same wrong numbers


def _alike(handed: Sequence[Handed]) -> Iterator[Alike]:
    unexplained = [_unexplained(each) for each in handed]
    who: dict[Key, list[int]] = defaultdict(list)
    for at, numbers in enumerate(unexplained):
        for key in numbers:
            who[key].append(at)
    shared: dict[tuple[int, int], list[Written]] = defaultdict(list)
    for key, students in who.items():
        for pair in combinations(students, 2):
            shared[pair].append(unexplained[pair[0]][key])
    counted = _Counted.of([[*each.values()] for each in unexplained])
    found = {}
    for pair, same in shared.items():
        chance = counted.chance(pair, same)
        if len(same) >= FEWEST_NUMBERS and chance < MOST_BY_CHANCE:
            found[pair] = (len(same), chance)
    for group in _groups(found):
        pairs = [pair for pair in found if pair[0] in group]
        yield Alike(
            tuple(handed[at].student for at in sorted(group)),
            min(found[pair][0] for pair in pairs),
            max(found[pair][1] for pair in pairs),
        )


def _unexplained(handed: Handed) -> dict[Key, Written]:
    return {number.key: number for number in handed.written if number.unexplained}


@dataclass(frozen=True, slots=True)
class _Counted:
    """How many students have an unexplained number in a cell, each such number, and a step that is
    wrong as a whole.
    """

    students: int
    whole: tuple[frozenset[str], ...]
    in_cell: Counter[Cell]
    same: Counter[Key]
    of_steps: Counter[str]

    @classmethod
    def of(cls, unexplained: Sequence[Sequence[Written]]) -> _Counted:
        whole = tuple(_wrong_as_a_whole(numbers) for numbers in unexplained)
        numbers = [number for each in unexplained for number in each]
        return cls(
            len(unexplained),
            whole,
            Counter(number.cell for number in numbers),
            Counter(number.key for number in numbers),
            Counter(step for steps in whole for step in steps),
        )

    def chance(self, pair: tuple[int, int], numbers: Iterable[Written]) -> float:
        """How many pairs of a class would share these numbers, if all worked alone."""
        one, other = pair
        both_whole = self.whole[one] & self.whole[other]
        steps = {number.step for number in numbers} & both_whole
        chances = [self._of_step(step) for step in steps]
        slips = [each for each in numbers if each.step not in both_whole]
        chances += [self._of_slips(causes) for causes in _causes(slips)]
        pairs = comb(self.students, 2)
        return min(pairs * prod(chances), 1.0)

    def _of_slips(self, numbers: Sequence[Written]) -> float:
        """Numbers with one cause are as likely as the likeliest of them."""
        return max(map(self._of_number, numbers))

    def _of_number(self, number: Written) -> float:
        """How likely somebody else has an unexplained number in this cell, and this one."""
        others = self.in_cell[number.cell] - 2
        same = self.same[number.key] - 2
        usual = NAMED_SLIPS_THAT_ARE_USUAL if number.named else WRONG_NUMBERS_THAT_ARE_USUAL
        is_this_one = 1 / usual
        if same:
            is_this_one = max(is_this_one, (same + 1) / (others + 2))
        return self._rate(others) * is_this_one

    def _of_step(self, step: str) -> float:
        return self._rate(self.of_steps[step] - 2) / CAUSES_THAT_ARE_USUAL

    def _rate(self, others: int) -> float:
        """How often others do what so many of them did, the two left out."""
        return (others + 1) / self.students


def _causes(numbers: Sequence[Written]) -> Iterator[list[Written]]:
    """The numbers in groups that may have one cause: those of a row, and those of a step that are
    all in one column.
    """
    by_step: dict[str, list[Written]] = defaultdict(list)
    for number in numbers:
        by_step[number.step].append(number)
    for of_step in by_step.values():
        columns = {number.cell[1][-1:] for number in of_step}
        if len(columns) == 1:
            yield of_step
            continue
        by_row: dict[tuple[int, ...], list[Written]] = defaultdict(list)
        for number in of_step:
            by_row[number.cell[1][:-1]].append(number)
        yield from by_row.values()


def _wrong_as_a_whole(numbers: Iterable[Written]) -> frozenset[str]:
    often = Counter(number.step for number in numbers)
    return frozenset(step for step, many in often.items() if many > MOST_SLIPS)


def _groups(pairs: Iterable[tuple[int, int]]) -> list[set[int]]:
    """The students who are alike, also by way of a third one."""
    groups: list[set[int]] = []
    for pair in pairs:
        joined = set(pair)
        apart = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
    return groups


def in_classes(chance: float) -> str:
    """A chance as a count of classes, to one digit.

    >>> in_classes(0.0042), in_classes(1e-9)
    ('about one class in 200', 'fewer than one class in a million')
    """
    if chance < 1e-6:
        return "fewer than one class in a million"
    classes = float(f"{1 / chance:.0e}")
    return f"about one class in {classes:,.0f}"
