"""What a difference may come from, in words: a factor, another layout, a bias left out, heads that serve others."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import get_args

from attncli.english import either, listed
from attncli.features.compare.causes import bias_left_out, constants, tiled
from attncli.features.compare.comparison import Comparison
from attncli.features.compare.layout import Layout, fewer_axes
from attncli.features.compare.step import StepComparison
from attncli.page.document import Text
from attncli.page.measures import number, spelled

_HOW = {
    "transposed": "transposed",
    "exchanged": "with heads and rows exchanged",
    "recut": "cut into heads row by row, not by features",
    "averaged": "averaged over the heads",
}


def causes(comparison: Comparison, precision: int) -> Iterator[Text]:
    """A sentence for each thing that was found in the numbers."""
    first, a, b = comparison.first, comparison.a, comparison.b
    if first is not None and first.factor is not None:
        yield (
            f"Every cell of {first.name} {b.phrase} is ", *number(spelled(first.factor, precision)),
            f" times that {a.phrase}", *_known_factor(comparison, first.factor), ".",
        )  # fmt: skip
    for said in _layouts(comparison):
        yield (said,)
    if (found := bias_left_out(comparison)) and first is not None:
        bias, lacks, has = found
        yield (f"{first.name} {lacks.phrase} is that {has.phrase} without {bias}.",)
    if (serving := tiled(comparison)) and first is not None:
        heads, theirs, ours = serving
        what = (
            f"The scores {theirs.phrase} are those"
            if first.name == "scores"
            else f"{first.name} {theirs.phrase} is that"
        )
        yield (
            f"{what} of tiled KV heads, query head h reading KV head h mod {heads}; "
            f"{ours.phrase} each serves consecutive query heads, as if repeated.",
        )


def _known_factor(comparison: Comparison, factor: float) -> Text:
    """Names for the factor where it is one that people forget, put in twice, or take for another."""
    traces = [side.trace for side in (comparison.a, comparison.b) if side.trace]
    names = dict.fromkeys(name for trace in traces for name in constants(factor, trace))
    return (f", which is {listed(list(names), last='or')}",) if names else ()


def _layouts(comparison: Comparison) -> Iterator[str]:
    """Which steps are the same in another layout, and which were brought to one to be compared."""
    for layout in get_args(Layout):
        of_one: dict[bool, list[str]] = {}
        for step in comparison.steps:
            if step.layout == layout:
                of_one.setdefault(_first_is_flat(step), []).append(step.name)
        for first, names in of_one.items():
            yield _told(comparison, layout, names, first=first)


def _first_is_flat(step: StepComparison) -> bool:
    """Whether it is the first side that is told of: that has no axis of heads, or repeated ones, unlike the second."""
    a, b = step.shapes
    if a is None or b is None:
        return False
    return prod(a) > prod(b) if step.layout == "repeated" else fewer_axes(a, b)


def _told(comparison: Comparison, layout: Layout, names: list[str], *, first: bool) -> str:
    flat, other = (comparison.a, comparison.b) if first else (comparison.b, comparison.a)
    what, number = f"{listed(names)} {flat.phrase}", len(names)
    if layout == "split":
        have, are = either(number, "has its", "have their"), either(number, "is", "are")
        return f"{what} {have} heads side by side, and {are} compared split into heads."
    if layout == "repeated":
        are = either(number, "is", "are")
        return f"{what} {are} repeated for all query heads that a KV head serves, and {are} compared so."
    return f"{what} {either(number, 'is that', 'are those')} {other.phrase} {_HOW[layout]}."
