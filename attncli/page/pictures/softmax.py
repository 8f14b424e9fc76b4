"""A row of scores before and after the scale, each with the weights that the softmax makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from attncli.page.pictures.drawing import (
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
from attncli.page.pictures.parts import Part, choose_drawn, named_keys
from attncli.page.reading import largest, percent
from attncli.tracing.model import Trace, masked_out

WIDE, HIGH, ROW = 110, 14, 20
LABEL = 110
BETWEEN = 24
MOST_KEYS = 12
PAINTS = ("#d55e00", "#0072b2")  # without the scale, and with it
HEADS = ("without the scale", "with the scale")


def softmax(title: str, parts: Sequence[Part], others: Sequence[Part], only: int | None) -> Drawing:
    """The picture of each row; `others` are the same heads with the scale if `parts` have none, else without it."""
    swap = "scaled" in parts[0].trace
    keys = len(parts[0].trace.context_tokens)
    chosen = choose_drawn(parts, only, HIGHEST // (_height(min(keys, MOST_KEYS)) + GAP))
    pair = {part.title: other for part, other in zip(parts, others, strict=True)}
    drawn = [(pair[part.title], part, row) if swap else (part, pair[part.title], row) for part, row in chosen.each]
    legend = ["Each side shows the scores of the keys, and the weights that the softmax makes of them, from 0 to 1."]
    legend += chosen.left_out
    if keys > MOST_KEYS:
        legend.append(f"Of the keys that a query sees, at most the {MOST_KEYS} with the largest weights.")
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
    title = f"{scaled.title}, " * bool(scaled.title)
    query = cut(trace.tokens[row], SIZE, LABEL)
    head = line_of(Words(0, LINE - 5, f"{title}query {query.shown}", bold=True, label=query))
    shapes: list[Shape] = [*head.shapes]
    left = ceil(max(text_width(name.shown, SIZE) for name in names)) + 10.0
    for place, name in enumerate(names):
        shapes.append(Words(left - 10, _middle(place, SIZE), name.shown, anchor="end", label=name))
    for part, paint, above in zip((plain, scaled), PAINTS, HEADS, strict=True):
        side = _side(part, row, keys, paint, above)
        shapes += moved(side.shapes, left, 0)
        left += side.width + BETWEEN
    return Panel(max(left - BETWEEN, head.width), _height(len(keys)), tuple(shapes))


def _height(keys: int) -> int:
    """Of the panel of a query."""
    return 2 * LINE + 4 + keys * ROW


def _middle(place: int, size: float) -> float:
    return 2 * LINE + 4 + place * ROW + HIGH / 2 + MIDDLE * size


def _side(part: Part, row: int, keys: Sequence[int], paint: str, above: str) -> Panel:
    """The scores and the weights of one trace, which is the one without the scale or the one with it."""
    trace, step = part.trace, scores_of(part.trace)
    hidden = masked_out(trace.steps)
    weights = trace["weights"]
    scores = ["" if hidden is not None and hidden[row, key] else part.text(step, row, key) for key in keys]
    texts = [part.text("weights", row, key) for key in keys]
    start = ceil(max(text_width(text, SMALL) for text in scores)) + 8
    shapes: list[Shape] = [Words(0, 2 * LINE - 5, above, "soft", SMALL)]
    for place, (key, score) in enumerate(zip(keys, scores, strict=True)):
        shapes.append(Words(start - 8, _middle(place, SMALL), score, "soft", SMALL, "end"))
        shapes.append(Words(start + WIDE + 6, _middle(place, SMALL), texts[place], size=SMALL))
        weight = float(weights[row, key])
        if np.isfinite(weight) and weight > 0:
            top = 2 * LINE + 4 + place * ROW
            shapes.append(Path(rectangle(start, top, max(weight * WIDE, 0.5), HIGH), paint))
    bottom = _height(len(keys))
    shapes.append(Path(lines([(start, 2 * LINE + 1), (start, bottom - 3)]), stroke="line"))
    width = max(start + WIDE + 6 + max(text_width(text, SMALL) for text in texts), text_width(above, SMALL))
    return Panel(width, bottom, tuple(shapes))


def scores_of(trace: Trace) -> str:
    """The scores that the scale makes, or those that nothing scales."""
    return "scaled" if "scaled" in trace else "scores"


def _keys(trace: Trace, row: int) -> Sequence[int]:
    """The keys that the query sees, of many those with the largest weights, in their own order; all if it sees none."""
    weights = np.nan_to_num(trace["weights"][row].astype(np.float64))
    hidden = masked_out(trace.steps)
    seen = np.arange(len(weights)) if hidden is None else np.flatnonzero(~hidden[row])
    seen = seen if len(seen) else np.arange(len(weights))
    return sorted(seen[np.argsort(-weights[seen], kind="stable")[:MOST_KEYS]].tolist())


def _said(plain: Part, scaled: Part, row: int) -> str:
    """How much of the attention of a query goes to its first key, without the scale and with it."""
    weights = scaled.trace["weights"][row].astype(np.float64)
    before = plain.trace["weights"][row].astype(np.float64)
    who = f'{scaled.title}: "' * bool(scaled.title) or '"'
    who += f'{scaled.trace.tokens[row]}"'
    if not (np.isfinite(weights).all() and np.isfinite(before).all() and weights.any()):
        return f"{who} has no weights."
    top = largest(weights)
    shares = [percent(float(each[top[0]])) for each in (before, weights)]
    each = " each" * (len(top) > 1)
    return f"{who} gives {named_keys(scaled.trace, top)} {shares[0]}{each} without the scale, and {shares[1]} with it."
