"""A page for browsers: one file that asks for nothing else, with formulas in MathML and matrices as
tables.

The sections are `<section id="step-scores">`, the matrices `<table data-array="scores">`, and
worked lines `<li data-cell="0,1">`, so that a program can find them. Numbers are written as
everywhere, but with the sign for minus.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

from attncli.equation.mathml import MATHML
from attncli.equation.notation import UNICODE
from attncli.equation.shapes import product_text
from attncli.escaping import visible
from attncli.kept_text import as_comment
from attncli.page import document as page
from attncli.page.document import formula, plain, sides
from attncli.page.ends import ends_of_picture
from attncli.render import Style
from attncli.render.cells import LONGEST_NAME, left_out_text
from attncli.render.html.how import Beside, How, Pair, Shown, folded, paired
from attncli.render.html.matrix import fits_beside, matrix, opening, product, small_map
from attncli.render.html.text import attribute, cell_label, raised, sentence, signed, written

# No script runs, and nothing is loaded; the icon is there so that no browser asks a server for one.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action"
    " 'none'"
)
UNTITLED = "Attention, worked out"
# Fewer sections need no list of contents, and more of a page of parts have no room in it.
FEW, MANY = 3, 48


class ContentsEntry(NamedTuple):
    """A heading: its block, where it is found, and how deep it is."""

    heading: page.Heading
    id: str
    level: int


def stream(document: page.Document, style: Style) -> Iterator[str]:
    """The page piece by piece, or a section to put into another page where `style.fragment`.

    The headings are looked through first, for the list of contents.
    """
    title = document.title if style.title else ""
    copied = ["copies.css"] if document.copies > 1 else []
    is_sheet = document.to_fill_in is not None
    if is_sheet:
        copied.append("sheet.css")
    if style.fragment:
        styles = "".join(map(stylesheet, ["block.css", *copied]))
        classes = "attncli sheet" if is_sheet else "attncli"
        yield f'<section class="{classes}">\n<style>{styles}</style>\n'
        of_title, level = style.levels(2)
        yield f"<h{of_title}>{written(title)}</h{of_title}>\n" if title else ""
        yield from body(document, level, named=False)
        yield from _copies(document, title, level)
        yield "</section>\n"
        return
    policy, sheets = POLICY, ["page.css", "block.css", *copied]
    small = None
    if document.to_fill_in is not None or document.sorts:
        from attncli.render.html.small_scripts import small_script

        small = small_script(document)
    if small:
        policy, sheets = f"{POLICY}; script-src {small.digest}", [*sheets, *small.sheets]
    if document.live:
        # Most pages have no script.
        from attncli.render.html import live_page, script_text

        policy, sheets = (
            f"{POLICY}; script-src {script_text.digest()}",
            [*sheets, *live_page.SHEETS],
        )
    styles = "".join(map(stylesheet, sheets))
    if document.live:
        styles += live_page.hue_rules()
    if document.copies == 1:
        styles += on_paper(document.title or UNTITLED)
    yield head(document.title, policy, styles)
    hidden = "" if title else ' class="unseen"'
    yield (f'<div class="attncli">\n<header>\n<h1{hidden}>{written(title or UNTITLED)}</h1>\n')
    if document.opening:
        yield f'<p class="opening">{escape(document.opening)}</p>\n'
    yield "</header>\n"
    yield from _contents(entries(document.blocks, 2))
    yield '<main class="sheet">\n' if is_sheet else "<main>\n"
    yield from body(document, 2)
    yield from _copies(document, title, 2)
    yield "</main>\n</div>\n"
    if problem := document.problem():
        yield as_comment(problem)
    if document.live:
        yield from live_page.scripts(document)
    if small:
        yield from small.elements()
    yield "</body>\n</html>\n"


def head(title: str, policy: str, styles: str) -> str:
    """The beginning of a whole page, up to its body."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"/>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f'<meta name="color-scheme" content="light dark"/>\n'
        f"<title>{escape(visible(title or UNTITLED))}</title>\n"
        f'<link rel="icon" href="data:,"/>\n'
        f"<style>{styles}</style>\n</head>\n<body>\n"
    )


