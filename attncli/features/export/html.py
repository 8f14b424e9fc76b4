"""The blocks of a question as HTML with nothing but tables and paragraphs, which every learning platform keeps.

What people wrote comes out letter for letter. Every sign that HTML, Markdown, LaTeX or Cloze could take for their own
is an entity, so the same text is safe in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from attncli.equation.notation import UNICODE
from attncli.equation.printer import write, write_number
from attncli.page.document import Block, Cell, Grid, Paragraph, Table, plain
from attncli.render.escaping import label, visible

_SIGN = re.compile(r"""[!"#$%&'*<>@\[\\\]`{|}~]|(?<!\w)_|_(?!\w)|-(?=-)|(?<=-)-|\.(?=\.)""")  # not W_Q, nor -1
_NOT_IN_XML = re.compile("[\ufffe\uffff]")


def readable(text: str) -> str:
    """What a person wrote, on one line, with escapes for all that XML cannot have or that nobody would see."""
    return _NOT_IN_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text))


def literal(text: str) -> str:
    """The same for HTML and Markdown: no sign of it means anything there."""
    return _SIGN.sub(lambda found: f"&#{ord(found[0])};", readable(text))


def html(blocks: Iterable[Block], blanks: Iterator[str]) -> str:
    """The blocks, line by line, with the next of these in every cell without a text."""
    return "\n".join(line for block in blocks for line in _lines(block, blanks))


def _lines(block: Block, blanks: Iterator[str]) -> Iterator[str]:
    match block:
        case Paragraph(text=text):
            yield f"<p>{literal(plain(text))}</p>"
        case Grid(name=name, rows=rows, columns=columns, cells=cells):
            head = [write(name, UNICODE), *map(label, columns or [""])]
            lines = ([_cell(cell, blanks) for cell in row] for row in cells)
            yield from _table(head, zip(map(label, rows), lines, strict=True))
        case Table(heads=heads, rows=rows):
            lines = ([f"<td>{literal(plain(cell))}</td>" for cell in row[1:]] for row in rows)
            yield from _table(map(plain, heads), zip((plain(row[0]) for row in rows), lines, strict=True))


def _cell(cell: Cell, blanks: Iterator[str]) -> str:
    number = literal(write_number(cell.text, UNICODE)) if cell.text else next(blanks)
    return f'<td style="text-align: right">{number}</td>'


def _table(head: Iterable[str], rows: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    yield '<table border="1" cellpadding="4">'
    names = (f'<th scope="col">{literal(name)}</th>' for name in head)
    yield f"<tr>{''.join(names)}</tr>"
    for name, cells in rows:
        yield f'<tr><th scope="row">{literal(name)}</th>{"".join(cells)}</tr>'
    yield "</table>"
