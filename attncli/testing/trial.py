"""A trial: a function is asked every case, and what it does and which mistakes it has follows from
that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attncli.english import either, listed
from attncli.errors import input_error, usage_error
from attncli.testing.always_causal import corner_of, hiding_later
from attncli.testing.asking import Asking, CaseResult
from attncli.testing.battery import KEYS_OF_LONG_ROW
from attncli.testing.case import MOST_AXES, Case
from attncli.testing.diagnosis import Finding, as_explained, explanations, is_explained
from attncli.testing.facts import facts_of, shown_by
from attncli.testing.gradients.asking import backward_of
from attncli.testing.gradients.findings import gradient_findings, with_gradients
from attncli.testing.gradients.upstream import cases_asked
from attncli.testing.layers.layer_trial import LayerAsking, layer_layout, layer_results
from attncli.testing.layers.weight_names import Weight, key_of
from attncli.testing.layouts import AxisLayout, possible_layouts
from attncli.testing.meant import ANYTHING, SEES_NO_KEY, Meant
from attncli.testing.pattern import is_partly_right
from attncli.testing.running.process import USUAL_LIMITS, FunctionError, FunctionProcess, Limits
from attncli.testing.signature import QKV, is_known
from attncli.testing.targets import target_of, way_to_load
from attncli.tracing.difference import factor

# Sums of ones in bfloat16 stay at 256, of all equal keys in one row.
MOST_OF_ALL_KEYS = KEYS_OF_LONG_ROW / 256
# A call that puts tokens before heads, or the other way round.
TURNED = "f(*(x.swapaxes(1, 2) for x in (q, k, v))).swapaxes(1, 2)"
USUAL_FUNCTION = "it must be a function of queries, keys and values"
NO_PARAMETER = "no parameter stands for it"
OF_OTHERS = "no parameter stands for it, and **kwargs has no names (--call can say them)"


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A function with what came of all cases.

    `facts` are what it does, by their names, and `explanations` the mistakes that explain what
    differs. `remarks` are sentences about how it behaves, such as that it changes its arguments.
    `not_asked` says why a case is not asked. `backward` is how its gradients are got, "" where they
    are not asked for.
    """

    name: str
    results: tuple[CaseResult, ...]
    explanations: tuple[Finding, ...]
    facts: Mapping[str, str]
    remarks: tuple[str, ...] = ()
    not_asked: str = NO_PARAMETER
    backward: str = ""

    @property
    def agrees(self) -> bool:
        """Whether no case differs or fails, and all facts are those that are meant."""
        is_wrong = any(each.result in ("differs", "error") for each in self.results)
        return not is_wrong and not self.explanations


def try_function(
    text: str,
    *,
    expression: str = "",
    meant: Meant = ANYTHING,
    weights: Mapping[str, str] | None = None,
    limits: Limits = USUAL_LIMITS,
    gradient: bool = False,
    begin: Callable[[str], None] = lambda _: None,
) -> Trial:
    """Call a function with every case, and judge what comes out.

    `text` is `FILE.py:NAME` or `package.module:NAME`, `expression` how it is called where its
    parameters do not say so, such as "f(q, k, v, mask=~mask)". What is `meant` is right where
    software differs. Of a layer, `weights` are the names of its weights by what they are:
    {"W_Q": "queries.weight"}. With `gradient`, its gradients are judged where its output is right.
    `begin` is told which case comes next. Raises AttncliError: exit 2 or
    4 as `target_of`, 3 where it cannot be loaded, or has no gradients and is asked for these.
    """
    target = target_of(text)
    with FunctionProcess(target, limits) as process:
        asking = Asking(process, expression, meant)
        begin("loading the function")
        try:
            described = asking.begin()
        except FunctionError as error:
            help = way_to_load(error, USUAL_FUNCTION)
            raise input_error(f"{text} cannot be loaded: {error}", help=help) from None
        if gradient:
            asking.backward = backward_of(text, asking)
        if described["weights"]:
            return _try_layer(text, asking, described, weights or {}, begin)
        _require_qkv(text, asking)
        results = answers(asking, cases_asked(gradient=gradient), begin)
    return trial_of(
        text,
        results,
        meant,
        asking.layout.words,
        remarks=remarks_on(asking),
        not_asked=OF_OTHERS if described.get("others") else NO_PARAMETER,
        backward=_backward(asking),
        unmeant=_unmeant_layout(asking.layout, meant),
    )


