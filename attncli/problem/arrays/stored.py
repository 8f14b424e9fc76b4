"""What files claim of the arrays in them, checked before anything of it is believed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from attncli.english import count, shape_text, shorten
from attncli.errors import did_you_mean
from attncli.problem.arrays.errors import ArrayError
from attncli.problem.limits import DEPTH_LIMIT, DIMENSION_LIMIT, ELEMENT_LIMIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Its numbers are of any type that NumPy reads, which is checked, and not typed.
StoredArray: TypeAlias = "NDArray[Any]"
_MOST_NAMES_SHOWN = 12
_TOO_DEEP = "it is nested too deep"
# Python has a limit of characters of its own, which can be set from 640 up.
_LONGEST_WHOLE_NUMBER = 400
# A misspelt name is held against so many.
MOST_NAMES_COMPARED = 1000


def require_shape(shape: Sequence[object], what: str, *, single: bool = False) -> int:
    """How many numbers a claimed shape holds, which may be a `single` one without axes where that
    is asked for.

    ArrayError for none of them and for more than the limits allow.
    """
    if single and not shape:
        return 1
    has_shape = f"{what} has the shape {shorten(str(tuple(shape)))}"
    sides = [side for side in shape if type(side) is int and side >= 0]
    if len(sides) < len(shape):
        raise ArrayError(
            f"{has_shape}: not all of these are lengths", "it is damaged: save it again"
        )
    if not 0 < len(shape) <= DIMENSION_LIMIT or 0 in sides:
        raise ArrayError(
            f"{has_shape}: it is empty, or it is not a matrix", "save a matrix or a vector"
        )
    total = math.prod(sides)
    if total > ELEMENT_LIMIT:
        raise ArrayError(
            f"{has_shape}: too many numbers", f"an array has at most {ELEMENT_LIMIT:,} numbers"
        )
    return total


def choose(
    name: str, names: Sequence[str], file: str, shape: Callable[[str], Sequence[int]]
) -> str:
    """The name that is meant, which may be empty where there is one array only.

    ArrayError with the names there are where it is none of them. `shape` looks up the shape of one
    of them, an empty one where it cannot be told.
    """
    if name in names:
        return name
    if not name and len(names) == 1:
        return names[0]
    # Names that contain it come first.
    likely = sorted(names, key=lambda each: name.lower() not in each.lower())
    there = _listed(likely, shape)
    if not names:
        raise ArrayError(f"{file} holds no arrays", "save at least one in it")
    if not name:
        raise ArrayError(
            f"{file} holds {count(len(names), 'array')}", f"say which by name: {there}"
        )
    near = did_you_mean(_shown(name), [_shown(each) for each in likely[:MOST_NAMES_COMPARED]], "")
    many = f"{count(len(names), 'array')}: " if len(names) > 1 else ""
    help = f"{near} it holds {many}{there}".lstrip()
    raise ArrayError(f"{file} has no array named {_shown(name)}", help, key="name")


def _listed(names: Sequence[str], shape: Callable[[str], Sequence[int]]) -> str:
    """a (4×12), b (12), … and 146 more."""
    words = []
    for name in names[:_MOST_NAMES_SHOWN]:
        sides = tuple(shape(name))
        words.append(f"{_shown(name)} ({shape_text(sides)})" if sides else _shown(name))
    if len(names) > len(words):
        words.append(f"… and {len(names) - len(words):,} more")
    return ", ".join(words)


def _shown(name: str) -> str:
    # model.language_model.layers.10.self_attn.q_proj.weight is shown whole.
    return shorten(name, 80)


def strict_json(data: bytes) -> object:
    """JSON as RFC 8259 has it, with every key once.

    ValueError for anything else, and for what is nested too deep or has a number that is too long.
    """
    # Few formats need it.
    import json

    try:
        value: object = json.loads(
            data.decode(),
            object_pairs_hook=_once_each,
            parse_int=_whole_number,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    _require_depth(value)
    return value


def _require_depth(value: object) -> None:
    """ValueError for a value of more levels than any file of ours may have, whatever depth Python
    can read.
    """
    level = [value]
    for _ in range(DEPTH_LIMIT):
        level = [entry for each in level for entry in _containers_in(each)]
    if level:
        raise ValueError(_TOO_DEEP)


def _containers_in(value: object) -> list[object]:
    """The lists and mappings that a list or a mapping holds."""
    entries: Iterable[object] = ()
    if isinstance(value, list):
        entries = value
    elif isinstance(value, dict):
        entries = value.values()
    return [entry for entry in entries if isinstance(entry, list | dict)]


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("a name is given twice")
    # Half of a surrogate pair is no character, and cannot be printed.
    for key, value in pairs:
        f"{key}{value if isinstance(value, str) else ''}".encode()
    return entries


def _whole_number(word: str) -> int:
    if len(word) > _LONGEST_WHOLE_NUMBER:
        raise ValueError("a number is too long")
    return int(word)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"JSON has no {word}")
