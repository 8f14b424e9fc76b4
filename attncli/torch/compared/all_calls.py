"""All calls of one recording held against those of another one: the first that differs, in which
step and which cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Protocol, overload

from attncli.comparison.compared import Compared
from attncli.comparison.page import page_of
from attncli.dtypes import DETAILS, DetailWord, check_precision, chosen
from attncli.english import count, either, listed
from attncli.errors import AttncliError, usage_error
from attncli.page.comparison import NOTHING, differing_cells, step_data, without_empty_columns
from attncli.page.document import Block, Document, Heading, Paragraph, Table, Text
from attncli.page.measures import brief_place, magnitude
from attncli.render import Style, render
from attncli.torch.compared.two_calls import ProjectedCall, compared
from attncli.torch.names_of_modules import shortened
from attncli.torch.ways_around import way_around
from attncli.tracing.comparison import StepComparison
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__

# The columns of the table that have numbers.
_NUMBER_COLUMNS = (0, 1, 4, 5)


class NumberedCall(ProjectedCall, Protocol):
    """What is asked of a `Call` in a row: its numbers, its module, whether it was kept and why not,
    and the latent vectors that its keys are made of.
    """

    @property
    def number(self) -> int: ...
    @property
    def step(self) -> int: ...
    @property
    def layer(self) -> int: ...
    @property
    def where(self) -> str: ...
    @property
    def attention(self) -> object: ...
    @property
    def reason(self) -> str: ...
    @property
    def latents(self) -> object: ...


@dataclass(frozen=True, slots=True, eq=False)
class ComparedCall:
    """A call of each side, and the first of their steps that differs, if there is one."""

    ours: NumberedCall
    theirs: NumberedCall
    first: StepComparison | None

    @property
    def agrees(self) -> bool:
        """Whether no step differs."""
        return self.first is None

    def __repr__(self) -> str:
        where = f", {self.ours.where}" if self.ours.where else ""
        said = "no step differs" if self.first is None else f"{self.first.name} differs"
        return f"<call {self.ours.number}{where}: {said}>"


@dataclass(frozen=True, eq=False, repr=False)
class ComparedCalls(Sequence[ComparedCall]):
    """The calls of two recordings, one after the other: true if no step of any differs.

    `names` are what both are called. `compared` is the whole comparison of the first call that
    differs; None where none does. `output_difference` is how far apart the outputs of the whole
    models are, where they were compared and differ. A notebook shows the page of `attncli record
    --against`.
    """

    names: tuple[str, str]
    numbers: tuple[int, int]
    calls: tuple[ComparedCall, ...]
    compared: Compared | None
    tolerance: float | None
    output_difference: float | None = None
    warnings: tuple[str, ...] = ()

    @overload
    def __getitem__(self, at: int) -> ComparedCall: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[ComparedCall]: ...
    def __getitem__(self, at: int | slice) -> ComparedCall | Sequence[ComparedCall]:
        return self.calls[at]

    def __len__(self) -> int:
        return len(self.calls)

    def __bool__(self) -> bool:
        return self.agrees

    def __repr__(self) -> str:
        a, b = self.names
        first = self.first
        said = "no call differs"
        if self.output_difference is not None:
            said = "no call differs, but their outputs do"
        if self.numbers[0] != self.numbers[1]:
            ours, theirs = self.numbers
            said = f"{ours} and {count(theirs, 'call')}, and none of the first differs"
        if first is not None and first.first is not None:
            said = f"call {first.ours.number} is the first that differs, in {first.first.name}"
        return f"<{a} against {b}: {said}>"

    @property
    def agrees(self) -> bool:
        """Whether no call differs, both sides make as many, and the models give the same."""
        ours, theirs = self.numbers
        if self.first is not None or ours != theirs:
            return False
        return self.output_difference is None

    @property
    def first(self) -> ComparedCall | None:
        """The first call that differs."""
        return next((call for call in self.calls if not call.agrees), None)

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The known mistakes that give the numbers of the first call that differs."""
        return () if self.compared is None else self.compared.mistakes

    def to_dict(self) -> dict[str, Any]:
        """What `attncli record --against --format json` has."""
        return _data(self)

    def to_markdown(self, *, detail: DetailWord = "rows", precision: int = 3) -> str:
        """The page as Markdown with dollar math."""
        chosen("detail", detail, DETAILS)
        check_precision(precision)
        page = page_of_calls(self, detail, precision)
        return render(page, "markdown", Style(math="dollars"))

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def compared_calls(
    ours: Sequence[NumberedCall],
    theirs: Sequence[NumberedCall],
    names: tuple[str, str],
    *,
    tolerance: float | None = None,
    options: Mapping[str, Any] | Callable[[Any, Any], Mapping[str, Any]],
    report: Callable[[int, int], None] = lambda done, of: None,
) -> ComparedCalls:
    """The calls of both, by their order; what was not kept is left out.

    `options` say what of a call is compared, or give it of each pair. `report` is told how many
    calls are done. Raises AttncliError where there is no call to compare.
    """
    kept = [pair for pair in zip(ours, theirs, strict=False) if _both_kept(pair)]
    if not kept:
        raise _nothing_to_compare(ours, theirs, names)
    found = []
    whole: Compared | None = None
    for number, (a, b) in enumerate(kept):
        report(number, len(kept))
        wanted = options(a, b) if callable(options) else options
        both = compared(a, b, names, wanted, tolerance)
        first = both.comparison.first
        found.append(ComparedCall(a, b, first))
        # The others would keep all their numbers in memory.
        if whole is None and first is not None:
            whole = both
    return ComparedCalls(names, (len(ours), len(theirs)), tuple(found), whole, tolerance)


