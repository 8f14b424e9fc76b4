"""The cases for tests in Python: each with its arrays and settings, and a judge of what comes
out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attncli.dtypes import DTYPES, chosen
from attncli.english import as_written, listed, shape_text
from attncli.errors import usage_error
from attncli.page.document import Document
from attncli.render import Style, render
from attncli.testing.asking import judged
from attncli.testing.battery import all_cases
from attncli.testing.case import MOST_AXES, Array, Case
from attncli.testing.page import case_page
from attncli.testing.running.child import Refusal, numbers_of, parameters_of
from attncli.testing.settings import settings_of
from attncli.testing.signature import NAMES, QKV, Parameter, call_of, parameters
from attncli.tracing.difference import Doubles

# Tests show what they say in a terminal.
WIDTH = 80
POSSIBLE_AXES = range(2, MOST_AXES + 1)
NUMPY_DTYPES = ("float16", "float32", "float64")
# What NumPy cannot have is asked only of other frameworks.
NOT_IN_NUMPY = "bfloat16"
Make = Callable[[Array], Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AttentionCase:
    """One case: queries, keys, values, and the settings to call a function with.

    `q`, `k` and `v` are entries × heads × tokens × features, or the last two or three of these.
    `kwargs` are the settings by their names, arrays among them. `dtype` is the number format of
    the arrays.
    """

    name: str
    q: Any
    k: Any
    v: Any
    kwargs: dict[str, Any]
    dtype: str
    _case: Case

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        shapes = [f"{name} {shape_text(each.shape)}" for name, each in self._arrays()]
        settings = f"; {listed(list(self.kwargs), last='')}" if self.kwargs else ""
        return f"<case {self.name}: {', '.join(shapes)}{settings}>"

    def _arrays(self) -> Iterator[tuple[str, Array]]:
        yield "q", self._case.queries
        yield "k", self._case.keys
        yield "v", self._case.values

    def judge(self, output: object, *, dtype: str | None = None) -> None:
        """Raises AssertionError where an output is not what the case gives; its text says what is
        wrong first, what is right there, and which mistake explains it.

        `output` is an array of NumPy, a tensor of any framework, or nested lists, or a tuple that
        begins with it. `dtype` is the number format in which it was worked out, which says how
        exact it has to be; usually that of the output.
        """
        __tracebackhide__ = True
        numbers, own = self._numbers(output)
        if dtype is not None:
            own = chosen("dtype", dtype, DTYPES)
        elif own not in DTYPES:
            own = "float64"
        result = judged(self._case, numbers, self._case.dtype or own)
        if result.result == "error":
            raise AssertionError(f"{self.name}: {result.error}")
        if result.result == "differs":
            raise AssertionError(_said(case_page(result)))

    def _numbers(self, output: object) -> tuple[Doubles, str]:
        __tracebackhide__ = True
        try:
            return numbers_of(output)
        # What frameworks raise for what they cannot make an array of.
        except (Refusal, ValueError, TypeError, RuntimeError, OverflowError) as error:
            said = str(error) if isinstance(error, Refusal) else f"it returns no array: {error}"
            raise AssertionError(f"{self.name}: {said}") from None


def cases(
    function: Callable[..., Any] | None = None,
    *,
    axes: int = MOST_AXES,
    dtype: str = "float64",
    make: Make | None = None,
    grouped: bool | None = None,
    combined: bool | None = None,
) -> tuple[AttentionCase, ...]:
    """The cases that `attncli test` judges a function by.

    With a `function`, those for which it has parameters, with `kwargs` by the names of these;
    without one, all of them, with usual names. `axes` is how many axes its arrays have: 4, 3 (heads
    × tokens × features) or 2. `dtype` is their number format, in NumPy: "float16", "float32" or
    "float64". `make` turns each array into one of another framework: torch.from_numpy. `grouped`
    says whether heads may share keys and values; if it is left out, only a function that has no
    `enable_gqa` is not asked this. `combined` says whether a causal mask may come together with
    another one, which PyTorch refuses; if it is left out, no function is asked this. Raises
    AttncliError (exit code 2) for what is none of these, and for a function of fewer than three
    parameters.
    """
    if axes not in POSSIBLE_AXES:
        raise usage_error(f"axes cannot be {as_written(axes)}", help="give 4, 3 or 2")
    chosen("dtype", dtype, NUMPY_DTYPES)
    if make is not None and not callable(make):
        help = "give a function of an array: make=torch.from_numpy"
        raise usage_error(f"make cannot be {as_written(make)}", help=help)
    known = None if function is None else _parameters(function)
    if grouped is None:
        grouped = known is None or any(each.name in NAMES["grouped"] for each in known)
    if combined is None:
        combined = function is None
    found = []
    for case in _asked(axes, grouped=grouped):
        if not combined and case.asks.keys() >= {"mask", "causal"}:
            continue
        kwargs = settings_of(case) if function is None else _named(case, known)
        if kwargs is not None:
            found.append(_in_python(case, kwargs, case.dtype or dtype, make or np.asarray))
    return tuple(found)


def _asked(axes: int, *, grouped: bool) -> Iterator[Case]:
    """The cases of so many axes that NumPy can have."""
    for each in all_cases():
        case = each.with_axes(axes)
        if case is None or case.dtype == NOT_IN_NUMPY:
            continue
        if grouped or "grouped" not in case.asks:
            yield case


def _in_python(case: Case, kwargs: Mapping[str, Any], dtype: str, make: Make) -> AttentionCase:
    q, k, v = (_made(array, dtype, make) for array in (case.queries, case.keys, case.values))
    settings = {
        name: _made(value, dtype, make) if isinstance(value, np.ndarray) else value
        for name, value in kwargs.items()
    }
    return AttentionCase(case.name, q, k, v, settings, dtype, case)


def _said(page: Document) -> str:
    """A page whose title is one line, however long, so that a summary shows all of it."""
    body = render(replace(page, title=""), "table", Style(width=WIDTH))
    return f"{page.title}\n\n{body}".rstrip()


def _parameters(function: object) -> tuple[Parameter, ...] | None:
    if not callable(function):
        what = f"function cannot be {as_written(function)}"
        raise usage_error(what, help="give a function of queries, keys and values")
    known = parameters(parameters_of(function))
    if known is not None and len(known) < len(QKV):
        names = ", ".join(each.name for each in known) or "none"
        what = f"the function has fewer than three parameters: {names}"
        raise usage_error(what, help="the first three are queries, keys and values")
    return known


def _named(case: Case, known: Sequence[Parameter] | None) -> dict[str, Any] | None:
    """The settings by the names of parameters; None where the function has none for one of them."""
    call = call_of(case, known)
    if call is None:
        return None
    return {parameter: call.values[role] for parameter, role in call.named.items()}


def _made(array: Array, dtype: str, make: Make) -> Any:
    """A copy of an array in its number format."""
    is_truth = array.dtype == np.bool_
    return make(array.copy() if is_truth else array.astype(dtype))
