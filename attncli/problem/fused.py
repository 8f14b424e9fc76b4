"""Cuts the part of queries, of keys or of values out of a fused array, whose columns are those of all three."""

from __future__ import annotations

from dataclasses import dataclass

from attncli.english import count
from attncli.problem.keys import PARTS, Layout, Part
from attncli.problem.stored import Array, Refused


@dataclass(frozen=True, slots=True)
class Fused:
    """Which part is wanted, how the three lie, and how many heads of queries, and of keys and values, there are.

    In the layout "parts" the columns of all queries come first, then those of all keys, then of all values. In "heads"
    those of each key and value head are together: of the query heads it serves, of its keys, of its values.
    """

    part: Part
    layout: Layout
    heads: int
    kv_heads: int

    def cut(self, array: Array) -> Array:
        """The part of … × columns, or of a vector; Refused where the columns cannot be so many equal heads."""
        columns = array.shape[-1]
        shares = self.heads + 2 * self.kv_heads
        if columns % shares or self.heads % self.kv_heads:
            raise self._uneven(array, shares)
        served = self.heads // self.kv_heads
        groups = 1 if self.layout == "parts" else self.kv_heads
        by_group = array.reshape(*array.shape[:-1], groups, columns // groups)
        of_head = columns // shares
        sizes = (served, 1, 1) if self.layout == "heads" else (self.heads, self.kv_heads, self.kv_heads)
        before = sum(sizes[: PARTS.index(self.part)]) * of_head
        wanted = by_group[..., before : before + sizes[PARTS.index(self.part)] * of_head]
        return wanted.reshape(*array.shape[:-1], -1)

    def _uneven(self, array: Array, shares: int) -> Refused:
        columns = count(array.shape[-1], "column" if array.ndim > 1 else "number")
        if shares == 3:
            message = f"{columns} cannot be three equal parts q, k and v"
        else:
            each = f"{self.heads} of q, {self.kv_heads} of k and {self.kv_heads} of v"
            message = f"{columns} cannot be {shares} equal heads: {each}"
        turned = array.ndim > 1 and array.shape[-2] % shares == 0
        help = "write transpose: true if it is laid out as in torch.nn.Linear" if turned else _HELP
        return Refused(message, help, key="part")


_HELP = "a fused array has the columns of q, k and v side by side; heads and kv_heads say how many heads they are"
