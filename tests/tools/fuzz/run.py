"""Fuzzes everything that reads bytes, for a bounded time.

    python tests/tools/fuzz/run.py --seconds 60

With atheris (the extra `fuzz`) inputs are led by coverage: libFuzzer keeps those that find a new
way through the program. Without it they are drawn by `mutations.py` alone. Each target has its
share of the time, in a process of its own. What breaks a promise is written to `crashes/TARGET/`
beside this file, where `tests/fuzz/test_mutations.py` plays it from then on. The exit code is 1
then. `--only TARGET` fuzzes one, `--play FILE` plays one input with all that is raised, `--keep`
adds to `seeds/` what found a way that no seed knows.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# others: 1
SHARE = {
    "yaml": 4,
    "json": 3,
    "readings.yaml": 3,
    "readings.json": 2,
    "answers.md": 2,
    "answers.tex": 2,
    "answers.yaml": 2,
    "options": 2,
    "pasted": 4,
    "pasted.twice": 4,
}
KEPT, MANY = 1200, 24  # bytes of a seed at most, and how many a run may add to a target


def main() -> int:
    """Fuzz all targets, two at a time where there are two cores; the exit code."""
    asked = _asked()
    if asked.play:
        from tests.tools.fuzz.targets import TARGETS

        TARGETS[asked.only or asked.play.resolve().parent.name].play(asked.play.read_bytes())
        return 0
    if asked.child:
        from tests.tools.fuzz.led import fuzz

        return fuzz(asked.only, asked.seconds, asked.seed, asked.work, merge=asked.merge)
    from tests.tools.fuzz.targets import TARGETS

    names = [asked.only] if asked.only else list(TARGETS)
    jobs = min(len(names), os.cpu_count() or 1)
    share = asked.seconds * jobs / sum(SHARE.get(name, 1) for name in names)
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as work:
        ends = _all(names, share, jobs, asked.seed, Path(work))
        if asked.keep:
            for name in names if not any(ends) else ():
                _keep(name, Path(work) / name)
    return max(ends, default=0)


def _all(names: list[str], share: float, jobs: int, seed: int, work: Path) -> list[int]:
    waiting, running, ends = list(names), {}, []
    while waiting or running:
        while waiting and len(running) < jobs:
            name = waiting.pop(0)
            (work / name).mkdir()
            seconds = share * SHARE.get(name, 1)
            command = [*_child(name, work / name), "--seed", str(seed), "--seconds", str(seconds)]
            told = (work / f"{name}.log").open("w+b")
            running[name] = subprocess.Popen(command, stdout=told, stderr=subprocess.STDOUT), told
        for name, (process, told) in list(running.items()):
            if process.poll() is not None:
                told.seek(0)
                ends.append(_tell(name, process.returncode, told.read().decode(errors="replace")))
                del running[name]
        time.sleep(0.1)
    return ends


def _tell(name: str, code: int, text: str) -> int:
    lines = text.splitlines()
    done = next(
        (line for line in reversed(lines) if line.startswith(("Done ", "drawn "))), "ended early"
    )
    covered = next((line for line in reversed(lines) if " cov: " in line), "")
    print(
        f"{name:20}"
        f" {done}{' · ' + covered.partition(' cov: ')[2].split(' exec')[0] if covered else ''}",
        flush=True,
    )
    if code:
        print("\n".join(lines[-60:]))
        print(
            f"play it with: python tests/tools/fuzz/run.py --only {name} --play"
            f" tests/tools/fuzz/crashes/{name}/…"
        )
    return 1 if code else 0


def _keep(name: str, work: Path) -> None:
    """Adds to the seeds what went a way that none of them goes; libFuzzer sorts that out, the
    shortest first.
    """
    begun = {path.name for path in (work / "begin").iterdir()}
    command = [*_child(name, work), "--merge"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kept = HERE / "seeds" / name
    new = [
        path
        for path in (work / "begin").iterdir()
        if path.name not in begun and path.stat().st_size <= KEPT
    ]
    for path in sorted(new, key=lambda path: path.stat().st_size)[:MANY]:
        kept.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, kept / path.name[:12])


def _child(name: str, work: Path) -> list[str]:
    return [sys.executable, __file__, "--child", "--only", name, "--work", str(work)]


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60, help="of all targets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="TARGET", default="")
    parser.add_argument("--play", type=Path, metavar="FILE")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--merge", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
