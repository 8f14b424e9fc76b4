"""Functions of PyTorch by their names: it has many of them in several places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

Function = Callable[..., Any]


def named(*names: str) -> frozenset[Function]:
    """The functions of these names, wherever PyTorch has them."""
    found = {
        getattr(owner, name)
        for owner in (torch, Tensor, functional)
        for name in names
        if callable(getattr(owner, name, None))
    }
    return frozenset(found) | exported(*names)


def exported(*names: str) -> frozenset[Function]:
    """The operations of these names that modules of `torch.export` call, in all their forms."""
    found: set[Function] = set()
    for name in names:
        operation = getattr(torch.ops.aten, name, None)
        if operation is not None:
            found.add(operation)
            found.update(getattr(operation, form) for form in operation.overloads())
    return frozenset(found)