def answers(
    asking: Asking, cases: Sequence[Case], begin: Callable[[str], None] = lambda _: None
) -> list[CaseResult]:
    """What comes of these cases, the first of which is plain: by it the layout is found, and
    whether later tokens are hidden without being asked.
    """
    plain, *others = cases
    begin(plain.name)
    results = [_plain_result(asking, plain)]
    if corner := corner_of(results[0], asking):
        plain, *others = [hiding_later(case, corner) for case in cases]
        results = [asking.answer(plain)]
    for case in others:
        begin(case.name)
        results.append(asking.answer(case))
    return results


def _try_layer(
    text: str,
    asking: Asking,
    described: Mapping[str, Any],
    named: Mapping[str, str],
    begin: Callable[[str], None],
) -> Trial:
    """The trial of a layer, which has weights of its own."""
    there = [each["name"] for each in described["weights"]]
    named = {**_biases_beside(named, there), **named}
    weights = [_weight(each, named) for each in described["weights"]]
    lacking = [name for name in named.values() if name not in there]
    if lacking:
        what = f"--weights: the layer has no {listed(lacking)}"
        raise usage_error(what, help=f"it has {listed(there)}")
    layer = LayerAsking(
        asking.process,
        asking.expression,
        asking.meant,
        kind=asking.kind,
        backward=asking.backward,
        known=asking.known,
        weights=weights,
    )
    results, heads = layer_results(layer, described, begin)
    return trial_of(
        text,
        results,
        layer.meant,
        layer_layout(heads),
        remarks=remarks_on(layer),
        backward=_backward(layer),
    )


def _biases_beside(named: Mapping[str, str], there: Collection[str]) -> dict[str, str]:
    """The biases of layers whose weights are named: b_Q of queries.bias for queries.weight."""
    pairs = {
        key.replace("W_", "b_", 1): name.removesuffix("weight") + "bias"
        for key, name in named.items()
        if key.startswith("W_") and name.endswith(".weight")
    }
    return {key: name for key, name in pairs.items() if name in there}


def _backward(asking: Asking) -> str:
    return "" if asking.backward is None else asking.backward.words(asking.kind)


def _weight(described: Mapping[str, Any], named: Mapping[str, str]) -> Weight:
    """A weight that the process tells of; what it is, people may have said."""
    name = described["name"]
    shape = tuple(described["shape"])
    owner = described["owner"]
    for key, said in named.items():
        if said == name:
            return Weight(name, shape, owner, key)
    return Weight(name, shape, owner, key_of(name, len(shape)))


def trial_of(
    name: str,
    results: Sequence[CaseResult],
    meant: Meant,
    layout: str,
    *,
    remarks: Iterable[str] = (),
    not_asked: str = NO_PARAMETER,
    backward: str = "",
    unmeant: Iterable[Finding] = (),
) -> Trial:
    """What follows from the results of all cases; `unmeant` is what is known to be wrong before,
    and `backward` how its gradients are got, "" where they are not asked for.
    """
    outputs = [each.forward or each for each in results if each.forward or not each.is_of_gradients]
    has_outputs = any(each.result != "not asked" for each in outputs)
    shown = shown_by(outputs)
    known = tuple(as_explained(each, shown) for each in explanations(outputs))
    of_gradients = [each for each in results if each.is_of_gradients]
    known = tuple(with_gradients(each, of_gradients) for each in known)
    explained = {result.case.name for each in known for result in each.results}
    left = [each for each in results if each.case.name not in explained]
    back = gradient_findings([each for each in left if each.is_of_gradients])
    found = (*known, *back, *_in_16_bits(left), *_unmeant(left, meant), *unmeant)
    facts = facts_of(outputs if has_outputs else results, found, layout)
    if backward:
        facts["gradients"] = backward
    judged = tuple(_as_in(each, known) for each in results)
    return Trial(name, judged, found, facts, tuple(remarks), not_asked, backward)


def _as_in(result: CaseResult, found: Iterable[Finding]) -> CaseResult:
    """A result by the meaning that the mistake is found with which explains it alone."""
    for each in found:
        if each.beside:
            continue
        for explained in each.results:
            is_of_gradients = explained.is_of_gradients
            if explained.case is result.case and is_of_gradients == result.is_of_gradients:
                return explained
    return result


def _in_16_bits(results: Iterable[CaseResult]) -> Iterator[Finding]:
    """That the rows of weights sum to more than 1, where a sum of so many ones is too large for 16
    bits. What is far from right in other cases may be anything, and none of it is rounding.
    """
    wrong = [each for each in results if each.result == "differs"]
    far = [each for each in wrong if each.output is not None and each.right.is_far(each.output)]
    for result in wrong:
        is_alone = all(each is result for each in far)
        if not is_alone or "precision" not in result.case.shows:
            continue
        assert result.output is not None
        right = result.right
        times = factor(right.output, result.output, right.tolerance)
        if times is not None and 1 < times <= MOST_OF_ALL_KEYS + right.tolerance:
            yield Finding(("the exponentials were added in 16 bits",), (result,))


