"""What a picture is made of: the trace, or each of its heads, with numbers as pages print them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attncli.english import count, listed
from attncli.errors import usage_error
from attncli.page.in_words import MOST_KEYS_NAMED, largest, query_in_words
from attncli.page.printer import Printer, format_number
from attncli.page.view import place_title
from attncli.problem.parts.axes import BATCH, HEAD, KEY_HEAD, LEADING
from attncli.tracing.model import Trace, hidden_beside
from attncli.tracing.slices import axis_length, trace_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

# One picture has room for so many heads, of all entries of a batch.
MOST_PARTS = 64
# The options that choose a head or an entry.
OPTIONS = {BATCH: "--entry", HEAD: "--head", KEY_HEAD: "--head"}
# A description names so many queries one by one.
MOST_QUERIES_NAMED = 8


class Part(NamedTuple):
    """One head of a trace, or the whole trace where there are none; `title` says which."""

    title: str
    trace: Trace
    precision: int

    @property
    def printer(self) -> Printer:
        return Printer(self.trace, self.precision)

    def text(self, step: str, *index: int) -> str:
        """A number as it is printed in a page, with a minus sign of its own: −1.414."""
        return typeset(self.printer.text(self.trace.steps[step], index))

    def number(self, value: float) -> str:
        """A number of the picture's own, printed like those of the trace."""
        return typeset(format_number(value, self.precision))

    def queries(self, only: int | None) -> Sequence[int]:
        """The queries of the picture: one, or all of them."""
        return range(len(self.trace.tokens)) if only is None else [only]


class Drawn(NamedTuple):
    """The heads and the queries that a picture has room for, and what it says of the others."""

    parts: Sequence[Part]
    queries: Sequence[int]
    left_out: Sequence[str]

    @property
    def each(self) -> list[tuple[Part, int]]:
        """Head by head, all of its queries."""
        return [(part, row) for part in self.parts for row in self.queries]


