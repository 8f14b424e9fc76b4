"""A page as fragments of LaTeX, HTML or Markdown to paste, cut into its sections: one piece for
each slide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from attncli.escaping import visible
from attncli.page.document import Block, Document, Heading
from attncli.render import Style, pieces

START = "start"


def sections(document: Document, format: str, style: Style) -> Iterator[tuple[str, Iterator[str]]]:
    """The name of each section and its text, piece by piece. The text begins with a comment that
    names the section.

    What stands before all headings is the start. What stands between it and the first step is 0,
    and from there the sections are counted. Without `style.title` no section has its headings: a
    slide has its own.
    """
    for name, blocks in _named(document):
        title = document.title if name == START else ""
        headings = [block for block in blocks if isinstance(block, Heading)]
        kept = blocks
        if not style.title:
            kept = [block for block in blocks if not isinstance(block, Heading)]
        if not kept and not (title and style.title):
            continue
        said = [f"{heading.number or ''} {heading.text}".strip() for heading in headings]
        if title:
            said.insert(0, title)
        text = pieces(Document(title, kept), format, style)
        if said:
            text = chain([_comment(" / ".join(said), format)], text)
        yield name, text


def _comment(text: str, format: str) -> str:
    if format in ("html", "markdown"):
        return f"<!-- {visible(text).replace('--', '- -')} -->\n"
    from attncli.render.latex.escape import escape

    return f"% {escape(text)}\n"


def _named(document: Document) -> Iterator[tuple[str, list[Block]]]:
    """The name of each section and its blocks; the start may have none."""
    groups = list(_groups(document.blocks))
    start: list[Block] = []
    if groups and not isinstance(groups[0][0], Heading):
        start = groups.pop(0)
    yield START, start
    with_steps = [place for place, group in enumerate(groups) if any(map(_is_step, group))]
    first = with_steps[0] if with_steps else 0
    if first:
        yield "0", list(chain.from_iterable(groups[:first]))
    for number, group in enumerate(groups[first:], 1):
        yield str(number), group


def _groups(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """The blocks up to each next heading; headings that follow each other begin one group."""
    group: list[Block] = []
    for block in blocks:
        if isinstance(block, Heading) and not all(isinstance(each, Heading) for each in group):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _is_step(block: Block) -> bool:
    return isinstance(block, Heading) and block.number is not None
