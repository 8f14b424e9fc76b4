"""Plays drawn command lines about drawn problems, and tells each kind of fault once, as commands to
be pasted.

    python tests/tools/sweep/run.py --seed 0 --lines 2000 [--workers 2] [--models]
    python tests/tools/sweep/run.py --play 0:17 [--keep FOLDER]

Nothing is written here of which keys, commands and options there are: they are drawn from the
schema and from the application. However few lines are asked for, there is one of each command. With
`--models`, `record` has a model to run, if PyTorch and Transformers are installed. `--shrink 0`
tells a fault as it was drawn. The exit code is 1 where a kind is found that is not in known.txt.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import count
from pathlib import Path
from shlex import join
from typing import Any

HERE = Path(__file__).resolve().parent
# A script finds only what stands beside it.
sys.path.insert(0, str(HERE.parents[2]))

from tests.tools.sweep.drawn_lines import ENDLESS, TYPED, commands  # noqa: E402
from tests.tools.sweep.playing import Case, Fault, Play, case, lay_out, play, prepare  # noqa: E402


def known() -> dict[str, str]:
    """The kinds of faults that are known, each with the reason why it stays for now."""
    rows = (HERE / "known.txt").read_text(encoding="utf-8").splitlines()
    pairs = (row.partition(" — ") for row in rows if row and not row.startswith("#"))
    return {kind: reason for kind, _, reason in pairs}


def is_known(kind: str, kinds: dict[str, str]) -> bool:
    """Whether a kind is one of these; a star stands for anything."""
    return any(fnmatchcase(kind, each) for each in kinds)


def shrunk(what: Case, fault: Fault, seconds: float) -> Case:
    """A smaller case with a fault of the same kind: fewer options, fewer keys, plainer numbers."""
    ends = time.monotonic() + seconds
    smaller = True
    while smaller:
        smaller = False
        for other in _smaller(what):
            if time.monotonic() > ends:
                return what
            found = play(other).fault
            if found and found.kind == fault.kind:
                what, smaller = other, True
                break
    return what


def _smaller(what: Case) -> Iterator[Case]:
    for number in range(len(what.lines) - 1 if what.promise == "ends well" else 0):
        yield replace(what, lines=what.lines[:number] + what.lines[number + 1 :])
    for number, line in enumerate(what.lines):
        for at, argument in enumerate(line):
            if argument.startswith("-"):
                valued = (
                    "=" not in argument and at + 1 < len(line) and not line[at + 1].startswith("-")
                )
                for end in (at + 2, at + 1) if valued else (at + 1,):
                    without = line[:at] + line[end:]
                    yield replace(
                        what, lines=[*what.lines[:number], without, *what.lines[number + 1 :]]
                    )
    for name, text in what.files.items():
        try:
            data = json.loads(text) if name.endswith(".json") else _rows(text)
        except ValueError:
            continue
        for other in (data, *_simpler(data)):
            if isinstance(other, dict) and _text(name, other) != text:
                yield replace(what, files={**what.files, name: _text(name, other)})


def _rows(text: str) -> Any:
    import yaml

    return json.loads(json.dumps(yaml.safe_load(text)))


def _text(name: str, data: Any) -> str:
    if name.endswith(".json"):
        return json.dumps(data)
    return "".join(
        f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in data.items()
    )


def _simpler(data: Any) -> Iterator[Any]:
    if not isinstance(data, dict):
        return
    for key, value in data.items():
        yield {name: each for name, each in data.items() if name != key}
        if isinstance(value, dict):
            yield from ({**data, key: each} for each in _simpler(value) if each)
        if isinstance(value, list) and value != (plain := _plain(value)):
            yield {**data, key: plain}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return 1 if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def told(what: Case, fault: Fault) -> str:
    """A fault as commands to be pasted, with the text of the files."""
    parts = [f"{fault.kind}\n"]
    for name, text in what.files.items():
        parts.append(f"cat > {name} <<'END'\n{text.rstrip()}\nEND\n")
    for name, arrays in what.arrays.items():
        if any(name in text for text in what.files.values()):
            values = {key: (str(value.dtype), value.tolist()) for key, value in arrays.items()}
            parts.append(f"# {name} holds {values}\n")
    typed = f" < {next(iter(what.files))}"
    parts += [f"attncli {join(line)}{typed if TYPED in line else ''}\n" for line in what.lines]
    return "".join(parts) + "\n".join(f"    {row}" for row in fault.seen.splitlines()[-6:]) + "\n"


class Tally:
    """How many lines of each command were played, how they ended, and which options were never in
    one that served.
    """

    def __init__(self, every: int) -> None:
        self.every = every
        self.begin, self.seconds, self.lines = time.monotonic(), 0.0, 0
        self.codes: dict[str, Counter[int]] = {name: Counter() for name in commands()}
        self.served: set[tuple[str, str]] = set()

    def add(self, found: Play) -> bool:
        """Count the lines of a case; whether it is time for a summary."""
        before = self.lines
        for line, code in zip(found.lines, found.codes, strict=True):
            called = line[0] if line and line[0] in self.codes else "attncli alone"
            self.codes.setdefault(called, Counter())[code] += 1
            if code <= 1:
                self.served |= {(called, argument.partition("=")[0]) for argument in line[1:]}
        self.lines += len(found.codes)
        self.seconds += found.seconds
        return before // self.every < self.lines // self.every

    def unserved(self) -> list[str]:
        """The options that were in no line with exit code 0 or 1, under the longest of their
        names.
        """
        options = ((name, each) for name, command in commands().items() for each in command.params)
        return [
            f"{name} {each.opts[-1]}"
            for name, each in options
            if self.codes[name] and each.opts[0].startswith("-") and ENDLESS not in each.opts
            if not any((name, spelled) in self.served for spelled in each.opts)
        ]

    def __str__(self) -> str:
        clock = time.monotonic() - self.begin
        rows = [f"{self.lines} lines, {self.seconds:.0f} s of CPU, {clock:.0f} s by the clock"]
        played = {name: codes for name, codes in self.codes.items() if codes}
        for name, codes in played.items():
            ends = ", ".join(f"{times} × {code}" for code, times in sorted(codes.items()))
            rows.append(f"{codes.total():8} {name:13} {ends}")
        if self.lines >= self.every:  # in fewer, most options are in none
            rows.append(
                f"in no line that ended with 0 or 1: {', '.join(self.unserved()) or 'no option'}"
            )
        return "\n".join(rows)


def _played(job: tuple[int, int, str | None]) -> tuple[int, Play]:
    seed, number, command = job
    return number, play(case(seed, number, command))


def sweep(
    seed: int, lines: int, workers: int = 1, first: int = 0, command: str | None = None
) -> Iterator[tuple[int, Play]]:
    """Cases, of one command or all, and what came of them, until so many lines are played, and one
    of each command.
    """
    jobs = ((seed, number, command) for number in count(first))
    done = 0
    if workers == 1:
        results: Any = map(_played, jobs)
        for number, found in results:
            done += len(found.codes)
            yield number, found
            if done >= lines and number + 1 >= len(commands()):
                return
    with ProcessPoolExecutor(workers) as pool:
        while done < lines:
            batch = [next(jobs) for _ in range(50 * workers)]
            for number, found in pool.map(_played, batch, chunksize=5):
                done += len(found.codes)
                yield number, found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument(
        "--command", metavar="NAME", choices=[*commands()], help="draw lines of this command only"
    )
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--shrink", type=float, default=10, help="seconds for each kind")
    parser.add_argument(
        "--every", type=int, default=5000, metavar="N", help="lines from one summary to the next"
    )
    parser.add_argument("--models", action="store_true", help="let record run a small model")
    parser.add_argument("--play", metavar="SEED:NUMBER")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="with --play: leave the files of the case here"
    )
    chosen = parser.parse_args()
    prepare(models=chosen.models)
    if chosen.play:
        seed, _, number = chosen.play.partition(":")
        return _play_one(case(int(seed), int(number), chosen.command), chosen.keep, chosen.shrink)
    kinds: Counter[str] = Counter()
    only = f"--command {chosen.command} " if chosen.command else ""
    tally, expected = Tally(chosen.every), known()
    for number, found in sweep(
        chosen.seed, chosen.lines, chosen.workers, chosen.first, chosen.command
    ):
        if tally.add(found):
            print(f"\nSo far:\n{tally}\n{kinds.total()} faults", flush=True)
        if found.fault is None:
            continue
        kinds[found.fault.kind] += 1
        if kinds[found.fault.kind] == 1:
            what = as_played(case(chosen.seed, number, chosen.command), found)
            small = shrunk(what, found.fault, chosen.shrink)
            again = play(small).fault or found.fault
            mark = "known: " * is_known(again.kind, expected)
            print(f"\n{only}--play {chosen.seed}:{number}  {mark}{told(small, again)}", flush=True)
    print(f"\n{tally}")
    for kind, times in kinds.most_common():
        print(f"{times:6}  {'known: ' * is_known(kind, expected)}{kind}")
    return 1 if any(not is_known(kind, expected) for kind in kinds) else 0


def as_played(what: Case, found: Play) -> Case:
    """The case with the lines that were played, mended ones among them."""
    return replace(what, lines=found.lines, mends=False)


def _play_one(what: Case, keep: Path | None, seconds: float) -> int:
    found = play(what)
    what = as_played(what, found)
    if found.fault and seconds:
        what = shrunk(what, found.fault, seconds)
        found = play(what)
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
        lay_out(what, keep)
    print(told(what, found.fault or Fault("no fault", f"exit codes {found.codes}")))
    return 1 if found.fault else 0


if __name__ == "__main__":
    sys.exit(main())
