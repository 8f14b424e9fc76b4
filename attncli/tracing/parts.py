"""How many queries are worked out at a time: as many as a processor's caches like, or as a device has room for."""

from __future__ import annotations

import numpy as np

from attncli.attention.plan import Plan
from attncli.backend import CPU, Backend
from attncli.dtypes import Dtype

CACHED = 2**19  # cells of one step: several steps stay in a processor's caches
BUSY = 2**26  # cells of one step: a GPU works on them for longer than it takes to start it
HELD = 8  # matrices of a part that are there at once, at the most; steps that nothing reads any more are not


def queries_at_once(plan: Plan, dtype: Dtype, backend: Backend) -> int:
    """How many queries a part has, at least 1; on a device, all of its matrices fit into half of what is left there."""
    cells = CACHED
    if backend is not CPU:
        free = backend.free()
        room = BUSY if free is None else free // 2 // (HELD * np.dtype(dtype.computed).itemsize)
        cells = min(BUSY, room)
    return max(1, cells // _for_each_query(plan))


def _for_each_query(plan: Plan) -> int:
    """Cells of a step for one query: for all entries, heads and keys; in an additive score also for its features."""
    features = plan.given["v"].shape[-1] if "v" in plan.given else 1
    return (plan.axes.batch or 1) * plan.axes.number * plan.sizes["j"] * features
