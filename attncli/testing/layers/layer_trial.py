"""A layer tested: its weights get numbers, it is called with rows of tokens, and what comes out is
judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attncli.english import count, listed
from attncli.errors import input_error
from attncli.testing.asking import Asking, CaseResult
from attncli.testing.case import Array, Case
from attncli.testing.gradients.upstream import with_upstream
from attncli.testing.layers.layer_case import LayerCase, drawn_weight, layer_cases
from attncli.testing.layers.weight_names import Weight, problem_weights
from attncli.testing.signature import QKV, Arguments, call_of
from attncli.tracing.difference import Doubles

PARAMETERS_OF_QKV = ({"query", "q", "queries"}, {"key", "k", "keys"}, {"value", "v", "values"})
NEEDED = ("W_Q", "W_K", "W_V")


@dataclass(slots=True)
class LayerAsking(Asking):
    """A layer that is being asked case by case; its `weights` have the numbers in `numbers`.

    `widths` are how many columns queries take of fused weights, and keys and values each.
    """

    weights: Sequence[Weight] = ()
    numbers: Sequence[Array] = field(default_factory=list)
    widths: tuple[int, int] = (0, 0)

    @property
    def takes_qkv(self) -> bool:
        """Whether rows for queries, keys and values come apart, as in cross-attention."""
        names = [each.name.lower() for each in (self.known or ())[: len(QKV)]]
        pairs = zip(names, PARAMETERS_OF_QKV, strict=False)
        return len(names) == len(QKV) and all(name in known for name, known in pairs)

    def _fitted(self, case: Case) -> Case | None:
        narrowed = self.meant.narrowed(case)
        needs_qkv = isinstance(narrowed, LayerCase) and narrowed.has_context
        return None if needs_qkv and not self.takes_qkv else narrowed

    def plain_call(self, arranged: Case, case: Case) -> Arguments | None:
        """How it is called for a case, with rows for queries, keys and values, or one for all."""
        call = call_of(arranged, self.known, arrays=self._arrays)
        if call is None and "causal" in case.asks:
            # A causal mask is handed over beside, as PyTorch wants it, where there is a parameter.
            alone = replace(arranged, asks={"causal": True})
            call = call_of(alone, self.known, arrays=self._arrays)
        return call

    @property
    def _arrays(self) -> tuple[str, ...]:
        return QKV if self.takes_qkv else QKV[:1]

    def weights_with_gradients(self) -> list[str]:
        """The names of the weights whose gradients are asked for: all that are known."""
        return [each.name for each in self.weights]

    def named_gradients(
        self, case: Case, gradients: Sequence[Doubles | None]
    ) -> dict[str, Doubles | None]:
        """The gradients of rows and weights by their steps; where none flows, they are 0."""
        count = len(self._arrays)
        of_weights = [
            np.zeros(weight.shape) if each is None else each
            for weight, each in zip(self.weights, gradients[count:], strict=True)
        ]
        found = {
            f"d_{key}": array
            for key, array in problem_weights(self.weights, of_weights, self.widths).items()
        }
        rows = [np.zeros(case.queries.shape) if each is None else each for each in gradients[:1]]
        others = [
            np.zeros(case.keys.shape) if each is None else each for each in gradients[1:count]
        ]
        if isinstance(case, LayerCase) and case.has_context:
            return {**found, "d_X": sum(rows), "d_context": sum(others)}
        return {**found, "d_X": sum([*rows, *others])}

    def arranged_back(self, output: Doubles) -> Doubles:
        return output


def layer_results(
    asking: LayerAsking, described: Mapping[str, Any], begin: Callable[[str], None]
) -> tuple[list[CaseResult], int]:
    """What comes of every case, and the number of heads, which is tried where it is not known.

    Raises AttncliError (exit 3) where the names of the weights do not say what they are.
    """
    _require_known(asking.weights)
    _give_numbers(asking)
    keys = {weight.key: weight for weight in asking.weights}
    best: tuple[CaseResult, list[LayerCase], int] | None = None
    for heads in _possible_heads(described, keys):
        first, *others = _cases(asking, heads, described)
        begin(first.name)
        plain = asking.answer(first, twice=True)
        if best is None or plain.result == "same" or asking.is_lost:
            best = plain, others, heads
        if plain.result == "same" or asking.is_lost:
            break
    assert best is not None
    plain, others, heads = best
    results = [plain]
    for case in others:
        begin(case.name)
        results.append(asking.answer(case))
    return results, heads


def _cases(asking: LayerAsking, heads: int, described: Mapping[str, Any]) -> Iterator[LayerCase]:
    for case in layer_cases(*_problem(asking, heads, described)):
        yield case if asking.backward is None else with_upstream(case)


def _give_numbers(asking: LayerAsking) -> None:
    """Draw the numbers of all weights whose names are known, and put them into the layer."""
    known = [weight for weight in asking.weights if weight.key is not None]
    asking.weights = known
    asking.numbers = [drawn_weight(each.name, each.shape) for each in known]
    asking.process.set_weights([each.name for each in known], asking.numbers)


def _require_known(weights: Sequence[Weight]) -> None:
    keys = {weight.key for weight in weights}
    if "W_QKV" in keys or keys.issuperset(NEEDED):
        return
    names = listed([each.name for each in weights]) or "none that is known"
    what = f"the names of its weights do not say which make queries, keys and values: {names}"
    help = "say it: --weights W_Q=to_queries.weight,W_K=to_keys.weight,W_V=to_values.weight"
    raise input_error(what, help=help)


def _problem(
    asking: LayerAsking, heads: int, described: Mapping[str, Any]
) -> tuple[int, dict[str, Any]]:
    """How wide a row of X is, and the weights of the problem with the numbers of its heads."""
    kv_heads = described["kv_heads"] or heads
    keys = {weight.key: weight for weight in asking.weights}
    widths = (0, 0)
    if fused := keys.get("W_QKV"):
        columns = fused.shape[0] if fused.is_out_by_in else fused.shape[-1]
        of_head = columns // (heads + 2 * kv_heads)
        widths = (of_head * heads, of_head * kv_heads)
    asking.widths = widths
    weights = problem_weights(asking.weights, asking.numbers, widths)
    width = int(weights["W_Q"].shape[0])
    found = {**weights, "heads": heads}
    if kv_heads != heads:
        found["kv_heads"] = kv_heads
    return width, found


def _possible_heads(
    described: Mapping[str, Any], keys: Mapping[str | None, Weight]
) -> Iterator[int]:
    """The number of heads that the layer has, or all that its width can be divided into."""
    if described["heads"]:
        yield described["heads"]
        return
    weight = keys.get("W_Q") or keys["W_QKV"]
    rows, columns = weight.shape
    width = rows if weight.is_out_by_in else columns
    if "W_Q" not in keys:
        width //= len(QKV)
    yield from (heads for heads in range(1, width + 1) if width % heads == 0)


def layer_layout(heads: int) -> str:
    """The layout of a layer in words."""
    return f"entries × tokens × features; {count(heads, 'head')}"
