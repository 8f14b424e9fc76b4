"""JSON for other programs, laid out for people too: strict RFC 8259, one row of a matrix per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from attncli.page.document import Document, Rows
from attncli.render import Style
from attncli.render.labels import unseen

LINE = 100
_NOT_PLAIN = re.compile(r"[^\n -~]")


def render(document: Document, style: Style) -> str:
    """What the document's `data` makes, keys in order; floats are written so that they read back exactly.

    Raises ValueError for a float that is not finite: those have to be strings by now.
    """
    return "".join(stream(document, style))


def stream(document: Document, style: Style) -> Iterator[str]:
    """The same piece by piece, one row of a large matrix at a time."""
    yield from _pieces(document.data(), "")
    yield "\n"


def _escaped(found: re.Match[str]) -> str:
    """What a terminal would obey or not show, and what UTF-8 cannot hold, as JSON escapes."""
    character = found[0]
    return json.dumps(character)[1:-1] if unseen(character) else character


def _pieces(value: object, indent: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        if all(map(_flat, value.values())) and len(indent) + len(short := _dump(value)) <= LINE:
            yield short
            return
        yield from _enclosed("{}", ((f"{_dump(key)}: ", item) for key, item in value.items()), indent)
    elif isinstance(value, list | tuple) and not _flat(value):
        yield from _enclosed("[]", (("", item) for item in value), indent)
    elif isinstance(value, Rows):
        yield from _rows(value.rows(), indent)
    else:
        yield _dump(value)


def _rows(rows: Iterator[Rows] | Iterator[str] | str, indent: str) -> Iterator[str]:
    """Lists of numbers, of which many have to be quick."""
    if isinstance(rows, str):
        yield rows
        return
    deeper = indent + "  "
    before = "["
    for row in rows:
        yield f"{before}\n{deeper}"
        yield from (row,) if isinstance(row, str) else _rows(row.rows(), deeper)
        before = ","
    yield f"\n{indent}]"


def _enclosed(brackets: str, items: Iterable[tuple[str, object]], indent: str) -> Iterator[str]:
    """Items on lines of their own, each with what stands before it."""
    deeper = indent + "  "
    before = brackets[0]
    for head, item in items:
        yield f"{before}\n{deeper}{head}"
        yield from _pieces(item, deeper)
        before = ","
    yield f"\n{indent}{brackets[1]}"


def _flat(value: object) -> bool:
    """Whether a value is a single one or a row of single ones."""
    if isinstance(value, list | tuple):
        return not any(isinstance(item, dict | list | tuple | Rows) for item in value)
    return not isinstance(value, dict | Rows)


def _dump(value: object) -> str:
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    return text if text.isascii() and text.isprintable() else _NOT_PLAIN.sub(_escaped, text)
