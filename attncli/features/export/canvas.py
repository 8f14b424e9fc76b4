"""The text of a quiz for text2qti, which makes QTI of it that Canvas imports: one question for each
number.

Canvas has neither several numbers in a question nor an answer for each wrong number. So the problem
stands before its questions, and what is said of a wrong answer lists the numbers that known
mistakes give.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from attncli.equation.nodes import Name
from attncli.escaping import label
from attncli.features.export.html import html, literal, readable, sentence
from attncli.features.export.question import Blank, Question
from attncli.page.document import Math, Paragraph, plain

# Canvas takes no smaller bound.
_SMALLEST_BOUND = Decimal("0.0001")


def stream(questions: Sequence[Question], category: str) -> Iterator[str]:
    """The file, question by question."""
    yield f"Quiz title: {readable(category).strip()}\n\n"
    number = 0
    for problem, question in enumerate(questions, 1):
        before = f"Problem {problem}. " if len(questions) > 1 else ""
        said = html((*question.given, Paragraph((question.instruction,))), iter(()))
        yield f"Text title: {before}{readable(question.title)}\n"
        yield f"Text: <p><b>{before}{literal(question.title)}</b></p>\n{_indented(said)}\n\n"
        for blank in question.blanks:
            number += 1
            yield _question(number, before, blank, question)


def _question(number: int, before: str, blank: Blank, question: Question) -> str:
    title, symbol = blank.step.rule.title, plain((Math(Name(blank.step.rule.symbol)),))
    asked = (
        f"{number}.  {before}{literal(f'{title} {symbol}: {_place(blank)}')}"
        f" {literal(question.instruction)}"
    )
    wrong = (f"- **{one.number:f}** comes out if {sentence(one.explained)}" for one in blank.wrong)
    feedback = (
        f"-   Numbers that known mistakes give:\n\n{_indented(chr(10).join(wrong))}\n"
        if blank.wrong
        else ""
    )
    answer = _bounds(blank.key, question.asking.tolerance)
    return f"Title: {readable(blank.label)}\n{asked}\n{feedback}=   {answer}\n\n"


def _place(blank: Blank) -> str:
    """row 1 (I), column 2 (love): so that no two questions are the same, even if labels are."""
    step = blank.step
    if not step.shape:
        return "the number."
    is_column = len(step.shape) == 1 and step.rule.axis_names[0] in ("query", "key")
    words = ["row"] if is_column else ["row", "column"][-len(step.shape) :]
    leading = len(step.shape) - len(words)
    said = [
        labels[place]
        for labels, place in zip(step.labels[:leading], blank.index[:leading], strict=True)
    ]
    rest = zip(words, step.labels[leading:], blank.index[leading:], strict=True)
    said += [f"{word} {place + 1} ({label(labels[place])})" for word, labels, place in rest]
    return f"{', '.join(said)}."


def _bounds(key: Decimal, tolerance: Decimal) -> str:
    """What is right: 0.333 +- 0.0015; where a bound would be 0, which text2qti does not take, both
    bounds.
    """
    low, high = key - tolerance, key + tolerance
    if min(abs(low), abs(high)) >= _SMALLEST_BOUND:
        return f"{key:f} +- {tolerance:f}"
    low, high = (
        (low if abs(low) >= _SMALLEST_BOUND else -_SMALLEST_BOUND),
        (high if abs(high) >= _SMALLEST_BOUND else _SMALLEST_BOUND),
    )
    return f"[{low:f}, {high:f}]"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))
