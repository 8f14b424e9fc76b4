"""What a page says before its steps: what they mean in words, a small heat map, what is given, and
the shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from attncli.attention.registry import in_symbols
from attncli.equation.nodes import Name
from attncli.page.document import Block, Heading, Math, Paragraph, Text
from attncli.page.grid import grid
from attncli.page.notes_and_summary import WORDS, flow_of_shapes, in_words
from attncli.page.printer import Printer
from attncli.page.view import View
from attncli.problem.parts.axes import LEADING
from attncli.tracing.model import Step, Trace

# A matrix with more rows or columns is no small map.
MOST_ROWS_OF_A_MAP, MOST_COLUMNS_OF_A_MAP = 16, 32
# What a row stands for, by the letter of its axis.
ROWS = {"i": "query", "j": "key", "u": "token of the cache", "s": "new token"}


def overview(printer: Printer, view: View) -> Iterator[Block]:
    """What a whole trace means, what is given, and the shapes; each of several heads has words of
    its own.
    """
    trace = printer.trace
    has_words = trace.is_plain and not trace.leading_letters and not view.blank
    if has_words:
        yield from words(printer, view, WORDS)
    given: Text = ()
    if view.short and view.detail != "brief":
        given = given_in_words(trace)
    flow = flow_of_shapes(trace)
    if flow:
        between = (" ",) if given else ()
        yield Paragraph((*given, *between, "Shapes: ", *flow))
    # A short page has said it of the weights, and a sheet to fill in has no room for it.
    is_to_be_said = not view.short and not view.blank
    if is_to_be_said and (learned := learned_in_words(trace)):
        yield Paragraph(learned)


def words(printer: Printer, view: View, title: str) -> Iterator[Block]:
    """A plain trace in words, and the map of its weights."""
    yield Heading(title)
    yield in_words(printer)
    if view.short and view.detail != "brief":
        yield from _map(printer)


def _map(printer: Printer) -> Iterator[Block]:
    """The weights as shades, where they are few and not all in one cell."""
    weights = printer.trace.steps["weights"]
    rows, columns = weights.shape
    if rows > MOST_ROWS_OF_A_MAP or columns > MOST_COLUMNS_OF_A_MAP:
        return
    if prod(weights.shape) > 1:
        yield grid(printer, weights, heatmap=True)._replace(closed=(), picture="map")


def given_in_words(trace: Trace) -> Text:
    """X has a row for each token; the weights that a model learns are W_Q, W_K and W_V.

    Empty where nothing is given that this can be said of.
    """
    given = _known(trace)
    said: list[Text] = []
    rows = list(_rows(given, in_one_sequence=trace.self_attention))
    if rows:
        said.append(_joined(rows, ", "))
    weights = _weights(given)
    # A problem's own arrays may be further weights.
    has_own = any(step.rule.own for step in trace.steps.values() if step.rule.given)
    if weights and not has_own:
        # A bias is one row.
        has_biases = any(step.name.startswith("b_") for step in weights)
        what = "weights and biases" if has_biases else "weights"
        said.append((f"the {what} that a model learns are ", *_names(weights)))
    if not said:
        return ()
    sentence = _joined(said, "; ")
    first = sentence[0]
    if isinstance(first, str):
        sentence = (first[0].upper() + first[1:], *sentence[1:])
    return (*sentence, ".")


def learned_in_words(trace: Trace) -> Text:
    """Where the numbers of weights come from; empty where none are given.

    A model learns W_Q, W_K and W_V in training; here they are given.
    """
    weights = _weights(_known(trace))
    if not weights:
        return ()
    here = "they are" if len(weights) > 1 else "it is"
    return ("A model learns ", *_names(weights), f" in training; here {here} given.")


def _known(trace: Trace) -> list[Step]:
    """The given matrices that are no arrays of a problem's own."""
    given = [step for step in trace.steps.values() if step.rule.given]
    return [step for step in given if not step.rule.own and _letter_of_rows(step)]


def _weights(given: Sequence[Step]) -> list[Step]:
    """Those whose rows are of no token."""
    return [step for step in given if _letter_of_rows(step) not in ROWS]


def _letter_of_rows(step: Step) -> str:
    """The axis of its rows in one head; empty for what is a number there."""
    own = [letter for letter in step.rule.target.letters if letter not in LEADING]
    return own[0] if own else ""


def _rows(given: Sequence[Step], *, in_one_sequence: bool) -> Iterator[Text]:
    """Q has a row for each query, K and V have a row for each key."""
    words = dict(ROWS)
    if in_one_sequence:
        words["i"] = words["j"] = "token"
    for word in dict.fromkeys(words.values()):
        steps = [step for step in given if words.get(_letter_of_rows(step)) == word]
        if steps:
            has = "has" if len(steps) == 1 else "have"
            yield (*_names(steps), f" {has} a row for each {word}")


def _names(steps: Sequence[Step]) -> Text:
    """Q, K and V, as formulas."""
    found: list[str | Math] = []
    for number, step in enumerate(steps, 1):
        if found:
            found.append(" and " if number == len(steps) else ", ")
        symbol = in_symbols(Name(step.name), step.rule.symbols)
        found.append(Math(symbol))
    return tuple(found)


def _joined(parts: Sequence[Text], sign: str) -> Text:
    first, *others = parts
    found = list(first)
    for part in others:
        found += [sign, *part]
    return tuple(found)
