"""What the name of a function says: a file or a package, and what in it; and what helps where it
cannot be loaded.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from attncli.errors import AttncliError, Exit, did_you_mean, reason, usage_error
from attncli.problem.files import open_regular
from attncli.testing.running.process import FunctionError

EXAMPLE = "my_attention.py:attention"
NO_NAME = re.compile(r"there is no (?P<name>\w+) in it; it has (?P<there>.+)")
NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(?P<name>[\w.]+)'")


def target_of(text: str, command: str = "test", example: str = EXAMPLE) -> dict[str, Any]:
    """What `FILE.py:NAME` or `package.module:NAME` names, for the process.

    `example` is what somebody writes after `command`. Raises AttncliError: exit 2 where it is
    neither, 4 where there is no such file.
    """
    place, name = place_and_name(text)
    is_file = place.endswith(".py") or os.path.exists(place)
    if not name.strip():
        _, _, name = example.partition(":")
        written = f"{place}:{name}" if is_file else example
        raise usage_error(f"{text} names no function", help=f"write attncli {command} {written}")
    if is_file:
        _require_file(place)
        return {"file": os.path.abspath(place), "module": "", "name": name}
    if not all(part.isidentifier() for part in place.split(".")):
        what = f"{place} is neither a file of Python nor the name of a package"
        raise usage_error(what, help=f"write attncli {command} {example}")
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


def way_to_load(error: FunctionError, usual: str) -> str:
    """What to do about a function that cannot be loaded; `usual` where nothing else helps."""
    said = str(error)
    if error.hangs:
        return "if it needs more time, give it some: --seconds 60"
    if "SyntaxError" in said or "IndentationError" in said:
        return "Python cannot read the file: mend this line, or the one above it"
    if missing := NO_MODULE.search(said):
        package = missing["name"].partition(".")[0]
        return f"install it where attncli is: {sys.executable} -m pip install {package}"
    if " is a class: name an object" in said:
        return "between the parentheses stands what the class is made with"
    if lacking := NO_NAME.search(said):
        return did_you_mean(lacking["name"], lacking["there"].split(", "), usual)
    return usual
