"""Numbers of a page that are dragged: a ribbon to its width, and a score sideways."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attncli.problem.loader import load
from attncli.tracing import run
from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import I_LOVE_AI, SCORES, written

pytestmark = pytest.mark.browser
WEIGHTS = ("texts", ".ribbons li b")
LOVE = ".ribbons li b >> nth=1"


def test_a_ribbon_is_dragged_to_its_width_and_holds_the_score_that_gives_it(
    chromium: Browser, tmp_path: Path
) -> None:
    play: Play = [
        WEIGHTS, ("pull", "6 0 -40"), WEIGHTS, ("address", ""),
        ("press", "Control+z"), WEIGHTS, ("address", ""),
    ]  # fmt: skip
    ((before, dragged, held, after, none),) = played(chromium, (written(I_LOVE_AI, tmp_path), play))
    trace = run(load(str(I_LOVE_AI)))
    place, score = held.removeprefix("#!scaled.").split("=")
    scores = trace["scaled"][0].copy()
    scores[int(place)] = float(score)
    weights = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose([float(text) for text in dragged], weights, atol=0.0005)
    # By 40 of the 160 pixels of a whole.
    assert weights[1] == pytest.approx(trace["weights"][0, 1] - 40 / 160, abs=0.001)
    assert (after, none) == (before, "")


def test_a_chosen_number_is_dragged_sideways_and_one_that_is_not_stays(
    chromium: Browser, tmp_path: Path
) -> None:
    drag = ("pull number", f"{SCORES} >> nth=0")
    play: Play = [
        drag, ("address", ""), ("click", f"{SCORES} >> nth=0"), drag, ("address", ""),
        ("texts", ".one-number button:text-matches('Let go')"),
    ]  # fmt: skip
    ((first, held, button),) = played(chromium, (written(I_LOVE_AI, tmp_path), play))
    assert first == ""
    assert held.startswith("#!scores.0=")
    assert float(held.split("=")[1]) > 1
    assert button == ["Let go"]


def test_the_weights_are_sliders_for_the_keys(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        WEIGHTS,
        ("click", LOVE),
        ("press", "ArrowUp"),
        WEIGHTS,
        ("press", "ArrowLeft"),
        WEIGHTS,
        ("address", ""),
        ("press", "PageDown"),
        WEIGHTS,
        ("press", "End"),
        WEIGHTS,
        ("press", "Home"),
        WEIGHTS,
        ("axe", ""),
        ("press", "Tab"),
        ("texts", ".ribbons b:focus"),
    ]
    ((given, more, again, address, less, most, least, faults, focus),) = played(
        browser, (written(I_LOVE_AI, tmp_path), play)
    )
    assert [texts[1] for texts in (given, more, less)] == ["0.707", "0.757", "0.507"]
    # Where its equation puts it, nothing has to hold it.
    assert (again, address) == (given, "")
    assert (most[1], least[1]) == ("0.998", "0.002")
    assert focus == least[2:]
    assert not [fault for fault in faults if "slider" in fault]


def test_a_weight_is_dragged_sideways_and_a_ribbon_of_nothing_can_be_taken_again(
    chromium: Browser, tmp_path: Path
) -> None:
    """Ribbons of other words are not taken."""
    # The line at the bottom would lie over them.
    close = ".one-number .close"
    other = ("computed", "pointerEvents .ribbons path:not(.of-query)")
    play: Play = [
        ("pull number", LOVE),
        WEIGHTS,
        ("click", close),
        ("pull", "6 0 -200"),
        WEIGHTS,
        ("click", close),
        ("pull", "6 0 80"),
        WEIGHTS,
        ("texts", ".slider small"),
        ("values", ".slider input"),
        other,
    ]
    ((more, least, again, ends, held, kinds),) = played(
        chromium, (written(I_LOVE_AI, tmp_path), play)
    )
    assert float(more[1]) == pytest.approx(0.707 + 80 / 320, abs=0.002)
    assert least[1] == "0.002"
    assert float(again[1]) == pytest.approx(0.502, abs=0.002)
    low, high = (float(each.replace("−", "-")) for each in ends)
    assert low < float(held[0]) < high
    assert {*kinds} == {"none"}


def test_what_does_not_change_keeps_its_bar_while_a_number_is_slid(
    chromium: Browser, tmp_path: Path
) -> None:
    """Only where a bar has no more room, all get some; at rest, they fill their room again."""
    value = "#step-V table:has(caption.unseen) tbody td >> nth=3"
    second = ("styles", ".sum p:nth-of-type(2) i")
    play: Play = [
        ("click", value),
        ("press", "h"),
        second,
        ("press", "PageUp"),
        second,
        ("press", "PageUp"),
        second,
        ("press", "PageDown"),
        second,
        ("press", "Escape"),
        second,
    ]
    ((before, more, wide, back, rest),) = played(chromium, (written(I_LOVE_AI, tmp_path), play))
    assert before == more == rest
    assert wide == back != before
