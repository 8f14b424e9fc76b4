"""The page of `attncli steps --language`: what an equation can be written with.

All that it says of a function stands in the rows of `equation/functions.py`: its range is worked
out by the row's own rule, of arguments that may be any number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from attncli.equation.functions import FUNCTIONS, OVER_A_LETTER, Function
from attncli.equation.indices import INDICES, KEPT
from attncli.equation.intervals import ANYTHING, Interval
from attncli.equation.parser import parse_expression
from attncli.page.document import Document, Heading, Listing, Math, Paragraph, Table, Text, text
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__

TITLE = "The language of equations"
# A function that is called, exp(x); any other is a sign between numbers.
_CALLED = re.compile(r"[a-z]+\(.*\)")
_ARGUMENTS = "xyz"
_OTHER_NAMES = {
    "d_k": "how long a query and a key are",
    "n_t": "how long the axis of the letter t is; so n_j is the number of keys",
    "pi": "3.14159…: half a turn, in radians",
    "inf": "infinity, as in where(j <= i, x, -inf)",
}
_OWN_LETTER = "any other lower-case letter is yours; it is as long as the axis where it stands"


class Entry(NamedTuple):
    """One function: how it is written, what it is, its smallest and largest number where that is
    known, and what each argument receives of the gradient d of the result.
    """

    name: str
    form: str
    meaning: str
    range: Interval | None
    derivatives: Mapping[str, str]


def language_page() -> Document:
    """Signs, functions, letters and names that an equation can be written with."""
    signs = [row for row in rows() if not _CALLED.fullmatch(row.form)]
    called = [row for row in rows() if _CALLED.fullmatch(row.form)]
    head = ("written", "meaning", "range", "gradient")
    blocks = (
        Paragraph(
            (
                (
                    "An equation is name[letters] = expression. For each place of the letters on"
                    " the left side, the right side says which number stands there."
                ),
            )
        ),
        Heading("Letters"),
        Listing((*_letters(), text(_OWN_LETTER[:1].upper() + _OWN_LETTER[1:]))),
        Heading("Names"),
        Listing(tuple((f"{name}: {meaning}",) for name, meaning in _OTHER_NAMES.items())),
        Paragraph(
            (
                (
                    "A letter outside brackets is its position, counted from 0. A cell of an array"
                    " or of a step has one index for each axis: Q[i, k]. An index may be worked"
                    " out: bias_of[j - i + 2]."
                ),
            )
        ),
        Heading("Signs"),
        Table(head, tuple(map(_line, signs))),
        Heading("Functions"),
        Paragraph(
            (
                (
                    "The last column says what x, y and z receive of d, the gradient of the"
                    " whole expression; φ is the density of the normal distribution."
                ),
            )
        ),
        Table(head, tuple(map(_line, called))),
        Heading("Functions over a letter"),
        Paragraph(("Here, y is the whole expression.",)),
        Table(
            ("written", "meaning", "gradient of x[t]"),
            tuple(
                ((form,), text(meaning), (derivative,))
                for form, meaning, derivative in OVER_A_LETTER.values()
            ),
        ),
    )
    return Document(TITLE, blocks, _data)


def rows() -> tuple[Entry, ...]:
    """The functions that have a form, in the order of FUNCTIONS."""
    return tuple(_row(name, each) for name, each in FUNCTIONS.items() if each.form)


def _row(name: str, function: Function) -> Entry:
    arguments = [letter for letter in _ARGUMENTS if re.search(rf"\b{letter}\b", function.form)]
    rules = function.derivative
    derivatives = {}
    for place, letter in enumerate(arguments if rules else ()):
        # Of more arguments, the last rule holds for all.
        if rule := rules[min(place, len(rules) - 1)]:
            derivatives[letter] = rule
    found = None
    if not function.is_condition:
        found = function.interval(*(ANYTHING for _ in arguments))
    return Entry(name, function.form, function.meaning, found, derivatives)


def _line(row: Entry) -> tuple[Text, ...]:
    return (row.form,), text(row.meaning), (_in_words(row.range),), _gradient(row)


def _gradient(row: Entry) -> Text:
    rules = row.derivatives
    if len(set(rules.values())) == 1:
        return (Math(parse_expression(next(iter(rules.values())))),)
    parts: list[str | Math] = []
    for letter, rule in rules.items():
        parts += [f"{'; ' if parts else ''}{letter}: ", Math(parse_expression(rule))]
    return tuple(parts)


def _in_words(found: Interval | None) -> str:
    """A range with three decimals; nothing for one that is not known, or is every number."""
    if found is None:
        return ""
    low, high = _end(found.low), _end(found.high)
    if low is None and high is None:
        return "every number"
    if high is None:
        return f"from {low:g} on"
    return f"up to {high:g}" if low is None else f"from {low:g} to {high:g}"


def _end(number: float) -> float | None:
    """An end without what was added for rounding; None for one that is beyond all numbers."""
    if math.isinf(number) or abs(number) > 1e300:
        return None
    return round(number, 3) + 0.0


def _letters() -> tuple[Text, ...]:
    return tuple((f"{letter}: {INDICES[letter].meaning}",) for letter in sorted(KEPT))


def _data() -> dict[str, Any]:
    functions = {}
    for row in rows():
        ends = (None, None) if row.range is None else (_end(row.range.low), _end(row.range.high))
        functions[row.name] = {
            "form": row.form,
            "meaning": row.meaning,
            "range": None if row.range is None else list(ends),
            "gradient": dict(row.derivatives),
        }
    over = {
        name: {"form": form, "meaning": meaning, "gradient": derivative}
        for name, (form, meaning, derivative) in OVER_A_LETTER.items()
    }
    letters = {letter: INDICES[letter].meaning for letter in sorted(KEPT)}
    return {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "functions": functions,
        "over_a_letter": over,
        "letters": letters,
        "names": dict(_OTHER_NAMES),
    }
