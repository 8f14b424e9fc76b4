"""One recorded call: what attention was given and gave back, and the problem that works it out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from os import PathLike
from typing import Any, SupportsIndex, TypedDict, Unpack

import torch
from torch import Tensor

from attncli.arguments import require_tolerance
from attncli.cli.saving import save
from attncli.comparison.compared import Compared
from attncli.dtypes import chosen
from attncli.english import count
from attncli.errors import usage_error
from attncli.notebook import Trace, work_out
from attncli.page.document import Document, Paragraph
from attncli.problem.model import Problem
from attncli.problem.python_values import problem as new_problem
from attncli.render import Style, render
from attncli.torch.agreement import Agreement, agreement, disagreement
from attncli.torch.attention import INPUTS, Attention, Projections, heads_of
from attncli.torch.compared.two_calls import compared
from attncli.torch.masks import Reach, written_mask
from attncli.torch.origins.latents import DOWN, Latents
from attncli.torch.origins.rotations import position_of
from attncli.torch.tensors import cut, size_of, size_text, to_numpy
from attncli.torch.ways_around import way_around

OTHER_LAYERS, OTHER_STEPS = "layers= names other layers", "steps= asks for fewer runs"


class ProblemOptions(TypedDict, total=False):
    """What of a call becomes a problem, and what its rows are called; `Call.problem` explains
    them.
    """

    head: int | None
    entry: int | None
    tokens: Sequence[str] | None
    context_tokens: Sequence[str] | None
    title: str | None
    from_inputs: bool
    latent: bool
    absorbed: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call:
    """One call of attention in a model.

    `number` counts all calls, `step` the runs of the model, `layer` the calls in one run, all from
    0. `where` is the name of the module that made the call, as the outermost one's
    `named_modules()` has it, empty outside any module. `output` is what the call gave back, in the
    shape of the queries; `weights` too, where it gave these. Where that is after W_O, as batch × n
    × d_model, `heads_output` is what the heads gave before. `mask` says what hides keys: none,
    causal, true/false or added. `attention` is None where nothing was kept, or where attncli cannot
    work the call out: `reason` says why. A shape has -1 where rows have several sizes.
    """

    number: int
    step: int
    layer: int
    where: str
    shapes: tuple[torch.Size, torch.Size, torch.Size]
    dtype: str
    mask: str
    attention: Attention | None
    output: Tensor | None = None
    heads_output: Tensor | None = None
    weights: Tensor | None = None
    projections: Projections | None = None
    reason: str = ""
    latents: Latents | None = None

    @property
    def heads(self) -> int:
        """How many heads the queries have."""
        return heads_of(self.shapes[0])

    @property
    def kv_heads(self) -> int:
        """How many heads keys and values have."""
        return heads_of(self.shapes[1])

    @property
    def bytes(self) -> int:
        """What the tensors that were kept take in memory, without the model's own weights."""
        inputs = self.projections.inputs if self.projections else ()
        own = self.attention.bytes if self.attention else 0
        own += self.latents.bytes if self.latents else 0
        return own + sum(map(size_of, (self.output, self.heads_output, self.weights, *inputs)))

    @property
    def entries(self) -> int:
        """How many entries the batch has."""
        return self.shapes[0][0] if len(self.shapes[0]) > 3 else 1

    def __repr__(self) -> str:
        query, key, _ = self.shapes
        sizes = f"{size_text(query[-2])}×{size_text(key[-2])}"
        what = (
            f"layer {self.layer}, {count(self.heads, 'head')}, {sizes}, {self.mask}, {self.dtype}"
        )
        what += ", not kept" if self.attention is None else ""
        return (
            f"<call {self.number}: {f'{self.where}, ' if self.where else ''}step {self.step},"
            f" {what}>"
        )

    def _repr_markdown_(self) -> str:
        said = repr(self)[1:-1]
        sentence = f"{said[0].upper()}{said[1:]}."
        if self.attention is None:
            help = f"It was not kept: {self.reason}."
            if way := way_around(self.reason):
                help += f" {way[0].upper()}{way[1:]}."
        else:
            help = f"calls[{self.number}].trace() works it out, and check() says if it agrees."
        page = Document(f"Call {self.number}", (Paragraph((sentence,)), Paragraph((help,))))
        return render(page, "markdown", Style())

    def problem(self, **options: Unpack[ProblemOptions]) -> Problem:
        """The call as a problem: all of it, or one `head`, or one `entry` of the batch.

        `tokens` label the keys. Where there are fewer queries, as with a cache, the queries are the
        last of them. In cross-attention `tokens` label the queries, and `context_tokens` the keys.
        The problem begins at X and the weights if linear layers made the queries, keys and values;
        otherwise, or with `from_inputs=False`, it begins at Q, K and V. With `latent=True`, a call
        of multi-head latent attention (DeepSeek V2 and V3) begins at X, too, and has the steps from
        its latent vectors; with `absorbed=True`, those that make no keys and values of these.
        Raises AttncliError for a head or an entry that the call does not have, for a call without
        latent vectors, and for a call that was not kept.

            calls[3].problem(head=5, tokens=["I", "love", "AI"])
        """
        require_options(options)
        return new_problem(**self.keys(**options))

    def trace(self, **options: Any) -> Trace:
        """The problem worked out; `options` are those of `problem` and of `attncli.trace`."""
        require_options(options, *(work_out.__kwdefaults__ or ()))
        wanted = {
            name: options.pop(name) for name in ProblemOptions.__annotations__ if name in options
        }
        return work_out(self.problem(**wanted), **options)

    def check(self) -> Agreement:
        """Whether attncli's output is the one that was recorded, within the tolerance of its number
        format.
        """
        return agreement(self)

    def compare(
        self, other: Call, *, tolerance: float | None = None, **options: Unpack[ProblemOptions]
    ) -> Compared:
        """This call held against one of another model, or of the same one run in another way, step
        by step, as `attncli.compare` does.

        `options` are those of `problem`, and say what of both is compared. `tolerance` is relative
        to the terms that a cell is computed from; without one, it is that of the coarser of both
        number formats. A notebook shows the page, which begins with the first step that differs.
        Raises AttncliError for what is no recorded call, and for a call that was not kept.

            model_calls[3].compare(port_calls[3]).mistakes
        """
        if not isinstance(other, Call):
            raise usage_error(
                f"a call is compared with another one, not with a {type(other).__name__}",
                help="to compare arrays, write attncli.compare(calls[3].problem(), arrays)",
            )
        require_options(options)
        require_tolerance(tolerance)
        return compared(self, other, _names(self, other), options, tolerance)

    def save(self, path: str | PathLike[str], **options: Unpack[ProblemOptions]) -> None:
        """Write the problem as YAML, with an .npz file beside it for large arrays, as
        `attncli.save` does.

        `options` are those of `problem`. What is written is worked out first, as `check` does: if
        it does not give the output that was recorded, there is a `UserWarning` that says how far it
        is off.
        """
        doubt = self.write(path, **options)
        if doubt:
            warnings.warn(doubt, stacklevel=2)

    def write(self, path: str | PathLike[str], **options: Unpack[ProblemOptions]) -> str:
        """The same as `save`, but what it would warn of is returned; it is empty where there is
        nothing.
        """
        save(self.problem(**options), path)
        found = disagreement(self, **options)
        return (
            "" if found is None else f"{path} does not give the output that was recorded: {found}"
        )

    def keys(
        self,
        *,
        head: int | None = None,
        entry: int | None = None,
        tokens: Sequence[str] | None = None,
        context_tokens: Sequence[str] | None = None,
        title: str | None = None,
        from_inputs: bool = True,
        latent: bool = False,
        absorbed: bool = False,
    ) -> dict[str, Any]:
        """The problem's keys with their values, arrays of NumPy among them."""
        if latent and absorbed:
            raise usage_error(
                "latent and absorbed are two ways to write the same call",
                help="leave one of them out; absorbed=True begins at the latent vectors, too",
            )
        given = self.kept()
        head, entry = _chosen("head", head, self.heads), _chosen("entry", entry, self.entries)
        if entry is None and self.entries == 1:
            entry = 0
        n, m = given.query.shape[-2], given.key.shape[-2]
        keys: dict[str, Any] = {
            "title": title or self._title(head, entry),
            **_labels(tokens, context_tokens, n, m),
        }
        if latent or absorbed:
            keys |= self._latents().keys(given, head, entry, absorbed=absorbed)
        else:
            keys |= (self._projected(given, head, entry) if from_inputs else None) or self._given(
                given, head, entry
            )
        mask = None if given.mask is None else to_numpy(cut(given.mask, head, entry))
        keys["mask"] = written_mask(mask, given.causal, n, m, _reach(given))
        if given.scale is not None and not isclose(given.scale, given.usual_scale, rel_tol=1e-12):
            keys["scale"] = given.scale
        if given.softcap is not None:
            keys["softcap"] = given.softcap
        if given.sink is not None:
            sink = given.sink.flatten()
            keys["sink"] = to_numpy(sink).tolist() if head is None else float(sink[head])
        return keys

    def kept(self) -> Attention:
        """What the call was given; raises AttncliError where that was not kept."""
        if self.attention is None:
            help = way_around(self.reason)
            if self.reason == OTHER_LAYERS:
                help = f"record it with layers=[{self.layer}]"
            elif self.reason == OTHER_STEPS:
                help = f"record it with steps={self.step + 1}"
            raise usage_error(f"call {self.number} was not kept: {self.reason}", help=help)
        return self.attention

    def _latents(self) -> Latents:
        """What latent attention was made of; raises AttncliError where that was not seen."""
        if self.latents is None:
            raise usage_error(
                f"call {self.number} has no latent keys and values",
                help=f"models have them whose layers have {DOWN}, such as DeepSeek V2 and V3",
            )
        queries, keys = (shape[-2] for shape in self.shapes[:2])
        if queries != keys:
            raise usage_error(
                f"call {self.number} reads keys of a cache, whose latent vectors were not recorded",
                help="record the run that fills the cache: steps=1",
            )
        return self.latents

    def _given(self, given: Attention, head: int | None, entry: int | None) -> dict[str, Any]:
        """Queries, keys and values as the call was given them."""
        kv_head = None if head is None else head * self.kv_heads // self.heads
        return {
            "Q": to_numpy(cut(given.query, head, entry)),
            "K": to_numpy(cut(given.key, kv_head, entry)),
            "V": to_numpy(cut(given.value, kv_head, entry)),
        }

    def _projected(self, given: Attention, head: int | None, entry: int | None) -> dict[str, Any]:
        """Inputs and weights, if linear layers were seen and still give these queries, keys and
        values.
        """
        if self.projections is None or given.query.ndim < 3:
            return {}
        position = self._position(given, self.projections)
        if position is None and not self.projections.gives(given):
            return {}
        keys = self.projected_keys(head, entry)
        if position is not None:
            keys["position"] = position
        return keys

    def _position(self, given: Attention, projections: Projections) -> Mapping[str, Any] | None:
        """What turns what the linear layers give into these queries and keys; None where nothing
        that is known does.
        """
        if projections.rope is None:
            return None
        keys = self.projected_keys(None, None if self.entries > 1 else 0)
        return position_of(keys, projections.rope, given.query, given.key)

    def projected_keys(self, head: int | None = None, entry: int | None = None) -> dict[str, Any]:
        """The inputs and weights of the linear layers, and how many heads share them; empty where
        no layers were seen. What came between them and attention is not in it.
        """
        if self.projections is None:
            return {}
        if entry is None and self.entries == 1:
            entry = 0
        if head is not None:
            arrays = self.projections.of_head(head, self.heads, self.kv_heads)
        else:
            arrays = self.projections.arrays
        inputs = {
            name: array[entry] if array.ndim == 3 and entry is not None else array
            for name, array in arrays.items()
            if name in INPUTS
        }
        keys: dict[str, Any] = {
            name: to_numpy(array) for name, array in {**arrays, **inputs}.items()
        }
        if head is None and self.heads > 1:
            keys["heads"] = self.heads
            if self.kv_heads != self.heads:
                keys["kv_heads"] = self.kv_heads
        return keys

    def _title(self, head: int | None, entry: int | None) -> str:
        parts = [f"layer {self.layer}"]
        if self.step:
            parts.append(f"step {self.step}")
        if self.entries > 1 and entry is not None:
            parts.append(f"entry {entry}")
        if head is not None:
            parts.append(f"head {head}")
        return ", ".join(parts)


