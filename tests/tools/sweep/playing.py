"""Plays drawn cases: command lines about one problem, in a child process with limits, and what must
hold of their ends.

A case is drawn from a seed and a number alone, so that these two say it again.
"""

from __future__ import annotations

import bisect
import faulthandler
import gc
import json
import os
import re
import resource
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from random import Random
from typing import Any, NamedTuple

import attncli
from attncli.errors import AttncliError
from tests.tools.fuzz.ends import End, check_end, end_of
from tests.tools.sweep.drawn_files import (
    DUMP,
    MANIFEST,
    MANIFEST_OF_FUNCTIONS,
    MODEL,
    OF_NUMBERS,
    OTHER,
    ROSTER,
    SCHEME,
    draw_file,
)
from tests.tools.sweep.drawn_lines import PAGES, TYPED, commands, draw_line
from tests.tools.sweep.drawn_problems import Drawn, array_file, draw_problem, written
from tests.tools.sweep.made_files import make_files
from tests.tools.sweep.mended_lines import mended
from tests.tools.sweep.models import lay_out_model, small_model
from tests.tools.sweep.written_files import (
    Contents,
    Unwritten,
    asked_files,
    check_files,
    contents,
)

# A set of thirty problems takes up to 8 s here, and more beside other work.
CPU = 20  # seconds that a line may take
WALL = 300  # seconds after which a case is stopped that only waits
MEMORY = 2**30  # bytes that a line may take besides what the program itself does
HALF = Decimal("0.005")  # half a unit of the last digit where numbers have two decimals
# besides 0, 2, 3, 4 and 5
CODES = {"compute": (), "gradient": (1,), "check": (1,), "compare": (1,), "test": (1,)}


@dataclass(frozen=True)
class Case:
    """Files by their names, the lines that are played one after the other, and what else must hold
    of them.
    """

    files: Mapping[str, str]
    arrays: Mapping[str, Mapping[str, Any]]
    lines: list[list[str]]
    promise: str
    salt: int = 0  # what is drawn while it is played is drawn from this
    mends: bool = True  # lines that are refused for an option are run again without it


class Fault(NamedTuple):
    """What went wrong, in words that are the same for all faults of one cause, and what was seen of
    it.
    """

    kind: str
    seen: str


class Broken(Exception):
    """A promise that is not kept: the kind, and what was seen."""


@dataclass
class Play:
    """What came of a case: the lines that were run, their exit codes, and the fault, if there was
    any.
    """

    lines: list[list[str]] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    fault: Fault | None = None
    seconds: float = 0


# The cases.


def case(seed: int, number: int, command: str | None = None) -> Case:
    """The case of this number, with a line of this command; without one, the first cases have one
    of each command.
    """
    choice = Random(f"{seed}:{number}")
    drawn = draw_problem(choice)
    name, text = written(choice, drawn.data)
    if command is None and number < len(commands()):
        command = [*commands()][number]
    if command is not None:
        promise = "ends well"
        lines = _any_line(choice, name, drawn, command)
    else:
        promise = choice.choices(list(PROMISES), [promise.weight for promise in PROMISES.values()])[
            0
        ]
        lines = PROMISES[promise].lines(choice, name, drawn)
    files, arrays = {name: text}, dict(drawn.arrays)
    for file in (MANIFEST, MANIFEST_OF_FUNCTIONS, ROSTER, SCHEME, OTHER):
        if _named(file, lines) or (file == OTHER and OTHER in files.get(MANIFEST, "")):
            files[file], others = draw_file(choice, file, name, drawn)
            arrays |= others
    return Case(files, arrays, lines, promise, choice.randrange(2**32))


def _named(file: str, lines: list[list[str]]) -> bool:
    return any(file in argument for line in lines for argument in line)


class Promise(NamedTuple):
    """How often it is tried, its lines, and what raises `Broken` where their ends are not as
    promised.

    `between` is called with a Random after each line.
    """

    weight: float
    lines: Callable[[Random, str, Drawn], list[list[str]]]
    holds: Callable[[list[list[str]], list[End]], None] = lambda lines, ends: None
    between: Callable[[Random], None] = lambda choice: None


def _any_line(
    choice: Random, name: str, drawn: Drawn, called: str | None = None
) -> list[list[str]]:
    lines = [draw_line(choice, name, drawn, called=called)]
    if any(_named(file, lines) for file in OF_NUMBERS):
        lines.insert(
            0,
            [choice.choice(["compute", "compute", "gradient"]), name, "--format=json", "-o", DUMP],
        )
    return lines


