"""A file for the answers to some steps, in YAML, to be filled in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncli.tracing.model import Step, Trace, hides_keys

# The place of a number; null is read, too.
_BLANK = "_"
_ANSWERS_HEAD = """\
# Answers{title}: replace each _ with a number, or leave it.
# The digits that you write say how precise a number is: 0.70 is more precise than 0.7.
# You can write an exact number as 7/10, 5/sqrt(3) or e^(5/sqrt(3)).
"""


def blank_answers(trace: Trace, names: Sequence[str]) -> str:
    """YAML that `read_answers` reads, with comments that name steps, rows and columns."""
    title = ""
    if trace.title:
        title = f' to "{_printable(trace.title)}"'
    parts = [_ANSWERS_HEAD.format(title=title)]
    for name in names:
        lines = [*_step(trace.steps[name])]
        if name == "weights" and hides_keys(trace):
            lines.insert(1, "# Where the mask hides a key, write 0.")
        parts.append("".join(f"{line}\n" for line in lines))
    return "\n".join(parts)


def _step(step: Step) -> Iterator[str]:
    columns = ""
    if len(step.shape) > 1:
        columns = f"; columns: {_joined(step.labels[-1])}"
    yield f"# {step.rule.title}{columns}"
    if not step.shape:
        yield f"{step.name}: {_BLANK}"
        return
    if len(step.shape) == 1:
        yield f"{step.name}: {_row(step.shape[0])}  # {_joined(step.labels[0])}"
        return
    yield f"{step.name}:"
    yield from _nested(step.shape, step.labels, "  ", "")


def _nested(
    shape: tuple[int, ...], labels: tuple[tuple[str, ...], ...], indent: str, above: str
) -> Iterator[str]:
    """The lists of one matrix, row by row, or those of each head or entry after a comment that says
    which it is.
    """
    for label in labels[0]:
        said = f"{above}, {label}" if above else label
        if len(shape) == 2:
            yield f"{indent}- {_row(shape[1])}  # {_printable(said)}"
        else:
            first, *others = _nested(shape[1:], labels[1:], f"{indent}  ", said)
            yield f"{indent}- {first.strip()}"
            yield from others


def _row(length: int) -> str:
    return f"[{', '.join([_BLANK] * length)}]"


def _joined(labels: Sequence[str]) -> str:
    return ", ".join(map(_printable, labels))


def _printable(text: str) -> str:
    """What a person wrote, on one line of a comment."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )
