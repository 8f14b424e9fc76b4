"""What of a trace is shown, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attncli.attention.registry import holds_scores


@dataclass(frozen=True, slots=True)
class View:
    """The choices that `attncli compute` takes on its command line.

    `detail` is "brief" (matrices only), "rows" (a worked line per row) or "cells" (every cell worked);
    `steps` the names of the only steps wanted, `cell` such as "scores[0,1]" the only cell. `head` and `entry` are the
    only head and the only entry of a batch. `blank` names steps whose numbers are left out, to be filled in.
    With `ends` only the ends of what is long are shown, as a terminal has it.
    """

    detail: str = "rows"
    precision: int = 3
    steps: Sequence[str] | None = None
    cell: str | None = None
    heatmap: bool = False
    head: int | None = None
    entry: int | None = None
    blank: frozenset[str] = frozenset()
    ends: bool = False

    def steps_needed(self, numbers_alone: bool) -> frozenset[str] | None:
        """The steps whose numbers a page with this view has, or data of `numbers_alone`; None for any."""
        alone = self.cell is None and self.head is None and self.entry is None and self.detail == "brief"
        if self.steps is None or not alone:
            return None
        from attncli.attention.registry import STEP_NAMES  # made when a step is first asked for

        names = {STEP_NAMES.get(name, name) for name in self.steps}
        return frozenset(
            names | ({"mask"} if holds_scores(names) and not numbers_alone else set())
        )  # which marks cells
