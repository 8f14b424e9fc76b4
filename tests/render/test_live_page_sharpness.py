"""The knob of a page that slides the scale, from weights that are alike to one that is all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attncli.problem.loader import load
from attncli.problem.matrix import Scalar
from attncli.tracing import run
from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import I_LOVE_AI, RESET, written

pytestmark = pytest.mark.browser
SAYS = ("texts", ".sharpness > span:last-child")
WEIGHTS = ("texts", "#step-weights table:has(caption.unseen) tbody td")


@pytest.mark.parametrize(
    ("name", "position"), [("i_love_ai", "30"), ("causal", "80"), ("gemma2_softcap", "60")]
)
def test_the_saved_file_has_the_scale_and_gives_the_weights_of_the_page(
    browser: Browser, tmp_path: Path, name: str, position: str
) -> None:
    page = written(I_LOVE_AI.with_name(f"{name}.yaml"), tmp_path)
    play: Play = [("sharpen", position), WEIGHTS, SAYS, ("saved", ""), ("address", "")]
    ((weights, (says,), saved, address),) = played(browser, (page, play))
    file = tmp_path / "saved.yaml"
    file.write_text(saved, encoding="utf-8")
    problem = load(str(file))
    assert isinstance(problem.scale, Scalar)
    assert says.split(":")[0] == f"scale {problem.scale.written}"
    assert address == f"#!scaled={problem.scale.written}"
    worked = run(problem)["weights"].ravel()
    numbers = [float(text.rstrip("·")) for text in weights]
    np.testing.assert_allclose(numbers, worked, atol=0.0005)
    # The address alone brings it all back.
    ((again, saved_again),) = played(browser, (page, [WEIGHTS, ("saved", "")]), at=address)
    assert (again, saved_again) == (weights, saved)


def test_the_knob_ends_at_weights_that_are_alike_and_at_one_key(
    browser: Browser, tmp_path: Path
) -> None:
    problem = tmp_path / "clear.yaml"
    problem.write_text("Q: [[3, 0], [0, 3]]\nK: [[3, 0], [0, 3]]\nV: [[1], [2]]\n")
    play: Play = [
        SAYS, ("sharpen", "0"), SAYS, WEIGHTS, ("sharpen", "100"), SAYS,
        ("click", RESET), SAYS, ("address", ""),
    ]  # fmt: skip
    ((given, even, weights, sharp, after, address),) = played(
        browser, (written(problem, tmp_path), play)
    )
    assert given == after
    assert given[0].startswith("as given")
    assert even == ["scale 0: uniform"]
    assert weights == ["0.500"] * 4
    assert sharp[0].endswith(": one-hot")
    assert address == ""


def test_marks_have_the_equations_of_their_kind(browser: Browser, tmp_path: Path) -> None:
    titles = ("texts", "#step-scaled h2")
    play: Play = [
        ("sharpen", "without the scale"), SAYS, titles, ("address", ""),
        ("sharpen", "as given"), SAYS, titles, ("address", ""),
        ("sharpen", "90"), ("formulas", "#step-scaled .formula"), ("texts", ".lead"),
        ("sharpen", "100"), ("formulas", "#step-scaled .formula"), ("texts", ".lead"),
    ]  # fmt: skip
    ((without, none, off, given, there, on, *slid),) = played(
        browser, (written(I_LOVE_AI, tmp_path), play)
    )
    assert (without[0].split(":")[0], none, off) == ("without the scale", [], "#!scaled=false")
    assert (given, len(there), on) == (["as given"], 1, "")
    (formula, lead, sharper, other) = ("".join(texts) for texts in slid)
    assert (formula, sharper) == ("Z=1.9·S", "Z=2.3·S")
    assert "scale 1.9" in lead
    assert "scale 2.3" in other


def test_keys_go_past_a_mark(browser: Browser, tmp_path: Path) -> None:
    play: Play = [("sharpen", "as given"), ("click", ".sharpness input"), ("sharpen", "as given")]
    keys: Play = [("press", "ArrowRight ArrowRight ArrowRight"), SAYS, ("axe", "")]
    ((says, faults),) = played(browser, (written(I_LOVE_AI, tmp_path), [*play, *keys]))
    assert says == ["scale 0.65"]
    assert faults == []


def test_every_text_has_the_scale_that_was_slid_to_also_beyond_a_mark(
    browser: Browser, tmp_path: Path
) -> None:
    """At a mark the page has other sections, and the first ones come again after it."""
    lead = ("texts", ".map-caption .lead")
    play: Play = [
        ("sharpen", "20"),
        lead,
        ("sharpen", "as given"),
        ("sharpen", "80"),
        lead,
        SAYS,
        ("click", ".controls button:has-text('Undo')"),
        ("texts", ".one-number .notice"),
    ]
    ((first, second, (says,), undone),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert "scale 0.092" in first[0]
    assert says.split(":")[0] in second[0]
    assert undone == ["Undone: How sharp: as given"]
