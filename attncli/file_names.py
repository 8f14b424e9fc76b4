"""Names of files that every system takes: Windows, macOS and Linux. Names that attncli makes are
such names; of a name that somebody typed, this says what Windows has against it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import PureWindowsPath

# File systems take 255 bytes, and some that encrypt names 143; the suffix is not counted here.
_MOST_BYTES = 120
# No name has them on Windows, nor any sign of control.
_FORBIDDEN = '<>:"|?*'
# These are kept besides letters and digits, of any script.
_KEPT = " ._-'’"
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


def against_windows(path: str) -> tuple[str, str] | None:
    """Why Windows writes no file of this path, or one of another name, and the path to use instead;
    None where all is well.

    A device alone, such as NUL, is one that somebody means.

        against_windows("w/a?.md") == ("Windows allows no ? in a name", "w/a_.md")
    """
    if path.lower() in _DEVICES:
        return None
    drive = PureWindowsPath(path).drive
    whys: list[str] = []
    better = drive
    for part in re.split(r"([/\\])", path[len(drive) :]):
        why = _against_name(part)
        if why:
            whys.append(why)
        better += _mended(part) if why else part
    return (whys[0], better) if whys else None


def _against_name(name: str) -> str:
    """What Windows has against a name in a path; "" where it takes it as it is."""
    if name in ("", ".", "..", "/", "\\"):
        return ""
    forbidden = next(filter(_is_forbidden, name), None)
    if forbidden == ":":
        return "Windows takes what stands after : for a part that is hidden in a file"
    if forbidden is not None:
        shown = forbidden if forbidden.isprintable() else "control character"
        return f"Windows allows no {shown} in a name"
    if name[-1] in " .":
        return "Windows leaves out a point or a blank at the end of a name"
    if is_device(name):
        return f"Windows takes {name.partition('.')[0]} for a device"
    return ""


def _mended(name: str) -> str:
    """The name, changed no more than Windows needs."""
    allowed = "".join("_" if _is_forbidden(sign) else sign for sign in name)
    whole = allowed.rstrip(" .") or "file"
    return f"_{whole}" if is_device(whole) else whole


def _is_forbidden(sign: str) -> bool:
    return sign in _FORBIDDEN or sign < " "


def is_device(name: str) -> bool:
    """Whether Windows takes the name for that of a device, whatever comes after its first point."""
    return name.partition(".")[0].rstrip(" ").lower() in _DEVICES
