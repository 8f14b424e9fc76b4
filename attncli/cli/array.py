"""Puts the numbers of one step into a NumPy file, `-o output.npy`: no page, but the array itself."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from attncli.cli.output import write_bytes
from attncli.page.place import shown
from attncli.page.selection import chosen_steps
from attncli.page.view import View
from attncli.tracing.model import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PIECE = 2**20  # bytes


def write_array(trace: Trace, view: View, path: str) -> None:
    """Write the step that the view asks for, of the head and entry it asks for, in the format it was computed in."""
    here = shown(trace, view)
    (name,) = chosen_steps(here, view.steps or (), trace)
    write_bytes(_pieces(here[name]), path)


def _pieces(array: NDArray[Any]) -> Iterator[bytes | memoryview]:
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    yield header.getvalue()
    data = np.ascontiguousarray(array).data.cast("B")
    yield from (data[at : at + _PIECE] for at in range(0, len(data), _PIECE))