def _nothing_to_compare(
    ours: Sequence[NumberedCall], theirs: Sequence[NumberedCall], names: tuple[str, str]
) -> AttncliError:
    """Why no pair of calls can be compared: no call at all, or the reason why one was not kept."""
    help = "record both without layers=, or with the same layers"
    for calls, name in zip((ours, theirs), names, strict=True):
        if not calls:
            return usage_error(f"there is no call to compare: {name} made none", help=help)
        if all(call.attention is None for call in calls) and calls[0].reason:
            first = calls[0]
            message = f"there is no call to compare: call {first.number} of {name} was not kept"
            return usage_error(f"{message}: {first.reason}", help=way_around(first.reason) or help)
    return usage_error("there is no call to compare", help=help)


def _both_kept(pair: tuple[NumberedCall, NumberedCall]) -> bool:
    ours, theirs = pair
    return ours.attention is not None and theirs.attention is not None


def page_of_calls(calls: ComparedCalls, detail: str, precision: int) -> Document:
    """The page: the first call that differs, all calls in a table, and the first one step by
    step.
    """
    a, b = calls.names
    blocks = tuple(_blocks(calls, detail, precision))
    return Document(f"{a} against {b}", blocks, lambda: _data(calls))


def _blocks(calls: ComparedCalls, detail: str, precision: int) -> Iterator[Block]:
    if uneven := _uneven(calls):
        yield Paragraph((uneven,))
    yield Paragraph(_answer(calls, precision))
    if cause := _cause_before(calls):
        yield Paragraph((cause,))
    if late := _late_beginning(calls):
        yield Paragraph((late,))
    for warning in calls.warnings:
        yield Paragraph((f"Warning: {warning}.",))
    yield from _table(calls, precision)
    first, whole = calls.first, calls.compared
    if first is None or whole is None:
        return
    yield Heading(f"Call {first.ours.number}: {_of_layer(first.ours)}")
    yield from page_of(whole.comparison, whole.explanation, detail, precision).blocks


def _answer(calls: ComparedCalls, precision: int) -> Text:
    first = calls.first
    if first is None:
        return _no_call_differs(calls, precision)
    assert first.first is not None
    said = (
        f"Call {first.ours.number} ({_of_layer(first.ours)}) is the first that differs, in the step"
        f" {first.first.name}."
    )
    if first.ours.number:
        said += f" {_calls_before(first.ours.number)}"
    whole = calls.compared
    explained = None if whole is None else whole.explanation
    if explained is not None:
        mistakes = listed(explained.mistakes, last="or")
        said += f" A known mistake gives the numbers of {explained.side.name}: {mistakes}."
    return (said,)


def _no_call_differs(calls: ComparedCalls, precision: int) -> Text:
    agree = either(len(calls), "agrees", "agree")
    both = f"{count(len(calls), 'call')} of attention {agree} within the rounding of the format"
    off = calls.output_difference
    if off is None:
        return (f"No difference: {both}.",)
    return (
        f"{both[0].upper()}{both[1:]}, but the outputs of the two models differ, by up to ",
        *magnitude(off, precision),
        (
            ". So the cause is after the attention of the last layer: W_O, a norm, or the"
            " feed-forward layer."
        ),
    )


def _calls_before(number: int) -> str:
    return "The call before it agrees." if number == 1 else f"The {number} calls before it agree."


def _of_layer(call: NumberedCall) -> str:
    parts = [f"layer {call.layer}"]
    if call.step:
        parts.insert(0, f"step {call.step}")
    if call.where:
        parts.append(call.where)
    return ", ".join(parts)


