"""Which steps and which cell a person asks for: `--steps weights,output`, `--cell 'scores[I,love]'`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attncli.attention.losses import LOSS_RULES
from attncli.attention.registry import GRADIENT_RULES, STEP_NAMES
from attncli.english import count, listed
from attncli.errors import did_you_mean, usage_error
from attncli.tracing.model import Step, Trace

_CELL = re.compile(r"\s*([^\s\[]+)\s*(?:\[(.*)\]\s*)?", re.DOTALL)
_PART = re.compile(r"""\s*"([^"]*)"\s*(?:,|$)|\s*'([^']*)'\s*(?:,|$)|([^,]*)(?:,|$)""", re.DOTALL)
_LONGEST = 1000
_OF_A_HEAD = {"slopes": "bias", "sink": "row_sum"}  # where a head's own number is read


def chosen_steps(trace: Trace, names: Sequence[str], whole: Trace | None = None) -> tuple[str, ...]:
    """The steps of these names or letters, in the order of the trace; raises (exit 2) for one that is not there.

    Where the trace is a head of a `whole` one, what that has besides is told to be of all heads.
    """
    return chosen_names(names, tuple(trace.steps), tuple(whole.steps) if whole else ())


def chosen_names(names: Sequence[str], there: Sequence[str], beside: Sequence[str] = ()) -> tuple[str, ...]:
    """The steps of these names or letters among those that are there, in their order; raises (exit 2) for others."""
    chosen = {_name(name, there, beside) for name in names}
    return tuple(name for name in there if name in chosen)


def steps_back(names: Sequence[str]) -> list[str]:
    """Which of these names or letters are those of steps of a loss, or of the way back."""
    steps = (STEP_NAMES.get(name, name) for name in names)
    return [name for name in steps if name in GRADIENT_RULES or name in LOSS_RULES]


def chosen_cell(trace: Trace, text: str, whole: Trace | None = None) -> tuple[Step, tuple[int, ...]]:
    """The step and the indices of `scores[0,1]`, counted from 0, or of `scores[I,love]`, by label.

    A number is an index unless it is quoted; raises (exit 2) with what would have been right. The trace may be a head
    of a `whole` one.
    """
    if len(text) > _LONGEST:
        raise usage_error(f"--cell has {len(text):,} characters", help="for example --cell 'scores[0,1]'")
    found = _CELL.fullmatch(text)
    odd = usage_error(f"--cell {text!r} is not of the form step[row,column]", help="for example --cell 'scores[0,1]'")
    if not found:
        raise odd
    step = trace.steps[_name(found[1], tuple(trace.steps), tuple(whole.steps) if whole else ())]
    if found[2] is None and step.shape:  # only a single number has no brackets
        raise odd
    parts = [match for match in _PART.finditer(found[2] or "") if match[0]]
    if len(parts) != len(step.shape):
        axes = ",".join(step.rule.axis_names)
        raise usage_error(
            f"--cell {text!r} has {count(len(parts), 'index', 'indices')}, and {step.name} has {len(step.shape)}",
            help=f"write --cell '{step.name}[{axes}]'",
        )
    places = [
        _place(text, labels, axis, *_word(match))
        for labels, axis, match in zip(step.labels, step.rule.axis_names, parts, strict=True)
    ]
    return step, tuple(places)


def _name(name: str, there: Sequence[str], beside: Sequence[str]) -> str:
    found = STEP_NAMES.get(name)
    if found is not None and found in there:
        return found
    if found and found in beside:
        instead = "" if found in GRADIENT_RULES else f", or ask for {_OF_A_HEAD.get(found, 'heads_output')}"
        help = f"it is of all heads together: leave out --head{instead}"
        raise usage_error(f"{found} is no step of a single head", help=help)
    if found in GRADIENT_RULES and not any(name in GRADIENT_RULES for name in there):
        help = "attncli gradient works it out; worksheet and compare take --gradient"
        raise usage_error(f"{found} is a step of the way back", help=help)
    if found in LOSS_RULES and "d_output" not in there:
        help = "see attncli gradient; the problem must have a loss"
        raise usage_error(f"{found} is worked out with the gradient", help=help)
    if found:
        raise usage_error(f"this problem has no step {found}", help=f"its steps are {', '.join(there)}")
    if len(words := name.split()) > 1:
        help = f"put commas between steps: {','.join(words)}"
    else:
        help = did_you_mean(name, list(there), f"the steps are {', '.join(there)}")
    raise usage_error(f"no step is called {name!r}", help=help)


def _word(match: re.Match[str]) -> tuple[str, bool]:
    """What stands between two commas, and whether it was quoted."""
    quoted = match[1] if match[1] is not None else match[2]
    return (match[3].strip(), False) if quoted is None else (quoted, True)


def _place(text: str, labels: tuple[str, ...], axis: str, word: str, quoted: bool) -> int:
    if not quoted and word.isascii() and word.isdigit():
        if len(word) < 9 and int(word) < len(labels):
            return int(word)
        message = f"--cell {text!r}: {axis} {word} does not exist; there are {len(labels):,}, counted from 0"
        raise usage_error(message, help=f"use 0 to {len(labels) - 1}")
    if labels.count(word) == 1:
        return labels.index(word)
    if word in labels:
        places = ", ".join(str(place) for place, label in enumerate(labels) if label == word)
        raise usage_error(f"--cell {text!r}: several labels are {word!r}", help=f"use one of the indices {places}")
    known = listed(labels, last="", most=12)
    help = did_you_mean(word, list(labels), f"the labels are {known}")
    raise usage_error(f"--cell {text!r}: no {axis} is called {word!r}", help=help)
