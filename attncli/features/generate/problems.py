"""The problems of a seed, for Python: those that `attncli generate` writes, or draws without a
search.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from attncli.english import as_written
from attncli.errors import usage_error
from attncli.features.generate.drawing import Draws, Layer
from attncli.features.generate.roster import numbered
from attncli.features.generate.search import Search, sample
from attncli.features.generate.sizes import (
    MOST_PROBLEMS,
    POSSIBLE_DECIMALS,
    POSSIBLE_HEADS,
    POSSIBLE_SIZES,
    USUAL_DIMS,
    USUAL_TITLE,
    usual_dims,
)
from attncli.problem.loader import loads
from attncli.problem.model import Problem

# Of so many draws, the first whose matrices have no row of zeros is taken.
_DRAWS_OF_A_PROBLEM = 64


def layer_of(dims: object, heads: object, given: str) -> Layer:
    """The sizes of problems; raises AttncliError (exit 2) for those that cannot be drawn."""
    number = whole("heads", heads, POSSIBLE_HEADS)
    sizes = usual_dims(number)
    if dims is not None:
        sizes = _sizes(dims)
    n, d_model, d_k, d_v = sizes
    return Layer(n, d_model, d_k, d_v, number, gives_qkv=given == "qkv")


def _sizes(dims: object) -> tuple[int, ...]:
    help = f"give n, d_model, d_k and d_v: dims={USUAL_DIMS}"
    if not isinstance(dims, Sequence) or isinstance(dims, str) or len(dims) != len(POSSIBLE_SIZES):
        raise usage_error(f"dims cannot be {as_written(dims)}", help=help)
    sizes = []
    for (name, allowed), size in zip(POSSIBLE_SIZES.items(), dims, strict=True):
        sizes.append(whole(f"dims: {name}", size, allowed))
    return tuple(sizes)


def whole(what: str, number: object, allowed: range) -> int:
    """A whole number; raises AttncliError (exit 2) for another one, and for what is none."""
    if type(number) is not int or number not in allowed:
        raise usage_error(
            f"{what} cannot be {as_written(number)}",
            help=f"give a whole number from {allowed[0]} to {allowed[-1]}",
        )
    return number


def drawn_problems(
    seed: object,
    count: object,
    layer: Layer,
    mask: object,
    asked: Sequence[str] | None,
    decimals: object,
    separate: bool,
) -> list[Problem]:
    """So many problems of a seed. Each tells mistakes apart, unless they need not be `separate`.

    Raises AttncliError (exit 2) for what cannot be drawn, and where no draw tells enough.
    """
    if not isinstance(seed, str | int) or isinstance(seed, bool):
        raise usage_error(f"seed cannot be {as_written(seed)}", help='give a text: seed="midterm"')
    if asked is not None and not separate:
        raise usage_error(
            "ask cannot be used with separate=False", help="no mistake is looked for; leave out ask"
        )
    number = whole("count", count, range(1, MOST_PROBLEMS + 1))
    precision = whole("decimals", decimals, POSSIBLE_DECIMALS)
    texts = _texts(str(seed), number, layer, _mask_text(mask), asked, precision, separate)
    return [loads(text.encode(), "problem.yaml") for text in texts]


def _texts(
    seed: str,
    count: int,
    layer: Layer,
    mask: str | None,
    asked: Sequence[str] | None,
    decimals: int,
    separate: bool,
) -> Iterator[str]:
    """Each problem as the command writes it to a file."""
    search = None
    if separate:
        search = Search.of(layer, mask, asked, decimals)
    else:
        _, mask = sample(layer, mask)
    for student in numbered(count):
        key = [seed, student.key]
        title = student.title_of(USUAL_TITLE)
        if search is not None:
            yield search.problem(key, title).text
            continue
        yield layer.text(_draw(layer, key), title, mask)


def _draw(layer: Layer, key: Sequence[object]) -> Draws:
    """The first draw whose matrices have no row of zeros, if there is one soon."""
    draws = layer.draw(key, range(_DRAWS_OF_A_PROBLEM))
    fine = np.ones(len(draws), dtype=bool)
    for matrix in layer.matrices(draws).values():
        rows = matrix.any(axis=-1).reshape(len(draws), -1)
        fine &= rows.all(axis=-1)
    # Where none is fine, this is the first of all.
    chosen: Draws = draws[fine.argmax()]
    return chosen


def _mask_text(mask: object) -> str | None:
    """A mask in YAML: a word, or what a dict or an array has."""
    if mask is None or isinstance(mask, str):
        return mask
    try:
        return json.dumps(mask, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise usage_error(
            f"mask cannot be read: {error}", help='give "causal", a dict or a matrix'
        ) from None


def _plain(value: Any) -> Any:
    """An array as nested lists, for JSON."""
    if not hasattr(value, "tolist"):
        raise TypeError(f"a value of type {type(value).__name__} is no mask")
    return value.tolist()
