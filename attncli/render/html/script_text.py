"""The script of a live page as one text, made of all its files.

Pages have its short form, `script/short.txt`, which a minifier has made: a third less to send. The
form says of which script it is made, and where that is another by now, pages have the long one.
"""

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
    "sizes/origins",
    "sizes/labels",
    "sizes/rule_lengths",
    "sizes/differences",
    "sizes/sizes",
    "model/given_numbers",
    "model/model",
    "sizes/saved",
    "model/typing",
    "pasted/numbers",
    "pasted/rows",
    "pasted/lists",
    "pasted/drawn",
    "pasted/latex",
    "pasted/pasted",
    "model/slider_range",
    "model/not_finite",
    "model/warnings",
    "model/notation",
    "model/relation",
    "model/sentences",
    "model/lookups",
    "model/lines",
    "model/signs",
)
# These need a document.
PAGE_FILES = (
    "page/elements",
    "page/keys",
    "page/sections",
    "page/filling",
    "page/matrices",
    "page/worked_lists",
    "page/remarks",
    "page/field",
    "page/edits",
    "page/words",
    "page/pasting",
    "sizes/tables",
    "sizes/resizing",
    "what_if/comparison",
    "what_if/panel",
    "what_if/what_if",
    "what_if/softmax_row",
    "page/sharing",
    "page/saving",
    "page/undo",
    "page/compare",
    "query/key_hues",
    "query/where_it_looks",
    "query/weights_bar",
    "query/output_sum",
    "query/looks",
    "query/heads",
    "query/query",
    "map/way",
    "map/map_layout",
    "map/squares",
    "map/flow_map",
    "page/strip",
    "one_number/outlines",
    "one_number/said_of_number",
    "one_number/walk",
    "one_number/held_number",
    "one_number/one_number",
    "teaching/aim",
    "teaching/steps_of_cards",
    "teaching/tour_cards",
    "teaching/tour",
    "teaching/dragging",
    "teaching/moving",
    "teaching/sharpness",
    "asking/judging",
    "asking/shown_part",
    "asking/quiz",
    "asking/blanks",
    "reading/in_words",
    "reading/columns",
    "reading/how",
    "reading/paper",
    "lecture/screens",
    "lecture/lecture_number",
    "lecture/darkness",
    "lecture/lecture_keys",
    "lecture/present",
    "page/controls",
    "page/address",
    "page/page",
)
_FOLDER = Path(__file__).parent / "script"
SHORT = _FOLDER / "short.txt"
_NOTES = re.compile(r"/\*\*.*?\*/|^\s*//.*?$", re.DOTALL | re.MULTILINE)
# A statement that stands on several lines goes on after the one, and before the other.
_WRAPPED = re.compile(r"(?<=[,(\[{])\n|,?\n(?=[)\]}])|\n(?=[.?:])")


@cache
def script() -> str:
    """The whole script of a page."""
    long = long_script()
    said, _, short = SHORT.read_text(encoding="utf-8").partition("\n")
    return short if said == digest_of(long) else long


def long_script() -> str:
    """The same as it was written, in a block of its own."""
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
