"""How long a command takes, against Python alone and against importing NumPy: `python tests/benchmarks/startup.py`.

The commands take turns, so that whatever else the machine does falls on all of them alike. Prints the median of
each and the two figures to watch: `compute` within 2 × `import numpy`, `--help` within 60 ms of a bare `python`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 15
PROBLEM = Path(__file__).parents[2] / "inputs" / "i_love_ai.yaml"
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "attncli --help": ["-m", "attncli", "--help"],
    "attncli compute": ["-m", "attncli", "compute", str(PROBLEM)],
}


def measure(rounds: int) -> dict[str, float]:
    """The median wall time of each command in seconds; the first round only warms the caches."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(rounds + 1):
        for name, arguments in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken[1:]) for name, taken in times.items()}


def main() -> None:
    medians = measure(ROUNDS)
    for name, median in medians.items():
        print(f"{name:16} {1000 * median:6.1f} ms")
    ratio = medians["attncli compute"] / medians["import numpy"]
    difference = 1000 * (medians["attncli --help"] - medians["python -c pass"])
    print(f"compute / import numpy: {ratio:.2f} (goal: at most 2)")
    print(f"--help - python -c pass: {difference:.0f} ms (goal: at most 60 ms)")


if __name__ == "__main__":
    main()
