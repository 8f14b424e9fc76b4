"""`window: [left, right]`: a query sees only the keys near its own position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attncli.english import count
from attncli.problem.matrix import Scalar
from attncli.problem.parts.masks import Clause, Mask, MaskPart, ReadMask
from attncli.problem.parts.offset import Offset
from attncli.problem.text.nodes import ListNode, describe
from attncli.problem.text.values import Value, read_integer


@dataclass(frozen=True, slots=True)
class Window(MaskPart):
    """Keys from `left` before to `right` after position i + offset; -1 is unbounded."""

    name = "window"
    order = 2
    has_corner = True
    left: int
    right: int

    @classmethod
    def read(cls, value: Value, inner: ReadMask) -> Window | None:
        length = value.node.length if isinstance(value.node, ListNode) else 0
        if length != 2:
            what = (
                f"a list of {length}" if isinstance(value.node, ListNode) else describe(value.node)
            )
            from attncli.problem.taken_over import window_of

            help = "write {window: [left, right]}, where -1 means no limit"
            value.wrong(f"must be two numbers, not {what}", window_of(value.node) or help)
            return None
        help = "write how many keys a query sees to its left and right; -1 means no limit"
        left, right = (read_integer(item, least=-1, help=help) for item in value.items)
        return None if left is None or right is None else cls(left, right)

    @classmethod
    def examples(cls) -> Mapping[str, Mask]:
        return {"{window: [left, right]}": Mask((cls(1, 1),))}

    def clause(self, offset: Offset, suffix: str) -> Clause:
        before, after, position = f"left{suffix}", f"right{suffix}", offset.position
        parameters = dict(offset.parameters)
        first, last = f"j >= {position}", f"j <= {position}"
        if self.left > 0:
            first += f" - {before}"
            parameters[before] = Scalar.of(self.left)
        if self.right > 0:
            last += f" + {after}"
            parameters[after] = Scalar.of(self.right)
        # A side below 0 has no end.
        conditions = []
        if self.left >= 0:
            conditions.append(first)
        if self.right >= 0:
            conditions.append(last)
        return Clause(
            f"Window: a query sees {_side(self.left, 'before')} and {_side(self.right, 'after')}"
            " its own position.",
            tuple(conditions),
            parameters=parameters,
            leads=offset.leads,
            counts_positions=True,
        )


def _side(size: int, word: str) -> str:
    return f"any number of keys {word}" if size < 0 else f"{count(size, 'key')} {word}"
