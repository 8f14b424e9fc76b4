"""Where the numbers of attention are that is written out: which rows of its factors are the
queries, the keys and the values of each weight.

It is found by the model's own operations, on the numbers of rows in the place of scores.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor

from attncli.torch.written_out.contractions import Contraction, Factor, arranged, spread
from attncli.torch.written_out.tapes import Tape


class NotAttention(Exception):
    """Why a softmax between two products is no attention that attncli knows."""


class Use(NamedTuple):
    """The product of weights with values."""

    weights: Factor
    values: Factor
    product: Contraction
    result: Tensor

    @property
    def features(self) -> list[str]:
        """The letters that only values have."""
        return [letter for letter in self.values.axes if letter not in self.weights.axes]


class Places(NamedTuple):
    """Where the weights of a call are: for each of them, as … × queries × keys, the number of its
    row among the factors of the scores, and of its cell among the scores.

    `to_weights` arranges other tensors of the softmax's shape like this, and `back` the other way.
    """

    queries: Tensor
    keys: Tensor
    cells: Tensor
    query_rows: Tensor
    key_rows: Tensor
    to_weights: Callable[[Tensor], Tensor]
    back: Callable[[Tensor], Tensor]


class Used(NamedTuple):
    """What weights are used for: the output, … × queries × d, and the values, … × keys × d, with
    their numbers among all that were given; and the weights, … × queries × keys.
    """

    output: Tensor
    values: Tensor
    numbers: Tensor
    weights: Tensor


def places_of(tape: Tape, product: Contraction) -> Places:
    """Where each weight comes from: found by the steps on the numbers of rows, in the place of
    scores.
    """
    assert tape.axis is not None
    axis = tape.axis
    query_rows, queries = product.rows(product.left)
    key_rows, keys = product.rows(product.right)
    cells = torch.arange(queries.numel(), device=queries.device).view(product.shape)
    for step in tape.before:
        if step.is_view:
            queries, keys, cells = step.play(queries), step.play(keys), step.play(cells)
    queries, keys, cells = (each.movedim(axis, -1) for each in (queries, keys, cells))
    if not is_same_along(queries, -1):
        # It is the keys that are multiplied by the queries.
        query_rows, queries, key_rows, keys = key_rows, keys, query_rows, queries
    if not is_same_along(queries, -1):
        raise NotAttention("whose rows are of no query")
    row = _axis_of_queries(queries, keys)

    def to_weights(tensor: Tensor) -> Tensor:
        tensor = tensor.movedim(axis, -1)
        return tensor.unsqueeze(-2) if row is None else tensor.movedim(row, -2)

    def back(tensor: Tensor) -> Tensor:
        tensor = tensor.squeeze(-2) if row is None else tensor.movedim(-2, row)
        return tensor.movedim(-1, axis)

    queries, keys, cells = (to_weights(each.movedim(-1, axis)) for each in (queries, keys, cells))
    return Places(queries, keys, cells, query_rows, key_rows, to_weights, back)


def used_for(tape: Tape, places: Places, use: Use) -> Used:
    """The product of the weights with values, with the axes of the scores."""
    *leading, n, m = places.queries.shape
    order, own = _order(tape, places, use)
    sizes = tuple(use.product.size(letter) for letter in own)
    if prod(sizes) != len(order):
        raise NotAttention("whose weights are used for several values")
    table, numbered = _tables(use, own)
    numbers = spread(numbered, "".join(own), sizes).reshape(-1, 1)
    numbers = _put(numbers, order).view(*leading, n)
    if not is_same_along(numbers, -1):
        raise NotAttention("whose queries have values of their own")
    numbers = numbers[..., 0]
    output = arranged(Factor(use.result, use.product.axes), [*own, *use.features])
    output = _put(output.reshape(len(order), -1), order)
    weights = arranged(use.weights, [*own, use.product.summed])
    weights = _put(weights.reshape(-1, m), order)
    return Used(output.view(*leading, n, -1), table[numbers], numbers, weights.view(*leading, n, m))


def _tables(use: Use, own: list[str]) -> tuple[Tensor, Factor]:
    """The values as one table after the other, keys × d, and the numbers of these tables along the
    letters that weights and values share.
    """
    shared = [letter for letter in use.values.axes if letter in own]
    axes = [*shared, use.product.summed, *use.features]
    values = arranged(use.values, axes)
    if not use.features:
        values = values.unsqueeze(-1)
    # The axes of several features become one.
    values = values.flatten(len(shared) + 1)
    *entries, keys, features = values.shape
    tables = values.reshape(-1, keys, features)
    numbers = torch.arange(len(tables), device=values.device)
    return tables, Factor(numbers.view(entries), "".join(shared))


def _order(tape: Tape, places: Places, use: Use) -> tuple[Tensor, list[str]]:
    """The letters of the weights that are not summed over, and for each of their cells the number
    of its row among the scores.
    """
    shape = places.queries.shape
    summed = use.product.summed
    if len(summed) != 1:
        raise NotAttention("whose weights are summed over several axes")
    device = use.weights.tensor.device
    count = prod(shape[:-1])
    keys = torch.arange(shape[-1], device=device)
    rows = torch.arange(count, device=device).view(*shape[:-1], 1).expand(shape)
    rows, columns = places.back(rows), places.back(keys.expand(shape))
    for step in tape.after:
        if step.is_view:
            rows, columns = step.play(rows), step.play(columns)
    own = [letter for letter in use.weights.axes if letter != summed]
    axes = [*own, summed]
    rows = arranged(Factor(rows, use.weights.axes), axes)
    columns = arranged(Factor(columns, use.weights.axes), axes)
    is_over_keys = columns.shape[-1] == len(keys) and torch.equal(columns, keys.expand_as(columns))
    if not is_over_keys or not is_same_along(rows, -1):
        raise NotAttention("over another axis than the values are summed over")
    order = rows[..., 0].flatten()
    if len(order) != count:
        raise NotAttention("whose weights are used for several values")
    return order, own


def _axis_of_queries(queries: Tensor, keys: Tensor) -> int | None:
    """The axis along which queries differ, and keys do not; None if there is a single query."""
    axes = range(queries.ndim - 2, -1, -1)
    free = [axis for axis in axes if is_same_along(keys, axis)]
    differing = [axis for axis in free if queries.shape[axis] > 1]
    if differing:
        return differing[0]
    return free[0] if free else None


def _put(rows: Tensor, order: Tensor) -> Tensor:
    """The rows in this order: the first goes to the place that the first number names."""
    placed = torch.empty_like(rows)
    placed[order] = rows
    return placed


def is_same_along(numbers: Tensor, axis: int) -> bool:
    first = numbers.narrow(axis, 0, min(numbers.shape[axis], 1))
    return torch.equal(numbers, first.expand_as(numbers))
