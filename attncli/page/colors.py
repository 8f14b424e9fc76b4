"""The colours of a heat map, cividis, which reads the same with and without colour blindness."""

from __future__ import annotations

from typing import TypeAlias

RGB: TypeAlias = tuple[int, int, int]

CIVIDIS: tuple[RGB, ...] = (
    (0x00, 0x22, 0x4E), (0x12, 0x35, 0x70), (0x3B, 0x49, 0x6C), (0x57, 0x5D, 0x6D), (0x70, 0x71, 0x73),
    (0x8A, 0x86, 0x78), (0xA5, 0x9C, 0x74), (0xC3, 0xB3, 0x69), (0xE1, 0xCC, 0x55), (0xFE, 0xE8, 0x38),
)  # fmt: skip
BLACK, WHITE = (0, 0, 0), (255, 255, 255)
LEGEND = "hidden by the mask"  # of cells without a colour


def background(shade: float) -> RGB:
    """The ramp's colour for a shade from 0 (dark blue) to 1 (yellow)."""
    place = min(max(shade, 0.0), 1.0) * (len(CIVIDIS) - 1)
    low = min(int(place), len(CIVIDIS) - 2)
    part = place - low
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(CIVIDIS[low], CIVIDIS[low + 1], strict=True))
    return red, green, blue


def foreground(color: RGB) -> RGB:
    """Black or white, whichever has the greater contrast on the colour (WCAG 2's relative luminance)."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in color)
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return BLACK if luminance > 0.179 else WHITE