def _own_page(choice: Random, name: str, drawn: Drawn) -> list[list[str]]:
    page = f"page{choice.choice(PAGES[:3])}"
    line = [choice.choice(["compute", "compute", "gradient"]), name, "-o", page]
    for words in (
        ["--precision", "{}", "0", "1", "2", "5", "9", "12", "15"],
        ["--rounding", "{}", "exact", "paper"],
        ["--detail", "{}", "brief", "cells"],
    ):
        if choice.random() < 0.5:
            line.append(f"{words[0]}={choice.choice(words[2:])}")
    return [line, ["check", name, page, "--format=json"]]


def _numbers_alone(choice: Random) -> None:
    """Answers are the matrices of a JSON page alone."""
    page = Path("page.json")
    if not page.exists() or "steps" not in (data := json.loads(page.read_text())):
        return
    settings = data["settings"]
    paper = settings.get("rounding") == "paper"  # where a copy has all digits of what is given
    digits = settings["precision"] if paper else None

    def given(value: Any) -> Any:
        """As a person would write it who keeps so many decimals."""
        if isinstance(value, list):
            return [given(each) for each in value]
        in_decimals = (
            isinstance(value, float) and digits is not None and abs(value) * 10.0**digits < 1e15
        )
        return f"{value:.{digits}f}" if in_decimals else value

    steps = {
        name: ((paper or not step["inputs"]) and step.get("written")) or given(step["value"])
        for name, step in data["steps"].items()
    }
    page.write_text(json.dumps(steps))


def _page_is_right(lines: list[list[str]], ends: list[End]) -> None:
    overflown = " not fit into" in ends[0].err  # it has inf and NaN, which nobody answers
    if ends[0].code == 0 and len(ends) > 1 and not overflown:
        if ends[1].code == 1:
            found = json.loads(ends[1].out)
            form = lines[0][3].partition(".")[2]
            step = (found["first_wrong"] or {}).get("step", "none")
            raise Broken(
                f"own page is not right: {form}, {step}",
                f"first {found['first_wrong']}, counts {found['counts']}",
            )
        if ends[1].code != 0:
            words = re.sub(r"[-\d.]+|'[^']*'|page\S*", "…", ends[1].err.splitlines()[0])
            raise Broken(f"own page is not read: {words[:120]}", ends[1].err)


def _numbers(choice: Random, name: str, drawn: Drawn) -> list[list[str]]:
    line = [
        choice.choice(["compute", "compute", "gradient"]),
        name,
        "--all",
        "--detail=brief",
        f"--precision={choice.choice([2, 3, 6])}",
    ]
    # JSON has both passes.
    forward = ["--forward"] if "gradient" in line else []
    forms = ("table", "markdown", "latex", "html")
    return [
        [*line, "--format=json"],
        *([*line, *forward, f"--format={form}"] for form in forms),
    ]


def _same_numbers(lines: list[list[str]], ends: list[End]) -> None:
    if len({end.code for end in ends}) > 1:
        raise Broken("formats end with different codes", str([end.code for end in ends]))
    if ends[0].code:
        return
    steps = json.loads(ends[0].out)["steps"].values()
    given = {number for step in steps if not step["inputs"] for number in _flat(step["value"])}
    # which stand there as written
    numbers = {number for step in steps for number in _flat(step["value"])} - given
    # A page rounds the decimal of 15 significant digits that a float stands for.
    wanted = sorted(Decimal(f"{number:.14e}") for number in numbers if 0.01 < abs(number) < 1e12)
    for end, form in zip(ends[1:], ("table", "markdown", "latex", "html"), strict=True):
        text = end.out.replace("−", "-").replace("{,}", "").replace("\\,", "")
        there = sorted(
            {Decimal(word) for word in re.findall(r"-?\d+(?:\.\d+)?", text) if len(word) < 40}
        )
        for number in wanted:
            place = bisect.bisect_left(there, number)
            if (
                min(
                    (abs(number - near) for near in there[max(0, place - 1) : place + 1]), default=1
                )
                > HALF
            ):
                raise Broken(f"a number of JSON is not on the page: {form}", str(number))


def _flat(value: Any) -> Iterator[float]:
    if isinstance(value, list):
        for each in value:
            yield from _flat(each)
    elif isinstance(value, (int, float)):
        yield value


def _verified(lines: list[list[str]], ends: list[End]) -> None:
    if ends[0].code == 1:
        raise Broken("gradient --verify disagrees", ends[0].err + ends[0].out[-1500:])


def _with_itself(choice: Random, name: str, drawn: Drawn) -> list[list[str]]:
    more = choice.choice([[], [], ["--gradient"]])
    dump = ["gradient" if more else "compute", name, "--format=json", "-o", DUMP]
    return [dump, ["compare", name, name, *more], ["compare", name, DUMP]]


