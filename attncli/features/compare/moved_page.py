"""The weights that moved, in words: "love": 33.3 % moved from "AI" to itself (16.7 %) and "I" (16.7 %)."""

from __future__ import annotations

from collections.abc import Iterator

from attncli.english import count, listed
from attncli.features.compare.comparison import Comparison
from attncli.features.compare.moved import Moved, Shift
from attncli.page.document import Text
from attncli.page.measures import number
from attncli.page.number_format import format_number
from attncli.page.reading import percent

MOST_ROWS = 12
LEAST = 0.0005  # of a row, is shown as 0.1 %


def moved_sentences(comparison: Comparison) -> Iterator[Text]:
    """One sentence for each query, the largest move first; many are summed up."""
    large = [move for move in comparison.moved if move.amount >= LEAST]
    shown = large if len(large) == MOST_ROWS + 1 else large[:MOST_ROWS]
    for move in shown:
        yield _sentence(comparison, move)
    rest = comparison.moved[len(shown) :]
    if rest:
        largest = rest[0].amount
        most = f"{percent(largest)} at most" if largest >= LEAST else f"less than {percent(LEAST * 2)}"
        yield (f"{count(len(rest), 'other row' if shown else 'row')}: {most}{' each' if len(rest) > 1 else ''}.",)


def _sentence(comparison: Comparison, move: Moved) -> Text:
    *outer, queries, _ = comparison["weights"].labels
    heads = "".join(f"{names[at]}, " for names, at in zip(outer, move.row, strict=False))
    who = f'{heads}"{queries[move.row[-1]]}": '
    before, after = move.sums
    lost, gained = _side(comparison, move, gained=False), _side(comparison, move, gained=True)
    total = percent(move.amount)
    if move.lost and move.gained:
        said: Text = (f"{who}{total} moved from {lost} to {gained}",)
    elif move.lost:
        said = (f"{who}{total} gone from {lost}",)
    else:
        said = (f"{who}{total} new for {gained}",)
    if abs(before - after) > comparison.tolerance:
        sums = number(format_number(before, 3)), number(format_number(after, 3))
        return (*said, "; the row sums to ", *sums[0], f" {comparison.a.phrase} and to ", *sums[1],
                f" {comparison.b.phrase}.")  # fmt: skip
    return (*said, ".")


def _side(comparison: Comparison, move: Moved, *, gained: bool) -> str:
    shifts, (others, amount) = (move.gained, move.others_gained) if gained else (move.lost, move.others_lost)
    alone = len(shifts) == 1 and not others and _whole(move, shifts[0])
    shifts = tuple(shift for shift in shifts if shift.amount >= LEAST) or shifts[:1]
    names = [_key(comparison, move, shift.key) + ("" if alone else f" ({percent(shift.amount)})") for shift in shifts]
    return listed([*names, f"{count(others, 'other')} ({percent(amount)})"] if others else names)


def _whole(move: Moved, shift: Shift) -> bool:
    return percent(shift.amount) == percent(move.amount)


def _key(comparison: Comparison, move: Moved, key: int) -> str:
    labels = comparison["weights"].labels[-1]
    sides = (comparison.a, comparison.b)
    own = {side.trace.own_key(side.index("weights", (*move.row, key))[-2]) for side in sides if side.trace}
    if own == {key}:
        return "itself"
    return f'"{labels[key]}"' if labels.count(labels[key]) == 1 else f'"{labels[key]}" (key {key})'
