"""Reads an array in a file, `{file: model.safetensors, name: c_attn.weight, transpose: true, part:
q}`.

Where the file is, which format it has, and what is taken of the array in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path, PurePath, PureWindowsPath
from typing import cast

import numpy as np

from attncli.english import count, listed, shorten
from attncli.file_names import is_device
from attncli.problem.arrays.errors import ArrayError, pickled
from attncli.problem.arrays.formats import format_of
from attncli.problem.arrays.formats.safetensors import INDEX_SUFFIX, shard_of
from attncli.problem.arrays.stored import StoredArray, require_shape
from attncli.problem.files import cannot_read, open_regular
from attncli.problem.keys import LAYOUTS, PARTS, Layout, Part
from attncli.problem.suffixes import PICKLES, TEXT_SUFFIXES, array_suffixes
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import HeldArray, ListNode
from attncli.problem.text.reading import Reading
from attncli.problem.text.source import Source
from attncli.problem.text.values import (
    Value,
    read_integer,
    read_text,
    read_truth,
    read_word,
    require_keys,
)
from attncli.system import path_here

_KEYS = ("file", "name", "range", "index", "transpose", "part", "layout")
_WORKBOOK, _RANGE = ".xlsx", "range: Sheet1!A1:C3"
# Suffixes of models come first.
_SUFFIXES = (
    *(suffix for suffix in array_suffixes()[::-1] if suffix not in (_WORKBOOK, *TEXT_SUFFIXES)),
    _WORKBOOK,
    *TEXT_SUFFIXES,
)
_OTHER_SPREADSHEETS = (".xls", ".xlsm", ".xlsb", ".ods", ".fods", ".numbers")
_HELP = (
    "a fused array has the columns of q, k and v side by side; heads and kv_heads say how many"
    " heads they are"
)


@dataclass(frozen=True, slots=True)
class Fused:
    """Which part is wanted, how the three lie, and how many heads of queries, and of keys and
    values, there are.

    In the layout "parts" the columns of all queries come first, then those of all keys, then of all
    values. In "heads" those of each key and value head are together: of the query heads it serves,
    of its keys, of its values.
    """

    part: Part
    layout: Layout
    heads: int
    kv_heads: int

    def cut(self, array: StoredArray) -> StoredArray:
        """The part of … × columns, or of a vector; ArrayError where the columns cannot be so many
        equal heads.
        """
        *rows, columns = array.shape
        shares = self.heads + 2 * self.kv_heads
        if columns % shares or self.heads % self.kv_heads:
            raise self._uneven(array, shares)
        # How many heads of q, k and v lie together in each group.
        groups = 1
        together = (self.heads, self.kv_heads, self.kv_heads)
        if self.layout == "heads":
            groups = self.kv_heads
            together = (self.heads // self.kv_heads, 1, 1)
        width = columns // shares
        place = PARTS.index(self.part)
        start = sum(together[:place]) * width
        end = start + together[place] * width
        by_group = array.reshape(*rows, groups, columns // groups)
        return by_group[..., start:end].reshape(*rows, -1)

    def _uneven(self, array: StoredArray, shares: int) -> ArrayError:
        columns = count(array.shape[-1], "column" if array.ndim > 1 else "number")
        if shares == 3:
            message = f"{columns} cannot be split into three equal parts q, k and v"
        else:
            each = f"{self.heads} of q, {self.kv_heads} of k and {self.kv_heads} of v"
            message = f"{columns} cannot be {shares} equal heads: {each}"
        turned = array.ndim > 1 and array.shape[-2] % shares == 0
        help = "write transpose: true if it is laid out as in torch.nn.Linear" if turned else _HELP
        return ArrayError(message, help, key="part")


def read_array(value: Value, rank: int = 2) -> StoredArray | None:
    """The array a reference names, of bool, integer or float type, or from a file of text of the
    texts of its numbers.

    A vector, of `rank` 1, is a single row or column of a file of text. None after reporting what is
    wrong.
    """
    if isinstance(value.node, HeldArray):
        return _held(value, value.node.array)
    if "file" not in value.keys:
        value.wrong("must be a list or {file: …}", "write {file: masks.npz, name: keep}")
        return None
    before = value.errors.count
    require_keys(value, _KEYS)
    file = read_text(value.key("file"))
    name = read_text(value.key("name")) if "name" in value.keys else ""
    range_ = read_text(value.key("range")) if "range" in value.keys else ""
    index = _read_index(value.key("index")) if "index" in value.keys else ()
    transpose = read_truth(value.key("transpose")) if "transpose" in value.keys else False
    fused = _read_fused(value)
    if (
        file is None
        or name is None
        or range_ is None
        or transpose is None
        or value.errors.count > before
    ):
        return None
    source, file = value.errors.source, path_here(file)
    try:
        array = _load(source, file, _name_in(file, name, range_))
        if (
            rank == 1
            and array.ndim == 2
            and 1 in array.shape
            and _suffix(file) in (*TEXT_SUFFIXES, _WORKBOOK)
        ):
            array = array.ravel()
        array = _entry(array, index)
        array = _turned(array) if transpose else array
        array = fused.cut(array) if fused else array
        return array if _keeps_its_digits(array, value) else None
    except ArrayError as error:
        value.key(error.key).wrong(*error.args)
    except (
        OSError,
        ValueError,
        RuntimeError,
    ) as error:
        # Links that go round in a circle are a RuntimeError.
        help = f"name a {listed(_SUFFIXES, last='or')} file"
        value.key("file").add_error(cannot_read(file, error, Path(source.folder, file), help))
    return None


def _name_in(file: str, name: str, range_: str) -> str:
    """The name of an array in a file, or of a workbook the range of its cells; ArrayError for the
    other of both.
    """
    is_workbook = _suffix(file) == _WORKBOOK
    if is_workbook and name:
        raise ArrayError(
            "a workbook has no arrays with names", f"name the cells: {_RANGE}", key="name"
        )
    if range_ and not is_workbook and _suffix(file) not in _OTHER_SPREADSHEETS:
        raise ArrayError("only a workbook, .xlsx, has ranges of cells", "remove range", key="range")
    return range_ if is_workbook else name


def _held(value: Value, array: StoredArray | None) -> StoredArray | None:
    assert array is not None
    try:
        require_shape(array.shape, "the array")
    except ArrayError as error:
        value.wrong(*error.args)
        return None
    return array if _keeps_its_digits(array, value) else None


def _within(source: Source, file: str) -> Path:
    """ArrayError outside the problem's folder, so that a problem from a stranger reads nothing of
    one's own.
    """
    named = PurePath(file)
    if is_special(named):
        raise ArrayError(
            f"{shorten(file)} is a device, or a stream in a file, to Windows",
            "give the file another name",
        )
    target = Path(source.folder, file).resolve()
    if source.outside or target.is_relative_to(Path(source.folder).resolve()):
        return target
    link = "" if leads_elsewhere(named) else " (it is a link)"
    raise ArrayError(
        f"{shorten(file)} is outside the problem's folder{link}",
        "copy it beside the problem file and name it from there, or add --allow-outside if you"
        " trust the problem",
    )


def leads_elsewhere(path: PurePath) -> bool:
    """Whether a path may by itself lead out of its folder: it begins with a drive or a root, or
    goes up.

    >>> from pathlib import PurePosixPath
    >>> leads_elsewhere(PurePosixPath("weights/Q.npy"))
    False
    >>> leads_elsewhere(PurePosixPath("weights/../Q.npy"))
    True
    """
    return bool(path.anchor) or ".." in path.parts


def is_special(path: PurePath) -> bool:
    """Whether Windows takes a path for a device, such as NUL.npz, or a stream that is hidden in a
    file, a.npz:b.npz.
    """
    if not isinstance(path, PureWindowsPath):
        return False
    names = path.parts[1:] if path.anchor else path.parts
    return any(":" in name or is_device(name) for name in names)


def _load(source: Source, file: str, name: str) -> StoredArray:
    target = _within(source, file)
    if file.endswith(INDEX_SUFFIX):
        with open_regular(target) as stream:
            shard = shard_of(stream, shorten(file), name)
        index, file = file, str(PurePath(file).parent / shard)
        target = _within(source, file)
        if not target.exists():
            message = f"{shorten(index)} says it is in {shorten(shard)}, which is not there"
            raise ArrayError(message, f"put {shorten(shard)} beside the index")
    called, suffix = shorten(file), _suffix(file)
    if suffix in PICKLES:
        raise pickled(called)
    if suffix not in _SUFFIXES:
        message = f"{called} is neither {', '.join(_SUFFIXES[:-1])} nor {_SUFFIXES[-1]}"
        is_sheet = suffix in _OTHER_SPREADSHEETS
        raise ArrayError(
            message,
            (
                "save the sheet as .xlsx or .csv"
                if is_sheet
                else "save it with numpy.savez or safetensors"
            ),
        )
    with open_regular(target) as stream:
        array = format_of(suffix).read(stream, called, name)
    # A reader asks this itself only where it would take memory for what is claimed.
    require_shape(array.shape, called)
    return array


def _suffix(file: str) -> str:
    return PurePath(file).suffix.lower()


def _entry(array: StoredArray, indices: tuple[int, ...]) -> StoredArray:
    for index in indices:
        if array.ndim < 2:
            raise ArrayError(
                "has more indices than the array has axes",
                "each number takes one entry of the first axis",
                key="index",
            )
        if index >= len(array):
            message = f"there is no entry {index}: the axis has {len(array)}"
            raise ArrayError(message, "entries count from 0", key="index")
        array = array[index]
    return array


def _turned(array: StoredArray) -> StoredArray:
    if array.ndim < 2:
        raise ArrayError(
            "a vector has no rows and columns to swap", "remove transpose", key="transpose"
        )
    return array.swapaxes(-1, -2)


def _keeps_its_digits(array: StoredArray, value: Value) -> bool:
    """Whether every integer is also a double; the first that is not is reported."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8:
        return True
    doubles = array.astype(np.float64)
    # These were rounded up to what the integers do not reach.
    past = doubles >= float(np.iinfo(array.dtype).max)
    lost = past | (np.where(past, 0, doubles).astype(array.dtype) != array)
    if not lost.any():
        return True
    cell = tuple(np.argwhere(lost)[0])
    path = value.path + "".join(f"[{index}]" for index in cell)
    message = (
        f"{array[cell]} would become {int(doubles[cell])}: a double does not hold all its digits"
    )
    replace(value, path=path).wrong(message, "save it as float64 if the nearest number will do")
    return False


