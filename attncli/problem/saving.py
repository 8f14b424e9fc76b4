"""Writes a problem as a file that reads back as the same problem: YAML, with large arrays in a .npz
file beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from functools import partial
from math import prod
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from attncli.errors import usage_error
from attncli.problem.keys import ARRAYS, CORNERS, KEYS, SCORES
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.axes import axes_of, key_labels
from attncli.problem.parts.losses import LOSSES
from attncli.problem.parts.masks import Mask, MaskPart
from attncli.problem.parts.positions import Position

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncli.problem.parts.equations import OwnEquation, System

# Larger arrays go into the .npz file.
_MOST_NUMBERS_INLINE = 1024
# A matrix that needs more characters has a line for each row.
_LONGEST_LINE = 100
# A file may give these with heads on an axis.
_AS_STACKED = ("Q", "K", "V", "past_K", "past_V")


def require_yaml(name: str) -> None:
    """Raises AttncliError (exit code 2) for the name of a file that is not one of YAML."""
    if PurePath(name).suffix.lower() not in (".yaml", ".yml"):
        raise usage_error(f"{name} is not a YAML file", help="choose a name that ends in .yaml")


def as_yaml(problem: Problem, arrays_file: str) -> tuple[str, dict[str, NDArray[Any]]]:
    """The text of a file with this problem, and the arrays by name that the text expects in
    `arrays_file`, if any.

    Numbers are written as they were given. A mask that was read by the meaning of other software
    says what it means.

    >>> from attncli.problem.python_values import problem
    >>> small = problem(Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[["1/2"], [2]], mask="causal")
    >>> print(as_yaml(small, "problem.npz")[0], end="")
    tokens: ["t1"]
    Q: [[1, 0]]
    K: [[1, 0], [0, 1]]
    V: [[1/2], [2]]
    mask: causal
    """
    writer = _ProblemWriter(arrays_file)
    lines = [f"{key}: {text}\n" for key, text in writer.keys(problem)]
    text = "".join(lines)
    return text, writer.arrays


def mask_as_yaml(mask: Mask) -> str:
    """What stands after `mask:`, with all numbers in it: it names no file, and holds in a problem
    of any folder.
    """
    if not mask.parts:
        return "none"
    return _ProblemWriter(arrays_file=None).mask(mask)


class _ProblemWriter:
    """Writes values in YAML's flow style, and collects the arrays that are too large for it.

    Without an `arrays_file` no array is too large.
    """

    def __init__(self, arrays_file: str | None) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._arrays_file = arrays_file

    def keys(self, problem: Problem) -> Iterator[tuple[str, str]]:
        """Every key of the problem with its text."""
        if problem.title:
            yield "title", self.text(problem.title, "title")
        yield "tokens", self.text(problem.tokens, "tokens")
        if problem.context_tokens != key_labels(problem.tokens, problem.sized):
            yield "context_tokens", self.text(problem.context_tokens, "context_tokens")
        yield from self._given(problem)
        if problem.sink is not None:
            yield "sink", problem.sink.written
        if problem.mask.parts:
            yield "mask", self.mask(problem.mask)
        if problem.positions:
            yield (
                "position",
                self.text({each.name: _content(each) for each in problem.positions}, "position"),
            )
        for key, row in KEYS.items():
            if row.setting and (value := getattr(problem, key)) not in (
                None,
                next(iter(SCORES)),
                "default",
            ):
                yield key, self.text(value, key)
        if problem.loss is not None:
            kind, target = LOSSES[problem.loss.kind], problem.loss.target
            content = target.value.argmax(-1).tolist() if kind.of_classes else target
            yield "loss", self.text({"kind": problem.loss.kind, kind.target: content}, "loss")
        if problem.system is not None:
            yield from self._system(problem.system)

    def _system(self, system: System) -> Iterator[tuple[str, str]]:
        """The arrays and equations of the problem's own, and what it ends with."""
        if system.arrays:
            lines = [f"  {each.cell}: {self.text(each.given, each.name)}" for each in system.arrays]
            yield "arrays", "\n".join(("", *lines))
        if system.equations:
            lines = [f"  - {self._equation(each)}" for each in system.equations]
            yield "equations", "\n".join(("", *lines))
        if system.result != "output":
            yield "result", system.result

    def _equation(self, own: OwnEquation) -> str:
        """An equation as it was written: its text alone where nothing is said about it."""
        words = {name: getattr(own, name) for name in ("title", "symbol", "meaning", "why")}
        said = {name: word for name, word in words.items() if word}
        if not said:
            return self.text(own.source, "")
        return self.text({"equation": own.source, **said}, "")

    def mask(self, mask: Mask) -> str:
        """A mask: its one part, or all of them in a list."""
        corner: dict[str, str] = {"corner": mask.corner} if mask.corner != CORNERS[0] else {}
        parts = [self._mask_part(part, corner if part.has_corner else {}) for part in mask.parts]
        return parts[0] if len(parts) == 1 else f"[{', '.join(parts)}]"

    def _mask_part(self, part: MaskPart, corner: dict[str, str]) -> str:
        """One part of a mask: the word alone where nothing else is to be said."""
        if part.needs_no_value and not corner:
            return part.name
        return self.text({part.name: _content(part)} | corner, "mask")

    def text(self, value: Any, name: str) -> str:
        """A value in YAML; `name` is what its array is called if it goes into the file of
        arrays.
        """
        if isinstance(value, Matrix):
            return self._matrix(value, name)
        if isinstance(value, Scalar):
            return value.written
        if isinstance(value, Mask):
            return self.mask(value) if value.parts else "none"
        if isinstance(value, dict):
            return (
                "{"
                + ", ".join(
                    f"{key}: {self.text(each, f'{name}_{key}')}" for key, each in value.items()
                )
                + "}"
            )
        if isinstance(value, list | tuple):
            return (
                "["
                + ", ".join(self.text(each, f"{name}_{place}") for place, each in enumerate(value))
                + "]"
            )
        if isinstance(value, str):
            quoted = json.dumps(value, ensure_ascii=False)
            return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in quoted)
        return json.dumps(value)

    def _given(self, problem: Problem) -> Iterator[tuple[str, str]]:
        axes, joined = axes_of(problem.sized), problem.joined
        past: dict[str, Matrix] = {}
        for name, matrix in problem.given.items():
            side_by_side = name not in _AS_STACKED or (name == "Q" and problem.joined)
            if side_by_side and _has_heads(name, matrix):
                matrix, joined = _join(matrix), True
            if ARRAYS[name].path.startswith("past."):
                past[ARRAYS[name].path.removeprefix("past.")] = matrix
            elif ARRAYS[name].path == name:
                yield name, self.text(matrix, name)
        if past:
            yield "past", self.text(past, "past")
        if joined:
            yield "heads", str(axes.number)
        if joined and axes.kv_heads is not None:
            yield "kv_heads", str(axes.kv_heads)

    def _matrix(self, matrix: Matrix, name: str) -> str:
        if self._arrays_file is not None and prod(matrix.shape) > _MOST_NUMBERS_INLINE:
            self.arrays[name] = matrix.value
            return f"{{file: {self.text(self._arrays_file, '')}, name: {name}}}"
        is_written = matrix.written is not None
        cells = matrix.written if matrix.written is not None else matrix.value
        text = _rows(cells.tolist(), exact=is_written)
        if len(text) <= _LONGEST_LINE:
            return text
        return text.replace("], [", "],\n  [")