def on_paper(title: str) -> str:
    """What stands at the edges of printed sheets: their numbers, and the title from the second on.

    In a string of a style sheet every character may be written as its number, so that none ends it.
    """
    letters = (f"\\{ord(each):x} " if not each.isalnum() else each for each in visible(title))
    look = "font:8pt system-ui,sans-serif;color:#444"
    number = f'@bottom-right{{content:counter(page) " / " counter(pages);{look}}}'
    running = f'@top-left{{content:"{"".join(letters)}";{look}}}'
    return f"@page{{{number}{running}}}@page :first{{@top-left{{content:none}}}}\n"


@cache
def stylesheet(name: str) -> str:
    """A style sheet of `styles/` without its comments and what makes it easy to read."""
    text = (Path(__file__).parent / "styles" / name).read_text(encoding="utf-8")
    without_comments = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    on_one_line = re.sub(r"\s+", " ", without_comments).strip()
    dense = re.sub(r"\s*([{};,])\s*|(?<=\() | (?=\))", r"\1", on_one_line)
    dense = dense.replace(";}", "}").replace(": ", ":")
    return re.sub(r"(?<![\w.])0\.", ".", dense)


def entries(blocks: Iterable[page.Block], level: int) -> Iterator[ContentsEntry]:
    """The headings of a page; in a part they are a level deeper, and their ids begin with the
    part's.
    """
    seen: dict[str, int] = {}
    part, depth = "", level
    for block in blocks:
        if not isinstance(block, page.Heading):
            continue
        name = f"step-{block.step}" if block.step else _slug(block.text)
        if part and not block.part:
            name = f"{part}-{name}"
        seen[name] = seen.get(name, 0) + 1
        id = name
        if seen[name] > 1:
            id = f"{name}-{seen[name]}"
        if block.part:
            part = id
            depth = level + 1
            yield ContentsEntry(block, id, level)
        else:
            yield ContentsEntry(block, id, depth)


