"""Breaks the program on purpose, to see whether the tests notice.

    python tests/tools/mutation/run.py equation --sample 400

Mutants of `equation` or of what `check` does are drawn with a seed, and each is played against the
tests that reach its line, up to the first that fails. What no test notices is written to the
terminal, and the exit code is 1, unless it is in `survivors.txt`, which says why. `--only WORD`
takes mutants whose name has that word, `--again FILE` those that a run wrote with `--survivors
FILE`.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT))

import hypothesis  # noqa: E402, F401  # all that is slow to import, before the first fork
import mpmath  # noqa: E402, F401
import numpy  # noqa: E402, F401
import pytest  # noqa: E402
import rich.console  # noqa: E402, F401
import yaml  # noqa: E402, F401

from tests.tools.mutation.mutants import Mutant, mutants  # noqa: E402
from tests.tools.mutation.player import end, start  # noqa: E402
from tests.tools.mutation.reach import Reach, measured  # noqa: E402

with contextlib.suppress(ImportError):
    import torch  # noqa: F401

PARTS = {
    "equation": (
        ["attncli/equation"],
        ["tests/equation", "tests/tracing", "tests/answers/test_exact_pages.py"],
    ),
    "check": (["attncli/features/check", "attncli/mistakes"], ["tests/features/check"]),
}
# tests of the parts themselves, which come first
NEAR = ("tests/equation/", "tests/features/check/")
COPIED = ("attncli", "tests", "inputs", "docs", "pyproject.toml", "README.md")


@dataclass
class Played:
    mutant: Mutant
    process: int
    place: Path
    begun: float
    limit: float
    later: dict[str, float]  # tests, if it survives those that it is played against


def main() -> int:
    """Draw mutants, play them, tell the score; the exit code."""
    asked = _asked()
    modules, folders = PARTS[asked.part]
    paths = _paths(modules)
    sources = {path: (ROOT / path).read_bytes() for path in paths}
    all_of_them = [mutant for path, source in sources.items() for mutant in mutants(path, source)]
    drawn = [mutant for mutant in all_of_them if asked.only in mutant.name]
    if asked.again:
        named = set(asked.again.read_text().splitlines())
        drawn = [mutant for mutant in drawn if mutant.name in named]
    drawn = random.Random(asked.seed).sample(drawn, min(asked.sample, len(drawn)))
    with tempfile.TemporaryDirectory(prefix="mutants-") as work:
        places = [_copy(Path(work) / str(place)) for place in range(asked.jobs)]
        reach = measured(
            places[0], paths, folders, asked.keep or Path(work) / "reach.json", asked.most
        )
        ends = _all(drawn, sources, reach, places, time.monotonic() + asked.seconds)
    return _tell(asked, ends, len(all_of_them))


def _all(
    drawn: list[Mutant],
    sources: Mapping[str, bytes],
    reach: Reach,
    places: list[Path],
    until: float,
) -> dict[Mutant, str]:
    """How each mutant ended, of as many as there is time for: killed, timeout, unreached,
    survived.
    """
    free, waiting, ends, playing = list(places), list(drawn), {}, []
    killers: set[str] = set()  # what killed one mutant is the likeliest to kill its neighbours
    while playing or (waiting and time.monotonic() < until):
        while waiting and free and time.monotonic() < until:
            mutant = waiting.pop(0)
            tests = reach.of(mutant.path, range(mutant.line, mutant.last + 1), killers)
            if not tests:
                ends[mutant] = "unreached"
                continue
            place = free.pop()
            (place / mutant.path).write_bytes(mutant.of(sources[mutant.path]))
            near = {test: seconds for test, seconds in tests.items() if test.startswith(NEAR)}
            later = {test: seconds for test, seconds in tests.items() if test not in near}
            playing.append(_played(mutant, place, near or later, later if near else {}, killers))
        for played in list(playing):
            code = end(played.process, played.begun, played.limit)
            if code is not None:
                playing.remove(played)
                if code == 0 and played.later:
                    playing.append(_played(played.mutant, played.place, played.later, {}, killers))
                    continue
                free.append(played.place)
                (played.place / played.mutant.path).write_bytes(sources[played.mutant.path])
                ends[played.mutant] = how = _how(code)
                told = (
                    (played.place / "told.txt")
                    .read_text(errors="replace")
                    .rpartition("first to fail: ")[2]
                    .strip()
                )
                killers |= {told} - {""}
                took = time.monotonic() - played.begun
                print(
                    f"{len(ends)}/{len(drawn)} {how} {took:.1f}s {played.mutant.name}"
                    f" [{told[-90:]}]",
                    flush=True,
                )
        time.sleep(0.02)
    return ends


def _played(
    mutant: Mutant,
    place: Path,
    tests: dict[str, float],
    later: dict[str, float],
    killers: Collection[str],
) -> Played:
    process = start(place, tests, killers, place / "told.txt")
    return Played(mutant, process, place, time.monotonic(), 120 + 20 * sum(tests.values()), later)


def _how(code: int) -> str:
    """What the exit code of pytest says of a mutant; one that cannot even be imported is killed
    (2).
    """
    if code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED, 70):
        raise SystemExit(
            "the tests that reach a line are not those that were measured: leave out --keep"
        )
    return "survived" if code == 0 else "timeout" if code < 0 else "killed"


def _tell(asked: argparse.Namespace, ends: dict[Mutant, str], many: int) -> int:
    known = {
        line
        for line in (HERE / "survivors.txt").read_text().splitlines()
        if line.startswith("attncli/")
    }
    left = sorted(mutant for mutant, how in ends.items() if how in ("survived", "unreached"))
    same = [mutant for mutant in left if mutant.name in known]
    counts = Counter(ends.values())
    print(
        f"\n{len(ends)} of {many} mutants of {asked.part}, drawn with seed {asked.seed}: ", end=""
    )
    print(
        f"{counts['killed'] + counts['timeout']} killed ({counts['timeout']} of them for time), ",
        end="",
    )
    print(f"{len(left)} not, {len(same)} of them known to be equivalent")
    new = [mutant for mutant in left if mutant not in same]
    for mutant in new:
        print(f"{ends[mutant]} {mutant.path}:{mutant.line} {mutant.name}")
    if asked.survivors:
        asked.survivors.write_text("".join(f"{mutant.name}\n" for mutant in new))
    return 1 if new else 0


def _paths(modules: list[str]) -> list[str]:
    files = [
        file
        for module in modules
        for file in sorted((ROOT / module).rglob("*.py")) or [ROOT / module]
    ]
    return [str(file.relative_to(ROOT)) for file in files]


def _copy(place: Path) -> Path:
    place.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, place / name)
    return place


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=list(PARTS))
    parser.add_argument("--sample", type=int, default=100, help="how many mutants are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--seconds", type=float, default=3600, help="after which no more mutants are played"
    )
    parser.add_argument(
        "--most", type=float, default=12, metavar="SECONDS", help="of tests for one mutant"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", metavar="WORD", default="", help="those whose name has it")
    parser.add_argument("--again", type=Path, metavar="FILE")
    parser.add_argument("--survivors", type=Path, metavar="FILE")
    parser.add_argument(
        "--keep", type=Path, metavar="FILE", help="which tests reach what, for the next run"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