def choose_drawn(parts: Sequence[Part], only: int | None, room: int) -> Drawn:
    """What is drawn where there is room for so many queries: of each head the same queries.

    They are evenly apart, from the first to the last; if there is room for one, it is the last.
    """
    rows = parts[0].queries(only)
    shown = parts[:room]
    number = min(len(rows), room // len(shown))
    said: list[str] = []
    if len(shown) < len(parts):
        said.append(
            f"The first {len(shown)} of {len(parts)} heads or entries; --head or --entry draws"
            " another."
        )
    if number < len(rows):
        which = "The last query"
        if number > 1:
            which = f"{number} of {len(rows):,} queries, from the first to the last"
        said.append(f"{which}; --query draws another.")
    queries = _evenly(rows, number)
    return Drawn(shown, queries, said)


def _evenly(rows: Sequence[int], number: int) -> list[int]:
    """So many of these rows."""
    last = len(rows) - 1
    if number == 1:
        return [rows[last]]
    steps = number - 1
    found: list[int] = []
    for place in range(number):
        at = round(place * last / steps)
        found.append(rows[at])
    return found


def typeset(number: str) -> str:
    """A printed number as people write it: −∞ for -inf."""
    return number.replace("inf", "∞").replace("-", "−").replace("nan", "NaN")


def parts_of(trace: Trace, precision: int, step: str = "weights") -> list[Part]:
    """The heads that a step has, each alone.

    Raises AttncliError (exit 2) where they are too many for one picture.
    """
    own = trace.leading_letters if step == "weights" else own_axes(trace, step)
    if not own:
        return [Part("", trace, precision)]
    lengths = [axis_length(trace, letter) for letter in own]
    number = prod(lengths)
    if number > MOST_PARTS:
        options = [f"{option} 0" for letter, option in OPTIONS.items() if letter in own]
        raise usage_error(
            f"a picture has room for {MOST_PARTS} heads, and this problem has {number:,} in all",
            help=f"choose with {' and '.join(options)}",
        )
    places = [dict(zip(own, place, strict=True)) for place in product(*map(range, lengths))]
    return [Part(place_title(place), trace_at(trace, place), precision) for place in places]


def own_axes(trace: Trace, step: str) -> tuple[str, ...]:
    """The leading axes of a step, of which each place is a picture of its own.

    A step that has one number for each head has none.
    """
    letters = trace.steps[step].rule.target.letters
    leading = tuple(letter for letter in letters if letter in LEADING)
    return leading if leading != letters else ()


def name_of_key(trace: Trace, key: int) -> str:
    """A key in a sentence: "love", or "a" (key 3) where others are called alike."""
    label = trace.context_tokens[key]
    if trace.context_tokens.count(label) > 1:
        return f'"{label}" (key {key})'
    return f'"{label}"'


def named_keys(trace: Trace, keys: Sequence[int], own: int | None = None) -> str:
    """Keys in a sentence, "a", itself and "b", or how many they are.

    `own` is the key of the query's own token.
    """
    if len(keys) > MOST_KEYS_NAMED:
        return f"{len(keys):,} keys"
    names = ["itself" if key == own else name_of_key(trace, key) for key in keys]
    return listed(names)


def attention_in_words(parts: Sequence[Part], only: int | None = None) -> str:
    """How each query spreads its attention, as a page says in words.

    Of many queries, it is which keys are most often the one with the largest weight.
    """

    def sentences(part: Part) -> Iterator[str]:
        return _attention(part, only)

    return _in_words(parts, sentences)


def _in_words(parts: Sequence[Part], sentences: Callable[[Part], Iterator[str]]) -> str:
    """Sentences of each head, after its title."""
    said: list[str] = []
    for part in parts:
        words = " ".join(sentences(part))
        if words:
            said.append(f"{part.title}: {words}" if part.title else words)
    return " ".join(said)


def _attention(part: Part, only: int | None) -> Iterator[str]:
    queries = part.queries(only)
    if len(queries) > MOST_QUERIES_NAMED:
        yield from _heaviest(part, queries)
        return
    for row in queries:
        said = query_in_words(part.trace, row)
        # The last one is about the output.
        yield from said[:-1] or said


def _heaviest(part: Part, queries: Sequence[int]) -> Iterator[str]:
    weights = part.trace["weights"].astype(np.float64)
    rows = [row for row in queries if np.isfinite(weights[row]).all() and weights[row].any()]
    yield from _often_heaviest(part.trace, [largest(weights[row]) for row in rows])
    without = len(queries) - len(rows)
    if without:
        yield f"{count(without, 'query', 'queries')} without weights."


def _often_heaviest(trace: Trace, tops: Sequence[Sequence[int]]) -> Iterator[str]:
    """Which keys are most often the heaviest one; `tops` are the heaviest keys of each query."""
    often = Counter(top[0] for top in tops if len(top) == 1)
    if often:
        said: list[str] = []
        for key, number in often.most_common(3):
            name = name_of_key(trace, key)
            queries = count(number, "query", "queries")
            said.append(f"{name} for {queries}")
        keys = ", ".join(said)
        yield f"The key with the largest weight is {keys} of {len(tops):,}."
    equal = len(tops) - often.total()
    if equal:
        have = count(equal, "query has", "queries have")
        yield f"{have} several keys with the largest weight."


def largest_scores_in_words(parts: Sequence[Part]) -> str:
    """Which key has the largest score of each query; of many queries, the largest score of all."""
    return _in_words(parts, _largest)


def _largest(part: Part) -> Iterator[str]:
    scores = visible_numbers(part.trace, "scores")
    finite = np.isfinite(scores)
    scores = np.where(finite, scores, -np.inf)
    rows = np.flatnonzero(finite.any(axis=-1)).tolist()
    if len(rows) > MOST_QUERIES_NAMED:
        rows = [int(scores.max(axis=-1).argmax())]
    for row in rows:
        top = largest(scores[row])
        seen = np.count_nonzero(finite[row])
        which = "the same score" if 1 < len(top) == seen else "its largest score"
        number = part.text("scores", row, top[0])
        keys = named_keys(part.trace, top)
        yield f'"{part.trace.tokens[row]}" has {which}, {number}, with {keys}.'


def extremes_in_words(parts: Sequence[Part], step: str) -> str:
    """The largest and the smallest number of a step, and where they are."""
    return _in_words(parts, lambda part: _extremes(part, step))


def _extremes(part: Part, step: str) -> Iterator[str]:
    values = visible_numbers(part.trace, step)
    finite = values[np.isfinite(values)]
    if not finite.size:
        return
    low, high = finite.min(), finite.max()
    if low == high:
        yield f"Every number is {part.number(float(low))}."
        return
    for word, value in (("largest", high), ("smallest", low)):
        first, *others = np.argwhere(values == value).tolist()
        names = zip(part.trace.steps[step].labels, first, strict=True)
        where = listed([f'"{labels[at]}"' for labels, at in names], last="")
        if others:
            where += f", and {count(len(others), 'other cell')}"
        yield f"The {word} number is {part.text(step, *first)} ({where})."


def visible_numbers(trace: Trace, step: str) -> NDArray[np.float64]:
    """The numbers of a step; where it has queries by keys, NaN for those that the mask hides."""
    hidden = hidden_cells(trace, step)
    values = trace[step].astype(np.float64)
    return values if hidden is None else np.where(hidden, np.nan, values)


def hidden_cells(trace: Trace, step: str) -> NDArray[np.bool_] | None:
    """Which numbers of a step of queries by keys the mask hides.

    None for other steps, and without a mask.
    """
    found = trace.steps[step]
    if found.rule.axis_names[-2:] != ("query", "key"):
        return None
    return hidden_beside(trace.steps, found)
