"""The first page of the site: the README, with doors to the pages that work things out."""

from __future__ import annotations

from pathlib import Path

from attncli.cli.main import run
from website.examples import FIRST
from website.layout import NAME
from website.places import BLANK, DOCS, FRONT, GALLERY, address_of, example_address
from website.way_back import with_way_back

# The doors stand above the first picture.
_FIRST_PICTURE = "<p><img "


def write_blank_page(folder: Path) -> None:
    """The page that begins with nothing."""
    page = folder / BLANK
    # It writes over no file.
    page.unlink(missing_ok=True)
    run(["new", "-o", str(page)])
    text = page.read_text(encoding="utf-8")
    page.write_text(with_way_back(text, BLANK, FRONT, NAME), encoding="utf-8")


def with_entrances(main: str) -> str:
    doors = [_door(BLANK, "Begin with nothing", "Type numbers of your own, here and now.")]
    tour = f"{example_address(FIRST)}#tour"
    doors.append(_door(tour, "Take a tour", "Three words, worked out. Change any number."))
    tutorial = address_of(DOCS / "tutorial.md")
    doors.append(_door(tutorial, "Tutorial", "From the words to the output, step by step."))
    doors.append(_door(GALLERY, "All examples", "Masks, heads, caches, positions, real models."))
    entrances = f'<ul class="doors">\n{"".join(doors)}</ul>\n'
    return main.replace(_FIRST_PICTURE, entrances + _FIRST_PICTURE, 1)


def _door(address: str, title: str, said: str) -> str:
    return f'<li><a href="{address}"><b>{title}</b> {said}</a></li>\n'
