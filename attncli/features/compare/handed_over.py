"""What Python hands over to be compared: problems, files, steps with their arrays, or an output."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from attncli.english import as_written, shorten
from attncli.errors import usage_error
from attncli.features.compare.dumps import (
    Dump,
    RulesOfOwn,
    are_of_dump,
    read_arrays,
    rules_of_own,
    unreadable,
)
from attncli.features.compare.operands import InputFile, read_one, read_text, require_names
from attncli.problem.arrays.errors import ArrayError
from attncli.problem.arrays.handed_over import dtype_of, is_array, to_array
from attncli.problem.arrays.stored import StoredArray, require_shape
from attncli.problem.model import Problem
from attncli.problem.python_values import read_values
from attncli.problem.text.source import decode
from attncli.tracing.comparison import in_one_head
from attncli.tracing.model import Trace

_EXAMPLE = 'give steps with their arrays: {"weights": weights, "output": output}'
# Truth values, whole numbers and floats.
_KINDS_OF_NUMBERS = "biuf"


def read_given(
    problem: object, other: object, changes: Mapping[str, str], renames: Mapping[str, str]
) -> list[InputFile]:
    """Both sides, as the command has them of files; messages call each by the name of its argument.

    `changes` say how problems are worked out, and `renames` which step a name of `other` is. Raises
    AttncliError: exit 2 for what is neither a problem nor numbers, exit 3 for what is wrong in it,
    exit 4 for a file that cannot be read.
    """
    given: list[InputFile] = []
    own: RulesOfOwn = {}
    for name, value in (("problem", problem), ("other", other)):
        is_file = isinstance(value, str | os.PathLike)
        if is_file:
            file = read_one(str(value), changes, renames, own)
        else:
            content = _content(name, value, renames, own)
            file = InputFile(name, None, None, content, changes, None)
        given.append(file)
        if isinstance(file.content, Problem):
            own = rules_of_own(file.content)
    require_names(given, renames)
    return given


def _content(
    name: str, value: object, renames: Mapping[str, str], own: RulesOfOwn
) -> Problem | Dump:
    """What is no file; only the other side may be numbers."""
    is_other = name == "other"
    if isinstance(value, Problem):
        return value
    if isinstance(value, Mapping):
        words = _words(name, value)
        if not is_other or not are_of_dump(words, renames):
            return read_values(value)
        if "steps" in words:
            return _of_json(name, value, renames, own)
        return _dump(name, value, renames, own)
    if is_other and isinstance(value, Trace):
        return _of_trace(value, own)
    if is_other and (is_array(value) or isinstance(value, Sequence)):
        return _dump(name, {"output": value}, renames, own)
    help = "give a Problem, a file or a dict"
    if is_other:
        help = f"{_EXAMPLE}, the output alone, a trace, a file, or another problem"
    raise usage_error(f"{name} cannot be {as_written(value)}", help=help)


def _words(name: str, values: Mapping[Any, Any]) -> list[str]:
    """The names in a dict, which have to be words."""
    words = []
    for word in values:
        if not isinstance(word, str):
            raise usage_error(f"{name}: no step is called {as_written(word)}", help=_EXAMPLE)
        words.append(word)
    return words


def _of_json(
    name: str, data: Mapping[str, Any], renames: Mapping[str, str], own: RulesOfOwn
) -> Problem | Dump:
    """A trace as JSON data, with numbers as words where JSON has none."""
    text = json.dumps(data)
    source = decode(text.encode(), name)
    return read_text(source, {}, None, renames, own).content


def _of_trace(trace: Trace, own: RulesOfOwn) -> Dump:
    arrays = {name: trace[name] for name in trace}
    labels = {}
    rules = dict(own)
    for name, step in trace.steps.items():
        labels[name] = step.labels
        if step.rule.own:
            rules[name] = in_one_head(step.rule)
    return Dump(arrays, trace.settings.dtype, labels, own=rules)


def _dump(
    name: str, values: Mapping[str, Any], renames: Mapping[str, str], own: RulesOfOwn
) -> Dump:
    try:
        return read_arrays(_Held(name, values), name, renames, own)
    except ArrayError as error:
        raise unreadable(error) from None


class _Held(NamedTuple):
    """The arrays that Python holds, by their names."""

    called: str
    values: Mapping[str, Any]

    def names(self) -> list[str]:
        return [name for name, value in self.values.items() if value is not None]

    def read(self, name: str, *, single: bool) -> StoredArray:
        """The array of this name; ArrayError for what has no numbers, or too many."""
        called = f"{self.called}: {shorten(name)}"
        array = _numbers(self.values[name], called)
        require_shape(array.shape, called, single=single)
        # A program may write over its own array later.
        return array.copy()

    def dtype(self, name: str) -> str:
        return dtype_of(self.values[name])


def _numbers(value: object, called: str) -> StoredArray:
    try:
        array = to_array(value) if is_array(value) else np.asarray(value)
        # Fractions and decimals, and floats of eight bits, which come as types of their own.
        is_own_float = "float" in array.dtype.name and array.dtype.kind != "f"
        if array.dtype.kind == "O" or is_own_float:
            array = array.astype(np.float64)
    except Exception as error:
        # Another library raises anything, and so does a list of rows of several lengths.
        why = shorten(str(error).partition("\n")[0], 200)
        raise ArrayError(f"{called} cannot become a NumPy array: {why}", _EXAMPLE) from None
    if array.dtype.kind not in _KINDS_OF_NUMBERS:
        raise ArrayError(f"{called} has no numbers: its type is {array.dtype}", _EXAMPLE)
    return array
