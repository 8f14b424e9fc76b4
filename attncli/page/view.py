"""What a person asks to see of a trace, and how: `--steps weights,output`, `--cell
'scores[I,love]'`, `--head 1`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING

from attncli.attention.losses import LOSS_RULES
from attncli.attention.registry import (
    GRADIENT_RULES,
    STEP_NAMES,
    holds_scores,
    step_called,
    step_meant,
)
from attncli.english import a, count, either, listed, shorten
from attncli.equation.symbols import plain_name, unicode_name
from attncli.errors import did_you_mean, usage_error
from attncli.problem.parts.axes import BATCH, HEAD, KEY_HEAD, PLACES
from attncli.system import unquoted

if TYPE_CHECKING:
    from attncli.tracing.model import Step, Trace

_CELL = r"(?s)\s*([^\s\[]+)\s*(?:\[(.*)\]\s*)?"
# What ends an index: scores[0,1], or scores[0][1] as in Python.
_END = r"(?:,|\]\s*\[|$)"
_PART = rf"""(?s)\s*"([^"]*)"\s*{_END}|\s*'([^']*)'\s*{_END}|((?:(?!\]\s*\[)[^,])*){_END}"""
# Nobody calls a cell by so many characters.
_IN_OTHER_BRACKETS = re.compile(
    r"(?P<step>[A-Za-z]\w*)\s*[({ ]\s*(?P<row>\w+)[, ]\s*(?P<column>\w+)\s*[)}]?"
)
_WITH_INDICES = re.compile(r"(?P<step>[A-Za-z]\w*?)_\{?(?P<row>[1-9]),?(?P<column>[1-9])\}?")
_LONGEST_NAME_OF_A_CELL = 1000
HELP_ON_BACKWARD = "use attncli gradient, or --gradient with worksheet and compare"
# As titles have them.
SINGULARS = {**PLACES, KEY_HEAD: "KV head"}
# The steps at which a head's own number is read.
_OF_A_HEAD = {"slopes": "bias", "sink": "row_sum"}


@dataclass(frozen=True, slots=True)
class View:
    """The choices that `attncli compute` takes on its command line.

    `detail` is "brief" (matrices only), "rows" (a worked line per row) or "cells" (every cell
    worked); `steps` the names of the only steps wanted, `cell` such as "scores[0,1]" the only cell,
    `query` such as "love" the only query, whose keys are then in order. `head` and `entry` are the
    only head and the only entry of a batch. With `pictures`, the page has pictures. `blank` names
    steps whose numbers are left out, to be filled in. With `explains`, the page says what each step
    is, and why. With `in_full`, given numbers have all their
    digits: somebody works with them. With `only_ends`, only the ends of what is long are shown, as
    on a screen (`ends.py`). A `short` page has what is given where it is used; in another, it
    stands before the steps, each of which is a section. With `summary`, a page of some steps tells
    the others at a glance. The page of gradients has the forward pass, too, with `forward`.
    """

    detail: str = "rows"
    precision: int = 3
    steps: Sequence[str] | None = None
    cell: str | None = None
    query: str | None = None
    heatmap: bool = False
    pictures: bool = False
    head: int | None = None
    entry: int | None = None
    blank: frozenset[str] = frozenset()
    in_full: bool = False
    only_ends: bool = False
    explains: bool = True
    short: bool = True
    summary: bool = False
    forward: bool = False

    @property
    def is_part(self) -> bool:
        """Whether only a part of a page is shown: some steps, a cell, a query, a head, an entry."""
        chosen = (self.steps, self.cell, self.query, self.head, self.entry)
        return any(part is not None for part in chosen)

    def steps_needed(self, numbers_alone: bool) -> frozenset[str] | None:
        """The steps whose numbers a page with this view has, or data of `numbers_alone`; None for
        any.
        """
        alone = (
            self.cell is None
            and self.query is None
            and self.head is None
            and self.entry is None
            and not self.pictures
            and self.detail == "brief"
        )
        if self.steps is None or not alone:
            return None
        names = {STEP_NAMES.get(name, name) for name in self.steps}
        # A page marks the cells that the mask hides.
        marks_cells = not numbers_alone and holds_scores(names)
        # The reading of the weights says which keys a query sees, in data, too.
        if marks_cells or "weights" in names:
            names.add("mask")
        return frozenset(names)


