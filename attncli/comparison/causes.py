"""What the numbers show of the cause of a difference: a factor, another layout, tiled heads, a
known mistake.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import takewhile
from math import prod
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from attncli.comparison.coarse_numbers import coarse_numbers
from attncli.comparison.known_mistakes import MOST_WEIGHTS, Explanation, unexplained_size
from attncli.comparison.rows_by_place import (
    are_everywhere,
    places_in_words,
    quoted,
    rows_by_place,
)
from attncli.english import either, listed
from attncli.page.document import Text
from attncli.page.measures import legible_number, number
from attncli.problem.matrix import Scalar
from attncli.tracing.comparison import Comparison, Operand, StepComparison
from attncli.tracing.head_layouts import OtherLayout, fewer_axes
from attncli.tracing.model import Trace


def factor_names(factor: float, trace: Trace) -> tuple[str, ...]:
    """What this factor may be in a problem of these sizes, the likeliest first.

    For example a root that was left out, the root of another length, or a root that was applied
    twice. Unlikely factors are named only if no likely one fits.
    """
    d_k = float(trace.parameters["d_k"].value)
    n = len(trace.tokens)
    lengths: dict[str, float] = {}
    if "X" in trace:
        lengths["√d_model"] = trace["X"].shape[-1]
    joined = d_k * (trace.settings.heads or 1)
    if joined != d_k and joined not in lengths.values():
        lengths["√(heads·d_k)"] = joined
    widths = {name: length / d_k for name, length in lengths.items()}
    likely = {
        "√d_k": d_k,
        **{f"√d_k/{name}": 1 / ratio for name, ratio in widths.items()},
        "1/√d_k": 1 / d_k,
        "d_k": d_k**2,
        "1/d_k": 1 / d_k**2,
    }
    unlikely = {"√d_k/√n": d_k / n, **{f"{name}/√d_k": ratio for name, ratio in widths.items()}}
    return _fitting(factor, likely) or _fitting(factor, unlikely)


def rope_factor_names(factor: float, trace: Trace) -> tuple[str, ...]:
    """What this factor may be where RoPE stretches queries and keys by one of its own.

    Scores have it twice, so its square is named, too.
    """
    if "Q_rot" not in trace:
        return ()
    known = {}
    if "attention_factor" in trace:
        known["RoPE's attention factor"] = float(trace["attention_factor"])
    given = trace.parameters.get("attention_factor")
    if isinstance(given, Scalar):
        known["RoPE's attention factor"] = float(given.value)
    stretched = trace.parameters.get("factor")
    if isinstance(stretched, Scalar) and stretched.value > 1:
        usual = 0.1 * math.log(stretched.value) + 1
        if usual not in known.values():
            known["0.1·ln(factor) + 1, as RoPE's attention factor often is"] = usual
    squares = {}
    for name, value in known.items():
        squares[name] = value**2
        squares[f"the square of {name}"] = value**4
        squares[f"1 / {name}"] = value**-2
        squares[f"1 / the square of {name}"] = value**-4
    return _fitting(factor, squares)


def _fitting(factor: float, squares: Mapping[str, float]) -> tuple[str, ...]:
    fitting = []
    for name, square in squares.items():
        root = math.sqrt(square)
        if square != 1 and math.isclose(factor, root, rel_tol=1e-3):
            fitting.append(name)
    return tuple(fitting)


# Each row of these is of one query.
_OF_QUERIES = ("weights", "heads_output", "concat", "output")
_OF_MASK = ("mask", "masked")
_IN_SOFTMAX = ("row_max", "shifted", "exp", "row_sum", *_OF_QUERIES)

_LAID_OUT = {
    "transposed": "transposed",
    "exchanged": "with the axes of heads and rows exchanged",
    "recut": "divided into heads by rows, not by features",
    "averaged": "averaged over the heads",
}


def causes(comparison: Comparison, explained: Explanation | None, precision: int) -> Iterator[Text]:
    """A sentence for each cause that the numbers show."""
    first, a, b = comparison.first, comparison.a, comparison.b
    if first is not None and first.factor is not None:
        yield (
            f"Every cell of {first.name} {b.phrase} is ",
            *number(legible_number(first.factor, precision)),
            f" times the cell {a.phrase}",
            *_known_factor(comparison, first.factor, explained),
            ".",
        )
    for said in _layouts(comparison):
        yield (said,)
    if explained is not None:
        one = (
            "A known mistake gives"
            if len(explained.mistakes) == 1
            else "Each of these mistakes gives"
        )
        numbers = f"all numbers of {explained.step} {explained.side.phrase}"
        yield (f"{one} {numbers}: {'; or '.join(explained.mistakes)}.",)
        for said in explained.shared:
            yield (said,)
        if explained.blind:
            yield (_blind_queries(explained),)
    else:
        for said in coarse_numbers(comparison):
            yield (said,)
    yield from _rows_without_numbers(comparison)
    if said := _without_effect(comparison):
        yield (said,)
    if size := unexplained_size(comparison):
        yield (
            (
                f"attncli tries its known mistakes on at most {MOST_WEIGHTS:,} weights. Here are"
                f" {size:,}."
            ),
        )


def _without_effect(comparison: Comparison) -> str:
    """That the output is the same, although steps before it differ."""
    both = [step for step in comparison.steps if step.difference is not None]
    if comparison.first is None or not both or both[-1].name != "output" or both[-1].differs:
        return ""
    agreeing = takewhile(lambda step: not step.differs, reversed(both))
    *_, first = agreeing
    return f"From {first.name} on, both sides agree: what differs has no effect on the output."


def _blind_queries(explained: Explanation) -> str:
    """Which queries are blind with the mistake: they see no key."""
    if not are_everywhere(explained.blind):
        places = places_in_words(explained.blind)
        return f"With this mistake, these see no key: {places}."
    [(_, labels)] = explained.blind
    query = either(len(labels), "query", "queries")
    sees = either(len(labels), "sees", "see")
    return f"With this mistake, the {query} {quoted(labels)} {sees} no key."


def _rows_without_numbers(comparison: Comparison) -> Iterator[Text]:
    """Which queries have only NaN on one side and numbers on the other, in the first step where
    that is so.
    """
    for side, other in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        for step in comparison.steps:
            if step.difference is None or step.name not in _OF_QUERIES:
                continue
            only_nan = _only_nan(step, side, other)
            if only_nan.any():
                yield _nan_sentence(comparison, step, side, only_nan)
                break


def _only_nan(step: StepComparison, side: Operand, other: Operand) -> NDArray[np.bool_]:
    """Which rows are all NaN on this side, and have a number on the other."""
    here, there = (np.isnan(step.arranged(each[step.name])).all(axis=-1) for each in (side, other))
    return np.asarray(here & ~there)


def _nan_sentence(
    comparison: Comparison, step: StepComparison, side: Operand, only_nan: NDArray[np.bool_]
) -> Text:
    if only_nan.all():
        return (f"In {step.name}, all numbers are NaN {side.phrase}.",)
    said = f"In {step.name}, {_nan_rows(step, side, only_nan)}."
    if not _may_hide_rows(comparison) or _has_nan_before_softmax(side):
        return (said,)
    blind = "The usual cause is a query that sees no key: the softmax of a row of "
    return (f"{said} {blind}", *number("-inf"), " is NaN.")


def _nan_rows(step: StepComparison, side: Operand, only_nan: NDArray[np.bool_]) -> str:
    """the row of the query "t2" is NaN in theirs; or, of some heads, rows are NaN in theirs: head
    0, query "t2"; head 1, queries "t1" and "t2".
    """
    found = rows_by_place(only_nan, step.labels[:-1])
    if not are_everywhere(found):
        return f"rows are NaN {side.phrase}: {places_in_words(found)}"
    [(_, labels)] = found
    rows = either(len(labels), "the row of the query", "the rows of the queries")
    are = either(len(labels), "is", "are")
    return f"{rows} {quoted(labels)} {are} NaN {side.phrase}"


def _may_hide_rows(comparison: Comparison) -> bool:
    """Whether either side has a mask, without which every query sees a key."""
    return any(name in side for side in (comparison.a, comparison.b) for name in _OF_MASK)


def _has_nan_before_softmax(side: Operand) -> bool:
    before = takewhile(lambda name: name not in _IN_SOFTMAX, side.names)
    return any(np.isnan(side[name]).any() for name in before)


def _known_factor(comparison: Comparison, factor: float, explained: Explanation | None) -> Text:
    """The factor's names, if it is one that people often get wrong."""
    traces = [side.trace for side in (comparison.a, comparison.b) if side.trace]
    of_rope = dict.fromkeys(name for trace in traces for name in rope_factor_names(factor, trace))
    names = list(of_rope)
    # A mistake of RoPE that gives all numbers leaves no room for the root of a length.
    is_of_rope = explained is not None and any("RoPE" in name for name in explained.mistakes)
    if not (of_rope and is_of_rope):
        names += dict.fromkeys(name for trace in traces for name in factor_names(factor, trace))
    return (f", which is {listed(names, last='or')}",) if names else ()


