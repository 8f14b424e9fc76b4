"""What is said of a class as a whole: its marks, and what many students have done."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from statistics import mean, median
from typing import TypeVar

from attncli.english import listed
from attncli.page.printer import format_number

# So many students are named beside a mistake; one more is, too, and no two are left out for that.
MOST_STUDENTS_NAMED = 3
# Stands between mistakes in one cell.
BETWEEN_MISTAKES = " | "
Shared = TypeVar("Shared", bound=Hashable)


def spread(shares: Sequence[float]) -> tuple[float, float, float, float]:
    """The mean, the median, the smallest and the largest share of the marks."""
    return mean(shares), median(shares), min(shares), max(shares)


def spread_in_words(shares: Sequence[float], of: int | None = None) -> str:
    """The same as a sentence, in percent; in marks, too, if all have a share `of` as many.

    >>> spread_in_words([0.5, 1])
    'Marks: 75 % on average, median 75 %, from 50 % to 100 %.'
    >>> spread_in_words([0.5, 1], 20)
    'Marks: 15 of 20 (75 %) on average, median 15 (75 %), from 10 to 20.'
    """
    average, middle, low, high = (f"{format_number(100 * each, 0)} %" for each in spread(shares))
    if of is not None:
        marks = [f"{share_of(of, each):g}" for each in spread(shares)]
        average = f"{marks[0]} of {of} ({average})"
        middle = f"{marks[1]} ({middle})"
        low, high = marks[2:]
    if len(shares) == 1:
        return f"Marks: {average}."
    return f"Marks: {average} on average, median {middle}, from {low} to {high}."


def share_of(marks: int, share: float) -> float:
    """A share of marks, to two decimals."""
    return round(marks * share, 2)


def rounded_share(marks: int, earned: int, asked: int) -> float:
    """The share of the marks, to two decimals, half up.

    >>> rounded_share(10, 5, 6)
    8.33
    """
    of = max(asked, 1)
    hundredths = (200 * marks * earned + of) // (2 * of)
    return hundredths / 100


def plain_marks(marks: float | None) -> float | int | None:
    """Marks without a decimal point if they are a whole number."""
    if marks is None or marks != int(marks):
        return marks
    return int(marks)


def most_first(found: Iterable[tuple[Shared, str]]) -> list[tuple[Shared, list[str]]]:
    """What students share, each with who they are; what most have comes first.

    >>> most_first([("scale", "Ada"), ("mask", "Ben"), ("mask", "Cy")])
    [('mask', ['Ben', 'Cy']), ('scale', ['Ada'])]
    """
    students: dict[Shared, list[str]] = {}
    for key, student in found:
        students.setdefault(key, []).append(student)

    def how_many(entry: tuple[Shared, list[str]]) -> int:
        _, who = entry
        return len(who)

    # Of two that are as frequent, the one that was found first stays first.
    return sorted(students.items(), key=how_many, reverse=True)


def named(students: Sequence[str]) -> str:
    """The first of these students, and how many others there are; a single one is named.

    >>> named(["Ada", "Ben", "Cy", "Dai"]), named(["Ada", "Ben", "Cy", "Dai", "Eve"])
    ('Ada, Ben, Cy and Dai', 'Ada, Ben, Cy and 2 others')
    """
    more = len(students) - MOST_STUDENTS_NAMED
    if more < 2:
        return all_named(students)
    return all_named([*students[:MOST_STUDENTS_NAMED], f"{more:,} others"])


def all_named(students: Sequence[str]) -> str:
    """All of these students; names that have a comma are separated by semicolons.

    >>> all_named(["Ada", "Ben", "Cy"]), all_named(["Byron, Ada", "Cy"])
    ('Ada, Ben and Cy', 'Byron, Ada; Cy')
    """
    if any("," in name for name in students):
        return "; ".join(students)
    return listed(students)