def _read_index(value: Value) -> tuple[int, ...]:
    each = value.items if isinstance(value.node, ListNode) else (value,)
    read = (
        read_integer(number, least=0, help="write index: 0, or index: [0, 3]") for number in each
    )
    return tuple(index for index in read if index is not None)


def _read_fused(value: Value) -> Fused | None:
    layout: str | None = LAYOUTS[0]
    if "layout" in value.keys:
        layout = read_word(value.key("layout"), LAYOUTS)
        if "part" not in value.keys:
            value.key("layout").wrong(
                "says how parts are laid out, but there is no part",
                "add part: q, part: k or part: v",
            )
    if "part" not in value.keys:
        return None
    part = read_word(value.key("part"), PARTS)
    if part and (letter := value.path[-1]) in "QKV" and part != letter.lower():
        value.key("part").wrong(
            f"{value.path} is not made of {part}", f"write part: {letter.lower()}"
        )
    heads = _number_of(value.reading, "heads", 1)
    kv_heads = _number_of(value.reading, "kv_heads", heads)
    if part is None or layout is None:
        return None
    return Fused(cast("Part", part), cast("Layout", layout), heads, kv_heads)


def _number_of(reading: Reading, key: str, otherwise: int) -> int:
    """What the problem's `heads` or `kv_heads` says; whoever reads that key tells what is wrong
    with it.
    """
    if key not in reading.nodes:
        return otherwise
    untold = Reading(ErrorCollector(reading.errors.source))
    return read_integer(Value(reading.nodes[key], key, untold), least=1, help="") or otherwise
