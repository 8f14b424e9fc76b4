"""A row of scores before and after the scale, each with the weights that the softmax makes of
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from attncli.page.drawing import (
    GAP,
    HIGHEST,
    LINE,
    MIDDLE,
    SIZE,
    SMALL,
    Drawing,
    Panel,
    Path,
    Shape,
    Words,
    alike_together,
    cut,
    drawing,
    line_of,
    lines,
    moved,
    rectangle,
    side_by_side,
    text_width,
)
from attncli.page.in_words import largest, percent
from attncli.page.pictures.parts import Part, choose_drawn, named_keys
from attncli.tracing.model import Trace, masked_out

WIDE, HIGH, ROW = 110, 14, 20
LABEL = 110
BETWEEN = 24
MOST_KEYS = 12
# without the scale, and with it
PAINTS = ("#d55e00", "#0072b2")
HEADS = ("without the scale", "with the scale")


def softmax(title: str, parts: Sequence[Part], others: Sequence[Part], only: int | None) -> Drawing:
    """The picture of each row; `others` are the same heads with the scale if `parts` have none,
    else without it.
    """
    swap = "scaled" in parts[0].trace
    keys = len(parts[0].trace.context_tokens)
    chosen = choose_drawn(parts, only, HIGHEST // (_height(min(keys, MOST_KEYS)) + GAP))
    pair = {part.title: other for part, other in zip(parts, others, strict=True)}
    drawn = [
        (pair[part.title], part, row) if swap else (part, pair[part.title], row)
        for part, row in chosen.each
    ]
    legend = [
        "Each side shows the scores of the keys, and the weights that the softmax makes of them,"
        " from 0 to 1."
    ]
    legend += chosen.left_out
    if keys > MOST_KEYS:
        legend.append(
            f"Of the keys that a query sees, at most the {MOST_KEYS} with the largest weights."
        )
    said = " ".join(_said(*each) for each in drawn[:8])
    return drawing(
        title,
        "Weights without the scale and with it",
        said,
        alike_together(side_by_side([_panel(*each) for each in drawn])),
        legend,
    )


def _panel(plain: Part, scaled: Part, row: int) -> Panel:
    trace = scaled.trace
    keys = _keys(trace, row)
    names = [cut(trace.context_tokens[key], SIZE, LABEL) for key in keys]
    query = cut(trace.tokens[row], SIZE, LABEL)
    title = f"query {query.shown}"
    if scaled.title:
        title = f"{scaled.title}, {title}"
    head = line_of(Words(0, LINE - 5, title, bold=True, label=query))
    shapes: list[Shape] = [*head.shapes]
    left = ceil(max(text_width(name.shown, SIZE) for name in names)) + 10.0
    for place, name in enumerate(names):
        middle = _middle(place, SIZE)
        shapes.append(Words(left - 10, middle, name.shown, anchor="end", label=name))
    for part, paint, above in zip((plain, scaled), PAINTS, HEADS, strict=True):
        side = _side(part, row, keys, paint, above)
        shapes += moved(side.shapes, left, 0)
        left += side.width + BETWEEN
    width = max(left - BETWEEN, head.width)
    return Panel(width, _height(len(keys)), tuple(shapes))


def _height(keys: int) -> int:
    """Of the panel of a query."""
    return 2 * LINE + 4 + keys * ROW


def _top(place: int) -> int:
    """Of the bar of a key."""
    return 2 * LINE + 4 + place * ROW


def _middle(place: int, size: float) -> float:
    """The base line of a text of this size beside the bar of a key."""
    return _top(place) + HIGH / 2 + MIDDLE * size


def _side(part: Part, row: int, keys: Sequence[int], paint: str, above: str) -> Panel:
    """The scores and the weights of one trace, which is the one without the scale or the one with
    it.
    """
    weights = part.trace["weights"][row]
    scores = _scores(part, row, keys)
    texts = [part.text("weights", row, key) for key in keys]
    start = ceil(max(text_width(text, SMALL) for text in scores)) + 8
    end = start + WIDE + 6
    shapes: list[Shape] = [Words(0, 2 * LINE - 5, above, "soft", SMALL)]
    for place, key in enumerate(keys):
        middle = _middle(place, SMALL)
        shapes.append(Words(start - 8, middle, scores[place], "soft", SMALL, "end"))
        shapes.append(Words(end, middle, texts[place], size=SMALL))
        weight = float(weights[key])
        if np.isfinite(weight) and weight > 0:
            length = max(weight * WIDE, 0.5)
            bar = rectangle(start, _top(place), length, HIGH)
            shapes.append(Path(bar, paint))
    bottom = _height(len(keys))
    axis = lines([(start, 2 * LINE + 1), (start, bottom - 3)])
    shapes.append(Path(axis, stroke="line"))
    widest = max(text_width(text, SMALL) for text in texts)
    width = max(end + widest, text_width(above, SMALL))
    return Panel(width, bottom, tuple(shapes))


def _scores(part: Part, row: int, keys: Sequence[int]) -> list[str]:
    """The score of each key, "" where the mask hides it."""
    step = scores_of(part.trace)
    hidden = masked_out(part.trace.steps)
    if hidden is None:
        return [part.text(step, row, key) for key in keys]
    return ["" if hidden[row, key] else part.text(step, row, key) for key in keys]


def scores_of(trace: Trace) -> str:
    """The scores that the scale makes, or those that nothing scales."""
    return "scaled" if "scaled" in trace else "scores"


def _keys(trace: Trace, row: int) -> Sequence[int]:
    """The keys that the query sees, of many those with the largest weights, in their own order; all
    if it sees none.
    """
    weights = np.nan_to_num(trace["weights"][row].astype(np.float64))
    hidden = masked_out(trace.steps)
    seen = np.arange(len(weights))
    if hidden is not None and not hidden[row].all():
        seen = np.flatnonzero(~hidden[row])
    order = np.argsort(-weights[seen], kind="stable")
    return sorted(seen[order[:MOST_KEYS]].tolist())


def _said(plain: Part, scaled: Part, row: int) -> str:
    """How much of the attention of a query goes to its first key, without the scale and with it."""
    weights = scaled.trace["weights"][row].astype(np.float64)
    before = plain.trace["weights"][row].astype(np.float64)
    who = f'"{scaled.trace.tokens[row]}"'
    if scaled.title:
        who = f"{scaled.title}: {who}"
    finite = np.isfinite(weights).all() and np.isfinite(before).all()
    if not finite or not weights.any():
        return f"{who} has no weights."
    top = largest(weights)
    unscaled = percent(float(before[top[0]]))
    if len(top) > 1:
        unscaled += " each"
    share = percent(float(weights[top[0]]))
    keys = named_keys(scaled.trace, top)
    return f"{who} gives {keys} {unscaled} without the scale, and {share} with it."
