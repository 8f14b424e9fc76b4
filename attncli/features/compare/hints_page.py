"""What stands beside the answer of a comparison: hints at the cause, and what the two sides are."""

from __future__ import annotations

from collections.abc import Iterator

from attncli.english import count, either, listed
from attncli.features.compare.causes_page import causes
from attncli.features.compare.comparison import Comparison
from attncli.features.compare.dump import Dump
from attncli.features.compare.operand import Side
from attncli.page.document import Text
from attncli.page.measures import exactly, number, powered, rounded_up

WORTH_A_TOLERANCE = 0.002  # as much as float16 takes; beyond this, a larger tolerance is no remedy
MOST_STEPS = 8  # named in a row


def hints(comparison: Comparison, precision: int) -> Iterator[Text]:
    """What helps to find the cause: what lies between, what is only on one side, how the numbers are related."""
    first, a, b = comparison.first, comparison.a, comparison.b
    yield from causes(comparison, precision)
    if said := _before(comparison):
        yield (said,)
    others = [step for step in comparison.told_one_sided if step not in comparison.told_before]
    for side, other in ((a, 1), (b, 0)):
        if only := [step.name for step in others if step.shapes[other] is None]:
            yield (f"Only {side.phrase}: {listed(only)}.",)
    for step in comparison.steps:
        if step.difference is not None and step.difference.hidden:
            cells = count(step.difference.hidden, "cell")
            yield (f"In {step.name}, {cells} {either(step.difference.hidden, 'is', 'are')} hidden both ways: by ",
                   *number("-inf"), " on one side, by a number such as ",
                   *number(powered(step.difference.sentinel)),
                   " on the other. That counts as no difference; where it leaks, the weights tell.")  # fmt: skip
    for said in (_by_label(comparison), _sizes(comparison), _changed_settings(comparison)):
        if said:
            yield (said,)
    needed = max((step.difference.needed for step in comparison.steps if step.difference), default=0.0)
    shapes = any(step.differs and step.difference is None for step in comparison.steps)
    if first is not None and not shapes and needed < WORTH_A_TOLERANCE:
        yield (f"With --tolerance {rounded_up(needed)} nothing would differ.",)


def _before(comparison: Comparison) -> str:
    """Up to where both agree, and which steps in between only one side has."""
    if comparison.first is None or not any(isinstance(side.source, Dump) for side in (comparison.a, comparison.b)):
        return ""
    between: list[str] = []
    for step in reversed(comparison.steps[: comparison.steps.index(comparison.first)]):
        if not step.one_sided:
            unseen = f"; not compared in between: {listed(list(reversed(between)), most=MOST_STEPS)}" if between else ""
            return f"Up to {step.name} both agree{unseen}."
        between.append(step.name)
    return ""


def _by_label(comparison: Comparison) -> str:
    """Which queries are compared, where one side has more."""
    for whole, other in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        if whole.rows is not None:
            labels, are = [f'"{label}"' for label in whole.queries], either(len(whole.queries), "is", "are")
            what = f"{either(len(labels), 'query', 'queries')} {listed(labels, most=MOST_STEPS)}"
            return f"Only the {what} {are} compared, by label: {other.phrase} there {are} no other."
    return ""


def _sizes(comparison: Comparison) -> str:
    """How many queries and keys either side has, where that is not the same."""
    a, b = comparison.a, comparison.b
    if a.trace is None or b.trace is None:
        return ""
    counts = [(len(trace.tokens), len(trace.context_tokens)) for trace in (a.trace, b.trace)]
    if counts[0] == counts[1]:
        return ""
    said = [
        f"{count(queries, 'query')} and {count(keys, 'key')} {side.phrase}"
        for side, (queries, keys) in zip((a, b), counts, strict=True)
    ]
    return f"There are {said[0]}, {said[1]}."


def _changed_settings(comparison: Comparison) -> str:
    a, b = comparison.a, comparison.b
    if b.word != "B" or not comparison.settings:
        return ""
    said = [
        f"{name} is {_setting(ours)} {a.phrase} and {_setting(theirs)} {b.phrase}"
        for name, (ours, theirs) in comparison.settings.items()
    ]
    return f"Settings: {'; '.join(said)}."


def _setting(value: object) -> str:
    if isinstance(value, tuple | list):
        return " + ".join(map(str, value)) or "none"
    return "none" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def legend(comparison: Comparison) -> Text:
    """What the two sides are, and when cells differ."""
    a, b = comparison.a, comparison.b
    who = ". ".join(f"{side.word[0].upper()}{side.word[1:]}: {_described(side)}" for side in (a, b))
    if not comparison.tolerance:
        return (f"{who}. Every difference counts.",)
    bound = number(exactly(comparison.tolerance))
    return (f"{who}. Tolerance: ", *bound, ", in relation to what each cell is made of.")


def _described(side: Side) -> str:
    if isinstance(side.source, Dump):
        return f"{side.name} ({side.dtype.name}: {listed(side.names, most=MOST_STEPS)})"
    usual = side.dtype.name == "float64" or side.dtype.name in side.name
    return side.name if usual else f"{side.name} in {side.dtype.name}"
