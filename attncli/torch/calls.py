"""The recorded calls: a sequence, and a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Unpack, overload

from attncli.arguments import require_tolerance
from attncli.english import byte_size, count, either, listed
from attncli.errors import did_you_mean, usage_error
from attncli.page.document import Document, Paragraph, Table
from attncli.render import Style, render
from attncli.torch.call import Call, ProblemOptions, require_options
from attncli.torch.compared.all_calls import ComparedCalls, compared_calls
from attncli.torch.names_of_modules import shortened
from attncli.torch.tensors import size_text
from attncli.torch.ways_around import way_around
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__

NOTHING_ASKED = "layers=[] keeps no call"
# Names of modules are shortened where the table would be wider.
_TABLE_WIDTH = 80
# The columns that hold no numbers.
_TEXT_COLUMNS = ("module", "mask", "format", "kept")


class Calls(Sequence[Call]):
    """The recorded calls, in order. `print(calls)` shows them as a table, and so does a
    notebook.
    """

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self.unseen: Counter[str] = Counter()

    @overload
    def __getitem__(self, at: int) -> Call: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Call]: ...
    def __getitem__(self, at: int | slice) -> Call | Sequence[Call]:
        if isinstance(at, str):
            raise usage_error(f"calls have numbers, and {at!r} is none", help=self._of_module(at))
        try:
            return self._calls[at]
        except IndexError:
            raise IndexError(f"there is no call {at}; the last one is {len(self) - 1}") from None

    def _of_module(self, name: str) -> str:
        """Which calls a module made."""
        made = [f"calls[{call.number}]" for call in self if call.where == name]
        if made:
            return f"this module made {listed(made, most=5)}"
        return did_you_mean(
            name, [call.where for call in self], "print(calls) shows which module made which call"
        )

    def __len__(self) -> int:
        return len(self._calls)

    def compare(
        self,
        other: Calls,
        *,
        names: tuple[str, str] = ("A", "B"),
        tolerance: float | None = None,
        **options: Unpack[ProblemOptions],
    ) -> ComparedCalls:
        """All calls held against those of another recording, in their order, step by step.

        `names` are what the page calls both. `options` are those of `Call.problem`, and say what of
        each call is compared; `tolerance` is that of `Call.compare`. Raises AttncliError for what
        is no recording, and where no call was kept on both sides.

            model_calls.compare(port_calls).first
        """
        if not isinstance(other, Calls):
            raise usage_error(
                f"a recording is compared with another one, not with a {type(other).__name__}",
                help="to compare one call, write calls[3].compare(other_calls[3])",
            )
        if isinstance(names, str) or len(names) != 2:
            raise usage_error(
                f"names are two texts, not {names!r}", help='write names=("model", "port")'
            )
        require_options(options)
        require_tolerance(tolerance)
        return compared_calls(self, other, names, tolerance=tolerance, options=options)

    def add(self, call: Call) -> None:
        """Append a call."""
        self._calls.append(call)

    @property
    def bytes(self) -> int:
        """What the tensors that are kept take in memory."""
        return sum(call.bytes for call in self)

    def __repr__(self) -> str:
        return render(self.page(), "table", Style(width=_TABLE_WIDTH)).rstrip()

    def _repr_markdown_(self) -> str:
        return render(self.page(), "markdown", Style())

    def to_dict(self) -> dict[str, Any]:
        """The table for programs, as `attncli record --format json` has it."""
        return {
            "attncli": {"version": __version__, "format": TRACE_FORMAT},
            "calls": [_data(call) for call in self],
            "unseen": dict(self.unseen),
        }

    def page(self) -> Document:
        """The table, with what there is to say of it."""
        if not self:
            nothing = Paragraph(("There is none yet.",))
            return Document("Recorded calls of attention", (nothing,), self.to_dict)
        columns = self._columns()
        facts = []
        if len(set(columns["format"])) == 1:
            [number_format, *_] = columns.pop("format")
            facts.append(f"The number format is {number_format}.")
        if self.bytes:
            facts.append(f"The recorded tensors take {byte_size(self.bytes)}.")
        if _width(columns) > _TABLE_WIDTH:
            columns["module"], pattern = shortened(columns["module"])
            if pattern:
                facts.append(
                    f"The modules are {pattern}, and the table has what each * stands for."
                )
        notes = []
        if facts:
            notes.append(" ".join(facts))
        reasons = Counter(call.reason for call in self if call.reason not in ("", NOTHING_ASKED))
        for reason, times in reasons.items():
            said = f"{count(times, 'call')} cannot be saved: {reason}."
            notes.append(f"{said}{_way(reason)}")
        for what, times in self.unseen.items():
            notes.append(f"{count(times, 'call')} of {what} could not be recorded.{_way(what)}")
        rows = []
        for words in zip(*columns.values(), strict=True):
            rows.append(tuple((word,) for word in words))
        numbers = tuple(at for at, head in enumerate(columns) if head not in _TEXT_COLUMNS)
        table = Table(tuple(columns), tuple(rows), numbers)
        paragraphs = [Paragraph((note,)) for note in notes]
        return Document("Recorded calls of attention", (table, *paragraphs), self.to_dict)

    def _columns(self) -> dict[str, list[str]]:
        """The cells of the table by its heads, without columns that say nothing."""
        columns = {
            "call": [str(call.number) for call in self],
            "step": [str(call.step) for call in self],
            "layer": [str(call.layer) for call in self],
            "module": [call.where for call in self],
            "heads": [_heads(call) for call in self],
            "n": [size_text(call.shapes[0][-2]) for call in self],
            "m": [size_text(call.shapes[1][-2]) for call in self],
            "d": [size_text(call.shapes[0][-1]) for call in self],
            "mask": [call.mask for call in self],
            "format": [call.dtype for call in self],
            "kept": [either(call.attention is not None, "yes", "no") for call in self],
        }
        if set(columns["step"]) == {"0"}:
            del columns["step"]
        if len(set(columns["kept"])) == 1:
            del columns["kept"]
        return columns


def _way(reason: str) -> str:
    """What to do about it, as one more sentence; empty where nothing helps."""
    way = way_around(reason)
    return f" {way[0].upper()}{way[1:]}." if way else ""


def _data(call: Call) -> dict[str, Any]:
    query, key, value = ([*shape] for shape in call.shapes)
    return {
        "number": call.number,
        "step": call.step,
        "layer": call.layer,
        "module": call.where,
        "heads": call.heads,
        "kv_heads": call.kv_heads,
        "shapes": {"Q": query, "K": key, "V": value},
        "mask": call.mask,
        "dtype": call.dtype,
        "kept": call.attention is not None,
        "reason": call.reason,
    }


def _heads(call: Call) -> str:
    if call.kv_heads == call.heads:
        return size_text(call.heads)
    return f"{size_text(call.heads)} ({size_text(call.kv_heads)} kv)"


def _width(columns: dict[str, list[str]]) -> int:
    """How wide the table is, with its margin and the gaps between its columns."""
    return 2 + sum(max(map(len, [head, *cells])) + 3 for head, cells in columns.items()) - 3
