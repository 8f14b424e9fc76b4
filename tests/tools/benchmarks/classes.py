"""How long a class takes, beside a loop in the shell.

    python tests/tools/benchmarks/classes.py [SUBMISSIONS]

It is 1,000 submissions if no number is given. Half of them are right, half have one known mistake.
The loop starts attncli for each of 50 of them, and its time is multiplied. Workers from one to the
number of cores are tried.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

INPUTS = Path(__file__).parents[3] / "inputs"
RIGHT = "scaled: [[0.58, 2.89, 1.73], [1.73, 1.73, 1.73], [1.15, 2.31, 1.73]]\n"
MISTAKEN = "scaled: [[0.33, 1.67, 1.00], [1.00, 1.00, 1.00], [0.67, 1.33, 1.00]]\n"
IN_LOOP = 50


def seconds(*arguments: str, folder: Path) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "attncli", "check", *arguments]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def main() -> None:
    """Print the time of the loop, and for each number of workers that of the class and how many
    times faster it is.
    """
    submissions = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "problem.yaml").write_text(
            (INPUTS / "i_love_ai.yaml").read_text(encoding="utf-8"), encoding="utf-8"
        )
        with open(folder / "manifest.csv", "w", newline="", encoding="utf-8") as stream:
            rows = csv.writer(stream)
            rows.writerow(["student", "problem", "answers"])
            for number in range(submissions):
                text = MISTAKEN if number % 2 else RIGHT
                (folder / f"{number}.yaml").write_text(text, encoding="utf-8")
                rows.writerow([f"student {number}", "problem.yaml", f"{number}.yaml"])
        alone = min(IN_LOOP, submissions)
        loop = sum(
            seconds("problem.yaml", f"{number}.yaml", folder=folder) for number in range(alone)
        )
        loop *= submissions / alone
        print(f"{submissions} submissions; a loop in the shell takes {loop:.1f} s")
        workers = 1
        while workers <= (os.cpu_count() or 1):
            many = seconds(
                "--batch",
                "manifest.csv",
                "-o",
                "results.csv",
                "--workers",
                str(workers),
                folder=folder,
            )
            print(f"{workers} workers: {many:.1f} s, {loop / many:.1f} times as fast")
            workers *= 2


if __name__ == "__main__":
    main()
