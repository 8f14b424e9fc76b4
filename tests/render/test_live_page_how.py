"""What stands behind *How?* on a page that works itself out: closed at first, whole without its
script and on paper.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played, played_in
from tests.render.test_live_page import INPUTS, written

BY_STEM = {file.stem: file for file in INPUTS}
I_LOVE_AI = BY_STEM["i_love_ai"]
LINES = "details.how .worked"
OPEN = "details.how[open]"
MISTAKE = "the scores were divided by d_k, not by its root"


def test_all_work_of_a_live_page_is_behind_how_and_open_without_its_script(tmp_path: Path) -> None:
    html = written(I_LOVE_AI, tmp_path).read_text(encoding="utf-8")
    shown, data = html.split('<script type="application/json"', 1)
    assert shown.count("<details") == shown.count('<details class="how" open="">') == 9
    assert shown.count('<ul class="worked">') == 9
    live = json.loads(data.split(">", 1)[1].split("</script>", 1)[0])
    for _, _, pieces in live["sections"]:
        section = "".join(live["pieces"][at] for at in pieces or ())
        assert section.count('<ul class="worked">') == section.count(
            '<details class="how" open="">'
        )


@pytest.mark.parametrize("option", ["--static", "--fragment"])
def test_other_pages_are_plain(tmp_path: Path, option: str) -> None:
    html = written(I_LOVE_AI, tmp_path, option).read_text(encoding="utf-8")
    assert "<details" not in html
    assert html.count('<ul class="worked">') == 9


def test_the_formula_of_a_cell_is_behind_how(tmp_path: Path) -> None:
    html = written(I_LOVE_AI, tmp_path, "--detail", "cells").read_text(encoding="utf-8")
    scores = html.split('<section id="step-scores">')[1].split("</section>")[0]
    seen, behind = scores.split("<details")
    assert seen.count('class="formula"') == 1
    assert behind.count('class="formula"') == 1


@pytest.mark.browser
def test_work_is_closed_and_opens_in_place_and_all_at_once(
    browser: Browser, tmp_path: Path
) -> None:
    opened = ("arrays", f"section:has({OPEN}) table[data-array]:has(caption.unseen)")
    play: Play = [
        ("shown", LINES),
        ("click", "#step-scores summary"),
        opened,
        # Other sections of the same step, whose lines stay open.
        ("choose", "causal"),
        ("wait", ""),
        opened,
        ("press", "?"),
        ("shown", LINES),
        ("click", ".controls button:has-text('Worked lines')"),
        ("shown", LINES),
    ]
    ((first, one, again, all_open, all_closed),) = played(
        browser, (written(I_LOVE_AI, tmp_path), play)
    )
    assert first == [False] * 9
    assert one == again == ["scores"]
    assert all_open == [True] * 11
    assert all_closed == [False] * 11


@pytest.mark.browser
def test_how_is_no_key_where_a_number_is_typed(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("click", "#what-is-given table[data-array=X] tbody td"),
        ("type", "?"),
        ("shown", LINES),
        ("press", "Escape"),
    ]
    ((lines,),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert lines == [False] * 9


@pytest.mark.browser
def test_lines_behind_how_follow_a_number(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("click", "#what-is-given table[data-array=X] tbody td"),
        ("type", "3"),
        ("press", "Enter"),
        ("wait", ""),
        ("press", "?"),
        ("texts", "#step-Q .worked li"),
    ]
    ((lines,),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert "3·1 + 0·0 + 1·1 + 0·0 = 4" in lines[0]


@pytest.mark.browser
def test_a_mistake_strikes_out_a_formula_that_is_seen(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("what-if", MISTAKE),
        ("shown", ".mistaken .formula"),
        ("shown", ".what-if"),
        ("texts", ".mistaken .beside > div > p:visible"),
    ]
    ((formulas, notes, sentences),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert formulas == [True, True]
    assert notes == [True]
    assert sentences == []


@pytest.mark.browser
def test_on_paper_and_without_the_script_all_work_is_open(
    chromium: Browser, tmp_path: Path
) -> None:
    page = written(I_LOVE_AI, tmp_path)
    on_paper: Play = [
        ("printing", "beforeprint"),
        ("shown", LINES),
        ("printing", "afterprint"),
        ("shown", LINES),
    ]
    plain: Play = [("shown", LINES)]
    printed, without = played_in(
        chromium, (page, on_paper, {}), (page, plain, {"javaScriptEnabled": False})
    )
    assert printed == [[True] * 9, [False] * 9]
    assert without == [[True] * 9]


@pytest.mark.browser
def test_a_small_matrix_stands_beside_its_sentence_where_there_is_room(
    chromium: Browser, tmp_path: Path
) -> None:
    page = written(I_LOVE_AI, tmp_path)
    play: Play = [("left", "#step-weights .beside > *")]
    wide, narrow = played_in(
        chromium,
        (page, play, {"viewport": {"width": 1440, "height": 900}}),
        (page, play, {"viewport": {"width": 390, "height": 800}}),
    )
    assert wide[0][0] < wide[0][1]
    assert narrow[0][0] == narrow[0][1]
