"""What a program in any language has worked out of the exported cases, judged."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import NamedTuple

from attncli.dtypes import DTYPES
from attncli.english import count, either, listed, shape_text
from attncli.errors import did_you_mean, file_error, input_error, reason, usage_error
from attncli.testing.asking import CaseResult, judged
from attncli.testing.case import Case
from attncli.testing.exported import (
    GRADIENTS,
    LIST,
    OUTPUT,
    array_file,
    digest,
    layout_of,
    shapes_to_write,
    stem_of,
)
from attncli.testing.gradients.asking import judged_gradients
from attncli.testing.gradients.upstream import cases_asked
from attncli.testing.meant import ANYTHING, Meant
from attncli.testing.raw import NUMBER_TYPES, NUMBERS, numbers_in
from attncli.testing.trial import Trial, trial_of
from attncli.tracing.difference import Doubles

NO_FILE = "there is no output of it"
# How gradients are got, as a fact.
IN_FILES = "in files"
AGAIN = (
    "give --as and --gradient as you did with --export, or write the cases to a new folder and work"
    " them out again"
)
# The list of the cases has about a third of this.
LONGEST_LIST = 2**17


class Output(NamedTuple):
    """A file with the output of a case or a gradient, and the end of its name."""

    path: str
    suffix: str

    @property
    def name(self) -> str:
        """Its name alone."""
        return os.path.basename(self.path)


# What there is of a case, by what it is: "output", "dQ".
Written = Mapping[str, Output]


class OutputError(Exception):
    """A file is not the output of its case. The message says why, in one line."""


def try_outputs(
    folder: str,
    *,
    meant: Meant = ANYTHING,
    gradient: bool = False,
    begin: Callable[[str], None] = lambda _: None,
) -> Trial:
    """Judge the outputs in a folder; a case of which there is none is not asked.

    They have the layout that is `meant`, and what is meant is right where software differs. With
    `gradient`, the gradients beside an output are judged where it is right, and those without one.
    `begin` is told which case comes next. Raises AttncliError: exit 2 or 4 where there is no such
    folder, 3 where an output is of no case, where there is none at all, and where the folder has
    the cases of another version.
    """
    cases = cases_asked(gradient=gradient)
    written = _outputs_in(folder, cases, meant)
    _require_these_cases(folder, cases, meant)
    if gradient:
        _require_gradients(folder, written, cases[0])
    results = []
    for case in cases:
        begin(case.name)
        there = written.get(stem_of(case))
        if there is None:
            results.append(CaseResult(case, "not asked"))
        else:
            results.append(_result(meant.narrowed(case), there, meant))
    return trial_of(
        folder,
        results,
        meant,
        layout_of(meant).words,
        not_asked=NO_FILE,
        backward=IN_FILES if gradient else "",
    )


def _outputs_in(folder: str, cases: tuple[Case, ...], meant: Meant) -> dict[str, dict[str, Output]]:
    """What there is of each case, by what the names of its files begin with."""
    stems: dict[str, list[str]] = {}
    for case in cases:
        for kind in shapes_to_write(case, meant):
            stems.setdefault(kind, []).append(stem_of(case))
    kinds = "|".join(stems)
    file = re.compile(rf"(?P<stem>.+)\.(?P<kind>{kinds})\.(?P<suffix>[^.]+)", re.DOTALL)
    found: dict[str, dict[str, Output]] = {}
    for name in _names_in(folder):
        match = file.fullmatch(name)
        if match is None:
            continue
        stem, kind, suffix = match["stem"], match["kind"], match["suffix"]
        word = "output" if kind == OUTPUT else "gradient"
        _require_known(name, stem, suffix, stems[kind], word)
        there = found.setdefault(stem, {})
        if kind in there:
            both = f"{there[kind].name} and {name}"
            what = f"{folder} has two {word}s of one case: {both}"
            raise input_error(what, help="leave one of the two there")
        there[kind] = Output(os.path.join(folder, name), suffix)
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


def _require_known(name: str, stem: str, suffix: str, stems: Sequence[str], word: str) -> None:
    if stem not in stems:
        otherwise = "cases.txt has the names of all cases"
        help = did_you_mean(stem, list(stems), otherwise)
        raise input_error(f"{name} is the {word} of no case", help=help)
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
        what = (
            f"{path} has other cases: of another version of attncli, written with or without"
            " --gradient, or with another --as"
        )
        raise input_error(what, help=AGAIN)


def _require_gradients(folder: str, written: Mapping[str, Written], first: Case) -> None:
    """Raises AttncliError (exit 3) where no case has a gradient."""
    if any(kind in there for there in written.values() for kind in GRADIENTS.values()):
        return
    files = [array_file(first, kind, NUMBERS) for kind in GRADIENTS.values()]
    help = f"write the gradients of each case, such as {listed(files)}; or leave out --gradient"
    raise input_error(f"{folder} has no gradients", help=help)


def _result(case: Case, written: Written, meant: Meant) -> CaseResult:
    """What comes of a case: that of its output, and where this is right or not there, that of its
    gradients.
    """
    forward = None
    if OUTPUT in written:
        forward = _result_of_output(case, written[OUTPUT], meant)
        if forward.result != "same" or len(written) == 1:
            return forward
    try:
        return _result_of_gradients(case, written, meant, forward)
    except OutputError as error:
        return CaseResult(case, "error", error=str(error), is_of_gradients=True, forward=forward)


def _result_of_output(case: Case, output: Output, meant: Meant) -> CaseResult:
    try:
        numbers = _numbers(case, OUTPUT, output, meant)
    except OutputError as error:
        return CaseResult(case, "error", error=str(error))
    dtype = case.dtype or NUMBER_TYPES[output.suffix].name
    return judged(case, numbers, dtype, meant)


def _result_of_gradients(
    case: Case, written: Written, meant: Meant, forward: CaseResult | None
) -> CaseResult:
    """What comes of the gradients; OutputError where one of the three is not there or no
    gradient.
    """
    kinds = GRADIENTS.values()
    lacking = [kind for kind in kinds if kind not in written]
    if lacking:
        are = either(len(lacking), "is", "are")
        raise OutputError(f"{listed(lacking)} {are} missing: all three gradients are asked for")
    given = {}
    for kind in kinds:
        step = kind.replace("d", "d_")
        given[step] = _numbers(case, kind, written[kind], meant)
    dtypes = [NUMBER_TYPES[written[kind].suffix].name for kind in kinds]
    coarsest = max(dtypes, key=lambda name: DTYPES[name].epsilon)
    return judged_gradients(case, given, case.dtype or coarsest, meant, forward)


def _numbers(case: Case, kind: str, output: Output, meant: Meant) -> Doubles:
    """The numbers of an output or a gradient, with heads before tokens; OutputError where there
    are not as many as there have to be.
    """
    shape = shapes_to_write(case, meant)[kind]
    data = _content(output, shape)
    return layout_of(meant).swapped(numbers_in(data, output.suffix).reshape(shape))


def _content(output: Output, shape: tuple[int, ...]) -> bytes:
    """The bytes of a file; OutputError where they are not as many as they have to be."""
    wanted = prod(shape) * NUMBER_TYPES[output.suffix].size
    try:
        status = os.stat(output.path)
        # A pipe would wait for somebody who writes.
        if not stat.S_ISREG(status.st_mode):
            raise OutputError(f"{output.name} is not a file")
        _require_size(output, shape, status.st_size, wanted)
        with open(output.path, "rb") as stream:
            data = stream.read(wanted)
    except OSError as error:
        raise OutputError(f"{output.name} cannot be read: {reason(error)}") from None
    _require_size(output, shape, len(data), wanted)
    return data


def _require_size(output: Output, shape: tuple[int, ...], size: int, wanted: int) -> None:
    if size == wanted:
        return
    each = count(NUMBER_TYPES[output.suffix].size, "byte")
    what = (
        f"{output.name} has {count(size, 'byte')}, not {wanted:,}:"
        f" {shape_text(shape)} numbers of {each}"
    )
    numbers = prod(shape)
    for suffix, raw in NUMBER_TYPES.items():
        if size == numbers * raw.size:
            what += f"; if they are of {raw.name}, let its name end in .{suffix}"
            break
    raise OutputError(what)
