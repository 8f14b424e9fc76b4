"""The heat-map's colours: monotone in brightness, with digits that can be read on them."""

from attncli.page.colors import background, foreground
from attncli.page.document import Cell
from attncli.render.cells import mark
from tests.cases import in_one_test


def luminance(color: tuple[int, int, int]) -> float:
    linear = [
        ((part / 255 + 0.055) / 1.055) ** 2.4 if part > 10 else part / 255 / 12.92 for part in color
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_ramp_goes_from_dark_to_light_and_stays_in_its_ends() -> None:
    steps = [luminance(background(shade / 50)) for shade in range(51)]
    assert steps == sorted(steps)
    assert background(-1) == background(0) == (0, 34, 78)
    assert background(2) == background(1) == (254, 232, 56)


@in_one_test("shade", [place / 50 for place in range(51)])
def test_digits_have_the_contrast_that_wcag_asks_for(shade: float) -> None:
    back = background(shade)
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
