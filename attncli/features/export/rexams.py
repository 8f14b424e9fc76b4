"""An exercise of R/exams in R Markdown, of which R makes Moodle, QTI 1.2 and 2.1, OpenOlat, ILIAS,
HTML and PDF.

R runs what stands between backticks, and puts a field wherever it reads ##ANSWER1##. What people
wrote has neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from attncli.features.export.html import readable
from attncli.features.export.question import Blank, Question
from attncli.page.document import Block, Document, Math, Paragraph, Table, Text, with_symbols
from attncli.page.printer import number_node
from attncli.render import Style, render
from attncli.render.cells import BLANK_NUMBER

_NAME = re.compile(r"[^\w ./-]+")
# It stands between two signs, and is not to be seen.
_JOINER = "&#8288;"


def stream(questions: Sequence[Question], category: str) -> Iterator[str]:
    """The file of the one question, section by section."""
    (question,) = questions
    given = (*question.given, Paragraph((question.instruction,)), *question.asked)
    fields = (f"##ANSWER{number}##" for number in range(1, len(question.blanks) + 1))
    yield _section("Question", re.sub(BLANK_NUMBER, lambda _: next(fields), _markdown(given)))
    yield _section("Solution", _markdown(_solution(question)))
    information = {
        "exname": _name(question.title),
        "exsection": _name(category),
        "extype": "cloze",
        "exsolution": "|".join(f"{blank.key:f}" for blank in question.blanks),
        "exclozetype": "|".join("num" for _ in question.blanks),
        "extol": f"{question.asking.tolerance:f}",
    }
    yield _section(
        "Meta-information", "".join(f"{name}: {value}\n" for name, value in information.items())
    )


def _name(text: str) -> str:
    """The letters and digits of a title: it becomes the name of a file."""
    return " ".join(_NAME.sub(" ", readable(text)).split()) or "Attention"


def _section(title: str, text: str) -> str:
    return f"{title}\n{'=' * len(title)}\n\n{text.strip()}\n\n"


def _markdown(blocks: Iterable[Block]) -> str:
    text = render(Document("", tuple(blocks)), "markdown", Style(math="dollars"))
    text = text.replace("\\`", "&#96;").replace("\\#\\#", f"\\#{_JOINER}\\#")
    # R/exams finds exsolution: anywhere.
    return re.sub(r"\b(ex[a-z]+):", r"\1&#58;", text)


def _solution(question: Question) -> Iterator[Block]:
    yield from question.solved
    found: dict[str, tuple[Decimal, Blank, Decimal]] = {}
    for blank in question.blanks:
        for number, mistakes in blank.wrong:
            for mistake in mistakes:
                apart = abs(number - blank.key)
                if mistake not in found or apart > found[mistake][0]:
                    found[mistake] = apart, blank, number
    if found:
        yield Paragraph(
            ("Known mistakes give other numbers. These are furthest from the right ones:",)
        )
        rows = (
            (with_symbols(mistake), (blank.label,), _number(number), _number(blank.key))
            for mistake, (_, blank, number) in found.items()
        )
        yield Table(("mistake", "where", "number", "right"), tuple(rows), right=(2, 3))


def _number(number: Decimal) -> Text:
    return (Math(number_node(f"{number:f}")),)
