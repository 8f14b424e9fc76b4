"""Links of the finished site that lead nowhere, and what its pages would ask a network for."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

_LINK = re.compile(r'<(?P<tag>\w+)\b[^>]*?\s(?:href|src)="(?P<target>[^"]*)"')
_ID = re.compile(r'<[^>]*?\sid="([^"]+)"')
_SCRIPT = re.compile(r"<script\b[^>]*>.*?</script>", re.DOTALL)
# Only a link may lead to another place, and only when somebody follows it.
_ELSEWHERE = re.compile(r"(?:https?:)?//|mailto:")

# What a live page does when it is opened, as does all that begins with !.
_STATES = {"tour"}


def broken_links(site: Path) -> list[str]:
    """Each link that leads nowhere, with the page that it stands on."""
    pages = sorted(site.rglob("*.html"))
    return [fault for page in pages for fault in _faults(page, site)]


def _faults(page: Path, site: Path) -> Iterator[str]:
    text = _SCRIPT.sub(_beginning, page.read_text(encoding="utf-8"))
    for found in _LINK.finditer(text):
        target = found["target"].replace("&amp;", "&")
        fault = _fault(page, site, found["tag"], target)
        if fault:
            yield f"{page.relative_to(site).as_posix()}: {target} {fault}"


def _beginning(script: re.Match[str]) -> str:
    """The tag alone: what a script says is no link."""
    return script[0].partition(">")[0] + ">"


def _fault(page: Path, site: Path, tag: str, target: str) -> str:
    if _ELSEWHERE.match(target):
        return "" if tag == "a" else "is asked of a network"
    if target.startswith("data:"):
        return ""
    address, _, anchor = target.partition("#")
    file = page
    if address:
        file = Path(posixpath.normpath(page.parent / unquote(address)))
    if not file.is_relative_to(site) or not file.is_file():
        return "is no file of the site"
    is_state = anchor.startswith("!") or anchor in _STATES
    if anchor and not is_state and unquote(anchor) not in _anchors(file):
        return "has no such place"
    return ""


@cache
def _anchors(page: Path) -> set[str]:
    return set(_ID.findall(_SCRIPT.sub("", page.read_text(encoding="utf-8"))))
