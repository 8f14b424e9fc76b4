"""Ribbons from queries to keys, each as wide as its weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from attncli.english import count
from attncli.page.drawing import (
    EDGE,
    LINE,
    LOOKS,
    MIDDLE,
    SIZE,
    SMALL,
    TINT,
    Drawing,
    Label,
    Panel,
    Path,
    Shape,
    Words,
    cut,
    drawing,
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

if TYPE_CHECKING:
    from numpy.typing import NDArray

Weights: TypeAlias = "NDArray[np.float64]"

# of the ribbons of all queries, about; of more than two heads, of two of them
HIGH = 420
TALLEST, LOWEST = 72, 6  # the weight 1
BETWEEN = 8  # queries, and keys
# from a query to a key; of several heads
REACH, NEAR = 260, 200
BAR = 6
LABEL = 130
OPACITY = 0.5
# ribbons below this are not drawn, if they are many
THINNEST = 0.3
MANY = 600  # ribbons
MOST_QUERIES = 64  # of a head
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
    # which leaves room for each label
    lowest = LOWEST if len(queries) > HIGH / LINE else SIZE
    unit = min(TALLEST, max(lowest, HIGH * min(1, 2 / len(parts)) / len(queries)))
    thinnest = (
        THINNEST / unit
        if len(parts) * len(queries) * len(parts[0].trace.context_tokens) > MANY
        else 0.0
    )
    reach = REACH if len(parts) == 1 else NEAR
    panels = [
        with_title(part.title, _panel(part, queries, unit, thinnest, reach)) for part in parts
    ]
    legend = [
        "A ribbon is as wide as its weight. The ribbons of a query are together as wide as 1."
    ]
    if any("sink" in part.trace.parameters or "sink" in part.trace for part in parts):
        legend[0] = (
            "A ribbon is as wide as its weight. What the keys of a query leave of 1 goes to the"
            " sink."
        )
    legend += chosen.left_out
    if len(queries) > LOOKS:
        legend.append(f"After {LOOKS} queries, the colours begin again.")
    weights = np.concatenate([_weights(part, queries).ravel() for part in parts])
    left_out = int(((weights > 0) & (weights < thinnest)).sum())
    if left_out:
        legend.append(
            f"{count(left_out, 'weight')} below {typeset(format_number(thinnest, 3))} are not"
            " drawn."
        )
    return drawing(
        title, "Who attends to whom", attention_in_words(parts, only), side_by_side(panels), legend
    )


def _weights(part: Part, queries: Sequence[int]) -> Weights:
    return np.nan_to_num(part.trace["weights"][list(queries)].astype(np.float64))


def _panel(part: Part, queries: Sequence[int], unit: float, thinnest: float, reach: float) -> Panel:
    trace, weights = part.trace, _weights(part, queries)
    names = trace.context_tokens
    if "sink" in trace.parameters or "sink" in trace:
        weights = np.column_stack(
            [weights, np.maximum(0, 1 - weights.sum(axis=-1)) * weights.any(axis=-1)]
        )
        names = (*names, SINK)
    gap = BETWEEN if unit > LINE else 2
    ends = _ends(names, weights.sum(axis=0) * unit, len(queries) * (unit + gap) - gap, gap)
    labels = [cut(trace.tokens[row], SIZE, LABEL) for row in queries]
    left = (
        ceil(max(*(text_width(name.shown, SIZE) for name in labels), text_width("queries", SMALL)))
        + 8
    )
    right = left + 2 * BAR + reach
    shapes: list[Shape] = [
        Words(left - 8, LINE - 6, "queries", "soft", SMALL, "end"),
        Words(right + 8, LINE - 6, "keys", "soft", SMALL),
    ]
    ribbons: list[Shape] = []
    digits: list[Shape] = []
    filled = list(ends.tops)
    for place, row in enumerate(queries):
        top = LINE + place * (unit + gap)
        for key, weight in enumerate(weights[place].tolist()):
            width = weight * unit
            if weight > 0:
                if weight >= thinnest:
                    end = name_of_key(trace, key) if key < len(trace.context_tokens) else "the sink"
                    said = f'"{trace.tokens[row]}" → {end}: {part.number(weight)}'
                    ribbons.append(
                        _ribbon(left + BAR, top, right - BAR, LINE + filled[key], width, row, said)
                    )
                    if width >= SIZE + 1 and key < len(trace.context_tokens):
                        middle = top + width / 2 + MIDDLE * SMALL
                        digits.append(
                            Words(
                                left + BAR + 5, middle, part.text("weights", row, key), size=SMALL
                            )
                        )
                top += width
                filled[key] += width
    bars: list[Shape] = [
        swatch(left, LINE + place * (unit + gap), BAR, unit, row)
        for place, row in enumerate(queries)
    ]
    bars += (
        Path(rectangle(right - BAR, LINE + top, BAR, height), "soft")
        for top, height in zip(ends.tops, ends.heights, strict=True)
        if height >= 0.05
    )
    shapes += [*ribbons, *bars, *digits]
    middles = [place * (unit + gap) + unit / 2 for place in range(len(queries))]
    shapes += _labels(labels, middles, [unit] * len(labels), left - 8, "end")
    named = [cut(name, SIZE, LABEL) for name in ends.names]
    middles = [top + height / 2 for top, height in zip(ends.tops, ends.heights, strict=True)]
    shapes += _labels(named, middles, ends.heights, right + 8, "start")
    lowest = max(len(queries) * (unit + gap), ends.tops[-1] + max(ends.heights[-1], LINE))
    return Panel(
        right + 8 + max(text_width(name.shown, SIZE) for name in named),
        LINE + lowest,
        tuple(shapes),
    )


def _ends(names: tuple[str, ...], heights: Weights, left: float, gap: float) -> Ends:
    """Keys one below the other, in the middle of the height of the queries; each has room for its
    label if few.
    """
    room = SIZE + 2 if len(names) <= HIGH / LINE else 0
    slots = np.maximum(heights, room)
    total = float(slots.sum()) + gap * (len(names) - 1)
    tops = (
        max(0.0, (left - total) / 2)
        + np.concatenate([[0], np.cumsum(slots + gap)[:-1]])
        + (slots - heights) / 2
    )
    return Ends(names, tuple(tops.tolist()), tuple(heights.tolist()))


def _ribbon(
    x: float, top: float, to_x: float, to_top: float, width: float, query: int, said: str
) -> Path:
    """A ribbon that is as wide at both ends, in the look of its query."""
    hollow = is_hollow(query) and width >= 3 * EDGE
    if hollow:
        top, to_top, width = top + EDGE / 2, to_top + EDGE / 2, width - EDGE
    middle = (x + to_x) / 2
    moves = (
        ("M", ((x, top),)),
        ("C", ((middle, top), (middle, to_top), (to_x, to_top))),
        ("L", ((to_x, to_top + width),)),
        ("C", ((middle, to_top + width), (middle, top + width), (x, top + width))),
        ("Z", ()),
    )
    if hollow:
        return Path(moves, hue(query), hue(query), EDGE, TINT, title=said)
    return Path(moves, hue(query), opacity=OPACITY, title=said)


def _labels(
    names: Sequence[Label],
    middles: Sequence[float],
    weights: Sequence[float],
    x: float,
    anchor: str,
) -> Iterator[Words]:
    """Labels beside their bars; where they are too close, those of the heaviest keys, and then the
    first ones.
    """
    shown: list[int] = []
    for place in sorted(range(len(names)), key=lambda place: -weights[place]):
        if all(abs(middles[place] - middles[other]) >= SIZE for other in shown):
            shown.append(place)
    for place in sorted(shown):
        name = names[place]
        yield Words(x, LINE + middles[place] + MIDDLE * SIZE, name.shown, anchor=anchor, label=name)
