"""How long a command takes, against Python alone and against importing NumPy (rows 1 and 2).

To be run where attncli is installed as a wheel: a checkout without byte code starts more slowly. The commands take
turns, so that whatever else the machine does falls on all of them alike.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from versus import Figure, Way, medians

PROBLEM = Path(__file__).parents[2] / "inputs" / "i_love_ai.yaml"
ALLOWED = 0.05  # seconds beyond a bare python


def figures(rounds: int) -> Iterator[Figure]:
    with TemporaryDirectory() as folder:
        (Path(folder) / "bad.yaml").write_text("Q: [[1, 2], [3, x]]\nK: [[1, 2]]\nV: [[1]]\n")

        def process(*arguments: str) -> Way:
            return lambda: subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True)

        ours = {"--help": ["--help"], "--version": ["--version"], "an error in a problem": ["compute", "bad.yaml"],
                "no such file": ["compute", "nowhere.yaml"], "no such option": ["compute", "--nope"]}  # fmt: skip
        ways = {name: process("-m", "attncli", *arguments) for name, arguments in ours.items()}
        ways |= {"compute": process("-m", "attncli", "compute", str(PROBLEM))}
        ways |= {"numpy": process("-c", "import numpy"), "python": process("-c", "pass")}
        found = medians(ways, rounds)
    yield Figure(1, "compute i_love_ai.yaml against import numpy", found["compute"], found["numpy"], 1.5)
    for name in ours:
        yield Figure(2, f"{name}, beyond a bare python, against 50 ms", found[name] - found["python"], ALLOWED, 1)


if __name__ == "__main__":
    for figure in figures(21):
        print(figure.row())
