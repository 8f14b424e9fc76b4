"""What becomes of a product until it is used: the operations on it are noted, and can be played
again on other numbers.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attncli.torch.tensors import unreadable
from attncli.torch.written_out.contractions import Contraction
from attncli.torch.written_out.names import Function, exported, named

SOFTMAX = named("softmax")
_DROPOUT = named("dropout")
# They give the same numbers in the same places.
_COPIES = (
    named("contiguous", "clone", "detach", "float", "double", "half", "bfloat16", "to", "type")
    | named("type_as", "cpu", "cuda", "requires_grad_")
    | _DROPOUT
)
# They give the same numbers in other places.
_VIEWS = (
    named("view", "reshape", "view_as", "reshape_as", "flatten", "unflatten", "squeeze")
    | named("unsqueeze", "expand", "expand_as", "transpose", "t", "swapaxes", "swapdims")
    | named("movedim", "moveaxis", "permute", "narrow", "select")
    | exported("slice")
    | {Tensor.__getitem__, Tensor.T.__get__, Tensor.mT.__get__}
)
_VIEW_OF_MEMORY = named("view")
# They give other numbers in the same places. The last ones change the tensor itself.
_CHANGES = (
    named("add", "sub", "subtract", "rsub", "mul", "multiply", "div", "divide", "true_divide")
    | named("neg", "negative", "tanh", "relu", "pow", "abs", "sigmoid", "where", "masked_fill")
    | named("clamp", "clip", "maximum", "minimum", "max", "min", "nan_to_num", "tril", "triu")
    | named("__rsub__")
)
_CHANGES_IN_PLACE = named(
    "add_", "sub_", "mul_", "multiply_", "div_", "divide_", "neg_", "tanh_", "masked_fill_"
) | {Tensor.__setitem__}

# Logits that stand beside the scores, and are cut off after the softmax.
_CAT = named("cat", "concat", "concatenate")

STEPS = _CAT | _COPIES | _VIEWS | _CHANGES | _CHANGES_IN_PLACE


class Operation(NamedTuple):
    """A function of one tensor, which stands at a place among its arguments: a number, or a
    name.
    """

    function: Function
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    at: int | str

    @property
    def is_view(self) -> bool:
        """Whether only places change."""
        return self.function in _VIEWS

    @property
    def changes(self) -> bool:
        """Whether numbers change."""
        return self.function in _CHANGES or self.function in _CHANGES_IN_PLACE

    def play(self, tensor: Tensor) -> Tensor:
        """The operation on another tensor of the same shape."""
        args, kwargs = list(self.args), dict(self.kwargs)
        if isinstance(self.at, str):
            kwargs[self.at] = tensor
        else:
            args[self.at] = tensor
        # This tensor may lie in memory in another way.
        function = Tensor.reshape if self.function in _VIEW_OF_MEMORY else self.function
        result = function(*args, **kwargs)
        return tensor if result is None else result


class Tape(NamedTuple):
    """A product, the operations on it up to a softmax, the axis of the softmax, and the operations
    after it.

    `product` is None where a softmax was of something else. `axis` is None before the softmax.
    `sink` is what was joined to the scores, one more number for each row, before them where
    `sink_is_first`; what stands between that and the softmax may only shift a whole row.
    `formats` are the number formats on the way, and `dropout` is the probability that a weight
    became 0.
    """

    product: Contraction | None
    before: tuple[Operation, ...] = ()
    axis: int | None = None
    after: tuple[Operation, ...] = ()
    formats: frozenset[torch.dtype] = frozenset()
    dropout: float = 0.0
    sink: Tensor | None = None
    sink_is_first: bool = False
    is_cut: bool = False

    def with_step(self, step: Operation) -> Tape:
        """The same with one more operation."""
        if step.function in _COPIES:
            return self._replace(dropout=max(self.dropout, _dropped(step)))
        if self.sink is not None and not self.is_cut:
            # After the softmax, it is the cut itself.
            return self._replace(is_cut=self.axis is not None)
        if self.axis is None:
            return self._replace(before=(*self.before, step))
        return self._replace(after=(*self.after, step))


class Tapes:
    """The tapes of those tensors that are still in use."""

    def __init__(self) -> None:
        self._tapes: dict[int, tuple[weakref.ref[Tensor], Tape]] = {}

    def __getitem__(self, tensor: Tensor) -> Tape | None:
        found = self._tapes.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None

    def __setitem__(self, tensor: Tensor, tape: Tape) -> None:
        number = id(tensor)
        formats = tape.formats | {tensor.dtype}
        forget = weakref.ref(tensor, lambda _: self._tapes.pop(number, None))
        self._tapes[number] = (forget, tape._replace(formats=formats))

    def forget(self, tensor: Tensor) -> None:
        """Follow this tensor no longer."""
        self._tapes.pop(id(tensor), None)

    def clear(self) -> None:
        """Follow no tensor any longer."""
        self._tapes.clear()

    def step(
        self, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any
    ) -> None:
        """A function of `STEPS` was called, which may be a step of a tensor that is followed."""
        if not self._tapes or "out" in kwargs:
            return
        if function in _CAT:
            self._join(args, kwargs, result)
            return
        found = next(self._followed(args, kwargs), None)
        if found is None:
            return
        at, tape = found
        if function in _CHANGES_IN_PLACE:
            # Of others that are changed, it is not known what they were.
            if at != 0:
                return
            result = args[0]
        if not isinstance(result, Tensor):
            return
        if isinstance(at, str):
            given = kwargs[at]
            kwargs = {**kwargs, at: None}
        else:
            given = args[at]
            args = (*args[:at], None, *args[at + 1 :])
        step = Operation(function, args, kwargs, at)
        if _keeps_sink(tape, step, given, result):
            self[result] = tape.with_step(step)

    def _join(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> None:
        """Scores were joined to something: a sink is one more number for each of their rows."""
        parts = [*(args[0] if args else kwargs.get("tensors", ()))]
        axis = kwargs.get("dim", args[1] if len(args) > 1 else 0)
        if len(parts) != 2 or axis not in (-1, parts[0].ndim - 1):
            return
        first, second = parts
        for scores, sink in ((first, second), (second, first)):
            tape = self[scores]
            if tape is None or tape.axis is not None or tape.sink is not None:
                continue
            if sink.shape[-1] == 1:
                self[result] = tape._replace(sink=sink, sink_is_first=sink is first)
                return

    def _followed(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Iterator[tuple[int | str, Tape]]:
        """The tensors with a tape among the arguments: where they stand, and the tape."""
        places: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
        for at, given in places:
            if isinstance(given, Tensor) and (tape := self[given]) is not None:
                yield at, tape


def _keeps_sink(tape: Tape, step: Operation, given: Tensor, result: Tensor) -> bool:
    """Whether the place of a sink is known after this operation: it is moved only by the cut after
    the softmax, which leaves the weights of the keys, and nothing changes these before it.
    """
    if tape.sink is None or tape.is_cut or step.function in _COPIES:
        return True
    if tape.axis is None:
        return not step.is_view
    if not step.is_view or unreadable(given):
        return False
    cut = given.narrow(-1, int(tape.sink_is_first), given.shape[-1] - 1)
    return torch.equal(result, cut)


def _dropped(step: Operation) -> float:
    """The probability with which this step makes numbers 0."""
    if step.function not in _DROPOUT:
        return 0.0
    given = dict(zip(("input", "p", "training"), step.args, strict=False)) | dict(step.kwargs)
    trains = given.get("training", given.get("train", True))
    return float(given.get("p", 0.5)) if trains else 0.0