def _equals_itself(lines: list[list[str]], ends: list[End]) -> None:
    for end, what in zip(ends[1:], ("itself", "its own JSON"), strict=False):
        if ends[0].code == 0 and end.code == 1:
            raise Broken(f"a problem differs from {what}", end.out[:1500])


def _whole_way(choice: Random, name: str, drawn: Drawn) -> list[list[str]]:
    return [[choice.choice(["compute", "gradient"]), name, "--detail=brief"]]


def _survives(lines: list[list[str]], ends: list[End]) -> None:
    from attncli.notebook import Trace
    from attncli.page.derivation import derivation
    from attncli.page.gradient import gradient_page
    from attncli.page.view import View
    from attncli.render import Style, render
    from attncli.tracing import run

    if ends[0].code:
        return
    (called, name, *_), *_ = lines
    gradient = called == "gradient"
    trace = Trace._of(run(attncli.load(name), gradient=gradient))
    data = trace.to_dict()
    again = Trace.from_dict(json.loads(json.dumps(data)))
    if again.to_dict() != data:
        differ = [
            step
            for step, value in data["steps"].items()
            if again.to_dict()["steps"].get(step) != value
        ]
        raise Broken("a trace does not survive JSON", f"{differ}")
    page = gradient_page if gradient else derivation
    for detail in ("rows", "cells"):
        one, other = (
            render(page(each, View(detail=detail)), "markdown", Style()) for each in (trace, again)
        )
        if one != other:
            lines = [
                pair
                for pair in zip(one.splitlines(), other.splitlines(), strict=False)
                if pair[0] != pair[1]
            ]
            raise Broken("a trace read from JSON has another page", f"{lines[:3]}")


def _again(choice: Random, name: str, drawn: Drawn) -> list[list[str]]:
    """One line twice; not one that writes, which may find what the first one has written."""
    for _ in range(20):
        line = draw_line(choice, name, drawn)
        if not asked_files(line) and not any(_named(file, [line]) for file in OF_NUMBERS):
            break
    return [line, line]


def _same_again(lines: list[list[str]], ends: list[End]) -> None:
    if ends[0] != ends[-1]:
        raise Broken("a line that is run again ends in another way", ends[0].err + ends[-1].err)


PROMISES = {
    "ends well": Promise(9, _any_line, between=make_files),
    "own page": Promise(3, _own_page, _page_is_right, _numbers_alone),
    "same numbers": Promise(1, _numbers, _same_numbers),
    "verify": Promise(
        1, lambda choice, name, drawn: [["gradient", name, "--verify", "--detail=brief"]], _verified
    ),
    "itself": Promise(1, _with_itself, _equals_itself),
    "survives": Promise(1, _whole_way, _survives),
    "again": Promise(1, _again, _same_again),
}


# Playing.


_model: list[Path] = []  # the one that `record` runs, if there is one


def prepare(models: bool = False) -> None:
    """Import everything once, so that each child has it; with `models` also what runs a model."""
    single = dict.fromkeys(
        ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "TOKENIZERS_PARALLELISM"), "1"
    )
    os.environ |= {**single, "ATTNCLI_TRACEBACK": "1", "NO_COLOR": ""}
    for module in walk_packages(attncli.__path__, "attncli.", onerror=lambda name: None):
        if not module.name.endswith("__main__"):
            with suppress(AttncliError):  # of what needs a package that is not installed
                import_module(module.name)
    commands()
    if models and (model := small_model()):
        _model.append(model)
        # which imports more, and starts what starts only once
        end_of(["record", str(model), "--text", "I love AI"])
    gc.freeze()


def play(what: Case) -> Play:
    """Run the lines of a case, in a child of this process."""
    with tempfile.TemporaryDirectory(prefix="attncli-sweep-") as folder:
        lay_out(what, Path(folder))
        told = Path(folder, ".told")
        child = os.fork()
        if child == 0:
            _in_child(what, Path(folder), told)
        _, status, usage = os.wait4(child, 0)
        result = _read(what, told, os.waitstatus_to_exitcode(status))
        return replace(result, seconds=usage.ru_utime + usage.ru_stime)


