"""How `check` names mistakes: a confusion table, as Markdown.

    python tests/tools/benchmarks/diagnosis.py

Solutions with each kind of mistake are worked by NumPy (`mistaken.py`) in drawn problems: of
several sizes, with and without a mask, from X or from Q, K and V. They are written with 2 to 4
decimals, rounded at each step or only when they are written, with all matrices or, every second
one, with the last step alone. So are right ones.

`--kinds` takes only the kinds that have these words in their name (several, with commas);
`--problems` is how many solutions of each kind are drawn, with the `--seed`; `--tell "another,not
named"` prints those judged so.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

sys.path.insert(0, str(Path(__file__).parents[3]))

from attncli.api import Checked, check
from attncli.problem.loader import loads
from tests.reference.back_in_arrays import steps_of
from tests.reference.in_arrays import Sheet, Steps, worked
from tests.reference.mistaken import BACKWARD, GROUPS, Again, Kind, Made
from tests.reference.on_paper import Array, drawn, half_up, to_decimals

PROBLEMS, TRIES = 20, 60
HUGE = 1e6  # no number is as large
# times that the numbers of a solution are moved within their rounding, to see how far a cell
# follows
JITTERS = 24
OUTCOMES = ("named", "perhaps", "not named", "perhaps another", "another")


@dataclass
class Solution:
    """What somebody wrote for a problem: the steps that are written, in the order of work."""

    problem: Sheet
    answers: dict[str, Array]
    decimals: int
    on_paper: bool

    @property
    def unit(self) -> float:
        return float(10.0**-self.decimals)

    def checked(self) -> Checked:
        return check(loads(json.dumps(self.problem.problem).encode(), "problem.json"), self.texts())

    def texts(self) -> dict[str, Any]:
        return {
            name: self._text(array, 0 if name == "mask" and is_whole(array) else self.decimals)
            for name, array in self.answers.items()
        }

    def _text(self, array: Array, decimals: int) -> Any:
        if np.ndim(array):
            return [self._text(each, decimals) for each in array]
        return "-inf" if array == -np.inf else f"{array:.{decimals}f}"


@dataclass
class Row:
    """How the solutions with one kind of mistake were judged."""

    kind: str
    outcomes: Counter[str] = field(default_factory=Counter)
    first_right: int = 0
    told: list[str] = field(default_factory=list)

    @property
    def number(self) -> int:
        return sum(self.outcomes.values())


def solution(
    p: Sheet, steps: Steps, answered: Sequence[str], decimals: int, on_paper: bool
) -> Solution:
    s = worked(p, steps, to_decimals(decimals) if on_paper else None)
    return Solution(p, {name: half_up(s[name], decimals) for name in answered}, decimals, on_paper)


def own(of: Solution, choice: Generator | None = None) -> dict[str, Array]:
    """What the written steps come to by those written before, which a `choice` moves within their
    rounding.
    """
    s, found = Sheet(of.problem), {}
    for name, work in steps_of(of.problem).items():
        right = np.asarray(work(s), dtype=float)
        s[name] = right
        if name in of.answers:
            found[name] = right
            s[name] = of.answers[name]
            if choice is not None and name != "mask":
                s[name] = s[name] + choice.choice([-0.5, 0.5], s[name].shape) * of.unit
    return found


@dataclass
class WrongCells:
    """In the order of work: those that are wrong however the numbers before them were rounded, and
    all that may be.
    """

    clear: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    possible: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)

    def is_first(self, told: tuple[str, tuple[int, ...]] | None) -> bool:
        """Whether this cell may be wrong, and none before it is for certain."""
        return told in self.possible and self.possible.index(told) <= self.possible.index(
            self.clear[0]
        )


def wrong_cells(of: Solution, choice: Generator) -> WrongCells:
    """Which numbers do not follow from those before them, nor are true."""
    found, true = own(of), worked(of.problem, steps_of(of.problem))
    reach = {name: np.zeros(array.shape) for name, array in found.items()}
    for _ in range(JITTERS):
        for name, array in own(of, choice).items():
            reach[name] = np.fmax(reach[name], abs(_finite(array) - _finite(found[name])))
    cells = WrongCells()
    for name, written in of.answers.items():
        off, off_true = (
            abs(_finite(each[name]) - _finite(written)) + _unlike(each[name], written)
            for each in (found, true)
        )
        for cell in np.ndindex(written.shape):
            slack = 2 * reach[name][cell]
            if off_true[cell] > 0.5 * of.unit and off[cell] > 0.5 * of.unit:
                cells.possible.append((name, cell))
            if off_true[cell] > 2.1 * of.unit and off[cell] > 2.1 * of.unit + slack:
                cells.clear.append((name, cell))
    return cells


def is_whole(array: Array) -> bool:
    """Whether it has whole numbers only; a mask of truth values has 0 and -inf."""
    return bool((_finite(array) % 1 == 0).all())


def _finite(array: Array) -> Array:
    return np.where(np.isfinite(array), array, 0.0)


def _unlike(one: Array, other: Array) -> Array:
    return np.where(np.isfinite(one) != np.isfinite(other), 1e9, 0.0)


def is_writable(sheet: Sheet) -> bool:
    """Whether people could have gone on with such numbers: not too large, and none that divides
    rounded to 0.
    """
    matrices = [array for array in sheet.values() if isinstance(array, np.ndarray)]
    huge = any(abs(_finite(array)).max() > HUGE for array in matrices)
    return not huge and bool((sheet.row_sum != 0).all())


def mistaken(kind: Kind, number: int, seed: int) -> tuple[Solution, Made, WrongCells] | None:
    """A solution with this mistake, in which it shows; None where none of many has it."""
    choice = np.random.default_rng([seed, number, zlib.crc32(kind.name.encode())])
    alone, on_paper = kind.alone and number % 2 == 1, number // 2 % 2 == 0
    for _ in range(TRIES):
        p = drawn(choice, kind.needs)
        decimals = int(choice.integers(kind.decimals[0], kind.decimals[1] + 1))
        try:
            made = kind.make(p, choice, decimals)
        except Again:
            continue
        right, steps = steps_of(p), {**steps_of(p), **made.steps}
        if not set(made.steps) <= set(right):
            continue
        answered = list(right)
        if alone:
            answered = (
                [next(name for name in right if name in made.steps)]
                if kind in BACKWARD
                else ["output"]
            )
        sheet = worked(p, steps, to_decimals(decimals) if on_paper else None)
        if not is_writable(sheet):
            continue
        found = solution(p, steps, answered, decimals, on_paper)
        other = solution(p, right, answered, decimals, on_paper)
        shows = any((abs(_finite(found.answers[name]) - _finite(array)) > 2.1 * found.unit).any()
                    or (np.isfinite(found.answers[name]) != np.isfinite(array)).any()
                    for name, array in other.answers.items())  # fmt: skip
        if shows and (cells := wrong_cells(found, choice)).clear:
            return found, made, cells
    return None


def outcome(found: Checked, made: Made) -> str:
    """How the mistakes that explain a solution compare with the one that was made."""
    sets = [(set(each.mistakes), each.likely) for each in found.diagnoses]
    hits = [(names & set(made.names), likely) for names, likely in sets]
    named = set().union(*(names for names, _ in hits)) if hits else set()
    if named and (not made.every or named == set(made.names)):
        return "named" if any(names and likely for names, likely in hits) else "perhaps"
    others = [
        likely
        for (names, _), likely in zip(hits, (each.likely for each in found.diagnoses), strict=True)
        if not names
    ]
    if not others:
        return "not named"
    return "another" if any(others) else "perhaps another"


def judged(kind: Kind, problems: int, seed: int, *, tell: str = "") -> Row:
    """Solutions with one kind of mistake, judged; those with an outcome that is to be told are
    printed.
    """
    row = Row(kind.name)
    for number in range(problems):
        found_one = mistaken(kind, number, seed)
        if found_one is None:
            continue
        of, made, cells = found_one
        found = of.checked()
        said = outcome(found, made)
        row.outcomes[said] += 1
        right = cells.is_first(found.solution.verdicts.first_wrong)
        row.first_right += right
        if not right or (tell and said in tell.split(",")):
            row.told.append(_told(f"{kind.name}, {number}: {said}: {made.names}", of, found))
    return row


def _told(said: str, of: Solution, found: Checked) -> str:
    """A solution with what was found in it."""
    lines = [said, json.dumps(of.problem.problem), json.dumps(of.texts())]
    lines += [f"first wrong: {found.solution.verdicts.first_wrong}", *map(str, found.diagnoses)]
    return "\n  ".join(lines)


def right_solutions(kinds: Sequence[Kind], problems: int, seed: int) -> tuple[int, list[str]]:
    """How many right solutions were judged, of problems as these kinds need them; those with a
    number called wrong.
    """
    judged, wrong = 0, []
    for place, need in enumerate(dict.fromkeys(kind.needs for kind in kinds)):
        for number in range(problems):
            choice = np.random.default_rng([seed, place, number])
            p = drawn(choice, need)
            decimals, on_paper, alone = int(choice.integers(2, 5)), number % 2 == 0, number % 4 == 1
            answered = [list(steps_of(p))[-1]] if alone else list(steps_of(p))
            of = solution(p, steps_of(p), answered, decimals, on_paper)
            judged += 1
            found = of.checked()
            if found.solution.verdicts.first_wrong:
                wrong.append(_told("right", of, found))
    return judged, wrong


def table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| mistake | solutions | " + " | ".join(OUTCOMES) + " | first wrong cell right |"
    yield "| --- |" + " ---: |" * (len(OUTCOMES) + 2)
    for row in [*rows, *totals(rows)]:
        counts = [f"{row.outcomes[each] or ''}" for each in OUTCOMES]
        yield f"| {row.kind} | {row.number} | " + " | ".join(counts) + f" | {row.first_right} |"


def totals(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows of each group of kinds added up."""
    for group, kinds in GROUPS.items():
        names = {kind.name for kind in kinds}
        if of := [row for row in rows if row.kind in names]:
            found = Row(f"*{group}: {len(of)} kind{'s' * (len(of) > 1)}*")
            for row in of:
                found.outcomes.update(row.outcomes)
                found.first_right += row.first_right
            yield found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--kinds",
        default="",
        help="only those with these words in their name; several, with commas",
    )
    parser.add_argument("--problems", type=int, default=PROBLEMS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--tell", default="", help="outcomes whose solutions are printed, as 'another,not named'"
    )
    chosen = parser.parse_args(arguments)
    words = [word.strip() for word in chosen.kinds.split(",")]
    kinds = [
        kind
        for group in GROUPS.values()
        for kind in group
        if any(word in kind.name for word in words)
    ]
    rows = []
    for kind in kinds:
        rows.append(judged(kind, chosen.problems, chosen.seed, tell=chosen.tell))
        if rows[-1].told:
            print("\n".join(rows[-1].told), file=sys.stderr)
    print("\n".join(table(rows)))
    number, wrong = right_solutions(kinds, max(chosen.problems // 4, 1), chosen.seed)
    print(f"\nOf {number} right solutions {len(wrong)} had a number called wrong.")
    if wrong:
        print("\n".join(wrong), file=sys.stderr)


if __name__ == "__main__":
    main()
