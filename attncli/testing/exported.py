"""The cases as files, for a program in any language: `cases.json` and `cases.txt` say what is
asked, and every array is a file of raw numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from attncli.page.document import Document
from attncli.render import render
from attncli.testing.case import Array, Case
from attncli.testing.gradients.upstream import cases_asked
from attncli.testing.judgement import TOLERANCES_OF_OUTPUTS
from attncli.testing.layouts import AxisLayout
from attncli.testing.meant import ANYTHING, Meant
from attncli.testing.raw import NUMBERS, RAW_TYPES, raw_bytes, suffix_for
from attncli.testing.settings import meanings_of, settings_of
from attncli.testing.signature import UPSTREAM
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__

LIST, WORDS = "cases.json", "cases.txt"
OUTPUT = "output"
# What files of gradients are called, by the array that each is the gradient of.
GRADIENTS = {"q": "dQ", "k": "dK", "v": "dV"}
# So much of a digest tells two sets of cases apart.
DIGITS_OF_DIGEST = 16


def exported_files(
    meant: Meant = ANYTHING, *, gradient: bool = False
) -> Iterator[tuple[str, list[str | bytes]]]:
    """Every file with its name, as it is meant; with `gradient`, those of gradients of outputs,
    too.
    """
    cases = cases_asked(gradient=gradient)
    yield LIST, [_list(cases, meant)]
    yield WORDS, [_words(cases, meant)]
    for case in cases:
        for name, array in arrays_of(case, meant).items():
            yield array_file(case, name, suffix_for(array)), [raw_bytes(array)]


def layout_of(meant: Meant) -> AxisLayout:
    """The order of axes that is meant: heads before tokens, if nothing is said."""
    return AxisLayout(tokens_first=bool(meant.tokens_first))


def digest(cases: tuple[Case, ...], meant: Meant) -> str:
    """A text that is another one where a case is, or how it is meant."""
    found = sha256(_words(cases, meant).encode())
    for case in cases:
        for array in arrays_of(case, meant).values():
            found.update(raw_bytes(array))
    return found.hexdigest()[:DIGITS_OF_DIGEST]


def stem_of(case: Case) -> str:
    """What the names of a case's files begin with: the_name_of_the_case."""
    plain = case.name.lower().replace(",", "")
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")


def array_file(case: Case, name: str, suffix: str) -> str:
    """The name of the file of an array."""
    return f"{stem_of(case)}.{name}.{suffix}"


def arrays_of(case: Case, meant: Meant) -> dict[str, Array]:
    """The arrays of a case by their names; masks have all four axes, with heads before tokens."""
    arranged = layout_of(meant).arranged(meant.handed_over(case))
    arrays = {"q": arranged.queries, "k": arranged.keys, "v": arranged.values}
    rows = case.queries.shape[:-1]
    for name, value in settings_of(arranged).items():
        if isinstance(value, np.ndarray):
            is_mask = value.ndim > 1
            shape = (*rows, case.keys.shape[-2]) if is_mask else value.shape
            arrays[name] = np.broadcast_to(value, shape)
    if arranged.upstream is not None:
        arrays[UPSTREAM] = arranged.upstream
    return arrays


def shapes_to_write(case: Case, meant: Meant) -> Mapping[str, tuple[int, ...]]:
    """The shapes of what a program writes for a case by their names: its output, and where it has
    a gradient of that, those of queries, keys and values.
    """
    arranged = layout_of(meant).arranged(case)
    shapes = {OUTPUT: arranged.output_shape}
    if case.upstream is not None:
        arrays = {"q": arranged.queries, "k": arranged.keys, "v": arranged.values}
        shapes |= {GRADIENTS[name]: array.shape for name, array in arrays.items()}
    return shapes


def _list(cases: tuple[Case, ...], meant: Meant) -> str:
    """What `cases.json` says."""
    data = {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "digest": digest(cases, meant),
        "layout": layout_of(meant).words,
        "tolerances": TOLERANCES_OF_OUTPUTS,
        "cases": [_case(number, case, meant) for number, case in enumerate(cases)],
    }
    return render(Document("", (), lambda: data), "json")


def _case(number: int, case: Case, meant: Meant) -> dict[str, Any]:
    arrays = arrays_of(case, meant)
    settings = settings_of(case)
    to_write = {
        name: _file_to_write(case, name, shape)
        for name, shape in shapes_to_write(case, meant).items()
    }
    return {
        "number": number,
        "name": case.name,
        "number_format": case.dtype or None,
        "sizes": _sizes(case),
        "arrays": {name: _array(case, name, array) for name, array in arrays.items()},
        "settings": {name: value for name, value in settings.items() if name not in arrays},
        "asks": meanings_of(case, true_hides=meant.true_hides),
        "output": to_write.pop(OUTPUT),
        "gradients": to_write,
    }


def _file_to_write(case: Case, name: str, shape: tuple[int, ...]) -> dict[str, Any]:
    return {
        "file": array_file(case, name, NUMBERS),
        "type": RAW_TYPES[NUMBERS].name,
        "shape": shape,
    }


def _array(case: Case, name: str, array: Array) -> dict[str, Any]:
    suffix = suffix_for(array)
    return {
        "file": array_file(case, name, suffix),
        "type": RAW_TYPES[suffix].name,
        "shape": array.shape,
    }


def _sizes(case: Case) -> dict[str, int]:
    entries, heads, queries, d_k = case.queries.shape
    _, kv_heads, keys, d_v = case.values.shape
    return {
        "entries": entries,
        "heads": heads,
        "kv_heads": kv_heads,
        "queries": queries,
        "keys": keys,
        "d_k": d_k,
        "d_v": d_v,
    }


def _words(cases: tuple[Case, ...], meant: Meant) -> str:
    """What `cases.txt` says: pairs of words, a case from its `case` to its `end`."""
    lines: list[str] = []
    for case in cases:
        stem = stem_of(case)
        lines.append(f"case {stem}")
        lines += [f"{name} {size}" for name, size in _sizes(case).items()]
        if layout_of(meant).tokens_first:
            lines.append("tokens_first 1")
        if case.dtype:
            lines.append(f"number_format {case.dtype}")
        for name, value in settings_of(case).items():
            lines += _lines(name, value)
        if case.upstream is not None:
            lines.append(f"{UPSTREAM} {_word(case.upstream)}")
        lines.append(f"end {stem}")
    return "".join(f"{line}\n" for line in lines)


def _lines(name: str, value: Any) -> list[str]:
    """A setting in pairs of words; each key of a mapping has its own, behind a point."""
    if isinstance(value, Mapping):
        return [f"{name}.{key} {_word(each)}" for key, each in value.items()]
    return [f"{name} {_word(value)}"]


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value
    return suffix_for(value) if isinstance(value, np.ndarray) else f"{value:g}"