def lay_out(what: Case, folder: Path) -> None:
    """Write the files of a case."""
    for name, text in what.files.items():
        (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    for name, arrays in what.arrays.items():
        (folder / name).write_bytes(array_file(name, arrays))
    if _named(MODEL, what.lines):
        lay_out_model(next(iter(_model), None), folder / MODEL, Random(what.salt))


def _in_child(what: Case, folder: Path, told: Path) -> None:
    try:
        os.chdir(folder)
        stream = told.open("w")
        faulthandler.register(signal.SIGPROF, file=stream, all_threads=False, chain=True)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(WALL)
        _limit_memory()
        promise, choice = PROMISES[what.promise], Random(what.salt)
        typed = next(iter(what.files.values())).encode("utf-8", "surrogatepass")
        ends = []
        lines = [*what.lines]

        def tell(**row: Any) -> None:
            stream.write(json.dumps(row) + "\n")
            stream.flush()

        for line in lines:  # to which mended ones are added
            tell(line=line)
            before = contents(folder)
            signal.setitimer(signal.ITIMER_PROF, CPU)
            end = end_of(line, typed if TYPED in line else b"")
            signal.setitimer(signal.ITIMER_PROF, 0)
            ends.append(end)
            fault = _fault_of(line, end) or _fault_of_files(line, end, before, folder)
            tell(code=end.code, fault=fault)
            if fault:
                return
            promise.between(choice)
            if what.mends and what.promise == "ends well" and (other := mended(line, end.err)):
                lines.append(other)
        signal.setitimer(signal.ITIMER_PROF, 3 * CPU)
        try:
            promise.holds(what.lines, ends)
        except Broken as broken:
            tell(code=None, fault=broken.args)
        except Exception as error:
            tell(code=None, fault=(f"{what.promise}: {_where(error)}", repr(error)))
    except BaseException as error:
        tell(code=None, fault=(f"the sweep itself: {type(error).__name__}", repr(error)[:1000]))
    finally:
        os._exit(0)


def _where(error: Exception) -> str:
    from traceback import extract_tb

    frames = [frame for frame in extract_tb(error.__traceback__) if "attncli" in frame.filename]
    return (
        f"{type(error).__name__} in"
        f" {' < '.join(f'{Path(each.filename).stem}.{each.name}' for each in frames[:-3:-1])}"
    )


def _limit_memory() -> None:
    try:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:  # not on this system
        return
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def _fault_of(line: list[str], end: End) -> Fault | None:
    """What is wrong with the end of a line by itself."""
    called = " ".join(line[:1])
    if end.code == 70 or "Traceback" in end.err:
        frames = re.findall(r'File "[^"]*/attncli/([^"]+)\.py", line \d+, in (\S+)', end.err)
        raised = re.findall(
            r"^([\w.]+)(?:: |$)", end.err.partition("attncli: fault")[0], re.MULTILINE
        )
        places = " < ".join(f"{file}:{function}" for file, function in frames[:-3:-1])
        return Fault(f"exit 70: {(raised or ['?'])[-1]} in {places}", end.err)
    if "not enough memory" in end.err:
        return Fault(f"memory: {called}", end.err)
    try:
        check_end(end, (0, 2, 3, 4, 5, *CODES.get(called, ())))
    except AssertionError as error:
        return Fault(f"{called}: {str(error).splitlines()[0][:90]}", f"{error}\n{end.err}")
    if (
        end.code <= 1
        and end.out.startswith("{")
        and any(word in line for word in ("json", "--format=json"))
    ):
        try:
            json.loads(end.out, parse_constant=_no_constant)
        except ValueError as error:
            return Fault(f"{called}: JSON that is none", str(error))
    return None


def _fault_of_files(line: list[str], end: End, before: Contents, folder: Path) -> Fault | None:
    """What is wrong with what a line has written; the commands that read it have as much time as it
    had.
    """
    signal.setitimer(signal.ITIMER_PROF, 3 * CPU)
    try:
        check_files(line, end, before, contents(folder))
    except Unwritten as unwritten:
        kind, seen = unwritten.args
        return Fault(f"{' '.join(line[:1])}: {kind}", seen)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _read(what: Case, told: Path, code: int) -> Play:
    found = Play()
    rest = []
    for row in told.read_text(errors="replace").splitlines() if told.exists() else ():
        if not row.startswith("{"):
            rest.append(row)
            continue
        data = json.loads(row)
        if "line" in data:
            found.lines.append(data["line"])
        if data.get("code") is not None:
            found.codes.append(data["code"])
        if data.get("fault"):
            found.fault = Fault(*data["fault"])
    if code and found.fault is None:
        line = found.lines[-1]
        way = next(
            (word for word in ("exact", "paper") if any(word in argument for argument in line)), ""
        )
        what_happened = {
            -signal.SIGPROF: f"more than {CPU} s of CPU",
            -signal.SIGALRM: "waits",
        }.get(code, f"signal {-code}")
        found.fault = Fault(f"{what_happened}: {line[0]} {way}".strip(), "\n".join(rest[:30]))
        found.codes.append(code)
    return found
