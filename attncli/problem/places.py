"""Where in a file an array was written, for messages: past_K under past, slopes under position."""

from __future__ import annotations

from collections.abc import Mapping

Places = Mapping[str, int]  # offsets into the text, by key

_INSIDE = {"past_K": "past.K", "past_V": "past.V", "slopes": "position.alibi.slopes"}


def path(name: str) -> str:
    """The keys that lead to an array: past.K for past_K."""
    return _INSIDE.get(name, name)


def place(name: str, at: Places) -> int:
    """Where the key stands that holds an array."""
    return at[path(name).partition(".")[0]]
