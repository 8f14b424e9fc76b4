"""JSON for other programs, laid out for people too: strict RFC 8259, one row of a matrix per line."""

from __future__ import annotations

import json
import re

from attncli.page.document import Document
from attncli.render import Style
from attncli.render.labels import unseen

LINE = 100
_NOT_PLAIN = re.compile(r"[^\n -~]")


def render(document: Document, style: Style) -> str:
    """What the document's `data` makes, keys in order; floats are written so that they read back exactly.

    Raises ValueError for a float that is not finite: those have to be strings by now.
    """
    text = _lay_out(document.data(), "")
    return _NOT_PLAIN.sub(_escaped, text) + "\n"


def _escaped(found: re.Match[str]) -> str:
    """What a terminal would obey or not show, and what UTF-8 cannot hold, as JSON escapes."""
    character = found[0]
    return json.dumps(character)[1:-1] if unseen(character) else character


def _lay_out(value: object, indent: str) -> str:
    deeper = indent + "  "
    if isinstance(value, dict) and value:
        short = _dump(value)
        if all(map(_flat, value.values())) and len(indent) + len(short) <= LINE:
            return short
        items = [f"{_dump(key)}: {_lay_out(item, deeper)}" for key, item in value.items()]
        return _enclose("{", items, "}", indent)
    if isinstance(value, list | tuple) and not _flat(value):
        return _enclose("[", [_lay_out(item, deeper) for item in value], "]", indent)
    return _dump(value)


def _flat(value: object) -> bool:
    """Whether a value is a single one or a row of single ones."""
    if isinstance(value, list | tuple):
        return not any(isinstance(item, dict | list | tuple) for item in value)
    return not isinstance(value, dict)


def _enclose(opening: str, items: list[str], closing: str, indent: str) -> str:
    lines = f",\n{indent}  ".join(items)
    return f"{opening}\n{indent}  {lines}\n{indent}{closing}"


def _dump(value: object) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)
