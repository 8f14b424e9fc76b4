"""Draws the files that command lines read besides the problem: another problem, a list of names, a
class.

What is made of attncli's own numbers, dumps and answers, is made while a case is played:
`made_files.py`.
"""

from __future__ import annotations

import csv
import io
import json
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from tests.tools.sweep.drawn_problems import TEXTS, Drawn, draw_problem

ANSWERS, OTHER, DUMP, ARRAYS = "answers.yaml", "other.yaml", "dump.json", "dump.npz"
ROSTER, MANIFEST, MODEL = "names.csv", "class.csv", "model"
MANIFEST_OF_FUNCTIONS = "functions.csv"
SCHEME = "scheme.yaml"
EXAMPLES = Path(__file__).parents[3] / "inputs" / "functions"
FUNCTIONS = [
    f"{EXAMPLES}/homework.py:attention",
    f"{EXAMPLES}/corrected.py:attention",
    f"{EXAMPLES}/hidden.py:attend",
    f"{EXAMPLES}/layer.py:Attention(4, 3)",
    f"{EXAMPLES}/homework.py:nothing",
    "json:dumps",
]
MASK_MODS = [
    f"{EXAMPLES}/masks.py:sliding_window",
    f"{EXAMPLES}/masks.py:prefix(3)",
    f"{EXAMPLES}/masks.py:prefix",
    f"{EXAMPLES}/masks.py:documents",
    f"{EXAMPLES}/masks.py:window_of_head",
    f"{EXAMPLES}/masks.py:long_window",
    f"{EXAMPLES}/masks.py:capped",
    f"{EXAMPLES}/masks.py:alibi",
    f"{EXAMPLES}/masks.py:by_position",
    f"{EXAMPLES}/homework.py:attention",
]
OF_NUMBERS = (ANSWERS, DUMP, ARRAYS, MANIFEST)  # which are made of a trace
NAMES = [
    "Ada Lovelace",
    "李",
    "=cmd()",
    "O'Neill, Bob",
    'a "b"',
    "../up",
    "CON",
    "a/b",
    "é" * 30,
    "x" * 201,
    ".",
    "😀",
]


def draw_file(choice: Random, name: str, problem: str, drawn: Drawn) -> tuple[str, dict[str, Any]]:
    """The text of a file of this name, beside the `problem` that was drawn, and the files of arrays
    that it names.
    """
    if name == OTHER:
        other = (
            _changed(choice, drawn)
            if choice.random() < 0.5
            else draw_problem(choice, lengths=drawn.lengths)
        )
        # YAML cannot hold a character in two halves.
        lines = [
            f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in other.data.items()
        ]
        return "".join(lines), dict(other.arrays)
    if name == ROSTER:
        return _roster(choice), {}
    if name == MANIFEST_OF_FUNCTIONS:
        return _manifest_of_functions(choice), {}
    if name == SCHEME:
        return _scheme(choice), {}
    return _manifest(choice, problem), {}


def _scheme(choice: Random) -> str:
    """What steps are worth; now and then it is not all there, or does not add up."""
    steps = choice.sample(["scores", "scaled", "A", "output", "Q", "row_sum"], choice.randint(1, 4))
    marks = {step: choice.choice([1, 2, 4, 2.5]) for step in steps}
    off = choice.choice([0, 0, 0, 0, 1])
    lines = [
        f"marks: {sum(marks.values()) + off:g}\n",
        f"steps: {json.dumps(marks)}\n",
        f"mistake: {choice.choice([0, 1, 2, 100])}\n",
        f"decimals: {choice.randint(0, 4)}\n",
        f"slip: {choice.choice(['0.5', '1/3', '2', '-1'])}\n",
    ]
    return "".join(line for line in lines if choice.random() < 0.95)


def _changed(choice: Random, drawn: Drawn) -> Drawn:
    """The same problem with another number, or without one of its keys: most of its steps are on
    both sides.
    """
    data = deepcopy(drawn.data)
    numbers = [*_places_of_numbers(data)]
    if numbers and choice.random() < 0.7:
        row, place = choice.choice(numbers)
        row[place] = choice.choice([0, 1, -row[place], row[place] + 1, row[place] * 1.0000001, 0.5])
    elif data:
        del data[choice.choice(list(data))]
    return Drawn(data, drawn.arrays, drawn.lengths)


def _places_of_numbers(value: Any) -> Any:
    """Every number in lists and mappings, as what holds it and the place there."""
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for place, each in inside:
        if isinstance(each, (int, float)) and not isinstance(each, bool):
            yield value, place
        yield from _places_of_numbers(each)


def _rows(rows: list[list[str]], between: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=between, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _roster(choice: Random) -> str:
    """A list of names, one in a line, or with columns; mostly a right one."""
    odd = choice.random() < 0.2
    names = choice.sample(
        [*NAMES, *TEXTS] if odd else ["Ada Lovelace", "李", "O'Neill, Bob", "é"],
        choice.randint(1, 3),
    )
    if odd and choice.random() < 0.3:
        names += [choice.choice([names[0], "", " "])]
    if choice.random() < 0.5:
        return choice.choice(["", "", "\ufeff"]) + _rows([[name] for name in names])
    head = choice.choice(["student", "name", "Name"] if not odd else ["student", "nobody"])
    rows = [[head, "group"], *([name, choice.choice(["A", "B", ""])] for name in names)]
    return _rows(rows, choice.choice([",", ",", ";", "\t"]))


def _manifest(choice: Random, problem: str) -> str:
    """A class: mostly answers that are there, and now and then a row with something wrong in it."""
    rows = [["student", "problem", "answers"]]
    for name in choice.sample(["Ada", "李", "Bob, B.", "=1+1", "a/b"], choice.randint(1, 3)):
        answers = choice.choice([ANSWERS, ANSWERS, ANSWERS, DUMP, "nothing.yaml", problem, ""])
        rows.append([name, choice.choice([problem] * 9 + [OTHER, "nothing.yaml", ""]), answers])
    if choice.random() < 0.1:
        rows[0][choice.randrange(3)] = choice.choice(["email", "student", ""])
    if choice.random() < 0.1:
        rows[-1].append("more")
    if choice.random() < 0.3:
        rows[0].append("group")
    return _rows(rows)


def _manifest_of_functions(choice: Random) -> str:
    """A class: mostly functions that are there, and now and then a row with something wrong."""
    rows = [["student", "function"]]
    for name in choice.sample(["Ada", "李", "Bob, B.", "=1+1", "a/b"], choice.randint(1, 3)):
        alone = f"{EXAMPLES}/five_lines.py"
        rows.append([name, choice.choice([*FUNCTIONS, alone, alone, "nothing.py", "x", ""])])
    if choice.random() < 0.1:
        rows[0][choice.randrange(2)] = choice.choice(["email", "student", ""])
    if choice.random() < 0.1:
        rows[-1].append("more")
    if choice.random() < 0.3:
        rows[0].append("group")
    return _rows(rows)
