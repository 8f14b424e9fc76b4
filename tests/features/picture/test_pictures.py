"""What the pictures show, from problems that are worked out by hand."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import numpy as np
import pytest

from attncli.cli.main import run as command
from attncli.errors import AttncliError
from attncli.page.colors import HUES
from attncli.page.drawing import PAINTS, Drawing
from attncli.page.in_words import attention_in_words
from attncli.page.pictures import KINDS
from attncli.page.pictures.kinds import Choice, draw, with_and_without_scale
from attncli.problem.loader import load, loads
from attncli.render.pictures import picture_file
from attncli.render.svg import svg as written
from attncli.tracing import run
from tests.features.picture.drawn import (
    DAY,
    NIGHT,
    SVG,
    blended,
    colors,
    contrast,
    drawn,
    luminance,
    paths,
    read,
    rgb,
    texts,
)

INPUTS = Path(__file__).parents[3] / "inputs"
NAMES = sorted(file.name for file in INPUTS.glob("*.[jy]*"))
E = np.e
# Scores 0 and 1 of the first query, and twice 0 of the second: weights 1/(1 + e) and e/(1 + e), and
# twice 1/2.
PAIR = {
    "tokens": ["a", "b"],
    "Q": [[1], [0]],
    "K": [[0], [1]],
    "V": [[1, 2], [-2, 2]],
    "scale": "none",
}


def picture(of: str, problem: dict[str, Any] | str, **choice: Any) -> Drawing:
    if isinstance(problem, str):
        given = load(str(INPUTS / problem))
    else:
        given = loads(json.dumps(problem).encode(), "problem.json")
    other = run(with_and_without_scale(given)) if of == "softmax" else None
    return draw(of, run(given, gradient=of.startswith("d_")), Choice(**choice), other)


def svg(of: str, problem: dict[str, Any] | str, **choice: Any) -> xml.Element:
    return read(written(picture(of, problem, **choice)))


def digits(root: xml.Element) -> list[str]:
    """The numbers of a heat map, row by row."""
    large = [each for each in texts(root) if each.attributes["font-size"] == "12"]
    found = sorted(large, key=lambda each: each.place[::-1])
    return [each.text for each in found if re.fullmatch(r"−?[\d.]+", each.text)]


def legend(root: xml.Element) -> set[str]:
    """What is said of a heat map in small letters, without what its rows and columns are."""
    small = {each.text for each in texts(root) if each.attributes["font-size"] == "11"}
    return {text for text in small if not text.endswith((" ↓", " →"))}


def test_the_digits_of_a_heat_map_are_the_weights_row_by_row() -> None:
    # 1/(1 + e) is 0.2689…
    assert digits(svg("weights", PAIR)) == ["0.269", "0.731", "0.500", "0.500"]
    assert digits(svg("weights", PAIR, precision=5))[:2] == ["0.26894", "0.73106"]
    assert digits(svg("scores", PAIR)) == ["0", "1", "0", "0"]
    assert digits(svg("scores", PAIR | {"K": [[0], [-1]]})) == ["0", "−1", "0", "0"]


def test_any_step_is_a_heat_map() -> None:
    """The exponentials are 1 and e, and twice 1; a vector, such as their sums, is one column."""
    assert digits(svg("exp", PAIR)) == ["1", "2.718", "1", "1"]
    assert digits(svg("V", PAIR)) == ["1", "2", "−2", "2"]
    sums = svg("row_sum", PAIR)
    assert digits(sums) == ["3.718", "2"]
    shown = {each.text for each in texts(sums)}
    assert shown == {"3.718", "2", "query ↓", "Row sums", "a", "b"}
    assert legend(sums) == {"2", "3.718"}
    said = svg("V", PAIR | {"title": "Two"})
    assert said.findtext(f"{SVG}title") == "Two: values"
    desc = (
        'The largest number is 2 ("a", "d2", and 1 other cell). The smallest number is −2 ("b",'
        ' "d1").'
    )
    assert said.findtext(f"{SVG}desc") == desc
    assert (
        svg("X", "i_love_ai.yaml")
        .findtext(f"{SVG}desc")
        .startswith('The largest number is 1 ("I", "d1", and 5 other cells).')
    )
    same = svg("K", PAIR | {"K": [[3], [3]]}).findtext(f"{SVG}desc")
    assert same == "Every number is 3."


def cell_colors(root: xml.Element) -> list[str]:
    """The colours of the cells of a heat map with digits, row by row, and then of its legend."""
    filled = [each for each in paths(root) if each.attributes["fill"] != "none"]
    return [each.attributes["fill"] for each in sorted(filled, key=lambda each: each.box[1::-1])]


# The first and the last colour by day of numbers, and those of numbers with a sign, with that of 0.
LITTLE, MUCH = "#ebf7f1", "#1d224a"
LOW, MIDDLE, HIGH = "#0e326d", "#f3f5f8", "#642908"


def test_weights_go_from_0_to_the_largest_and_their_colours_are_told_apart() -> None:
    """Those of the README: 0.223, 0.299 and 0.333 have three colours, and the largest is 0.707."""
    root = svg("weights", "i_love_ai.yaml")
    by_number = dict(zip(digits(root), cell_colors(root), strict=False))
    assert legend(root) == {"0", "0.707"}
    assert by_number["0.707"] == MUCH
    some = [by_number[number] for number in ("0.070", "0.168", "0.223", "0.299", "0.333")]
    light = [luminance(rgb(color)) for color in some]
    assert light == sorted({*light}, reverse=True)
    # Two neighbours that eyes tell apart: 3 % of the light at least.
    assert min(one - other for one, other in pairwise(light)) > 0.03


def test_what_is_little_is_near_the_paper_by_day_and_at_night() -> None:
    for of, problem in (("weights", PAIR), ("d_scores", PAIR)):
        root = svg(of, problem)
        cells = [each for each in paths(root) if each.attributes["fill"] != "none"]
        seen = [colors(root, each) for each in cells]
        for time, paper in ((DAY, PAINTS["paper"][0]), (NIGHT, PAINTS["paper"][1])):
            nearness = [contrast(color[time], paper) for color in seen]
            assert min(nearness) < 1.3
            assert max(nearness) > 10


def test_shades_may_be_said() -> None:
    """From 0 to 1, as it was before: 1/2 has the colour in the middle."""
    root = svg("weights", PAIR, shades=(0, 1))
    assert legend(root) == {"0", "1"}
    assert cell_colors(root)[2:4] == ["#1e93b7"] * 2
    beyond = svg("scores", PAIR | {"K": [[-1], [3]]}, shades=(0, 2))
    assert legend(beyond) == {"0", "2", "below 0, down to −1; above 2, up to 3"}
    assert cell_colors(beyond)[:2] == [LITTLE, MUCH]
    assert len(frames(beyond)) == 2
    with pytest.raises(AttncliError, match="the colour of 0 is the one in the middle") as caught:
        svg("V", PAIR, shades=(-1, 2))
    assert caught.value.help == "let the colours go as far below 0 as above it: -2..2"
    assert legend(svg("V", PAIR, shades=(-2, 2))) == {"−2", "2"}


def test_gradients_have_colours_for_both_signs_and_0_in_the_middle() -> None:
    """With dO of 1, dA is the sum of a value: 3 and 0. A softmax of p and 1 - p makes ±3p(1 - p) of
    it.
    """
    root = svg("d_weights", PAIR)
    assert digits(root) == ["3", "0", "3", "0"]
    assert cell_colors(root)[:4] == [HIGH, MIDDLE, HIGH, MIDDLE]
    assert legend(root) == {"−3", "3"}
    root = svg("d_scores", PAIR)
    assert digits(root) == ["0.590", "−0.590", "0.750", "−0.750"]
    assert cell_colors(root)[2:4] == [HIGH, LOW]
    assert digits(svg("d_scores", PAIR | {"mask": "causal"})) == ["0", "0.750", "−0.750"]
    # other numbers, if any is negative
    assert cell_colors(svg("V", PAIR | {"V": [[-4, 0]] * 2}))[:2] == [LOW, MIDDLE]
    assert cell_colors(svg("V", PAIR | {"V": [[4, 0]] * 2}))[:2] == [MUCH, LITTLE]
    # but not scores
    assert cell_colors(svg("scores", PAIR | {"Q": [[-1], [0]]}))[1::-1] == [LITTLE, MUCH]


def frames(root: xml.Element) -> list[tuple[float, float, float, float]]:
    """The frames of cells, without the one in the legend."""
    return [each.box for each in paths(root) if each.attributes.get("stroke-width") == "2"][:-1]


def test_one_number_far_beyond_all_others_does_not_make_them_white() -> None:
    """The others have all colours from −1 to 1; the one beyond has the last of them and a frame."""
    values = [[1, -1, 0.5], [100, 0.2, -0.4]]
    keys = {"Q": [[1]], "K": [[1]] * 2}
    root = svg("V", keys | {"V": values})
    assert cell_colors(root)[:2] == [HIGH, LOW]
    cells = [each for each in paths(root) if each.attributes.get("fill") == HIGH]
    assert len(cells) == 4  # 1, 100, the sign of the legend and the end of its bar
    ((left, top, right, bottom),) = frames(root)
    assert any(
        x < left < right < to_x and y < top < bottom < to_y
        for x, y, to_x, to_y in (each.box for each in cells)
    )
    assert legend(root) == {"−1", "1", "above 1, up to 100"}
    below = svg("V", keys | {"V": [[1, -1, 0.5], [-100, 0.2, -0.4]]})
    assert legend(below) == {"−1", "1", "below −1, down to −100"}
    plain = svg("V", keys | {"V": np.abs(values).tolist()})
    assert legend(plain) == {"0.200", "1", "above 1, up to 100"}
    assert cell_colors(plain)[0] == MUCH


def test_numbers_that_are_spread_have_all_colours() -> None:
    """A number that is three times as large as the next, and one of a few, is none that stands
    alone.
    """
    keys = {"Q": [[1]], "K": [[1]] * 2}
    for values in (
        [[1, -1, 0.5], [3, 0.2, -0.4]],
        [[0, -1], [0, 100]],
        [[0.1, 0.7, 0.8], [1.1, 1.3, 1.7]],
    ):
        root = svg("V", keys | {"V": values})
        assert not [each for each in texts(root) if "above" in each.text]


def test_a_long_map_has_frames_around_the_cells_beyond_its_colours() -> None:
    """Of 130 keys and three features, two by two share a cell: the number beyond is the one that is
    shown.
    """
    values = [[1, -1, 0.5]] * 129 + [[2, 90, -70]]
    root = svg("V", {"Q": [[1]], "K": [[1]] * 130, "V": values})
    assert len(frames(root)) == 2
    assert {"−2", "2", "below −2, down to −70; above 2, up to 90"} <= legend(root)


def test_long_maps_of_gradients_show_what_is_farthest_from_0() -> None:
    """A loss that grows with one output only: of the 26 equal weights, that of the first value is
    0.
    """
    one = [[1]] * 26
    outer = {"Q": one, "K": one, "V": [[-1 / 5]] + [[0]] * 24 + [[1 / 10]]}
    root = svg("d_weights", outer)
    titles = [each.title for each in drawn(root) if each.title]
    assert titles[0] == "t1: t1 −0.200, t26 0.100, t2 0"
    assert {"−0.200", "0.200"} <= {each.text for each in texts(root)}
    far = svg("d_weights", {"Q": [[1]] * 130, "K": [[1]] * 130, "V": [[-2], [1]] * 65})
    assert "Each cell is the number farthest from 0 of 2 rows by 2 columns." in [
        each.text for each in texts(far)
    ]
    assert {
        each.attributes["stroke"] for each in paths(far) if each.attributes.get("shape-rendering")
    } == {LOW}


def test_a_long_map_of_few_columns_has_wide_cells_and_all_their_labels() -> None:
    wide = svg("V", {"Q": [[1]] * 120, "K": [[1]] * 120, "V": [[1, 2]] * 119 + [[-3, 0]]})
    runs = [each.box for each in paths(wide) if each.attributes.get("shape-rendering")]
    assert {right - left for left, _, right, _ in runs} == {24}  # pixels
    assert {
        float(each.attributes["stroke-width"])
        for each in paths(wide)
        if "shape-rendering" in each.attributes
    } == {4}
    said = {each.text: each.place[1] for each in texts(wide)}
    assert {"d1", "d2"} <= said.keys()
    assert said["t1"] - said["key ↓"] >= 12  # the height of a letter


def test_heads_of_a_step_are_those_that_it_has() -> None:
    heads = {
        name: [each.text for each in texts(svg(name, "grouped_query.yaml")) if "ead " in each.text]
        for name in ("X", "Q", "K", "d_K", "concat")
    }
    assert heads == {
        "X": [], "Q": [f"Head {number}" for number in range(4)], "K": ["KV head 0", "KV head 1"],
        "d_K": ["KV head 0", "KV head 1"], "concat": [],
    }  # fmt: skip
    with pytest.raises(AttncliError, match="concat is no step of a single head"):
        picture("concat", "grouped_query.yaml", head=1)


def test_what_has_no_rows_and_columns_is_no_heat_map() -> None:
    problem = load(str(INPUTS / "next_token.yaml"))
    with pytest.raises(
        AttncliError, match="loss is one number, and a heat map has rows and columns"
    ):
        draw("loss", run(problem, gradient=True), Choice())
    with pytest.raises(AttncliError, match="this problem has no step capped"):
        picture("capped", PAIR)


def test_a_heat_map_is_described_as_a_page_says_it_in_words() -> None:
    root = svg("weights", PAIR | {"title": "Two"})
    assert root.findtext(f"{SVG}title") == "Two: attention weights"
    said = (
        '"a" pays 73.1 % of its attention to "b" and 26.9 % to itself. "b" pays the same attention'
        " to every token (50.0 % each)."
    )
    assert root.findtext(f"{SVG}desc") == said
    said = svg("scores", PAIR).findtext(f"{SVG}desc")
    assert (
        said
        == '"a" has its largest score, 1, with "b". "b" has the same score, 0, with "a" and "b".'
    )


def described(of: str, problem: dict[str, Any]) -> str:
    return picture(of, problem).description


def test_keys_that_are_alike_are_named_together() -> None:
    """Scores of 2, 2 and 0: e² of 2e² + 1 is 46.8 %; with the scale 1 instead of 2, e of 2e + 1 is
    42.2 %.
    """
    two = {
        "tokens": ["q"],
        "context_tokens": ["a", "b", "c"],
        "Q": [[1, 0, 0, 0]],
        "V": [[3], [3], [1]],
        "K": [[2, 0, 0, 0], [2, 0, 0, 0], [0] * 4],
    }
    assert (
        described("weights", two | {"scale": "none"})
        == '"q" pays 46.8 % of its attention each to "a" and "b", and 6.3 % to "c".'
    )
    assert described("scores", two) == '"q" has its largest score, 2, with "a" and "b".'
    assert (
        described("softmax", two)
        == '"q" gives "a" and "b" 46.8 % each without the scale, and 42.2 % with it.'
    )
    same = two | {"K": [[0] * 4] * 3, "V": [[1]] * 3}
    assert described("flow", same) == '"q" pays the same attention to every token (33.3 % each).'
    hidden = two | {"mask": [[True, False, False]]}
    said = '"q" pays all of its attention to "a", so its output is the value of "a".'
    assert described("flow", hidden) == said


@pytest.mark.parametrize(
    "name", ["i_love_ai.yaml", "multi_head.yaml", "fully_masked.yaml", "sink.yaml"]
)
def test_pictures_say_what_their_page_says_in_words(name: str) -> None:
    """That of the outputs says all of it, and the others leave out what the outputs are made of."""
    said = attention_in_words(run(load(str(INPUTS / name))))
    assert picture("output", name).description == " ".join(said)
    for of in ("weights", "flow"):
        sentences = re.split(r"(?<=\.) (?=\S)", picture(of, name).description)
        assert all(any(each in whole for whole in said) for each in sentences)
        assert not [each for each in sentences if each.startswith("Its output")]


def test_many_keys_that_are_alike_are_counted() -> None:
    one = {"Q": [[1]] * 9, "K": [[1]] * 9, "V": [[1]] * 9}
    assert described("flow", one) == "9 queries have several keys with the largest weight."
    few = one | {"tokens": ["q"], "Q": [[1]]}
    assert described("flow", few) == '"q" pays the same attention to every token (11.1 % each).'
    assert described("scores", few) == '"q" has the same score, 1, with 9 keys.'
    causal = described("flow", one | {"mask": "causal"})
    assert (
        causal
        == 'The key with the largest weight is "t1" for 1 query of 9. 8 queries have several keys'
        " with the largest weight."
    )
    zeros = described("V", one | {"V": [[0], [1]] + [[0]] * 7})
    assert (
        zeros
        == 'The largest number is 1 ("t2", "d1"). The smallest number is 0 ("t1", "d1", and 7 other'
        " cells)."
    )


def test_what_a_mask_hides_is_crossed_out_and_has_no_digits() -> None:
    root = svg("weights", PAIR | {"mask": "causal"})
    assert digits(root) == ["1", "0.500", "0.500"]
    assert "hidden by the mask" in [each.text for each in texts(root)]
    assert "hidden by the mask" not in [each.text for each in texts(svg("weights", PAIR))]
    cells = [each for each in paths(root) if each.attributes.get("class") == "wash"]
    crossed = [each for each in paths(root) if each.attributes.get("class") == "line-line"]
    (left, top, right, bottom), (x, y, to_x, to_y) = cells[0].box, crossed[0].box
    assert (x, y, to_x, to_y) == (left, top, right + 1, bottom + 1)  # from corner to corner


def test_the_colour_bar_says_what_its_ends_are_with_digits_and_without() -> None:
    long = {
        "Q": [[4], [-3]] + [[0]] * 22,
        "K": [[0], [1]] + [[0]] * 22,
        "V": [[1]] * 24,
        "scale": "none",
    }
    for of, ends in (("weights", {"0", "the largest of the row"}), ("scores", {"−3", "4"})):
        assert legend(svg(of, long)) == ends
    assert legend(svg("weights", PAIR)) == {"0", "0.731"}
    assert legend(svg("scores", PAIR)) == {"0", "1"}
    # All of one row: there is no colour to tell apart.
    assert legend(svg("scores", PAIR | {"Q": [[0], [0]]})) == set()


def test_several_heads_are_several_maps() -> None:
    heads = PAIR | {"Q": [[[1], [0]], [[0], [0]]], "K": [[[0], [1]]] * 2, "V": [[[1]] * 2] * 2}
    root = svg("weights", heads)
    assert [each.text for each in texts(root) if each.text.startswith("Head")] == [
        "Head 0",
        "Head 1",
    ]
    assert Counter(digits(root)) == {"0.269": 1, "0.731": 1, "0.500": 6}
    assert root.findtext(f"{SVG}desc").startswith('Head 0: "a" pays 73.1 % of its attention to "b"')
    assert digits(svg("weights", heads, head=1)) == ["0.500"] * 4


@pytest.mark.long
def test_the_maps_of_many_heads_are_small() -> None:
    """Digits of twelve heads with nine tokens would need 4,000 pixels, and large cells of 64 tokens
    7,000.
    """
    for size, most in ((9, 1300), (64, 2200)):
        heads = {name: [[[1]] * size] * 12 for name in ("Q", "K", "V")}
        root = svg("weights", heads)
        assert digits(root) == []
        assert float(root.attrib["height"]) < most
        assert [each.text for each in texts(root) if each.text.startswith("Head")] == [
            f"Head {h}" for h in range(12)
        ]
    two = {name: [[[1]] * 9] * 2 for name in heads}
    assert len(digits(svg("weights", two))) == 2 * 9 * 9


def test_the_pointer_shows_the_largest_numbers_of_a_row_without_digits() -> None:
    """A score of ln 2 gives twice the weight of one of 0: of 24 keys, 2/25 and 1/25."""
    names = [f"k{number}" for number in range(24)]
    keys = [[float(np.log(2)) if name == "k7" else 0] for name in names]
    mask = [[True] * 24] * 23 + [[False] * 23 + [True]]
    root = svg("weights", {"tokens": names, "Q": [[1]] * 24, "K": keys, "V": keys, "mask": mask})
    titles = [each.title for each in drawn(root) if each.title]
    assert titles == [f"k{row}: k7 0.080, k0 0.040, k1 0.040" for row in range(23)] + ["k23: k23 1"]
    assert {each.attributes["pointer-events"] for each in drawn(root) if each.title} == {"all"}


@pytest.mark.parametrize("size", [3, 40])
def test_the_captions_stand_beside_the_first_labels(size: int) -> None:
    names = [f"a long name {number}" for number in range(size)]
    one = [[1]] * size
    root = svg("weights", {"tokens": names, "Q": one, "K": one, "V": one})
    (right, up), (left, down) = (next(each.place for each in texts(root) if each.text == said)
                                 for said in ("key →", "query ↓"))  # fmt: skip
    columns = [each for each in texts(root) if each.text == names[0]]
    assert right == left
    assert 10 <= down - up <= 16
    assert min(abs(each.place[1] - down) for each in columns) <= 1


def test_a_long_map_has_thinned_labels_and_colours_within_its_rows() -> None:
    """Of 130 tokens, each sees only itself: two by two share a cell, and each is the largest of its
    row.
    """
    tokens = [f"token{number}" for number in range(130)]
    ones = [[1]] * 130
    root = svg(
        "weights", {"tokens": tokens, "Q": ones, "K": ones, "V": ones, "mask": {"window": [0, 0]}}
    )
    shown = [each.text for each in texts(root)]
    assert digits(root) == []
    assert "Each cell is the largest of 2 rows by 2 columns." in shown
    assert "the largest of the row" in shown
    labels = [
        each
        for each in texts(root)
        if each.text.startswith("token") and "transform" not in each.attributes
    ]
    assert 20 < len(labels) < 65
    assert {int(each.text[5:]) % 2 for each in labels} == {0}
    heights = [each.place[1] for each in labels]
    assert min(np.diff(heights)) >= 12  # the height of a letter
    # the end of the ramp
    cells = [each for each in paths(root) if each.attributes.get("stroke") == MUCH]
    assert [len(each.points) for each in cells] == [2] * 65


def test_thin_ribbons_have_their_numbers_too() -> None:
    """Weights of the README: 0.070 of 72 pixels is 5, and a number needs 12. No two stand in one
    place.
    """
    shown = [each for each in texts(svg("flow", "i_love_ai.yaml")) if "." in each.text[:2]]
    assert Counter(each.text for each in shown) == {
        **dict.fromkeys(("0.070", "0.707", "0.223", "0.168", "0.533", "0.299"), 1),
        "0.333": 3,
    }
    heights = sorted(each.place[1] for each in shown)
    assert min(np.diff(heights)) >= 11
    weights = [each.text for each in sorted(shown, key=lambda each: each.place[1])]
    assert weights[:3] == ["0.070", "0.707", "0.223"]


def test_the_steps_of_a_chart_stand_one_below_the_other() -> None:
    """From the keys to the output: all that only the next one reads. So the chart is narrow."""
    root = svg("dimensions", "causal.yaml")
    titles = ("Keys, transposed", "Scores", "Scaled scores", "Masked scores", "Attention weights")
    middles = [each.place[0] for each in texts(root) if each.text in (*titles, "Output")]
    assert len(middles) == 6
    assert max(middles) - min(middles) <= 40
    assert float(root.attrib["width"]) < 560


def test_the_columns_of_the_softmax_have_headings() -> None:
    shown = Counter(each.text for each in texts(svg("softmax", PAIR, query="a")))
    assert (shown["score"], shown["weight"]) == (2, 2)
    assert (shown["without the scale"], shown["with the scale"]) == (1, 1)


def ribbons(root: xml.Element) -> dict[str, tuple[float, float]]:
    """How wide each ribbon is at its begin and at its end, by its title."""
    found = {}
    for each in paths(root):
        if " → " in each.title:
            begin, _, _, end, low_end, _, _, low_begin = each.points
            found[each.title] = low_begin[1] - begin[1], low_end[1] - end[1]
    return found


def test_a_ribbon_is_as_wide_as_its_weight() -> None:
    found = ribbons(svg("flow", PAIR))
    small, large, half = 1 / (1 + E), E / (1 + E), 0.5
    halves = {'"b" → "a": 0.500': half, '"b" → "b": 0.500': half}
    expected = {'"a" → "a": 0.269': small, '"a" → "b": 0.731': large} | halves
    assert found.keys() == expected.keys()
    unit = sum(found[name][0] for name in halves)
    for name, widths in found.items():
        assert widths == pytest.approx([expected[name] * unit] * 2, abs=0.11)


def test_no_ribbon_goes_to_what_is_hidden_and_one_to_the_sink() -> None:
    assert [*ribbons(svg("flow", PAIR | {"mask": "causal"}))] == [
        '"a" → "a": 1', '"b" → "a": 0.500', '"b" → "b": 0.500'
    ]  # fmt: skip
    found = ribbons(svg("flow", PAIR | {"sink": 0}, query="b"))  # three times e⁰
    assert [*found] == ['"b" → "a": 0.333', '"b" → "b": 0.333', '"b" → the sink: 0.333']
    assert len({round(begin, 1) for begin, _ in found.values()}) == 1


def test_ribbons_too_thin_to_be_seen_are_counted() -> None:
    """Of 30 queries, one key in 30 gets all but 29 weights of e⁻²⁰."""
    root = svg(
        "flow", {"Q": [[20]] * 30, "K": [[1]] + [[0]] * 29, "V": [[1]] * 30, "scale": "none"}
    )
    assert len(ribbons(root)) == 30
    assert any(each.text.startswith("870 weights below 0.0") for each in texts(root))


def test_an_output_is_a_sum_of_pieces_left_and_right_of_0() -> None:
    """Of the second query, with two weights of a half: 0.5 and -1 of the first feature, 1 and 1 of
    the second.
    """
    root = svg("output", PAIR, query="b")
    found = sorted(
        (each.box[1], each.title, each.box[0], each.box[2])
        for each in paths(root)
        if '"' in each.title
    )
    (_, _, zero, right), *_ = found
    unit = (right - zero) / 0.5
    assert [title for _, title, _, _ in found] == ['"a": 0.500', '"b": −1', '"a": 1', '"b": 1']
    ends = [((left - zero) / unit, (right - zero) / unit) for _, _, left, right in found]
    assert ends == [pytest.approx(each, abs=0.01) for each in ((0, 0.5), (-1, 0), (0, 1), (1, 2))]
    assert [each.text for each in texts(root) if each.text.startswith("= ")] == ["= −0.500", "= 2"]
    ticks = [each for each in paths(root) if each.attributes.get("stroke-width") == "2"]
    assert [(each.box[0] - zero) / unit for each in ticks] == pytest.approx(
        [-0.5, -0.5, 2, 2], abs=0.01
    )


def looks(root: xml.Element, of: str) -> dict[str, tuple[str, str, str]]:
    """The fill, its opacity and the edge of the areas whose titles match, by what the first group
    of the title is.
    """
    found: dict[str, set[tuple[str, str, str]]] = {}
    for each in paths(root):
        if name := re.match(of, each.title):
            look = (each.attributes.get(kind, "") for kind in ("fill", "fill-opacity", "stroke"))
            found.setdefault(name[1], set()).add((*look,))
    assert {len(every) for every in found.values()} == {1}
    return {name: every.pop() for name, every in found.items()}


@pytest.mark.parametrize(
    ("of", "titles"), [("output", '"(t[0-9]+)": '), ("flow", '"(t[0-9]+)" → ')]
)
def test_twelve_keys_or_queries_of_a_picture_look_different(of: str, titles: str) -> None:
    """Each output is made of its own value alone, so that every key is drawn."""
    one = [[1]] * 12
    found = looks(svg(of, {"Q": one, "K": one, "V": one, "mask": {"window": [0, 0]}}), titles)
    assert len({*found.values()}) == len(found) == 12


def test_of_more_keys_those_that_give_most_are_drawn_and_look_different() -> None:
    """Twenty equal weights of values 1 to 20, of which any sixteen are 5 to 20, and any six 15 to
    20.
    """
    values = {"Q": [[0]], "K": [[0]] * 20, "V": [[number] for number in range(1, 21)]}
    root = svg("output", values)
    found = looks(root, '"(c[0-9]+)": ')
    assert sorted(found) == [f"c{number}" for number in range(15, 21)]
    assert len({*found.values()}) == 6
    # (1 + … + 14)/20
    assert "the 14 others together: 5.250" in {each.title for each in drawn(root)}


def test_the_colours_of_many_queries_begin_again_and_the_legend_says_so() -> None:
    one = [[1]] * 17
    root = svg("flow", {"Q": one, "K": one, "V": one, "mask": {"window": [0, 0]}})
    assert "After 16 queries, the colours begin again." in {each.text for each in texts(root)}


def test_a_piece_says_its_key_and_its_number_where_there_is_room() -> None:
    """Pieces of 0.5 (a) and 1 (b) in 240 pixels, and of 5 (c), beside which they have less room."""
    wide = {
        "tokens": ["q"],
        "context_tokens": ["a", "b"],
        "Q": [[0]],
        "K": [[0]] * 2,
        "V": [[1], [2]],
    }
    assert {"a 0.500", "b 1"} <= {each.text for each in texts(svg("output", wide))}
    thin = wide | {"context_tokens": ["a", "b", "c"], "K": [[0]] * 3, "V": [[3], [6], [51]]}
    # a is 240/20 pixels wide
    assert {"a", "b 2", "c 17"} <= {each.text for each in texts(svg("output", thin))}


def test_the_legend_of_an_output_has_the_keys_of_its_pieces_only() -> None:
    """Of the first query, which sees only itself, there is one piece; of zeros, there is none."""
    for problem, keys in (
        (PAIR | {"mask": "causal"}, ["a"]),
        (PAIR, ["a", "b"]),
        (PAIR | {"V": [[0]] * 2}, []),
    ):
        root = svg("output", problem, query="a")
        low = max(each.place[1] for each in texts(root) if each.text.startswith("= "))
        assert [
            each.text for each in texts(root) if each.place[1] > low and each.text in ("a", "b")
        ] == keys


def test_a_softmax_before_and_after_the_scale() -> None:
    """Scores 0 and 2 of d_k = 4, which the scale halves: weights 1/(1 + e²) and 1/(1 + e)."""
    given = {"Q": [[1, 0, 0, 0]], "K": [[0] * 4, [2, 0, 0, 0]], "V": [[0]] * 2}
    problem = {"tokens": ["q"], "context_tokens": ["a", "b"], **given}
    root = svg("softmax", problem)
    bars = sorted(
        each.box for each in paths(root) if each.attributes["fill"] in ("#d55e00", "#0072b2")
    )
    wide = [right - left for left, _, right, _ in bars]
    expected = [1 / (1 + E**2), E**2 / (1 + E**2), 1 / (1 + E), E / (1 + E)]
    assert [each / (wide[0] + wide[1]) for each in wide] == pytest.approx(expected, abs=0.001)
    assert {"0", "2", "1", "0.119", "0.881", "0.269", "0.731"} <= {
        each.text for each in texts(root)
    }
    assert (
        root.findtext(f"{SVG}desc") == '"q" gives "b" 88.1 % without the scale, and 73.1 % with it.'
    )
    same = svg("softmax", problem | {"scale": "none"})  # the default scale is the other one then
    assert (
        sorted(
            each.box for each in paths(same) if each.attributes["fill"] in ("#d55e00", "#0072b2")
        )
        == bars
    )


def panels(root: xml.Element, word: str = "") -> list[str]:
    """The titles of the panels of queries."""
    return [
        each.text.removeprefix(word)
        for each in texts(root)
        if each.attributes.get("font-weight") == "600"
    ]


def test_of_many_queries_some_are_drawn_from_the_first_to_the_last_and_the_legend_says_so() -> None:
    many = {"Q": [[1]] * 65, "K": [[1]] * 65, "V": [[1]] * 65, "mask": "causal"}
    root = svg("softmax", many)
    assert panels(root, "query ")[1:] == ["t1", "t33", "t65"]
    assert "3 of 65 queries, from the first to the last; --query draws another." in {
        each.text for each in texts(root)
    }
    assert float(root.attrib["height"]) < 1100
    assert panels(svg("softmax", many, query="t2"), "query ")[1:] == ["t2"]
    wide = svg("output", many | {"V": [[1] * 16] * 65})
    assert panels(wide)[1:] == ["t1", "t22", "t44", "t65"]  # a third of 64 is 21.3
    assert float(wide.attrib["height"]) < 1100
    flow = svg("flow", many | {"mask": {"window": [0, 0]}})
    assert "64 of 65 queries, from the first to the last; --query draws" in " ".join(
        each.text for each in texts(flow)
    )
    assert len({name.split(" → ")[0] for name in ribbons(flow)}) == 64


def test_of_many_heads_the_same_queries_are_drawn_and_the_last_if_there_is_room_for_one() -> None:
    heads = {"Q": [[[1]] * 5] * 2, "K": [[[1]] * 5] * 2, "V": [[[1]] * 5] * 2}
    said = panels(svg("softmax", heads), "Head ")
    assert said[1:] == ["0, query t1", "0, query t5", "1, query t1", "1, query t5"]
    more = svg("softmax", {name: [[[1]] * 5] * 6 for name in heads})
    assert panels(more, "Head ")[1:] == [f"{head}, query t5" for head in range(5)]
    below = " ".join(each.text for each in texts(more))
    assert "The first 5 of 6 heads or entries; --head or --entry draws another." in below
    assert "The last query; --query draws another." in below


def test_softmax_needs_products() -> None:
    with pytest.raises(AttncliError, match="the score is additive"):
        picture("softmax", "bahdanau.yaml")


def test_the_shapes_stand_on_the_arrows() -> None:
    """As in the example of the README: three words of four features, with d_k = 3."""
    chart = picture("dimensions", "i_love_ai.yaml")
    arrows = re.findall(r's_(\w+) -- "(.*)" --> s_(\w+)', chart.mermaid)
    assert sorted(arrows) == sorted(
        [
            ("X", "3 × 4", "Q"),
            ("X", "3 × 4", "K"),
            ("X", "3 × 4", "V"),
            ("W_Q", "4 × 3", "Q"),
            ("W_K", "4 × 3", "K"),
            ("W_V", "4 × 3", "V"),
            ("K", "3 × 3", "K_T"),
            ("Q", "3 × 3", "scores"),
            ("K_T", "3 × 3", "scores"),
            ("scores", "3 × 3", "scaled"),
            ("scaled", "3 × 3", "weights"),
            ("weights", "3 × 3", "output"),
            ("V", "3 × 3", "output"),
        ]
    )
    root = read(written(chart))
    shown = Counter(each.text for each in texts(root))
    assert (shown["3 × 4"], shown["4 × 3"], shown["3 × 3"]) == (3, 3, 7)
    assert {"Q = X W_Q", "S = Q Kᵀ", "A = softmax(Z)", "O = A V"} <= {*shown}
    tips = [
        each
        for each in paths(root)
        if len(each.points) == 3 and each.attributes.get("class") == "soft"
    ]
    assert len(tips) == 13


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "name", [name for name in NAMES if run(load(str(INPUTS / name))).leading_letters]
)
def test_every_picture_can_be_of_one_head_or_entry(name: str) -> None:
    letters = run(load(str(INPUTS / name))).leading_letters
    part = {"head" if letter == "h" else "entry": 0 for letter in letters}
    assert all(len(read(written(picture(of, name, **part)))) for of in KINDS)


def test_the_chart_of_a_head_ends_with_the_output_of_this_head() -> None:
    """Three words, and heads with keys and values of two features."""
    chart = picture("dimensions", "multi_head.yaml", head=0)
    arrows = re.findall(r's_(\w+) -- "(.*)" --> s_(\w+)', chart.mermaid)
    assert {("weights", "3 × 3", "heads_output"), ("V", "3 × 2", "heads_output")} <= {*arrows}
    assert not {"concat", "output"} & {arrow[2] for arrow in arrows}


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("sink.yaml", "A = exp(S) / (row sums of exp(S) + e^0)"),  # the sink's logit is 0
        ("gpt_oss_sink.yaml", "A = exp(Z') / (row sums of exp(Z') + exp(sink))"),
        ("base_two.yaml", "A = 2^S / (row sums of 2^S)"),
        ("large_scores.yaml", "A = softmax(S)"),  # although it is shifted
        ("bahdanau.yaml", "S[i, j] = Σ_a v[a]·tanh(Σ_p Q[i, p]·W_1[p, a] + Σ_k K[j, k]·W_2[k, a])"),
    ],
)
def test_each_step_of_a_chart_has_its_formula(name: str, formula: str) -> None:
    root = svg("dimensions", name)
    assert formula in {each.text for each in texts(root)}
    made = [
        each.text
        for each in texts(root)
        if " = " in each.text and each.attributes["font-size"] == "12"
    ]
    chart = picture("dimensions", name).mermaid
    assert len(made) == chart.count('["') - chart.count('(["')


def captions(name: str, step: str) -> list[str]:
    """What the columns and the rows of a heat map are."""
    return sorted(each.text for each in texts(svg(step, name)) if each.text.endswith((" →", " ↓")))


def test_the_features_of_a_matrix_of_weights_are_told_apart() -> None:
    assert captions("multi_head.yaml", "W_Q")[:2] == ["key feature →"] * 2
    assert captions("multi_head.yaml", "W_Q")[2:] == ["model feature ↓"] * 2
    assert captions("i_love_ai.yaml", "W_V") == ["model feature ↓", "value feature →"]
    assert captions("multi_head.yaml", "W_O") == ["joined feature ↓", "output feature →"]
    assert captions("i_love_ai.yaml", "X") == ["feature →", "query ↓"]


def test_the_outputs_that_w_o_mixes_are_called_those_of_heads() -> None:
    for name, what in (("multi_head.yaml", "output of a head"), ("causal.yaml", "output")):
        assert f"What each {what} is made of" in {each.text for each in texts(svg("output", name))}


def boxes(root: xml.Element) -> list[tuple[float, float, float, float]]:
    return [
        each.box
        for each in paths(root)
        if each.attributes.get("stroke") and each.attributes["d"].endswith("z")
    ]


@pytest.mark.parametrize(
    "name", ["i_love_ai.yaml", "gpt2_layer.yaml", "kv_cache.yaml", "rope.yaml", "bahdanau.yaml"]
)
def test_no_box_of_a_chart_lies_on_another_and_all_arrows_go_down(name: str) -> None:
    root = svg("dimensions", name)
    found = boxes(root)
    for place, one in enumerate(found):
        for other in found[place + 1 :]:
            assert (
                one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            )
    stems = [each.points for each in paths(root) if "c" in each.attributes["d"].lower()]
    assert stems
    assert all(stem[0][1] < stem[-1][1] for stem in stems)


@pytest.mark.sampled(15)
@pytest.mark.parametrize("name", NAMES)
def test_the_shapes_on_the_arrows_of_a_chart_stand_apart(name: str) -> None:
    """By the width of a digit at least: 6 of the 11 pixels of its height."""
    found = [
        (each.place, 6 * len(each.text) + 6)
        for each in texts(svg("dimensions", name))
        if re.fullmatch(r"\d+( × \d+)*", each.text)
    ]
    assert found
    for ((x, y), width), ((to_x, to_y), to_width) in combinations(found, 2):
        assert abs(y - to_y) >= 11 or abs(x - to_x) >= (width + to_width) / 2


# Every example as every picture.


def is_drawn(of: str, name: str) -> bool:
    return of != "softmax" or name not in ("bahdanau.yaml", "luong.yaml")


@pytest.mark.sampled(18)
@pytest.mark.each_choice
@pytest.mark.parametrize("of", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_valid(name: str, of: str) -> None:
    if not is_drawn(of, name):
        return
    assert_valid(svg(of, name))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_a_heat_map_of_each_step_is_valid(name: str) -> None:
    trace = run(load(str(INPUTS / name)), gradient=True)
    for step in trace.steps.values():
        if len(set(step.rule.target.letters) - {"b", "h", "g"}) in (1, 2):
            assert_valid(read(written(draw(step.name, trace, Choice()))))


def assert_valid(root: xml.Element) -> None:
    """Known elements, whole titles, finite numbers inside the picture, no name given twice, legible
    text.
    """
    assert root.attrib["role"] == "img"
    assert [child.tag for child in root[:3]] == [f"{SVG}title", f"{SVG}desc", f"{SVG}style"]
    assert all(root[place].text for place in (0, 1))
    assert {element.tag for element in root.iter()} <= {
        f"{SVG}{name}" for name in ("svg", "title", "desc", "style", "rect", "g", "path", "text")
    }
    # pictures may share a page
    assert not [element for element in root.iter() if "id" in element.attrib]
    width, height = (float(root.attrib[side]) for side in ("width", "height"))
    assert root.attrib["viewBox"] == f"0 0 {width:g} {height:g}"
    for each in drawn(root):
        places = each.points if "d" in each.attributes else [each.place]
        assert np.isfinite(places).all()
        assert all(0 <= x <= width and 0 <= y <= height for x, y in places)
        if "d" not in each.attributes and "transform" not in each.attributes:
            size, x = float(each.attributes["font-size"]), each.place[0]
            wide = 0.45 * size * len(each.text)  # about, of Latin letters
            left = (
                x
                - wide
                * {"start": 0, "middle": 0.5, "end": 1}[each.attributes.get("text-anchor", "start")]
            )
            assert left >= 0
            assert left + wide <= width
    assert_legible(root)


def assert_legible(root: xml.Element) -> None:
    """Every text has a contrast of at least 4.5 to the area that it stands on, by day and at
    night.
    """
    paper = {DAY: PAINTS["paper"][0], NIGHT: PAINTS["paper"][1]}
    areas = [
        (each.box, colors(root, each), float(each.attributes.get("fill-opacity", 1)))
        for each in paths(root)
        if each.attributes["fill"] != "none"
        and "z" in each.attributes["d"]
        and "c" not in each.attributes["d"].lower()
    ]
    for each in texts(root):
        x, y = each.place
        x += 2 * {"start": 1, "middle": 0, "end": -1}[each.attributes.get("text-anchor", "start")]
        below = [(color, opacity) for (left, top, right, low), color, opacity in areas
                 if left <= x <= right and top <= y - 4 <= low]  # fmt: skip
        color, opacity = below[-1] if below else (paper, 1)
        for time, ink in colors(root, each).items():
            assert contrast(ink, blended(color[time], paper[time], opacity)) >= 4.5, each.text


@pytest.mark.parametrize("time", [0, 1])
def test_paints_are_legible_on_each_other(time: int) -> None:
    paper, wash, ink, soft = (PAINTS[name][time] for name in ("paper", "wash", "ink", "soft"))
    assert min(contrast(one, other) for one in (ink, soft) for other in (paper, wash)) >= 4.5
    # digits on a ribbon
    assert min(contrast(ink, blended(color, paper, 0.5)) for color in HUES) >= 4.5


FAMILY = "👩\u200d👧"  # one emoji of two
LABELS = [
    "日本語",
    "שלום",
    FAMILY,
    "<script>alert(1)</script>",
    "a\u202eb\x1b",
    "long " * 40,
    "\uffff\ufffe",
    "x&y\"'",
    " ",
]


@pytest.mark.parametrize("of", KINDS)
def test_labels_stay_text(of: str) -> None:
    """Of any script, however long, and with whatever is markup, invisible or unknown to XML."""
    number = len(LABELS)
    problem = {
        "title": "<b>&\x1b",
        "tokens": LABELS,
        "Q": [[1]] * number,
        "K": [[1]] * number,
        "V": [[1]] * number,
    }
    made = picture(of, problem)
    root = read(written(made))
    assert_valid(root)
    assert root.findtext(f"{SVG}title").startswith("<b>&\\x1b: ")
    if of == "weights":
        shown = [each.text for each in texts(root)]
        assert {"日本語", "שלום", FAMILY, "a\\u202eb\\x1b", "\\uffff\\ufffe", "x&y\"'", "␣"} <= {
            *shown
        }
        cut, *_ = [
            each
            for each in texts(root)
            if each.text.startswith("long long") and each.text.endswith("…")
        ]
        assert cut.title == "long " * 39 + "long␣"
    for format in ("markdown", "latex"):
        text = picture_file(made, format).decode()
        assert "\x1b" not in text
        assert "<script>" not in text
        assert "\u202e" not in text


def nodes(tex: str) -> list[str]:
    """The texts of a picture in LaTeX, from top to bottom."""
    found = re.findall(r"\\node at \(([-\d.]+),([-\d.]+)\) {(.*)};", tex)
    return [
        text.replace(r"\allowbreak{}", "")
        for _, _, text in sorted(found, key=lambda node: float(node[1]))
    ]


@pytest.mark.parametrize("of", ["weights", "flow", "output", "softmax"])
def test_labels_without_letters_in_tex_have_short_names_with_a_legend(of: str) -> None:
    """日 is U+65E5, and 本 is U+672C; the long label is cut off, and explained as a whole."""
    tokens = ["日本", "café", "本" * 40]
    problem = {
        "title": "日 or 本",
        "tokens": tokens,
        "Q": [[0]] * 3,
        "K": [[0]] * 3,
        "V": [[9]] * 3,
    }
    said = nodes(picture_file(picture(of, problem), "latex").decode())
    assert said[0] == "U+65E5 or U+672C"
    legend = next(place for place, text in enumerate(said) if text.startswith("In labels, T1"))
    assert "T1~=~U+65E5 U+672C, T2~=~" + " ".join(["U+672C"] * 40) + "." in " ".join(said[legend:])
    assert not [text for text in said[1:legend] if "U+" in text]
    assert {"T1", "T2"} <= {word for text in said[1:legend] for word in text.split()}
    assert any(r"caf\'{e}" in text for text in said)


def test_a_short_name_in_tex_is_no_label() -> None:
    said = nodes(
        picture_file(picture("weights", PAIR | {"tokens": ["T1", "日"]}), "latex").decode()
    )
    assert {"T1", "TT1"} <= {*said}
    assert "In labels, TT1~=~U+65E5." in " ".join(said)


def test_a_picture_whose_labels_tex_can_write_has_no_legend_of_them() -> None:
    assert (
        "In labels"
        not in picture_file(picture("weights", PAIR | {"tokens": ["é", "<x>"]}), "latex").decode()
    )


def test_too_many_heads_are_refused_with_what_to_choose() -> None:
    problem = {"Q": [[[1]]] * 65, "K": [[[1]]] * 65, "V": [[[1]]] * 65}
    with pytest.raises(AttncliError, match="room for 64 heads") as caught:
        picture("weights", problem)
    assert caught.value.help == "choose with --head 0"
    assert digits(svg("weights", problem, head=64)) == ["1"]


def test_numbers_that_are_almost_0_or_infinite_alone_can_be_drawn() -> None:
    """The smallest numbers of a double have no reciprocal."""
    assert_valid(svg("output", {"Q": [[1]], "K": [[1]], "V": [[1e-310]]}))
    lone = svg("scores", {"Q": [[1e300]], "K": [[1e300]], "V": [[1]]})
    assert_valid(lone)
    assert lone.findtext(f"{SVG}desc") == "No number is finite."


def test_numbers_that_do_not_fit_are_left_blank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    huge = {"Q": [[1e200], [1]], "K": [[1e200], [1]], "V": [[1]] * 2}
    for of in KINDS:
        assert_valid(svg(of, huge))
    (tmp_path / "p.json").write_text(json.dumps(huge))
    assert command(["picture", str(tmp_path / "p.json")]) == 0
    assert "warning" in capsys.readouterr().err
