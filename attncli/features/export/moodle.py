"""Moodle XML: a category and a Cloze question for each problem, whose every blank has a wrong
answer for each mistake.

Of a blank's answers Moodle takes the first that a number is near enough to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from attncli.features.export.html import html, readable, sentence
from attncli.features.export.question import Blank, Question
from attncli.page.document import Paragraph

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n'


def stream(questions: Sequence[Question], category: str) -> Iterator[str]:
    """The file, question by question."""
    yield _HEAD
    place = _text(f"$course$/top/{category}")
    yield f'<question type="category">\n<category>{place}</category>\n</question>\n'
    for question in questions:
        blanks = (cloze(blank, question) for blank in question.blanks)
        blocks = (*question.given, Paragraph((question.instruction,)), *question.asked)
        yield (
            f'<question type="cloze">\n<name>{_text(question.title)}</name>\n'
            '<questiontext format="html"><text><![CDATA['
            f"\n{html(blocks, blanks)}\n]]></text></questiontext>\n"
            '<generalfeedback format="html"><text></text></generalfeedback>\n'
            "<penalty>0</penalty>\n</question>\n"
        )
    yield "</quiz>\n"


def _text(text: str) -> str:
    return f"<text>{escape(readable(text), quote=False)}</text>"


def cloze(blank: Blank, question: Question) -> str:
    """{1:NUMERICAL:=0.333:0.0015~%0%0.117:0.0015#This number comes out if the scores were not
    scaled.}
    """
    tolerance = f":{question.asking.tolerance:f}"
    # Moodle reads the entities of feedback before it takes it as HTML: it has to have them twice.
    said = (
        escape(sentence(("This number comes out if ", *one.explained)), quote=False)
        for one in blank.wrong
    )
    wrong = (
        f"~%0%{one.number:f}{tolerance}#{feedback}"
        for one, feedback in zip(blank.wrong, said, strict=True)
    )
    return f"{{1:NUMERICAL:={blank.key:f}{tolerance}{''.join(wrong)}}}"
