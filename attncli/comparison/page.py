"""The page of `attncli compare`: the first step that differs, hints about its cause, and all steps
side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isnan

import numpy as np

from attncli.comparison.causes import causes
from attncli.comparison.data import comparison_data
from attncli.comparison.known_mistakes import Explanation, explanation
from attncli.comparison.moved_weights import moved_sentences
from attncli.english import count, either, listed, shape_text, shorten
from attncli.page.comparison import matrices, steps_table
from attncli.page.document import (
    Block,
    Document,
    Heading,
    Listing,
    Paragraph,
    Text,
    Worked,
    WorkedLine,
)
from attncli.page.measures import (
    all_digits,
    distinct_numbers,
    legible_number,
    magnitude,
    number,
    place,
    rounded_up,
    with_power_of_ten,
)
from attncli.page.printer import Printer, format_number
from attncli.page.worked.worked_line import worked_line
from attncli.tracing.comparison import Comparison, Operand, StepComparison
from attncli.tracing.difference import Difference
from attncli.tracing.model import Trace


def comparison_page(
    comparison: Comparison, *, detail: str = "rows", precision: int = 3
) -> Document:
    """The page: "brief" has no worked cell, "rows" has the first cell that differs, "cells" all
    matrices.
    """
    return page_of(comparison, explanation(comparison), detail, precision)


def page_of(
    comparison: Comparison, explained: Explanation | None, detail: str, precision: int
) -> Document:
    """The page of a comparison that is `explained` already, by the mistakes that were found."""
    return Document(
        f"{title_of(comparison)}: compared",
        tuple(_blocks(comparison, explained, detail, precision)),
        lambda: comparison_data(comparison, explained),
    )


def title_of(comparison: Comparison) -> str:
    """The title of the problem, or what the first side is called."""
    titles = [
        side.trace.title for side in (comparison.a, comparison.b) if side.trace and side.trace.title
    ]
    return titles[0] if titles else comparison.a.name


def _blocks(
    comparison: Comparison, explained: Explanation | None, detail: str, precision: int
) -> Iterator[Block]:
    first = comparison.first
    yield Paragraph(_answer(comparison, precision))
    if said := tuple(hints(comparison, explained, precision)):
        yield Listing(said)
    yield Paragraph(legend(comparison))
    if first is not None and detail != "brief":
        yield from _first_cell(comparison, first, precision)
    if moved := tuple(moved_sentences(comparison)):
        yield Heading("Which weights moved")
        yield Listing(moved)
    if detail == "cells" or not all(step.identical for step in comparison.steps):
        yield Heading("Step by step")
        yield from steps_table(comparison, precision, everything=detail == "cells")
    if detail == "cells":
        for step in comparison.steps:
            if step.differs and step.difference is not None:
                yield from matrices(comparison, step, precision)


def _answer(comparison: Comparison, precision: int) -> Text:
    step = comparison.first
    if step is None:
        return (*_agreement(comparison, precision), *_no_numbers(comparison))
    a, b = comparison.a, comparison.b
    first = f"The first step that differs is {_named(step)}. "
    if comparison.one_sided_before:
        first = (
            f"{_one_sided(comparison)} Of the steps that both sides have, {_named(step)} is the"
            " first that differs. "
        )
    if step.difference is None:
        shapes = [shape_text(shape) for shape in step.shapes if shape is not None]
        return (f"{first}Its shape is {shapes[0]} {a.phrase} and {shapes[1]} {b.phrase}.",)
    found = step.difference
    ours, theirs = distinct_numbers(found.a, found.b, precision)
    which = "It is "
    if found.cells > 1:
        differ = (
            f"{found.differing:,} of {found.cells:,} cells"
            f" {either(found.differing, 'differs', 'differ')}"
        )
        which = f"{differ}. The largest difference is at {place(step, found.where)}: "
    said: Text = (f"{first}{which}", *ours, f" {a.phrase} and ", *theirs, f" {b.phrase}")
    if found.absolute == inf:
        return (*said, ".")
    return (
        *said,
        " (absolute difference ",
        *magnitude(found.absolute, precision),
        ", relative ",
        *magnitude(found.relative_there, precision),
        *_elsewhere(found, precision),
        ").",
    )


def _one_sided(comparison: Comparison) -> str:
    """Which steps before the first difference are only on one side: The step scaled exists only in
    A.
    """
    sides: dict[str, list[str]] = {}
    for step in comparison.one_sided_before:
        side = comparison.a
        if step.shapes[1] is not None:
            side = comparison.b
        names = sides.setdefault(side.phrase, [])
        names.append(step.name)
    said = []
    for phrase, names in sides.items():
        number = len(names)
        steps = either(number, "step", "steps")
        exist = either(number, "exists", "exist")
        said.append(f"The {steps} {listed(names)} {exist} only {phrase}.")
    return " ".join(said)


def _elsewhere(found: Difference, precision: int) -> Text:
    """The largest relative difference, if another cell has it than the one with the largest
    absolute difference.
    """
    there = legible_number(found.relative_there, precision)
    largest = legible_number(found.relative, precision)
    if there == largest:
        return ()
    return (
        "; relative up to ",
        *magnitude(found.relative, precision),
        " in other cells",
    )


def _agreement(comparison: Comparison, precision: int) -> Text:
    both = [step for step in comparison.steps if not step.one_sided]
    steps = (
        f"the {count(len(both), 'step')} that both sides have"
        if len(both) > 1
        else f"{both[0].name}, the only step that both sides have,"
    )
    if all(step.identical for step in both):
        return (
            f"No difference: {steps} {either(len(both), 'is', 'are')} identical to the last bit.",
        )
    worst = max(both, key=lambda step: step.difference.needed if step.difference else 0)
    assert worst.difference is not None
    if worst.difference.needed == 0:
        return (f"No difference: {steps} {either(len(both), 'agrees', 'agree')}.",)
    return (
        (
            f"No difference larger than the tolerance: {steps}"
            f" {either(len(both), 'agrees', 'agree')}. The step that comes closest to the tolerance"
            f" is {worst.name}, with a difference of "
        ),
        *magnitude(worst.difference.absolute, precision),
        ".",
    )


def _no_numbers(comparison: Comparison) -> Text:
    """Which steps have NaN on both sides, which counts as agreement."""
    names = [
        step.name
        for step in comparison.steps
        if not step.one_sided and np.isnan(comparison.a[step.name]).any()
    ]
    return (f" Some cells of {listed(names)} are NaN on both sides.",) if names else ()


def _named(step: StepComparison) -> str:
    return step.name if step.title.lower() == step.name else f"{step.name} ({step.title.lower()})"


def _first_cell(comparison: Comparison, step: StepComparison, precision: int) -> Iterator[Block]:
    """The cell with the largest difference in the first step that differs, worked on both sides."""
    found = step.difference
    if found is None or any(
        side.trace and side.trace.steps[step.name].rule.given
        for side in (comparison.a, comparison.b)
    ):
        return
    lines = []
    for side, value in ((comparison.a, found.a), (comparison.b, found.b)):
        # Our number is none only where that was asked for: no equation gives it.
        if side.trace is None or isnan(value):
            lines.append(
                WorkedLine(side.word, result=None, remark=number(format_number(value, precision)))
            )
            continue
        worked = worked_line(
            Printer(side.trace, precision), side.trace.steps[step.name], step.cell(side)
        )
        lines.append(WorkedLine(side.word, worked.work, worked.result, worked.holds, worked.remark))
    cell = place(step, found.where)
    # A step that is a single number has no labels.
    yield Heading(f"{step.title}, {cell}" if cell else step.title)
    yield Worked(tuple(lines))


# This is about the tolerance of float16. A larger one would hide real differences.
WORTH_A_TOLERANCE = 0.002
# What queries that see no key are given.
_FOR_BLIND = {"zero": "0", "nan": "NaN", "mean": "the mean of all values"}
# So many steps are listed by name; of more, only their number is said.
MOST_STEPS_LISTED = 8


def hints(comparison: Comparison, explained: Explanation | None, precision: int) -> Iterator[Text]:
    """What helps to find the cause: known causes, steps on only one side, other sizes and
    settings.
    """
    first, a, b = comparison.first, comparison.a, comparison.b
    for side in (a, b):
        if side.read_as:
            read = listed(
                [f"{shorten(name)} was read as {step}" for name, step in side.read_as.items()]
            )
            yield (f"{side.phrase[0].upper()}{side.phrase[1:]}, {read}.",)
    yield from causes(comparison, explained, precision)
    if said := _before(comparison):
        yield (said,)
    others = [step for step in comparison.one_sided if step not in comparison.one_sided_before]
    for side, other in ((a, 1), (b, 0)):
        if only := [step.name for step in others if step.shapes[other] is None]:
            yield (f"Only {side.phrase}: {listed(only)}.",)
    yield from _hidden_in_two_ways(comparison)
    for said in (_by_label(comparison), _sizes(comparison), _changed_settings(comparison)):
        if said:
            yield (said,)
    needed = max(
        (step.difference.needed for step in comparison.steps if step.difference), default=0.0
    )
    shapes = any(step.differs and step.difference is None for step in comparison.steps)
    if first is not None and not shapes and needed < WORTH_A_TOLERANCE:
        yield (f"With --tolerance {rounded_up(needed)}, no step would differ.",)


def _hidden_in_two_ways(comparison: Comparison) -> Iterator[Text]:
    """Cells that one side hides by -inf and the other by a large negative number, which count as
    equal.
    """
    steps: dict[tuple[int, str], list[str]] = {}
    for step in comparison.steps:
        if step.difference is not None and step.difference.hidden:
            sentinel = with_power_of_ten(step.difference.sentinel)
            steps.setdefault((step.difference.hidden, sentinel), []).append(step.name)
    for (cells, sentinel), names in steps.items():
        yield (
            f"In {listed(names)}, one side hides {count(cells, 'cell')} by ",
            *number("-inf"),
            ", and the other side by a number such as ",
            *number(sentinel),
            (
                ". This does not count as a difference. If attention leaks to a hidden key, the"
                " weights differ."
            ),
        )


def _before(comparison: Comparison) -> str:
    """The last step before the first difference that both sides have, and the steps of one side
    that come next.
    """
    if comparison.first is None or all(side.trace for side in (comparison.a, comparison.b)):
        return ""
    between: list[str] = []
    first = comparison.steps.index(comparison.first)
    for step in reversed(comparison.steps[:first]):
        if step.one_sided:
            between.insert(0, step.name)
            continue
        said = f"Both sides agree up to {step.name}."
        if between:
            names = listed(between, most=MOST_STEPS_LISTED)
            said += f" Only one side has the next steps: {names}."
        return said
    return ""


def _by_label(comparison: Comparison) -> str:
    """Which queries are compared, if one side has more of them."""
    for whole, other in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        if whole.rows is None:
            continue
        labels = [f'"{label}"' for label in whole.queries]
        named = listed(labels, most=MOST_STEPS_LISTED)
        query = either(len(labels), "query", "queries")
        are = either(len(labels), "is", "are")
        return (
            f"Only the {query} {named} {are} compared, by label:"
            f" there are no others {other.phrase}."
        )
    return ""


def _sizes(comparison: Comparison) -> str:
    """How many queries and keys each side has, if the sides differ in this."""
    a, b = comparison.a, comparison.b
    if a.trace is None or b.trace is None:
        return ""
    in_a = _queries_and_keys(a.trace)
    in_b = _queries_and_keys(b.trace)
    if in_a == in_b:
        return ""
    return f"There are {in_a} {a.phrase}, {in_b} {b.phrase}."


def _queries_and_keys(trace: Trace) -> str:
    """3 queries and 5 keys."""
    queries = count(len(trace.tokens), "query")
    keys = count(len(trace.context_tokens), "key")
    return f"{queries} and {keys}"


def _changed_settings(comparison: Comparison) -> str:
    a, b = comparison.a, comparison.b
    if b.word != "B" or not comparison.settings:
        return ""
    said = []
    for name, (ours, theirs) in comparison.settings.items():
        in_a = f"{_setting(ours)} {a.phrase}"
        in_b = f"{_setting(theirs)} {b.phrase}"
        said.append(f"{name} is {in_a} and {in_b}")
    return f"Different settings: {'; '.join(said)}."


def _setting(value: object) -> str:
    if isinstance(value, tuple | list):
        return " + ".join(map(str, value)) or "none"
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def legend(comparison: Comparison) -> Text:
    """What the two sides are, and the tolerance."""
    a, b = comparison.a, comparison.b
    who = ". ".join(f"{side.word[0].upper()}{side.word[1:]}: {_described(side)}" for side in (a, b))
    if not comparison.tolerance:
        return (f"{who}. Tolerance: 0, so every difference counts.",)
    bound = number(all_digits(comparison.tolerance))
    return (
        f"{who}. Tolerance: ",
        *bound,
        ", relative to the terms that each cell is computed from.",
    )


def _described(side: Operand) -> str:
    if side.trace is None:
        return f"{side.name} ({side.dtype.name}: {listed(side.names, most=MOST_STEPS_LISTED)})"
    said = side.name
    usual = side.dtype.name == "float64" or side.dtype.name in side.name
    if not usual:
        said += f" in {side.dtype.name}"
    if side.sees_no_key is not None:
        said += f", with {_FOR_BLIND[side.sees_no_key]} for queries that see no key"
    return said
