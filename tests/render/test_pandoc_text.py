"""Labels, titles and names stay text for pandoc: between dollars they begin no list, and labels
keep their signs.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser

import pytest
from pages import HOSTILE, grid, page

from attncli.escaping import visible
from attncli.page.document import Block, Heading, Listing, Paragraph, Table, Worked, WorkedLine
from attncli.render import Style, render

DOLLARS = Style(math="dollars")
FORMATS = ("markdown", "gfm+tex_math_dollars", "commonmark_x")
LABELS = (
    *(text for text in HOSTILE if text.strip() == text and "$" not in text),
    "@cite",
    "[@a]",
    "a^2^",
    "H~2~O",
    "[a]{.b}",
    "{#id}",
    "^[note]",
    "`a`{=tex}",
    "a. x",
    "A.  x",
    "iv) x",
    "XI. x",
    "(a) x",
    "(12) x",
    "(@) x",
    "(@a) x",
    "(C)",
    "#. x",
    "1986. x",
    "12) x",
    "- x",
    "+ x",
    "::: x",
    "::::",
    ": x",
    "Table: x",
    "table: x",
    "---",
    "----",
    "+---+",
    "===",
    "...",
    "a...b",
    'it\'s "q"',
    "'a'",
    '"a"',
    "--",
    "a -- b",
    "x--",
    "\\",
    "\\(x\\)",
    "\\begin{x}",
    "==a==",
    "++a++",
    "&copy;",
    "<!-- -->",
    "-->",
    "www.x.y",
    "me@x.org",
    ":smile:",
    "http://x.y",
    "日本",
)


class Shown(HTMLParser):
    """The tags and the text of a page, without those of formulas, and of columns that are not
    alike.
    """

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kind = dict(attrs).get("class") or ""
        if tag not in ("col", "colgroup") and not kind.startswith("math"):
            self.tags[f"{tag} {kind if tag not in ('tr', 'table') else ''}"] += 1

    def handle_data(self, data: str) -> None:
        self.text += data


def everywhere(written: str) -> tuple[Block, ...]:
    """A text in every place of a page, after a paragraph and beside a table, where other signs mean
    something.
    """
    return (
        Heading(written),
        Paragraph(("before",)),
        Paragraph((written,)),
        Paragraph((written,), kind="note"),
        Table((written,), (((written,),),)),
        Paragraph((written,)),
        Listing(((written,),)),
        Worked((WorkedLine(written, remark=(written,)),)),
        grid("S", (written, "b"), (written, "c"), "1 2", "3 4"),
    )


def by_pandoc(source: str, form: str) -> str:
    ran = subprocess.run(
        ["pandoc", "-f", form, "-t", "html", "--mathjax"],
        input=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.sampled(1, "long")
@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")
@pytest.mark.parametrize("form", FORMATS)
def test_a_text_is_a_text_in_every_place(form: str) -> None:
    pages = (render(page(*everywhere(text)), "markdown", DOLLARS) for text in ("plain", *LABELS))
    source = "\n".join(f"# MARK\n\n{each}" for each in pages)
    plain, *others = (
        Shown(part) for part in re.split(r"<h1[^>]*>MARK</h1>", by_pandoc(source, form))[1:]
    )
    assert len(others) == len(LABELS)
    for text, found in zip(LABELS, others, strict=True):
        assert found.tags == plain.tags, (text, found.tags - plain.tags, plain.tags - found.tags)
        # other signs in a sentence, the same in a label
        has_typography = re.search(r"[\"']|--|\.\.\.", text)
        shown = " ".join(visible(text).split())
        count = " ".join(found.text.split()).count(shown)
        assert count >= (3 if has_typography else 10), (text, count)
