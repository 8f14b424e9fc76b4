"""Where in a file an array was written, for messages: past_K at past.K, slopes at position.alibi.slopes."""

from __future__ import annotations

from collections.abc import Mapping

from attncli.problem import nodes as tree
from attncli.problem.keys import ARRAYS

Places = Mapping[str, int]  # offsets into the text, by the keys that lead there: past, past.K


def places_in(mapping: tree.Mapping, before: str = "") -> dict[str, int]:
    """Where each key of a mapping stands, and each of the mappings in it."""
    found = {f"{before}{key}": at for key, at in mapping.keys.items()}
    for key, node in mapping.values.items():
        if isinstance(node, tree.Mapping):
            found |= places_in(node, f"{before}{key}.")
    return found


def path(name: str) -> str:
    """The keys that lead to an array, past.K for past_K; a key itself."""
    return ARRAYS[name].path if name in ARRAYS else name


def place(name: str, at: Places) -> int:
    """Where the key stands that holds an array."""
    return at[path(name)]