def _names(ours: Call, theirs: Call) -> tuple[str, str]:
    """What messages call two calls: call 3 (h.1.attn)."""
    first, second = (
        f"call {call.number} ({call.where})" if call.where else f"call {call.number}"
        for call in (ours, theirs)
    )
    return first, second


def _reach(given: Attention) -> Reach:
    """How far the scores of a call bring keys back that its mask should hide."""
    mask = given.mask
    if mask is None or mask.dtype == torch.bool:
        # Nothing is added.
        return Reach(0.0, 1.0, 0.0)
    # The kernels of formats of 16 bits add in 32.
    computed = torch.promote_types(given.query.dtype, torch.float32)
    return Reach(given.largest_score(), torch.finfo(computed).eps, torch.finfo(mask.dtype).min)


def require_options(options: Iterable[str], *others: str) -> None:
    """Raises AttncliError (exit 2) for a name that is no option of a problem, nor one of others."""
    for name in options:
        chosen("an option", name, [*ProblemOptions.__annotations__, *others])


def _chosen(what: str, number: int | None, most: int) -> int | None:
    if number is None:
        return None
    if not isinstance(number, SupportsIndex):
        raise usage_error(f"{what} is one whole number, not {number!r}")
    if not 0 <= number < most:
        raise usage_error(
            f"there is no {what} {number}",
            help=(
                f"the call has {what} 0 to {most - 1}"
                if most > 1
                else f"the call has one {what}: {what} 0"
            ),
        )
    return number


def _labels(
    tokens: Sequence[str] | None, context_tokens: Sequence[str] | None, queries: int, keys: int
) -> dict[str, Any]:
    """The problem's labels of queries and keys."""
    for name, texts in (("tokens", tokens), ("context_tokens", context_tokens)):
        if isinstance(texts, str):
            raise usage_error(
                f"{name} is one text, not a list of labels",
                help=f"give a list, such as {texts.split()}",
            )
    if tokens is None:
        return (
            {}
            if context_tokens is None
            else {"context_tokens": [str(each) for each in context_tokens]}
        )
    tokens = [str(each) for each in tokens]
    if context_tokens is not None:
        return {"tokens": tokens, "context_tokens": [str(each) for each in context_tokens]}
    if len(tokens) not in (keys, queries):
        cut = f", as in tokens[:{keys}]" if len(tokens) > keys else ""
        raise usage_error(
            f"{count(len(tokens), 'token')} cannot label {count(keys, 'key')}",
            help=f"give one label for each key{cut}",
        )
    if queries == keys:
        return {"tokens": tokens}
    return {"tokens": tokens[-queries:]} | (
        {"context_tokens": tokens} if len(tokens) == keys else {}
    )
