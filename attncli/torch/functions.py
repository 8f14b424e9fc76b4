"""What PyTorch is watched for: its functions of attention, and the linear layers before them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from attncli.torch import flex, multi_head
from attncli.torch.attention import Attention, Projections
from attncli.torch.seen import Linear, Seen, linear_layer, scaled_dot_product
from attncli.torch.written_out.follower import FOLLOWED, Follower
from attncli.torch.written_out.tapes import SOFTMAX

# The last linear layers: those of the queries, the keys and the values are among them.
LINEAR_LAYERS_KEPT = 8

# Exported modules call this.
_EXPORTED_ATTENTION = torch.ops.aten.scaled_dot_product_attention
_DOT_PRODUCT = frozenset(
    (functional.scaled_dot_product_attention, _EXPORTED_ATTENTION, _EXPORTED_ATTENTION.default)
)
_WATCHED = _DOT_PRODUCT | {
    functional.multi_head_attention_forward,
    flex.OPERATION,
    functional.linear,
    torch.addmm,
}
_SEEN = _WATCHED | FOLLOWED


class CallWatch(TorchFunctionMode):
    """Tells of each call of attention that PyTorch makes while it is active.

    What a function is called with is passed on as it is, and what it gives back, too: nothing that
    a model computes changes. `tell` gets each call, `unseen` the name of a function in which none
    could be seen, and `softmaxed` is called where a softmax is worked out.
    """

    def __init__(
        self,
        tell: Callable[[Seen], None],
        unseen: Callable[[str], None],
        softmaxed: Callable[[], None],
    ) -> None:
        super().__init__()
        self.tell, self.unseen, self.softmaxed = tell, unseen, softmaxed
        self._inner: list[Seen] | None = None
        self._follows = True
        self.follower = Follower()
        self.linear: deque[Linear] = deque(maxlen=LINEAR_LAYERS_KEPT)

    def __torch_function__(
        self,
        function: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        # Nearly no function is watched, and each look at one costs a model time.
        if function not in _SEEN:
            return function(*args, **kwargs)
        if function in FOLLOWED:
            result = function(*args, **kwargs)
            # The operations of a program that is written down are no model's.
            if function in SOFTMAX:
                self.softmaxed()
            if self._follows and not torch.jit.is_tracing():
                self._see(self.follower.see(function, args, kwargs, result))
            return result
        if function is functional.multi_head_attention_forward:
            return self._multi_head(function, args, kwargs)
        result = function(*args, **kwargs)
        if function is flex.OPERATION:
            self._tell_or_keep(flex.flex_attention(result, *args, **kwargs))
        # It may be what torch.fx writes a program with, for example.
        if not isinstance(result, Tensor):
            return result
        if function in _DOT_PRODUCT:
            self._tell_or_keep(scaled_dot_product(result, *args, **kwargs))
        elif function is functional.linear:
            self.linear.append(linear_layer(result, *args, **kwargs))
        elif function is torch.addmm and args[0].ndim == 1:
            # So GPT-2 writes a linear layer.
            self.linear.append(Linear(args[1], args[2], args[0], result, transposed=True))
        return result

    def _see(self, seen: Seen | str | None) -> None:
        """Tell of a call that was written out, or of what looked like one."""
        if isinstance(seen, str):
            self.unseen(seen)
        elif seen is not None:
            self._tell_or_keep(seen)

    def _tell_or_keep(self, seen: Seen) -> None:
        """Tell of a call, or keep it for the function that made it."""
        if self._inner is not None:
            self._inner.append(seen)
        elif seen.reason:
            self.tell(seen)
        else:
            self.tell(seen._replace(projections=self.projections(seen.attention)))

    def _multi_head(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """Run PyTorch's function of the whole layer, and tell of it."""
        result, seen = multi_head.run_and_see(function, args, kwargs)
        if isinstance(seen, str):
            self.unseen(seen)
        else:
            self.tell(seen)
        return result

    @contextmanager
    def inside(self, *, follows: bool) -> Iterator[list[Seen]]:
        """Calls that are made inside another one: they are put into this list, and not told. Those
        that are written out are among them if it `follows` the operations.
        """
        outer, followed = self._inner, self._follows
        self._inner, self._follows = [], follows
        try:
            yield self._inner
        finally:
            self._inner, self._follows = outer, followed

    def forget(self) -> None:
        """Keep no more of what was called."""
        self.linear.clear()
        self.follower.tapes.clear()

    def projections(self, attention: Attention) -> Projections | None:
        """The linear layers that made queries, keys and values, if they were seen and nothing came
        in between.
        """
        if attention.query.ndim != 4 or not attention.query.numel() or not attention.key.numel():
            return None
        found = [
            self._source(tensor) for tensor in (attention.query, attention.key, attention.value)
        ]
        *before, value = found
        # Keys that are all 0 are so after a rotation, too.
        rotated = None in before
        if value is None:
            found = list(self._in_groups(attention))
        elif rotated:
            found = [*self._layers_before(value, attention), value]
        sources = [source for source in found if source is not None]
        if len(sources) < 3 or sources[1].input is not sources[2].input:
            return None
        of_queries, of_keys = sources[0].input, sources[1].input
        # Of queries that something came after, a layer that reads another sequence may be alike.
        if not _has_rows_of(of_queries, attention.query) or not _has_rows_of(
            of_keys, attention.key
        ):
            return None
        arrays = {"X": _of_entries(sources[0].input, attention.query)}
        if sources[1].input is not sources[0].input:
            arrays["context"] = _of_entries(sources[1].input, attention.key)
        for letter, source in zip("QKV", sources, strict=True):
            arrays[f"W_{letter}"] = source.columns
            if source.bias is not None:
                arrays[f"b_{letter}"] = source.bias
        return Projections(arrays, rotated=rotated)

    def _in_groups(self, attention: Attention) -> Sequence[Linear]:
        """The parts of a layer that makes all three, group by group: the queries of a group, then
        its head of keys, then that of values. Empty where there is none.
        """
        _, heads, _, width_of_keys = attention.query.shape
        _, groups, _, width = attention.value.shape
        features = (heads + 2 * groups) * width
        if heads % groups or width_of_keys != width:
            return ()
        queries = heads // groups
        places = torch.arange(features).reshape(groups, queries + 2, width)
        of_values = places[:, queries + 1].flatten()
        values = attention.value.transpose(1, 2).reshape(-1, groups * width)
        for layer in filter(attrgetter("readable"), reversed(self.linear)):
            if layer.output.shape[-1] != features:
                continue
            output = layer.output.reshape(-1, features)
            if len(output) == len(values) and torch.equal(output[:, of_values], values):
                of_queries, of_keys = places[:, :queries].flatten(), places[:, queries].flatten()
                return [layer.at(columns) for columns in (of_queries, of_keys, of_values)]
        return ()

    def _layers_before(self, value: Linear, attention: Attention) -> list[Linear]:
        """The linear layers of queries and keys that something else came after, as a rotation:
        those that read what the layer of the values reads, in the order of the calls.
        """
        sizes = [_features(tensor) for tensor in (attention.query, attention.key)]
        whole = value.output.shape[-1]
        if whole == sum(sizes) + _features(attention.value):
            # One layer makes all three.
            layer = next(each for each in self.linear if each.output is value.output)
            if value.starts:
                return _beside(layer, value, attention)
            return [layer.part(0, sizes[0]), layer.part(*sizes)]
        found = []
        alike = [each for each in self.linear if each.input is value.input and each.readable]
        for size in sizes:
            layers = [each for each in alike if each.output.shape[-1] == size]
            if not layers or len(layers[0].output.reshape(-1, size)) != len(
                value.output.reshape(-1, whole)
            ):
                return []
            alike.remove(layers[0])
            found.append(layers[0])
        return found

    def _source(self, tensor: Tensor) -> Linear | None:
        """The linear layer, or the part of one, whose output this is, with the heads as columns
        side by side.
        """
        batch, heads, size, width = tensor.shape
        features = heads * width
        for layer in filter(attrgetter("readable"), reversed(self.linear)):
            output = layer.output.reshape(-1, layer.output.shape[-1])
            if len(output) != batch * size:
                continue
            first = tensor[0, :, 0].flatten()
            for start in range(0, output.shape[1] + 1 - features, features):
                part = slice(start, start + features)
                # All rows are compared only where the first is the same.
                if torch.equal(output[0, part], first) and torch.equal(
                    output[:, part], tensor.transpose(1, 2).reshape(-1, features)
                ):
                    return layer.part(start, features)
            starts = _starts_of_heads(output, tensor)
            if starts:
                return layer.heads_at(starts, width)
        return None