def _has_heads(name: str, matrix: Matrix) -> bool:
    """Whether heads are an axis of an array that a file has side by side: weights, biases, and
    Q.
    """
    array = ARRAYS[name]
    if len(array.leading) < 2 or not array.letters:
        return False
    return matrix.ndim == len(array.letters) + 1


def _join(matrix: Matrix) -> Matrix:
    """heads × … × d becomes … × (heads·d)."""
    heads, *rows, width = matrix.shape
    return matrix.arranged(partial(_side_by_side, width=heads * width), (*rows, heads * width))


def _side_by_side(array: NDArray[Any], width: int) -> NDArray[Any]:
    import numpy as np

    return np.moveaxis(array, 0, -2).reshape(*array.shape[1:-1], width)


def _content(part: MaskPart | Position) -> Any:
    """What stands under the name of a mask or a position: its fields, which are what it was read
    from.
    """
    # Every mask and position is a dataclass, which their base classes cannot say.
    defaults = {each.name: each.default for each in fields(part)}  # type: ignore[arg-type]
    found = {name: getattr(part, name) for name in defaults}
    given = {name: value for name, value in found.items() if value is not None}
    if isinstance(part, Position):
        said = {name: value for name, value in given.items() if value != defaults[name]}
        return {part.keys.get(name, name): value for name, value in said.items()} or True
    values = [
        value if isinstance(value, Matrix | int | tuple) else Matrix(value)
        for value in given.values()
    ]
    return values[0] if len(values) == 1 else values or True


def _rows(cells: Any, *, exact: bool) -> str:
    if isinstance(cells, list):
        return "[" + ", ".join(_rows(each, exact=exact) for each in cells) + "]"
    return str(cells) if exact else json.dumps(cells).replace("-Infinity", "-inf")
