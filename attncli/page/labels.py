"""What the cells and the rows of a step are called, by the labels of its axes."""

from __future__ import annotations

from collections.abc import Sequence

from attncli.equation.symbols import unicode_name
from attncli.tracing.model import Step


def cell_label(step: Step, index: tuple[int, ...]) -> str:
    """Which cell: I → love for a query and a key, I, d2 for a feature; of a single number its letter."""
    if not index:
        return unicode_name(step.rule.symbol)
    if step.rule.axis_names[-3:-1] == ("query", "key"):
        return f"{row_label(step, index[:-1])}, {step.labels[-1][index[-1]]}"
    return cell_text(step.labels, index, of_pairs=step.rule.axis_names[-2:] == ("query", "key"))


def row_label(step: Step, row: tuple[int, ...]) -> str:
    """Which row of a matrix: I, or I → love where it is that of a query with a key."""
    return cell_text(step.labels[:-1], row, of_pairs=step.rule.axis_names[-3:-1] == ("query", "key"))


def cell_text(labels: Sequence[Sequence[str]], index: Sequence[int], *, of_pairs: bool) -> str:
    """Which cell: I → love where its last two axes are those of a query and a key, else I, d2."""
    words = [names[place] for names, place in zip(labels, index, strict=True)]
    if of_pairs:
        words[-2:] = [" → ".join(words[-2:])]
    return ", ".join(words)
