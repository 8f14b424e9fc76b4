"""The page of a problem with equations of its own, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli.problem.loader import load
from attncli.tracing import run
from tests.page.test_live_own_steps import EXAMPLES, ODD, ROOT
from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import must_show_the_same, written

GATE = ROOT / "inputs" / "equations" / "output_gate.yaml"
LISTS = """
Q: [[3, 4], [0, 5]]
K: [[4, 3], [6, 8]]
V: [[1, 0], [0, 1]]
equations:
  - "sums[i] = sum(k, Q[i, k])"
  - "total = sum(i, sums[i] ** 2)"
result: total
"""
TURNED = """
Q: [[1, 1]]
K: [[1, 2], [0, 3]]
V: [[1], [2]]
equations:
  - "doubled[j, k] = 2 * K[j, k]"
  - "scores[i, j] = sum(k, Q[i, k] * doubled[j, k])"
"""
QUIZ = ".controls button:has-text('Quiz')"
NEXT = ".quiz > button:not(.close)"


def odd_files(folder: Path) -> list[Path]:
    files = []
    for place, text in enumerate(ODD.values()):
        files.append(folder / f"odd{place}.yaml")
        files[-1].write_text(text, encoding="utf-8")
    return files


@pytest.mark.browser
def test_the_script_shows_what_the_page_without_it_shows(chromium: Browser, tmp_path: Path) -> None:
    must_show_the_same(chromium, odd_files(tmp_path)[:2], tmp_path)


@pytest.mark.browser
@pytest.mark.slow
def test_the_script_shows_what_the_page_without_it_shows_of_every_example(
    browser: Browser, tmp_path: Path
) -> None:
    must_show_the_same(browser, [*EXAMPLES, *odd_files(tmp_path)[2:]], tmp_path)


@pytest.mark.browser
def test_a_number_of_an_own_array_is_typed_over_and_saved(browser: Browser, tmp_path: Path) -> None:
    """With -2 for 2 in W_G, the gate of "I" is half open for its first feature: -2 and 2 are 0."""
    play: Play = [
        ("click", "#what-is-given table[data-array=W_G] tbody td"),
        ("type", "-2"),
        ("press", "Enter"),
        ("wait", ""),
        ("press", "?"),
        ("texts", "#step-gate .worked li"),
        ("address", ""),
        ("saved", ""),
    ]
    ((lines, address, saved),) = played(browser, (written(GATE, tmp_path), play))
    assert "sigmoid(1·(−2) + 0·0 + 1·2 + 0·0) = sigmoid(0)" in lines[0]
    assert lines[0].endswith("= 0.500")
    assert address == "#!W_G.0=-2"
    (tmp_path / "saved.yaml").write_text(saved, encoding="utf-8")
    again = run(load(str(tmp_path / "saved.yaml")))
    assert again["gate"][0, 0] == 0.5
    assert again["gated"][0, 0] == pytest.approx(again["output"][0, 0] / 2)


@pytest.mark.browser
def test_a_factor_whose_rows_stand_as_columns_follows(browser: Browser, tmp_path: Path) -> None:
    """The doubled keys stand beside the queries as 2 0 and 4 6: of a 1, a 5 makes a 10."""
    file = tmp_path / "turned.yaml"
    file.write_text(TURNED, encoding="utf-8")
    turned = "#step-scores table[data-turned] tbody td"
    play: Play = [
        ("wait", ""),
        ("texts", turned),
        ("click", "#what-is-given table[data-array=K] tbody td"),
        ("type", "5"),
        ("press", "Enter"),
        ("wait", ""),
        ("texts", turned),
    ]
    ((before, after),) = played(browser, (written(file, tmp_path), play))
    assert before == ["2", "0", "4", "6"]
    assert after == ["10", "0", "4", "6"]


@pytest.mark.browser
def test_the_quiz_asks_about_steps_of_any_shape(chromium: Browser, tmp_path: Path) -> None:
    """A list and a number: whatever is drawn, no question fails."""
    file = tmp_path / "lists.yaml"
    file.write_text(LISTS, encoding="utf-8")
    page = written(file, tmp_path)
    asking: Play = [("click", QUIZ)]
    for _ in range(24):
        asking += [("texts", ".quiz > p:first-child"), ("click", NEXT)]
    (asked,) = played(chromium, (page, [*asking, ("shown", ".query, .controls label")]))
    *questions, shown = asked
    steps = {text.split(":")[0] for (text,) in questions}
    assert steps == {"Work out sums", "Work out total"}
    # Neither a mask nor a mistake can be chosen, and there are no ribbons.
    assert not any(shown)
