"""Draws problems with equations of their own: built-in steps replaced, one or two at a time, and
new steps before, between and behind them, each a random expression over random axes.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

from tests.equations.systems_in_loops import Given, Loops, Number, step

# The letters of their own that equations use besides i, j, d, k and c.
OWN_LETTERS = "tuvw"
SMOOTH = ("tanh", "sin", "cos", "sigmoid", "gelu", "silu", "softplus", "erf")
DEEPEST = 3


@dataclass
class DrawnSystem:
    """A problem as the data of its file, and the same as a system in loops."""

    data: dict[str, Any]
    loops: Loops
    result: str


@dataclass
class Drawing:
    """One problem while it is drawn: `axes` are the letters of everything that can be read so far,
    in the order in which it can be worked out.
    """

    choice: Random
    lengths: dict[str, int]
    leading: dict[str, int]
    given: dict[str, Given] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Any] = field(default_factory=dict)
    # The letters whose length a problem of this kind knows.
    known: str = "ijkcd"
    readable: dict[str, tuple[str, ...]] = field(default_factory=dict)
    builtin: dict[str, str] = field(default_factory=dict)
    equations: dict[str, str] = field(default_factory=dict)

    def number(self) -> float:
        return self.choice.choice((-1, 1)) * self.choice.randint(1, 19999) / 10000

    def give(self, name: str, letters: str, *, in_file: bool = True) -> None:
        """An array of random numbers with these letters, those of heads and entries first."""
        shape = [self.lengths[letter] for letter in letters]
        numbers = {at: Number(self.number(), moves=True) for at in product(*map(range, shape))}
        self.given[name] = Given(tuple(letters), numbers)
        own = tuple(letter for letter in letters if letter not in self.leading)
        self.readable[name] = own
        if in_file:
            self.data[name] = nested(numbers, shape)

    # Expressions

    def expression(self, scope: Sequence[str], depth: int = 0) -> str:
        """An expression over the letters of a scope, of no more than a few parts."""
        if depth >= DEEPEST or self.choice.random() < 0.15:
            return self.leaf(scope)
        kind = self.choice.choices(
            ("sign", "quotient", "power", "function", "pair", "where", "over"),
            (6, 2, 2, 5, 2, 2, 4),
        )[0]
        deeper = depth + 1
        one = self.expression(scope, deeper)
        match kind:
            case "sign":
                other = self.expression(scope, deeper)
                return f"({one} {self.choice.choice('+-*')} {other})"
            case "quotient":
                return f"{one} / {self.positive(scope, deeper)}"
            case "power":
                forms = (
                    f"({one}) ** 2",
                    f"({one}) ** 3",
                    f"{self.positive(scope, deeper)} ** tanh({one})",
                    f"2 ** tanh({one})",
                    f"-({one}) ** 2",
                )
                return f"({self.choice.choice(forms)})"
            case "function":
                forms = (
                    *(f"{name}({one})" for name in SMOOTH),
                    f"abs({one})",
                    f"sin(pi * ({one}) / 3)",
                    f"relu({one})",
                    f"exp(tanh({one}))",
                    f"log({self.positive(scope, deeper)})",
                    f"sqrt({self.positive(scope, deeper)})",
                )
                return self.choice.choice(forms)
            case "pair":
                name = self.choice.choice(("max", "min"))
                # A bare letter in front would be what the function runs over.
                return f"{name}(1 * {one}, {self.expression(scope, deeper)})"
            case "where":
                condition = self.condition(scope)
                return f"where({condition}, {one}, {self.expression(scope, deeper)})"
        return self.over(scope, deeper) or one

    def positive(self, scope: Sequence[str], depth: int) -> str:
        one = self.expression(scope, depth)
        return self.choice.choice(
            (f"(1 + abs({one}))", f"(({one}) ** 2 + 0.5)", f"exp(sin({one}))")
        )

    def over(self, scope: Sequence[str], depth: int) -> str | None:
        """A sum, a mean, or the largest or smallest over a letter that an array has."""
        free = [letter for letter in ("ijkcd" + OWN_LETTERS) if letter not in scope]
        for _ in range(10):
            letter = self.choice.choice(free)
            inside = (*scope, letter)
            cell = self.cell(inside, letter)
            if cell is None:
                continue
            name = self.choice.choice(("sum", "sum", "mean", "max", "min"))
            body = self.choice.choice(
                (cell, f"{cell} * {self.expression(inside, depth)}", f"tanh({cell}) ** 2")
            )
            return f"{name}({letter}, {body})"
        return None

    def leaf(self, scope: Sequence[str]) -> str:
        kind = self.choice.random()
        if kind < 0.12:
            return self.choice.choice(("0.5", "2", "1.25", "3", "0.1"))
        if kind < 0.18:
            return self.choice.choice((*scope, "d_k", "n_i", "n_j"))
        return self.cell(scope) or "1.5"

    def cell(self, scope: Sequence[str], letter: str = "") -> str | None:
        """A cell of what can be read, with letters of the scope; with this letter, if one is asked
        for.
        """
        for _ in range(8):
            name = self.choice.choice([*self.readable])
            if self.choice.random() < 0.12:
                name = self.new_array(scope)
            own = self.readable[name]
            indices = [self.index(name, axis, scope) for axis in own]
            if letter and letter not in own + tuple(indices):
                # An axis of the same length, or of a letter that is as long as what it reads.
                places = [
                    at for at, axis in enumerate(own) if self.fits(letter, self.lengths[axis])
                ]
                if not places:
                    continue
                indices[self.choice.choice(places)] = letter
            if letter and letter not in indices:
                continue
            return f"{name}[{', '.join(indices)}]" if indices else name
        return None

    def index(self, name: str, axis: str, scope: Sequence[str]) -> str:
        length = self.lengths[axis]
        if axis in scope and self.choice.random() < 0.85:
            return axis
        same = [letter for letter in scope if self.lengths.get(letter) == length]
        if same and self.choice.random() < 0.6:
            return self.choice.choice(same)
        if scope and self.choice.random() < 0.4:
            letter = self.choice.choice([*scope])
            if letter in self.lengths:
                forms = (
                    f"({letter} + {self.choice.randint(0, 2)}) % {length}",
                    f"min({length - 1}, {letter})",
                    f"max(min(2 - {letter}, {length - 1}), 0)",
                    f"{letter} // 2 % {length}",
                )
                return self.choice.choice(forms)
        return str(self.choice.randrange(length))

    def fits(self, letter: str, length: int) -> bool:
        """Whether a letter can run over an axis of this length: one of theirs is as long as where
        it first stands.
        """
        return self.lengths.setdefault(letter, length) == length

    def condition(self, scope: Sequence[str]) -> str:
        forms = [f"{self.cell(scope) or 'd_k'} < {self.cell(scope) or '0.3'}"]
        if scope:
            one, other = self.choice.choice([*scope]), self.choice.choice([*scope])
            forms += [
                f"{one} <= {other}",
                f"{one} % 2 == 0",
                f"0 < {one} and {one} <= {other}",
                f"{one} < 1 or {other} < {one} and {one} % 2 == 0",
                f"{one} > 0",
                f"{one} >= 1",
            ]
        return self.choice.choice(forms)

    def new_array(self, scope: Sequence[str]) -> str:
        """An array of the problem's own, with some letters of the scope, and perhaps of heads."""
        letters = [letter for letter in scope if letter in self.lengths]
        return self.own_array(
            self.choice.sample(letters, min(len(letters), self.choice.randint(0, 2)))
        )

    def own_array(self, letters: Sequence[str]) -> str:
        """An array with these letters, and perhaps with those of heads and entries before them."""
        leading = [letter for letter in self.leading if self.choice.random() < 0.3]
        if "h" in leading and "g" in leading:
            leading.remove("g")
        name = f"own_{len(self.arrays)}"
        every = "".join(sorted(leading, key="bhg".index)) + "".join(letters)
        self.give(name, every, in_file=False)
        shape = [self.lengths[letter] for letter in every]
        key = f"{name}[{', '.join(every)}]" if every else name
        self.arrays[key] = nested(self.given[name].numbers, shape)
        return name

    # Equations

    def define(self, name: str, letters: Sequence[str]) -> str:
        """An equation for a step with these letters, whatever is on its right side."""
        right = self.expression(letters)
        before = [letter for letter in "bh" if letter in self.leading]
        named = before if before and self.choice.random() < 0.2 else []
        # What says how long a letter of theirs is.
        for letter in letters:
            if letter in (*OWN_LETTERS, "o"):
                right = f"{right} + {self.own_array([letter])}[{letter}]"
        if self.choice.random() < 0.12 and letters:
            right = f"softmax({self.choice.choice([*letters])}, {right})"
            return f"{cell_of(name, letters)} = {right}"
        left = cell_of(name, (*named, *letters) if set(named) <= self.reads(right) else letters)
        return f"{left} = {right}"

    def reads(self, right: str) -> set[str]:
        """The letters of heads and entries of the arrays that an expression names."""
        steps = dict(map(step, {**self.builtin, **self.equations}.values()))
        name, own = step(f"it = {right}")
        return {*Loops(self.given, {**steps, name: own}, self.lengths, {}).leading("it")}


