"""Numbers for a problem, drawn by a seed: the same ones on every machine and in every version of
Python.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import shake_256
from math import prod
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem

Draws: TypeAlias = NDArray[np.integer[Any]]  # draws × numbers of a problem

_VALUES = ("W_V", "V")
# numbers in a row of X, or tokens
SHORT = 4


@dataclass(frozen=True, slots=True)
class Layer:
    """Which matrices a problem gives, and how large they are; `d_k` and `d_v` are those of one
    head.
    """

    n: int
    d_model: int
    d_k: int
    d_v: int
    heads: int = 1
    gives_qkv: bool = False

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each matrix, as a file has it: heads of weights side by side, those of Q, K
        and V apart.
        """
        if self.gives_qkv:
            heads = (self.heads,) if self.heads > 1 else ()
            return {
                name: (*heads, self.n, width)
                for name, width in (("Q", self.d_k), ("K", self.d_k), ("V", self.d_v))
            }
        widths = {"W_Q": self.d_k, "W_K": self.d_k, "W_V": self.d_v}
        weights = {name: (self.d_model, self.heads * width) for name, width in widths.items()}
        return {"X": (self.n, self.d_model), **weights}

    def draw(self, key: Sequence[object], numbers: range) -> Draws:
        """The draws of these numbers by a key, such as a seed and a student."""
        cells = sum(map(prod, self.shapes.values()))
        texts = (json.dumps([*key, number]).encode() for number in numbers)
        drawn = b"".join(shake_256(text).digest(cells) for text in texts)
        matrices = self.matrices(np.frombuffer(drawn, np.uint8).reshape(len(numbers), cells))
        rows = []
        for name, bytes_drawn in matrices.items():
            among = self._among(name)
            found = among[bytes_drawn % len(among)]
            rows.append(found.reshape(len(numbers), -1))
        return np.concatenate(rows, axis=-1)

    def _among(self, name: str) -> Draws:
        """The numbers that a matrix is drawn from: small, so that sums are easy by hand, and fewer
        where sums are long.

        Values are smaller: the output is then the same if the weights are rounded. So are the
        weights of many tokens or long rows, where hardly any draw would else have small scores
        only.
        """
        if not self.gives_qkv and name != "X" and max(self.n, self.d_model) > SHORT:
            return np.array([0, 0, -1, 1])
        zeros = 1
        if not self.gives_qkv:
            zeros = max(1, self.d_model - 1)
        among = [0] * zeros + [-1, 1]
        if name not in _VALUES:
            among.append(2)
        return np.array(among)

    def matrices(self, draws: Draws) -> dict[str, Draws]:
        """The matrices of each draw, by their names."""
        ends = np.cumsum([prod(shape) for shape in self.shapes.values()])[:-1]
        pieces = np.split(draws, ends, axis=-1)
        return {
            name: piece.reshape(*draws.shape[:-1], *shape)
            for (name, shape), piece in zip(self.shapes.items(), pieces, strict=True)
        }

    def text(self, draw: Draws, title: str, mask: str | None) -> str:
        """One draw as a problem in YAML."""
        lines = [f"title: {json.dumps(title, ensure_ascii=not title.isprintable())}\n"]
        if self.heads > 1 and not self.gives_qkv:
            lines.append(f"heads: {self.heads}\n")
        for name, matrix in self.matrices(draw).items():
            rows = "".join(f"  - {json.dumps(row)}\n" for row in matrix.tolist())
            lines.append(f"{name}:\n{rows}")
        if mask is not None:
            lines.append(f"mask: {mask}\n")
        return "".join(lines)

    def batch(self, one: Problem, draws: Draws) -> Problem:
        """All draws as the entries of a batch, each with matrices of its own, in a problem that is
        else like `one`.

        No file can say this: in a file, entries share their weights.
        """
        given = {
            name: Matrix(self._of_batch(name, each)) for name, each in self.matrices(draws).items()
        }
        return replace(one, given=MappingProxyType(given))

    def _of_batch(self, name: str, matrices: Draws) -> NDArray[np.float64]:
        entries, *_, width = matrices.shape
        if name in ("Q", "K", "V"):
            matrices = matrices.reshape(entries, self.heads, self.n, width)
        elif name != "X":
            matrices = matrices.reshape(
                entries, self.d_model, self.heads, width // self.heads
            ).swapaxes(1, 2)
        return np.ascontiguousarray(matrices, dtype=np.float64)
