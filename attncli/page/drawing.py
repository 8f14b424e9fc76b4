"""A drawing: paths and words in pixels, with x to the right and y down, for any format of pictures.

A paint is a colour, "#0072b2", or the name of a role in PAINTS, which has one colour by day and one
by night. Text is measured generously, because nobody knows the fonts that it is shown in.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil, cos, floor, radians, sin
from typing import Any, NamedTuple, TypeAlias

from attncli.escaping import label
from attncli.page.colors import (
    HUES,
    MOST_TOLD_APART,
    background,
    foreground,
    hexadecimal,
    ramp_of,
    rgb,
)

# Sizes of letters, and how much wider bold ones are.
TEXT_SIZE, SMALL_TEXT = 12, 11
BOLD_WIDTH = 1.06
# Around a picture, and between two panels.
PICTURE_MARGIN, PANEL_GAP = 16, 28
# Of the title of a problem, and of what is drawn of it.
TITLE_SIZE, SUBTITLE_SIZE = 15, 13
# From one line of a legend to the next, and how far the base of its letters is above its bottom.
LINE_HEIGHT, BELOW_BASE = 18, 5
# Below a title, and between a label and what it is the label of.
BELOW_TITLE, LABEL_GAP = 4, 8
# Below the panels, from a sentence of the legend to the next, and around an entry's sign.
ABOVE_LEGEND, BETWEEN_NOTES = 12, 2
SIGN_GAP, BETWEEN_ENTRIES = 6, 16
# Titles and sentences have at least this room.
NARROWEST_LEGEND = 320
# All panels together are no higher, and no wider unless one alone is.
HIGHEST_BODY = 960
WIDEST_BODY = 760
# How far the base of letters is below the middle of a digit, as a part of their size.
DIGIT_MIDDLE = 0.36

# A heat map has so many colours; of an odd number, one stands for 0.
LEVELS_OF_SHADES = 41
EDGE_WIDTH, TINT_OPACITY = 1.5, 0.2

Point: TypeAlias = tuple[float, float]
# M is a point, L a line to a point, C a curve, and Z goes back to the beginning.
Move: TypeAlias = tuple[str, tuple[Point, ...]]


def shade_paint(shade: float, *, signed: bool) -> str:
    """The name of the paint of a shade from 0 to 1.

    >>> shade_paint(0.5, signed=False), shade_paint(1.2, signed=True)
    ('shade20', 'sign40')
    """
    last = LEVELS_OF_SHADES - 1
    level = floor(min(max(shade, 0.0), 1.0) * last + 0.5)
    return f"{'sign' if signed else 'shade'}{level}"


def digit_paint(shade: str) -> str:
    """The name of the paint of digits on a shade: white-black is white by day, black at night."""
    return "-".join(
        "black" if each == "#000000" else "white" for each in map(_digits, PAINTS[shade])
    )


def _digits(color: str) -> str:
    return hexadecimal(foreground(rgb(color)))


def _paints_of_shades() -> Iterator[tuple[str, tuple[str, str]]]:
    """The names of all shades, each with its colours by day and by night."""
    last = LEVELS_OF_SHADES - 1
    for signed in (False, True):
        day, night = ramp_of(signed=signed)
        for level in range(LEVELS_OF_SHADES):
            shade = level / last
            by_day = hexadecimal(background(shade, day))
            at_night = hexadecimal(background(shade, night))
            yield shade_paint(shade, signed=signed), (by_day, at_night)


# The colours of a role by day and by night.
PAINTS = {
    "paper": ("#fdfdfb", "#15171b"),
    "ink": ("#1b1d21", "#e4e5e3"),
    "soft": ("#5b606a", "#a2a7b1"),
    "line": ("#b4b6b4", "#565b64"),
    "wash": ("#eef0f2", "#262a31"),
    "black-black": ("#000000", "#000000"),
    "black-white": ("#000000", "#ffffff"),
    "white-black": ("#ffffff", "#000000"),
    "white-white": ("#ffffff", "#ffffff"),
    **dict(_paints_of_shades()),
}

_WIDTHS = {
    **dict.fromkeys("fijlrtI.,:;!'`|()[] ", 0.42),
    **dict.fromkeys("mwMW@%–—…→", 1.0),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&", 0.76),
    **dict.fromkeys("-=+·×−√", 0.7),
}
_LETTER_WIDTH, _WIDE_LETTER_WIDTH, _OTHER_LETTER_WIDTH = 0.64, 1.1, 0.85
_EMOJI_WIDTH = 1.45
# Marks stand above or below another character, or join two.
_MARKS = ("Mn", "Me", "Cf")


class Path(NamedTuple):
    """A line or an area.

    `title` is what a browser shows of it under the pointer; `crisp` asks for sharp edges; `opacity`
    is that of the fill. Without paints it is not seen, and there for its title.
    """

    moves: tuple[Move, ...]
    fill: str | None = None
    stroke: str | None = None
    width: float = 1.0
    opacity: float = 1.0
    crisp: bool = False
    title: str = ""


class Label(NamedTuple):
    """What a person wrote, made visible: as much as there is room for, and the whole of it."""

    shown: str
    whole: str


class Words(NamedTuple):
    """One line of text, the base of its letters at `y`.

    It is turned by degrees to the left about its anchor. `label` is the one that stands in the
    text; `tex` is the text as a formula of LaTeX, where it is one.
    """

    x: float
    y: float
    text: str
    paint: str = "ink"
    size: float = TEXT_SIZE
    anchor: str = "start"
    bold: bool = False
    turn: float = 0.0
    label: Label | None = None
    tex: str = ""

    @property
    def title(self) -> str:
        """What a browser shows under the pointer: a label that is cut off here."""
        return self.label.whole if self.label and self.label.whole != self.label.shown else ""


Shape: TypeAlias = Path | Words


class Panel(NamedTuple):
    """Shapes, and the room that they take from the origin on."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


