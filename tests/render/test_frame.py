"""A page inside a notebook: the frame, what stands for it where frames are not allowed, and what
runs in it.
"""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import attncli
from tests.render.browsers import Browser, Play, played
from tests.render.test_live_page import I_LOVE_AI

HOSTILE = "</script></iframe></pre>\"' &quot; <img src=x onerror=alert(1)>"


class Parts(HTMLParser):
    """The attributes of the frame, and the text outside of it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.frame: dict[str, str | None] = {}
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "iframe":
            self.frame = dict(attrs)

    def handle_data(self, data: str) -> None:
        if self.tags[-1] == "pre":
            self.text += data


def hostile() -> attncli.Trace:
    return attncli.trace(title=HOSTILE, tokens=[HOSTILE], Q=[[1]], K=[[2]], V=[[3]])


@pytest.mark.long
def test_the_frame_has_the_page_and_the_text_beside_it_the_derivation() -> None:
    page = attncli.trace(I_LOVE_AI).page(height=500)
    parts = Parts(page._repr_html_())
    assert parts.tags == ["style", "iframe", "pre"]
    assert parts.frame["title"] == "I love AI"
    assert parts.frame["sandbox"] == "allow-scripts allow-downloads"
    assert parts.frame["height"] == "500"
    assert parts.frame["srcdoc"] == page.html.replace(
        "<head>\n", '<head>\n<base href="about:srcdoc"/>\n'
    )
    assert "2·2 + 0·1 + 1·1 = 5\n" in parts.text
    assert "(53.3 %)." in parts.text


@pytest.mark.long
def test_the_page_is_the_one_of_the_command_line(tmp_path: Path) -> None:
    from attncli.cli.main import run

    assert run(["compute", str(I_LOVE_AI), "-o", str(tmp_path / "page.html")]) == 0
    trace = attncli.trace(I_LOVE_AI)
    assert trace.page().html == (tmp_path / "page.html").read_text(encoding="utf-8")
    assert run(["compute", str(I_LOVE_AI), "--static", "-o", str(tmp_path / "static.html")]) == 0
    assert trace.page(static=True).html == (tmp_path / "static.html").read_text(encoding="utf-8")


def test_what_cannot_be_worked_out_again_has_no_script() -> None:
    trace = attncli.trace(I_LOVE_AI)
    for static in (
        attncli.Trace.from_dict(trace.to_dict()),
        attncli.trace(I_LOVE_AI.with_name("batch.yaml")).at(entry=0),
    ):
        assert static.problem is None
        assert "<script" not in static.page().html
    gradient = attncli.trace(I_LOVE_AI, gradient=True).page()
    assert "cannot be changed: gradients are worked out by attncli alone." in gradient.html
    assert "Gradient of the keys" in gradient.text
    assert "<script" not in gradient.html


@pytest.mark.parametrize("height", [0, -1, "tall", True, 2.5])
def test_a_height_that_is_none(height: Any) -> None:
    with pytest.raises(attncli.AttncliError, match="height cannot be") as caught:
        attncli.trace(I_LOVE_AI).page(height=height)
    assert caught.value.exit_code == 2


@pytest.mark.long
def test_labels_are_text_in_the_frame_and_beside_it() -> None:
    page = hostile().page()
    parts = Parts(page._repr_html_())
    assert parts.tags == ["style", "iframe", "pre"]
    assert parts.frame["title"] == HOSTILE
    assert HOSTILE in parts.text
    assert "<img" not in (parts.frame["srcdoc"] or "")


@pytest.mark.browser
def test_the_frame_is_live_and_asks_for_nothing(browser: Browser, tmp_path: Path) -> None:
    notebook, unknown = tmp_path / "notebook.html", tmp_path / "hostile.html"
    start = '<!DOCTYPE html><meta charset="utf-8"><p>Out[1]:</p>'
    notebook.write_text(start + attncli.trace(I_LOVE_AI).page()._repr_html_(), encoding="utf-8")
    unknown.write_text(start + hostile().page()._repr_html_(), encoding="utf-8")
    cell = "table[data-array=X] tbody td"
    edited: Play = [
        ("shown", "pre"),
        ("frame", ""),
        ("click", cell),
        ("type", "1/3"),
        ("press", "Enter"),
        ("wait", ""),
        ("press", "?"),
        ("texts", "#step-Q .worked li"),
        ("saved", ""),
        ("click", "nav a >> nth=2"),
        ("texts", "h1"),
    ]
    read: Play = [
        ("texts", "p"),
        ("shown", "iframe"),
        ("frame", ""),
        ("texts", "h1"),
        ("texts", "img"),
    ]
    (text, lines, saved, titles), (words, frames, heading, images) = played(
        browser, (notebook, edited), (unknown, read)
    )
    assert text == [False]
    assert "1/3·1 + 0·0 + 1·1 + 0·0 ≈ 1.333" in lines[0]
    assert "X: [[1/3, 0, 1, 0]" in saved
    assert titles == ["I love AI"]
    assert (words, frames, images) == (["Out[1]:"], [True], [])
    assert [title.strip() for title in heading] == [HOSTILE]


@pytest.mark.browser
def test_without_a_frame_and_on_paper_the_text_is_shown(chromium: Browser, tmp_path: Path) -> None:
    """As in a notebook that nobody trusts, which takes the frame away, and keeps or takes the
    style.
    """
    shown = attncli.trace(I_LOVE_AI).page()._repr_html_()
    frame = shown[shown.index("<iframe") : shown.index("</iframe>") + len("</iframe>")]
    whole, untrusted = tmp_path / "whole.html", tmp_path / "untrusted.html"
    whole.write_text(shown, encoding="utf-8")
    untrusted.write_text(shown.replace(frame, ""), encoding="utf-8")
    printed: Play = [("print", ""), ("shown", "pre"), ("shown", "iframe")]
    found = played(chromium, (untrusted, [("shown", "pre")]), (whole, printed))
    assert found == [[[True]], [[True], [False]]]
