"""What stands in an SVG file, read without attncli: its texts, its outlines, its paints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
DAY, NIGHT = "day", "night"


class Drawn(NamedTuple):
    """One path or text, with what it has from the groups around it."""

    element: xml.Element
    attributes: dict[str, str]

    @property
    def text(self) -> str:
        """What is shown, without the title that a pointer brings up."""
        return (
            (self.element.text or "") + "".join(child.tail or "" for child in self.element)
        ).strip("\n")

    @property
    def title(self) -> str:
        return self.element.findtext(f"{SVG}title") or ""

    @property
    def place(self) -> tuple[float, float]:
        return float(self.attributes["x"]), float(self.attributes["y"])

    @property
    def points(self) -> list[tuple[float, float]]:
        return list(points(self.attributes["d"]))

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of a path."""
        across, down = zip(*self.points, strict=True)
        return min(across), min(down), max(across), max(down)


def read(text: str) -> xml.Element:
    """The root; raises ParseError where the text is not well-formed."""
    return xml.fromstring(text)


def drawn(root: xml.Element, around: dict[str, str] | None = None) -> Iterator[Drawn]:
    """All texts and outlines in order; a path may have several."""
    around = root.attrib if around is None else around
    for element in root:
        attributes = around | ({"class": ""} if "fill" in element.attrib else {}) | element.attrib
        if element.tag == f"{SVG}g":
            yield from drawn(element, attributes)
        elif element.tag == f"{SVG}text":
            yield Drawn(element, attributes)
        elif element.tag == f"{SVG}path":
            outlines = re.findall("M[^M]*", attributes["d"])
            yield from (Drawn(element, attributes | {"d": outline}) for outline in outlines)


def texts(root: xml.Element) -> list[Drawn]:
    return [each for each in drawn(root) if each.element.tag == f"{SVG}text"]


def paths(root: xml.Element) -> list[Drawn]:
    return [each for each in drawn(root) if each.element.tag == f"{SVG}path"]


def points(outline: str) -> Iterator[tuple[float, float]]:
    """The points of an outline, those that bend a curve among them; raises ValueError for what is
    no outline.
    """
    x = y = 0.0
    for command, arguments in re.findall(r"([A-Za-z])([^A-Za-z]*)", outline):
        numbers = [float(each) for each in re.findall(r"-?[\d.]+", arguments)]
        if command == "h":
            x += numbers.pop()
        elif command == "v":
            y += numbers.pop()
        elif command in "MLClc":
            if len(numbers) != (6 if command in "Cc" else 2):
                raise ValueError(outline)
            from_x, from_y = (x, y) if command.islower() else (0, 0)
            *between, (x, y) = (
                (from_x + right, from_y + down)
                for right, down in zip(numbers[::2], numbers[1::2], strict=True)
            )
            yield from between
        elif command == "z":
            continue
        else:
            raise ValueError(outline)
        yield x, y


def colors(root: xml.Element, each: Drawn, kind: str = "fill") -> dict[str, str]:
    """The colour of a paint by day, and at night where a class changes it."""
    night = dict(re.findall(rf"\.([\w-]+)\{{{kind}:(#\w+)\}}", root.findtext(f"{SVG}style") or ""))
    day = each.attributes[kind]
    changed = [night[name] for name in each.attributes.get("class", "").split() if name in night]
    return {DAY: day, NIGHT: changed[0] if changed else day}


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as WCAG 2 defines it."""
    light, dark = sorted((luminance(rgb(one)), luminance(rgb(other))), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def rgb(color: str) -> tuple[float, float, float]:
    digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
    red, green, blue = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return red, green, blue


def luminance(color: tuple[float, float, float]) -> float:
    red, green, blue = (
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in color
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def blended(color: str, paper: str, opacity: float) -> str:
    """A colour that lets some of the paper through."""
    both = zip(rgb(color), rgb(paper), strict=True)
    return "#" + "".join(f"{round(255 * (a * opacity + b * (1 - opacity))):02x}" for a, b in both)
