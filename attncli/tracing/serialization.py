"""A trace as plain data (format 1 of the JSON), and back again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from attncli.attention.registry import GIVEN_RULES, RULES, cell_form, headline, known_rule
from attncli.dtypes import DTYPES
from attncli.equation.exact import read_exact, text_of
from attncli.equation.indices import INDICES
from attncli.equation.nodes import Expression, Name, Ref, rewrite
from attncli.equation.notation import PLAIN
from attncli.equation.parser import parse_equation, parse_expression
from attncli.equation.printer import write_equation
from attncli.equation.rule import Rule
from attncli.problem.matrix import Matrix, Scalar, read_only
from attncli.problem.parts.axes import LEADING
from attncli.problem.text.numbers import canonical
from attncli.tracing.json_numbers import array_of, json_values
from attncli.tracing.model import Settings, Step, Trace
from attncli.version import __version__

if TYPE_CHECKING:
    from numpy.typing import NDArray

TRACE_FORMAT = 1


def to_dict(
    trace: Trace,
    names: Sequence[str] | None = None,
    values: Callable[[NDArray[Any]], Any] | None = None,
) -> dict[str, Any]:
    """Plain lists, numbers and strings, of all steps or the named ones; floats keep every digit.

    `values` makes of a step's array what stands for it, nested lists if not told otherwise.
    """
    values = values or json_values
    return {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "title": trace.title,
        "tokens": list(trace.tokens),
        "context_tokens": list(trace.context_tokens),
        "settings": trace.settings.to_dict(),
        "parameters": {
            name: json_values(np.asarray(given.value)) for name, given in trace.parameters.items()
        },
        "steps": {
            name: _step(trace.steps[name], values, trace.steps.keys())
            for name in (trace.steps if names is None else names)
        },
        "warnings": list(trace.warnings),
        "fully_masked": [row if isinstance(row, int) else list(row) for row in trace.fully_masked],
        **_symbols(trace),
        **_written(trace.parameters),
        **_truth(trace.truth, tuple(trace.steps) if names is None else names),
    }


def from_dict(data: dict[str, Any]) -> Trace:
    """The trace that `to_dict` wrote; raises KeyError, TypeError or ValueError where it is not
    one.
    """
    try:
        return _read_trace(data)
    except AttributeError as error:
        raise TypeError("this is not the data of a trace") from error
    except OverflowError as error:
        raise ValueError("a number of this trace is too large") from error


def _read_trace(data: dict[str, Any]) -> Trace:
    if data["attncli"]["format"] != TRACE_FORMAT:
        raise ValueError(
            f"this is trace format {data['attncli']['format']}; format {TRACE_FORMAT} can be read"
        )
    written = data.get("written", {})
    settings = Settings.from_dict(data["settings"])
    format = DTYPES[settings.dtype].computed
    # The gradient of `v` is no number, and has the name of the parameter `d_v`.
    numbers = {name for name, step in data["steps"].items() if not step["axes"]}
    symbols = tuple(data.get("symbols", {}).items())
    steps = {}
    for name, said in data["steps"].items():
        step = _read_step(name, said, format, numbers)
        steps[name] = replace(step, rule=replace(step.rule, symbols=symbols)) if symbols else step
    trace = Trace(
        data["title"],
        tuple(data["tokens"]),
        tuple(data["context_tokens"]),
        settings,
        {
            name: _read_parameter(value, written.get(name))
            for name, value in data["parameters"].items()
        },
        steps,
        tuple(data["warnings"]),
        tuple(row if isinstance(row, int) else tuple(row) for row in data["fully_masked"]),
    )
    if "truth" not in data:
        return trace
    true = {}
    for name, value in data["truth"].items():
        true[name] = _true(trace.steps[name], array_of(value))
    truth = replace(trace, steps=true)
    return replace(trace, truth=truth)


def formula(rule: Rule) -> str | None:
    """The headline in ASCII letters, S = Q K^T; the index form where there is none; None where
    given.

    >>> from attncli.attention.registry import RULES
    >>> formula(RULES["scores"]), formula(RULES["X"])
    ('S = Q K^T', None)
    """
    if rule.given:
        return None
    return write_equation(headline(rule) or cell_form(rule), PLAIN)


def _symbols(trace: Trace) -> dict[str, Any]:
    """What formulas call the steps that have other symbols in this problem than usual."""
    given = next((step.rule.symbols for step in trace.steps.values() if step.rule.symbols), ())
    return {"symbols": dict(given)} if given else {}


def _written(parameters: Mapping[str, Scalar | Matrix]) -> dict[str, Any]:
    """The parameters as they were written, where that says more than their values."""
    written: dict[str, Any] = {}
    for name, given in parameters.items():
        if isinstance(given, Scalar):
            plain = repr(given.value)
            if canonical(given.written) != canonical(plain):
                written[name] = given.written
        elif given.written is not None:
            written[name] = given.written.tolist()
    if not written:
        return {}
    return {"written": written}


def _read_parameter(value: Any, written: Any) -> Scalar | Matrix:
    if not isinstance(value, list):
        return Scalar(float(value), written) if written else Scalar.of(value)
    texts = read_only(np.array(written, dtype=object)) if written else None
    return Matrix(array_of(value), texts)


def _truth(truth: Trace | None, names: Sequence[str]) -> dict[str, Any]:
    return {} if truth is None else {"truth": {name: json_values(truth[name]) for name in names}}


def _step(
    step: Step, values: Callable[[NDArray[Any]], Any], names: Collection[str]
) -> dict[str, Any]:
    rule = step.rule
    return {
        "title": rule.title,
        "symbol": rule.symbol,
        "equation": rule.source,
        "formula": formula(rule),
        "headline": rule.matrix_source,
        "inputs": [name for name in rule.inputs if name in RULES or name in names],
        "axes": list(rule.axis_names),
        "labels": [list(labels) for labels in step.labels],
        "shape": list(step.shape),
        "value": values(step.value),
        **({"written": step.written.tolist()} if step.written is not None else {}),
        **(
            {"exact": np.vectorize(text_of, otypes=[object])(step.exact).tolist()}
            if step.exact is not None
            else {}
        ),
        "meaning": rule.meaning,
        **({"meanings": list(rule.meanings)} if rule.meanings else {}),
        "why": rule.why,
        **({"own": True} if rule.own else {}),
    }


def _true(step: Step, value: NDArray[Any]) -> Step:
    """The step at full precision: only what was given, or copied from it, is still as it was
    written.
    """
    rule = step.rule
    written = None
    if rule.given or rule.is_copy:
        written = step.written
    return replace(step, value=value, written=written)


def _read_step(name: str, data: dict[str, Any], format: str, numbers: Collection[str]) -> Step:
    """The step with the rule that its equation says; prose that data does not hold comes from the
    known rule. `numbers` are the steps that are single numbers.
    """
    tree = parse_equation(data["equation"]) if data["equation"] else None
    own = bool(data.get("own"))
    if tree is not None:
        tree = replace(tree, expression=_with_numbers(tree.expression, numbers))
    if own:
        said = Rule(name, data["symbol"], data["title"], Ref(name), own=True)
    else:
        said = known_rule(name) if tree else GIVEN_RULES[name]
    rule = replace(
        said,
        symbol=data["symbol"],
        title=data["title"],
        formula=tree or (_own_target(name, data["axes"]) if own else _target(name, data["axes"])),
        headline=parse_expression(data["headline"]) if data["headline"] else None,
        meaning=data["meaning"],
        meanings=tuple(data.get("meanings", ())),
        why=data["why"],
    )
    number = array_of(data["value"]).astype(format)
    value = read_only(number)
    labels = tuple(map(tuple, data["labels"]))
    has_its_shape = list(value.shape) == data["shape"]
    has_its_labels = tuple(map(len, labels)) == value.shape
    axes = tuple(map(_axis_named, data["axes"]))
    has_its_axes = value.ndim == len(rule.axis_names) == len(axes)
    if not (has_its_shape and has_its_labels and has_its_axes):
        raise ValueError(
            f"{name}: its value has shape {value.shape}, which its shape or its labels are not of"
        )
    rule = rule.with_axes(axes)
    written = None
    if "written" in data:
        texts = np.array(data["written"], dtype=object)
        written = read_only(texts)
    exact = None
    if "exact" in data:
        closed_forms = _exact_numbers(data["exact"], value)
        exact = read_only(closed_forms)
    if exact is not None and exact.shape != value.shape:
        raise ValueError(
            f"{name}: its exact numbers have shape {exact.shape}, and its value {value.shape}"
        )
    return Step(rule, value, labels, written, exact)


def _exact_numbers(texts: Any, value: NDArray[Any]) -> NDArray[Any]:
    """The closed forms; where there is none, the decimals of the value."""
    found = np.array(texts, dtype=object)
    if found.shape != value.shape:
        return found
    for place in np.ndindex(found.shape):
        text: Any = found[place]
        if text is None:
            decimals = repr(float(value[place]))
            found[place] = Decimal(decimals)
        else:
            found[place] = read_exact(text)
    return found


def _target(name: str, axes: Sequence[str]) -> Ref:
    """The cell of a given array, whose leading axes only the data tells, and of d_output the last
    one, too.
    """
    known = GIVEN_RULES[name].target.letters
    # What a loss compares with a list, or with one number, has fewer.
    known = known[max(len(known) - len(axes), 0) :]
    number_leading = len(axes) - len(known)
    leading = axes[:number_leading]
    own = axes[number_leading:]
    letters = [_letter_of(axis) for axis in leading]
    for letter, axis in zip(known, own, strict=True):
        if INDICES[letter].axis != axis:
            letter = _letter_of(axis)
        letters.append(letter)
    return Ref(name, tuple(letters))


def _with_numbers(expression: Expression, numbers: Collection[str]) -> Expression:
    """The expression with steps that are single numbers as such: in text they look like
    parameters.
    """

    def change(node: Expression) -> Expression:
        if isinstance(node, Name) and node.name in numbers:
            return Ref(node.name)
        return node

    return rewrite(expression, change)


def _own_target(name: str, axes: Sequence[str]) -> Ref:
    """The cell of a given array of the problem's own."""
    return Ref(name, tuple(map(_letter_of, axes)))


def _axis_named(axis: str) -> str:
    """The same name of an axis; KeyError where no axis has it."""
    _letter_of(axis)
    return axis


def _letter_of(axis: str) -> str:
    """The letter of an axis: of several, one that leads if there is one, else the first; an axis
    without a name is a letter.
    """
    if len(axis) == 1:
        return axis
    for letter in (*LEADING[::-1], *INDICES):
        if INDICES[letter].axis == axis:
            return letter
    raise KeyError(axis)
