"""A lecture with a page: one step a screen, and keys as clickers have them."""

from __future__ import annotations

from pathlib import Path
from unicodedata import normalize

import pytest

from tests.render.browsers import Browser, Play, played, played_in
from tests.render.test_live_page import INPUTS, written

BY_STEM = {file.stem: file for file in INPUTS}
I_LOVE_AI, HEADS = BY_STEM["i_love_ai"], BY_STEM["multi_head"]
CHANGED, PART = ".what-changed", ("values", ".presenter select")
SHOWS = ("shown", ".presenter")
# As many words as a sentence has.
SIX = """
tokens: ["The", "cat", "sat", "on", "a", "mat"]
X: [[1, 0, 2, 0], [0, 1.5, 0, 1], [1, 1, -1, 0], [0.25, 0, 1, 1], [1, 0, 0, 1], [0, 2, 1, -0.5]]
W_Q: [[1, 0, 1, 0.5], [0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]]
W_K: [[0, 1, 0, 1], [1, 0, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0]]
W_V: [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 0, 1]]
"""
TITLE, COUNT = "main section :is(h2, h3):visible", ".presenter span"
SCORE_OF_LAST_KEY = "#step-scores table[data-array=scores] tbody td >> nth=2"
LINE, WORD = ".one-number [aria-live]", ".words [aria-checked=true]"
# What fills most of a screen.
SHOWN = ".ribbons-only .query, .presenting:not(.ribbons-only) main"
PROJECTOR = {"viewport": {"width": 1024, "height": 768}}


@pytest.mark.browser
def test_a_clicker_goes_through_the_terms_and_then_the_steps(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("texts", TITLE),
        ("line", ""),
        ("press", "PageDown"),
        ("line", ""),
        ("press", "PageDown PageDown"),
        ("line", ""),
        ("press", "PageDown"),
        ("texts", TITLE),
        ("line", ""),
        ("address", ""),
        ("press", "PageUp"),
        ("texts", TITLE),
        ("line", ""),
        ("announced", ""),
    ]
    page = written(I_LOVE_AI, tmp_path)
    (found,) = played(browser, (page, play), at="#!present=step-scores")
    begin, question, term, last, after, next_line, address, before, told, said = found
    assert begin == ["5 Scores"]
    assert question == "S: I → love = ?"
    assert term == "S: I → love 2·2 = 4 ·\u00a02\u00a0more"
    assert last == "S: I → love 2·2 + 0·1 + 1·1 = 5"
    assert after == ["6 Scaled scores"]
    assert next_line == "Z: I → love 5 / √3 ≈ 2.887"
    assert address == "#!present=step-scaled&asks=1"
    assert before == ["5 Scores"]
    assert told == last
    assert "6 of 14: 5 Scores" in said


@pytest.mark.browser
def test_a_result_is_seen_when_its_terms_were_gone_through(
    browser: Browser, tmp_path: Path
) -> None:
    untold = ("texts", "#step-scores .untold")
    play: Play = [untold, ("press", "PageDown PageDown"), untold, ("press", "PageDown"), untold]
    ahead: Play = [("texts", ".map .ahead em"), ("press", "Escape"), ("texts", ".untold, .ahead")]
    page = written(I_LOVE_AI, tmp_path)
    ((asked, before, told, later, end),) = played(
        browser, (page, [*play, *ahead]), at="#!present=step-scores"
    )
    assert (asked, before, told) == (["5"], ["5"], [])
    assert later == ["scaled scores", "exponentials", "attention weights", "output"]
    assert end == []


