"""What a picture is made of: the trace, or each of its heads, with the numbers as every page prints
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attncli.english import count, listed
from attncli.errors import usage_error
from attncli.page.in_words import MOST_KEYS, largest, percent
from attncli.page.printer import Printer, format_number
from attncli.page.view import place_title
from attncli.problem.parts.axes import BATCH, HEAD, KEY_HEAD, LEADING
from attncli.tracing.model import Trace, masked_out
from attncli.tracing.slices import axis_length, trace_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

# heads, of all entries of a batch
MOST_PARTS = 64
OPTIONS = {BATCH: "--entry", HEAD: "--head", KEY_HEAD: "--head"}  # which choose a part
# queries that a description names one by one
MOST_SAID = 8


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
    """The heads and the queries that a picture has room for, and what its legend says of those left
    out.
    """

    parts: Sequence[Part]
    queries: Sequence[int]
    left_out: Sequence[str]

    @property
    def each(self) -> list[tuple[Part, int]]:
        """Head by head, all of its queries."""
        return [(part, row) for part in self.parts for row in self.queries]


def choose_drawn(parts: Sequence[Part], only: int | None, room: int) -> Drawn:
    """What is drawn where there is room for so many queries of all heads together: of each head the
    same queries.

    They are evenly apart, from the first to the last; if there is room for one, it is the last.
    """
    rows, shown = parts[0].queries(only), parts[:room]
    number = min(len(rows), room // len(shown))
    last = len(rows) - 1
    kept = [
        rows[round(place * last / (number - 1)) if number > 1 else last] for place in range(number)
    ]
    said = []
    if len(shown) < len(parts):
        said.append(
            f"The first {len(shown)} of {len(parts)} heads or entries; --head or --entry draws"
            " another."
        )
    if number < len(rows):
        which = (
            f"{number} of {len(rows):,} queries, from the first to the last"
            if number > 1
            else "The last query"
        )
        said.append(f"{which}; --query draws another.")
    return Drawn(shown, kept, said)


def typeset(number: str) -> str:
    """A printed number as people write it: −∞ for -inf."""
    return number.replace("inf", "∞").replace("-", "−").replace("nan", "NaN")


def parts_of(trace: Trace, precision: int, step: str = "weights") -> list[Part]:
    """The heads that a step has, each alone; raises AttncliError (exit 2) where they are too many
    for one picture.
    """
    own = trace.leading_letters if step == "weights" else own_axes(trace, step)
    lengths = [axis_length(trace, letter) for letter in own]
    number = int(np.prod(lengths, dtype=np.int64))
    if number > MOST_PARTS:
        options = [option for letter, option in OPTIONS.items() if letter in own]
        message = (
            f"a picture has room for {MOST_PARTS} heads, and this problem has {number:,} in all"
        )
        raise usage_error(
            message, help=f"choose with {' and '.join(f'{option} 0' for option in options)}"
        )
    places = [dict(zip(own, place, strict=True)) for place in product(*map(range, lengths))]
    return [
        (
            Part(place_title(place), trace_at(trace, place), precision)
            if place
            else Part("", trace, precision)
        )
        for place in places
    ]


def own_axes(trace: Trace, step: str) -> tuple[str, ...]:
    """The leading axes of a step, of which each place is a picture of its own; none of one number
    for each head.
    """
    letters = trace.steps[step].rule.target.letters
    return (
        tuple(letter for letter in letters if letter in LEADING) if {*letters} - {*LEADING} else ()
    )


def name_of_key(trace: Trace, key: int) -> str:
    """A key in a sentence: "love", or "a" (key 3) where others are called alike."""
    label = trace.context_tokens[key]
    return f'"{label}"' + f" (key {key})" * (trace.context_tokens.count(label) > 1)


def named_keys(trace: Trace, keys: Sequence[int], own: int | None = None) -> str:
    """Keys in a sentence, "a", itself and "b", or how many they are; `own` is that of the query's
    own token.
    """
    if len(keys) > MOST_KEYS:
        return f"{len(keys):,} keys"
    return listed(["itself" if key == own else name_of_key(trace, key) for key in keys])


def attention_in_words(parts: Sequence[Part], only: int | None = None) -> str:
    """Which key each query attends to most, or, of many queries, which keys are most often that
    key.
    """
    return " ".join(
        f"{part.title}: {said}" if part.title else said
        for part in parts
        if (said := " ".join(_heaviest(part, only)))
    )


def _heaviest(part: Part, only: int | None) -> Iterator[str]:
    trace = part.trace
    weights = trace["weights"].astype(np.float64)
    rows = [
        row for row in part.queries(only) if np.isfinite(weights[row]).all() and weights[row].any()
    ]
    without = len(part.queries(only)) - len(rows)
    if len(rows) <= MOST_SAID:
        for row in rows:
            top, seen = largest(weights[row]), np.count_nonzero(weights[row])
            how = "most" if len(top) < seen else "equally" if len(top) > 1 else "only"
            share = percent(float(weights[row, top[0]])) + " each" * (len(top) > 1)
            yield (
                f'"{trace.tokens[row]}" attends {how} to'
                f" {named_keys(trace, top, trace.own_key(row))} ({share})."
            )
    else:
        tops = [largest(weights[row]) for row in rows]
        often = Counter(top[0] for top in tops if len(top) == 1)
        if often:
            most = often.most_common(3)
            said = [
                f"{name_of_key(trace, key)} for {count(number, 'query', 'queries')}"
                for key, number in most
            ]
            yield f"The key with the largest weight is {', '.join(said)} of {len(rows):,}."
        if equal := len(rows) - often.total():
            yield (
                f"{count(equal, 'query has', 'queries have')} several keys with the largest weight."
            )
    if without:
        yield f"{count(without, 'query', 'queries')} without weights."


def largest_scores_in_words(parts: Sequence[Part]) -> str:
    """Which key has the largest score of each query; of many queries, the largest score of all."""
    return " ".join(
        f"{part.title}: {said}" if part.title else said
        for part in parts
        if (said := " ".join(_largest(part)))
    )


def _largest(part: Part) -> Iterator[str]:
    scores = visible_numbers(part.trace, "scores")
    finite = np.isfinite(scores)
    scores = np.where(finite, scores, -np.inf)
    rows = np.flatnonzero(finite.any(axis=-1)).tolist()
    if len(rows) > MOST_SAID:
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
    return " ".join(
        f"{part.title}: {said}" if part.title else said
        for part in parts
        if (said := " ".join(_extremes(part, step)))
    )


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
    """Which numbers of a step of queries by keys the mask hides; None for other steps, and without
    a mask.
    """
    own = trace.steps[step].rule.target.letters
    return masked_out(trace.steps) if own == trace.steps["weights"].rule.target.letters else None
