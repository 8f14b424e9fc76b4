"""Labels, titles and names are text on GitHub: no address, @name, #number or commit is a link, no
:emoji: a picture.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from pages import grid, page

from attncli.answers.reader import read_answers
from attncli.escaping import label, visible
from attncli.page.derivation import derivation
from attncli.page.document import Heading, Listing, Paragraph, Table, Worked, WorkedLine
from attncli.page.view import View
from attncli.problem.loader import loads
from attncli.problem.text.source import decode
from attncli.render import Style, render
from attncli.render.markdown import stream
from attncli.tracing import run

cmarkgfm = pytest.importorskip("cmarkgfm", reason="cmarkgfm, GitHub's own parser, is not installed")
from cmarkgfm.cmark import Options  # noqa: E402

# What GitHub does to the text of a page after its Markdown was read, as github/html-pipeline
# documents it.
FILTERS = {
    "name": r"(?<![A-Za-z0-9_`])@[a-z0-9][a-z0-9-]*",
    "issue": r"(?:[\w-]+/[\w-]+)?#[0-9]+\b",
    "issue by GH": r"(?i:\bgh-)[0-9]+\b",
    "emoji": r":[a-z0-9+_-]+:",
    "commit": r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b",
}
KNOWN = (
    "www.x.y",
    "WWW.example.com",
    "(www.a.b)",
    "http://x.y",
    "https://ab.cd/e_f?g=h&i",
    "ftp://x.y/z",
    "HTTPS://X.Y",
    "me@x.org",
    "a_b+c.d@e-f.org",
    "mailto:me@x.org",
    "xmpp:a@b.c/d",
    "git@github.com:a/b",
    "@octocat",
    "@a/team",
    "#123",
    "a/b#45",
    "GH-12",
    "gh-7",
    "1a2b3c4",
    "a1" * 20,
    "owner@1a2b3c4d5e",
    ":smile:",
    ":+1:",
    ":e-mail:",
    ":100:",
    "a:b_c:d",
    "12:30:45",
)
PIECES = (
    "www.",
    "http://",
    "@",
    "#",
    ":",
    "a",
    "x_y",
    "1",
    "abc123d",
    ".org",
    "/",
    " ",
    "-",
    "gh-",
    "(",
    "*",
    "_",
    "<",
    "é",
)


class Shown(HTMLParser):
    """The texts of a page, each as browsers have it between two tags or comments, and the links and
    pictures in it.
    """

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = [""]
        self.cells: list[str] = [""]
        self.links: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts.append("")
        self.cells += [""] * (tag not in ("strong", "a"))
        self.links += [str(attrs)] * (tag in ("a", "img"))

    def handle_endtag(self, tag: str) -> None:
        self.texts.append("")

    def handle_comment(self, data: str) -> None:
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        self.texts[-1] += data
        self.cells[-1] += data

    @property
    def filtered(self) -> list[str]:
        """What GitHub's filters would make links or pictures of."""
        return [
            f"{what}: {found[0]}"
            for what, pattern in FILTERS.items()
            for text in self.texts
            for found in re.finditer(pattern, text)
        ]


def on_github(source: str) -> Shown:
    return Shown(
        cmarkgfm.github_flavored_markdown_to_html(source, options=Options.CMARK_OPT_UNSAFE)
    )


def everywhere(written: str) -> list[str]:
    """A text in every place of a page; what GitHub shows in them."""
    document = page(
        Heading(written),
        Paragraph((written,)),
        Paragraph((written,), kind="note"),
        Table((written,), (((written,),),)),
        Listing(((written,),)),
        Worked((WorkedLine(written, remark=(written,)),)),
        grid("S", (written, "b"), (written, "c"), "1 2", "3 4"),
    )
    document = replace(document, title=written)
    for math in ("fences", "dollars"):
        found = on_github("".join(stream(document, Style(math=math))))  # type: ignore[arg-type]
        assert found.links == [], (written, found.links)
        assert found.filtered == [], (written, found.filtered)
    cells = [
        re.sub(r"\s+", " ", cell).strip() for cell in on_github(render(document, "markdown")).cells
    ]
    return [cell for cell in cells if cell]


def drawn(draw: random.Random) -> str:
    pieces = [
        draw.choice(KNOWN) if draw.random() < 0.3 else draw.choice(PIECES)
        for _ in range(draw.randint(1, 5))
    ]
    return "".join(pieces).strip() or "a"


@pytest.mark.parametrize("written", KNOWN)
def test_nothing_known_becomes_a_link(written: str) -> None:
    cells = everywhere(written)
    shown = re.sub(r"\s+", " ", visible(written))
    assert cells.count(shown) == 8
    assert f"{label(written)}: {shown}" in cells


@pytest.mark.parametrize("seed", range(3))
def test_drawn_texts_become_no_links(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(60):
        written = drawn(draw)
        cells = everywhere(written)
        assert cells.count(re.sub(r"\s+", " ", visible(written)).strip()) >= 7, (written, cells)


def test_the_oracle_makes_links_of_them() -> None:
    for written in KNOWN:
        found = on_github(written)
        is_text = written.startswith("WWW.")  # here; other programs are less strict
        assert is_text or found.links or found.filtered, written


def test_labels_are_read_back() -> None:
    tokens = ["www.x.y", "me@x.org", "#123", ":smile:", "abc123d"]
    rows = [[1, 0]] * len(tokens)
    problem = loads(f"tokens: {tokens}\nQ: {rows}\nK: {rows}\nV: {rows}\n".encode(), "p.yaml")
    trace = run(problem)
    text = render(derivation(trace, View(detail="brief")), "markdown")
    answers = read_answers(decode(text.encode(), "p.md"), trace)
    assert answers.steps["weights"].complete
