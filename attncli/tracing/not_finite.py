"""Why a cell is infinite or no number: the first operation in it that makes one of finite numbers.

A cell is worked again, number by number, as its equation says: log(-1) is no number. The page's
script says the same of what somebody edits, in `render/html/script/model/not_finite.js`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from attncli.dtypes import Dtype
from attncli.equation.functions import FUNCTIONS
from attncli.equation.nodes import Call, Number, Ref, walk
from attncli.equation.notation import PYTHON
from attncli.equation.printer import write
from attncli.equation.rule import Rule
from attncli.equation.shapes import index_sizes
from attncli.equation.substitution import Arithmetic, evaluate_cell, substitute
from attncli.problem.matrix import Scalar
from attncli.tracing.model import Parameters, Step, StepsByName

# Signs that stand between two numbers.
_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "share": "/",
    "pow": "**",
    "floor_div": "//",
    "mod": "%",
}
# What a softmax by hand subtracts and divides in a row that sees no key.
_BOTH_HIDDEN, _BOTH_ZERO = (-math.inf, -math.inf), (0, 0)
_DIVISIONS = ("div", "share", "floor_div", "mod")
# Of a longer sum, the numbers are not written down.
_MOST_NUMBERS_WRITTEN = 3
# In a longer sum, the place is not sought: every number of it would be read one by one.
_MOST_PLACES = 10_000


class Fault(NamedTuple):
    """A function whose result is infinite or no number, though its arguments are not."""

    function: str
    arguments: tuple[float, ...]
    result: float


def reason(
    step: Step, index: tuple[int, ...], steps: StepsByName, parameters: Parameters, dtype: Dtype
) -> str:
    """Why a cell of a step is infinite or NaN: "log(-1) is no number: …"; empty where nothing in
    its own equation makes it so.
    """
    fault = first_fault(step.rule, index, steps, parameters)
    if fault is not None:
        return _said(fault, step.rule, dtype)
    return ""


def first_fault(
    rule: Rule, index: tuple[int, ...], steps: StepsByName, parameters: Parameters
) -> Fault | None:
    """The first operation in a cell whose result is infinite or no number, and whose arguments are
    neither; None where there is none.
    """
    arrays, scalars = _numbers(steps, parameters)
    shapes = {name: array.shape for name, array in arrays.items()}
    sizes = index_sizes(rule.equation, shapes, dict(rule.lengths))
    place = dict(zip(rule.target.letters, index, strict=True))
    if math.prod(size for letter, size in sizes.items() if letter not in place) > _MOST_PLACES:
        return None

    def read(name: str, at: tuple[int, ...]) -> Number:
        return _node(arrays[name][at])

    sentence = substitute(rule.equation.expression, place, sizes, read, scalars)
    seen = _Watched()
    arithmetic = Arithmetic(float, _constant, seen.apply)
    with np.errstate(all="ignore"):
        evaluate_cell(sentence, {}, {}, _no_array, {}, arithmetic)
    return seen.faults[0] if seen.faults else None


def _numbers(
    steps: StepsByName, parameters: Parameters
) -> tuple[Mapping[str, Any], Mapping[str, Number]]:
    """The arrays and the numbers that an equation may read."""
    arrays: dict[str, Any] = {name: step.value for name, step in steps.items()}
    scalars: dict[str, Number] = {}
    for name, given in parameters.items():
        if isinstance(given, Scalar):
            scalars[name] = _node(given.value)
        else:
            arrays[name] = given.value
    return arrays, scalars


def _node(value: Any) -> Number:
    number = float(value)
    return Number(number, repr(number))


def _no_array(name: str, at: tuple[int, ...]) -> float:
    raise LookupError(f"{name}{list(at)} is still in a sentence that should hold numbers only")


def _constant(number: Number) -> float:
    return float(number.text) if number.value is None else float(number.value)


@dataclass(frozen=True, slots=True)
class _Watched:
    """Works functions out, and keeps those that make an infinity, or no number."""

    faults: list[Fault] = field(default_factory=list)

    def apply(self, function: str, *arguments: Any) -> Any:
        result = _result(function, arguments)
        if isinstance(result, bool | np.bool_):
            return result
        if _is_fault(result, arguments):
            self.faults.append(Fault(function, arguments, float(result)))
        return result


def _result(function: str, arguments: tuple[Any, ...]) -> Any:
    # Of these there may be any number of arguments.
    if FUNCTIONS[function].is_condition or function in ("add", "max", "min"):
        return FUNCTIONS[function].scalar(*arguments)
    return FUNCTIONS[function].array(np, *map(np.float64, arguments))


def _is_fault(result: float, arguments: tuple[float, ...]) -> bool:
    """Whether finite numbers gave an infinity, or numbers gave none."""
    if math.isnan(result):
        return not any(map(math.isnan, arguments))
    return math.isinf(result) and all(map(math.isfinite, arguments))


def _said(fault: Fault, rule: Rule, dtype: Dtype) -> str:
    """The operation and what comes of it, and what to write where that is known."""
    said = f"{_written(fault)} is {_called(fault.result)}"
    if why := _why(fault):
        return f"{said}, because {why}{_instead(fault, rule)}"
    if math.isinf(fault.result):
        return f"{_written(fault)} does not fit into {dtype.name}"
    return f"{said}{_instead(fault, rule)}"


def _why(fault: Fault) -> str:
    """What the operation does not take; empty where the numbers say it."""
    first, *others = fault.arguments
    match fault.function:
        case "log" if first < 0:
            return "a number below 0 has no logarithm"
        case "log":
            return "0 has no logarithm"
        case "sqrt" if first < 0:
            return "a number below 0 has no root"
        case "pow" if first < 0 and math.isnan(fault.result):
            return "a number below 0 has only whole powers"
        case "pow" if first == 0:
            return "0 to a power below 0 is a division by 0"
        case function if function in _DIVISIONS and others[0] == 0:
            return "the divisor is 0"
        case _:
            return ""


def _instead(fault: Fault, rule: Rule) -> str:
    """What to write, if it is a 0 or an infinity that a row without any key has."""
    for node in walk(rule.equation.expression):
        match node:
            case Call("sub", (_, Ref() as cell)) if fault.arguments == _BOTH_HIDDEN:
                read = write(cell, PYTHON)
                return (
                    f". The built-in softmax subtracts 0 there: where(-inf < {read}, {read}, 0) in"
                    f" place of {read}"
                )
            case Call("div", (_, Ref() as cell)) if fault.arguments == _BOTH_ZERO:
                read = write(cell, PYTHON)
                return f". With where({read} == 0, 1, {read}) as the divisor, it is 0"
            case _:
                pass
    return ""


def _written(fault: Fault) -> str:
    """The operation with its numbers: log(-1), 1 / 0."""
    numbers = [_number(each) for each in fault.arguments]
    if len(numbers) > _MOST_NUMBERS_WRITTEN:
        what = "product" if fault.function == "mul" else "sum"
        if math.isnan(fault.result):
            odd = [_number(each) for each in fault.arguments if not math.isfinite(each)]
            return f"a {what} with {' and '.join(dict.fromkeys(odd))} in it"
        return f"a {what} of {len(numbers):,} numbers"
    if fault.function in _SIGNS:
        return f" {_SIGNS[fault.function]} ".join(numbers)
    if fault.function == "neg":
        return f"-({numbers[0]})"
    return f"{fault.function}({', '.join(numbers)})"


def _number(value: float) -> str:
    # -0 is written as 0.
    return f"{value + 0.0:.5g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _called(result: float) -> str:
    return "no number" if math.isnan(result) else _number(result)
