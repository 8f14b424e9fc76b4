"""Draws equations for drawn problems: built-in steps replaced, steps before, between and behind
them, and now and then a text that is no equation.

The expressions are those of `tests/equations/drawn_systems.py`, whose values are worked out there
in loops. Here they meet every other key of problems, and every command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from tests.equations.drawn_systems import OWN_LETTERS, Drawing, cell_of, draw_system

# The share of problems with equations, and of these the ones whose every key is that of a system.
WITH_EQUATIONS, WHOLE_SYSTEMS = 0.3, 0.35
WRONG = 0.15
# The steps of most problems in the order in which they are worked out, with their letters.
BUILT_IN = {
    "Q": "ik",
    "K": "jk",
    "V": "jc",
    "K_T": "kj",
    "scores": "ij",
    "scaled": "ij",
    "exp": "ij",
    "row_sum": "i",
    "weights": "ij",
    "output": "ic",
}
WORDS = {
    "title": ("Normalised queries", "A gate", "a & b % #1", "<b>", "日本", "|x|"),
    "symbol": ("Z'", "H", "W_in", "phi", "x_1_2", "N2"),
    "meaning": ("Every query is brought to the same length.", "$x$ \\frac{1}{2}", "a `b` c", "😀"),
    "why": ("So that it stays small.", "[i, j] [/]"),
}
SIGNS = "()[],=+-*/%<>.:'\"#{}\\_^@|!?~`& \t\n0123456789einfhgbjktABQKXo²·√×é😀"
HOSTILE = (
    "",
    " ",
    "scores[i, j] = " + "(" * 200 + "1" + ")" * 200,
    "scores[i, j] = " + " + ".join(["Q[i, 0]"] * 400),
    "scores[i, j] = 2 ** 9 ** 9 ** 9",
    "scores[i, j] = 10 ** 300 * 10 ** 300",
    "scores[i, j] = 1e400",
    "scores[i, j] = 0 / 0",
    "scores[i, j] = inf - inf",
    "scores[i, j] = Q[i, j // 0]",
    "scores[i, j] = sum(k, sum(t, sum(u, sum(v, Q[t, k] * K[u, k] * Q[v, k]))))",
    "scores[i, j] = log(0 * Q[i, 0])",
    "scores[i, j] = sqrt(0 - 1)",
    "scores[i, j] = (0 - 2) ** 0.5",
    "scores[i, j] = 0 ** (0 - 1)",
    "scores[i, j] = __import__('os').system('true')",
    "scores[і, j] = 1",
    "x = x",
    "weights[j, i] = softmax(i, scores[j, i])",
    "output[i] = 1",
    "output = sum(i, sum(c, V[i, c]))",
    "heads = 2",
    "d_k = 3",
    "n_j = 3",
    "e = 2",
    "inf = 2",
    "sum[i] = 1",
    "title[i] = Q[i, 0]",
    "it[z] = 1",
    "it[h, i] = Q[i, 0]",
    "it[b, i] = Q[i, 0]",
)


def add_equations(choice: Random, data: dict[str, Any], lengths: Mapping[str, int]) -> None:
    """Give a drawn problem some equations, and the arrays that these read."""
    known = {letter: lengths[letter] for letter in "ijkcd"}
    draw = Drawing(choice, dict(known), {})
    draw.known = "ijkcd" if "X" in data else "ijkc"
    steps = {**BUILT_IN}
    draw.readable |= {name: tuple(steps[name]) for name in steps if name in data}
    if "X" in data:
        draw.readable["X"] = ("i", "d")
    if not draw.readable:
        draw.own_array("i")
    if "W_O" in data or (lengths["h"] > 1 and "X" in data):
        del steps["output"]
    computed = [name for name in steps if name not in data]
    replaced = choice.sample(computed, min(len(computed), choice.choice((0, 1, 1, 2))))
    new = [name for name in ("one", "two", "three") if choice.random() < 0.4 or not replaced]
    at = {name: choice.randrange(len(steps) + 1) for name in new}
    for place, (step, letters) in enumerate([*steps.items(), ("", "")]):
        for name in new:
            if at[name] == place:
                _define(draw, name, _letters(choice, draw))
        if step in replaced:
            _define(draw, step, letters)
        elif step:
            draw.readable[step] = tuple(letters)
    written: list[Any] = list(draw.equations.values())
    _finish(choice, data, written, draw.arrays, new)


def whole_system(choice: Random) -> dict[str, Any]:
    """A problem of which each step is compared with plain loops elsewhere."""
    drawn = draw_system(choice.randrange(10**6))
    data = dict(drawn.data)
    written, arrays = data.pop("equations"), data.pop("arrays", {})
    new = [data.pop("result")] if "result" in data else []
    _finish(choice, data, written, arrays, new)
    return data


def _define(draw: Drawing, name: str, letters: Sequence[str]) -> None:
    for letter in letters:
        draw.lengths.setdefault(letter, draw.choice.randint(1, 3))
    right = draw.expression(letters)
    for letter in letters:
        if letter in OWN_LETTERS:
            # What says how long a letter of theirs is.
            right = f"{right} + {draw.own_array([letter])}[{letter}]"
    if letters and draw.choice.random() < 0.12:
        right = f"softmax({draw.choice.choice([*letters])}, {right})"
    draw.equations[name] = f"{cell_of(name, letters)} = {right}"
    draw.readable[name] = tuple(letters)


def _letters(choice: Random, draw: Drawing) -> list[str]:
    letters = choice.sample([*draw.known], choice.randint(0, 2))
    return [*letters, choice.choice(OWN_LETTERS)] if choice.random() < 0.2 else letters


def _finish(
    choice: Random,
    data: dict[str, Any],
    written: Sequence[Any],
    arrays: Mapping[str, Any],
    new: Sequence[str],
) -> None:
    """Put the equations into the problem: in any order, with words, and some of them wrong."""
    equations = [*written]
    choice.shuffle(equations)
    read = " ".join(equations)
    kept = {key: value for key, value in arrays.items() if key.partition("[")[0] in read}
    if choice.random() < WRONG:
        _spoil(choice, equations, kept)
    data["equations"] = [_with_words(choice, source) for source in equations]
    if kept:
        data["arrays"] = kept
    if new and choice.random() < 0.4:
        data["result"] = choice.choice(new)
        if choice.random() < 0.8:
            data.pop("d_output", None)
            data.pop("loss", None)


def _with_words(choice: Random, source: str) -> Any:
    if choice.random() < 0.7:
        return source
    words = {key: choice.choice(WORDS[key]) for key in WORDS if choice.random() < 0.5}
    return {"equation": source, **words}


# What is done to a text of several characters, so that it is hardly ever right any more.
def _cut(choice: Random, source: str) -> str:
    return source[: choice.randrange(len(source))]


def _without(choice: Random, source: str) -> str:
    at = choice.randrange(len(source))
    return source[:at] + source[at + choice.choice((1, 1, 2, 5)) :]


def _with_sign(choice: Random, source: str) -> str:
    at = choice.randrange(len(source) + 1)
    return source[:at] + choice.choice(SIGNS) + source[at:]


def _exchanged(choice: Random, source: str) -> str:
    letters = [at for at, sign in enumerate(source) if sign in "ijkcdtuvwhb"]
    at = choice.choice(letters or [0])
    return source[:at] + choice.choice("ijkcdtuvwhbgeo") + source[at + 1 :]


def _renamed(choice: Random, source: str) -> str:
    for name in choice.sample([*BUILT_IN, "one", "two", "sum", "max", "tanh"], 15):
        if name in source:
            other = choice.choice([*BUILT_IN, "own_0", "nobody", "masked", "W_Q", "softmax", "inf"])
            return source.replace(name, other, 1)
    return source


def _hostile(choice: Random, source: str) -> str:
    return choice.choice(HOSTILE)


SPOILT: Sequence[Callable[[Random, str], str]] = (
    _cut,
    _without,
    _with_sign,
    _exchanged,
    _exchanged,
    _renamed,
    _hostile,
)


def _spoil(choice: Random, equations: list[Any], arrays: dict[str, Any]) -> None:
    if arrays and choice.random() < 0.2:
        key = choice.choice([*arrays])
        arrays[_exchanged(choice, key)] = arrays.pop(key)
        return
    at = choice.randrange(len(equations))
    equations[at] = choice.choice(SPOILT)(choice, equations[at])
