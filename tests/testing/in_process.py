"""A function that is asked in the process of the tests, by the program that asks it in its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.testing.asking import Asking, CaseResult
from attncli.testing.battery import all_cases
from attncli.testing.gradients.asking import backward_of
from attncli.testing.gradients.upstream import with_upstream
from attncli.testing.layouts import AxisLayout
from attncli.testing.running import child
from attncli.testing.running.process import Answer, FunctionError


class InProcess:
    """What stands in the place of a process."""

    def __init__(self, function: Callable[..., Any], kind: str) -> None:
        module = sys.modules[function.__module__]
        self._loaded = child.Loaded(function, kind, module)

    def start(self) -> child.Message:
        return self._loaded.described()

    def answer(self, message: Mapping[str, Any], arrays: Sequence[NDArray[Any]]) -> Answer:
        pieces = [array.tobytes() for array in arrays]
        try:
            answer, numbers = child.called(self._loaded, dict(message), pieces)
        except Exception as error:
            raise FunctionError(child.said(error, None)) from error
        return Answer(answer, np.frombuffer(numbers, np.float64)).shaped()

    def samples(self, message: Mapping[str, Any]) -> NDArray[np.float64]:
        try:
            answer, numbers = child.sampled(self._loaded, dict(message))
        except Exception as error:
            raise FunctionError(child.said(error, None)) from error
        return Answer(answer, np.frombuffer(numbers, np.float64)).shaped().numbers

    def begin_flex_attention(self) -> None:
        child.begin_flex_attention()


def asking(
    function: Callable[..., Any], kind: str = "numpy", layout: AxisLayout | None = None
) -> Asking:
    """A function that is ready to be asked."""
    process: Any = InProcess(function, kind)
    found = Asking(process)
    found.begin()
    found.layout = layout or AxisLayout()
    return found


def results_of(
    function: Callable[..., Any], kind: str = "numpy", layout: AxisLayout | None = None
) -> list[CaseResult]:
    """What comes of every case, in a layout that is known."""
    asked = asking(function, kind, layout)
    return [asked.answer(case) for case in all_cases()]


def asking_back(
    function: Callable[..., Any], kind: str = "numpy", layout: AxisLayout | None = None
) -> Asking:
    """A function that is ready to be asked for gradients."""
    found = asking(function, kind, layout)
    found.backward = backward_of(function.__name__, found)
    return found


def results_back(
    function: Callable[..., Any],
    kind: str = "numpy",
    layout: AxisLayout | None = None,
    first: int | None = None,
) -> list[CaseResult]:
    """What comes of every case with gradients, in a layout that is known; of the `first` ones
    alone.
    """
    asked = asking_back(function, kind, layout)
    return [asked.answer(with_upstream(case)) for case in all_cases()[:first]]
