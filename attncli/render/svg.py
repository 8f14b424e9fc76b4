"""A drawing as SVG: small, read aloud by its title and description, and legible by day and by
night.

Elements are made by ElementTree, so that no text can become markup. Colours are attributes; a style
sheet has only those of the night. Nothing has an id, so pictures may stand together in one page.
Outlines that look alike are one path. Texts come last, those that look alike in one group, and what
most have in common stands at the root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, groupby
from typing import TypeGuard
from xml.etree import ElementTree as xml

from attncli.page.drawing import PAINTS, TEXT_SIZE, Drawing, Path, Point, Shape, Words, words_on_top

FONTS = "system-ui,sans-serif"
CORNER = "8"
# The decimals of a coordinate.
COORDINATE_DECIMALS = 1


def svg(drawing: Drawing, fonts: str = FONTS) -> str:
    """The drawing as the text of an SVG file, ending in a newline."""
    width, height = _number(drawing.width), _number(drawing.height)
    root = xml.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "attncli",
            "role": "img",
            "width": width,
            "height": height,
            "viewBox": f"0 0 {width} {height}",
            "font-family": fonts,
            "font-size": _number(TEXT_SIZE),
            "fill": PAINTS["ink"][0],
        },
    )
    xml.SubElement(root, "title").text = _allowed(drawing.title)
    xml.SubElement(root, "desc").text = _allowed(drawing.description)
    style = xml.SubElement(root, "style")
    xml.SubElement(
        root, "rect", {"width": "100%", "height": "100%", "rx": CORNER, **_paint("paper", "fill")}
    )
    for attributes, shapes in groupby(words_on_top(drawing.shapes, _shared), _shared):
        _add(root, dict(attributes), list(shapes))
    used = {"ink"} | {
        name for element in root.iter() for name in (element.get("class") or "").split()
    }
    style.text = _night(used)
    _in_lines(root)
    # A text has &gt; for >.
    return xml.tostring(root, encoding="unicode").replace(" />", "/>") + "\n"


def _in_lines(group: xml.Element) -> None:
    """A line for each outline and text, with its title."""
    group.text = "\n"
    for element in group:
        element.tail = "\n"
        if element.tag in ("svg", "g"):
            _in_lines(element)


def _night(used: set[str]) -> str:
    """The colours of the night, of the classes that the picture has."""
    rules = []
    for role, (_, night) in PAINTS.items():
        for kind in ("fill", "stroke"):
            named = _class(role, kind)
            if named not in used:
                continue
            # Ink is what the whole picture is filled with: its rule needs no class.
            is_usual = role == "ink" and kind == "fill"
            selector = ".attncli" if is_usual else f".attncli .{named}"
            rules.append(f"{selector}{{{kind}:{night}}}")
    return f"@media(prefers-color-scheme:dark){{{''.join(rules)}}}"


def _shared(shape: Shape) -> tuple[tuple[str, str], ...]:
    """The attributes that a shape may have in common with those around it."""
    match shape:
        case Words():
            found = _look_of_words(shape)
        case Path():
            found = _look_of_path(shape)
    return tuple(found.items())


def _look_of_words(words: Words) -> dict[str, str]:
    found: dict[str, str] = {}
    if words.size != TEXT_SIZE:
        found["font-size"] = _number(words.size)
    if words.paint != "ink":
        found |= _paint(words.paint, "fill")
    if words.anchor != "start":
        found["text-anchor"] = words.anchor
    if words.bold:
        found["font-weight"] = "600"
    return found


def _look_of_path(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    if path.fill:
        found = _paint(path.fill, "fill")
    elif not _is_straight(path):
        found = {"fill": "none"}
    if path.stroke:
        stroke = _paint(path.stroke, "stroke")
        classes = " ".join(each["class"] for each in (found, stroke) if "class" in each)
        found = found | stroke | ({"class": classes} if classes else {})
        if path.width != 1:
            found["stroke-width"] = _number(path.width)
    elif not path.fill:
        found["pointer-events"] = "all"
    if path.opacity != 1:
        found["fill-opacity"] = _number(path.opacity)
    if path.crisp:
        found["shape-rendering"] = "crispEdges"
    return found


def _is_straight(path: Path) -> bool:
    """Whether nothing but straight lines are drawn, which have no inside."""
    kinds = "".join(kind for kind, _ in path.moves)
    return bool(path.stroke) and not kinds.replace("ML", "")


def _paint(paint: str, kind: str) -> dict[str, str]:
    if paint in PAINTS:
        by_day, *_ = PAINTS[paint]
        return {kind: by_day, "class": _class(paint, kind)}
    firsts, seconds = paint[1::2], paint[2::2]
    if firsts == seconds:
        # The colour #aabbcc is #abc.
        paint = f"#{firsts}"
    return {kind: paint}


def _class(role: str, kind: str) -> str:
    if kind == "stroke":
        return f"{role}-line"
    return role


def _add(root: xml.Element, shared: Mapping[str, str], shapes: list[Shape]) -> None:
    """Shapes that have attributes in common: in a group, unless there is one alone, or outlines
    that may be one.
    """
    outlines = [shape for shape in shapes if _may_be_joined(shape)]
    if len(outlines) == len(shapes):
        moves = chain.from_iterable(outline.moves for outline in outlines)
        shapes = [Path(tuple(moves))]
    if len(shapes) == 1:
        _element(root, shapes[0], shared)
        return
    group = xml.SubElement(root, "g", dict(shared))
    for shape in shapes:
        _element(group, shape, {})


def _may_be_joined(shape: Shape) -> TypeGuard[Path]:
    """Whether it is an outline that has no title and hides what is under it."""
    return isinstance(shape, Path) and not shape.title and shape.opacity == 1


def _element(parent: xml.Element, shape: Shape, shared: Mapping[str, str]) -> None:
    said = None
    match shape:
        case Words():
            # Whole pixels take half the room, and are sharp.
            x = _number(round(shape.x))
            y = _number(round(shape.y))
            attributes = {"x": x, "y": y}
            if shape.turn:
                attributes["transform"] = f"rotate({_number(-shape.turn)} {x} {y})"
            element = xml.SubElement(parent, "text", {**attributes, **shared})
            said = _allowed(shape.text)
        case Path():
            outline = "".join(_moves(shape))
            element = xml.SubElement(parent, "path", {"d": outline, **shared})
    if not shape.title:
        element.text = said
        return
    title = xml.SubElement(element, "title")
    title.text = _allowed(shape.title)
    # The title stands before the text, which is its tail then.
    title.tail = said


def _moves(path: Path) -> Iterator[str]:
    """The outline, each part in its shortest form: M60 40h56v36h-56z."""
    at: Point = (0, 0)
    for kind, points in path.moves:
        ends = tuple(map(_rounded, points))
        yield _move(kind, ends, at)
        if ends:
            at = ends[-1]


def _rounded(point: Point) -> Point:
    x, y = point
    return round(x, COORDINATE_DECIMALS), round(y, COORDINATE_DECIMALS)


def _move(kind: str, points: tuple[Point, ...], at: Point) -> str:
    if kind == "Z":
        return "z"
    written = kind + _numbers(points)
    if kind == "M":
        return written
    steps = tuple((x - at[0], y - at[1]) for x, y in points)
    if kind == "L":
        ((right, down),) = steps
        if not down:
            return f"h{_number(right)}"
        if not right:
            return f"v{_number(down)}"
    relative = kind.lower() + _numbers(steps)
    return min(written, relative, key=len)


def _numbers(points: tuple[Point, ...]) -> str:
    return " ".join(_number(each) for point in points for each in point).replace(" -", "-")


def _number(value: float) -> str:
    """A tenth of a pixel is as much as anybody sees: 12.5."""
    return f"{value:z.{COORDINATE_DECIMALS}f}".removesuffix(".0")


def _allowed(text: str) -> str:
    r"""The text, with what XML cannot hold, such as \x1b or \uffff, as an escape."""
    return "".join(
        (
            character
            if _is_allowed(ord(character))
            else character.encode("unicode_escape").decode("ascii")
        )
        for character in text
    )


def _is_allowed(code: int) -> bool:
    """Whether it is a character of XML 1.0."""
    return (
        code in (0x9, 0xA) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
    )
