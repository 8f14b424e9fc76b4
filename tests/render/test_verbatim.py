"""Lines of a file on a page: they stand as they were written, in every format."""

from __future__ import annotations

import html
import re

from attncli.page.document import Document, Verbatim
from attncli.render import Style, render

LINE = "  - [1, <2>, `3`, **x** & $a_b$ % ]"
CARET = "          ^"
PAGE = Document("", (Verbatim((LINE, CARET)),))


def test_markdown_has_a_fence_that_no_line_ends() -> None:
    assert render(PAGE, "markdown", Style()) == f"```text\n{LINE}\n{CARET}\n```\n"
    fenced = Document("", (Verbatim(("```", "````")),))
    assert render(fenced, "markdown", Style()) == "`````text\n```\n````\n`````\n"


def test_html_keeps_the_blanks() -> None:
    (shown,) = re.findall("<pre>(.*?)</pre>", render(PAGE, "html", Style()), re.DOTALL)
    assert html.unescape(shown) == f"{LINE}\n{CARET}"


def test_latex_has_a_blank_for_each_blank() -> None:
    shown = render(PAGE, "latex", Style(fragment=True))
    assert r"\ttfamily" in shown
    begin = r"\null{}\ \ -{}\ {[}1,\ $<$2$>$,\ \`{}3\`{},\ "
    assert begin + r"{*}{*}x{*}{*}\ \&\ \$a\_b\$\ \%\ {]}" in shown
    assert r"\null{}" + 10 * r"\ " + r"\^{}" in shown


def test_a_terminal_keeps_the_caret_under_its_letter() -> None:
    line, caret = render(PAGE, "table", Style(width=80)).splitlines()
    assert line.strip() == LINE.strip()
    assert line[caret.index("^")] == LINE[CARET.index("^")]


def test_a_page_in_words_has_the_lines() -> None:
    assert render(PAGE, "table", Style(ascii=True)) == f"{LINE}\n{CARET}\n"
