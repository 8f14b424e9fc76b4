"""The colours and marks of cells: of a heat map, cividis, which reads the same with and without colour blindness; of
what a mask hides; and of verdicts, each with a sign of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attncli.page.document import Cell

RGB = tuple[int, int, int]

CIVIDIS: tuple[RGB, ...] = (
    (0x00, 0x22, 0x4E), (0x12, 0x35, 0x70), (0x3B, 0x49, 0x6C), (0x57, 0x5D, 0x6D), (0x70, 0x71, 0x73),
    (0x8A, 0x86, 0x78), (0xA5, 0x9C, 0x74), (0xC3, 0xB3, 0x69), (0xE1, 0xCC, 0x55), (0xFE, 0xE8, 0x38),
)  # fmt: skip
BLACK, WHITE = (0, 0, 0), (255, 255, 255)
BLOCKS = "░▒▓█"
HIDDEN = "·"
LEGEND = "hidden by the mask"
VERDICTS = {"right": "✓", "carried": "»", "rounding": "≈", "wrong": "✗", "missing": ""}  # a blank speaks for itself


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


def mark(cell: Cell, *, shaded: bool = True) -> str:
    """The sign after a number: a verdict, what a mask hides (unless -inf says so), or its shade without colour."""
    if cell.verdict is not None:
        return VERDICTS[cell.verdict]
    if cell.hidden:
        return "" if cell.text == "-inf" else HIDDEN
    if cell.shade is None or not shaded:
        return ""
    return BLOCKS[min(int(max(cell.shade, 0.0) * len(BLOCKS)), len(BLOCKS) - 1)]


def has_sign_of_hidden(rows: Iterable[Sequence[Cell]]) -> bool:
    """Whether any cell carries the sign for hidden, which then has to be explained."""
    return any(cell.hidden and mark(cell) for row in rows for cell in row)