def _slug(text: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", text.lower())) or "section"


def _contents(entries: Iterable[ContentsEntry]) -> Iterator[str]:
    """The list of sections. Of a page of parts these with their sections, unless they are too
    many.
    """
    found = list(entries)
    listed = found if len(found) <= MANY else [entry for entry in found if entry.level == 2]
    if len(listed) <= FEW:
        return
    parted = any(entry.level > 2 for entry in listed)
    yield '<nav aria-label="Contents">\n<ol>\n'
    for entry in listed:
        heading = entry.heading
        part = ""
        if parted and entry.level == 2:
            part = ' class="part"'
        number = ""
        if heading.number is not None:
            number = f"<b>{heading.number}</b> "
        yield f'<li{part}><a href="#{entry.id}">{number}{written(heading.text)}</a></li>\n'
    yield "</ol>\n</nav>\n"


def _copies(document: page.Document, title: str, level: int) -> Iterator[str]:
    """The page again, for each further copy; on paper it begins on a new sheet."""
    for copy in range(2, document.copies + 1):
        yield f'<section class="copy sheet" aria-label="Copy {copy}">\n'
        yield f"<h{level - 1}>{written(title)}</h{level - 1}>\n" if title else ""
        yield from body(document, level, named=False)
        yield "</section>\n"


def body(document: page.Document, level: int, *, named: bool = True) -> Iterator[str]:
    """The blocks, each section with all that follows its heading up to the next one; `named` for
    links to it. A page may have two fragments, whose sections have no names.
    """
    headings = entries(document.blocks, level)
    # The levels of the sections that are not closed yet.
    opened: list[int] = []
    topic = document.title
    first = True
    blocks: Iterable[Shown] = paired(document.blocks)
    if document.live:
        blocks = folded(paired(document.blocks))
    for block in blocks:
        if isinstance(block, page.Heading):
            entry, topic = next(headings), block.text
            while opened and opened[-1] >= entry.level:
                opened.pop()
                yield "</section>\n"
            opened.append(entry.level)
            yield f"{section_tag(entry, named=named)}\n{heading(block, entry.level)}"
        else:
            yield from rendered(block, topic, lead=first)
        first = False
    yield "</section>\n" * len(opened)


def section_tag(entry: ContentsEntry, *, named: bool = True) -> str:
    """Where a section begins, with its place on leading axes."""
    block = entry.heading
    place = [f"{letter}={at}" for letter, at in block.place]
    found = {
        "id": entry.id if named else "",
        "class": "part" if block.part else "",
        "data-place": " ".join(place),
    }
    attributes = ""
    for name, value in found.items():
        if value:
            attributes += f' {name}="{attribute(value)}"'
    return f"<section{attributes}>"


def heading(block: page.Heading, level: int) -> str:
    number = ""
    if block.number is not None:
        number = f'<span class="number">{block.number}</span> '
    heading = f"<h{level}>{number}{written(block.text)}</h{level}>"
    if not block.shapes:
        return f"{heading}\n"
    shapes = product_text(block.shapes)
    return f'<hgroup>{heading}<p class="shapes">{shapes}</p></hgroup>\n'


def rendered(block: Shown, topic: str, *, lead: bool = False) -> Iterator[str]:
    """A block; `topic` is the title of its section, `lead` says that it stands at the top of the
    page.
    """
    match block:
        case Pair(said=said, grid=grid):
            yield f'<div class="pair">\n<p>{sentence(said.text)}</p>\n'
            yield from rendered(grid, topic)
            yield "</div>\n"
        case Beside(said=texts, matrices=matrices):
            yield '<div class="beside">\n<div>\n'
            for each in texts:
                yield from rendered(each, topic)
            yield "</div>\n"
            yield from rendered(matrices, topic)
            yield "</div>\n"
        case How(blocks=blocks):
            yield from _how(blocks, topic)
        case page.Paragraph(text=text, kind="text") if lead:
            yield f'<p class="lead">{sentence(text)}</p>\n'
        case page.Paragraph(text=text, kind="text"):
            yield f"<p>{sentence(text)}</p>\n"
        case page.Paragraph(text=text, kind=kind):
            yield (
                f'<aside role="note" class="{kind}"><p><b>{kind.capitalize()}:</b>'
                f" {sentence(text)}</p></aside>\n"
            )
        case page.Formula(equation=equation):
            shown = f'<math display="block">{formula(equation, MATHML)}</math>'
            yield f"{opening('formula', 'Formula', len(formula(equation, UNICODE)))}{shown}</div>\n"
        case page.Worked(lines=lines, left_out=left_out):
            yield '<ul class="worked">\n'
            yield from map(_worked, lines)
            yield "</ul>\n" + _said(left_out)
        case page.Grid(picture="map"):
            yield small_map(block)
        case page.Grid():
            # The digits of a picture have no room.
            grid = ends_of_picture(block) if block.picture else block
            yield from matrix(grid, topic)
            yield _said(grid.left_out)
        case page.Product(instead=instead):
            if fits_beside(block):
                yield from product(block, topic)
            else:
                for each in instead:
                    yield from rendered(each, topic)
        case page.Table():
            yield _table(block, topic)
        case page.Room(lines=lines):
            yield f'<div class="room" aria-hidden="true">{"<br/>" * lines}</div>\n'
        case page.Picture(name=name, draw=draw):
            # Few pages need it, and it takes a while to import.
            from attncli.render.svg import svg

            yield f'<figure data-picture="{name}">{svg(draw(), "inherit")}</figure>\n'
        case page.Listing(items=items, left_out=left_out):
            yield "<ul>\n"
            yield from (f"<li>{sentence(item)}</li>\n" for item in items)
            yield "</ul>\n" + _said(left_out)
        case page.Verbatim(lines=lines):
            shown = "\n".join(map(written, lines))
            yield f"<pre>{shown}</pre>\n"
        # A section writes its own heading.
        case page.Heading():
            pass


def _how(blocks: Iterable[page.Block], topic: str) -> Iterator[str]:
    """It is open on paper and without JavaScript: the script closes it."""
    whose = f'<span class="unseen"> {written(topic)}</span>' if topic else ""
    yield f'<details class="how" open=""><summary>How?{whose}</summary>\n'
    for each in blocks:
        yield from rendered(each, topic)
    yield "</details>\n"


def _said(left_out: page.LeftOut) -> str:
    return f'<p class="legend">{left_out_text(left_out)}</p>\n' if left_out else ""


def _worked(line: page.WorkedLine) -> str:
    work, result = (signed(side) for side in sides(line, UNICODE))
    number = work
    said = ""
    if result:
        relation, _, number = result.partition(" ")
        said = f"{raised(escape(work))} {relation} "
    if number:
        said += f"<b>{raised(escape(number))}</b>"
    if line.remark:
        said += f" <i>{sentence(line.remark)}</i>"
    item = "<li>"
    if line.cell is not None:
        item = f'<li data-cell="{",".join(map(str, line.cell))}">'
    label = ""
    if line.label:
        label = f"<span>{cell_label(line.label)}</span> "
    return f"{item}{label}<span>{said}</span></li>\n"


def _table(table: page.Table, topic: str) -> str:
    """A table of sentences, whose rows are called by their first cell under a heading."""
    heads = table.heads
    with_text = [place for place, head in enumerate(heads) if plain(head)]
    naming = with_text[0] if with_text else 0

    def row(
        cells: Iterable[page.Text], named: Iterable[bool], scope: str, ranks: Mapping[int, int]
    ) -> str:
        written = []
        for place, (cell, is_name) in enumerate(zip(cells, named, strict=True)):
            tag = "td"
            start = "td"
            # A heading without a text would be read aloud as nothing.
            if is_name and plain(cell):
                tag = "th"
                start = f'th scope="{scope}"'
            if place in table.right:
                start += ' class="right"'
            elif place in table.whole and len(plain(cell)) <= LONGEST_NAME:
                start += ' class="whole"'
            if place in ranks:
                start += f' data-rank="{ranks[place]}"'
            said = sentence(cell)
            if scope == "col" and place in table.words:
                said = f'<abbr title="{table.words[place]}">{said}</abbr>'
            written.append(f"<{start}>{said}</{tag}>")
        return "".join(written)

    names_row = [place == naming for place in range(len(heads))]
    rows = []
    for number, cells in enumerate(table.rows):
        ranks = {column: of_rows[number] for column, of_rows in table.ranks.items()}
        rows.append(f"<tr>{row(cells, names_row, 'row', ranks)}</tr>\n")
    body = "".join(rows)
    head = row(heads, [True] * len(heads), "col", {})
    caption = ""
    if topic:
        caption = f'<caption class="unseen">{written(topic)}</caption>'
    shown = (
        f'<table class="rows"{" data-sorts" if table.sorts else ""}>{caption}\n'
        f"<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}</tbody></table>"
    )
    columns = zip(heads, *table.rows, strict=True)
    least = sum(max(map(_longest, column)) for column in columns)
    return f"{opening('scroll', f'Table: {topic}', least)}{shown}</div>\n"


def _longest(text: page.Text) -> int:
    """How wide the longest part is that a browser does not break, with the gap after it."""
    longest = 0
    for piece in text:
        said = plain((piece,)) if isinstance(piece, page.Math) else piece
        for word in said.split(" "):
            longest = max(longest, len(word))
    return longest + 2
