"""What stands in a file of answers and is none: names of students, the date, a note, and the blanks
that it came with.
"""

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
# In other lines, numbers may follow.
_LINE = re.compile(
    rf"""^[ \t"']*{_ANY}(?:[ \t_-]+{_ANY})*[ \t"']*:[^\n\[\]{{}};=]*$""",
    re.IGNORECASE | re.MULTILINE,
)
_COMMENT = re.compile(r"#.*")
# One that begins inside a word is none: to look there, too, takes too long in a long one.
_KEY_OF_STEP = re.compile(r"""(?<!\w)["']?\w+["']?[ \t]*:""")
# What stands in the place of a number, and around it.
_BLANKS = re.compile(r"(?:[\s\[\]{},_~-]|null)*")


def is_remark(key: str, value: Node) -> bool:
    """Whether a key that names no step is one of these, with a text or a number, and no matrix."""
    if not isinstance(value, Leaf) or not _KEY.fullmatch(key):
        return False
    return not is_matrix(value.text)


def is_blank(text: str) -> bool:
    """Whether nothing was written into a file: neither a number nor anything else that is no
    remark.
    """
    answers = _COMMENT.sub("", _LINE.sub("", text))
    return _BLANKS.fullmatch(_KEY_OF_STEP.sub("", answers)) is not None