def _cause_before(calls: ComparedCalls) -> str:
    """Where the cause is, if a call is given something else already."""
    first = calls.first
    if first is None or first.first is None or first.first.name not in ("X", "context"):
        return ""
    if first.ours.layer == 0:
        return (
            "It reads something else, so the cause is before it: the embeddings, positions that are"
            " added to them, or a norm."
        )
    return (
        "It reads something else, although the attention before it agrees. So the cause is between"
        " the two: W_O, a norm, or the feed-forward layer."
    )


def _late_beginning(calls: ComparedCalls) -> str:
    """Why the first call that differs is compared from queries and keys on, where layers were seen
    that made them.
    """
    first, whole = calls.first, calls.compared
    if first is None or whole is None:
        return ""
    sides = (whole.comparison.a, whole.comparison.b)
    if any("X" in side or "Q" not in side for side in sides):
        return ""
    both = (first.ours, first.theirs)
    if all(call.latents is not None for call in both):
        return (
            "The comparison begins at Q, K and V, which are made of latent vectors and rotated"
            " already. With --latent, or latent=True in Python, it begins at X and has every step"
            " from these vectors on."
        )
    if all(call.projected_keys() for call in both):
        said = (
            "The comparison begins at Q, K and V as attention was given them, because attncli does"
            " not know all that stands between the linear layers and attention, such as a norm of"
            " queries and keys. So Q and K are normed and rotated already."
        )
        return said + _where_values_agree(whole)
    if all(call.where for call in both):
        return _GIVEN_AS_THEY_ARE + _where_values_agree(whole)
    return ""


_GIVEN_AS_THEY_ARE = (
    "The comparison begins at Q, K and V as attention was given them. Where the model rotates"
    " queries and keys by their positions, or norms them, that is done already."
)


def _where_values_agree(whole: Compared) -> str:
    """What it says that values are the same, and queries and keys are not."""
    differs = {step.name: step.differs for step in whole.comparison.steps}
    apart = differs.get("Q", False) or differs.get("K", False)
    if not apart:
        return ""
    if differs.get("V", True):
        return " The cause may be their weights, a norm, or RoPE."
    return (
        " V agrees, so what is read is the same, and the cause is what Q and K alone have: their"
        " weights, a norm of theirs, or the positions that they are rotated by."
    )


def _uneven(calls: ComparedCalls) -> str:
    ours, theirs = calls.numbers
    if ours == theirs:
        return ""
    a, b = calls.names
    in_a = count(ours, "call")
    in_b = count(theirs, "call")
    compared = count(len(calls), "call")
    return f"{a} makes {in_a} and {b} {in_b}: only the first {compared} can be compared."


def _table(calls: ComparedCalls, precision: int) -> Iterator[Block]:
    """A row for each call, with the first of its steps that differs."""
    names, pattern = shortened([call.ours.where for call in calls])
    rows = []
    for call, name in zip(calls, names, strict=True):
        own: tuple[Text, ...] = ((str(call.ours.number),), (str(call.ours.layer),), (name,))
        rows.append((*own, *_first_step(call.first, precision)))
    head = ("call", "layer", "module", "first step", "differ", "absolute", "where")
    yield without_empty_columns(Table(head, tuple(rows), _NUMBER_COLUMNS))
    if pattern:
        yield Paragraph((f"The modules are {pattern}, and the table has what * stands for.",))


def _first_step(first: StepComparison | None, precision: int) -> tuple[Text, ...]:
    """How far the first step that differs is off."""
    if first is None:
        return (("agrees",), *repeat(NOTHING, 3))
    found = first.difference
    if found is None:
        return ((first.name,), NOTHING, NOTHING, ("shapes differ",))
    return (
        (first.name,),
        (differing_cells(found),),
        magnitude(found.absolute, precision),
        (brief_place(first, found.where),),
    )


def _data(calls: ComparedCalls) -> dict[str, Any]:
    a, b = calls.names
    in_a, in_b = calls.numbers
    first = calls.first
    return {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "a": {"name": a, "calls": in_a},
        "b": {"name": b, "calls": in_b},
        "same": calls.agrees,
        "first_difference": None if first is None else first.ours.number,
        "output_difference": calls.output_difference,
        "warnings": [*calls.warnings],
        "calls": [_call_data(call) for call in calls],
        "comparison": None if calls.compared is None else calls.compared.to_dict(),
    }


def _call_data(call: ComparedCall) -> dict[str, Any]:
    first = call.first
    return {
        "number": call.ours.number,
        "step": call.ours.step,
        "layer": call.ours.layer,
        "modules": {"a": call.ours.where, "b": call.theirs.where},
        "same": call.agrees,
        "first_difference": None if first is None else {"step": first.name, **step_data(first)},
    }
