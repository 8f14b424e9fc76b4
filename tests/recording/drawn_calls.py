"""Random calls of PyTorch's attention: shapes that it repeats, formats, layouts, kinds of tensors
and of masks.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

DTYPES = ("float64", "float32", "float16", "bfloat16")
LAYOUTS = ("contiguous", "transposed", "strided", "negated")
KINDS = ("tensor", "parameter", "buffer", "subclass", "subclass with functions")
MASKS = (
    "none", "causal", "true/false", "added", "-1e4", "-1e9", "lowest", "-inf", "near -2e4", "steep",
    "upper left", "lower right", "padding",
)  # fmt: skip
WAYS = ("functional", "aten", "aten.default")
PLACES = ("the block", "a block in a block", "a thread of the block")


@dataclass
class Drawn:
    """A call: what it is made of, in words, and the arguments of PyTorch's function."""

    words: dict[str, Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    function: Callable[..., Any]

    def run(self) -> Any:
        """What PyTorch gives for it."""
        return self.function(*self.arguments, **self.keywords)

    def recorded(self, torch: Any) -> tuple[Any, Any]:
        """The calls that are recorded of it, and what PyTorch gives meanwhile."""
        import attncli.torch

        class Runs(torch.nn.Module):
            def forward(runs) -> None:
                given.append(self.run())

        given: list[Any] = []
        runs = Runs()
        with attncli.torch.recording() as calls:
            if self.words["place"] == "a thread of the block":
                in_a_thread(runs)
            elif self.words["place"] == "the block":
                runs()
            else:
                with attncli.torch.recording() as inner:
                    runs()
                assert len(inner) == len(calls)
                assert all(call.check() for call in inner)
        return calls, given[0]

    def in_double(self, torch: Any) -> Any:
        """The same in float64, of plain tensors in a plain layout."""
        query, key, value, mask = (plain(torch, each) for each in self.arguments)
        return torch.nn.functional.scaled_dot_product_attention(
            query, key, value, mask, **self.keywords
        )


def in_a_thread(function: Callable[[], object]) -> None:
    """Run it in a thread of its own, to its end."""
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def plain(torch: Any, tensor: Any) -> Any:
    """A tensor in float64, or a mask of true and false as it is."""
    # of a causal bias, which is asked first: its numbers are in no memory, and PyTorch 2.5 does not
    # tell its format
    if hasattr(tensor, "variant"):
        n, m = tensor.seq_len_q, tensor.seq_len_kv
        offset = 0 if tensor.variant.name == "UPPER_LEFT" else m - n
        return torch.ones(n, m).tril(offset).bool()
    if tensor is None or tensor.dtype == torch.bool:
        return tensor
    return tensor.detach().as_subclass(torch.Tensor).resolve_neg().double()


def drawn(torch: Any, seed: int) -> Drawn:
    """The call of this seed."""
    chance = random.Random(seed)
    torch.manual_seed(seed)
    batch = [chance.choice((1, 2)) for _ in range(chance.choice((0, 1, 1, 1, 2)))]
    heads, grouped = chance.choice((1, 2, 4)), chance.random() < 0.3
    n, m, d = (chance.choice((1, 2, 3, 5)) for _ in range(3))
    words = {
        "seed": seed,
        "dtype": chance.choice(DTYPES),
        "layout": chance.choice(LAYOUTS),
        "kind": chance.choice(KINDS),
        "mask": chance.choice(MASKS),
        "way": chance.choice(WAYS),
        "place": chance.choice(PLACES),
        "scale": chance.choice((None, None, 0.3, 0.001, 4.0)),
    }
    if words["mask"] == "lower right":
        n = min(n, m)  # otherwise PyTorch warns of NaN
    dtype = getattr(torch, words["dtype"])
    leading = [*batch, heads] if batch or chance.random() < 0.7 else []
    of_keys = (
        [heads // chance.choice([each for each in (1, 2, 4) if heads % each == 0])]
        if grouped
        else None
    )

    def side(rows: int, width: int, kv_heads: list[int] | None) -> Any:
        axes = (
            (fewer(chance, leading[:-1]) + kv_heads)
            if kv_heads and leading
            else fewer(chance, leading)
        )
        return laid_out(
            torch, chance, words, torch.randn(*axes, rows, width, dtype=torch.float64).to(dtype)
        )

    query = laid_out(
        torch, chance, words, torch.randn(*leading, n, d, dtype=torch.float64).to(dtype)
    )
    key, value = side(m, d, of_keys), side(m, chance.choice((1, 4)), of_keys)
    words["shapes"] = [tuple(each.shape) for each in (query, key, value)]
    mask = mask_of(torch, chance, words, [*leading], n, m, dtype)
    keywords = {"scale": words["scale"], "is_causal": words["mask"] == "causal"}
    if of_keys and leading:
        keywords["enable_gqa"] = True
    functions = {
        "functional": torch.nn.functional.scaled_dot_product_attention,
        "aten": torch.ops.aten.scaled_dot_product_attention,
        "aten.default": torch.ops.aten.scaled_dot_product_attention.default,
    }
    way = "functional" if hasattr(mask, "variant") else words["way"]
    return Drawn(words, (query, key, value, mask), keywords, functions[way])


def fewer(chance: random.Random, axes: list[int]) -> list[int]:
    """The same axes, of which some have one entry, and the first may be missing: PyTorch repeats
    what is there.
    """
    axes = [1 if chance.random() < 0.2 else each for each in axes]
    while axes and axes[0] == 1 and chance.random() < 0.2:
        axes = axes[1:]
    return axes


def laid_out(torch: Any, chance: random.Random, words: dict[str, Any], tensor: Any) -> Any:
    """A tensor with the same numbers in this layout, and of this kind."""
    if words["layout"] == "transposed":
        tensor = tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    elif words["layout"] == "strided":
        tensor = torch.stack([tensor, -tensor], dim=-1)[..., 0]
    elif words["layout"] == "negated" and words["dtype"] == "float64":
        tensor = torch.complex(tensor, -tensor).conj().imag
        assert tensor.is_neg()
    return kinds(torch)[words["kind"]](tensor)


@cache
def kinds(torch: Any) -> dict[str, Callable[[Any], Any]]:
    """The kinds of tensors whose numbers are in their own memory."""

    class Subclass(torch.Tensor):
        pass

    class WithFunctions(torch.Tensor):
        @classmethod
        def __torch_function__(
            cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return super().__torch_function__(function, types, args, kwargs or {})

    return {
        "tensor": lambda tensor: tensor,
        "parameter": torch.nn.Parameter,
        "buffer": torch.nn.Buffer,
        "subclass": lambda tensor: tensor.as_subclass(Subclass),
        "subclass with functions": lambda tensor: tensor.as_subclass(WithFunctions),
    }


def mask_of(
    torch: Any,
    chance: random.Random,
    words: dict[str, Any],
    leading: list[int],
    n: int,
    m: int,
    dtype: Any,
) -> Any:
    """A mask of this kind, for all heads and entries or for each of them."""
    from torch.nn.attention import bias

    name = words["mask"]
    axes = fewer(chance, leading)
    keep = torch.rand(*axes, n, m) < 0.6
    low = {"-1e4": -1e4, "-1e9": -1e9, "lowest": torch.finfo(dtype).min, "-inf": -torch.inf}
    if name in low:
        if words["dtype"] == "float16":
            low["-1e9"] = low["lowest"]
        keep[..., 0] |= chance.random() < 0.5  # else some queries see nothing
        biases = (
            torch.randn(*axes, n, m).double()
            if chance.random() < 0.5
            else torch.zeros(n, m).double()
        )
        return torch.where(keep, biases, low[name]).to(dtype)
    distance = torch.arange(m) - torch.arange(n)[:, None]
    return {
        "none": lambda: None,
        "causal": lambda: None,
        "true/false": lambda: keep,
        "added": lambda: torch.randn(*axes, n, m).to(dtype),
        "near -2e4": lambda: (torch.randn(*axes, n, m) - 2e4).to(dtype),
        "steep": lambda: (-4000.0 * distance.abs()).to(dtype),
        "upper left": lambda: bias.causal_upper_left(n, m),
        "lower right": lambda: bias.causal_lower_right(n, m),
        "padding": lambda: torch.rand(1, m) < 0.7,
    }[name]()


def drawn_layer(torch: Any, seed: int) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """A layer of nn.MultiheadAttention of this seed, and what it is called with."""
    chance = random.Random(seed)
    torch.manual_seed(seed)
    heads, entries, n, m = (chance.choice((1, 2, 3)) for _ in range(4))
    cross, separate, batched = chance.random() < 0.4, chance.random() < 0.3, chance.random() < 0.8
    if not cross:
        m = n
    options = {"kdim": 5, "vdim": 5} if cross and separate else {}
    first = chance.random() < 0.5
    module = torch.nn.MultiheadAttention(
        6, heads, bias=chance.random() < 0.7, batch_first=first, **options
    ).eval()
    dtype = getattr(torch, chance.choice(("float64", "float32")))

    def rows(count: int, width: int) -> Any:
        if not batched:
            return torch.randn(count, width, dtype=dtype)
        return torch.randn(*((entries, count) if first else (count, entries)), width, dtype=dtype)

    x = rows(n, 6)
    context = rows(m, options.get("kdim", 6)) if cross else x
    values = context if chance.random() < 0.8 else context + 1
    asked: dict[str, Any] = {"need_weights": chance.random() < 0.5}
    hidden = torch.rand(n, m) < 0.4
    hidden[:, 0] = False
    kind = chance.choice(("none", "true/false", "added", "of each head"))
    if kind == "true/false":
        asked["attn_mask"] = hidden
    elif kind == "added":
        asked["attn_mask"] = torch.where(hidden, -torch.inf, torch.randn(n, m)).to(dtype)
    elif kind == "of each head":
        asked["attn_mask"] = torch.randn((entries if batched else 1) * heads, n, m, dtype=dtype)
    if chance.random() < 0.5:
        padding = torch.rand(*([entries] if batched else []), m) < 0.3
        padding[..., 0] = False
        added = kind in ("added", "of each head")
        asked["key_padding_mask"] = (
            torch.where(padding, -torch.inf, 0.0).to(dtype) if added else padding
        )
    return module.to(dtype), (x, context, values), asked
