"""A changed live page against the page that attncli writes of the file it saves, text by text."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from attncli.cli.main import run as attncli
from attncli.page.live.data import live_data
from attncli.problem.loader import load
from tests.render.browsers import Browser, played
from tests.render.test_live_page import I_LOVE_AI, written

pytestmark = pytest.mark.browser
NUMBERS = (
    "0",
    "-1",
    "2",
    "2.5",
    "1/3",
    "-2/7",
    "sqrt(2)",
    "1e3",
    "-0.0001",
    "40",
    "5.",
    "-0",
    "123456.789",
)
EXTREME = (
    "1e308",
    "-1e308",
    "1e154",
    "1e200",
    "-1e160",
    "1e-320",
    "5e-324",
    "1e-160",
    "1e16",
    "1.7976931348623157e308",
)
# With whole numbers, in which no roundings are left of large numbers that cancel each other out.
WHOLE = (
    "i_love_ai",
    "causal",
    "padding",
    "window",
    "fully_masked",
    "batch",
    "qkv_given",
    "kv_cache",
    "cross_attention",
    "large_scores",
    "base_two",
    "luong",
)
OTHERS = (
    "multi_head",
    "head_masks",
    "torch_mha",
    "grouped_query",
    "bloom_alibi",
    "gpt_oss_sink",
    "gemma2_softcap",
)

ALL = (*WHOLE, *OTHERS)


def spread_over_the_tiers() -> Iterator[Any]:
    """Every second problem, and the others in the slow tier."""
    for at, name in enumerate(ALL):
        yield pytest.param(name, marks=pytest.mark.slow if at % 2 else ())


def drawn_address(problem: Path, seed: int) -> str:
    """Some numbers, the mask and the scale, as the address of a page has them."""
    chosen = random.Random(seed)
    data = live_data(load(str(problem)), 3)
    setting = chosen.choice(data["settings"]) if chosen.random() < 0.6 else data["settings"][0]
    said = {"mask": setting["mask"], "scaled": str(setting["scaled"]).lower()}
    is_extreme = problem.stem in WHOLE and chosen.random() < 0.5
    for at in range(chosen.choice((0, 1, 1, 2, 3))):
        name = chosen.choice(data["given"])
        number = chosen.choice(EXTREME if is_extreme and at == 0 else NUMBERS)
        said[f"{name}.{chosen.randrange(_size(data, name))}"] = number
    if setting["mask"] in ("own", "over"):
        hidden = chosen.sample(
            range(_size(data, data["own"])), k=chosen.randint(0, _size(data, data["own"]))
        )
        said |= {f"{data['own']}.{at}": "0" for at in hidden}
    return f"#!{urlencode(said)}"


def _size(data: dict[str, Any], name: str) -> int:
    array = data["arrays"][name]
    return len(array.get("written", array.get("numbers")))


def must_say_the_same(browser: Browser, problem: Path, address: str, folder: Path) -> None:
    """Everything in sight on the page at this address, and on the page of the file that it
    saves.
    """
    page = written(problem, folder)
    ((live, saved),) = played(
        browser, (page, [("press", "?"), ("told", ""), ("saved", "")]), at=address
    )
    file = folder / "saved.yaml"
    file.write_text(saved, encoding="utf-8")
    static = folder / "saved.html"
    assert attncli(["compute", str(file), "-q", "--static", "-o", str(static)]) == 0
    ((expected,),) = played(browser, (static, [("told", "")]))
    live = _as_saved(live)
    for part, texts in expected.items():
        assert _to_known_digits(live[part]) == _to_known_digits(texts), (
            problem.stem,
            part,
            address,
        )


def _to_known_digits(told: Any) -> Any:
    """The same with 12 digits of each number that is printed with more: those after them are noise
    of floats.
    """
    text = json.dumps(told, ensure_ascii=False)
    return _LONG.sub(lambda found: f"{float(found[0]):.12g}", text)


_LONG = re.compile(r"(?<![0-9.])(?=[0-9.]{14,})[0-9]+(?:\.[0-9]+)?")


def _as_saved(live: dict[str, Any]) -> dict[str, Any]:
    """The same, where the mask that a reader has clicked is called like the only one that there is
    in the file.
    """
    text = json.dumps(live, ensure_ascii=False)
    named: dict[str, Any] = json.loads(text.replace("keep_own", "keep").replace("keep own", "keep"))
    return named


@pytest.mark.parametrize(
    "seeds", [range(1), pytest.param(range(1, 6), marks=pytest.mark.slow)], ids=["few", "many"]
)
@pytest.mark.parametrize("name", [*spread_over_the_tiers()])
def test_a_changed_page_says_what_attncli_says_of_the_file_it_saves(
    chromium: Browser, tmp_path: Path, seeds: range, name: str
) -> None:
    problem = I_LOVE_AI.with_name(f"{name}.yaml")
    for seed in seeds:
        drawn = 100 * seed + ALL.index(name)
        must_say_the_same(chromium, problem, drawn_address(problem, drawn), tmp_path)
