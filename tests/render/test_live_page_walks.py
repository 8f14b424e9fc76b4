"""Some random walks over live pages; `tests/tools/walks/run.py` has more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.render.browsers import Browser
from tests.tools.walks.run import pages_of, walks


@pytest.mark.browser
@pytest.mark.parametrize(
    ("kind", "seeds"),
    [
        ("chromium", range(2)),
        pytest.param("chromium", range(2, 12), marks=pytest.mark.slow),
        pytest.param("firefox", range(3), marks=pytest.mark.slow),
    ],
    ids=["few", "many", "firefox"],
)
def test_walks_bring_no_error_and_undo_leads_back(
    opened: Callable[[str], Browser], kind: str, seeds: range, tmp_path: Path
) -> None:
    opened(kind)  # or skip
    pages = pages_of(("i_love_ai", "multi_head"), tmp_path)
    faults = [
        (seed, page.stem, answer["faults"])
        for seed, page, answer in walks(kind, pages, seeds, steps=10)
        if answer["faults"]
    ]
    assert faults == []
