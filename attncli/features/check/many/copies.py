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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb, prod
from typing import NamedTuple

from attncli.cli.classes.summary import all_named
from attncli.english import count, either
from attncli.features.check.cell_values import CellIndex
from attncli.features.check.diagnosis import Diagnosis
from attncli.features.check.many.one_cause import are_in_line, of_one_cause
from attncli.features.check.marks.partial_mistakes import partial_mistakes
from attncli.features.check.no_work import is_pattern
from attncli.features.check.single_cell_errors import SIGN_TURNED, ErrorKind
from attncli.features.check.verdicts import (
    DIFFER_WHEN_SHIFTED,
    ONLY_SHIFTED,
    Judgement,
    Solution,
)

# A note is written if fewer classes than this would have such a case by chance.
MOST_BY_CHANCE = 0.01
# One number may be alike in any two solutions.
FEWEST_NUMBERS = 2
# Wrong numbers are often near the right one: two are the same in one case of so many.
WRONG_NUMBERS_THAT_ARE_USUAL = 20
# The same of numbers that are not whole, of which there are more.
WRONG_DECIMALS_THAT_ARE_USUAL = 50
# A slip with a name, such as a sign that is wrong, is made by many: two are the same in one case of
# so many.
NAMED_SLIPS_THAT_ARE_USUAL = 3
# Fewer swap two digits or move a decimal point.
RARE_SLIPS_THAT_ARE_USUAL = 10
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

    It may be `right`, or off by rounding. If it is not, it is `unexplained` where it does not
    follow from the numbers before it, and no mistake of a whole step gives it. In a step that is a
    pattern, such as zeros alone, it is `of_pattern` in place of that. It may be a slip of a `kind`
    that has a name, be it a `rare` one, and have one cause with `others` of its row or column.
    """

    cell: Cell
    value: float
    half: float
    right: bool
    unexplained: bool
    of_pattern: bool = False
    kind: ErrorKind | None = None
    rare: bool = False
    others: frozenset[Cell] = frozenset()

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
    of_mistakes, kinds, rare = set[Cell](), dict[Cell, ErrorKind](), set[Cell]()
    for one in diagnoses:
        cells = {(one.step, index) for index in one.cells}
        # Few exchange two numbers, and not the same two. Their sum is kept: they have one cause.
        if one.two_numbers:
            continue
        # Of several cells, an error is one cause that others may share, as a mistake is.
        if one.error is None or len(cells) > 1:
            of_mistakes |= cells
        else:
            kinds |= dict.fromkeys(cells, one.error.kind)
            if one.error.kind == ErrorKind.RESULT_MISWRITTEN and SIGN_TURNED not in one.mistakes:
                rare |= cells
    judgement = solution.verdicts
    of_no_mistake = _of_no_mistake(judgement, of_mistakes)
    # The same number everywhere needs no work: many write it.
    patterns = {name for name in of_no_mistake if is_pattern(judgement, name)}
    unexplained = {
        name: _beside_a_mistake(judgement, name, cells)
        for name, cells in of_no_mistake.items()
        if name not in patterns
    }
    others = _of_one_cause(judgement, unexplained)
    found = []
    for name, index, cell in judgement.cells_that_are("right", "rounding", "wrong", "carried"):
        if cell.given is None or name in _OF_EITHER_FORM:
            continue
        at = (name, index)
        number = Written(
            at,
            float(cell.given.value),
            float(cell.given.half),
            right=cell.verdict in ("right", "rounding"),
            unexplained=index in unexplained.get(name, ()),
            of_pattern=name in patterns and index in of_no_mistake[name],
            kind=kinds.get(at),
            rare=at in rare,
            others=frozenset(others[at]),
        )
        found.append(number)
    return tuple(found)


def _of_no_mistake(
    judgement: Judgement, of_mistakes: Collection[Cell]
) -> Mapping[str, Sequence[CellIndex]]:
    """The wrong cells of each step that no mistake explains."""
    found: dict[str, list[CellIndex]] = defaultdict(list)
    for name, index, _ in judgement.cells_that_are("wrong"):
        if (name, index) not in of_mistakes:
            found[name].append(index)
    return found


def _beside_a_mistake(
    judgement: Judgement, name: str, cells: Sequence[CellIndex]
) -> Sequence[CellIndex]:
    """The wrong cells of a step without those that a mistake likely gives, if these are all but a
    few: more than a diagnosis has beside a mistake.
    """
    if len(cells) <= MOST_SLIPS:
        return cells
    found = partial_mistakes(judgement, {name: tuple(cells)})
    given = set[Cell]().union(*(partly.cells for partly in found.values() if partly.likely))
    left = [index for index in cells if (name, index) not in given]
    return left if len(left) <= MOST_SLIPS else cells


def _of_one_cause(
    judgement: Judgement, unexplained: Mapping[str, Sequence[CellIndex]]
) -> Mapping[Cell, set[Cell]]:
    """For each number the others of its step that may have the same cause."""
    found: dict[Cell, set[Cell]] = defaultdict(set)
    for name, cells in unexplained.items():
        # More are one cause anyway.
        if len(cells) > MOST_SLIPS:
            continue
        for group in of_one_cause(judgement, name, cells):
            for index in group:
                found[name, index].update((name, other) for other in group)
    return found


@dataclass(frozen=True, slots=True)
class OfAnother:
    """A student whose numbers are those of others, who have another problem: so many `numbers`,
    `of` all that are not right for the student's own problem.

    They are the right ones for the problem of the `others`, or else the ones that the other one has
    written, too. If one of the others wrote the `same` numbers, that is said besides.
    """

    student: str
    others: tuple[str, ...]
    right_there: bool
    numbers: int
    of: int
    chance: float
    same: SameNumbers | None = None


class SameNumbers(NamedTuple):
    """So many `numbers` of a student, `of` all, are those that another student wrote in the same
    cells; so many of them are `not_right` for the problem of the other one.
    """

    student: str
    numbers: int
    of: int
    not_right: int

    @property
    def in_words(self) -> str:
        """All 52 numbers are as Jan wrote them, also the one that is wrong or carried there."""
        numbers = "both numbers" if self.of == 2 else f"all {count(self.of, 'number')}"
        if self.numbers < self.of:
            numbers = f"{self.numbers:,} of {count(self.of, 'number')}"
        said = f"{numbers} are as {self.student} wrote them"
        if self.not_right:
            those = either(self.not_right, "one that is", f"{self.not_right:,} that are")
            said += f", also the {those} wrong or carried there"
        return said


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
                if found.same is not None:
                    notes.append(found.same.in_words)
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

    @property
    def has_a_wrong_step(self) -> bool:
        """Whether more numbers of a step are wrong than right: one step may be copied alone."""
        written = Counter(number.step for number in self.written)
        not_right = Counter(number.step for number in self.not_right)
        return any(2 * many > written[step] for step, many in not_right.items())


def copies(
    handed: Sequence[Handed],
    problems: Mapping[str, Sequence[str]],
    truth_of: Callable[[str], Truth],
) -> Copies:
    """All answers of a class that are alike beyond chance. The `problems` are those of all students
    of the class, by their names, also of those whose answers are not there.

    `truth_of` gives the numbers of a problem by its name. It is asked only if somebody has a step
    with more wrong numbers than right ones.
    """
    of_another = tuple(_of_another(handed, problems, truth_of))
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


def _of_another(
    handed: Sequence[Handed],
    problems: Mapping[str, Sequence[str]],
    truth_of: Callable[[str], Truth],
) -> Iterator[OfAnother]:
    suspects = [each for each in handed if each.has_a_wrong_step]
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
        looked_at = len(suspects)
        found = _likeliest(each, right, looked_at) or _likeliest(each, written, looked_at)
        if found and found.right_there:
            found = replace(found, same=_same(each, found.others, handed))
        if found:
            yield found


def _same(each: Handed, others: Collection[str], handed: Sequence[Handed]) -> SameNumbers | None:
    """Who of the others wrote the same numbers: all of them, or some that are not right there."""
    cells = _by_cell(each.written)
    found = []
    for other in handed:
        if other.student not in others:
            continue
        alike = [number for number in other.written if cells.get(number.cell) == number.value]
        not_right = sum(not number.right for number in alike)
        if len(alike) == len(cells) or not_right:
            found.append(SameNumbers(other.student, len(alike), len(cells), not_right))
    return max(found, key=lambda one: one.numbers, default=None)


def _by_cell(written: Iterable[Written]) -> Truth:
    return {number.cell: number.value for number in written}


def _likeliest(each: Handed, sources: Sequence[_Source], looked_at: int) -> OfAnother | None:
    """The source of which a student has most numbers, if that is not by chance where so many
    students are looked at.
    """
    others = [source for source in sources if source.problem != each.problem]
    fitting = []
    for source in others:
        found = _fitting(each, source, others, looked_at)
        if found is not None:
            fitting.append(found)
    return max(fitting, key=lambda one: one.numbers, default=None)


def _fitting(
    each: Handed, source: _Source, sources: Sequence[_Source], looked_at: int
) -> OfAnother | None:
    """Whether the wrong numbers of a student are those of this source, and not by chance."""
    not_right = each.not_right
    fitting = [number for number in not_right if number.is_in(source.numbers)]
    numbers = len(fitting)
    if 2 * numbers <= len(not_right):
        return None
    # What follows from other numbers shows nothing beyond them.
    shown = [*_that_show(fitting)]
    if len(shown) < FEWEST_NUMBERS:
        return None
    others = [one.numbers for one in sources if one.problem != source.problem]
    by_chance = [_share_that_has(number, others) for number in shown]
    # Whoever looks at many students and sources finds some that share some numbers.
    may_show = len([*_that_show(not_right)])
    ways = comb(may_show, len(shown)) * len(sources) * looked_at
    expected = ways * prod(by_chance)
    chance = min(expected, 1.0)
    if chance >= MOST_BY_CHANCE:
        return None
    return OfAnother(each.student, source.students, source.right, numbers, len(not_right), chance)


def _that_show(numbers: Iterable[Written]) -> Iterator[Written]:
    """The numbers that nothing explains; of a pattern each one once, without zeros."""
    seen = set[tuple[str, float]]()
    for number in numbers:
        same = (number.step, number.value)
        if number.unexplained:
            yield number
        elif number.of_pattern and number.value and same not in seen:
            seen.add(same)
            yield number


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
            one, other = (unexplained[at][key] for at in pair)
            shared[pair].append(one._replace(others=one.others | other.others))
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
        """Numbers that may have one cause are as likely as the likeliest of them. What has a name
        in one of them is no cause of the others.
        """
        apart = prod(map(self._of_number, numbers))
        if len({number.kind for number in numbers}) > 1:
            numbers = [number._replace(kind=None, rare=False) for number in numbers]
        together = max(map(self._of_number, numbers))
        return max(apart, together)

    def _of_number(self, number: Written) -> float:
        """How likely somebody else has an unexplained number in this cell, and this one."""
        others = self.in_cell[number.cell] - 2
        same = self.same[number.key] - 2
        is_this_one = 1 / _usual(number)
        if same:
            is_this_one = max(is_this_one, (same + 1) / (others + 2))
        return self._rate(others) * is_this_one

    def _of_step(self, step: str) -> float:
        return self._rate(self.of_steps[step] - 2) / CAUSES_THAT_ARE_USUAL

    def _rate(self, others: int) -> float:
        """How often others do what so many of them did, the two left out."""
        return (others + 1) / self.students


def _usual(number: Written) -> int:
    """In how many cases two wrong numbers of a cell are once the same."""
    if number.rare:
        return RARE_SLIPS_THAT_ARE_USUAL
    if number.kind is not None:
        return NAMED_SLIPS_THAT_ARE_USUAL
    is_whole = number.value.is_integer()
    return WRONG_NUMBERS_THAT_ARE_USUAL if is_whole else WRONG_DECIMALS_THAT_ARE_USUAL


def _causes(numbers: Sequence[Written]) -> Iterator[list[Written]]:
    """The numbers in groups that may have one cause."""
    places = range(len(numbers))
    # Each number is alike itself, so that it is in a group.
    alike = [(at, at) for at in places]
    for pair in combinations(places, 2):
        one, other = (numbers[at] for at in pair)
        if _may_have_one_cause(other, one):
            alike.append(pair)
    for group in _groups(alike):
        yield [numbers[at] for at in sorted(group)]


def _may_have_one_cause(one: Written, other: Written) -> bool:
    """Whether two numbers may come from one error. Slips of one kind may be one habit, such as to
    forget the sign in a row.
    """
    if one.step != other.step:
        return False
    if other.cell in one.others:
        return True
    is_habit = one.kind is not None and one.kind == other.kind
    return is_habit and are_in_line([one.cell[1], other.cell[1]])


def _wrong_as_a_whole(numbers: Iterable[Written]) -> frozenset[str]:
    often = Counter(number.step for number in numbers)
    return frozenset(step for step, many in often.items() if many > MOST_SLIPS)


def _groups(pairs: Iterable[tuple[int, int]]) -> list[set[int]]:
    """What is alike in pairs, together: students or numbers, also by way of a third one."""
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
