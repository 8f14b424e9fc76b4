"""The recorded calls: a sequence, and a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import overload

from attncli.english import byte_size, count, either, listed
from attncli.errors import did_you_mean, usage_error
from attncli.page.document import Document, Paragraph, Table
from attncli.render import Style, render
from attncli.torch.call import Call
from attncli.torch.tensors import size_text

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

    def add(self, call: Call) -> None:
        """Append a call."""
        self._calls.append(call)

    @property
    def bytes(self) -> int:
        """What the tensors that are kept take in memory."""
        return sum(call.bytes for call in self)

    def __repr__(self) -> str:
        return render(self._page(), "table", Style(width=_TABLE_WIDTH)).rstrip()

    def _repr_markdown_(self) -> str:
        return render(self._page(), "markdown", Style())

    def _page(self) -> Document:
        if not self:
            return Document("Recorded calls of attention", (Paragraph(("There is none yet.",)),))
        columns = self._columns()
        facts = []
        if len(set(columns["format"])) == 1:
            [number_format, *_] = columns.pop("format")
            facts.append(f"The number format is {number_format}.")
        if self.bytes:
            facts.append(f"The recorded tensors take {byte_size(self.bytes)}.")
        if _width(columns) > _TABLE_WIDTH:
            columns["module"], pattern = _shortened(columns["module"])
            if pattern:
                facts.append(
                    f"The modules are {pattern}, and the table has what each * stands for."
                )
        notes = []
        if facts:
            notes.append(" ".join(facts))
        reasons = Counter(call.reason for call in self if call.reason not in ("", NOTHING_ASKED))
        for reason, times in reasons.items():
            notes.append(f"{count(times, 'call')} cannot be saved: {reason}.")
        for what, times in self.unseen.items():
            notes.append(f"{count(times, 'call')} of {what} could not be recorded.")
        rows = []
        for words in zip(*columns.values(), strict=True):
            rows.append(tuple((word,) for word in words))
        numbers = tuple(at for at, head in enumerate(columns) if head not in _TEXT_COLUMNS)
        table = Table(tuple(columns), tuple(rows), numbers)
        paragraphs = [Paragraph((note,)) for note in notes]
        return Document("Recorded calls of attention", (table, *paragraphs))

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


def _heads(call: Call) -> str:
    if call.kv_heads == call.heads:
        return size_text(call.heads)
    return f"{size_text(call.heads)} ({size_text(call.kv_heads)} kv)"


def _width(columns: dict[str, list[str]]) -> int:
    """How wide the table is, with its margin and the gaps between its columns."""
    return 2 + sum(max(map(len, [head, *cells])) + 3 for head, cells in columns.items()) - 3


def _shortened(names: list[str]) -> tuple[list[str], str]:
    """The names without the parts that all of them have, and these parts with a * for each of the
    others.

    `model.layers.0.self_attn` and `model.layers.1.self_attn` are 0 and 1, and
    `model.layers.*.self_attn`. Nothing is shortened if they have no such parts.
    """
    parts = [name.split(".") for name in names]
    lengths = set(map(len, parts))
    if len(lengths) > 1:
        return names, ""
    # The parts that all names have, at their places; None where names differ.
    common = [_common_to(column) for column in zip(*parts, strict=True)]
    if None not in common:
        # Names that are all alike keep their last part.
        common[-1] = None
    if all(part is None for part in common):
        return names, ""
    shortened: list[str] = []
    for name in parts:
        own = [part for part, said in zip(name, common, strict=True) if said is None]
        shortened.append(".".join(own))
    pattern = ["*" if said is None else said for said in common]
    return shortened, ".".join(pattern)


def _common_to(parts: Sequence[str]) -> str | None:
    """The part that all of these are, or None."""
    first, *others = parts
    return first if all(other == first for other in others) else None
