"""Rows of numbers as text, as spreadsheets save them: apart by commas, semicolons, tabs or blanks,
and read as a pasted matrix is.
"""

from __future__ import annotations

import re
from typing import IO

import numpy as np

from attncli.errors import AttncliError
from attncli.problem.arrays.errors import ArrayError
from attncli.problem.arrays.stored import StoredArray
from attncli.problem.files import SIZE_LIMIT
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nested_lists import read_cells
from attncli.problem.text.nodes import TRUTHS, Leaf, ListNode
from attncli.problem.text.not_a_number import why_not_a_number
from attncli.problem.text.number_forms import MINUS_INFINITY, NumberError, is_plain
from attncli.problem.text.numbers import as_float, as_spelled
from attncli.problem.text.pasted.finding import written_in_file
from attncli.problem.text.reading import Reading
from attncli.problem.text.source import decode
from attncli.problem.text.values import Value

_NO_NAMES = "leave out names, unless all of the first row or of the first column are words"
# Up to this one, every whole number is a double.
_LARGEST_WHOLE_DOUBLE = 2.0**53


def read(stream: IO[bytes], file: str, name: str, *, single: bool = False) -> StoredArray:
    """The matrix of a file: of truth values, of whole numbers, of float64, or, where a cell is a
    fraction or a root, of the text of each number.
    """
    if name:
        raise ArrayError(f"{file} holds one matrix without a name", "remove name", key="name")
    data = stream.read(SIZE_LIMIT + 1)
    if len(data) > SIZE_LIMIT:
        raise ArrayError(
            f"{file} is larger than {SIZE_LIMIT // 2**20} MiB", "save it as a .npy file"
        )
    try:
        source = decode(data, file)
        errors = ErrorCollector(source)
        array = _read_rows(Value(Leaf(source.text, True, 0), "", Reading(errors)))
        errors.stop()
    except AttncliError as error:
        place = f":{error.place.line}:{error.place.column}" if error.place else ""
        raise ArrayError(f"{file}{place}: {error.message}", error.help) from None
    assert array is not None, "or there is an error"
    return array


def names(stream: IO[bytes], file: str) -> list[str]:
    """Raises ArrayError: its matrix has no name."""
    raise ArrayError(
        f"{file} holds one matrix without a name", "save the steps with numpy.savez(file, scores=…)"
    )


def dtype(stream: IO[bytes], file: str, name: str) -> str:
    """That of numbers in decimal."""
    return "float64"


def _read_rows(value: Value) -> StoredArray | None:
    """The matrix that is the text of a value; None after reporting what is wrong with it."""
    if not written_in_file(value):
        return None
    if isinstance(value.node, ListNode) and (numbers := value.node.numbers) is not None:
        has_point = re.search("[.eE]", numbers.text)
        return numbers.array if has_point else _as_integers(numbers.array)
    read = read_cells(value, _read_cell, empty="write rows of numbers in it")
    if read is None:
        return None
    cells, shape = read
    texts = [cell for cell in cells if cell is not None]
    if (at := truth_among_numbers(texts)) is not None:
        cell = value
        for place in np.unravel_index(at, shape):
            cell = cell.entry(int(place))
        cell.wrong_number(*why_not_a_number(cell.text))
        return None
    return as_array(texts).reshape(shape)


def truth_among_numbers(cells: list[str]) -> int | None:
    """Which cell is the first truth value where others are numbers; None where all are of one
    kind.

    >>> truth_among_numbers(["1", "true", "0"]), truth_among_numbers(["1", "0"])
    (1, None)
    """
    truths = [cell in TRUTHS for cell in cells]
    if all(truths) or not any(truths):
        return None
    return truths.index(True)


def as_array(cells: list[str]) -> StoredArray:
    """Truth values, whole numbers or float64 by their texts; the texts themselves where one is a
    fraction or a root.

    >>> as_array(["1", "0"]).dtype.kind, as_array(["1", "0.5"]).dtype.kind
    ('i', 'f')
    >>> as_array(["1", "1/3"]).tolist()
    ['1', '1/3']
    """
    if all(cell in TRUTHS for cell in cells):
        return np.array([TRUTHS[cell] for cell in cells])
    if not all(is_plain(cell) or cell in MINUS_INFINITY for cell in cells):
        return np.array(cells, dtype=object)
    numbers = np.array([*map(as_float, cells)])
    if all(cell.lstrip("+-").isdigit() for cell in cells):
        return _as_integers(numbers)
    return numbers


def _as_integers(numbers: StoredArray) -> StoredArray:
    if np.abs(numbers).max() > _LARGEST_WHOLE_DOUBLE:
        return numbers
    return numbers.astype(np.int64)


def _read_cell(cell: Value) -> str | None:
    """The text of a number or a truth value; None after reporting anything else."""
    if cell.text in TRUTHS:
        return cell.text
    try:
        return as_spelled(cell.text)
    except NumberError as error:
        is_name = cell.text[:1].isalpha() and cell.text.lower() not in ("na", "nan", "inf")
        # The corner of a table is above names and beside names.
        is_corner = not cell.text and cell.path == "[0][0]"
        cell.wrong_number(error.message, _NO_NAMES if is_name or is_corner else error.help)
        return None
