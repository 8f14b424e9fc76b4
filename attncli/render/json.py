"""JSON for other programs, laid out for people too: strict RFC 8259, one row of a matrix per
line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TypeAlias

from attncli.escaping import unseen
from attncli.page.document import Document, Lazy
from attncli.render import Style

RowWriter: TypeAlias = Callable[[object], str]
LONGEST_LINE = 100
_NOT_PLAIN = re.compile(r"[^\n -~]")


def stream(document: Document, style: Style) -> Iterator[str]:
    """What the document's `data` makes, keys in order, row by row; floats are written so that they
    read back exactly.

    Raises ValueError for a float that is not finite: those have to be strings by now.
    """
    yield from _pieces(document.data(), "")
    yield "\n"


def _escaped(found: re.Match[str]) -> str:
    """What a terminal would obey or not show, and what UTF-8 cannot hold, as JSON escapes."""
    character = found[0]
    return json.dumps(character)[1:-1] if unseen(character) else character


def _pieces(value: object, indent: str, write: RowWriter | None = None) -> Iterator[str]:
    """A value as JSON; `write` is for what stands on one line, where that is not to be `_dump`."""
    if isinstance(value, dict) and value:
        if all(map(_flat, value.values())):
            short = _dump(value)
            if len(indent) + len(short) <= LONGEST_LINE:
                yield short
                return
        entries = ((f"{_dump(key)}: ", item) for key, item in value.items())
        yield from _enclosed("{}", entries, indent)
    elif isinstance(value, Lazy):
        items = (("", item) for item in value)
        yield from _enclosed("[]", items, indent, _row_writer())
    elif isinstance(value, list | tuple) and not _flat(value):
        items = (("", item) for item in value)
        yield from _enclosed("[]", items, indent)
    else:
        yield (write or _dump)(value)


def _enclosed(
    brackets: str, items: Iterable[tuple[str, object]], indent: str, write: RowWriter | None = None
) -> Iterator[str]:
    """Items on lines of their own, each with what stands before it."""
    deeper = indent + "  "
    before = brackets[0]
    for head, item in items:
        yield f"{before}\n{deeper}{head}"
        yield from _pieces(item, deeper, write)
        before = ","
    yield f"\n{indent}{brackets[1]}"


def _flat(value: object) -> bool:
    """Whether a value is a single one or a row of single ones."""
    if isinstance(value, list | tuple):
        return not any(isinstance(item, dict | list | tuple | Lazy) for item in value)
    return not isinstance(value, dict | Lazy)


def _dump(value: object) -> str:
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    return text if text.isascii() and text.isprintable() else _NOT_PLAIN.sub(_escaped, text)


@cache
def _row_writer() -> RowWriter:
    """Writes a row of a large matrix: orjson does where it is installed, to the same text."""
    try:
        import orjson
    except ImportError:
        return _dump

    def write(row: object) -> str:
        text: str = orjson.dumps(row).decode()
        # Python spells very small and very large numbers otherwise: 1e-05 for 0.00001, 1e+16 for
        # 1e16.
        return _dump(row) if "e" in text or "0.0000" in text else text.replace(",", ", ")

    return write
