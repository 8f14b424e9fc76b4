"""How a function is asked for gradients: by autograd, or as it returns them; what comes of a
case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attncli.english import listed, shape_text
from attncli.errors import input_error
from attncli.testing.asking import Asking, CaseResult, Result, judged
from attncli.testing.case import Case, Meaning
from attncli.testing.gradients.judgement import ExpectedGradients
from attncli.testing.gradients.upstream import SAVED_NAMES, UPSTREAM_NAMES
from attncli.testing.judgement import Agreement, Blind
from attncli.testing.meant import Meant
from attncli.testing.running.process import Answer
from attncli.testing.signature import QKV, UPSTREAM, Arguments, Parameter, call_of, names_in
from attncli.tracing import run
from attncli.tracing.difference import Doubles

# Those with an autograd that attncli knows, and what they are called.
WITH_AUTOGRAD = {"torch": "PyTorch", "jax": "JAX"}
HELP = (
    "attncli differentiates functions of PyTorch and JAX; give any other a parameter dO, and let it"
    " return dQ, dK and dV; or say how it is called: --call 'f(q, k, v, dO)'"
)
# The gradients of a case by their steps; None where none flows.
Given = Mapping[str, Doubles | None]


@dataclass(frozen=True, slots=True)
class Backward:
    """How gradients are asked for: by autograd, or as `is_returned` says as what a function
    returns.

    `parameter` is the one that takes the gradient of the output, "" where an expression names it.
    """

    is_returned: bool
    parameter: str = ""

    def words(self, kind: str) -> str:
        """How they are got, as a fact of the function."""
        return "returned" if self.is_returned else f"by autograd of {WITH_AUTOGRAD[kind]}"

    def asked(self, asking: Asking, call: Arguments) -> dict[str, Any]:
        """What the process is told."""
        if self.is_returned:
            return {"returned": True}
        arrays = [name for name, value in call.values.items() if isinstance(value, np.ndarray)]
        return {
            "returned": False,
            "of": [arrays.index(name) for name in QKV if name in arrays],
            "weights": asking.weights_with_gradients(),
            "upstream": arrays.index(UPSTREAM),
        }

    def result(self, case: Case, answer: Answer, dtype: str, asking: Asking) -> CaseResult:
        """What comes of a case: the result of its output where that is wrong, else that of its
        gradients.
        """
        forward = None
        if answer.message["shape"] is not None:
            output = asking.arranged_back(answer.numbers)
            forward = judged(case, output, dtype, asking.meant)
            if forward.result != "same":
                return forward
        if why := answer.message["without"]:
            error = f"its gradients cannot be worked out: {why}"
            return CaseResult(case, "error", error=error, is_of_gradients=True, forward=forward)
        given = asking.named_gradients(case, answer.gradients)
        return judged_gradients(case, given, dtype, asking.meant, forward)

    def call(self, arranged: Case, case: Case, asking: Asking) -> Arguments | None:
        """How a function is called for a case with its gradient of the output; None where it cannot
        be asked. `arranged` has its axes in the order of the function.
        """
        if case.upstream is None:
            return None if self.is_returned else asking.plain_call(arranged, case)
        if self.parameter:
            return self._call_with_parameter(arranged, case, asking)
        found = asking.plain_call(arranged, case)
        if found is None or self.is_returned:
            return found
        return found._replace(values={**found.values, UPSTREAM: arranged.upstream})

    def _call_with_parameter(self, arranged: Case, case: Case, asking: Asking) -> Arguments | None:
        known = list(asking.known or ())
        saved = _saved(known)
        own = [each for each in known if each.name not in (self.parameter, *saved)]
        found = call_of(arranged, own, case)
        if found is None:
            return None
        by_name = dict(zip((each.name for each in own), QKV, strict=False))
        named = {**by_name, **found.named, self.parameter: UPSTREAM}
        values = {**found.values, UPSTREAM: arranged.upstream}
        if saved:
            trace = run(case.problem(case.meanings[0]))
            for name, step in saved.items():
                is_output = step == "output"
                values[step] = asking.arranged_back(trace[step]) if is_output else trace[step]
                named[name] = step
        return Arguments(values, (), named)


def backward_of(text: str, asking: Asking) -> Backward:
    """How a function is asked for gradients; AttncliError (exit 3) where it has none."""
    if asking.expression:
        if UPSTREAM in names_in(asking.expression):
            return Backward(is_returned=True)
    else:
        for each in asking.known or ():
            if each.required and each.name in UPSTREAM_NAMES:
                return Backward(is_returned=True, parameter=each.name)
    if asking.kind in WITH_AUTOGRAD:
        return Backward(is_returned=False)
    what = f"{text} has no gradients: it is a function of {_software(asking.kind)}"
    raise input_error(what, help=HELP)


def _software(kind: str) -> str:
    return {"numpy": "NumPy", "cupy": "CuPy", "mlx": "MLX"}.get(kind, kind)


def _saved(known: Sequence[Parameter]) -> dict[str, str]:
    """The parameters that take what the forward pass has worked out, each with its step."""
    found = {}
    for each in known[len(QKV) :]:
        for step, names in SAVED_NAMES.items():
            if each.name in names and each.required:
                found[each.name] = step
    return found


def judged_gradients(
    case: Case,
    given: Given,
    dtype: str,
    meant: Meant,
    forward: CaseResult | None = None,
) -> CaseResult:
    """Gradients judged by the meaning of the output, or if there is none, by the one that they
    agree with, or else by the first.
    """
    meanings: tuple[Meaning, ...] = case.meanings
    if forward is not None:
        meanings = (forward.meaning,)
        case = replace(case, meanings=meanings)
    expected = tuple(ExpectedGradients.of(case, each, dtype) for each in meanings)
    first = expected[0]
    given = {
        name: None if each is None else first.fitted(name, each) for name, each in given.items()
    }
    if wrong := _wrong_shapes(first, given):
        return CaseResult(
            case, "error", None, expected, error=wrong, is_of_gradients=True, forward=forward
        )
    output = first.joined(lambda name: _numbers(first, given, name))
    may_be_nan = forward is None or _blind(forward) == "NaN"
    agreements = [_agreement(each, output, may_be_nan=may_be_nan) for each in expected]
    chosen = next((number for number, each in enumerate(agreements) if each.agrees), 0)
    agreement = agreements[chosen]
    is_meant = agreement.agrees and meant.allows_blind(agreement.blind)
    result: Result = "same" if is_meant else "differs"
    return CaseResult(
        case,
        result,
        output,
        expected,
        chosen,
        agreement,
        is_of_gradients=True,
        forward=forward,
    )


def _blind(result: CaseResult) -> Blind | None:
    return None if result.agreement is None else result.agreement.blind


def _agreement(expected: ExpectedGradients, output: Doubles, *, may_be_nan: bool) -> Agreement:
    """How gradients compare with the right ones. Where the output of a query that sees no key may
    be NaN, so may they, and then they say nothing else.
    """
    if may_be_nan and expected.has_blind_queries and np.isnan(output).any():
        return replace(expected.agreement(expected.output), blind="NaN")
    return expected.agreement(output)


def _numbers(expected: ExpectedGradients, given: Given, name: str) -> Doubles:
    """The numbers of a gradient; where none flows, these are 0."""
    numbers = given.get(name)
    return np.zeros(expected.trace.steps[name].shape) if numbers is None else numbers


def _wrong_shapes(expected: ExpectedGradients, given: Given) -> str:
    """What is wrong with the shapes; "" where nothing is."""
    shapes = {name: expected.trace.steps[name].shape for name in expected.judged}
    wrong = []
    for name, shape in shapes.items():
        numbers = given.get(name)
        if numbers is not None and numbers.shape != shape:
            own = f"{shape_text(numbers.shape)}, not {shape_text(shape)}"
            wrong.append(f"{expected.symbol(name)} is {own}")
    if not wrong:
        return ""
    there = [each.shape for each in given.values() if each is not None]
    if sorted(there) == sorted(shapes.values()):
        names = listed([expected.symbol(name) for name in given])
        return f"by their shapes, its gradients are not {names} in this order"
    return f"the shape of {listed(wrong)}"