@pytest.mark.browser
def test_digits_choose_a_word_and_arrows_pass_over_terms(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("press", "p ArrowDown"),
        ("texts", TITLE),
        ("press", "3 PageDown"),
        ("line", ""),
        ("press", "ArrowDown ArrowUp 9 PageDown"),
        ("line", ""),
        ("press", "Escape"),
        ("texts", WORD),
    ]
    ((title, line, again, word),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert title == ["1 Queries"]
    assert line == again
    assert line.startswith("Q: AI, d3 ")
    assert word == ["AI"]


@pytest.mark.browser
def test_the_end_gives_the_page_and_the_focus_back(browser: Browser, tmp_path: Path) -> None:
    play: Play = [
        ("to", "X"),
        ("press", "ArrowRight p"),
        ("texts", COUNT),
        ("shown", "nav"),
        ("press", "d Escape"),
        ("shown", "nav"),
        ("focus", ""),
        ("line", ""),
        ("address", ""),
    ]
    ((count, hidden, shown, focus, line, address),) = played(
        browser, (written(I_LOVE_AI, tmp_path), play)
    )
    assert count == ["1 / 14"]
    assert (hidden, shown) == ([False], [True])
    assert (focus, line) == ("X", "X: I, d2 0 given")
    assert address == ""


@pytest.mark.browser
def test_a_step_of_three_words_fits_a_projector(chromium: Browser, tmp_path: Path) -> None:
    play: Play = [("press", "p")]
    for _ in range(14):
        play += [("scrolls", SHOWN), ("press", "ArrowDown")]
    (scrolls,) = played_in(chromium, (written(I_LOVE_AI, tmp_path), play, PROJECTOR))
    assert scrolls == [[0, 0]] * 14


@pytest.mark.browser
def test_a_step_of_twelve_words_fits_a_projector(chromium: Browser, tmp_path: Path) -> None:
    page = written(BY_STEM["twelve_tokens"], tmp_path)
    for step in ("step-scores", "step-weights", "step-output"):
        play: Play = [("scrolls", "main")]
        at = f"#!present={step}"
        assert played_in(chromium, (page, play, PROJECTOR), at=at) == [[[0, 0]]]


@pytest.mark.browser
def test_the_map_says_how_far_it_is_and_a_number_is_one_of_the_head_shown(
    browser: Browser, tmp_path: Path
) -> None:
    ahead, now = ".map .ahead small", ".map .now small"
    play: Play = [("line", ""), ("texts", ahead), ("texts", now), PART]
    page = written(HEADS, tmp_path)
    ((line, later, here, part),) = played(browser, (page, play), at="#!present=head-0-step-scores")
    assert line.startswith("S: ")
    assert [normalize("NFKC", name)[0] for name in here] == ["S"]
    assert "S" not in {normalize("NFKC", name)[0] for name in later}
    assert len(later) > 3
    assert part == ["1"]


@pytest.mark.browser
def test_every_head_is_there_with_its_weights_and_a_list_leads_to_another_one(
    chromium: Browser, tmp_path: Path
) -> None:
    matrices = ("arrays", "main table:visible")
    play: Play = [("texts", TITLE), matrices]
    for _ in range(40):
        play += [("press", "ArrowDown"), PART, ("texts", TITLE), matrices]
    page = written(HEADS, tmp_path)
    choose: Play = [("part", "Head 1"), PART, ("texts", TITLE), ("focus", "")]
    ((title, shared, *walk),) = played(chromium, (page, play), at="#!present")
    assert (title, shared) == (["What all heads share"], ["X"])
    screens = list(zip(walk[::3], walk[1::3], walk[2::3], strict=True))
    given = {tuple(title): tables for _, title, tables in screens if title}
    assert given["Head 0",][:3] == given["Head 1",][:3] == ["W_Q", "W_K", "W_V"]
    assert given["All heads together",][0] == "W_O"
    assert (["2"], ["9 Attention weights"]) in [screen[:2] for screen in screens]
    # The last one stays.
    assert screens[-1][1] == screens[-2][1] == ["12 Output"]
    ((part, there, focus),) = played(chromium, (page, choose), at="#!present=head-0-step-scores")
    assert (part, there, focus) == (["2"], ["5 Scores"], "MAIN")


@pytest.mark.browser
def test_the_ribbons_have_a_screen_behind_the_weights_and_the_output(
    browser: Browser, tmp_path: Path
) -> None:
    shown = ("shown", ".ribbons, .sum, main")
    play: Play = [shown, ("press", "PageDown PageDown"), shown, ("press", "End"), ("texts", TITLE)]
    page = written(I_LOVE_AI, tmp_path)
    at = "#!present=step-weights-ribbons"
    ((weights, output, last),) = played(browser, (page, play), at=at)
    assert weights == [True, False, False]
    assert output == [False, False, True]
    assert last == ["In words"]


@pytest.mark.browser
def test_a_clicker_goes_on_from_a_field_a_slider_and_blanks(
    browser: Browser, tmp_path: Path
) -> None:
    page = written(I_LOVE_AI, tmp_path)
    given = "#what-is-given table[data-array=X] tbody td"
    typed: Play = [("click", given), ("type", "3"), ("press", "PageDown")]
    slider: Play = [("click", "#step-weights .share"), ("press", "h"), ("texts", ".held")]
    blank: Play = [("click", ".blank"), ("type", "4")]
    on: Play = [("press", "PageDown"), ("texts", COUNT)]
    plays = [
        ("#!present=what-is-given", [*typed, ("texts", COUNT), ("texts", CHANGED)]),
        ("#!present=step-weights", [*slider, *on, ("texts", ".held")]),
        ("#!blank=scores&present=step-scores", [*blank, *on]),
        (
            "#!blank=scores&present=step-scores",
            [*blank, ("press", "Escape"), ("shown", ".presenter"), ("press", "Escape"), SHOWS],
        ),
    ]
    found = [played(browser, (page, play), at=at)[0] for at, play in plays]
    assert found[0] == [["2 / 14"], ["X: I, d1 = 3"]]
    held, count, after = found[1]
    assert held
    assert (count, after) == (["11 / 14"], held)
    # Without what the scores are asked for, the ribbons have no screen.
    assert found[2] == [["7 / 11"]]
    assert found[3] == [[True], [False]]


@pytest.mark.browser
def test_no_swipe_leaves_the_page(browser: Browser, tmp_path: Path) -> None:
    play: Play = [("css", "overscrollBehaviorX | html"), ("css", "touchAction | .attncli")]
    page = written(I_LOVE_AI, tmp_path)
    ((over, touch, *after),) = played(
        browser, (page, [*play, ("press", "Escape"), *play]), at="#!present"
    )
    assert (over, touch) == (["none"], ["pan-y"])
    assert after == [["auto"], ["auto"]]


@pytest.mark.browser
def test_nothing_moves_where_a_number_is_typed(chromium: Browser, tmp_path: Path) -> None:
    cells = "#what-is-given table td"
    edges = ("edges", cells)
    play: Play = [edges, ("click", f"{cells}[tabindex]"), edges, ("type", "3"), edges]
    page = written(I_LOVE_AI, tmp_path)
    ((before, clicked, typed),) = played_in(
        chromium, (page, play, PROJECTOR), at="#!present=what-is-given"
    )
    assert before == clicked == typed


@pytest.mark.browser
def test_an_undo_stays_on_the_screen(browser: Browser, tmp_path: Path) -> None:
    hold: Play = [
        ("press", "Control+z"), ("line", ""), ("click", "#step-weights .share"), ("press", "h"),
        ("texts", "#step-weights .held"),
    ]  # fmt: skip
    page = written(I_LOVE_AI, tmp_path)
    typed: Play = [("click", "#what-is-given table[data-array=X] tbody td"), ("type", "3")]
    steps: Play = [("press", " ".join(["PageDown", *["ArrowDown"] * 8])), ("texts", TITLE)]
    ((title, line, held),) = played(
        browser, (page, [*typed, *steps, *hold]), at="#!present=what-is-given"
    )
    assert title == ["9 Attention weights"]
    assert line.startswith("A: ")
    assert len(held) == 1


@pytest.mark.browser
def test_what_is_changed_is_said_and_what_was_given_while_c_is_held(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("press", "m"), ("texts", CHANGED), ("down", "c"), ("texts", CHANGED), ("up", "c"),
        ("texts", CHANGED), ("press", "m"), ("texts", CHANGED),
    ]  # fmt: skip
    page = written(I_LOVE_AI, tmp_path)
    ((masked, given, again, end),) = played(
        browser, (page, play), at="#!what-if=the+softmax+was+taken+twice&present=step-scores"
    )
    assert masked == again
    assert masked[0].startswith("Mask causal; What if ")
    assert given == ["As given"]
    assert end[0].startswith("What if ")


@pytest.mark.browser
def test_p_goes_on_where_the_lecture_was_left_and_works_from_a_slider(
    browser: Browser, tmp_path: Path
) -> None:
    play: Play = [
        ("wait", ""), ("press", "p ArrowDown ArrowDown Escape p"), ("texts", TITLE),
        ("press", "Escape"), ("sharpen", "30"), ("press", "p"), ("texts", COUNT),
    ]  # fmt: skip
    ((title, count),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert title == ["2 Keys"]
    assert count == ["1 / 14"]


@pytest.mark.browser
def test_the_screen_turns_black_and_back(browser: Browser, tmp_path: Path) -> None:
    main = ("css", "opacity | main, .map")
    play: Play = [
        ("press", "b"), main, ("press", "PageDown"), main, ("press", "."), main,
        ("click", ".attncli.black"), main, ("texts", COUNT),
        ("press", "Home"), ("texts", COUNT), ("press", "End"), ("texts", COUNT),
    ]  # fmt: skip
    page = written(I_LOVE_AI, tmp_path)
    ((black, back, again, clicked, *counts),) = played(
        browser, (page, play), at="#!present=step-scores"
    )
    assert black == again == ["0", "0"]
    assert back == clicked == ["1", "1"]
    assert counts == [["6 / 14"], ["1 / 14"], ["14 / 14"]]


@pytest.mark.browser
def test_a_button_does_not_keep_the_keys(browser: Browser, tmp_path: Path) -> None:
    dark = ".presenter button:text-is('Dark')"
    play: Play = [("click", dark), ("press", "Space"), ("line", ""), ("focus", "")]
    page = written(I_LOVE_AI, tmp_path)
    ((line, focus),) = played(browser, (page, play), at="#!present=step-scores")
    assert line.startswith("S: I → love 2·2 = 4")
    assert focus == "MAIN"


@pytest.mark.browser
def test_a_pointer_that_rests_points_at_nothing(browser: Browser, tmp_path: Path) -> None:
    play: Play = [("hover", "#step-output .share"), ("line", ""), ("press", "ArrowUp ArrowUp")]
    play += [("press", "ArrowDown ArrowDown"), ("wait", ""), ("line", "")]
    page = written(I_LOVE_AI, tmp_path)
    ((pointed, line),) = played(browser, (page, play), at="#!present=step-output")
    assert pointed.startswith("A: ")
    assert line == "O: I, d1 = ?"


@pytest.mark.browser
def test_a_word_of_the_address_asks(browser: Browser, tmp_path: Path) -> None:
    page = written(I_LOVE_AI, tmp_path)
    ((line,),) = played(browser, (page, [("line", "")]), at="#!present=step-scores&asks=3")
    assert line.startswith("S: AI → ")


@pytest.mark.browser
def test_six_words_are_multiplied_in_sight_and_the_type_stays(
    chromium: Browser, tmp_path: Path
) -> None:
    (tmp_path / "six.yaml").write_text(SIX)
    page = written(tmp_path / "six.yaml", tmp_path)
    steps = ("step-Q", "step-scores", "step-weights", "step-output")
    for width, height in ((1024, 768), (1920, 1080)):
        options = {"viewport": {"width": width, "height": height}}
        places = []
        for step in steps:
            last = f"#{step} table:has(caption.unseen) td >> nth=-1"
            play: Play = [("shown", f"#{step} .factor"), ("edges", last), ("edges", f"#{step} h2")]
            at = f"#!present={step}"
            ((factors, number, title),) = played_in(chromium, (page, play, options), at=at)
            assert all(factors)
            places.append((number[0][2:], title[0][1::2]))
        (first, *others) = places
        for (right, bottom), title in others:
            assert abs(right - first[0][0]) < 12
            assert abs(bottom - first[0][1]) < 12
            assert title == first[1]


@pytest.mark.browser
def test_the_map_fills_a_projector_and_its_names_can_be_read(
    chromium: Browser, tmp_path: Path
) -> None:
    play: Play = [("edges", ".map svg >> nth=0"), ("edges", ".map em >> nth=0")]
    play += [("edges", ".presenter"), ("edges", ".one-number"), ("wider", ".presenter, .map *")]
    page = written(I_LOVE_AI, tmp_path)
    for width, height in ((1024, 768), (1920, 1080)):
        options = {"viewport": {"width": width, "height": height}}
        (((way,), (name,), (bar,), (line,), wider),) = played_in(
            chromium, (page, play, options), at="#!present=step-scores"
        )
        assert way[2] - way[0] > 0.8 * width
        # In a small window a name is 13 pixels high.
        assert name[3] - name[1] > 14 * height / 768
        assert bar[3] - bar[1] > 30 * height / 768
        assert line[3] - line[1] > 80 * height / 768
        assert wider == []


@pytest.mark.browser
def test_p_is_typed_where_a_number_is_typed(browser: Browser, tmp_path: Path) -> None:
    cell = "#what-is-given table[data-array=X] tbody td"
    play: Play = [("click", cell), ("type", "p"), ("shown", ".presenter")]
    ((shown,),) = played(browser, (written(I_LOVE_AI, tmp_path), play))
    assert shown == [False]


@pytest.mark.browser
def test_a_reload_brings_back_the_term_and_the_number(browser: Browser, tmp_path: Path) -> None:
    untold = ("texts", "#step-scores .untold")
    here: Play = [("line", ""), ("address", ""), ("reload", ""), ("line", ""), ("texts", TITLE)]
    usual: Play = [("press", "Space Space"), *here, untold, ("press", "Space"), ("line", "")]
    # The page works out another one.
    other: Play = [("click", SCORE_OF_LAST_KEY), ("press", "Space Space")]
    page = written(I_LOVE_AI, tmp_path)
    first, second = played(
        browser, (page, usual), (page, [*other, *here, untold]), at="#!present=step-scores"
    )
    line, address, again, title, hidden, last = first
    assert line == again == "S: I → love 2·2 + 0·1 = 4 ·\u00a01\u00a0more"
    assert address == "#!present=step-scores&asks=1&term=2"
    assert (title, hidden) == (["5 Scores"], ["5"])
    assert last == "S: I → love 2·2 + 0·1 + 1·1 = 5"
    line, address, again, title, hidden = second
    assert line == again == "S: I → AI 2·1 + 0·1 = 2 ·\u00a01\u00a0more"
    assert address == "#!present=step-scores&asks=1&number=scores.2&term=2"
    assert (title, hidden) == (["5 Scores"], ["3"])


@pytest.mark.browser
def test_a_whole_line_and_a_head_come_back_too(browser: Browser, tmp_path: Path) -> None:
    here: Play = [("line", ""), ("reload", ""), ("line", ""), PART]
    clicked: Play = [("click", SCORE_OF_LAST_KEY), *here]
    page, heads = written(I_LOVE_AI, tmp_path), written(HEADS, tmp_path)
    ((whole, again, _),) = played(browser, (page, clicked), at="#!present=step-scores")
    assert whole == again == "S: I → AI 2·1 + 0·1 + 1·1 = 3"
    at = "#!present=head-1-step-scores"
    ((line, again, part),) = played(browser, (heads, [("press", "Space"), *here]), at=at)
    assert line == again
    assert line.endswith("more")
    assert part == ["2"]


@pytest.mark.browser
def test_what_an_address_says_of_a_term_cannot_be_wrong(browser: Browser, tmp_path: Path) -> None:
    play: Play = [("line", "")]
    page = written(I_LOVE_AI, tmp_path)
    lines = {}
    for said in ("term=99", "term=-1", "term=x", "number=nobody.3&term=1", "number=scores.99"):
        ((lines[said],),) = played(browser, (page, play), at=f"#!present=step-scores&{said}")
    assert lines["term=99"] == "S: I → love 2·2 + 0·1 + 1·1 = 5"
    assert lines["number=nobody.3&term=1"] == "S: I → love 2·2 = 4 ·\u00a02\u00a0more"
    others = {lines[said] for said in ("term=-1", "term=x", "number=scores.99")}
    assert others == {"S: I → love = ?"}


@pytest.mark.browser
def test_no_address_tells_what_is_asked_for(browser: Browser, tmp_path: Path) -> None:
    page = written(I_LOVE_AI, tmp_path)
    at = "#!blank=scores&present=step-scores&number=scores.2&term=3"
    ((said,),) = played(browser, (page, [("texts", LINE)]), at=at)
    assert said == [""]
