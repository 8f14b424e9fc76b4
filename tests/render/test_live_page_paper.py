"""A page for browsers on paper: sheets have numbers, and what belongs together stays together."""

from __future__ import annotations

import base64
import shutil
import subprocess
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from attncli.render.html import on_paper
from tests.render.browsers import Browser, Play, played, played_in
from tests.render.test_live_page import I_LOVE_AI, written
from tests.render.test_live_page_for_all import A4
from tests.render.test_live_page_present import SIX

HEADS = I_LOVE_AI.with_name("multi_head.yaml")


def sheets(browser: Browser, page: Path, at: str = "") -> list[str]:
    """The text of each sheet."""
    ((found,),) = played(browser, (page, [("wait", ""), ("pdf", "")]), at=at)
    command = ["pdftotext", "-layout", "-", "-"]
    read = subprocess.run(command, input=base64.b64decode(found), capture_output=True, check=True)
    return read.stdout.decode().split("\f")[:-1]


@pytest.mark.browser
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="no pdftotext")
def test_sheets_have_numbers_and_a_step_is_on_one(chromium: Browser, tmp_path: Path) -> None:
    for file in (I_LOVE_AI, HEADS):
        printed = sheets(chromium, written(file, tmp_path))
        for number, text in enumerate(printed, 1):
            assert text.replace(" ", "").rstrip().endswith(f"{number}/{len(printed)}")
        title = printed[0].strip().splitlines()[0]
        assert all(text.lstrip().startswith(title) for text in printed[1:])
        if file is I_LOVE_AI:
            assert len(printed) == 5
            (scaled,) = (text for text in printed if "Scaled scores" in text)
            assert "5 / √3" in scaled


@pytest.mark.browser
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="no pdftotext")
def test_blanks_are_blank_on_paper(chromium: Browser, tmp_path: Path) -> None:
    at = "#!blank=scores,weights"
    printed = sheets(chromium, written(I_LOVE_AI, tmp_path), at)
    assert printed[0].lstrip().startswith("Name:")
    assert len(printed) < 5
    hidden = (
        "css",
        "color | #step-scaled table:has(caption.unseen) tbody td, #step-weights .asked",
    )
    shown: Play = [("print", ""), hidden, ("shown", ".how, .query")]
    ((inks, lines),) = played(chromium, (written(I_LOVE_AI, tmp_path), shown), at=at)
    assert set(inks) == {"rgba(0, 0, 0, 0)"}
    assert not any(lines)


@pytest.mark.browser
def test_factors_of_six_words_stand_beside_each_other(chromium: Browser, tmp_path: Path) -> None:
    (tmp_path / "six.yaml").write_text(SIX)
    page = written(tmp_path / "six.yaml", tmp_path)
    play: Play = [("print", ""), ("edges", "#step-Q .factor")]
    ((factors,),) = played_in(chromium, (page, play, {"viewport": A4}))
    assert len(factors) == 3
    for (_, _, right, _), (left, _, _, _) in pairwise(factors):
        assert right <= left


@pytest.mark.browser
@pytest.mark.parametrize("name", ["multi_head", "gpt2_layer", "kv_cache"])
def test_no_name_of_the_map_touches_another_one_or_its_matrix(
    chromium: Browser, tmp_path: Path, name: str
) -> None:
    page = written(I_LOVE_AI.with_name(f"{name}.yaml"), tmp_path)
    play: Play = [
        ("edges", ".map em:visible"),
        ("edges", ".map .frame"),
        ("edges", ".map small > span"),
    ]
    ((names, frames, letters),) = played(chromium, (page, play))
    for one, other in combinations(names, 2):
        beside = one[2] + 2 < other[0] or other[2] + 2 < one[0]
        assert beside or one[3] <= other[1] or other[3] <= one[1]
    for (*_, bottom), (_, top, *_) in zip(frames, letters, strict=True):
        assert bottom + 3 <= top


def test_no_title_ends_the_style_sheet() -> None:
    """Its signs are written as numbers."""
    written = on_paper('</style> "one" \\')
    assert "<" not in written
    assert r"\3c \2f style\3e \20 \22 one\22 \20 \5c " in written


@pytest.mark.browser
def test_a_wide_matrix_is_printed_in_blocks_of_columns(chromium: Browser, tmp_path: Path) -> None:
    rows = [[(7 * row + 3 * column) % 5 - 1.25 for column in range(3)] for row in range(20)]
    tokens = [f"word{row}" for row in range(20)]
    (tmp_path / "wide.yaml").write_text(f"tokens: {tokens}\nQ: {rows}\nK: {rows}\nV: {rows}\n")
    page = written(tmp_path / "wide.yaml", tmp_path)
    blocks = "#step-weights .block"
    play: Play = [
        ("printing", "beforeprint"), ("print", ""), ("texts", f"{blocks} thead"),
        ("css", f"fontSize | {blocks} td"), ("shown", "#step-weights .in-blocks"),
        ("printing", "afterprint"), ("texts", f"{blocks}, .in-blocks"),
    ]  # fmt: skip
    ((heads, sizes, whole, after),) = played_in(chromium, (page, play, {"viewport": A4}))
    assert len(heads) > 1
    assert [each for each in " ".join(heads).split() if each.startswith("word")] == tokens
    # In pixels, of which a point has 1.33.
    assert min(float(size.removesuffix("px")) for size in sizes) > 9
    assert whole == [False]
    assert after == []
