"""The script of a live page as one text, made of all its files."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

DATA_FILE = "page/data"
# In the order in which they need each other: a constant of one file may need another file.
MODEL_FILES = (
    "model/fractions",
    "model/numbers",
    "model/printing",
    "model/functions",
    "model/shapes",
    "model/equations",
    "model/magnitudes",
    "model/model",
    "model/typing",
    "model/slider_range",
    "model/not_finite",
    "model/warnings",
    "model/notation",
    "model/relation",
    "model/sentences",
    "model/lookups",
    "model/lines",
)
# These need a document.
PAGE_FILES = (
    "page/elements",
    "page/sections",
    "page/matrices",
    "page/worked_lists",
    "page/remarks",
    "page/edits",
    "page/what_if",
    "page/saving",
    "page/query",
    "page/flow_map",
    "page/one_number",
    "page/quiz",
    "page/controls",
    "page/address",
    "page/page",
)
_FOLDER = Path(__file__).parent / "script"
_NOTES = re.compile(r"/\*\*.*?\*/|^\s*//.*?$", re.DOTALL | re.MULTILINE)
# A statement that stands on several lines goes on after the one, and before the other.
_WRAPPED = re.compile(r"(?<=[,(\[{])\n|,?\n(?=[)\]}])|\n(?=[.?:])")


@cache
def script() -> str:
    """The whole script, in a block of its own."""
    return f'"use strict";{{{script_of((DATA_FILE, *MODEL_FILES, *PAGE_FILES))}\n}}'


def digest() -> str:
    """The script's own hash, which is the only script that the page lets run."""
    return digest_of(script())


def digest_of(text: str) -> str:
    """How a policy calls the script with this text."""
    found = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{found}'"


def script_of(files: Iterable[str]) -> str:
    """Some files in one, without comments, indentation and wrapping."""
    texts = [(_FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in files]
    return "\n".join(map(_without_notes, texts))


def _without_notes(text: str) -> str:
    without = _NOTES.sub("", text.replace('"use strict";\n', ""))
    lines = (line.strip() for line in without.splitlines())
    return _WRAPPED.sub("", "\n".join(line for line in lines if line))
