"""Each output as a sum: what every value gives to every feature, to the right of 0 or to the left
of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attncli.english import listed
from attncli.page.colors import foreground
from attncli.page.drawing import (
    GAP,
    HIGHEST,
    LINE,
    LOOKS,
    MIDDLE,
    SIZE,
    SMALL,
    WIDEST,
    Drawing,
    Label,
    Panel,
    Path,
    Shape,
    Words,
    alike_together,
    cut,
    drawing,
    entry_of_legend,
    hexadecimal,
    in_lines,
    line_of,
    lines,
    rectangle,
    rgb,
    side_by_side,
    swatch,
    text_width,
)
from attncli.page.in_words import MOST_KEYS, largest
from attncli.page.pictures.parts import Part, choose_drawn, name_of_key
from attncli.tracing.model import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

# from the lowest to the highest number
WIDE = 240
HIGH, ROW = 18, 24
LABEL = 110
MOST_PANELS, MOST_FEATURES = 12, 16
# of one output; those of all other keys are one
MOST_PIECES = 6
# the paint of all other keys together
OTHERS = "soft"


class Sum(NamedTuple):
    """One output row: `terms` are the shares of the keys that are drawn, and of all others, by
    feature.

    `looks` has a number for each key of the picture.
    """

    part: Part
    row: int
    keys: tuple[int, ...]
    terms: NDArray[np.float64]
    looks: Mapping[int, int]

    @property
    def others(self) -> bool:
        """Whether the last of the terms are those of all other keys together."""
        return len(self.terms) > len(self.keys)


def composition(title: str, parts: Sequence[Part], only: int | None) -> Drawing:
    """The picture of what the outputs are made of, query by query; `only` is the one query that is
    drawn.
    """
    features = parts[0].trace["V"].shape[-1]
    in_a_column = HIGHEST // (_height(min(features, MOST_FEATURES)) + GAP)
    for columns in (2, 1):  # one, if two are too wide
        chosen = choose_drawn(parts, only, min(MOST_PANELS, columns * in_a_column))
        drawn = _sums(chosen.each)
        panels = _panels(drawn)
        if columns * max(each.width for each in panels) + GAP <= WIDEST:
            break
    legend: list[Panel | str] = [*_legend_of_keys(drawn)]
    legend.append(
        "Each piece is a weight times a number of the value of its key. The two ticks mark their"
        " sum. From 0 outwards, the pieces are in the order of the keys."
    )
    legend += chosen.left_out
    if features > MOST_FEATURES:
        legend.append(f"The first {MOST_FEATURES} of {features:,} features.")
    what = "output" if output_step(parts[0].trace) == "output" else "output of a head"
    said = " ".join(_said(each) for each in drawn[:8])
    return drawing(
        title, f"What each {what} is made of", said, alike_together(side_by_side(panels)), legend
    )


def _panels(drawn: Sequence[Sum]) -> list[Panel]:
    reach = [_reach(each.terms) for each in drawn]
    low, high = min(each[0] for each in reach), max(each[1] for each in reach)
    unit = WIDE / (high - low) if high > low else 0.0
    # not even of differences that are almost 0
    fits = isfinite(low) and isfinite(high) and isfinite(unit)
    return [_panel(each, low, unit) if fits else _panel(each, 0, 0) for each in drawn]


def output_step(trace: Trace) -> str:
    """The step that is the product of the weights and the values."""
    return "heads_output" if "heads_output" in trace else "output"


def _sums(outputs: Sequence[tuple[Part, int]]) -> list[Sum]:
    """The outputs with the keys that are drawn of each: of the whole picture, no more than there
    are looks.
    """
    terms = [_terms(part, row) for part, row in outputs]
    with np.errstate(over="ignore"):
        sizes = np.array([np.abs(each).sum(axis=1) for each in terms])
        order = np.argsort(-sizes.sum(axis=0), kind="stable")
    own = sorted(order[:LOOKS].tolist())
    looks = {key: place for place, key in enumerate(own)}
    drawn = []
    for (part, row), each, size in zip(outputs, terms, sizes, strict=True):
        most = len(own) if len(size) <= MOST_PIECES + 1 else MOST_PIECES
        by_size = sorted(own, key=lambda key: -size[key])
        keys = sorted(by_size[:most])
        pieces = [each[keys]]
        rest = np.delete(each, keys, axis=0)
        if len(rest):
            pieces.append(rest.sum(axis=0, keepdims=True))
        drawn.append(Sum(part, row, tuple(keys), np.concatenate(pieces), looks))
    return drawn


def _terms(part: Part, row: int) -> NDArray[np.float64]:
    """What each key gives to each feature of an output; 0 where floats hold no such number."""
    weights, values = (part.trace[name].astype(np.float64) for name in ("weights", "V"))
    with np.errstate(all="ignore"):
        terms = np.where(
            weights[row][:, None] == 0, 0, weights[row][:, None] * values[:, :MOST_FEATURES]
        )
    return np.nan_to_num(terms, posinf=0, neginf=0)


def _reach(terms: NDArray[np.float64]) -> tuple[float, float]:
    """How far the pieces go to the left and to the right of 0."""
    return float(np.minimum(terms, 0).sum(axis=0).min()), float(
        np.maximum(terms, 0).sum(axis=0).max()
    )


def _panel(each: Sum, low: float, unit: float) -> Panel:
    part, trace = each.part, each.part.trace
    step = trace.steps[output_step(trace)]
    features = step.labels[-1][: each.terms.shape[1]]
    name = cut(trace.tokens[each.row], SIZE, LABEL)
    title = f"{part.title}, {name.shown}" if part.title else name.shown
    head = line_of(Words(0, LINE - 5, title, bold=True, label=name))
    left = ceil(max(text_width(label, SMALL) for label in features)) + 8
    zero = left - low * unit
    shapes: list[Shape] = [*head.shapes]
    pieces: list[Path] = []
    marks: list[Shape] = []
    widest = 0.0
    for feature, caption in enumerate(features):
        y = LINE + 4 + feature * ROW
        middle = y + HIGH / 2 + MIDDLE * SMALL
        shapes.append(Words(left - 8, middle, caption, "soft", SMALL, "end"))
        # of what stands right of 0, and left of it
        ends = {True: zero, False: zero}
        for place, term in enumerate(each.terms[:, feature].tolist()):
            width = abs(term) * unit
            if width < 0.005:
                continue
            x = ends[term > 0] if term > 0 else ends[False] - width
            ends[term > 0] += width if term > 0 else -width
            text = part.number(term)
            piece = _piece(each, place, x, y, width)._replace(title=f"{_name(each, place)}: {text}")
            pieces.append(piece)
            if said := _inside(each, place, text, width):
                shapes.append(
                    Words(
                        x + width / 2,
                        middle,
                        said,
                        _ink(piece),
                        SMALL,
                        "middle",
                        label=_key(each, place),
                    )
                )
        total = part.text(step.name, each.row, feature)
        value = float(step.value[each.row, feature])
        if np.isfinite(value):
            at = zero + value * unit
            ticks = (
                *lines([(at, y - 3), (at, y + 2)]),
                *lines([(at, y + HIGH - 2), (at, y + HIGH + 3)]),
            )
            marks.append(Path(ticks, stroke="ink", width=2))
        shapes.append(Words(left + WIDE + 10, middle, f"= {total}", size=SMALL))
        widest = max(widest, text_width(f"= {total}", SMALL))
    bottom = _height(len(features))
    axis = Path(lines([(zero, LINE), (zero, bottom)]), stroke="line")
    return Panel(
        max(left + WIDE + 10 + widest, head.width), bottom, (*pieces, axis, *marks, *shapes)
    )


def _height(features: int) -> int:
    """Of the panel of an output."""
    return LINE + 4 + features * ROW


def _piece(each: Sum, place: int, x: float, y: float, width: float) -> Path:
    if place >= len(each.keys):
        return Path(rectangle(x, y, width, HIGH), OTHERS)
    return swatch(x, y, width, HIGH, each.looks[each.keys[place]])


def _ink(piece: Path) -> str:
    """The colour of what stands on a piece."""
    if piece.opacity < 1 or piece.fill is None:
        return "ink"
    return "paper" if piece.fill == OTHERS else hexadecimal(foreground(rgb(piece.fill)))


def _inside(each: Sum, place: int, number: str, width: float) -> str:
    """What stands on a piece: its key and its number, or the first that there is room for of the
    number and the key.
    """
    key = _key(each, place).shown
    for text in (f"{key} {number}".strip(), number, key):
        if text_width(text, SMALL) + 4 <= width:
            return text
    return ""


def _key(each: Sum, place: int) -> Label:
    """The label of the key of a piece; empty if it is of all others together."""
    tokens = each.part.trace.context_tokens
    name = tokens[each.keys[place]] if place < len(each.keys) else ""
    return cut(name, SMALL, LABEL)


def _name(each: Sum, place: int) -> str:
    """The key of a piece."""
    if place >= len(each.keys):
        return f"the {len(each.part.trace.context_tokens) - len(each.keys):,} others together"
    return name_of_key(each.part.trace, each.keys[place])


def _legend_of_keys(sums: Sequence[Sum]) -> Iterator[Panel]:
    """The look of each key of which there is a piece; nothing where all outputs are 0."""
    names, looks = sums[0].part.trace.context_tokens, sums[0].looks
    seen: set[int] = set()
    for each in sums:
        seen.update(key for key, terms in zip(each.keys, each.terms, strict=False) if terms.any())
    entries = []
    for key in sorted(seen):
        look = swatch(0, 3, 12, 12, looks[key])
        entries.append(entry_of_legend([look], 12, names[key], most=LABEL))
    if any(each.others and each.terms[-1].any() for each in sums):
        look = Path(rectangle(0, 3, 12, 12), OTHERS)
        entries.append(entry_of_legend([look], 12, "all others"))
    if entries:
        yield in_lines(entries, WIDEST)


def _said(each: Sum) -> str:
    """What an output is mostly made of."""
    part = each.part
    token = part.trace.tokens[each.row]
    who = f'{part.title}: the output of "{token}"' if part.title else f'The output of "{token}"'
    size = np.abs(each.terms).sum(axis=1)
    if not size.any():
        return f"{who} is 0."
    top = largest(size)
    how = "equal parts" if 1 < len(top) == np.count_nonzero(size) else "most"
    if len(top) > MOST_KEYS:
        return f"{who} gets {how} from the values of {len(top)} keys."
    whose = listed([_name(each, place) for place in top])
    values = "value" if len(top) == 1 else "values"
    return f"{who} gets {how} from the {values} of {whose}."
