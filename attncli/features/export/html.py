"""The blocks of a question as HTML with nothing but tables and paragraphs, which every learning
platform keeps.

What people wrote comes out letter for letter. Every sign that HTML, Markdown, LaTeX or Cloze could
take for their own is an entity, so the same text is safe in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from attncli.equation.nodes import Expression
from attncli.equation.notation import UNICODE
from attncli.equation.printer import write, write_number
from attncli.escaping import label, visible
from attncli.page.document import (
    Block,
    Cell,
    Formula,
    Grid,
    Heading,
    Listing,
    Math,
    Paragraph,
    Picture,
    Product,
    Room,
    Table,
    Text,
    Verbatim,
    Worked,
)

# The underscore of W_Q is no sign, nor is the minus of -1.
_SIGN = re.compile(r"""[!"#$%&'*<>@\[\\\]`{|}~]|(?<!\w)_|_(?!\w)|-(?=-)|(?<=-)-|\.(?=\.)""")
# The index of W_Q and d_model.
_INDEX = re.compile(r"(?<=\b[A-Za-z])_(\w+)")
_NOT_IN_XML = re.compile("[\ufffe\uffff]")


def readable(text: str) -> str:
    """What a person wrote, on one line, with escapes for all that XML cannot have or that nobody
    would see.
    """
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
            yield f"<p>{sentence(text)}</p>"
        case Grid(name=name, rows=rows, columns=columns, cells=cells):
            labels = [literal(label(column)) for column in columns or [""]]
            lines = []
            for row, cells_of_row in zip(rows, cells, strict=True):
                fields = [_cell(cell, blanks) for cell in cells_of_row]
                lines.append((literal(label(row)), fields))
            yield from _table([_math(name), *labels], lines)
        case Table(heads=heads, rows=rows):
            lines = []
            for first, *others in rows:
                fields = [f"<td>{sentence(cell)}</td>" for cell in others]
                lines.append((sentence(first), fields))
            yield from _table(map(sentence, heads), lines)
        # Questions have none of these.
        case (
            Heading()
            | Formula()
            | Worked()
            | Product()
            | Listing()
            | Verbatim()
            | Room()
            | Picture()
        ):
            pass


def sentence(text: Text) -> str:
    """A sentence, whose formulas have lower indices."""
    return "".join(
        _math(piece.expression) if isinstance(piece, Math) else literal(piece) for piece in text
    )


def _math(expression: Expression) -> str:
    """An expression of the program's own, with its indices lower: d<sub>k</sub>."""
    return _INDEX.sub(r"<sub>\1</sub>", literal(write(expression, UNICODE)))


def _cell(cell: Cell, blanks: Iterator[str]) -> str:
    number = literal(write_number(cell.text, UNICODE)) if cell.text else next(blanks)
    return f'<td style="text-align: right">{number}</td>'


def _table(head: Iterable[str], rows: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    yield '<table border="1" cellpadding="4" style="border-collapse: collapse">'
    names = (f'<th scope="col">{name}</th>' for name in head)
    yield f"<tr>{''.join(names)}</tr>"
    for name, cells in rows:
        yield f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>'
    yield "</table>"