def _features(tensor: Tensor) -> int:
    """How many columns batch × heads × n × d has with its heads side by side."""
    return tensor.shape[1] * tensor.shape[3]


def _starts_of_heads(output: Tensor, tensor: Tensor) -> list[int]:
    """Where the columns of each head begin in the output of a layer that has those of others in
    between; empty where it has not all of them, or some twice.
    """
    width = tensor.shape[-1]
    if output.shape[-1] % width:
        return []
    first = tensor[0, :, 0]
    # Nearly all layers are ruled out by one number of each head.
    if not torch.isin(first[:, 0], output[0, ::width]).all():
        return []
    is_it = (output[0].view(-1, 1, width) == first).all(dim=-1)
    if not (is_it.sum(dim=0) == 1).all():
        return []
    blocks = is_it.int().argmax(dim=0)
    found = output.unflatten(-1, (-1, width))[:, blocks]
    if not torch.equal(found, tensor.transpose(1, 2).flatten(0, 1)):
        return []
    return [int(block) * width for block in blocks]


def _beside(layer: Linear, value: Linear, attention: Attention) -> list[Linear]:
    """The queries and keys of a layer whose output has, one key and value head after the other, its
    query heads, its keys and its values.
    """
    width = attention.query.shape[-1]
    # Keys and values may have been repeated for each of their query heads.
    groups = [*dict.fromkeys(value.starts)]
    each = attention.query.shape[1] // len(groups)
    keys = [start - width for start in value.starts]
    queries = [start - (each - head + 1) * width for start in groups for head in range(each)]
    if min(queries) < 0:
        return []
    return [layer.heads_at(queries, width), layer.heads_at(keys, width)]


def _has_rows_of(input: Tensor, attention_side: Tensor) -> bool:
    """Whether the input of a linear layer has a row for each token of what was made of it."""
    rows = attention_side.shape[0] * attention_side.shape[2]
    return input.numel() == rows * input.shape[-1]


def _of_entries(input: Tensor, attention_side: Tensor) -> Tensor:
    """The input of a linear layer, as batch × n × d_model, by the axes of what was made of it."""
    return input.reshape(attention_side.shape[0], attention_side.shape[2], -1)