def cell_of(name: str, letters: Sequence[str]) -> str:
    return f"{name}[{', '.join(letters)}]" if letters else name


def nested(numbers: Any, shape: Sequence[int], at: tuple[int, ...] = ()) -> Any:
    """The numbers as nested lists."""
    if not shape:
        return numbers[at].value
    return [nested(numbers, shape[1:], (*at, place)) for place in range(shape[0])]


def draw_system(seed: int) -> DrawnSystem:
    """The problem of this seed."""
    choice = Random(seed)
    kind = choice.choice(("matrices", "projected", "heads", "joined", "grouped", "batch"))
    n = choice.randint(1, 3)
    lengths = {"i": n, "j": n, "k": choice.randint(1, 3), "c": choice.randint(1, 3), "d": 2}
    leading: dict[str, int] = {}
    if kind in ("heads", "joined", "grouped"):
        leading["h"] = 2
    if kind == "batch" or (leading and choice.random() < 0.3):
        leading["b"] = 2
    group = 2 if kind == "grouped" else 1
    lengths |= leading
    if kind in ("matrices", "heads", "grouped"):
        lengths["j"] = choice.randint(1, 3)
        del lengths["d"]
    draw = Drawing(choice, lengths, leading)
    builtin = draw.builtin
    names = {"d_k": float(lengths["k"])}
    b, h = ("b" if "b" in leading else ""), ("h" if "h" in leading else "")
    builtin |= _inputs(draw, kind, b, h, group)
    logits = _scores(draw, builtin, names)
    builtin["exp"] = f"exp[i, j] = exp({logits}[i, j])"
    builtin["row_sum"] = "row_sum[i] = sum(j, exp[i, j])"
    builtin["weights"] = "weights[i, j] = exp[i, j] @ row_sum[i]"
    mixed = "sum(j, weights[i, j] * V[j, c])"
    if kind == "joined":
        lengths["e"], lengths["o"] = leading["h"] * lengths["c"], 2
        builtin["heads_output"] = f"heads_output[i, c] = {mixed}"
        width = lengths["c"]
        builtin["concat"] = f"concat[i, e] = heads_output[e // {width}, i, e % {width}]"
        builtin["output"] = "output[i, o] = sum(e, concat[i, e] * W_O[e, o])"
    else:
        builtin["output"] = f"output[i, c] = {mixed}"
    _own_equations(draw, builtin)
    if group > 1:
        lengths["g"] = 1
    steps = dict(step(source) for source in {**builtin, **draw.equations}.values())
    result = "output"
    new = [name for name in draw.equations if name not in builtin]
    if new and choice.random() < 0.3:
        result = draw.data["result"] = choice.choice(new)
    sources = [*draw.equations.values()]
    choice.shuffle(sources)
    draw.data["equations"] = sources
    # Heads that are put side by side are there whatever they read; yours stay, and the result.
    wanted = _needed({*draw.equations, result}, {**builtin, **draw.equations})
    joined = ("heads_output",) if "concat" in wanted else ()
    loops = Loops(draw.given, steps, lengths, names, group, joined)
    draw.data["arrays"] = {
        key: value
        for key, value in draw.arrays.items()
        if any(key.partition("[")[0] in _names_of(source) for source in sources)
    }
    if not draw.data["arrays"]:
        del draw.data["arrays"]
    return DrawnSystem(draw.data, loops, result)


