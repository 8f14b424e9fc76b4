"""Draws command lines over every command, argument, option and value, as the Typer application has them.

A command, an option or a word of one is drawn as soon as the application has it. What an option takes is told by its
flag, its words and its range; text that is free goes by what the option calls its value: `NAME,…`, `CELL`, `MASK`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from drawn_problems import EXACT_WORDS, ODD, TEXTS, Drawn, draw_problem, problem_schema

from attncli.attention.registry import RULES, STEP_NAMES
from attncli.cli.app import _group, command_names

WRONG = 0.03  # the share of values that nothing takes
PAGES = (".md", ".tex", ".json", ".txt", ".svg")
MASKS = [
    "causal", "none", "{window: [1, 0]}", "{causal: true, corner: bottom-right}", "[causal, {window: [1, -1]}]",
    "{lengths: 2}", "{padding: [1, 1, 0]}", "[[true]]", "[[0, -1]]",
]  # fmt: skip
ENDLESS = "--watch"  # until Ctrl-C: not drawn
ANSWERS, OTHER, DUMP = "answers.yaml", "other.yaml", "dump.json"  # files that may lie beside the problem


@cache
def commands() -> dict[str, Any]:
    """Every command of the application by its name."""
    found: dict[str, Any] = _group(*command_names()).commands
    return found


def draw_line(choice: Random, name: str, drawn: Drawn, application: dict[str, Any] | None = None) -> list[str]:
    """One command line about the problem file `name`; it may read ANSWERS, OTHER and DUMP as well."""
    known = application or commands()
    weights = [6 if len(command.params) > 15 else 2 if len(command.params) > 5 else 1 for command in known.values()]
    called = choice.choices(list(known), weights)[0]
    values = _Values(choice, name, drawn)
    arguments, options = [], []
    parameters = [*known[called].params]
    each = choice.choice([0, 0.05, 0.1, 0.1, 0.2]) * max(1, 10 / len(parameters))
    for parameter in choice.sample(parameters, len(parameters)):
        if not parameter.opts[0].startswith("-") or ENDLESS in parameter.opts:
            continue
        for _ in range(choice.choice([1, 1, 2]) if parameter.multiple else 1):
            if parameter.required or choice.random() < each:
                options += _option(choice, parameter, values)
    for parameter in parameters:
        if not parameter.opts[0].startswith("-") and (parameter.required or choice.random() < 0.6):
            arguments.append(values.of(parameter))
    if choice.random() < 0.1:
        return [called, *options, *arguments]
    return [called, *arguments, *options]


def _option(choice: Random, parameter: Any, values: _Values) -> list[str]:
    spelled = choice.choice(parameter.opts)
    if parameter.is_flag:
        return [spelled]
    value = values.of(parameter)
    if spelled.startswith("--") and choice.random() < 0.5:
        return [f"{spelled}={value}"]
    return [spelled, value]


class _Values:
    """Values for options and arguments, of what the problem has."""

    def __init__(self, choice: Random, name: str, drawn: Drawn) -> None:
        self.choice, self.name, self.drawn = choice, name, drawn
        self.by_kind: dict[str, Callable[[], str]] = {
            "FILE": lambda: self.name, "PROBLEM": lambda: self.name, "FILE_A": lambda: self.name,
            "FILE…": lambda: self.name,
            "FILE_B": lambda: self.choice.choice([OTHER, OTHER, DUMP, self.name, ANSWERS]),
            "ANSWERS": lambda: self.choice.choice([ANSWERS, ANSWERS, ANSWERS, DUMP, OTHER]),
            "NAME,…": self.steps, "NAME": self.step, "STEP": self.step, "CELL": self.cell, "KEY=VALUE": self.setting,
            "MASK": self.mask, "SCALE": self.scale, "N,…": lambda: ",".join(self.count() for _ in range(2)),
            "T": lambda: self.choice.choice(["0", "1e-9", "1e-3", "1", "1/3"]), "N": self.size,
        }  # fmt: skip

    def of(self, parameter: Any) -> str:
        """Something for a parameter to take."""
        choice = self.choice
        if choice.random() < WRONG:
            return choice.choice(
                ["", "x", "-1", "nan", "1e400", "0", "[", "{", ",", "mask=", "é", "a,,b", "scores[", "1e-400"]
            )
        kind = parameter.metavar or ""
        words = list(getattr(parameter.type, "choices", ())) or kind.split("|")
        if len(words) > 1:
            word = str(choice.choice(words))
            return self.by_kind.get(word, lambda: word)()
        allowed = _range(parameter)
        if allowed is not None:
            return str(self._within(allowed))
        if kind == "FILE" and parameter.opts[0].startswith("-"):
            return self.written(parameter.opts)
        return self.by_kind.get(kind, self.anything)()

    def _within(self, allowed: range) -> int:
        """A number of the range: mostly a small one, seldom its last."""
        choice = self.choice
        near = min(allowed[-1], allowed[0] + choice.choice([0, 1, 1, 2, 2, 3, 4, 5, 7, 9, 12, 15]))
        return choice.choice([near] * 9 + [min(allowed[-1], 10**6 if len(allowed) > 10**6 else 64)])

    def anything(self) -> str:
        return self.choice.choice([*TEXTS, *map(json.dumps, ODD), "1", "2"])

    def written(self, names: list[str]) -> str:
        suffix = ".yaml" if "--answers" in names else self.choice.choice([*PAGES, *PAGES, ".npy", ".pdf", ""])
        return f"written{suffix}"

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
        back = ["d_output", "d_weights", "d_scores", "d_Q", "d_K", "d_V", "d_W_Q", "d_X", "loss", "delta"]
        return choice.choice(
            [*usual, *usual, *back, *RULES, *(["problem", "trace", "answers", "verdict", "comparison"])]
        )

    def steps(self) -> str:
        names = [self.step() for _ in range(self.choice.choice([1, 1, 1, 2, 3]))]
        return ",".join(
            self.choice.choice([name, name, name, *STEP_NAMES]) if self.often(0.05) else name for name in names
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
        others = {"dtype": ["float16", "float32", "bfloat16"], "rounding": ["exact", "paper"], "as": ["torch", "jax"]}
        key = key or self.choice.choice([*problem_schema()["properties"], *others])
        if key in others:
            return f"{key}={self.choice.choice(others[key])}"
        if self.often(0.1):
            return f"{key}="
        for _ in range(20):
            other = draw_problem(self.choice, lengths=self.drawn.lengths)
            if key in other.data and not other.arrays:
                return f"{key}={json.dumps(other.data[key])}"
        return f"{key}={json.dumps(self.choice.choice(ODD))}"


def _range(parameter: Any) -> range | None:
    """The whole numbers that an option takes, where its parser or its type says so."""
    parser = getattr(parameter.type, "func", None)
    allowed = getattr(parser, "keywords", {}).get("allowed")
    if isinstance(allowed, range):
        return allowed
    least, most = (getattr(parameter.type, bound, None) for bound in ("min", "max"))
    return range(int(least or 0), int(most or 100) + 1) if least is not None or most is not None else None
