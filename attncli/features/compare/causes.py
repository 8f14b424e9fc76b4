"""Known causes of a difference: a factor, another layout, a missing bias, KV heads that serve other query heads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from attncli.english import either, listed
from attncli.features.compare.known_mistakes import explanation
from attncli.page.document import Text
from attncli.page.measures import legible_number, number
from attncli.problem.keys import SCORES
from attncli.tracing.comparison import Comparison, Operand, StepComparison
from attncli.tracing.difference import difference
from attncli.tracing.head_layouts import Layout, fewer_axes
from attncli.tracing.model import Trace

_BIASES = {"Q": "b_Q", "K": "b_K", "V": "b_V", "new_K": "b_K", "new_V": "b_V", "output": "b_O"}


def factor_names(factor: float, trace: Trace) -> tuple[str, ...]:
    """What this factor may be in a problem of these sizes, the likeliest first.

    For example a root that was left out, the root of another length, or a root that was applied twice. Unlikely
    factors are named only if no likely one fits.
    """
    d_k, n = float(trace.parameters["d_k"].value), trace["scores"].shape[-2]
    joined = d_k * (trace.settings.heads or 1)
    d_model = trace["X"].shape[-1] if "X" in trace else 0
    lengths = {"√d_model": d_model, "√(heads·d_k)": joined if joined not in (d_k, d_model) else 0}
    widths = {name: length / d_k for name, length in lengths.items() if length}
    likely = {"√d_k": d_k, **{f"√d_k/{name}": 1 / ratio for name, ratio in widths.items()},
              "1/√d_k": 1 / d_k, "d_k": d_k**2, "1/d_k": 1 / d_k**2}  # fmt: skip
    unlikely = {"√d_k/√n": d_k / n, **{f"{name}/√d_k": ratio for name, ratio in widths.items()}}
    return _fitting(factor, likely) or _fitting(factor, unlikely)


def _fitting(factor: float, squares: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(
        name
        for name, square in squares.items()
        if square != 1 and math.isclose(factor, math.sqrt(square), rel_tol=1e-3)
    )


def bias_left_out(comparison: Comparison) -> tuple[str, Operand, Operand] | None:
    """The bias that only one side adds, if this explains the first step that differs.

    Returns its name (b_O), the side without it, and the side with it.
    """
    for has, lacks in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        step = comparison.first
        name = _BIASES.get(step.name) if step else None
        if step and name and step.difference and has.trace and name in has.trace:
            bias = has.trace[name].astype(np.float64)[..., np.newaxis, :]
            if _agrees(comparison, has[step.name] - bias, lacks):
                return name, lacks, has
    return None


def tiled_kv_heads(comparison: Comparison) -> tuple[int, Operand, Operand] | None:
    """The number of KV heads, if one side tiles them: query head h reads KV head h mod their number.

    Returns this number, the side that tiles, and the other side, whose KV heads serve consecutive query heads. The
    first step that differs must be the scores, or keys or values that are repeated for all heads.
    """
    for ours, theirs in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        step, trace = comparison.first, ours.trace
        if not (step and step.difference and trace and "group" in trace.parameters):
            continue
        found = _served(step, ours, int(trace.parameters["group"].value))
        if found is not None and _agrees(comparison, found, theirs):
            return trace["K"].shape[-3], theirs, ours
    return None


def _served(step: StepComparison, ours: Operand, group: int) -> NDArray[Any] | None:
    """The step with tiled KV heads; None for a step that does not show them."""
    if step.layout == "repeated":
        return np.concatenate([ours[step.name]] * group, axis=-3)
    trace = ours.trace
    if trace is None or step.name != "scores" or not SCORES[trace.settings.score].is_dot:
        return None
    queries = ours["Q_rot" if "Q_rot" in trace else "Q"].astype(np.float64)
    with np.errstate(all="ignore"):  # what does not fit is a difference like any other
        scores: NDArray[Any] = queries @ np.concatenate([trace["K_T"].astype(np.float64)] * group, axis=-3)
    return scores


def _agrees(comparison: Comparison, array: NDArray[Any], side: Operand) -> bool:
    """Whether this side has this array as the first step that differs."""
    step = comparison.first
    assert step is not None
    wanted, there = step.arranged(array), step.arranged(side[step.name])
    return not difference(wanted, there, comparison.tolerance, sizes=step.sizes).differing


_HOW = {
    "transposed": "transposed",
    "exchanged": "with the axes of heads and rows exchanged",
    "recut": "divided into heads by rows, not by features",
    "averaged": "averaged over the heads",
}


def causes(comparison: Comparison, precision: int) -> Iterator[Text]:
    """A sentence for each cause that the numbers show."""
    first, a, b = comparison.first, comparison.a, comparison.b
    if first is not None and first.factor is not None:
        yield (
            f"Every cell of {first.name} {b.phrase} is ", *number(legible_number(first.factor, precision)),
            f" times the cell {a.phrase}", *_known_factor(comparison, first.factor), ".",
        )  # fmt: skip
    for said in _layouts(comparison):
        yield (said,)
    found, serving = bias_left_out(comparison), tiled_kv_heads(comparison)
    if found is None and serving is None:
        yield from _known_mistakes(comparison)
    if found and first is not None:
        bias, lacks, has = found
        yield (f"{first.name} {lacks.phrase} equals {first.name} {has.phrase} without {bias}.",)
    if serving and first is not None:
        heads, theirs, ours = serving
        yield (
            f"{first.name} {theirs.phrase} {'come' if first.name == 'scores' else 'comes'} from tiled KV heads: query "
            f"head h reads KV head h mod {heads}. Each KV head {ours.phrase} serves consecutive query heads.",
        )


def _known_mistakes(comparison: Comparison) -> Iterator[Text]:
    """The mistakes of which one gives the other side's numbers; after a change nobody asks which."""
    found = explanation(comparison) if comparison.b.word != "after" else None
    if found is not None:
        one = "A known mistake gives" if len(found.mistakes) == 1 else "Each of these mistakes gives"
        yield (f"{one} all numbers of {found.step} {found.side.phrase}: {'; or '.join(found.mistakes)}.",)


