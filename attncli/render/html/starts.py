"""A page to begin with: several problems in one file, of which a reader chooses one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attncli.page.document import Document
from attncli.render import Style
from attncli.render.html import stream
from attncli.render.html.text import attribute, written

# What stands between a page and its data; no label can have it.
_DATA = '<script type="application/json" id="attncli-live">'
_BODY = "<body>\n"


class Start(NamedTuple):
    """A problem to begin with: its name in the address, what a reader chooses it by, its page."""

    name: str
    title: str
    document: Document


def page_of_starts(starts: Sequence[Start], style: Style) -> str:
    """The page of the first one, with the others in it."""
    first, *others = (_chosen(start, starts, style) for start in starts)
    begin, body, end = first
    templates = []
    for start, (_, inside, rest) in zip(starts[1:], others, strict=True):
        data, closing, _ = rest.partition("</script>")
        stored = f"{inside}{data}{closing}"
        templates.append(f'<template data-start="{attribute(start.name)}">{stored}</template>\n')
    return "".join((begin, body, *templates, end))


def _chosen(start: Start, starts: Sequence[Start], style: Style) -> tuple[str, str, str]:
    """A page with the choice of all of them: its head, its body, its data and the script."""
    pieces = stream(start.document, style)
    html = "".join(pieces)
    head, opening, rest = html.partition(_BODY)
    body, data, script = rest.partition(_DATA)
    choice = _choice(start, starts)
    body = body.replace("</header>", f"{choice}</header>", 1)
    begin = head + opening
    end = data + script
    return begin, body, end


def _choice(chosen: Start, starts: Sequence[Start]) -> str:
    links = []
    for start in starts:
        current = ' aria-current="page"' if start is chosen else ""
        address = attribute(f"#!start={start.name}")
        links.append(f'<a href="{address}"{current}>{written(start.title)}</a>')
    return f'<nav class="starts" aria-label="Begin with">Begin with {" ".join(links)}</nav>\n'
