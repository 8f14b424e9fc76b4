"""Runs one command line in this process, and holds its end against what is promised: its code, the
shape of errors.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Collection
from dataclasses import dataclass
from unittest.mock import patch

from attncli.cli.main import run


@dataclass(frozen=True, slots=True)
class End:
    """How a command ended."""

    code: int
    out: str
    err: str


def end_of(arguments: list[str], standard_input: bytes = b"") -> End:
    """The end of `attncli ARGUMENTS`; what is raised in it, and should not be, is on its standard
    error.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in "oe")
    stdin = io.TextIOWrapper(io.BytesIO(standard_input))
    with (
        patch.object(sys, "stdout", out),
        patch.object(sys, "stderr", err),
        patch.object(sys, "stdin", stdin),
        patch.dict(os.environ, {"ATTNCLI_TRACEBACK": "1"}),
    ):
        code = run(arguments)
        out.flush()
        err.flush()
    # A picture or a workbook on standard output is not text.
    return End(
        code, *(stream.buffer.getvalue().decode(errors="backslashreplace") for stream in (out, err))
    )  # type: ignore[attr-defined]


def check_end(end: End, codes: Collection[int]) -> End:
    """Raises AssertionError where an end is none of these, or not told as promised."""
    assert end.code in codes, f"exit code {end.code}\n{end.err}"
    assert "Traceback" not in end.err, end.err
    lines = end.err.splitlines()
    if end.code > 1:
        told = [line for line in lines if not line.startswith("attncli: warning: ")]
        assert end.out == "", "an error, and yet something on standard output"
        assert told, "an error without a word"
        assert told[0].startswith("attncli: error: "), end.err
        errors = [line for line in told if line.startswith("attncli: error: ")]
        assert len([line for line in told if line.startswith("help: ")]) == len(errors), end.err
        assert all(len(line) < 2000 for line in lines), "a line of an error is endless"
    else:
        assert all(line.startswith("attncli: warning: ") for line in lines), end.err
    return end
