"""Whole commands: a small example, help, a large file, whole pages and a large solution.

The peer of most is a process that does no more than import NumPy. On the machine where the goals
were set that takes 0.1 s: 10 times as long is one second there. A checkout without byte code starts
more slowly than an installed wheel.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import yaml

from attncli.problem.loader import load
from tests.tools.benchmarks.figures import Figure, Way, figure, medians

EXAMPLE = Path(__file__).parents[3] / "inputs" / "i_love_ai.yaml"
FORMATS = {"table": "txt", "markdown": "md", "latex": "tex"}
IMPORT_NUMPY = "import numpy; "
# tokens, and how many times as long as the import of NumPy a page of them may take
PAGES = {100: 10, 600: 100}
CHECKED, CHECK = 100, 20
# tokens, and how many times the arrays of their steps the memory of a process may be
LARGE, FOLD = 3000, 2
SHAPES = {"X": (1024, 512), "W_Q": (512, 64), "W_K": (512, 64), "W_V": (512, 64)}


def figures(quick: bool) -> Iterator[Figure]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        yield from _starts(folder, 2 if quick else 21)
        yield from _large_file(folder, quick)
        yield from _pages(folder, quick)
        yield _checked(folder, 20 if quick else CHECKED)
        for format in FORMATS:
            yield _memory(folder, 200 if quick else LARGE, format)


def _process(folder: Path, *arguments: str, codes: tuple[int, ...] = (0,)) -> Way:
    def start() -> None:
        done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True)
        assert done.returncode in codes, done.stderr.decode()

    return start


def _starts(folder: Path, rounds: int) -> Iterator[Figure]:
    taken = medians(
        {
            "example": _process(folder, "-m", "attncli", "compute", str(EXAMPLE)),
            "numpy": _process(folder, "-c", IMPORT_NUMPY),
            "help": _process(folder, "-m", "attncli", "--help"),
            "python": _process(folder, "-c", "pass"),
        },
        rounds,
    )
    yield Figure("compute i_love_ai.yaml; import numpy", taken["example"], taken["numpy"], 2)
    yield Figure("--help, beyond a bare Python; 100 ms", taken["help"] - taken["python"], 0.1, 1)


def _large_file(folder: Path, quick: bool) -> Iterator[Figure]:
    random = np.random.default_rng(0)
    shapes = {name: (rows // 8, columns) if quick and name == "X" else (rows, columns)
              for name, (rows, columns) in SHAPES.items()}  # fmt: skip
    data = {name: random.standard_normal(shape).round(7).tolist() for name, shape in shapes.items()}
    path = folder / "large.yaml"
    path.write_text("".join(f"{name}:\n" + "".join(f"- {json.dumps(row)}\n" for row in rows)
                            for name, rows in data.items()))  # fmt: skip
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    what = f"reading YAML of {path.stat().st_size / 2**20:.1f} MiB; yaml.load(Loader=CSafeLoader)"

    def by_pyyaml() -> object:
        return yaml.load(path.read_bytes(), Loader=loader)

    yield figure(what, lambda: load(str(path)), by_pyyaml, 0.1, rounds=1 if quick else 3)


def _problem(folder: Path, tokens: int) -> str:
    """A problem of so many tokens with three decimals, from X on, as a file."""
    random = np.random.default_rng(0)
    shapes = {"X": (tokens, 16)} | {f"W_{name}": (16, 16) for name in "QKV"}
    data = {name: random.standard_normal(shape).round(3).tolist() for name, shape in shapes.items()}
    (folder / f"{tokens}.json").write_text(json.dumps({**data, "mask": "causal"}))
    return f"{tokens}.json"


def _pages(folder: Path, quick: bool) -> Iterator[Figure]:
    for tokens, goal in PAGES.items():
        size = tokens // 5 if quick else tokens
        file = _problem(folder, size)
        for format, suffix in FORMATS.items():
            page = (
                "-m",
                "attncli",
                "compute",
                file,
                "-q",
                "--format",
                format,
                "-o",
                f"page.{suffix}",
            )
            what = f"a whole page of {size} tokens, {format}; import numpy"
            ours, peer = _process(folder, *page), _process(folder, "-c", IMPORT_NUMPY)
            yield figure(what, ours, peer, goal, rounds=1 if quick else 3)


def _checked(folder: Path, tokens: int) -> Figure:
    """All steps worked on paper, without the scale."""
    file = _problem(folder, tokens)
    steps = (
        "compute",
        file,
        "-q",
        "--scale",
        "none",
        "--rounding",
        "paper",
        "--detail",
        "brief",
        "-o",
        "answers.md",
    )
    _process(folder, "-m", "attncli", *steps)()
    ours = _process(
        folder, "-m", "attncli", "check", file, "answers.md", "-o", "verdicts.md", codes=(1,)
    )
    what = f"check of all steps of {tokens} tokens, with a mistake; import numpy"
    return figure(what, ours, _process(folder, "-c", IMPORT_NUMPY), CHECK, rounds=3)


def _memory(folder: Path, tokens: int, format: str) -> Figure:
    """The most memory that a process takes for a whole page, against the arrays of the steps of its
    trace.
    """
    file = _problem(folder, tokens)
    command = [
        sys.executable,
        "-m",
        "attncli",
        "compute",
        file,
        "-q",
        "--format",
        format,
        "-o",
        f"page.{FORMATS[format]}",
    ]
    process = subprocess.Popen(command, cwd=folder)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    arrays = 5 * tokens**2 * 8 / 2**20  # scores, scaled, masked, exp and weights; the mask besides
    what = f"memory for a whole page of {tokens:,} tokens, {format}; its large matrices"
    return Figure(what, used.ru_maxrss / 1024, arrays, FOLD, unit="MiB")
