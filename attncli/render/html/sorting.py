"""The script of a page with tables that are sorted by a click."""

from __future__ import annotations

from functools import cache

from attncli.render.html.script_text import digest_of, script_of

SORTING_FILE = "sorting/sorting"


@cache
def script() -> str:
    """The whole script, in a block of its own."""
    return f'"use strict";{{{script_of((SORTING_FILE,))}\n}}'


def digest() -> str:
    """The script's own hash, which is the only script that the page lets run."""
    return digest_of(script())
