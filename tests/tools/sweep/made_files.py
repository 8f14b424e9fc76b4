"""Makes files of attncli's own numbers while a case is played: answers, some of them wrong, and
dumps of arrays.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.tools.sweep.drawn_files import ANSWERS, ARRAYS, DUMP


def make_files(choice: Random) -> None:
    """Answers and a dump of arrays, of the steps in `DUMP` as soon as that is there."""
    if not Path(DUMP).exists() or Path(ANSWERS).exists():
        return
    steps = json.loads(Path(DUMP).read_text())["steps"]
    Path(ANSWERS).write_text(_answers(choice, steps))
    _write_arrays(choice, steps)


def _answers(choice: Random, steps: dict[str, Any]) -> str:
    """Answers of some steps, rounded, with some of them wrong."""
    chosen = choice.sample(list(steps), min(len(steps), choice.choice([1, 2, 4, 8])))
    digits, slips = choice.choice([1, 2, 3, 6]), choice.choice([0, 0.05, 0.3])

    def given(value: Any) -> Any:
        if isinstance(value, list):
            return [given(each) for each in value]
        if not isinstance(value, (int, float)):
            return value
        wrong = [None, -value, value * 2, value + 1, round(value), 0]
        return choice.choice(wrong) if choice.random() < slips else round(value, digits)

    lines = [
        f"{name}: {json.dumps(given(steps[name]['value']))}\n" for name in steps if name in chosen
    ]
    return "".join(lines).replace('"-Infinity"', "-.inf")


def _write_arrays(choice: Random, steps: dict[str, Any]) -> None:
    """The steps as other software would dump them: in a number format, with some of them missing or
    a little off.
    """
    kind = choice.choice(["float64", "float64", "float32", "float16"])
    there = [name for name in steps if choice.random() < 0.9]
    arrays = {name: np.array(_floats(steps[name]["value"]), dtype=np.float64) for name in there}
    for name in there:
        if choice.random() < 0.1:
            arrays[name] = arrays[name] * choice.choice([2, -1, 1.001])
    with np.errstate(all="ignore"):
        np.savez(ARRAYS, **{name: array.astype(kind) for name, array in arrays.items()})


def _floats(value: Any) -> Any:
    """The numbers of JSON, whose infinities are texts."""
    return [_floats(each) for each in value] if isinstance(value, list) else float(value)