def chosen_place(trace: Trace, view: View) -> dict[str, int]:
    """The place that the view asks for on the leading axes; raises (exit 2) where there is none
    such.
    """
    if view.entry is None and view.head is None:
        return {}
    # It needs arrays, and a view is made before there are any.
    from attncli.tracing.slices import axis_length

    own = trace.leading_letters
    found = {}
    for letter, option, place in ((BATCH, "--entry", view.entry), (HEAD, "--head", view.head)):
        if place is None:
            continue
        there = axis_length(trace, letter) if letter in own else 0
        at = _whole(place)
        if not isinstance(at, int) or not 0 <= at < there:
            word = PLACES[letter]
            if not there:
                raise usage_error(
                    f"{option} needs a problem with {a(word)} axis", help=f"leave out {option}"
                )
            message = (
                f"{option} {at} does not exist: there {either(there, 'is', 'are')}"
                f" {count(there, word)}"
            )
            raise usage_error(message, help=f"use {_indices(there)}")
        found[letter] = at
    return found


def _whole(place: object) -> int | str:
    """What Python hands over for an index, as an int if it is a whole number of Python or NumPy,
    and as text if not.
    """
    # A bool is an int of Python's, and no place.
    if isinstance(place, bool):
        return shorten(repr(place))
    if isinstance(place, Integral):
        return int(place)
    return shorten(repr(place))


def _indices(length: int) -> str:
    return f"0 to {length - 1}" if length > 1 else "0"


def selected_part(trace: Trace, view: View) -> Trace:
    """The whole trace, or the place of it that the view asks for, whose title then says so."""
    place = chosen_place(trace, view)
    if not place:
        return trace
    from attncli.tracing.slices import trace_at

    title = place_title(place)
    if trace.title:
        title = f"{trace.title}: {title[0].lower()}{title[1:]}"
    part = trace_at(trace, place)
    return replace(part, title=title)


def place_title(place: Mapping[str, int]) -> str:
    """Entry 0, head 1."""
    said = ", ".join(f"{SINGULARS[letter]} {number}" for letter, number in place.items())
    return said[0].upper() + said[1:]


def chosen_steps(trace: Trace, names: Sequence[str], whole: Trace | None = None) -> tuple[str, ...]:
    """The steps of these names or letters, in the order of the trace.

    Raises AttncliError (exit 2) for one that is not there. Where the trace is a head of a `whole`
    one, the error says which steps belong to all heads.
    """
    there = tuple(trace.steps)
    beside = tuple(whole.steps) if whole else ()
    found = [_in_trace(name, trace) for name in names]
    return chosen_names(found, there, beside)


def _in_trace(name: str, trace: Trace) -> str:
    """The name of the step of a problem's own equations that has this symbol; else as it is."""
    if name in trace.steps:
        return name
    for step in trace.steps.values():
        symbol = step.rule.symbol
        if step.rule.own and name in (symbol, plain_name(symbol), unicode_name(symbol)):
            return step.name
    return name


def chosen_names(
    names: Sequence[str], there: Sequence[str], beside: Sequence[str] = ()
) -> tuple[str, ...]:
    """The steps of these names or letters among those that are there, in their order; raises (exit
    2) for others.

    >>> chosen_names(["A", "scores"], ["scores", "weights", "output"])
    ('scores', 'weights')
    """
    chosen = {_name(name, there, beside) for name in names}
    return tuple(name for name in there if name in chosen)


def steps_back(names: Sequence[str]) -> list[str]:
    """Which of these names or letters are steps of a loss or of the backward pass.

    >>> steps_back(["weights", "dQ"])
    ['d_Q']
    """
    back = {*GRADIENT_RULES, *LOSS_RULES}
    steps = [STEP_NAMES.get(name, name) for name in names]
    return [name for name in steps if name in back]


def chosen_cell(
    trace: Trace, text: str, whole: Trace | None = None
) -> tuple[Step, tuple[int, ...]]:
    """The step and the indices of `scores[0,1]`, counted from 0, or of `scores[I,love]`, by label.

    A number is an index unless it is quoted; raises (exit 2) with what would have been right. The
    trace may be a head of a `whole` one.
    """
    if len(text) > _LONGEST_NAME_OF_A_CELL:
        raise usage_error(
            f"--cell has {len(text):,} characters", help="for example --cell 'scores[0,1]'"
        )
    text = unquoted(text)
    if meant := _place_meant(text, trace):
        raise usage_error(f"--cell {text!r} has no [ ]", help=f"write {meant}")
    found = re.fullmatch(_CELL, text)
    odd = usage_error(
        f"--cell {text!r} is not of the form step[row,column]",
        help="for example --cell 'scores[0,1]'",
    )
    if not found:
        # A heading of a page has blanks: Attention weights[0,1].
        name = text.partition("[")[0].strip()
        help = step_meant(name, tuple(trace.steps), "")
        if name in trace.steps or not help:
            raise odd
        raise usage_error(f"no step is called {name!r}", help=help)
    called = _in_trace(found[1], trace)
    step = trace.steps[_name(called, tuple(trace.steps), tuple(whole.steps) if whole else ())]
    # Only a single number has no brackets.
    if found[2] is None and step.shape:
        raise odd
    parts = [match for match in re.finditer(_PART, found[2] or "") if match[0]]
    if len(parts) != len(step.shape):
        axes = ",".join(step.rule.axis_names)
        raise usage_error(
            f"--cell {text!r} has {count(len(parts), 'index', 'indices')}, and {step.name} has"
            f" {len(step.shape)}",
            help=f"write --cell '{step.name}[{axes}]'" if axes else f"write --cell {step.name}",
        )
    places = [
        _place(f"--cell {text!r}", labels, axis, *_word(match))
        for labels, axis, match in zip(step.labels, step.rule.axis_names, parts, strict=True)
    ]
    return step, tuple(places)