class Drawing(NamedTuple):
    """A picture with its title, and with a description for those who do not see it.

    `mermaid` is the same in the language of Mermaid, if it is a chart. The first shapes, as many as
    `in_title`, are the words of the title, with what is below them at `title_height`.
    """

    title: str
    description: str
    width: float
    height: float
    shapes: tuple[Shape, ...]
    mermaid: str = ""
    in_title: int = 0
    title_height: float = 0

    def without_title(self) -> Drawing:
        """The same picture for a caption of someone's own; its title is still told to those who do
        not see it.
        """
        left = tuple(moved(self.shapes[self.in_title :], 0, -self.title_height))
        height = self.height - self.title_height
        return self._replace(height=height, shapes=left, in_title=0, title_height=0)


def rectangle(x: float, y: float, width: float, height: float) -> tuple[Move, ...]:
    """The outline of a rectangle."""
    return polygon((x, y), (x + width, y), (x + width, y + height), (x, y + height))


def polygon(*points: Point) -> tuple[Move, ...]:
    """A closed outline through these points."""
    return (*lines(points), ("Z", ()))


def lines(points: Sequence[Point]) -> tuple[Move, ...]:
    """An open line through these points."""
    return (("M", (points[0],)), *(("L", (point,)) for point in points[1:]))


def moved(shapes: Iterable[Shape], right: float, down: float) -> Iterable[Shape]:
    """The same shapes at another place."""
    for shape in shapes:
        match shape:
            case Words():
                yield shape._replace(x=shape.x + right, y=shape.y + down)
            case Path():
                moves: list[Move] = []
                for kind, points in shape.moves:
                    moves.append((kind, tuple([(x + right, y + down) for x, y in points])))
                yield shape._replace(moves=tuple(moves))