def _needed(wanted: set[str], sources: Mapping[str, str]) -> set[str]:
    """The steps that these are, or are worked out from."""
    found: set[str] = set()
    while wanted - found:
        name = (wanted - found).pop()
        found.add(name)
        wanted = wanted | (_names_of(sources[name]) & sources.keys())
    return found


def _names_of(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def _inputs(draw: Drawing, kind: str, b: str, h: str, group: int) -> dict[str, str]:
    """What is given, and the steps that lead to Q, K and V."""
    found: dict[str, str] = {}
    if kind in ("matrices", "heads", "grouped", "batch") and (
        kind != "batch" or draw.choice.random() < 0.5
    ):
        if kind == "batch":
            # A batch of matrices has one head.
            h, draw.lengths["h"], draw.leading["h"] = "h", 1, 1
        served = "g" if group > 1 else h
        if group > 1:
            draw.lengths["g"] = draw.leading["g"] = 1
        draw.give("Q", f"{b}{h}ik")
        draw.give("K", f"{b}{served}jk")
        draw.give("V", f"{b}{served}jc")
        draw.known = "ijkc"
        return found
    draw.lengths.setdefault("d", 2)
    draw.give("X", f"{b}id")
    for name, letters in (("W_Q", "dk"), ("W_K", "dk"), ("W_V", "dc")):
        draw.give(name, f"{h}{letters}")
        if h:
            # In the file, heads stand side by side.
            heads = draw.data[name]
            draw.data[name] = [[*heads[0][row], *heads[1][row]] for row in range(2)]
    if h:
        draw.data["heads"] = 2
        draw.lengths["e"], draw.lengths["o"] = 2 * draw.lengths["c"], 2
        draw.give("W_O", "eo")
    for name, row, column in (("Q", "i", "k"), ("K", "j", "k"), ("V", "j", "c")):
        found[name] = f"{name}[{row}, {column}] = sum(d, X[{row}, d] * W_{name}[d, {column}])"
    return found


def _scores(draw: Drawing, builtin: dict[str, str], names: dict[str, float]) -> str:
    """The steps from Q and K to what the softmax is taken of, whose name is returned."""
    choice = draw.choice
    builtin["K_T"] = "K_T[k, j] = K[j, k]"
    builtin["scores"] = "scores[i, j] = sum(k, Q[i, k] * K_T[k, j])"
    logits = "scores"
    scale = choice.choice(("default", "default", "none", 0.5))
    if scale != "none":
        by = "/ sqrt(d_k)" if scale == "default" else "* scale"
        builtin["scaled"] = f"scaled[i, j] = scores[i, j] {by}"
        logits = "scaled"
    if scale != "default":
        draw.data["scale"] = scale
        names |= {} if scale == "none" else {"scale": 0.5}
    if choice.random() < 0.2:
        draw.data["softcap"] = 2
        builtin["capped"] = f"capped[i, j] = 2 * tanh({logits}[i, j] / 2)"
        logits = "capped"
    mask = choice.choice(("none", "none", "causal", "added"))
    if mask == "causal":
        draw.data["mask"] = "causal"
        builtin["masked"] = f"masked[i, j] = where(j <= i, {logits}[i, j], -inf)"
        logits = "masked"
    if mask == "added":
        rows = [
            [choice.choice((0.5, -1.0, -math.inf)) for _ in range(draw.lengths["j"])]
            for _ in range(draw.lengths["i"])
        ]
        draw.data["mask"] = {
            "additive": [[str(x) if math.isinf(x) else x for x in row] for row in rows]
        }
        numbers = {(i, j): Number(x) for i, row in enumerate(rows) for j, x in enumerate(row)}
        draw.given["added"] = Given(("i", "j"), numbers)
        builtin["masked"] = (
            f"masked[i, j] = where(added[i, j] == -inf, -inf, {logits}[i, j] + added[i, j])"
        )
        logits = "masked"
    return logits


def _own_equations(draw: Drawing, builtin: dict[str, str]) -> None:
    """Replace one built-in step, or two, or none, and put new ones between them: each reads what is
    worked out before.
    """
    choice = draw.choice
    replaced = choice.sample([*builtin], min(len(builtin), choice.choice((0, 1, 1, 2))))
    new = {name: choice.randrange(len(builtin) + 1) for name in ("one", "two", "three")}
    names = [name for name in new if choice.random() < 0.5 or not replaced]
    for at, (name, source) in enumerate([*builtin.items(), ("", "")]):
        for own in names:
            if new[own] == at:
                letters = choice.sample(
                    [each for each in draw.known if each in draw.lengths], choice.randint(0, 2)
                )
                if choice.random() < 0.2:
                    letters.append(choice.choice(OWN_LETTERS))
                _add(draw, own, letters)
        if not name:
            continue
        _, written = step(source)
        if name in replaced:
            _add(draw, name, written.letters)
        elif name != "masked":
            # What is hidden has no number to calculate with.
            draw.readable[name] = written.letters


def _add(draw: Drawing, name: str, letters: Sequence[str]) -> None:
    for letter in letters:
        if letter not in draw.lengths:
            draw.lengths[letter] = draw.choice.randint(1, 3)
    draw.equations[name] = draw.define(name, letters)
    draw.readable[name] = tuple(letters)
