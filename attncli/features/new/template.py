"""The text of a new problem: every key with a comment, and blanks, or small whole numbers, for the
values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from attncli.english import count
from attncli.problem.text.number_forms import BLANK
from attncli.system import quoted

# Sums are easy by hand, and small: with large scores, one key would get all the weight.
_DRAWN = (-1, 0, 0, 1)
# YAML reads this as text without quotes.
_PLAIN = re.compile(r"[^\W\d_][\w' -]*")
# A title has so many characters.
_LONGEST_TITLE = 60

_HEAD = """\
# yaml-language-server: $schema=problem.schema.json
# {first}.
# You can also paste a whole matrix: write {matrix}: | and, below it, its rows with two blanks
# before each.
# Then run: attncli compute {name}
# The first line lets editors check this file. They need the schema beside it:
# attncli schema problem -o problem.schema.json
"""
_FILL_IN = "Write a number for each _, such as 2, -0.5, 1/3 or sqrt(2)"
_CHANGE = "The numbers are those of --random --seed {seed}. Change them as you like"
_NO_MASK = """
# With a causal mask, each token sees only itself and the tokens before it.
# To add the mask, remove the # of the next line.
# mask: causal
"""
_EQUATIONS = """
# Equations of your own. Each line below can be changed, taken out, or copied for another step.
# The functions that equations may use are listed by: attncli steps --language
# The built-in steps and their equations are listed by: attncli steps --all

# What the equations read besides: numbers, and arrays with a letter for each axis.
# k counts the {d_k} numbers of a query and of a key.
arrays:
  gain[k]: [{gains}]
  temperature: 2

# i counts queries, and j counts keys. Every letter stands on the left, or is summed over.
{of_heads}equations:
  # This equation takes the place of the built-in step scores.
  - equation: "scores[i, j] = sum(k, gain[k] * Q[i, k] * K[j, k]) / temperature"
    title: Scores with a gain
    meaning: Each number of a query counts by its gain, and a temperature divides all scores.
  # This is a new step. To make a step of yours the end of the page, add a line such as
  # result: attention_left
  - "attention_left[i] = 1 - max(j, weights[i, j])"
"""
_OF_HEADS = "# An equation holds for each of the {heads} heads.\n"
_POSSIBLE_GAINS = (1, 1, 2)


class SizesOfTemplate(NamedTuple):
    """The lengths of rows; those of queries, keys and values are of one head."""

    d_model: int
    d_k: int
    d_v: int
    heads: int


def problem_text(
    tokens: Sequence[str],
    sizes: SizesOfTemplate,
    mask: str | None,
    name: str,
    *,
    seed: int | None,
    equations: bool = False,
    given: str = "x",
) -> str:
    """A problem in YAML, to be saved under `name`, with blanks; with a seed the numbers are drawn
    by it. With `equations`, which need a seed, it has some of its own. `given` is "x" for an input
    and weights, or "qkv".
    """
    text = "".join(_pieces(tokens, sizes, mask, name, seed, given))
    return text + _own_equations(sizes, seed or 0) if equations else text


def _own_equations(sizes: SizesOfTemplate, seed: int) -> str:
    drawn = Random(seed).choices(_POSSIBLE_GAINS, k=sizes.d_k)
    of_heads = _OF_HEADS.format(heads=sizes.heads) if sizes.heads > 1 else ""
    gains = ", ".join(map(str, drawn))
    return _EQUATIONS.format(d_k=sizes.d_k, gains=gains, of_heads=of_heads)


def _pieces(
    tokens: Sequence[str],
    sizes: SizesOfTemplate,
    mask: str | None,
    name: str,
    seed: int | None,
    given: str,
) -> Iterator[str]:
    labels = [_label(token) for token in tokens]
    title = " ".join(tokens)
    random = None if seed is None else Random(seed)
    shown = quoted(name) if name.isprintable() else "FILE"
    yield _HEAD.format(
        first=_FILL_IN if seed is None else _CHANGE.format(seed=seed),
        name=shown,
        matrix="Q" if given == "qkv" else "X",
    )
    if len(title) <= _LONGEST_TITLE:
        yield f"title: {_label(title)}\n"
    yield f"tokens: [{', '.join(labels)}]\n"
    if sizes.heads > 1:
        yield f"heads: {sizes.heads}\n"
    arrays = _queries_keys_and_values if given == "qkv" else _input_and_weights
    yield from arrays(labels, sizes, random)
    yield f"\nmask: {mask}\n" if mask is not None else _NO_MASK


def _input_and_weights(
    labels: Sequence[str], sizes: SizesOfTemplate, random: Random | None
) -> Iterator[str]:
    d_model, d_k, d_v, heads = sizes
    yield f"\n# The input: a row for each token, a column for each feature (d_model = {d_model}).\n"
    yield from _matrix("X", len(labels), d_model, random, labels)
    parts = (
        ("Q", "queries", "query", "k", d_k),
        ("K", "keys", "key", "k", d_k),
        ("V", "values", "value", "v", d_v),
    )
    for part, many, one, letter, width in parts:
        columns = _columns(letter, width, one, heads)
        yield (
            f"\n# W_{part} makes the {many}: {part} = X W_{part}.\n# A row for each feature of X,"
            f" {columns}.\n"
        )
        yield from _matrix(f"W_{part}", d_model, heads * width, random)
    if heads > 1:
        rows = f"There are d_v = {d_v} rows for each head, and a column for each feature"
        yield f"\n# W_O mixes the outputs of the heads, which stand side by side.\n# {rows}.\n"
        yield from _matrix("W_O", heads * d_v, d_model, random)


def _columns(letter: str, width: int, one: str, heads: int) -> str:
    """What the columns are of a matrix that has the numbers of a query, a key or a value."""
    if heads > 1:
        return f"{count(width, 'column')} (d_{letter}) for each of the {heads} heads"
    return f"a column for each of the d_{letter} = {width} numbers of a {one}"


def _queries_keys_and_values(
    labels: Sequence[str], sizes: SizesOfTemplate, random: Random | None
) -> Iterator[str]:
    _, d_k, d_v, heads = sizes
    parts = (
        ("Q", "query", "what the token is looking for", "k", d_k),
        ("K", "key", "what other tokens use to find the token", "k", d_k),
        ("V", "value", "what the token gives to those that find it", "v", d_v),
    )
    for name, one, meaning, letter, width in parts:
        columns = _columns(letter, width, one, heads)
        yield f"\n# Each row is one token's {one}: {meaning}.\n# It has {columns}.\n"
        yield from _matrix(name, len(labels), heads * width, random, labels)


def _matrix(
    name: str, rows: int, columns: int, random: Random | None, labels: Sequence[str] = ()
) -> Iterator[str]:
    yield f"{name}:\n"
    for row in range(rows):
        cells = [BLANK] * columns if random is None else _drawn(columns, random)
        comment = f"  # {labels[row]}" if labels else ""
        yield f"  - [{', '.join(cells)}]{comment}\n"


def _drawn(length: int, random: Random) -> list[str]:
    """Small whole numbers, not all of them 0."""
    while not any(row := random.choices(_DRAWN, k=length)):
        pass
    return [str(number) for number in row]


def _label(text: str) -> str:
    """A text as YAML has it, in quotes where it needs them."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=not text.isprintable())
