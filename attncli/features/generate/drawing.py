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

# Draws × numbers of a problem.
Draws: TypeAlias = NDArray[np.integer[Any]]

_VALUES = ("W_V", "V")
# Rows of X of more numbers than this, or more tokens, make long sums.
MOST_CELLS_OF_SHORT_ROW = 4


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
            rows: tuple[int, ...] = (self.n,)
            if self.heads > 1:
                rows = (self.heads, self.n)
            keys = (*rows, self.d_k)
            values = (*rows, self.d_v)
            return {"Q": keys, "K": keys, "V": values}
        to_keys = (self.d_model, self.heads * self.d_k)
        to_values = (self.d_model, self.heads * self.d_v)
        return {
            "X": (self.n, self.d_model),
            "W_Q": to_keys,
            "W_K": to_keys,
            "W_V": to_values,
        }

    def draw(self, key: Sequence[object], numbers: range) -> Draws:
        """The draws of these numbers by a key, such as a seed and a student."""
        cells = sum(map(prod, self.shapes.values()))
        # Half a million draws may be tried: only their numbers are written anew.
        up_to_the_number = json.dumps([*key, 0]).removesuffix("0]")
        drawn = bytearray()
        for number in numbers:
            text = f"{up_to_the_number}{number}]"
            drawn += shake_256(text.encode()).digest(cells)
        bytes_of_draws = np.frombuffer(drawn, np.uint8).reshape(len(numbers), cells)
        rows = []
        for name, bytes_of_matrix in self.matrices(bytes_of_draws).items():
            among = self._among(name)
            places = bytes_of_matrix % len(among)
            cells_of_matrix = among[places]
            rows.append(cells_of_matrix.reshape(len(numbers), -1))
        return np.concatenate(rows, axis=-1)

    def _among(self, name: str) -> Draws:
        """The numbers that a matrix is drawn from: small, so that sums are easy by hand, and fewer
        where sums are long.

        Values are smaller: the output is then the same if the weights are rounded. So are the
        weights of many tokens or long rows, where hardly any draw would else have small scores
        only.
        """
        is_weights = not self.gives_qkv and name != "X"
        longest_sum = max(self.n, self.d_model)
        if is_weights and longest_sum > MOST_CELLS_OF_SHORT_ROW:
            return np.array([0, 0, -1, 1])
        zeros = 1
        if not self.gives_qkv:
            zeros = max(1, self.d_model - 1)
        among = [0] * zeros
        among += [-1, 1]
        if name not in _VALUES:
            among.append(2)
        return np.array(among)

    def matrices(self, draws: Draws) -> dict[str, Draws]:
        """The matrices of each draw, by their names."""
        *leading, _ = draws.shape
        matrices = {}
        start = 0
        for name, shape in self.shapes.items():
            end = start + prod(shape)
            piece = draws[..., start:end]
            matrices[name] = piece.reshape(*leading, *shape)
            start = end
        return matrices

    def text(self, draw: Draws, title: str, mask: str | None) -> str:
        """One draw as a problem in YAML."""
        quoted_title = json.dumps(title, ensure_ascii=not title.isprintable())
        lines = [f"title: {quoted_title}"]
        if self.heads > 1 and not self.gives_qkv:
            lines.append(f"heads: {self.heads}")
        for name, matrix in self.matrices(draw).items():
            lines.append(f"{name}:")
            for row in matrix.tolist():
                written = json.dumps(row)
                lines.append(f"  - {written}")
        if mask is not None:
            lines.append(f"mask: {mask}")
        return "\n".join(lines) + "\n"

    def batch(self, one: Problem, draws: Draws) -> Problem:
        """All draws as the entries of a batch, each with matrices of its own, in a problem that is
        else like `one`.

        No file can say this: in a file, entries share their weights.
        """
        given = {}
        for name, matrices in self.matrices(draws).items():
            by_entry = self._of_batch(name, matrices)
            given[name] = Matrix(by_entry)
        return replace(one, given=MappingProxyType(given))

    def _of_batch(self, name: str, matrices: Draws) -> NDArray[np.float64]:
        entries, *_, width = matrices.shape
        if name in ("Q", "K", "V"):
            matrices = matrices.reshape(entries, self.heads, self.n, width)
        elif name != "X":
            width_of_head = width // self.heads
            by_row = matrices.reshape(entries, self.d_model, self.heads, width_of_head)
            matrices = by_row.swapaxes(1, 2)
        return np.ascontiguousarray(matrices, dtype=np.float64)
