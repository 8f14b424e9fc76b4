"""The heat-map's colours: monotone in brightness, with digits that can be read on them."""

from attncli.page.colors import background, foreground, ramp_of
from attncli.page.document import Cell
from attncli.render.cells import mark
from tests.cases import in_one_test


def luminance(color: tuple[int, int, int]) -> float:
    linear = [
        ((part / 255 + 0.055) / 1.055) ** 2.4 if part > 10 else part / 255 / 12.92 for part in color
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


RAMPS = [*ramp_of(signed=False), *ramp_of(signed=True)]


def test_numbers_are_darker_by_day_and_lighter_at_night_the_larger_they_are() -> None:
    day, night = ramp_of(signed=False)
    by_day = [luminance(background(shade / 50, day)) for shade in range(51)]
    at_night = [luminance(background(shade / 50, night)) for shade in range(51)]
    assert by_day == sorted(by_day, reverse=True)
    assert at_night == sorted(at_night)
    for colors in (day, night):
        assert background(-1, colors) == background(0, colors) == colors[0]
        assert background(2, colors) == background(1, colors) == colors[-1]


def test_numbers_with_a_sign_are_nearest_to_the_paper_at_0() -> None:
    for colors, is_night in zip(ramp_of(signed=True), (False, True), strict=True):
        steps = [luminance(background(shade / 50, colors)) for shade in range(51)]
        assert steps[25:] == sorted(steps[25:], reverse=not is_night)
        assert steps[:26] == sorted(steps[:26], reverse=is_night)


@in_one_test("shade", [place / 50 for place in range(51)])
def test_digits_have_the_contrast_that_wcag_asks_for(shade: float) -> None:
    for colors in RAMPS:
        back = background(shade, colors)
        low, high = sorted((luminance(back), luminance(foreground(back))))
        assert (high + 0.05) / (low + 0.05) >= 4.5


@in_one_test(
    ("cell", "sign"),
    [
        (Cell("1"), ""),
        (Cell("0.1", shade=0.1), "░"),
        (Cell("1", shade=1.0), "█"),
        (Cell("0", shade=0.0, hidden=True), "·"),
        (Cell("-inf", hidden=True), ""),
        (Cell("1", verdict="right"), "✓"),
        (Cell("1", verdict="carried"), "»"),
        (Cell("1", verdict="rounding"), "≈"),
        (Cell("1", verdict="wrong"), "✗"),
        (Cell("?", verdict="missing"), ""),
    ],
)
def test_marks_without_colour(cell: Cell, sign: str) -> None:
    assert mark(cell) == sign
