"""Numbers typed over on a live page, key by key: the page has the number that was written, or the
one from before.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from attncli.problem.loader import load
from tests.page.typed_numbers import Fault, drawn_text, keystrokes, number_typed
from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import I_LOVE_AI, written

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


def left_by(before: float, keys: list[str], end: str) -> tuple[float, str]:
    """The number that an edit leaves, by the grammar, and the fault of what stands in the field."""
    text = ""
    for key in keys:
        text = text[:-1] if key == "Backspace" else text + key
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
        stays_open = bool(fault) and end == "Enter"
        assert page["isOpen"] == stays_open, keys
        is_given_up = bool(fault) and end not in ("Enter", "Escape")
        if not stays_open:  # until the field closes, the page says what became of the number before
            assert bool(page["notice"]) == is_given_up, (keys, end, page["notice"])
        if is_given_up:
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
