"""Before a problem is worked out: whether its matrices of queries by keys fit into memory, and what to do if not."""

from __future__ import annotations

from math import prod

import numpy as np

from attncli.attention.plan import Plan, plan_softmax
from attncli.backend import CPU, Backend
from attncli.dtypes import Dtype
from attncli.english import either
from attncli.memory import insist
from attncli.problem.model import Problem

_BETWEEN = 2  # more matrices of that size that working one of them out may hold for a moment


def require_room(problem: Problem, plan: Plan, dtype: Dtype, backend: Backend) -> None:
    """Raises NoRoom (exit 3) that names the first step for which there would be no memory left.

    Counted are the steps with a number for each query and key; the others are small beside them, or as large as what
    was given and is in memory already. A device of its own holds them as well as the computer, which works none out.
    """
    each = prod((plan.axes.batch or 1, plan.axes.number, plan.sizes["i"], plan.sizes["j"]))
    each *= np.dtype(dtype.computed).itemsize
    rules = (*plan.rules, *plan_softmax(problem, plan, shift=False))
    names = [rule.name for rule in rules if {"i", "j"} <= set(rule.target.letters)]
    smaller = "" if dtype.computed == "float32" else ", and its --dtype float32 takes half of it"
    help = f"attncli compute --steps output --detail brief holds no matrix of queries by keys{smaller}"
    for number, name in enumerate(names, 1):
        before = number - 1
        up_to = f", with the {either(before, 'matrix', f'{before} matrices')} before it," if before else ""
        what = f"{name}{up_to}"
        if backend is CPU:
            insist((number + _BETWEEN) * each, what, help)
        else:
            insist((number + _BETWEEN) * each, what, help, backend.free, "the device's memory")
            insist(number * each, what, help)
