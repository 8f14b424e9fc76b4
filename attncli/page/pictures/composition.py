"""Each output as a sum: what every value gives to every feature, to the right of 0 or the left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attncli.page.colors import MOST_TOLD_APART, foreground, hexadecimal, rgb
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
    WIDEST_BODY,
    Drawing,
    Label,
    Move,
    Panel,
    Path,
    Shape,
    Words,
    alike_together,
    below,
    cut,
    drawing,
    entry_of_legend,
    in_lines,
    line_of,
    lines,
    rectangle,
    side_by_side,
    swatch,
    text_width,
)
from attncli.page.in_words import query_in_words
from attncli.page.pictures.parts import Part, choose_drawn, name_of_key
from attncli.tracing.model import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

# From the lowest to the highest number.
WIDTH_OF_SUMS = 240
# A row of pieces, and from one row to the next.
ROW_HEIGHT, ROW_DISTANCE = 18, 24
# Before the sum itself, and around what stands on a piece.
TOTAL_GAP, ROOM_AROUND_TEXT = 10, 4
# How far a tick reaches out of its row and into it.
TICK_OUTSIDE, TICK_INSIDE, TICK_WIDTH = 3, 2, 2
# The sign of a key in the legend.
SIGN_SIDE, SIGN_TOP = 12, 3
WIDEST_LABEL = 110
MOST_PANELS, MOST_FEATURES = 12, 16
# Of panels that are no higher together, one column is made.
HIGHEST_COLUMN = 540
# The description has a sentence for so many outputs.
MOST_OUTPUTS_SAID = 8
# Of one output; those of all other keys are one piece.
MOST_PIECES = 6
# A narrower piece is not seen.
NARROWEST_PIECE = 0.005
PAINT_OF_OTHERS = "soft"


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
    """The picture of what the outputs are made of, query by query.

    `only` is the one query that is drawn.
    """
    trace = parts[0].trace
    features = trace["V"].shape[-1]
    shown = min(features, MOST_FEATURES)
    drawn, panels, left_out = _fitting(parts, only, shown)
    legend: list[Panel | str] = [*_legend_of_keys(drawn)]
    legend.append(_what_pieces_are(drawn))
    legend += left_out
    if features > MOST_FEATURES:
        legend.append(f"The first {MOST_FEATURES} of {features:,} features.")
    what = "What each output is made of"
    if output_step(trace) != "output":
        what = "What each output of a head is made of"
    sentences = [_said(each) for each in drawn[:MOST_OUTPUTS_SAID]]
    said = " ".join(sentences)
    body = side_by_side(panels)
    # One column is narrow, so that its letters stay large where a picture is made smaller.
    if len(panels) * (panels[0].height + PANEL_GAP) <= HIGHEST_COLUMN:
        body = below(panels, PANEL_GAP)
    body = alike_together(body)
    return drawing(title, what, said, body, legend)


def _what_pieces_are(drawn: Sequence[Sum]) -> str:
    """How to read a sum; people who tell no colours apart read the keys from their order."""
    is_mixed = any((each.terms < 0).any() for each in drawn)
    order = "From 0 to either side" if is_mixed else "From left to right"
    return (
        "A piece is what one key gives: its weight times its value. The ticks mark the sum."
        f" {order}, the pieces are in the order of the keys."
    )


def _fitting(
    parts: Sequence[Part], only: int | None, features: int
) -> tuple[list[Sum], list[Panel], Sequence[str]]:
    """The outputs that are drawn, their panels, and what is left out.

    They stand in two columns, or in one if two are too wide.
    """
    in_a_column = HIGHEST_BODY // (_height(features) + PANEL_GAP)
    chosen = choose_drawn(parts, only, min(MOST_PANELS, 2 * in_a_column))
    drawn = _sums(chosen.each)
    panels = _panels(drawn)
    if 2 * max(panel.width for panel in panels) + PANEL_GAP > WIDEST_BODY:
        chosen = choose_drawn(parts, only, min(MOST_PANELS, in_a_column))
        drawn = _sums(chosen.each)
        panels = _panels(drawn)
    return drawn, panels, chosen.left_out


def _panels(drawn: Sequence[Sum]) -> list[Panel]:
    reach = [_reach(each.terms) for each in drawn]
    low = min(left for left, _ in reach)
    high = max(right for _, right in reach)
    unit = WIDTH_OF_SUMS / (high - low) if high > low else 0.0
    # The unit may be infinite: that of differences that are almost 0.
    if not all(map(isfinite, (low, high, unit))):
        low = unit = 0.0
    return [_panel(each, low, unit) for each in drawn]


def output_step(trace: Trace) -> str:
    """The step that is the product of the weights and the values."""
    return "heads_output" if "heads_output" in trace else "output"


def _sums(outputs: Sequence[tuple[Part, int]]) -> list[Sum]:
    """The outputs with the keys that are drawn of each.

    Of the whole picture, these are no more than there are looks.
    """
    terms = [_terms(part, row) for part, row in outputs]
    with np.errstate(over="ignore"):
        sizes = np.array([np.abs(of_keys).sum(axis=1) for of_keys in terms])
        order = np.argsort(-sizes.sum(axis=0), kind="stable")
    own = sorted(order[:MOST_TOLD_APART].tolist())
    looks = {key: place for place, key in enumerate(own)}
    drawn: list[Sum] = []
    for (part, row), of_keys, size in zip(outputs, terms, sizes, strict=True):
        most = len(own) if len(size) <= MOST_PIECES + 1 else MOST_PIECES
        keys = sorted(_largest_keys(own, size, most))
        pieces = [of_keys[keys]]
        rest = np.delete(of_keys, keys, axis=0)
        if len(rest):
            pieces.append(rest.sum(axis=0, keepdims=True))
        drawn.append(Sum(part, row, tuple(keys), np.concatenate(pieces), looks))
    return drawn


def _largest_keys(keys: Sequence[int], size: NDArray[np.float64], most: int) -> list[int]:
    return sorted(keys, key=lambda key: -size[key])[:most]


def _terms(part: Part, row: int) -> NDArray[np.float64]:
    """What each key gives to each feature of an output; 0 where floats hold no such number."""
    weights = part.trace["weights"].astype(np.float64)
    values = part.trace["V"].astype(np.float64)
    own = weights[row][:, None]
    shown = values[:, :MOST_FEATURES]
    with np.errstate(all="ignore"):
        products = own * shown
    terms = np.where(own == 0, 0, products)
    return np.nan_to_num(terms, posinf=0, neginf=0)


def _reach(terms: NDArray[np.float64]) -> tuple[float, float]:
    """How far the pieces go to the left and to the right of 0."""
    left = np.minimum(terms, 0).sum(axis=0).min()
    right = np.maximum(terms, 0).sum(axis=0).max()
    return float(left), float(right)


def _panel(each: Sum, low: float, unit: float) -> Panel:
    part, trace = each.part, each.part.trace
    step = trace.steps[output_step(trace)]
    features = step.labels[-1][: each.terms.shape[1]]
    name = cut(trace.tokens[each.row], TEXT_SIZE, WIDEST_LABEL)
    title = f"{part.title}, {name.shown}" if part.title else name.shown
    head = line_of(Words(0, LINE_HEIGHT - BELOW_BASE, title, bold=True, label=name))
    left = ceil(max(text_width(label, SMALL_TEXT) for label in features)) + LABEL_GAP
    right = left + WIDTH_OF_SUMS + TOTAL_GAP
    zero = left - low * unit
    pieces: list[Shape] = []
    marks: list[Shape] = []
    words: list[Shape] = [*head.shapes]
    widest = 0.0
    for feature, caption in enumerate(features):
        y = LINE_HEIGHT + BELOW_TITLE + feature * ROW_DISTANCE
        middle = y + ROW_HEIGHT / 2 + DIGIT_MIDDLE * SMALL_TEXT
        words.append(Words(left - LABEL_GAP, middle, caption, "soft", SMALL_TEXT, "end"))
        for piece, said in _pieces(each, feature, zero, unit, y, middle):
            pieces.append(piece)
            if said.text:
                words.append(said)
        value = float(step.value[each.row, feature])
        if np.isfinite(value):
            marks.append(_ticks(zero + value * unit, y))
        total = f"= {part.text(step.name, each.row, feature)}"
        words.append(Words(right, middle, total, size=SMALL_TEXT))
        widest = max(widest, text_width(total, SMALL_TEXT))
    bottom = _height(len(features))
    axis = Path(lines([(zero, LINE_HEIGHT), (zero, bottom)]), stroke="line")
    width = max(right + widest, head.width)
    return Panel(width, bottom, (*pieces, axis, *marks, *words))


def _pieces(
    each: Sum, feature: int, zero: float, unit: float, y: float, middle: float
) -> Iterator[tuple[Path, Words]]:
    """The pieces of a sum from 0 outwards, and what stands on each."""
    left_end = right_end = zero
    for place, term in enumerate(each.terms[:, feature].tolist()):
        width = abs(term) * unit
        if width < NARROWEST_PIECE:
            continue
        if term > 0:
            x = right_end
            right_end += width
        else:
            left_end -= width
            x = left_end
        number = each.part.number(term)
        piece = _piece(each, place, x, y, width)
        piece = piece._replace(title=f"{_name(each, place)}: {number}")
        said = _inside(each, place, number, width)
        label = _key(each, place)
        ink = _ink(piece)
        yield piece, Words(x + width / 2, middle, said, ink, SMALL_TEXT, "middle", label=label)


def _ticks(x: float, y: float) -> Path:
    """Two ticks that mark a sum, above its pieces and below them."""
    bottom = y + ROW_HEIGHT
    upper = _tick(x, y - TICK_OUTSIDE)
    lower = _tick(x, bottom - TICK_INSIDE)
    return Path((*upper, *lower), stroke="ink", width=TICK_WIDTH)


def _tick(x: float, top: float) -> tuple[Move, ...]:
    bottom = top + TICK_OUTSIDE + TICK_INSIDE
    return lines([(x, top), (x, bottom)])


def _height(features: int) -> int:
    """Of the panel of an output."""
    return LINE_HEIGHT + BELOW_TITLE + features * ROW_DISTANCE


def _piece(each: Sum, place: int, x: float, y: float, width: float) -> Path:
    if place >= len(each.keys):
        return Path(rectangle(x, y, width, ROW_HEIGHT), PAINT_OF_OTHERS)
    return swatch(x, y, width, ROW_HEIGHT, each.looks[each.keys[place]])


def _ink(piece: Path) -> str:
    """The colour of what stands on a piece."""
    if piece.opacity < 1 or piece.fill is None:
        return "ink"
    if piece.fill == PAINT_OF_OTHERS:
        return "paper"
    return hexadecimal(foreground(rgb(piece.fill)))


def _inside(each: Sum, place: int, number: str, width: float) -> str:
    """What stands on a piece: its key and its number, or one of them, or nothing, as fits."""
    key = _key(each, place).shown
    both = f"{key} {number}".strip()
    for text in (both, number, key):
        room_needed = text_width(text, SMALL_TEXT) + ROOM_AROUND_TEXT
        if room_needed <= width:
            return text
    return ""


def _key(each: Sum, place: int) -> Label:
    """The label of the key of a piece; empty if it is of all others together."""
    tokens = each.part.trace.context_tokens
    name = tokens[each.keys[place]] if place < len(each.keys) else ""
    return cut(name, SMALL_TEXT, WIDEST_LABEL)


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
        look = swatch(0, SIGN_TOP, SIGN_SIDE, SIGN_SIDE, looks[key])
        entries.append(entry_of_legend([look], SIGN_SIDE, names[key], most=WIDEST_LABEL))
    if any(each.others and each.terms[-1].any() for each in sums):
        look = Path(rectangle(0, SIGN_TOP, SIGN_SIDE, SIGN_SIDE), PAINT_OF_OTHERS)
        entries.append(entry_of_legend([look], SIGN_SIDE, "all others"))
    if entries:
        yield in_lines(entries, WIDEST_BODY)


def _said(each: Sum) -> str:
    """What an output is made of, as a page says in words."""
    said = " ".join(query_in_words(each.part.trace, each.row))
    return f"{each.part.title}: {said}" if each.part.title else said