def _known_factor(comparison: Comparison, factor: float) -> Text:
    """The factor's names, if it is one that people often get wrong."""
    traces = [side.trace for side in (comparison.a, comparison.b) if side.trace]
    names = dict.fromkeys(name for trace in traces for name in factor_names(factor, trace))
    return (f", which is {listed(list(names), last='or')}",) if names else ()


def _layouts(comparison: Comparison) -> Iterator[str]:
    """Which steps have another layout on one side."""
    for layout in get_args(Layout):
        of_one: dict[bool, list[str]] = {}
        for step in comparison.steps:
            if step.layout == layout:
                of_one.setdefault(_first_is_flat(step), []).append(step.name)
        for first, names in of_one.items():
            yield _layout_sentence(comparison, layout, names, first=first)


def _first_is_flat(step: StepComparison) -> bool:
    """Whether the sentence is about the first side: it has no axis of heads, or repeated heads, unlike the second."""
    a, b = step.shapes
    if a is None or b is None:
        return False
    return prod(a) > prod(b) if step.layout == "repeated" else fewer_axes(a, b)


def _layout_sentence(comparison: Comparison, layout: Layout, names: list[str], *, first: bool) -> str:
    flat, other = (comparison.a, comparison.b) if first else (comparison.b, comparison.a)
    what, number = f"{listed(names)} {flat.phrase}", len(names)
    if layout == "split":
        have, them = either(number, "has its", "have their"), either(number, "it", "them")
        return f"{what} {have} heads side by side. attncli splits {them} into heads to compare."
    if layout == "repeated":
        are, it = either(number, "is", "are"), either(number, "it", "them")
        return f"{what} {are} repeated for every query head. attncli compares {it} in this form."
    return f"{what} {either(number, 'equals', 'equal')} {listed(names)} {other.phrase}, {_HOW[layout]}."
