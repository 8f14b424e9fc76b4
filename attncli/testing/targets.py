"""What the name of a function says: a file or a package, and what in it."""

from __future__ import annotations

import os
from typing import Any

from attncli.errors import AttncliError, Exit, reason, usage_error
from attncli.problem.files import open_regular

EXAMPLE = "attncli test my_attention.py:attention"


def target_of(text: str) -> dict[str, Any]:
    """What `FILE.py:NAME` or `package.module:NAME` names, for the process.

    Raises AttncliError: exit 2 where it is neither, 4 where there is no such file.
    """
    place, name = place_and_name(text)
    is_file = place.endswith(".py") or os.path.exists(place)
    if not name.strip():
        example = f"{place}:attention" if is_file else "my_attention.py:attention"
        raise usage_error(f"{text} names no function", help=f"write attncli test {example}")
    if is_file:
        _require_file(place)
        return {"file": os.path.abspath(place), "module": "", "name": name}
    if not all(part.isidentifier() for part in place.split(".")):
        what = f"{place} is neither a file of Python nor the name of a package"
        raise usage_error(what, help=f"write {EXAMPLE}")
    return {"file": None, "module": place, "name": name}


def place_and_name(text: str) -> tuple[str, str]:
    """What stands before the colon, a file or a package, and what stands behind it, or "".

    >>> place_and_name("ada.py:attention"), place_and_name("ada.py")
    (('ada.py', 'attention'), ('ada.py', ''))
    """
    place, _, name = text.partition(":")
    # A drive of Windows has a colon, too.
    if len(place) == 1 and place.isalpha() and name[:1] in ("\\", "/"):
        rest, _, name = name.partition(":")
        place = f"{place}:{rest}"
    return place, name


def _require_file(path: str) -> None:
    try:
        open_regular(path).close()
    except (OSError, ValueError) as error:
        what = f"{path} cannot be read: {reason(error)}"
        raise AttncliError(Exit.FILE, what, help="check the name of the file") from None
