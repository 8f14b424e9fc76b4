"""The scheme by which a set is marked: what was asked, what each step is worth, and what a mistake
costs.

A teacher reads it and may change it, and `attncli check` marks by it. So every line says what it
does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from textwrap import fill

from attncli.english import count, either, listed
from attncli.marking.shares import HALF, marks_of_steps, numbers_of
from attncli.marking.sheet_marks import SheetMarks, plain_marks
from attncli.tracing.model import Trace

# The comments are no wider.
WIDEST_COMMENT = 98
# Of the marks of the whole, a mistake costs this share, and a slip half of it.
_SHARE_OF_A_MISTAKE = Fraction(1, 10)

_BEGINNING = """\
# How attncli check marks this set. Change any number, and leave the words before the colons.
# Whatever you change counts the next time that you run attncli check --batch manifest.csv.

# The marks of the whole sheet.
marks: {marks}

# How many decimals the sheets ask for; a whole number needs none. What a number with fewer loses
# is said at digit, below.
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

{on_slips}
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
    worth = marks_of_steps(trace, asked, marks)
    for name, share in worth.items():
        title = trace.steps[name].rule.title.lower()
        yield f"  {name}: {share}  # {title}, {count(numbers[name], 'number')}\n"
    mistake = _cost_of_a_mistake(marks.whole)
    on_slips = _on_slips({name: float(worth[name]) / numbers[name] for name in worth})
    slip = plain_marks(mistake / 2)
    yield _END.format(mistake=plain_marks(mistake), on_slips=on_slips, slip=slip)


def _on_slips(shares: Mapping[str, float]) -> str:
    """The comment on slips: what one costs, and what a number that is left blank costs, which may
    be less.
    """
    each = listed([f"{share:.2g} in {name}" for name, share in shares.items()])
    said = (
        "Taken off for each single number that is wrong by itself, such as 2·3 = 5. What follows"
        " from it costs nothing more. Several in one step cost no more than a mistake, or than the"
        " marks of their numbers, if these are more. A number that is left blank costs its part of"
        f" the marks of its step instead, here about {each}. In a step of many numbers, a slip may"
        " cost more than that: choose a smaller slip if nobody is to lose by trying."
    )
    return fill(said, WIDEST_COMMENT, initial_indent="# ", subsequent_indent="# ")


def _cost_of_a_mistake(marks: int) -> Fraction:
    """A tenth of all marks, rounded to half a mark where it is that much."""
    tenth = marks * _SHARE_OF_A_MISTAKE
    if tenth < HALF:
        return tenth
    return Fraction(int(tenth / HALF + HALF)) * HALF