def _layouts(comparison: Comparison) -> Iterator[str]:
    """Which steps have another layout on one side."""
    for layout in get_args(OtherLayout):
        of_one: dict[bool, list[str]] = {}
        for step in comparison.steps:
            if step.layout != layout:
                continue
            names = of_one.setdefault(_first_is_flat(step), [])
            names.append(step.name)
        for first, names in of_one.items():
            yield _layout_sentence(comparison, layout, names, first=first)


def _first_is_flat(step: StepComparison) -> bool:
    """Whether the sentence is about the first side: it has no axis of heads, or repeated heads,
    unlike the second.
    """
    a, b = step.shapes
    if a is None or b is None:
        return False
    if step.layout == "repeated":
        return prod(a) > prod(b)
    return fewer_axes(a, b)


def _layout_sentence(
    comparison: Comparison, layout: OtherLayout, names: list[str], *, first: bool
) -> str:
    flat, other = comparison.a, comparison.b
    if not first:
        flat, other = other, flat
    number = len(names)
    steps = listed(names)
    what = f"{steps} {flat.phrase}"
    them = either(number, "it", "them")
    if layout == "split":
        have = either(number, "has its", "have their")
        return f"{what} {have} heads side by side. attncli splits {them} into heads to compare."
    if layout == "repeated":
        are = either(number, "is", "are")
        return f"{what} {are} repeated for every query head. attncli compares {them} in this form."
    equal = either(number, "equals", "equal")
    return f"{what} {equal} {steps} {other.phrase}, {_LAID_OUT[layout]}."
