"""A row of the results: what came of one function; and how all of them are tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from attncli.cli.classes.summary import plain_marks
from attncli.features.test.points import Scheme

# How cases end, as they are counted.
ENDS = ("same", "differs", "failed")


class TestSettings(NamedTuple):
    """How all functions are tested, and in which format each student's page is written, if any.

    `expression` is how they are called, `convention` what is meant, `required` the settings that
    each has to take, and `seconds` how long a call may be. `weights` are the names of the weights
    of layers. With `gradient`, gradients are judged, too.
    """

    expression: str = ""
    convention: str | None = None
    weights: Mapping[str, str] | None = None
    seconds: float = 5
    gradient: bool = False
    required: tuple[str, ...] = ()
    scheme: Scheme = Scheme()
    feedback: str | None = None
    precision: int = 3


@dataclass(frozen=True, slots=True)
class Tested:
    """What came of one function: a row of the results.

    `marks` and `of` are what `earned` says. They are None where there is an `error`, and `counts`
    is empty. `first_wrong` is the first case that differs or fails, and `first_error` why the first
    that fails does so. `remarks` are sentences about how it behaves, and `page` is the feedback, if
    it was asked for.
    """

    student: str
    function: str
    marks: float | None = None
    of: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    first_wrong: str = ""
    first_error: str = ""
    mistakes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    passed: bool = False
    error: str = ""
    more: Mapping[str, str] = field(default_factory=dict)
    page: str | None = field(default=None, compare=False)

    @property
    def share(self) -> float:
        """The share of the marks, from 0 to 1."""
        return (self.marks or 0) / max(self.of or 0, 1)

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON data."""
        return {
            "student": self.student,
            "function": self.function,
            "marks": plain_marks(self.marks),
            "of": self.of,
            "counts": dict(self.counts) or None,
            "first_wrong": self.first_wrong or None,
            "first_error": self.first_error or None,
            "mistakes": list(self.mistakes),
            "remarks": list(self.remarks),
            "passed": self.passed,
            "error": self.error or None,
            "more": dict(self.more),
        }
