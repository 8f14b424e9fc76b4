"""Draws command lines over every command, argument, option and value, as the Typer application has
them.

A command, an option or a word of one is drawn as soon as the application has it. What an option
takes is told by its flag, its words and its range; text that is free goes by what the option calls
its value: `NAME,…`, `CELL`, `MASK`. Most lines begin with options that stand together in the
documentation (`documented.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import PurePath
from random import Random
from typing import Any

from attncli.attention.registry import RULES, STEP_NAMES
from attncli.cli.app import _group, command_names
from tests.tools.sweep.documented import Documented, documented_lines
from tests.tools.sweep.drawn_files import (
    ANSWERS,
    ARRAYS,
    DUMP,
    FUNCTIONS,
    MANIFEST,
    MANIFEST_OF_FUNCTIONS,
    MASK_MODS,
    MODEL,
    OTHER,
    ROSTER,
    SCHEME,
)
from tests.tools.sweep.drawn_problems import (
    EXACT_WORDS,
    ODD,
    TEXTS,
    Drawn,
    draw_problem,
    problem_schema,
)

WRONG = 0.03  # the share of values that nothing takes
FOLLOWS = 0.65  # the share of lines that begin with the options of a documented one
PAGES = (".md", ".tex", ".json", ".txt", ".svg")
SUFFIXES = (
    *PAGES,
    *PAGES,
    ".html",
    ".xlsx",
    ".csv",
    ".tsv",
    ".npy",
    ".png",
    ".xml",
    ".Rmd",
    ".yaml",
    ".pdf",
    "",
)
WRITTEN, FOLDER = "written", "folder"  # how the names begin of what a line is to write
TYPED = "-"  # standard input, which is the text of the problem
MASKS = [
    "causal",
    "none",
    "{window: [1, 0]}",
    "{causal: true, corner: bottom-right}",
    "[causal, {window: [1, -1]}]",
    "{lengths: 2}",
    "{padding: [1, 1, 0]}",
    "[[true]]",
    "[[0, -1]]",
    "causal: true\nwindow: [1, 0]",
    "{additive: [[0, 1000, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]}",
]
ENDLESS = "--watch"  # until Ctrl-C: not drawn
# Options that read a file or a folder, "" for the problem.
READ = {
    "check --batch": MANIFEST,
    "check --directory": ".",
    "check --marking": SCHEME,
    "worksheet --marking": SCHEME,
    "generate --roster": ROSTER,
    "generate --audit": "",
    "test --outputs": ".",
    "test --batch": MANIFEST_OF_FUNCTIONS,
    "test --directory": ".",
}
CALLS = ["f(q, k, v)", "f(q, k, v, mask=~mask)", "f(k, q, v, None)", "f(q, k, v"]
SQUARE = {"generate": 4, "new": 3}  # the tokens of problems that these commands make
MOST = {"--count": 3}  # of what takes a second for each
# Without it, the line works out 500 problems: it takes as long as thirty others.
ALWAYS = {"scaling": "--draws"}
# lines without a command
ALONE = (["--help"], ["--version"], [], ["-h"], ["computer"], ["--nothing"])


@cache
def commands() -> dict[str, Any]:
    """Every command of the application by its name."""
    found: dict[str, Any] = _group(*command_names()).commands
    return found


def draw_line(
    choice: Random,
    name: str,
    drawn: Drawn,
    application: dict[str, Any] | None = None,
    called: str | None = None,
) -> list[str]:
    """One command line about the problem file `name`, or of this command; it may read the files of
    `drawn_files.py`.

    Further arrays that its values name are put into `drawn`.
    """
    known = application or commands()
    if called is None:
        if choice.random() < 0.005:
            return list(choice.choice(ALONE))
        called = _command(choice, known)
        if choice.random() < 0.005:
            return [called, choice.choice(["--help", "-h"])]
    line = _Line(choice, known[called], _Values(choice, called, name, drawn))
    options, arguments = line.options(), line.arguments()
    return (
        [called, *options, *arguments] if choice.random() < 0.1 else [called, *arguments, *options]
    )


def _command(choice: Random, known: dict[str, Any]) -> str:
    """One of the commands, more often one with many options."""
    weights = [_weight(name, len(command.params)) for name, command in known.items()]
    return choice.choices(list(known), weights)[0]


def _weight(name: str, options: int) -> int:
    # One line of it runs a function on two dozen problems: it takes as long as fifteen others.
    if name == "test":
        return 1
    if options > 15:
        return 6
    return 3 if options > 5 else 1


class _Line:
    """The options and arguments of one line, half of the time those of a documented line and a few
    others.
    """

    def __init__(self, choice: Random, command: Any, values: _Values) -> None:
        self.choice, self.command, self.values = choice, command, values
        self.lines = documented_lines(command, values.called)
        self.documented = (
            choice.choice(self.lines)
            if self.lines and choice.random() < FOLLOWS
            else Documented({}, [])
        )
        self.follows = bool(self.documented.options or self.documented.arguments)
        shares = [0, 0, 0.05, 0.1] if self.follows else [0, 0.05, 0.1, 0.1, 0.2, 0.4]
        self.each = choice.choice(shares) * max(1, 10 / len(command.params))

    def options(self) -> list[str]:
        """Options with their values, in any order."""
        choice, found = self.choice, []
        for parameter in choice.sample(self.command.params, len(self.command.params)):
            if _is_argument(parameter) or ENDLESS in parameter.opts:
                continue
            for _ in range(choice.choice([1, 1, 2]) if parameter.multiple else 1):
                if self._is_given(parameter):
                    found += self._option(parameter)
        return found

    def arguments(self) -> list[str]:
        """The arguments: as many as in the documented line, else those that are required and some
        others.
        """
        left, found = len(self.documented.arguments), []
        for parameter in filter(_is_argument, self.command.params):
            given = left > 0 if self.follows else parameter.required or self.choice.random() < 0.6
            many = self.choice.choice([1, 1, 1, 2, 3]) if parameter.nargs < 0 else 1
            found += [self._value(parameter) for _ in range(many if given else 0)]
            left -= 1
        return found

    def _is_given(self, parameter: Any) -> bool:
        there = self.documented.options.keys() & {*parameter.opts}
        if ALWAYS.get(self.values.called) in parameter.opts:
            return True
        return bool(there) or parameter.required or self.choice.random() < self.each

    def _option(self, parameter: Any) -> list[str]:
        spelled = self.choice.choice(parameter.opts)
        if parameter.is_flag:
            return [spelled]
        value = self._value(parameter)
        if spelled.startswith("--") and self.choice.random() < 0.5:
            return [f"{spelled}={value}"]
        return [spelled, value]

    def _value(self, parameter: Any) -> str:
        """A value; now and then that of the documented line, and in a name of a file its suffix."""
        documented = self.documented.value_of(parameter.opts)
        if self.values.names_file(parameter):
            return self.values.of(parameter, documented or "")
        if _is_argument(parameter):
            said = [line.arguments[0] for line in self.lines if line.arguments]
            documented = self.choice.choice(said) if said else None
        if documented and self.choice.random() < 0.5:
            return documented
        return self.values.of(parameter, documented or "")


def _is_argument(parameter: Any) -> bool:
    return not parameter.opts[0].startswith("-")


class _Values:
    """Values for options and arguments, of what the problem has."""

    def __init__(self, choice: Random, called: str, name: str, drawn: Drawn) -> None:
        self.choice, self.called, self.name, self.drawn = choice, called, name, drawn
        self.files: dict[str, Callable[[], str]] = {
            "FILE": self.problem,
            "PROBLEM": self.problem,
            "FILE_A": self.problem,
            "FILE…": lambda: self.choice.choice([self.name, self.name, OTHER]),
            "FILE_B": lambda: self.choice.choice(
                [OTHER, OTHER, OTHER, DUMP, ARRAYS, self.name, ANSWERS]
            ),
            "ANSWERS…": lambda: self.choice.choice([ANSWERS, ANSWERS, ANSWERS, DUMP, OTHER]),
            "MODEL_DIR": lambda: self.choice.choice(
                [MODEL, MODEL, MODEL, MODEL, ".", "nothing", self.name]
            ),
            "FOLDER": self.folder,
            "DIR": self.folder,
            "FILE.py:NAME": self.function,
        }
        self.by_kind: dict[str, Callable[[], str]] = self.files | {
            "NAME,…": self.steps,
            "NAME": self.step,
            "STEP": self.step,
            "CELL": self.cell,
            "KEY=VALUE": self.setting,
            "MASK": self.mask,
            "SCALE": self.scale,
            "A..B": lambda: self.choice.choice(["0..1", "-2..2", "-1/2..0.5", "0.1..1e3"]),
            "N,…": lambda: ",".join(self.count() for _ in range(2)),
            "T": lambda: self.choice.choice(["0", "1e-9", "1e-3", "1", "1/3"]),
            "N": self.size,
            "N,D_MODEL,D_K,D_V": self.dims,
            "NAME=STEP": lambda: f"{self.step()}={self.step()}",
            "TOKEN": self.token,
            "WORDS": lambda: " ".join(self.choice.sample(TEXTS, self.choice.randint(1, 4))),
            "TEXT": lambda: self.choice.choice([*TEXTS, "I love AI", "1", "midterm"]),
            "EXPRESSION": lambda: self.choice.choice(CALLS),
            "FUNCTION": lambda: self.choice.choice(["attention", "attention", "attend", "x"]),
            "SETTING,…": lambda: self.choice.choice(["mask", "mask,causal", "scale", "sink,x"]),
            "MARKS": lambda: self.choice.choice(["0", "1", "2", "0.5", "1/3"]),
            "NAME=WEIGHT,…": lambda: self.choice.choice(["W_Q=W_q", "W_K=W_k,W_V=W_v", "b_O=x"]),
            "ADDRESS": lambda: self.choice.choice(["tcp://127.0.0.1:1", "nowhere", "127.0.0.1"]),
        }

    def names_file(self, parameter: Any) -> bool:
        """Whether the value is a file or a folder."""
        return parameter.metavar in self.files

    def of(self, parameter: Any, documented: str = "") -> str:
        """Something for a parameter to take, in a line that may be like a documented one with this
        value.
        """
        choice = self.choice
        if choice.random() < WRONG:
            return choice.choice(
                [
                    "",
                    "x",
                    "-1",
                    "nan",
                    "1e400",
                    "0",
                    "[",
                    "{",
                    ",",
                    "mask=",
                    "é",
                    "a,,b",
                    "scores[",
                    "1e-400",
                ]
            )
        kind = parameter.metavar or ""
        words = list(getattr(parameter.type, "choices", ())) or kind.split("|")
        if len(words) > 1:
            word = str(choice.choice(words))
            return self.by_kind.get(word, lambda: word)()
        allowed = _range(parameter)
        if allowed is not None:
            most = MOST.get(parameter.opts[-1], allowed[-1])
            return str(min(most, self._within(allowed)))
        read = READ.get(f"{self.called} {parameter.opts[-1]}")
        if read is not None:
            return read or self.name
        if kind == "FILE" and not _is_argument(parameter):
            return self.new_file(parameter.opts, documented)
        return self.by_kind.get(kind, self.anything)()

    def problem(self) -> str:
        return TYPED if self.often(0.04) else self.name

    def function(self) -> str:
        """A function that the command is for, seldom one that it is not for."""
        return self.choice.choice(MASK_MODS if self.called == "mask" else FUNCTIONS)

    def folder(self) -> str:
        """A folder to be made, seldom one that is there."""
        return self.choice.choice([FOLDER] * 8 + [f"{FOLDER}/in", "."])

    def new_file(self, names: Sequence[str], documented: str) -> str:
        """The name of a file to be written, seldom one that is there."""
        if self.often(0.04):
            there = [self.name, ANSWERS, OTHER, ROSTER, "-", "nowhere/x.md", ".", f"{WRITTEN}/"]
            return self.choice.choice(there)
        suffix = ".yaml" if "--answers" in names else self.choice.choice(SUFFIXES)
        if documented and self.often(0.8):
            suffix = PurePath(documented).suffix
        numbered = "{n}" in documented or self.often(0.05)
        # Files of several options of one line have names of their own.
        which = names[-1].strip("-") if names[-1] != "--output" else ""
        return f"{WRITTEN}{which}{'-{n}' if numbered else ''}{suffix}"

    def dims(self) -> str:
        sizes = [self.choice.choice([1, 2, 2, 3, 3, 4, 5]) for _ in range(4)]
        return self.choice.choice(
            ["4,2,3,5", "4,2,3,2", "2,4,3,3", "16,1,1,1", ",".join(map(str, sizes))]
        )

    def token(self) -> str:
        tokens = self.drawn.data.get("tokens", [])
        labels = (
            [each for each in tokens if isinstance(each, str)] if isinstance(tokens, list) else []
        )
        return self.choice.choice([*labels, "0", "1", "t1"])

    def _within(self, allowed: range) -> int:
        """A number of the range: mostly a small one, seldom its last."""
        choice = self.choice
        near = min(allowed[-1], allowed[0] + choice.choice([0, 1, 1, 2, 2, 3, 4, 5, 7, 9, 12, 15]))
        return choice.choice([near] * 9 + [min(allowed[-1], 10**6 if len(allowed) > 10**6 else 64)])

    def anything(self) -> str:
        return self.choice.choice([*TEXTS, *map(json.dumps, ODD), "1", "2"])

    def count(self) -> str:
        return self.choice.choice(["1", "2", "3", "8"])

    def size(self) -> str:
        return self.choice.choice(["0", "0", "1", "1", "2", "0.1", "0.5", "1/3", "-1"])

    def step(self) -> str:
        choice = self.choice
        usual = [
            "Q",
            "K",
            "V",
            "scores",
            "scaled",
            "masked",
            "exp",
            "row_sum",
            "weights",
            "output",
            "concat",
            *self.drawn.data,
        ]
        back = [
            "d_output",
            "d_weights",
            "d_scores",
            "d_Q",
            "d_K",
            "d_V",
            "d_W_Q",
            "d_X",
            "loss",
            "delta",
        ]
        return choice.choice(
            [
                *usual,
                *usual,
                *back,
                *RULES,
                *(["problem", "trace", "answers", "verdict", "comparison"]),
            ]
        )

    def steps(self) -> str:
        names = [self.step() for _ in range(self.choice.choice([1, 1, 1, 2, 3]))]
        return ",".join(
            self.choice.choice([name, name, name, *STEP_NAMES]) if self.often(0.05) else name
            for name in names
        )

    def often(self, share: float) -> bool:
        return self.choice.random() < share

    def cell(self) -> str:
        name = self.step()
        lengths = self.drawn.lengths
        letters = list(RULES[name].target.letters) if name in RULES else ["i", "j"]
        heads = lengths.get("h", 1) > 1 if self.often(0.8) else self.often(0.5)
        before = (["b"] if lengths.get("b") else []) + (["h"] if heads else [])
        places = []
        for letter in [*before, *letters]:
            length = max(1, lengths.get(letter, 2))
            place: Any = self.choice.randrange(length)
            labels = self.drawn.data.get({"i": "tokens", "j": "context_tokens"}.get(letter, ""), [])
            if isinstance(labels, list) and labels and self.often(0.5):
                place = self.choice.choice(labels)
            places.append(length if self.often(0.05) else place)
        return f"{name}[{','.join(map(str, places))}]" if places else name

    def mask(self) -> str:
        if self.often(0.4):
            return self.choice.choice(MASKS)
        return self.setting("mask").partition("=")[2]

    def scale(self) -> str:
        return self.choice.choice(["none", "default", "0.5", "2", "-1", "0", "1e300", *EXACT_WORDS])

    def setting(self, key: str = "") -> str:
        """A key and a value that another problem of such sizes has."""
        others = {
            "dtype": ["float16", "float32", "bfloat16"],
            "rounding": ["exact", "paper"],
            "as": ["torch", "jax"],
        }
        key = key or self.choice.choice([*problem_schema()["properties"], *others])
        if key in others:
            return f"{key}={self.choice.choice(others[key])}"
        if self.often(0.1):
            return f"{key}="
        n = SQUARE.get(self.called)  # a command that makes problems of its own
        lengths = (
            self.drawn.lengths if n is None else dict(zip("isjub", (n, n, n, 0, 0), strict=True))
        )
        for _ in range(20):
            other = draw_problem(self.choice, lengths=lengths)
            if key in other.data and not other.arrays.keys() & self.drawn.arrays.keys():
                self.drawn.arrays |= other.arrays
                return f"{key}={json.dumps(other.data[key])}"
        return f"{key}={json.dumps(self.choice.choice(ODD))}"


def _range(parameter: Any) -> range | None:
    """The whole numbers that an option takes, where its parser or its type says so."""
    parser = getattr(parameter.type, "func", None)
    allowed = getattr(parser, "keywords", {}).get("allowed")
    if isinstance(allowed, range):
        return allowed
    least, most = (getattr(parameter.type, bound, None) for bound in ("min", "max"))
    return (
        range(int(least or 0), int(most or 100) + 1)
        if least is not None or most is not None
        else None
    )
