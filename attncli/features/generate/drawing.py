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
# These have a row for each token, and are the left side of a product.
_OF_TOKENS = ("X", "Q")
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
            drawn += shake_256(text.encode()).digest(2 * cells)
        bytes_of_draws = np.frombuffer(drawn, np.uint8).reshape(len(numbers), 2, cells)
        for_numbers = self.matrices(bytes_of_draws[:, 0])
        for_zeros = self.matrices(bytes_of_draws[:, 1])
        rows = []
        for name, bytes_of_matrix in for_numbers.items():
            among = self._among(name)
            matrices = among[bytes_of_matrix % len(among)]
            self._put_zeros(name, matrices, for_zeros[name])
            rows.append(matrices.reshape(len(numbers), -1))
        return np.concatenate(rows, axis=-1)

    def _put_zeros(self, name: str, matrices: Draws, by: Draws) -> None:
        """Put as many zeros into each of the matrices, where the lowest of these bytes stand.

        The rows of tokens have as many in each column. So a product has as many terms that are not
        zero, whatever the draw: those of a column times those of the other matrix.
        """
        *leading, rows, columns = matrices.shape
        shared = self._share_of_zeros(name)
        if name not in _OF_TOKENS:
            rows, columns = rows * columns, 1
        usual = int(shared * rows + 0.5)
        zeros = min(usual, self._most_zeros(name))
        flat = matrices.reshape(*leading, rows, columns)
        order = by.reshape(flat.shape)
        places = np.argsort(order, axis=-2, kind="stable")
        first = places[..., :zeros, :]
        np.put_along_axis(flat, first, 0, axis=-2)

    def _most_zeros(self, name: str) -> int:
        """How many zeros leave a matrix a number in each row and in each column: in all, or in each
        column of the rows of tokens.
        """
        *_, rows, columns = self.shapes[name]
        longer = max(rows, columns)
        if name in _OF_TOKENS:
            return rows - -(-longer // columns)
        return rows * columns - longer

    def _share_of_zeros(self, name: str) -> float:
        """Which part of a matrix is 0: more of it where sums are long."""
        if self._has_long_sums(name):
            return 1 / 2
        zeros = 1
        if not self.gives_qkv:
            zeros = max(1, self.d_model - 1)
        return zeros / (zeros + len(self._among(name)))

    def _has_long_sums(self, name: str) -> bool:
        is_weights = not self.gives_qkv and name != "X"
        return is_weights and max(self.n, self.d_model) > MOST_CELLS_OF_SHORT_ROW

    def _among(self, name: str) -> Draws:
        """The numbers besides 0 that a matrix is drawn from: small, so that sums are easy by hand.

        Values are smaller: the output is then the same if the weights are rounded. So are the
        weights of many tokens or long rows, where hardly any draw would else have small scores
        only.
        """
        if name in _VALUES or self._has_long_sums(name):
            return np.array([-1, 1])
        return np.array([-1, 1, 2])

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
            by_entry = self.by_head(name, matrices)
            given[name] = Matrix(by_entry)
        return replace(one, given=MappingProxyType(given))

    def by_head(self, name: str, matrices: Draws) -> NDArray[np.float64]:
        """Draws of a matrix with an axis of heads, but for X, which all heads share."""
        entries, *_, width = matrices.shape
        if name in ("Q", "K", "V"):
            matrices = matrices.reshape(entries, self.heads, self.n, width)
        elif name != "X":
            width_of_head = width // self.heads
            by_row = matrices.reshape(entries, self.d_model, self.heads, width_of_head)
            matrices = by_row.swapaxes(1, 2)
        return np.ascontiguousarray(matrices, dtype=np.float64)
