"""Tensors as they are recorded: whether their numbers can be read, copies of them, and what they
are for NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.attention.bias import CausalBias

from attncli.dtypes import DTYPES

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The size of an axis whose rows have several.
UNKNOWN_SIZE = -1
_READABLE_FORMATS = frozenset(getattr(torch, name) for name in (*DTYPES, "bool"))
_PLAIN_CLASSES = (Tensor, torch.nn.Parameter)
_SWITCHED_OFF = (torch._C._disabled_torch_function_impl, torch._C._disabled_torch_dispatch_impl)
# What torch.vmap and torch.func wrap tensors in has no public name.
_TRANSFORMS = torch._C._functorch


def unreadable(tensor: object) -> str:
    """What a tensor is, if its numbers cannot be read: "a nested tensor". Empty where they can.

    A subclass is read where its numbers stand in its own memory, as those of nn.Parameter do. What
    works out another meaning of every operation (`__torch_dispatch__`) keeps them elsewhere.
    """
    if not isinstance(tensor, Tensor):
        return f"a {type(tensor).__name__}, which is no tensor"
    if tensor.is_nested:
        return "a nested tensor"
    if _overrides(tensor, "__torch_dispatch__"):
        return f"a {type(tensor).__name__}"
    if _is_transformed(tensor):
        return "a tensor inside torch.vmap or functionalize"
    if tensor.is_meta:
        return "a tensor of the device meta, which has no numbers"
    if tensor.layout is not torch.strided:
        return "a sparse tensor"
    return "" if tensor.dtype in _READABLE_FORMATS else f"a tensor of {format_name(tensor.dtype)}"


def unreadable_mask(mask: object) -> str:
    """The same for a mask, as `plain_mask` gives it.

    One that has operations of its own means whatever these make of it, which need not be its
    numbers.
    """
    what = unreadable(mask)
    if what or not _overrides(mask, "__torch_function__"):
        return what
    return f"a {type(mask).__name__}, which has operations of its own"


def plain_mask(mask: Tensor) -> Tensor:
    """A mask with its numbers: `causal_upper_left` and `causal_lower_right` have none before they
    are asked for.
    """
    return mask._materialize() if isinstance(mask, CausalBias) else mask


def _overrides(tensor: object, method: str) -> bool:
    """Whether a subclass of Tensor has its own kind of this method."""
    if type(tensor) in _PLAIN_CLASSES:
        return False
    owners = [each for each in type(tensor).__mro__ if method in vars(each)]
    found = vars(owners[0])[method]
    plain = vars(Tensor)[method]
    return found not in (plain, *_SWITCHED_OFF)


def _is_transformed(tensor: Tensor) -> bool:
    """Whether a transform of torch.func hides numbers: one that differentiates only wraps them."""
    while _TRANSFORMS.is_gradtrackingtensor(tensor):
        tensor = _TRANSFORMS.get_unwrapped(tensor)
    return _TRANSFORMS.is_functorch_wrapped_tensor(tensor) or torch._is_functional_tensor(tensor)


def sizes_of(tensor: Tensor) -> torch.Size:
    """The shape, with `UNKNOWN_SIZE` for an axis whose rows have several, as in nested tensors."""
    if type(tensor) in _PLAIN_CLASSES and not tensor.is_nested:
        return tensor.shape
    return torch.Size(_size(tensor, axis) for axis in range(tensor.dim()))


def _size(tensor: Tensor, axis: int) -> int:
    try:
        size = tensor.size(axis)
    except RuntimeError:
        # A nested tensor has no size along this axis.
        return UNKNOWN_SIZE
    return size if type(size) is int else UNKNOWN_SIZE


def size_text(size: int) -> str:
    """The size of an axis in words."""
    return "varies" if size == UNKNOWN_SIZE else str(size)


def own(tensor: Tensor) -> Tensor:
    """A copy in the computer's memory, which no model changes and no gradient runs through."""
    return tensor.detach().to("cpu", copy=True)


def size_of(tensor: Tensor | None) -> int:
    """How many bytes a tensor takes."""
    return 0 if tensor is None else tensor.numel() * tensor.element_size()


def cut(tensor: Tensor, head: int | None, entry: int | None) -> Tensor:
    """One head and one entry of a tensor, which may have a single one of either for all of them.

    A head of all entries keeps its axis: three axes alone would be those of heads.
    """
    if tensor.ndim > 3 and entry is not None:
        has_entries = tensor.shape[0] > 1
        own_entry = entry if has_entries else 0
        tensor = tensor[own_entry]
    if tensor.ndim < 3 or head is None:
        return tensor
    at = head if tensor.shape[-3] > 1 else 0
    if tensor.ndim > 3:
        return tensor[:, at : at + 1]
    return tensor[at]


def to_numpy(tensor: Tensor) -> NDArray[Any]:
    """The numbers as NumPy has them; those of 16 bits in float32, which holds each of them
    exactly.
    """
    tensor = tensor.detach().to("cpu")
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.float()
    array: NDArray[Any] = tensor.numpy()
    return array


def format_name(number_format: torch.dtype) -> str:
    """The number format by its name: float32."""
    return str(number_format).removeprefix("torch.")
