"""A row of scores before and after the scale, each with the weights that its softmax makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np

from attncli.page.drawing import (
    BELOW_BASE,
    BELOW_TITLE,
    DIGIT_MIDDLE,
    HIGHEST_BODY,
    LABEL_GAP,
    LINE_HEIGHT,
    PANEL_GAP,
    SMALL_TEXT,
    TEXT_SIZE,
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

# The bar of the weight 1, its height, and from one bar to the next.
WIDTH_OF_ONE = 96
BAR_HEIGHT, BAR_DISTANCE = 14, 19
# It can still be seen.
SHORTEST_BAR = 0.5
# Between the names of keys and a side, and between the longest bar and the numbers.
NAME_GAP, NUMBER_GAP = 10.0, 6
# The query has a line, and so have the heads of both sides, and those of their columns.
BOTTOM_OF_SIDE_HEADS = 2 * LINE_HEIGHT
BOTTOM_OF_HEADS = 3 * LINE_HEIGHT
BELOW_AXIS = 3
WIDEST_LABEL = 110
BETWEEN_SIDES = 24
MOST_KEYS_DRAWN = 12
# The description has a sentence for so many queries.
MOST_QUERIES_SAID = 8
# Without the scale, and with it.
PAINTS_OF_SIDES = ("#d55e00", "#0072b2")
HEADS_OF_SIDES = ("without the scale", "with the scale")
HEADS_OF_COLUMNS = ("score", "weight")


def softmax(title: str, parts: Sequence[Part], others: Sequence[Part], only: int | None) -> Drawing:
    """The picture of each row, without the scale and with it.

    `others` are the same heads with the scale if `parts` have none, else without it.
    """
    is_scaled = "scaled" in parts[0].trace
    keys = len(parts[0].trace.context_tokens)
    room = HIGHEST_BODY // (_height(min(keys, MOST_KEYS_DRAWN)) + PANEL_GAP)
    chosen = choose_drawn(parts, only, room)
    other_of = {part.title: other for part, other in zip(parts, others, strict=True)}
    panels: list[Panel] = []
    said: list[str] = []
    for part, row in chosen.each:
        other = other_of[part.title]
        plain, scaled = (other, part) if is_scaled else (part, other)
        panels.append(_panel(plain, scaled, row))
        if len(said) < MOST_QUERIES_SAID:
            said.append(_said(plain, scaled, row))
    legend = [
        "The softmax makes the weights of the scores. A bar that is full is the weight 1.",
        *chosen.left_out,
    ]
    if keys > MOST_KEYS_DRAWN:
        legend.append(
            f"Of the keys that a query sees, at most the {MOST_KEYS_DRAWN} with the largest"
            " weights."
        )
    what = "Weights without the scale and with it"
    body = alike_together(side_by_side(panels))
    return drawing(title, what, " ".join(said), body, legend)


def _panel(plain: Part, scaled: Part, row: int) -> Panel:
    trace = scaled.trace
    keys = _keys(trace, row)
    names = [cut(trace.context_tokens[key], TEXT_SIZE, WIDEST_LABEL) for key in keys]
    query = cut(trace.tokens[row], TEXT_SIZE, WIDEST_LABEL)
    title = f"query {query.shown}"
    if scaled.title:
        title = f"{scaled.title}, {title}"
    head = line_of(Words(0, LINE_HEIGHT - BELOW_BASE, title, bold=True, label=query))
    shapes: list[Shape] = [*head.shapes]
    left = ceil(max(text_width(name.shown, TEXT_SIZE) for name in names)) + NAME_GAP
    for place, name in enumerate(names):
        middle = _middle(place, TEXT_SIZE)
        shapes.append(Words(left - NAME_GAP, middle, name.shown, anchor="end", label=name))
    for part, paint, above in zip((plain, scaled), PAINTS_OF_SIDES, HEADS_OF_SIDES, strict=True):
        side = _side(part, row, keys, paint, above)
        shapes += moved(side.shapes, left, 0)
        left += side.width + BETWEEN_SIDES
    width = max(left - BETWEEN_SIDES, head.width)
    return Panel(width, _height(len(keys)), tuple(shapes))


def _height(keys: int) -> int:
    """Of the panel of a query."""
    return BOTTOM_OF_HEADS + BELOW_TITLE + keys * BAR_DISTANCE


def _top(place: int) -> int:
    """Of the bar of a key."""
    return BOTTOM_OF_HEADS + BELOW_TITLE + place * BAR_DISTANCE


def _middle(place: int, size: float) -> float:
    """The base line of a text of this size beside the bar of a key."""
    return _top(place) + BAR_HEIGHT / 2 + DIGIT_MIDDLE * size


def _side(part: Part, row: int, keys: Sequence[int], paint: str, above: str) -> Panel:
    """The scores and the weights of one trace: the one without the scale, or the one with it."""
    weights = part.trace["weights"][row]
    scores = _scores(part, row, keys)
    texts = [part.text("weights", row, key) for key in keys]
    head_of_scores, head_of_weights = HEADS_OF_COLUMNS
    widest_score = max(text_width(score, SMALL_TEXT) for score in (*scores, head_of_scores))
    widest_text = max(text_width(text, SMALL_TEXT) for text in texts)
    start = ceil(widest_score) + LABEL_GAP
    end = start + WIDTH_OF_ONE + NUMBER_GAP
    base = BOTTOM_OF_HEADS - BELOW_BASE
    shapes: list[Shape] = [
        Words(0, BOTTOM_OF_SIDE_HEADS - BELOW_BASE, above, size=SMALL_TEXT),
        Words(start - LABEL_GAP, base, head_of_scores, "soft", SMALL_TEXT, "end"),
        Words(start, base, head_of_weights, "soft", SMALL_TEXT),
    ]
    for place, key in enumerate(keys):
        middle = _middle(place, SMALL_TEXT)
        shapes.append(Words(start - LABEL_GAP, middle, scores[place], "soft", SMALL_TEXT, "end"))
        shapes.append(Words(end, middle, texts[place], size=SMALL_TEXT))
        shapes += _bar(float(weights[key]), start, _top(place), paint)
    bottom = _height(len(keys))
    axis = lines([(start, BOTTOM_OF_HEADS + 1), (start, bottom - BELOW_AXIS)])
    shapes.append(Path(axis, stroke="line"))
    width = max(end + widest_text, text_width(above, SMALL_TEXT))
    return Panel(width, bottom, tuple(shapes))


def _bar(weight: float, left: float, top: float, paint: str) -> Iterator[Path]:
    """The bar of a weight, and what is left of 1."""
    length = 0.0
    if np.isfinite(weight) and weight > 0:
        length = min(max(weight * WIDTH_OF_ONE, SHORTEST_BAR), WIDTH_OF_ONE)
        yield Path(rectangle(left, top, length, BAR_HEIGHT), paint)
    if length < WIDTH_OF_ONE:
        yield Path(rectangle(left + length, top, WIDTH_OF_ONE - length, BAR_HEIGHT), "wash")


def _scores(part: Part, row: int, keys: Sequence[int]) -> list[str]:
    """The score of each key, "" where the mask hides it."""
    step = scores_of(part.trace)
    hidden = masked_out(part.trace.steps)
    texts: list[str] = []
    for key in keys:
        is_hidden = hidden is not None and hidden[row, key]
        texts.append("" if is_hidden else part.text(step, row, key))
    return texts


def scores_of(trace: Trace) -> str:
    """The scores that the scale makes, or those that nothing scales."""
    return "scaled" if "scaled" in trace else "scores"


def _keys(trace: Trace, row: int) -> Sequence[int]:
    """The keys that the query sees, in their own order; all if it sees none.

    Of many, they are those with the largest weights.
    """
    weights = np.nan_to_num(trace["weights"][row].astype(np.float64))
    hidden = masked_out(trace.steps)
    seen = np.arange(len(weights))
    if hidden is not None and not hidden[row].all():
        seen = np.flatnonzero(~hidden[row])
    order = np.argsort(-weights[seen], kind="stable")
    largest_keys = seen[order[:MOST_KEYS_DRAWN]]
    return sorted(largest_keys.tolist())


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
