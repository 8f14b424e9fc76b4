"""The web site of the documentation: `python docs/site.py` with two examples."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest

from tests.render.browsers import Browser, Play, played_in

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = ("inputs/i_love_ai.yaml", "inputs/causal.yaml")
# The standard library has a module of this name, too: it stays the first.
sys.path.append(str(DOCS))

from website.code_blocks import commands_of  # noqa: E402
from website.contents import entries  # noqa: E402
from website.formulas import mathml  # noqa: E402
from website.links import broken_links  # noqa: E402
from website.live_links import live_pages  # noqa: E402
from website.page import anchor_of  # noqa: E402
from website.places import FRONT, address_of, link  # noqa: E402

LOOKED_AT = (
    FRONT,
    "how-to/masks.html",
    "reference/command-line.html",
    "examples/index.html",
    "files/inputs/causal.yaml.html",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(DOCS / "site.py"), str(folder), *EXAMPLES]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stderr[-2000:]
    return folder


def written_pages(site: Path) -> Iterator[tuple[str, str]]:
    """The pages of the documentation: their addresses and their HTML."""
    for entry in entries():
        yield entry.address, (site / entry.address).read_text(encoding="utf-8")


def test_a_link_is_written_from_page_to_page() -> None:
    assert link("index.html", "how-to/masks.html") == "../index.html"
    assert link("how-to/masks.html#chunks", "how-to/masks.html") == "#chunks"
    assert address_of(DOCS / "decisions" / "README.md") == "decisions/index.html"
    assert address_of(ROOT / "inputs" / "equations") == "examples/index.html#equations"


def test_an_anchor_is_that_of_github() -> None:
    assert anchor_of("Positions, caches, sinks and W_O") == "positions-caches-sinks-and-w_o"
    assert anchor_of("Masks: --as") == "masks---as"


def test_a_formula_is_set() -> None:
    matrix = mathml(r"\begin{pmatrix} \cos α & 1 \\ x & -y \end{pmatrix} = z")
    assert matrix.count("<mtr>") == 2
    assert matrix.count("<mtd>") == 4
    assert '<mi>cos</mi><mspace width="0.17em"/><mi>α</mi>' in matrix
    assert "<mo>−</mo><mi>y</mi>" in matrix
    with pytest.raises(ValueError, match="alpha"):
        mathml(r"\alpha")


def test_commands_are_read_over_several_lines() -> None:
    text = "$ attncli compute \\\n> a.yaml\nI love AI\n$ echo 1\n1\n"
    assert commands_of(text) == ["attncli compute a.yaml", "echo 1"]


@pytest.mark.parametrize(
    ("command", "address"),
    [
        ("attncli compute inputs/causal.yaml", "examples/causal.html"),
        ("attncli compute inputs/causal.yaml --steps mask", "examples/causal.html#step-mask"),
        ("attncli compute inputs/causal.yaml --cell 'mask[AI,I]' | head -n 3", "#step-mask"),
        ("attncli compute inputs/causal.yaml --steps Q,K", "examples/causal.html"),
        ("attncli compute inputs/causal.yaml --scale none", "causal.html#!scaled=false"),
        # These have other numbers, or none.
        ("attncli compute inputs/causal.yaml --rounding paper", ""),
        ("attncli compute inputs/causal.yaml --mask '{window: [1, 0]}'", ""),
        ("attncli compute inputs/window.yaml", ""),
        ("attncli check inputs/causal.yaml answers.yaml", ""),
    ],
)
def test_a_command_leads_to_the_page_that_has_its_numbers(command: str, address: str) -> None:
    written = {ROOT / "inputs" / "causal.yaml": {"step-mask"}}
    (found,) = live_pages([command], written) or ("",)
    assert found.endswith(address)
    assert bool(found) == bool(address)


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="here"></p><a href="a.html#here"></a><a href="https://example.org/"></a>'
        '<a href="b.html"></a><a href="#there"></a><img src="https://example.org/x.png"/>',
        encoding="utf-8",
    )
    assert broken_links(tmp_path) == [
        "a.html: b.html is no file of the site",
        "a.html: #there has no such place",
        "a.html: https://example.org/x.png is asked of a network",
    ]


@pytest.mark.long
def test_every_page_is_whole(site: Path) -> None:
    """Its headings go down one by one, what it shows is there, and nothing is asked of a
    network.
    """
    for address, text in written_pages(site):
        main = text[text.index("<main") :]
        levels = [int(level) for level in re.findall(r"<h(\d)[ >]", main)]
        assert levels[0] == 1, address
        assert levels.count(1) == 1, address
        steps = [after - before for before, after in pairwise(levels)]
        assert all(step <= 1 for step in steps), address
        assert "default-src 'none'" in text, address
        assert not re.search(r"(url\(|@import|style=|\son\w+=)", text.partition("<main")[0])
        # Markdown that was not read.
        prose = re.sub(r"<(pre|code)\b.*?</\1>", "", main, flags=re.DOTALL)
        assert not re.search(r"\]\(|\*\*|```|^\| ", prose, re.MULTILINE), address


@pytest.mark.long
def test_the_order_of_the_pages_is_that_of_their_list(site: Path) -> None:
    pages = dict(written_pages(site))
    assert len(pages) == len(entries()) == len(list(DOCS.rglob("*.md"))) + 1
    tutorial = pages["tutorial.html"]
    assert '<a rel="prev" href="how-to/begin.html"><span>Before</span> Begin</a>' in tutorial
    assert '<a rel="next" href="how-to/worked-solutions.html">' in tutorial
    assert 'aria-current="page">Tutorial</a>' in tutorial
    front = pages[FRONT]
    assert front.index('href="examples/i_love_ai.html#tour"') < front.index(
        'href="tutorial.html"><b>'
    )


@pytest.mark.long
def test_examples_lead_to_live_pages_and_back(site: Path) -> None:
    tutorial = (site / "tutorial.html").read_text(encoding="utf-8")
    assert (
        '<p class="opens"><a href="examples/i_love_ai.html#step-scaled">Open this as a page</a>'
        in tutorial
    )
    page = (site / "examples" / "causal.html").read_text(encoding="utf-8")
    assert '<header>\n<p><a href="index.html">← All examples</a></p>\n' in page
    file = (site / "files" / "inputs" / "causal.yaml.html").read_text(encoding="utf-8")
    assert 'href="../../examples/causal.html">Open this as a page</a>' in file
    assert "tokens" in file


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_search_finds_what_people_look_for(site: Path) -> None:
    asked = {
        "tutorial": "tutorial.html",
        "KV cache": "how-to/kv-cache.html",
        "softcap": "how-to/scores.html",
        "moodle": "how-to/export.html",
        "exit code": "reference/exit-codes-and-errors.html",
        "causal mask": "tutorial.html#what-a-causal-mask-changes",
        "gradescope results": "how-to/mark-functions.html",
        "from left to right": "examples/causal.html",
        "no such words": "",
    }
    scripts = [(site / name).read_text("utf-8") for name in ("search.js", "search_index.js")]
    question = f"""
        const asked = {json.dumps(list(asked))};
        const found = asked.map((words) => Search.find(words, SEARCH_INDEX));
        console.log(JSON.stringify(found));
    """
    script = "\n".join([*scripts, question])
    ran = subprocess.run(["node"], input=script, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr[-2000:]
    for (words, address), found in zip(asked.items(), json.loads(ran.stdout), strict=True):
        first = [each["address"] for each in found[:1]]
        assert first == ([address] if address else []) or first[0].startswith(address), words
        for each in found:
            said = "".join(piece for piece, _ in each["excerpt"])
            assert unescape(said) == said
            assert len(said) < 200


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible(scheme: str, site: Path, chromium: Browser) -> None:
    look: Play = [("wait", ""), ("axe", "")]
    pages = [(site / address, look, {"colorScheme": scheme}) for address in LOOKED_AT]
    assert played_in(chromium, *pages) == [[[]]] * len(pages)


@pytest.mark.browser
@pytest.mark.long
def test_nothing_is_wider_than_a_phone(site: Path, chromium: Browser) -> None:
    look: Play = [("wait", ""), ("wider", "body > *, .bar > *, main > *, main > ul > li")]
    small, usual = ({"viewport": {"width": width, "height": 640}} for width in (320, 390))
    pages = [(site / entry.address, look, small) for entry in entries()]
    pages += [(site / address, look, usual) for address in LOOKED_AT]
    assert played_in(chromium, *pages) == [[[]]] * len(pages)


@pytest.mark.browser
@pytest.mark.long
def test_the_keyboard_searches(site: Path, browser: Browser) -> None:
    search: Play = [
        ("press", "/"),
        ("type", "sliding window"),
        ("hover", ".found a"),
        ("texts", ".find [role=status]"),
        ("press", "ArrowDown"),
        ("press", "Enter"),
        ("click", "h1:has-text('Mask')"),
        ("address", ""),
        ("press", "/"),
        ("type", "xyzzy"),
        ("hover", ".found p"),
        ("texts", ".found"),
        ("press", "Escape"),
        ("shown", ".found"),
        ("focus", ""),
    ]
    ((said, address, nothing, shown, focus),) = played_in(browser, (site / FRONT, search, {}))
    assert re.fullmatch(r"\d+ found", said[0])
    assert address == "#window-only-near-keys"
    assert nothing == ["No page has “xyzzy”."]
    assert shown == [False]
    assert focus == "INPUT"


@pytest.mark.browser
@pytest.mark.long
def test_a_phone_has_the_list_of_pages_on_a_button(site: Path, chromium: Browser) -> None:
    play: Play = [
        ("shown", "#pages"),
        ("click", ".menu"),
        ("shown", "#pages"),
        ("axe", ""),
        ("click", "#pages a:has-text('Round')"),
        ("texts", "h1"),
    ]
    phone = {"viewport": {"width": 390, "height": 844}}
    ((before, after, faults, title),) = played_in(
        chromium, (site / "how-to" / "masks.html", play, phone)
    )
    assert (before, after, faults) == ([False], [True], [])
    assert title == ["Round"]
