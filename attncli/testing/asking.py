"""A function that is asked case by case, and what comes of each case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any, Literal, TypeAlias

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
    Arguments,
    Parameter,
    call_by_expression,
    call_of,
    parameters,
)
from attncli.tracing import run
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
    and `agreement` how the output compares with that. `error` says what failed. `unmeant` are the
    facts by which it would agree, where others are meant. It is `hinted` where the error says how
    the output is right.
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

    @property
    def right(self) -> Expected:
        """What it is judged by."""
        return self.expected[self.chosen]

    @property
    def meaning(self) -> Meaning:
        """How the case is understood."""
        return self.case.meanings[self.chosen]


@dataclass(slots=True)
class Asking:
    """A function that is being asked case by case.

    `expression` is how it is called, where its parameters do not say so.
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
            return CaseResult(fitted, "error", error=str(error))
        self.changed |= set(answer.message["changed"])
        if not answer.message.get("repeats", True):
            self.unsteady.add(self.layout)
        coarser = _coarser(dtype, answer.message["dtype"])
        output = self._arranged_back(answer.numbers)
        result = judged(fitted, output, coarser, self.meant)
        if result.result == "error" and not result.hinted:
            return self._with_other_item(result, answer)
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
        shared without a parameter for it, numbers in a mask, or a causal mask beside another.
        """
        mask = case.asks.get("mask")
        if mask is not None and (mask.dtype != np.bool_ or "causal" in case.asks):
            return True
        known = {each.name for each in self.known or ()}
        unsaid = [role for role in case.asks if role in MAY_BE_UNSAID]
        return any(known.isdisjoint(NAMES[role]) for role in unsaid)

    def _fitted(self, case: Case) -> Case | None:
        """A case as the function is asked it, with heads first; None where it cannot be."""
        return self.layout.case(self.meant.narrowed(case))

    def _arranged_back(self, output: Doubles) -> Doubles:
        return self.layout.swapped(output) if output.ndim == self.layout.axes else output

    def _call(self, case: Case) -> Arguments | None:
        arranged = self.meant.handed_over(self.layout.arranged(case))
        if not self.expression:
            return call_of(arranged, self.known, case)
        return call_by_expression(arranged, self.expression)

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
        return self.process.answer(message, arrays)


def _coarser(given: str, returned: str) -> str:
    """The coarser of two number formats: some functions work in one of their own."""
    known = DTYPES.get(returned)
    if known is None or known.epsilon <= DTYPES[given].epsilon:
        return given
    return returned


def expected_of(case: Case, meaning: Meaning, dtype: str) -> Expected:
    """What a case gives by one of its meanings."""
    return Expected(run(case.problem(meaning)), dtype)


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
        expected = expected_of(case, meaning, result.right.dtype.name)
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
    expected = tuple(expected_of(case, each, dtype) for each in case.meanings)
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
