"""A function that is asked case by case, and what comes of each case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from attncli.dtypes import DTYPES
from attncli.english import shape_text
from attncli.testing.case import Array, Case, Meaning
from attncli.testing.judgement import Agreement, Expected
from attncli.testing.layouts import AxisLayout
from attncli.testing.meant import ANYTHING, Meant
from attncli.testing.running.process import Answer, FunctionError, FunctionProcess
from attncli.testing.signature import (
    MAY_BE_UNSAID,
    NAMES,
    UPSTREAM,
    Arguments,
    Parameter,
    call_by_expression,
    call_of,
    parameters,
)
from attncli.tracing.difference import Doubles

Result: TypeAlias = Literal["same", "differs", "error", "not asked"]
# After so many calls that end the process, or one that hangs, the others are not tried.
MOST_LOST_CALLS = 2
# A format that most frameworks make of numbers, and that of NumPy and of what is like it.
USUAL_DTYPES = {"numpy": "float64", "cupy": "float64"}
USUAL_DTYPE = "float32"
WITHOUT_BFLOAT16 = ("numpy", "cupy")


@dataclass(frozen=True, slots=True, eq=False)
class CaseResult:
    """What came of one case.

    `expected` are what its meanings give, `chosen` is the number of the one that it is judged by,
    and `agreement` how the output compares with that. `error` says what failed; it `is_raised`
    where the function did not return, and `hinted` where it says how the output is right. `unmeant`
    are the facts by which it would agree, where others are meant. Where the output is right and
    gradients are asked for, it is their result: `output` has them one after another, and `forward`
    is the result of the output, if there is one.
    """

    case: Case
    result: Result
    output: Doubles | None = None
    expected: tuple[Expected, ...] = ()
    chosen: int = 0
    agreement: Agreement | None = None
    error: str = ""
    unmeant: Mapping[str, str] = field(default_factory=dict)
    hinted: bool = False
    is_raised: bool = False
    is_of_gradients: bool = False
    forward: CaseResult | None = None

    @property
    def right(self) -> Expected:
        """What it is judged by."""
        return self.expected[self.chosen]

    @property
    def meaning(self) -> Meaning:
        """How the case is understood."""
        return self.case.meanings[self.chosen]

    def judged_by(self, expected: tuple[Expected, ...]) -> CaseResult:
        """The same output, judged as if its case gave this."""
        output = self.output
        assert output is not None
        if all(each.is_far(output) for each in expected):
            first = expected[0]
            chosen, agreement = 0, Agreement(None, first.of_blind(output, first.blind))
        else:
            chosen, agreement = best_agreement(expected, output)
        verdict: Result = "same" if agreement.agrees else "differs"
        return replace(
            self,
            result=verdict,
            expected=expected,
            chosen=chosen,
            agreement=agreement,
        )


@dataclass(slots=True)
class Asking:
    """A function that is being asked case by case.

    `expression` is how it is called, where its parameters do not say so. `backward` is how it is
    asked for gradients, where it is.
    """

    process: FunctionProcess
    expression: str = ""
    meant: Meant = ANYTHING
    layout: AxisLayout = field(default_factory=AxisLayout)
    kind: str = "numpy"
    known: tuple[Parameter, ...] | None = None
    lost: int = 0
    changed: set[str] = field(default_factory=set)
    # The layouts in which it gives other numbers when it is called again.
    unsteady: set[AxisLayout] = field(default_factory=set)
    backward: AskedBack | None = None

    def begin(self) -> Mapping[str, Any]:
        """Load the function: what is known of it. FunctionError where that fails."""
        described = self.process.start()
        self.kind = described["kind"]
        self.known = parameters(described["parameters"])
        return described

    def answer(self, case: Case, *, twice: bool = False) -> CaseResult:
        """What comes of a case in the layout."""
        fitted = self._fitted(case)
        call = None if fitted is None else self._call(fitted)
        if fitted is None or call is None:
            return CaseResult(case, "not asked")
        if self.is_lost:
            return CaseResult(fitted, "error", error="it was not tried, after what came before")
        dtype = fitted.dtype or USUAL_DTYPES.get(self.kind, USUAL_DTYPE)
        if dtype == "bfloat16" and self.kind in WITHOUT_BFLOAT16:
            return CaseResult(case, "not asked")
        try:
            answer = self._ask(call, dtype, twice=twice)
        except FunctionError as error:
            self.lost += MOST_LOST_CALLS if error.hangs else error.ended
            if self._may_refuse(fitted) and not error.ended:
                return CaseResult(case, "not asked", error=str(error))
            return CaseResult(fitted, "error", error=str(error), is_raised=True)
        self.changed |= set(answer.message["changed"])
        if not answer.message.get("repeats", True):
            self.unsteady.add(self.layout)
        coarser = _coarser(dtype, answer.message["dtype"])
        if self.backward is None or fitted.upstream is None:
            output = self.arranged_back(answer.numbers)
            result = judged(fitted, output, coarser, self.meant)
            if result.result == "error" and not result.hinted:
                return self._with_other_item(result, answer)
        else:
            result = self.backward.result(fitted, answer, coarser, self)
            if result.result == "error" and self._is_unsaid(fitted):
                # It has gradients for each head, as it knows nothing of heads that are shared.
                return CaseResult(case, "not asked", error=result.error)
        if result.result != "differs" or len(fitted.meanings) == len(case.meanings):
            return result
        whole = self.layout.case(case)
        return result if whole is None else with_unmeant(result, whole)

    def _with_other_item(self, result: CaseResult, answer: Answer) -> CaseResult:
        """A result whose error says which item of a tuple has the shape of an output, if the first
        has not.
        """
        wanted = list(self.layout.arranged(result.case).output_shape)
        for number, shape in enumerate(answer.message.get("items", ())):
            if shape == wanted:
                words = ("first", "second", "third")[number]
                said = (
                    f"the first item of the tuple that it returns is no output, but the {words} has"
                    f" the shape of one: if that is it, say --call 'f(q, k, v)[{number}]'"
                )
                return replace(result, error=said, hinted=True)
        return result

    @property
    def is_lost(self) -> bool:
        """Whether calls have ended so badly that no more are made."""
        return self.lost >= MOST_LOST_CALLS

    def _may_refuse(self, case: Case) -> bool:
        """Whether a case asks for something that a right function may not have: heads that are
        shared without a parameter for it, numbers in a mask, a causal mask beside another, or a
        query that sees no key.
        """
        mask = case.asks.get("mask")
        if mask is not None and (mask.dtype != np.bool_ or "causal" in case.asks):
            return True
        if case.has_blind_query:
            return True
        return self._is_unsaid(case)

    def _is_unsaid(self, case: Case) -> bool:
        """Whether a case asks for something that no parameter of the function stands for."""
        known = {each.name for each in self.known or ()}
        unsaid = [role for role in case.asks if role in MAY_BE_UNSAID]
        return any(known.isdisjoint(NAMES[role]) for role in unsaid)

    def _fitted(self, case: Case) -> Case | None:
        """A case as the function is asked it, with heads first; None where it cannot be."""
        return self.layout.case(self.meant.narrowed(case))

    def arranged_back(self, output: Doubles) -> Doubles:
        """An array that came back, with heads before tokens."""
        return self.layout.swapped(output) if output.ndim == self.layout.axes else output

    def _call(self, case: Case) -> Arguments | None:
        arranged = self.meant.handed_over(self.layout.arranged(case))
        if self.backward is None:
            return self.plain_call(arranged, case)
        return self.backward.call(arranged, case, self)

    def plain_call(self, arranged: Case, case: Case) -> Arguments | None:
        """How it is called for a case; None where it cannot be asked. `arranged` has its axes in
        the order of the function.
        """
        if not self.expression:
            return call_of(arranged, self.known, case)
        return call_by_expression(arranged, self.expression, case)

    def weights_with_gradients(self) -> list[str]:
        """The names of the weights whose gradients are asked for."""
        return []

    def named_gradients(
        self, case: Case, gradients: Sequence[Doubles | None]
    ) -> dict[str, Doubles | None]:
        """The gradients that came back by their steps."""
        arranged = [None if each is None else self.arranged_back(each) for each in gradients]
        return dict(zip(("d_Q", "d_K", "d_V"), arranged, strict=False))

    def _ask(self, call: Arguments, dtype: str, *, twice: bool) -> Answer:
        arrays: list[Array] = []
        described: list[dict[str, Any]] = []
        values: dict[str, Any] = {}
        for name, value in call.values.items():
            if isinstance(value, np.ndarray):
                values[name] = {"array": len(arrays)}
                type_of_numbers = "bool" if value.dtype == np.bool_ else "float64"
                array = np.ascontiguousarray(value, type_of_numbers)
                described.append({"name": name, "shape": array.shape, "type": type_of_numbers})
                arrays.append(array)
            elif isinstance(value, tuple):
                values[name] = {"tuple": value}
            else:
                values[name] = {"value": value}
        message = {
            "values": values,
            "arrays": described,
            "dtype": dtype,
            "positional": call.positional,
            "named": dict(call.named),
            "expression": self.expression,
            "twice": twice,
        }
        if self.backward is not None and UPSTREAM in call.values:
            message["gradients"] = self.backward.asked(self, call)
        return self.process.answer(message, arrays)


class AskedBack(Protocol):
    """How a function is asked for gradients, which `gradients/asking.py` knows.

    `parameter` is the one that takes the gradient of the output, "" where none does.
    """

    @property
    def parameter(self) -> str: ...

    def words(self, kind: str) -> str:
        """How gradients are got of a function with this kind of arrays."""

    def call(self, arranged: Case, case: Case, asking: Asking) -> Arguments | None:
        """How it is called; as `Asking.plain_call`."""

    def asked(self, asking: Asking, call: Arguments) -> dict[str, Any]:
        """What the process is told of the gradients."""

    def result(self, case: Case, answer: Answer, dtype: str, asking: Asking) -> CaseResult:
        """What comes of a case."""


def _coarser(given: str, returned: str) -> str:
    """The coarser of two number formats: some functions work in one of their own."""
    known = DTYPES.get(returned)
    if known is None or known.epsilon <= DTYPES[given].epsilon:
        return given
    return returned


def best_agreement(expected: Sequence[Expected], output: Doubles) -> tuple[int, Agreement]:
    """The number of the first of these that an output agrees with, or 0, and how it compares."""
    agreements = [each.agreement(output) for each in expected]
    chosen = next((number for number, each in enumerate(agreements) if each.agrees), 0)
    return chosen, agreements[chosen]


def with_unmeant(result: CaseResult, case: Case) -> CaseResult:
    """A result with the facts by which the output would agree, if these were meant; `case` has all
    meanings.
    """
    assert result.output is not None
    for meaning in case.meanings:
        expected = result.right.of(case, meaning, result.right.dtype.name)
        if expected.agreement(result.output).agrees:
            return replace(result, unmeant=meaning.facts)
    return result


def right_in_another_order(output: Doubles, expected: Sequence[Expected]) -> str | None:
    """How the axes of an output have to be put for it to be right, in words; None where that does
    not help.
    """
    names = ("entries", "heads", "tokens", "features")[-output.ndim :]
    own = range(output.ndim)
    for order in permutations(own):
        if all(each.output.ndim != output.ndim for each in expected) or order == tuple(own):
            continue
        _, agreement = best_agreement(expected, output.transpose(order))
        if not agreement.agrees:
            continue
        moved = [names[place] for place in own if order[place] != place]
        if len(moved) == 2:
            return f"its output is right once its {moved[0]} and {moved[1]} are exchanged"
        there = [names[order.index(place)] for place in own]
        return f"its output is right, but its axes are {' × '.join(there)}"
    return None


def judged(case: Case, output: Doubles, dtype: str, meant: Meant = ANYTHING) -> CaseResult:
    """An output judged by the meaning that it agrees with, or else by the first."""
    expected = tuple(Expected.of(case, each, dtype) for each in case.meanings)
    chosen, agreement = best_agreement(expected, output)
    if agreement.difference is None:
        hint = right_in_another_order(output, expected)
        if hint is not None:
            return CaseResult(case, "error", output, expected, error=hint, hinted=True)
        shapes = (
            f"its shape is {shape_text(output.shape)}, not {shape_text(expected[0].output.shape)}"
        )
        return CaseResult(case, "error", output, expected, error=shapes)
    is_meant = agreement.agrees and meant.allows_blind(agreement.blind)
    result: Result = "same" if is_meant else "differs"
    return CaseResult(case, result, output, expected, chosen, agreement)