def _place_meant(text: str, trace: Trace) -> str:
    """weights[0,1] for weights(0,1), weights 0 1 and A_{12}; empty for anything else."""
    found = _IN_OTHER_BRACKETS.fullmatch(text.strip())
    if found and found["step"] in STEP_NAMES:
        return f"{found['step']}[{found['row']},{found['column']}]"
    found = _WITH_INDICES.fullmatch(text.strip())
    if found is None or found["step"] not in STEP_NAMES:
        return ""
    row, column = int(found["row"]), int(found["column"])
    return f"{found['step']}[{row - 1},{column - 1}] for row {row} and column {column}"


def chosen_query(trace: Trace, text: str | int) -> int:
    """The row of a query, by its label or counted from 0; a number is an index unless it is quoted.

    Raises AttncliError (exit 2) where there is no such query, or where several have this label.
    """
    if not isinstance(text, str):
        return _query_at(trace, text)
    word = text.strip()
    quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "'\""
    if quoted:
        word = word[1:-1]
    elif text in trace.tokens:
        word = text
    option = f"--query {shorten(repr(text))}"
    return _place(option, trace.tokens, "query", word, quoted)


def _query_at(trace: Trace, number: object) -> int:
    """The row of a query by its number, which Python may hand over."""
    there = len(trace.tokens)
    place = _whole(number)
    if isinstance(place, int) and 0 <= place < there:
        return place
    are = either(there, "is", "are")
    queries = count(there, "query", "queries")
    raise usage_error(
        f"--query {place} does not exist: there {are} {queries}",
        help=f"use {_indices(there)}, or the label of a query",
    )


def _name(name: str, there: Sequence[str], beside: Sequence[str]) -> str:
    # A problem's own equations may call a step anything.
    found = name if name in there else STEP_NAMES.get(name)
    if found is not None and found in there:
        return found
    if found and found in beside:
        instead = ""
        if found not in GRADIENT_RULES:
            own_step = _OF_A_HEAD.get(found, "heads_output")
            instead = f", or ask for {own_step}"
        help = f"it belongs to all heads together: leave out --head{instead}"
        raise usage_error(f"{found} is no step of a single head", help=help)
    if found in GRADIENT_RULES and not any(name in GRADIENT_RULES for name in there):
        raise usage_error(f"{found} is a step of the backward pass", help=HELP_ON_BACKWARD)
    if found in LOSS_RULES and "d_output" not in there:
        help = "use attncli gradient; the problem must have a loss"
        raise usage_error(
            f"{found} is a step of the loss, which belongs to the backward pass", help=help
        )
    if found:
        raise usage_error(
            f"this problem has no step {found}", help=f"its steps are {', '.join(there)}"
        )
    words = name.split()
    if len(words) > 1 and step_called(name) not in there:
        help = f"put commas between steps: {','.join(words)}"
    else:
        help = step_meant(name, there, f"the steps are {', '.join(there)}")
    raise usage_error(f"no step is called {name!r}", help=help)


def _word(match: re.Match[str]) -> tuple[str, bool]:
    """What stands between two commas, and whether it was quoted."""
    quoted = match[1] if match[1] is not None else match[2]
    return (match[3].strip(), False) if quoted is None else (quoted, True)


def _place(option: str, labels: tuple[str, ...], axis: str, word: str, quoted: bool) -> int:
    if not quoted and word.isascii() and word.isdigit():
        if len(word) < 9 and int(word) < len(labels):
            return int(word)
        message = (
            f"{option}: {axis} {word} does not exist; there are {len(labels):,}, counted from 0"
        )
        raise usage_error(message, help=f"use 0 to {len(labels) - 1}")
    if labels.count(word) == 1:
        return labels.index(word)
    if word in labels:
        places = ", ".join(str(place) for place, label in enumerate(labels) if label == word)
        raise usage_error(
            f"{option}: several labels are {word!r}", help=f"use one of the indices {places}"
        )
    known = listed(labels, last="", most=12)
    help = did_you_mean(word, list(labels), f"the labels are {known}")
    raise usage_error(f"{option}: no {axis} is called {word!r}", help=help)
