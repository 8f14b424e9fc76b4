"""What people write into a file of answers besides the steps: their names, the date, a note."""

from __future__ import annotations

import re

from attncli.problem.text.nodes import Leaf, Node
from attncli.problem.text.pasted.named import is_matrix

_WORDS = (
    "class",
    "comments?",
    "course",
    "date",
    "e-?mail",
    "group",
    "id",
    "matriculation",
    "name",
    "notes?",
    "number",
    "remarks?",
    "student",
    "title",
)
_ANY = rf"(?:{'|'.join(_WORDS)})"
# Matriculation number, student_name.
_KEY = re.compile(rf"\s*{_ANY}(?:[\s_-]+{_ANY})*\s*", re.IGNORECASE)
_LINE = re.compile(rf"""^[ \t]*["']?{_KEY.pattern}["']?[ \t]*:.*""", re.IGNORECASE | re.MULTILINE)


def is_remark(key: str, value: Node) -> bool:
    """Whether a key that names no step is one of these, with a text or a number, and no matrix."""
    if not isinstance(value, Leaf) or not _KEY.fullmatch(key):
        return False
    return not is_matrix(value.text)


def without_remarks(text: str) -> str:
    """The text of a file in YAML without the lines that have such keys."""
    return _LINE.sub("", text)