def side_by_side(panels: Sequence[Panel], gap: float = PANEL_GAP) -> Panel:
    """Panels in lines of a table, as many in each line as fit into WIDEST_BODY."""
    step = max(panel.width for panel in panels) + gap
    fitting = int((WIDEST_BODY + gap) // step)
    columns = min(len(panels), max(1, fitting))
    shapes: list[Shape] = []
    down = 0.0
    for start in range(0, len(panels), columns):
        row = panels[start : start + columns]
        for place, panel in enumerate(row):
            shapes += moved(panel.shapes, place * step, down)
        down += max(panel.height for panel in row) + gap
    return Panel(columns * step - gap, down - gap, tuple(shapes))


def alike_together(panel: Panel) -> Panel:
    """A panel with what looks alike together, and lines after areas: files are smaller then.

    Its areas must not lie on each other.
    """
    paths, words = paths_and_words(panel.shapes)
    paths.sort(key=_look)
    return panel._replace(shapes=(*paths, *words))


def words_on_top(shapes: Iterable[Shape], look: Callable[[Words], Any]) -> list[Shape]:
    """Outlines as they lie one on the other, and above them all words.

    Words that look alike are together: those of the same `look`, which can be sorted.
    """
    paths, words = paths_and_words(shapes)
    words.sort(key=look)
    return [*paths, *words]


def paths_and_words(shapes: Iterable[Shape]) -> tuple[list[Path], list[Words]]:
    """The outlines among the shapes, and the words."""
    paths: list[Path] = []
    words: list[Words] = []
    for shape in shapes:
        match shape:
            case Path():
                paths.append(shape)
            case Words():
                words.append(shape)
    return paths, words


def _look(path: Path) -> tuple[bool, str, str]:
    is_line = path.fill is None
    return is_line, path.fill or "", path.stroke or ""


def below(panels: Sequence[Panel], gap: float) -> Panel:
    """Panels one below the other."""
    shapes: list[Shape] = []
    down = 0.0
    for panel in panels:
        shapes += moved(panel.shapes, 0, down)
        down += panel.height + gap
    return Panel(max(panel.width for panel in panels), down - gap, tuple(shapes))


def with_title(title: str, panel: Panel) -> Panel:
    """A panel with its title above it: Head 0."""
    if not title:
        return panel
    head = text_line(title, bold=True)
    above = Panel(0, head.height, head.shapes)
    width = max(panel.width, head.width)
    wide_enough = panel._replace(width=width)
    return below((above, wide_enough), BELOW_TITLE)


def text_line(
    text: str, *, paint: str = "ink", size: float = TEXT_SIZE, bold: bool = False, most: float = 0
) -> Panel:
    """One line of text; with `most`, it is a label, cut off where it is wider than that."""
    label = None
    if most:
        label = cut(text, size, most)
        text = label.shown
    return line_of(Words(0, LINE_HEIGHT - BELOW_BASE, text, paint, size, bold=bold, label=label))


def line_of(words: Words) -> Panel:
    """Words that have a line to themselves."""
    width = text_width(words.text, words.size)
    if words.bold:
        width *= BOLD_WIDTH
    return Panel(width, LINE_HEIGHT, (words,))


def wrapped(text: str, room: float) -> Panel:
    """A sentence of a legend, in as many lines as it needs."""
    rows: list[str] = []
    for word in text.split(" "):
        if rows and text_width(f"{rows[-1]} {word}", SMALL_TEXT) <= room:
            rows[-1] += f" {word}"
        else:
            rows.append(word)
    return below([text_line(row, paint="soft", size=SMALL_TEXT) for row in rows], 0)


def drawing(
    title: str, what: str, description: str, body: Panel, legend: Sequence[Panel | str] = ()
) -> Drawing:
    """A whole picture: the title of its problem, what is drawn, its panels, and what signs mean."""
    if not title:
        name = what
        head = text_line(what, size=SUBTITLE_SIZE, bold=True)
    else:
        name = f"{title}: {what[0].lower()}{what[1:]}"
        shown = cut(title, TITLE_SIZE, max(body.width, NARROWEST_LEGEND)).shown
        first = text_line(shown, size=TITLE_SIZE, bold=True)
        head = below((first, text_line(what, paint="soft", size=SUBTITLE_SIZE)), 0)
    parts = [head, body]
    room = max(body.width, head.width, NARROWEST_LEGEND)
    notes = [wrapped(each, room) if isinstance(each, str) else each for each in legend]
    if notes:
        parts.append(below(notes, BETWEEN_NOTES))
    whole = below(parts, ABOVE_LEGEND)
    width = ceil(whole.width + 2 * PICTURE_MARGIN)
    height = ceil(whole.height + 2 * PICTURE_MARGIN)
    shapes = moved(whole.shapes, PICTURE_MARGIN, PICTURE_MARGIN)
    return Drawing(
        name,
        description,
        width,
        height,
        tuple(shapes),
        in_title=len(head.shapes),
        title_height=floor(head.height + ABOVE_LEGEND),
    )


def entry_of_legend(sign: Sequence[Shape], width: float, text: str, *, most: float = 0) -> Panel:
    """A sign, which is drawn from the origin on, and what it means."""
    words = text_line(text, paint="soft", size=SMALL_TEXT, most=most)
    begin = width + SIGN_GAP
    shapes = (*sign, *moved(words.shapes, begin, 0))
    return Panel(begin + words.width, LINE_HEIGHT, shapes)


def in_lines(panels: Sequence[Panel], room: float) -> Panel:
    """Entries of a legend one after the other, in as many lines as they need."""
    shapes: list[Shape] = []
    right = down = widest = 0.0
    for panel in panels:
        if right and right + panel.width > room:
            right, down = 0.0, down + LINE_HEIGHT
        shapes += moved(panel.shapes, right, down)
        widest = max(widest, right + panel.width)
        right += panel.width + BETWEEN_ENTRIES
    return Panel(widest, down + LINE_HEIGHT, tuple(shapes))


def hue(place: int) -> str:
    """The colour of a query or a key."""
    return HUES[place % len(HUES)]


def is_hollow(place: int) -> bool:
    """Whether a query or a key is drawn as an edge with a tint inside, and not filled.

    So each of the first MOST_TOLD_APART differs.

    >>> is_hollow(0), is_hollow(8), hue(0) == hue(8)
    (False, True, True)
    """
    return place % MOST_TOLD_APART >= len(HUES)


def has_room_for_edge(width: float) -> bool:
    """Whether something is so wide that a tint is seen between its edges."""
    return width >= 3 * EDGE_WIDTH


def swatch(x: float, y: float, width: float, height: float, place: int) -> Path:
    """A rectangle in the look of a query or a key. What has no room for an edge is filled."""
    paint = hue(place)
    if not is_hollow(place) or not has_room_for_edge(width):
        return Path(rectangle(x, y, width, height), paint)
    half = EDGE_WIDTH / 2
    inner = rectangle(x + half, y + half, width - EDGE_WIDTH, height - EDGE_WIDTH)
    return Path(inner, paint, paint, EDGE_WIDTH, TINT_OPACITY)


def text_width(text: str, size: float) -> float:
    """About how wide a text is, rather more than less."""
    return size * sum(map(_width, text))


def _width(character: str) -> float:
    if character in _WIDTHS:
        return _WIDTHS[character]
    if character.isascii():
        return _LETTER_WIDTH
    category = unicodedata.category(character)
    if category in _MARKS:
        return 0.0
    if unicodedata.east_asian_width(character) not in ("W", "F"):
        return _OTHER_LETTER_WIDTH
    # Emoji are wider than their square.
    return _EMOJI_WIDTH if category == "So" else _WIDE_LETTER_WIDTH


def cut(text: str, size: float, room: float) -> Label:
    """A person's text, visible and no wider than `room`.

    >>> cut("a long token", TEXT_SIZE, room=40)
    Label(shown='a lo…', whole='a long token')
    """
    whole = label(text)
    if text_width(whole, size) <= room:
        return Label(whole, whole)
    kept, used = "", text_width("…", size)
    for character in whole:
        used += size * _width(character)
        if used > room:
            break
        kept += character
    return Label(f"{kept.rstrip()}…", whole)


def turned_size(width: float, size: float, degrees: float) -> tuple[float, float]:
    """How far a turned text of this width reaches to the right and up."""
    angle = radians(degrees)
    across, up = cos(angle), sin(angle)
    reach = width * across + size * up / 2
    height = width * up + size * across
    return reach, height
