"""Products of tensors, as sums over an axis that both have: `matmul`, `bmm`, `einsum` and the
like.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from string import ascii_letters
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attncli.torch.written_out.names import named

_MATMUL = named("matmul", "bmm", "mm") | {Tensor.__matmul__, Tensor.__rmatmul__}
_EINSUM = named("einsum") | {torch.functional.einsum}
_SUM_AND_PRODUCT = named("baddbmm")

PRODUCTS = _MATMUL | _EINSUM | _SUM_AND_PRODUCT


class Factor(NamedTuple):
    """One of the two tensors, with a letter for each of its axes."""

    tensor: Tensor
    axes: str


class Contraction(NamedTuple):
    """A product of two tensors, with the letters of its axes. The letters that it lacks are summed
    over.
    """

    left: Factor
    right: Factor
    axes: str

    @property
    def summed(self) -> str:
        """The letters that are summed over."""
        return "".join(letter for letter in self.left.axes if letter not in self.axes)

    def size(self, letter: str) -> int:
        """How long the axis of a letter is; an axis of size 1 is repeated."""
        return max(
            factor.tensor.shape[factor.axes.index(letter)]
            for factor in (self.left, self.right)
            if letter in factor.axes
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return tuple(self.size(letter) for letter in self.axes)

    def rows(self, factor: Factor) -> tuple[Tensor, Tensor]:
        """What is summed over in a factor, as the rows of a matrix; and for each cell of the
        result the number of its row. The numbers take no memory for cells that have the same.
        """
        others = [letter for letter in factor.axes if letter not in self.summed]
        tensor = arranged(factor, [*others, *self.summed])
        sizes = tensor.shape[: len(others)]
        count = prod(sizes)
        numbers = torch.arange(count, device=tensor.device)
        numbered = Factor(numbers.view(sizes), "".join(others))
        return tensor.reshape(count, -1), spread(numbered, self.axes, self.shape)


def arranged(factor: Factor, axes: list[str]) -> Tensor:
    """The tensor with its axes in this order."""
    return factor.tensor.permute([factor.axes.index(letter) for letter in axes])


def spread(factor: Factor, axes: str, shape: tuple[int, ...]) -> Tensor:
    """The tensor along more axes, on which it does not depend."""
    own = [letter for letter in axes if letter in factor.axes]
    tensor = arranged(factor, own)
    for at, letter in enumerate(axes):
        if letter not in own:
            tensor = tensor.unsqueeze(at)
    return tensor.expand(shape)


def product_of(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Contraction | None:
    """The product that a function works out; None if it is no sum over axes of two tensors."""
    if function in _EINSUM:
        return _einsum(args)
    factors = [*args, *(kwargs[name] for name in _FACTOR_NAMES if name in kwargs)]
    if function in _SUM_AND_PRODUCT:
        del factors[0]
    if function is Tensor.__rmatmul__:
        factors.reverse()
    if len(factors) != 2:
        return None
    left, right = factors
    if not left.ndim or not right.ndim:
        return None
    batch = ascii_letters[: max(left.ndim, right.ndim, 2) - 2]
    rows, columns, summed = "XYZ"
    of_left = rows if left.ndim > 1 else ""
    of_right = columns if right.ndim > 1 else ""
    return Contraction(
        Factor(left, _last(batch, left.ndim - 2) + of_left + summed),
        Factor(right, _last(batch, right.ndim - 2) + summed + of_right),
        batch + of_left + of_right,
    )


# What PyTorch calls the factors, where they are given by their names.
_FACTOR_NAMES = ("input", "batch1", "mat1", "other", "tensor2", "mat2", "batch2")


def _last(letters: str, count: int) -> str:
    """So many of the last letters."""
    return letters[len(letters) - count :] if count > 0 else ""


def _einsum(args: tuple[Any, ...]) -> Contraction | None:
    """The product of two tensors as `einsum` writes it."""
    if not args or not isinstance(args[0], str):
        return None
    equation = args[0].replace(" ", "")
    given, arrow, axes = equation.partition("->")
    tensors = args[1:]
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tuple(tensors[0])
    letters = given.split(",")
    if len(tensors) != 2 or len(letters) != 2:
        return None
    more = [
        tensor.ndim - len(each.replace("...", ""))
        for tensor, each in zip(tensors, letters, strict=True)
        if "..." in each
    ]
    free = "".join(letter for letter in ascii_letters if letter not in equation)
    batch = free[: max(more, default=0)]
    if not arrow:
        once = sorted(letter for letter in set(given) - set(",.") if given.count(letter) == 1)
        axes = "..." + "".join(once) if more else "".join(once)
    factors = []
    for tensor, each in zip(tensors, letters, strict=True):
        own = _last(batch, tensor.ndim - len(each.replace("...", "")))
        factors.append(Factor(tensor, each.replace("...", own)))
    left, right = factors
    product = Contraction(left, right, axes.replace("...", batch))
    return product if _is_plain(product) else None


def _is_plain(product: Contraction) -> bool:
    """Whether no factor has a letter twice, or one that neither the other nor the result has."""
    left, right = product.left.axes, product.right.axes
    for letters in (left, right, product.axes):
        if len(set(letters)) < len(letters):
            return False
    of_one = set(left) ^ set(right)
    return of_one <= set(product.axes)
