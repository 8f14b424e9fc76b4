"""A text that a page keeps in a comment, which its readers do not see: there, and back again."""

from __future__ import annotations

import html
from collections.abc import Iterator

_SAID = "The problem of this page, for attncli:"
_COMMENT_BEGINS, _COMMENT_ENDS = f"<!-- {_SAID}\n", "-->\n"
_LATEX_BEGINS, _LATEX_LINE = f"% {_SAID}\n", "% "


def as_comment(text: str) -> str:
    """A kept problem for HTML and Markdown, whose comments end at the first two dashes.

    What looks like a tag is none, for readers too that do not know comments.
    """
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("--", "-&#45;")
    return f"{_COMMENT_BEGINS}{escaped}{_COMMENT_ENDS}"


def as_latex_comment(text: str) -> str:
    """The same for LaTeX, where every line is a comment, in ASCII: other signs stand in texts
    between quotes, where YAML has escapes for them.
    """
    plain = "".join(map(_escaped, text))
    lines = (f"{_LATEX_LINE}{line}\n" for line in plain.splitlines())
    return f"{_LATEX_BEGINS}{''.join(lines)}"


def _escaped(sign: str) -> str:
    return sign if sign.isascii() else f"\\U{ord(sign):08x}"


def places_of_kept(text: str) -> Iterator[tuple[int, int]]:
    """From where to where each kept problem stands in a text."""
    at = text.find(_SAID)
    while at >= 0:
        end = _end(text, at)
        if end is not None:
            yield text.rfind("\n", 0, at) + 1, end
        at = text.find(_SAID, end or at + 1)


def _end(text: str, at: int) -> int | None:
    """Where the problem ends that is said to follow there; None where it is only spoken of."""
    start = text.rfind("\n", 0, at) + 1
    if text.startswith(_COMMENT_BEGINS, start):
        end = text.find(f"\n{_COMMENT_ENDS.strip()}", at)
        return end + len(_COMMENT_ENDS) if end >= 0 else None
    if not text.startswith(_LATEX_BEGINS, start):
        return None
    end = start + len(_LATEX_BEGINS)
    while text.startswith(_LATEX_LINE, end):
        end = text.find("\n", end) + 1 or len(text)
    return end


def kept_text(text: str, start: int, end: int) -> str:
    """The problem between these places, on the lines on which the page has it."""
    # The first line says what follows.
    before = text.count("\n", 0, start) + 1
    _, *lines = text[start:end].splitlines()
    if text.startswith(_LATEX_BEGINS, start):
        kept = [line.removeprefix(_LATEX_LINE) for line in lines]
    else:
        *inside, _ = lines
        kept = [html.unescape(line) for line in inside]
    blank_lines = [""] * before
    return "\n".join([*blank_lines, *kept, ""])
