"""Ribbons from queries to keys, each as wide as its weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from attncli.english import count
from attncli.page.colors import MOST_TOLD_APART
from attncli.page.drawing import (
    DIGIT_MIDDLE,
    EDGE_WIDTH,
    LABEL_GAP,
    LINE_HEIGHT,
    SMALL_TEXT,
    TEXT_SIZE,
    TINT_OPACITY,
    Drawing,
    Label,
    Panel,
    Path,
    Shape,
    Words,
    cut,
    drawing,
    has_room_for_edge,
    hue,
    is_hollow,
    rectangle,
    side_by_side,
    swatch,
    text_width,
    with_title,
)
from attncli.page.pictures.parts import Part, attention_in_words, choose_drawn, name_of_key, typeset
from attncli.page.printer import format_number
from attncli.tracing.model import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

Weights: TypeAlias = "NDArray[np.float64]"

# All queries together are about as high; of more than two heads, two of them are.
HEIGHT_OF_QUERIES = 420
# The weight 1 is no higher and no lower.
HIGHEST_QUERY, LOWEST_QUERY = 72, 6
# Between two queries, and between two keys; the same if they are low.
BETWEEN_QUERIES, BETWEEN_LOW_QUERIES = 8, 2
# From a query to a key; the same of several heads.
REACH, REACH_OF_SEVERAL = 260, 200
BAR_WIDTH = 6
# A lower bar of a key is not seen.
LOWEST_BAR = 0.05
WIDEST_LABEL = 130
OPACITY = 0.5
# If ribbons are many, those below this are not drawn.
THINNEST_RIBBON = 0.3
MANY_RIBBONS = 600
# The picture has room for so many queries of a head.
MOST_QUERIES = 64
# How far the base of "queries" and "keys" is above them.
BELOW_CAPTION = 6
# From a bar to the digits on a ribbon, and from one number to the next.
DIGITS_GAP, HEIGHT_OF_DIGITS = 5, 12
# So much more room than for its letters has a key whose neighbours may be low.
ROOM_AROUND_LABEL = 2
SINK = "sink"


class Ends(NamedTuple):
    """The keys on the right side: their labels and where each begins and ends."""

    names: tuple[str, ...]
    tops: tuple[float, ...]
    heights: tuple[float, ...]


def flow(title: str, parts: Sequence[Part], only: int | None) -> Drawing:
    """The picture of the flow of attention, of each head; `only` is the one query that is drawn."""
    chosen = choose_drawn(parts, only, MOST_QUERIES * len(parts))
    queries = chosen.queries
    unit = _height_of_one(len(queries), len(parts))
    ribbons = len(parts) * len(queries) * len(parts[0].trace.context_tokens)
    thinnest = THINNEST_RIBBON / unit if ribbons > MANY_RIBBONS else 0.0
    reach = REACH if len(parts) == 1 else REACH_OF_SEVERAL
    panels = [
        with_title(part.title, _panel(part, queries, unit, thinnest, reach)) for part in parts
    ]
    legend = [_what_is_wide(parts), *chosen.left_out]
    if len(queries) > MOST_TOLD_APART:
        legend.append(f"After {MOST_TOLD_APART} queries, the colours begin again.")
    weights = np.concatenate([_weights(part, queries).ravel() for part in parts])
    left_out = int(((weights > 0) & (weights < thinnest)).sum())
    if left_out:
        least = typeset(format_number(thinnest, 3))
        legend.append(f"{count(left_out, 'weight')} below {least} are not drawn.")
    description = attention_in_words(parts, only)
    return drawing(title, "Who attends to whom", description, side_by_side(panels), legend)


def _height_of_one(queries: int, parts: int) -> float:
    """How high the weight 1 is, in pixels."""
    # Many queries are lower than their labels, of which some have no room then.
    lowest = TEXT_SIZE
    if queries > HEIGHT_OF_QUERIES / LINE_HEIGHT:
        lowest = LOWEST_QUERY
    height = HEIGHT_OF_QUERIES * min(1, 2 / parts)
    wanted = height / queries
    return min(HIGHEST_QUERY, max(lowest, wanted))


def _what_is_wide(parts: Sequence[Part]) -> str:
    if any(_has_sink(part.trace) for part in parts):
        return (
            "A ribbon is as wide as its weight. What the keys of a query leave of 1 goes to the"
            " sink."
        )
    return "A ribbon is as wide as its weight. The ribbons of a query are together as wide as 1."


def _has_sink(trace: Trace) -> bool:
    return "sink" in trace.parameters or "sink" in trace


def _weights(part: Part, queries: Sequence[int]) -> Weights:
    return np.nan_to_num(part.trace["weights"][list(queries)].astype(np.float64))


def _panel(part: Part, queries: Sequence[int], unit: float, thinnest: float, reach: float) -> Panel:
    trace = part.trace
    weights = _weights(part, queries)
    names = trace.context_tokens
    if _has_sink(trace):
        rest = np.maximum(0, 1 - weights.sum(axis=-1)) * weights.any(axis=-1)
        weights = np.column_stack([weights, rest])
        names = (*names, SINK)
    gap = BETWEEN_QUERIES if unit > LINE_HEIGHT else BETWEEN_LOW_QUERIES
    height = len(queries) * (unit + gap) - gap
    ends = _ends(names, weights.sum(axis=0) * unit, height, gap)
    labels = [cut(trace.tokens[row], TEXT_SIZE, WIDEST_LABEL) for row in queries]
    widths = [text_width(label.shown, TEXT_SIZE) for label in labels]
    left = ceil(max(*widths, text_width("queries", SMALL_TEXT))) + LABEL_GAP
    right = left + 2 * BAR_WIDTH + reach
    tops = [LINE_HEIGHT + place * (unit + gap) for place in range(len(queries))]
    shapes: list[Shape] = [
        Words(left - LABEL_GAP, LINE_HEIGHT - BELOW_CAPTION, "queries", "soft", SMALL_TEXT, "end"),
        Words(right + LABEL_GAP, LINE_HEIGHT - BELOW_CAPTION, "keys", "soft", SMALL_TEXT),
    ]
    ribbons: list[Shape] = []
    digits: list[Shape] = []
    filled = list(ends.tops)
    for place, row in enumerate(queries):
        top = tops[place]
        for key, weight in enumerate(weights[place].tolist()):
            if weight <= 0:
                continue
            width = weight * unit
            if weight >= thinnest:
                to_top = LINE_HEIGHT + filled[key]
                ribbon = _ribbon(left + BAR_WIDTH, top, right - BAR_WIDTH, to_top, width, row)
                ribbons.append(ribbon._replace(title=_said(part, row, key, weight)))
            top += width
            filled[key] += width
        own = weights[place][: len(trace.context_tokens)]
        begin = left + BAR_WIDTH + DIGITS_GAP
        for key, middle in _places_of_digits(own, unit, row):
            y = tops[place] + middle + DIGIT_MIDDLE * SMALL_TEXT
            number = part.text("weights", row, key)
            digits.append(Words(begin, y, number, size=SMALL_TEXT))
    shapes += ribbons
    for top, row in zip(tops, queries, strict=True):
        shapes.append(swatch(left, top, BAR_WIDTH, unit, row))
    for top, key_height in zip(ends.tops, ends.heights, strict=True):
        if key_height >= LOWEST_BAR:
            bar = rectangle(right - BAR_WIDTH, LINE_HEIGHT + top, BAR_WIDTH, key_height)
            shapes.append(Path(bar, "soft"))
    shapes += digits
    middles = [place * (unit + gap) + unit / 2 for place in range(len(queries))]
    shapes += _labels(labels, middles, [unit] * len(labels), left - LABEL_GAP, "end")
    named = [cut(name, TEXT_SIZE, WIDEST_LABEL) for name in ends.names]
    middles = [top + height / 2 for top, height in zip(ends.tops, ends.heights, strict=True)]
    shapes += _labels(named, middles, ends.heights, right + LABEL_GAP, "start")
    lowest = max(len(queries) * (unit + gap), ends.tops[-1] + max(ends.heights[-1], LINE_HEIGHT))
    widest = max(text_width(name.shown, TEXT_SIZE) for name in named)
    return Panel(right + LABEL_GAP + widest, LINE_HEIGHT + lowest, tuple(shapes))


def _places_of_digits(weights: Weights, unit: float, query: int) -> Iterator[tuple[int, float]]:
    """The keys of a query that have room for their number, with the middle of each below the top.

    They are the heaviest ones, which are many if ribbons are high. Each number stands on its ribbon
    or as near as its neighbours let it, in the order of the ribbons. The edges of hollow ribbons
    would cross it: of these, only high ones have a number.
    """
    room = int(unit // HEIGHT_OF_DIGITS)
    least = HEIGHT_OF_DIGITS / unit if is_hollow(query) else 0.0
    heaviest_first = np.argsort(-weights, kind="stable")
    keys = sorted(key for key in heaviest_first[:room].tolist() if weights[key] > least)
    ends = np.cumsum(weights) * unit
    middles = ends - weights * unit / 2
    lowest = HEIGHT_OF_DIGITS / 2
    places: list[float] = []
    for key in keys:
        places.append(max(float(middles[key]), lowest))
        lowest = places[-1] + HEIGHT_OF_DIGITS
    highest = unit - HEIGHT_OF_DIGITS / 2
    for at in reversed(range(len(places))):
        places[at] = min(places[at], highest)
        highest = places[at] - HEIGHT_OF_DIGITS
    yield from zip(keys, places, strict=True)


def _said(part: Part, row: int, key: int, weight: float) -> str:
    """What the pointer shows on a ribbon: "I" → "love": 0.533."""
    trace = part.trace
    end = name_of_key(trace, key) if key < len(trace.context_tokens) else "the sink"
    return f'"{trace.tokens[row]}" → {end}: {part.number(weight)}'


def _ends(names: tuple[str, ...], heights: Weights, left: float, gap: float) -> Ends:
    """Keys one below the other, in the middle of the height of the queries.

    If they are few, each has room for its label.
    """
    room = 0
    if len(names) <= HEIGHT_OF_QUERIES / LINE_HEIGHT:
        room = TEXT_SIZE + ROOM_AROUND_LABEL
    slots = np.maximum(heights, room)
    gaps = gap * (len(names) - 1)
    total = float(slots.sum()) + gaps
    first = max(0.0, (left - total) / 2)
    ends_of_slots = np.cumsum(slots + gap)
    before = np.concatenate([[0], ends_of_slots[:-1]])
    inside = (slots - heights) / 2
    tops = first + before + inside
    return Ends(names, tuple(tops.tolist()), tuple(heights.tolist()))


def _ribbon(x: float, top: float, to_x: float, to_top: float, width: float, query: int) -> Path:
    """A ribbon that is as wide at both ends, in the look of its query."""
    hollow = is_hollow(query) and has_room_for_edge(width)
    if hollow:
        top += EDGE_WIDTH / 2
        to_top += EDGE_WIDTH / 2
        width -= EDGE_WIDTH
    bottom = top + width
    to_bottom = to_top + width
    middle = (x + to_x) / 2
    moves = (
        ("M", ((x, top),)),
        ("C", ((middle, top), (middle, to_top), (to_x, to_top))),
        ("L", ((to_x, to_bottom),)),
        ("C", ((middle, to_bottom), (middle, bottom), (x, bottom))),
        ("Z", ()),
    )
    color = hue(query)
    if hollow:
        return Path(moves, color, color, EDGE_WIDTH, TINT_OPACITY)
    return Path(moves, color, opacity=OPACITY)


def _labels(
    names: Sequence[Label],
    middles: Sequence[float],
    weights: Sequence[float],
    x: float,
    anchor: str,
) -> Iterator[Words]:
    """Labels beside their bars.

    Where they are too close, they are those of the heaviest keys, and then the first ones.
    """
    shown: list[int] = []
    heaviest_first = sorted(range(len(names)), key=lambda place: -weights[place])
    for place in heaviest_first:
        middle = middles[place]
        distances = [abs(middle - middles[other]) for other in shown]
        if min(distances, default=TEXT_SIZE) >= TEXT_SIZE:
            shown.append(place)
    for place in sorted(shown):
        name = names[place]
        y = LINE_HEIGHT + middles[place] + DIGIT_MIDDLE * TEXT_SIZE
        yield Words(x, y, name.shown, anchor=anchor, label=name)
