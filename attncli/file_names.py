"""Names of files, made of what people wrote, that every system takes: Windows, macOS and Linux."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

# File systems take 255 bytes, and some that encrypt names 143; the suffix is not counted here.
_MOST_BYTES = 120
# These are kept besides letters and digits, of any script.
_KEPT = " ._-"
_DEVICES = frozenset(
    (
        *("con", "prn", "aux", "nul", "conin$", "conout$"),
        *(f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"),
    )
)


def file_names(wanted: Iterable[str], otherwise: str = "file") -> list[str]:
    """A name for each file, without its suffix, as near to what is wanted as every system allows.

    Letters and digits of any script stay. No name is that of a device, and no two are the same, not
    even where capitals or the ways to write an accent do not count. `otherwise` stands for a name
    of which nothing can stay.

        file_names(["Ada", "ada", "a/b", "con"]) == ["Ada", "ada-2", "a_b", "_con"]
    """
    names: list[str] = []
    taken: set[str] = set()
    for each in wanted:
        plain = _plain(each) or otherwise
        name, number = plain, 1
        while _folded(name) in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(_folded(name))
        names.append(name)
    return names


def _plain(text: str) -> str:
    """The text without what some system refuses in the name of a file; perhaps nothing is left."""
    text = unicodedata.normalize("NFC", text)
    text = "".join(sign if _is_kept(sign) else "_" for sign in text)
    # A name that begins with - is taken for an option, and one with a point is hidden.
    text = text.lstrip(" .-").encode()[:_MOST_BYTES].decode(errors="ignore").rstrip(" .")
    return f"_{text}" if is_device(text) else text


def _is_kept(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LMN" or sign in _KEPT


def _folded(name: str) -> str:
    """What two names have in common that some system takes for the same."""
    return unicodedata.normalize("NFC", name).upper().casefold()


def is_device(name: str) -> bool:
    """Whether Windows takes the name for that of a device, whatever comes after its first point."""
    return name.partition(".")[0].rstrip(" ").lower() in _DEVICES
