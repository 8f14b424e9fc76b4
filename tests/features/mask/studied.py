"""Functions of FlexAttention studied in the process of the tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncli.features.mask.asking import Mod
from attncli.features.mask.problem import problem_of
from attncli.features.mask.study import Sizes, Study, study_of
from attncli.features.mask.words import form_words
from attncli.problem.loader import loads
from attncli.problem.saving import as_yaml
from attncli.tracing import run
from tests.testing.in_process import InProcess


def studied(
    function: Callable[..., Any],
    n: int,
    m: int | None = None,
    heads: int = 1,
    batch: int = 1,
    *,
    has_torch: bool = False,
) -> Study:
    """What is found out about a function."""
    process: Any = InProcess(function, "numpy")
    described = {**process.start(), "has_torch": has_torch}
    mod = Mod(process, getattr(function, "__name__", "function"), described)
    return study_of(mod, Sizes(batch, heads, n, m or n))


def form(function: Callable[..., Any], n: int, m: int | None = None, heads: int = 1) -> str:
    """Its shortest form in words."""
    return form_words(studied(function, n, m, heads))


def visible_by_attncli(study: Study) -> NDArray[np.bool_]:
    """What the problem of a study shows after it was written and read, by entry, head, query and
    key, as attncli works it out.
    """
    text, arrays = as_yaml(problem_of(study), "problem.npz")
    assert not arrays
    trace = run(loads(text.encode(), "problem.yaml"))
    if "mask" not in trace.steps:
        return np.ones(study.visible.shape, dtype=bool)
    visible = trace["mask"] != -np.inf
    letters = trace.steps["mask"].rule.target.letters
    if "b" in letters and "h" not in letters:
        visible = visible[:, None]
    return np.broadcast_to(visible, study.visible.shape)
