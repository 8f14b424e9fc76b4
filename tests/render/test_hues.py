"""A key has one colour, in pictures and on the page that works itself out."""

from __future__ import annotations

import re
from pathlib import Path

import attncli.render.html
from attncli.page.colors import HUES, MOST_TOLD_APART
from attncli.page.drawing import PAINTS, hue
from attncli.render.html.live_page import hue_rules
from tests.cases import in_one_test
from tests.features.picture.drawn import blended, contrast


def test_a_word_has_the_colour_that_it_has_in_pictures() -> None:
    rules = re.findall(r"\(\.hue-(\d+), \.hue-(\d+)\) { --hue: (#\w+);", hue_rules())
    colors = {int(place): color for *places, color in rules for place in places}
    assert colors == {place: hue(place) for place in range(MOST_TOLD_APART)}


@in_one_test("color", HUES)
def test_a_text_on_a_hue_is_legible(color: str) -> None:
    ink = re.search(rf"--hue: {color}; --on-hue: (#\w+);", hue_rules())
    assert ink
    assert contrast(ink[1], color) >= 4.5


@in_one_test("time", [0, 1])
@in_one_test("color", HUES)
def test_the_edge_of_a_hue_is_seen(color: str, time: int) -> None:
    """Orange and light blue are too light for white paper: their edge has ink in it."""
    edge = blended(color, PAINTS["ink"][time], 0.6)
    assert contrast(edge, PAINTS["paper"][time]) >= 3


@in_one_test("time", [0, 1])
@in_one_test("color", HUES)
def test_the_digits_of_a_weight_of_1_are_legible(color: str, time: int) -> None:
    """A cell of weights has as much of the colour of its key as its weight says."""
    styles = Path(attncli.render.html.__file__).parent / "styles" / "live_page.css"
    most = re.findall(r"--share, 0\).*?\* (\d+)%\)", styles.read_text(encoding="utf-8"))
    by_day, at_night = (int(percent) / 100 for percent in most)
    tint = blended(color, PAINTS["paper"][time], at_night if time else by_day)
    assert contrast(PAINTS["ink"][time], tint) >= 4.5