def _unmeant_layout(layout: AxisLayout, meant: Meant) -> Iterator[Finding]:
    if meant.tokens_first is None or layout.axes < MOST_AXES:
        return
    if layout.tokens_first != meant.tokens_first:
        orders = ["after", "before"] if meant.tokens_first else ["before", "after"]
        other = layout._replace(tokens_first=meant.tokens_first)
        advice = (
            f"With --as {meant.name}, arrays are {other.words}, and the function takes"
            f" {layout.words}. Let it turn them round, as with --call '{TURNED}', or leave --as"
            " out."
        )
        yield Finding((f"tokens come {' heads, not '.join(orders)}",), (), advice=advice)


def _unmeant(results: Sequence[CaseResult], meant: Meant) -> Iterator[Finding]:
    """What a function does where something else is meant."""
    found: dict[str, list[CaseResult]] = {}
    others: dict[str, list[CaseResult]] = {}
    for result in results:
        agreement = result.agreement
        if agreement is not None and agreement.agrees and result.result == "differs":
            found.setdefault(str(agreement.blind), []).append(result)
        for fact, words in result.unmeant.items():
            if meant.facts.get(fact, words) != words:
                said = f"{fact}: {words}, not {meant.facts[fact]}"
                others.setdefault(said, []).append(result)
    for said, differing in others.items():
        yield Finding((said,), tuple(differing))
    for words, differing in found.items():
        said = f"a query that sees no key gets {words}, not {meant.facts[SEES_NO_KEY]}"
        yield Finding((said,), tuple(differing))


def _require_qkv(text: str, asking: Asking) -> None:
    if asking.expression or asking.known is None:
        return
    upstream = "" if asking.backward is None else asking.backward.parameter
    names = [each.name for each in asking.known if each.name != upstream]
    if len(names) < len(QKV):
        beside = f" beside {upstream}" if upstream else ""
        there = ", ".join(names) or "none"
        what = f"{text} has fewer than three parameters{beside}: {there}"
        help = "the first three are queries, keys and values; or say how it is called: --call"
        raise input_error(what, help=help)


def _plain_result(asking: Asking, plain: Case) -> CaseResult:
    """The plain case in the layout of the function, which is found by trying.

    It is the first in which a function agrees, or makes a known mistake; else the first that gives
    the right shape, and else the last that asks for all.
    """
    fitting: dict[AxisLayout, CaseResult] = {}
    failed: dict[AxisLayout, CaseResult] = {}
    result = CaseResult(plain, "not asked")
    has_returned = False
    for layout in possible_layouts(asking.meant.tokens_first):
        if has_returned and not layout.other_keys:
            # Whatever comes back, it takes other keys.
            break
        if fitting and not layout.wide_values:
            # What takes wide values is not asked narrow ones, in which a mistake may hide.
            break
        asking.layout = layout
        result = asking.answer(plain, twice=True)
        has_returned = has_returned or not result.is_raised
        if asking.is_lost or result.result == "same" or is_explained(result):
            break
        if result.result == "differs" or result.hinted:
            fitting[layout] = result
        elif layout.other_keys:
            failed = {layout: result}
    # It is meant where another order of its axes is right, or its first head is: with fewer axes it
    # may be right because what is wrong is not asked.
    meant = [layout for layout, first in fitting.items() if first.hinted or is_partly_right(first)]
    for layout in meant[:1]:
        asking.layout = layout
        return fitting[layout]
    if asking.is_lost or result.result == "same" or is_explained(result):
        return result
    for layout, first in (fitting or failed).items():
        asking.layout = layout
        return first
    return result


def remarks_on(asking: Asking) -> list[str]:
    """Sentences about how a function behaves, beside what comes out."""
    remarks = []
    # In another layout it may have read what is not there.
    if asking.layout in asking.unsteady:
        remarks.append(
            "It gives other numbers when it is called again with the same ones: dropout may be on."
        )
    if asking.changed:
        names = ", ".join(sorted(asking.changed))
        remarks.append(f"It changes what it is given: {names}.")
    if unknown := _unknown(asking):
        are = either(len(unknown), "a parameter", "parameters")
        said = f"It has {are} that attncli does not know: {listed(unknown)}."
        remarks.append(f"{said} What stands for a setting can be said with --call.")
    return remarks


def _unknown(asking: Asking) -> list[str]:
    """The parameters of a function that stand for nothing that is known."""
    if asking.expression:
        return []
    named = [each.name for each in (asking.known or ())[len(QKV) :]]
    backward = asking.backward
    return [] if backward is not None else [name for name in named if not is_known(name)]
