"""Numbers typed over on a live page, key by key: the page has the number that was written, or the
one from before; what is no number stays in its field.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from attncli.problem.loader import load
from tests.page.typed_numbers import Fault, drawn_text, keystrokes, number_typed
from tests.render.browsers import Browser, Play, played, played_in
from tests.render.test_live_page import I_LOVE_AI, X, written

pytestmark = pytest.mark.browser
ENDS = ("Enter", "Tab", "click", "other", "Escape")
Edit = tuple[int, list[str], str]  # the place of a number, the keys, and how the field is left


def drawn_edits(seed: int, count: int) -> list[Edit]:
    chosen = random.Random(seed)
    edits = []
    for _ in range(count):
        keys = [*keystrokes(drawn_text(chosen)[:40], chosen)] or ["7"]
        edits.append((chosen.randrange(12), keys, chosen.choice(ENDS)))
    return edits


def text_of(keys: list[str]) -> str:
    """What stands in a field after these keys."""
    text = ""
    for key in keys:
        text = text[:-1] if key == "Backspace" else text + key
    return text


def left_by(before: float, keys: list[str], end: str) -> tuple[float, str]:
    """The number that an edit leaves, by the grammar, and the fault of what stands in the field."""
    text = text_of(keys)
    try:
        found, fault = number_typed(text), ""
    except Fault as wrong:
        found, fault = before, str(wrong)
    return (before if end == "Escape" else found), fault


def must_be_typed(edits: list[Edit], found: list[dict[str, Any]], values: list[float]) -> None:
    """After each edit the page has the right number, and says so if this is not what was typed;
    `values` follow.
    """
    texts: list[str] | None = None
    for (place, keys, end), page in zip(edits, found, strict=True):
        value, fault = left_by(values[place], keys, end)
        assert fault in page["said"], keys
        assert bool(fault) == bool(page["said"]), keys
        stays_open = bool(fault) and end != "Escape"
        assert page["isOpen"] == stays_open, keys
        if stays_open:
            written, reason = page["left"]
            assert written == text_of(keys)
            assert fault in reason
        is_left = stays_open and end != "Enter"
        if end != "Enter":  # the page says what became of the number before
            assert bool(page["notice"]) == is_left, (keys, end, page["notice"])
        if is_left:
            assert fault in page["notice"]
            assert " stays " in page["notice"]
        if texts is not None:
            assert [text for at, text in enumerate(page["texts"]) if at != place] == texts[
                :place
            ] + texts[place + 1 :]
            assert page["texts"][place] == texts[place] or value != values[place]
        values[place], texts = value, page["texts"]


@pytest.mark.parametrize(
    "seeds", [range(1), pytest.param(range(1, 12), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_keys_clicks_and_blurs_leave_a_number_or_the_one_from_before(
    browser: Browser, tmp_path: Path, seeds: range
) -> None:
    page = written(I_LOVE_AI, tmp_path)
    given = load(str(I_LOVE_AI)).given["X"].value.ravel().tolist()
    for seed in seeds:
        edits, values = drawn_edits(seed, 16 if len(seeds) == 1 else 40), list(given)
        play: Play = [("edits", json.loads(json.dumps(edits))), ("saved", "")]
        ((found, saved),) = played(browser, (page, play))
        must_be_typed(edits, found, values)
        (tmp_path / "saved.yaml").write_text(saved, encoding="utf-8")
        assert load(str(tmp_path / "saved.yaml")).given["X"].value.ravel().tolist() == values


def test_tab_goes_from_number_to_number_and_out_at_the_end(
    browser: Browser, tmp_path: Path
) -> None:
    """As in a spreadsheet; what is no number stays in its field."""
    fields = f"{X} >> input"
    play: Play = [
        ("click", X),
        ("type", "2"),
        ("press", "Tab"),
        ("type", "3"),
        ("press", "Tab"),
        ("press", "Tab"),
        ("type", "x"),
        ("press", "Shift+Tab"),
        ("values", fields),
        ("texts", X),
        ("press", "Escape"),
        ("click", f"{X} >> nth=11"),
        ("type", "7"),
        ("press", "Tab"),
        ("texts", "button:focus"),
        ("address", ""),
        ("click", X),
        ("press", "Shift+Tab"),
        ("texts", f"{X}:focus"),
        ("press", "Shift+Tab"),
        ("texts", f"{X}:focus"),
    ]
    ((open_ones, numbers, button, address, first, none),) = played(
        browser, (written(I_LOVE_AI, tmp_path), play)
    )
    assert open_ones == ["1", "x"]
    assert [text for text in numbers if text][:2] == ["2", "3"]
    assert button == ["+ word"]
    assert address == "#!X.0=2;3&X.11=7"
    assert (first, none) == (["2"], [])


def test_on_a_phone_the_reason_covers_nothing_and_nothing_is_wider_than_the_window(
    chromium: Browser, tmp_path: Path
) -> None:
    """While one types, the line at the bottom has the reason; below the matrix it has room."""
    reason = "p.why:visible"
    play: Play = [
        ("scrolls", "html"),
        ("click", X),
        ("type", "abc"),
        ("texts", reason),
        ("line", ""),
        ("press", "Tab"),
        ("wait", ""),
        ("texts", reason),
        ("computed", f"position {reason}"),
    ]
    phone = {"viewport": {"width": 320, "height": 640}}
    ((scrolls, none, line, why, positions),) = played_in(
        chromium, (written(I_LOVE_AI, tmp_path), play, phone)
    )
    assert scrolls[0] == 0
    assert none == []
    assert "abc is not a number" in line
    assert why[0].startswith("abc is not a number")
    assert positions == ["static"]
