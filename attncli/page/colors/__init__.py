"""The colours of heat maps, of keys and of queries.

Those of heat maps read the same with and without colour blindness. What is small has almost the
colour of the paper, by day and by night, and what is large is far from it. Numbers with a sign go
from blue to orange, and 0 in the middle is almost paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

RGB: TypeAlias = tuple[int, int, int]


class Ramp(NamedTuple):
    """The colours from the first shade to the last, on light paper and on dark."""

    day: tuple[RGB, ...]
    night: tuple[RGB, ...]


# Each step of a ramp is as much darker, or lighter, as any other: they are even in OKLab. The first
# line is by day, and the second at night.
_PLAIN = (
    "ebf7f1 c3e5db 97d4cb 6cc0c2 45aabc 1e93b7 1479ab 19609c 214885 223467 1d224a",
    "1b2037 233057 264378 225a93 1d73a5 1c8cb4 37a5bc 58bdc4 7fd2cc a9e6d7 d0fae6",
)
_SIGNED = (
    "0e326d 21569d 417ec5 7aa7d6 b5cfe7 f3f5f8 e5c7a9 d19965 ba6a25 924507 642908",
    "bbe4ff 7cbdf2 4b94d6 336da4 2a4968 22272c 623e23 9a5a23 ca7e2c e6af6a fae1b8",
)
# Colours of keys and queries, in pictures and on the page that works itself out. People with any
# colour blindness tell them apart: six of Okabe and Ito, without black and yellow, and the two that
# are farthest from these and from grey. What comes after them has the same colours, but is hollow.
HUES = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#8478fc",
    "#9c543c",
)
# So many keys or queries differ: every hue is there filled, and hollow, an edge with a tint inside.
MOST_TOLD_APART = 2 * len(HUES)
BLACK, WHITE = (0, 0, 0), (255, 255, 255)
# What a legend says of cells without a colour.
LEGEND = "hidden by the mask"


@cache
def ramp_of(*, signed: bool) -> Ramp:
    """The ramp of numbers, or of those with a sign."""
    by_day, at_night = _SIGNED if signed else _PLAIN
    return Ramp(_colors(by_day), _colors(at_night))


def _colors(written: str) -> tuple[RGB, ...]:
    return tuple(rgb(f"#{color}") for color in written.split())


def background(shade: float, colors: Sequence[RGB]) -> RGB:
    """The colour of a shade from 0, the first of these, to 1, the last.

    >>> day, night = ramp_of(signed=False)
    >>> hexadecimal(background(0.0, day)), hexadecimal(background(0.0, night))
    ('#ebf7f1', '#1b2037')
    """
    last = len(colors) - 1
    within = min(max(shade, 0.0), 1.0)
    place = within * last
    low = min(int(place), last - 1)
    part = place - low
    pairs = zip(colors[low], colors[low + 1], strict=True)
    red, green, blue = (round(one + (other - one) * part) for one, other in pairs)
    return red, green, blue


def hexadecimal(color: RGB) -> str:
    """A colour as web pages write it: #0072b2."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def rgb(color: str) -> RGB:
    """The colour that `hexadecimal` wrote."""
    red, green, blue = bytes.fromhex(color[1:])
    return red, green, blue


def foreground(color: RGB) -> RGB:
    """Black or white, whichever has the greater contrast on the colour (WCAG 2's relative
    luminance).
    """
    red, green, blue = map(_linear, color)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return BLACK if luminance > 0.179 else WHITE


def _linear(channel: int) -> float:
    """The light of one of the three colours, from 0 to 1: a channel is its root, nearly."""
    part = channel / 255
    if part <= 0.04045:
        return part / 12.92
    return math.pow((part + 0.055) / 1.055, 2.4)
