"""A reader of Moodle's embedded answers (Cloze), written from its documentation, and how Moodle
marks a number.

https://docs.moodle.org/en/Embedded_Answers_(Cloze)_question_type:
{1:NUMERICAL:=0.5:0.1~%0%2:0.1#Feedback}. A backslash before }, ~ or # takes its meaning away. Of
the answers the first that the number is near enough to counts.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from xml.etree import ElementTree

_BLANK = re.compile(
    r"\{(\d*):(NUMERICAL|NM|SHORTANSWER|SA|MW|MULTICHOICE|MC)[A-Z_]*:((?:\\.|[^\\}])*)\}", re.DOTALL
)
_ANSWER = re.compile(r"(=|%(-?\d+)%)?(-?\d+(?:\.\d*)?)(?::(\d+(?:\.\d*)?))?(?:#(.*))?", re.DOTALL)


@dataclass(frozen=True)
class Answer:
    share: float
    number: float
    tolerance: float
    feedback: str  # as HTML


@dataclass(frozen=True)
class Blank:
    answers: tuple[Answer, ...]

    def marked(self, number: float) -> Answer | None:
        """The answer that counts for a number."""
        near = (
            each for each in self.answers if abs(number - each.number) <= each.tolerance + 1e-12
        )
        return next(near, None)


@dataclass(frozen=True)
class ClozeQuestion:
    name: str
    text: str  # as HTML, with {#1} in place of the first blank
    blanks: tuple[Blank, ...]

    @property
    def words(self) -> str:
        """What a student reads."""
        return html.unescape(
            re.sub(r"<[^>]*>", " ", re.sub(r"<sub>(.*?)</sub>", r"_\1", self.text))
        )


def read(xml: str) -> tuple[str, list[ClozeQuestion]]:
    """The category, and the Cloze questions, of a file in Moodle XML."""
    root = ElementTree.fromstring(xml)
    assert root.tag == "quiz"
    first, *others = root
    assert first.get("type") == "category"
    assert all(each.get("type") == "cloze" for each in others)
    return first.findtext("category/text") or "", [_question(each) for each in others]


def _question(element: ElementTree.Element) -> ClozeQuestion:
    text = element.find("questiontext")
    assert text is not None
    assert text.get("format") == "html"
    found: list[Blank] = []

    def blank(match: re.Match[str]) -> str:
        assert match[2] == "NUMERICAL"
        found.append(Blank(tuple(map(_answer, re.split(r"(?<!\\)~", match[3])))))
        return f"{{#{len(found)}}}"

    return ClozeQuestion(
        element.findtext("name/text") or "",
        _BLANK.sub(blank, text.findtext("text") or ""),
        tuple(found),
    )


def _answer(text: str) -> Answer:
    found = _ANSWER.fullmatch(text)
    assert found, text
    share = 1.0 if found[1] == "=" else float(found[2] or 0) / 100
    feedback = re.sub(r"\\(.)", r"\1", html.unescape(found[5] or ""))
    return Answer(share, float(found[3]), float(found[4] or 0), feedback)
