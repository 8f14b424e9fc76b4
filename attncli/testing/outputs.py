"""What a program in any language has worked out of the exported cases, judged."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from math import prod
from typing import NamedTuple

from attncli.english import count, listed, shape_text
from attncli.errors import did_you_mean, file_error, input_error, reason, usage_error
from attncli.testing.asking import CaseResult, judged
from attncli.testing.battery import all_cases
from attncli.testing.case import Case
from attncli.testing.exported import LIST, OUTPUT, array_file, digest, layout_of, stem_of
from attncli.testing.meant import ANYTHING, Meant
from attncli.testing.raw import NUMBER_TYPES, NUMBERS, numbers_in
from attncli.testing.trial import Trial, trial_of

FILE_OF_OUTPUT = re.compile(rf"(?P<stem>.+)\.{OUTPUT}\.(?P<suffix>[^.]+)", re.DOTALL)
NO_FILE = "there is no output of it"
AGAIN = "give the same --as, or write the cases to a new folder and work them out again"
# The list of the cases has about a third of this.
LONGEST_LIST = 2**17


class Output(NamedTuple):
    """A file with the output of a case, and the end of its name."""

    path: str
    suffix: str

    @property
    def name(self) -> str:
        """Its name alone."""
        return os.path.basename(self.path)


class OutputError(Exception):
    """A file is not the output of its case. The message says why, in one line."""


def try_outputs(
    folder: str,
    *,
    meant: Meant = ANYTHING,
    begin: Callable[[str], None] = lambda _: None,
) -> Trial:
    """Judge the outputs in a folder; a case of which there is none is not asked.

    They have the layout that is `meant`, and what is meant is right where software differs. `begin`
    is told which case comes next. Raises AttncliError: exit 2 or 4 where there is no such
    folder, 3 where an output is of no case, where there is none at all, and where the folder has
    the cases of another version.
    """
    cases = all_cases()
    outputs = _outputs_in(folder, cases)
    _require_these_cases(folder, cases, meant)
    results = []
    for case in cases:
        begin(case.name)
        output = outputs.get(stem_of(case))
        if output is None:
            results.append(CaseResult(case, "not asked"))
        else:
            results.append(_result(meant.narrowed(case), output, meant))
    return trial_of(folder, results, meant, layout_of(meant).words, not_asked=NO_FILE)


def _outputs_in(folder: str, cases: tuple[Case, ...]) -> Mapping[str, Output]:
    """The outputs by what their names begin with."""
    found: dict[str, Output] = {}
    for name in _names_in(folder):
        match = FILE_OF_OUTPUT.fullmatch(name)
        if match is None:
            continue
        stem, suffix = match["stem"], match["suffix"]
        _require_known(name, stem, suffix, cases)
        if stem in found:
            help = "leave one of the two there"
            what = f"{folder} has two outputs of one case: {found[stem].name} and {name}"
            raise input_error(what, help=help)
        found[stem] = Output(os.path.join(folder, name), suffix)
    if not found:
        help = f"write an output for each case, such as {array_file(cases[0], OUTPUT, NUMBERS)}"
        raise input_error(f"{folder} has no outputs", help=help)
    return found


def _names_in(folder: str) -> list[str]:
    if not folder:
        raise usage_error("--outputs needs the name of a folder", help="write --outputs cases")
    try:
        return sorted(os.listdir(folder))
    except (OSError, ValueError) as error:
        # A NUL in the name is a ValueError.
        help = "name the folder that has the outputs"
        raise file_error(f"cannot read {folder}: {reason(error)}", help=help) from None


def _require_known(name: str, stem: str, suffix: str, cases: tuple[Case, ...]) -> None:
    stems = [stem_of(case) for case in cases]
    if stem not in stems:
        otherwise = "cases.txt has the names of all cases"
        help = did_you_mean(stem, stems, otherwise)
        raise input_error(f"{name} is the output of no case", help=help)
    if suffix not in NUMBER_TYPES:
        ends = listed([f".{each}" for each in NUMBER_TYPES], last="or")
        help = f"write the numbers alone, and let the name end in {ends}"
        raise input_error(f"{name}: attncli does not read .{suffix} files", help=help)


def _require_these_cases(folder: str, cases: tuple[Case, ...], meant: Meant) -> None:
    """Where the folder has the cases, too, they must be these."""
    path = os.path.join(folder, LIST)
    if not os.path.isfile(path):
        return
    try:
        with open(path, "rb") as stream:
            said = stream.read(LONGEST_LIST)
    except OSError as error:
        raise file_error(f"cannot read {path}: {reason(error)}") from None
    if digest(cases, meant).encode() not in said:
        what = f"{path} has other cases: of another version of attncli, or with another --as"
        raise input_error(what, help=AGAIN)


def _result(case: Case, output: Output, meant: Meant) -> CaseResult:
    layout = layout_of(meant)
    try:
        data = _content(case, output)
    except OutputError as error:
        return CaseResult(case, "error", error=str(error))
    numbers = numbers_in(data, output.suffix).reshape(layout.arranged(case).output_shape)
    dtype = case.dtype or NUMBER_TYPES[output.suffix].name
    return judged(case, layout.swapped(numbers), dtype, meant)


def _content(case: Case, output: Output) -> bytes:
    """The bytes of an output; OutputError where they are not as many as they have to be."""
    wanted = prod(case.output_shape) * NUMBER_TYPES[output.suffix].size
    try:
        status = os.stat(output.path)
        # A pipe would wait for somebody who writes.
        if not stat.S_ISREG(status.st_mode):
            raise OutputError(f"{output.name} is not a file")
        _require_size(case, output, status.st_size, wanted)
        with open(output.path, "rb") as stream:
            data = stream.read(wanted)
    except OSError as error:
        raise OutputError(f"{output.name} cannot be read: {reason(error)}") from None
    _require_size(case, output, len(data), wanted)
    return data


def _require_size(case: Case, output: Output, size: int, wanted: int) -> None:
    if size == wanted:
        return
    shape = shape_text(case.output_shape)
    each = count(NUMBER_TYPES[output.suffix].size, "byte")
    what = f"{output.name} has {count(size, 'byte')}, not {wanted:,}: {shape} numbers of {each}"
    numbers = prod(case.output_shape)
    for suffix, raw in NUMBER_TYPES.items():
        if size == numbers * raw.size:
            what += f"; if they are of {raw.name}, let its name end in .{suffix}"
            break
    raise OutputError(what)
