"""A table that sorts, in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli.page.document import Document, Table
from attncli.render import Style, render
from tests.render.browsers import Browser, played

ROWS = [
    ("Ben", "9.5 / 10"),
    ("Cy", "10 / 10"),
    ("Dai 10", ""),
    ("Dai 9", "8 / 10"),
    ("Ada", "2 / 10"),
]
TABLE = Table(
    ("student", "marks"), tuple(((name,), (marks,)) for name, marks in ROWS), (1,), sorts=True
)
UPWARDS = ["Ada", "Dai 9", "Ben", "Cy", "Dai 10"]
# An empty cell is last, whichever way the others are sorted.
DOWNWARDS = ["Cy", "Ben", "Dai 9", "Ada", "Dai 10"]
# As people sort them: 9 before 10.
BY_NAME = ["Ada", "Ben", "Cy", "Dai 9", "Dai 10"]
# Steps come in the order in which they are worked out.
STEPS = {"Ben": "weights", "Cy": "", "Dai 10": "scores", "Dai 9": "Q", "Ada": "weights"}
RANKS = {"Q": 0, "scores": 1, "weights": 2, "": 3}
BY_STEP = Table(
    ("student", "first wrong number"),
    tuple(((name,), (step,)) for name, step in STEPS.items()),
    sorts=True,
    ranks={1: [RANKS[step] for step in STEPS.values()]},
)


@pytest.mark.browser
def test_a_click_on_a_heading_sorts(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "class.html"
    page.write_text(render(Document("A class", (TABLE,)), "html", Style()), "utf-8")
    names = ("texts", "tbody th")
    marks = ("click", "thead th:nth-child(2) button")
    play = [marks, names, marks, names, ("click", "thead th:nth-child(1) button"), names]
    [found] = played(browser, (page, [*play, ("axe", "")]))
    texts = [each for each in found if isinstance(each, list)]
    assert texts[:3] == [UPWARDS, DOWNWARDS, BY_NAME]


@pytest.mark.browser
def test_a_column_may_be_sorted_by_ranks(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "class.html"
    page.write_text(render(Document("A class", (BY_STEP,)), "html", Style()), "utf-8")
    names = ("texts", "tbody th")
    steps = ("click", "thead th:nth-child(2) button")
    [found] = played(browser, (page, [steps, names, steps, names]))
    texts = [each for each in found if isinstance(each, list)]
    assert texts == [
        ["Dai 9", "Dai 10", "Ben", "Ada", "Cy"],
        ["Ben", "Ada", "Dai 10", "Dai 9", "Cy"],
    ]


def test_a_page_without_such_a_table_has_no_script() -> None:
    plain = Document("A class", (TABLE._replace(sorts=False),))
    assert "<script" not in render(plain, "html", Style())
