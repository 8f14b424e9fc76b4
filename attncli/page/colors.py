"""The colours of heat maps, which read the same with and without colour blindness: cividis, and of
numbers with a sign, from blue through almost white, which is 0, to orange. And those of keys and
queries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

RGB: TypeAlias = tuple[int, int, int]

CIVIDIS: tuple[RGB, ...] = (
    (0x00, 0x22, 0x4E),
    (0x12, 0x35, 0x70),
    (0x3B, 0x49, 0x6C),
    (0x57, 0x5D, 0x6D),
    (0x70, 0x71, 0x73),
    (0x8A, 0x86, 0x78),
    (0xA5, 0x9C, 0x74),
    (0xC3, 0xB3, 0x69),
    (0xE1, 0xCC, 0x55),
    (0xFE, 0xE8, 0x38),
)
DIVERGING: tuple[RGB, ...] = (
    (0x0B, 0x3C, 0x7A),
    (0x2B, 0x6C, 0xB0),
    (0x6F, 0xA3, 0xD6),
    (0xB5, 0xD2, 0xEB),
    (0xF2, 0xF2, 0xF0),
    (0xF7, 0xCF, 0xA4),
    (0xEE, 0x9A, 0x4D),
    (0xC8, 0x65, 0x12),
    (0x86, 0x3B, 0x00),
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


def background(shade: float, ramp: Sequence[RGB] = CIVIDIS) -> RGB:
    """The ramp's colour for a shade from 0, its first (dark blue), to 1, its last (yellow).

    >>> hexadecimal(background(0.0)), hexadecimal(background(1.0))
    ('#00224e', '#fee838')
    """
    last = len(ramp) - 1
    within = min(max(shade, 0.0), 1.0)
    place = within * last
    low = min(int(place), last - 1)
    part = place - low
    pairs = zip(ramp[low], ramp[low + 1], strict=True)
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
