"""A row of the results: what came of one submission; and how all of them are checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, repeat, zip_longest
from typing import Any, Literal, NamedTuple

from attncli.cli.classes.summary import plain_marks
from attncli.features.check.many.copies import Written
from attncli.features.check.marks.model import LossReason
from attncli.features.check.verdicts import Verdict
from attncli.marking.scheme import Scheme

# What a row says of a number that is wrong by itself, and that no mistake explains.
SLIP = "a slip"


class Settings(NamedTuple):
    """How all submissions are checked, and in which format each student's page is written, if any.

    `seconds` is how long each of them may take. With a `scheme`, marks are given by that, and
    `decimals` are those that were asked for.
    """

    lenient: bool = False
    steps: tuple[str, ...] | None = None
    marks: int | None = None
    convention: str | None = None
    outside: bool = False
    seconds: float | None = None
    feedback: str | None = None
    math: Literal["fences", "dollars"] = "fences"
    scheme: Scheme | None = None
    decimals: int | None = None


class Example(NamedTuple):
    """A number that a mistake made: in which cell, what was written, and what is right."""

    where: str
    given: str
    right: str

    @property
    def size(self) -> int:
        """How much there is to read."""
        return len(self.given) + len(self.right)


@dataclass(frozen=True, slots=True)
class Marked:
    """What came of one submission: a row of the results.

    `marks` are those of a scheme, if there is one. Else they are the cells that earn a mark, of all
    cells that were asked for; or the share of them, of as many marks as were said. They are None
    where there is an `error`, and `counts` has no verdicts. `mistakes` are pairs of a step and what
    explains its wrong numbers, and `taken_off` are pairs of marks of a scheme and why they are
    lost. `page` is the feedback, if it was asked for, and `feedback` the file that has it. `note`
    is for the teacher alone: whose answers these are like. `written` are the numbers of the
    solution; `examples` has for each of the mistakes the number that is read most quickly, and
    `by_step` how many of the numbers of each step are worth a mark, and of how many. `losses` are
    pairs of a step and why some of its numbers lost their marks; `other_shapes` say which matrices
    have another shape than their step. `named_slips` says of each of the mistakes whether it is a
    slip in a single number that has a name. Tables hold none of these six.
    """

    student: str
    problem: str
    answers: str
    marks: float | None = None
    of: int | None = None
    counts: Mapping[Verdict, int] = field(default_factory=dict)
    first_wrong: str = ""
    mistakes: tuple[tuple[str, str], ...] = ()
    passed: bool = False
    error: str = ""
    more: Mapping[str, str] = field(default_factory=dict)
    page: str | None = field(default=None, compare=False)
    note: str = ""
    feedback: str = ""
    written: tuple[Written, ...] | None = field(default=None, compare=False, repr=False)
    examples: tuple[Example | None, ...] = field(default=(), compare=False, repr=False)
    by_step: Mapping[str, tuple[int, int]] = field(default_factory=dict, compare=False, repr=False)
    taken_off: tuple[tuple[float, str], ...] = ()
    losses: tuple[tuple[str, LossReason], ...] = field(default=(), compare=False, repr=False)
    other_shapes: tuple[str, ...] = field(default=(), compare=False, repr=False)
    named_slips: tuple[bool, ...] = field(default=(), compare=False, repr=False)

    @property
    def is_blank(self) -> bool:
        """Whether there are cells to fill in, and all of them are missing."""
        return 0 < self.counts.get("missing", 0) == sum(self.counts.values())

    @property
    def is_open(self) -> bool:
        """Whether the answers may still come: they could not be read, or are blank, and nobody gave
        marks for them by hand.
        """
        return bool(self.error) or (self.is_blank and not self.marks)

    @property
    def slips(self) -> list[str]:
        """The steps with a single number that is wrong by itself, each once."""
        return [*dict.fromkeys(step for step, _, is_slip in self._told_apart() if is_slip)]

    @property
    def without_slips(self) -> list[tuple[str, str]]:
        """The mistakes that are no slips, each with its step."""
        return [(step, mistake) for step, mistake, is_slip in self._told_apart() if not is_slip]

    def _told_apart(self) -> Iterator[tuple[str, str, bool]]:
        """Each step with its mistake, and whether that is a slip."""
        # Rows of earlier results may not say it.
        have_names = chain(self.named_slips, repeat(False))
        for (step, mistake), has_name in zip(self.mistakes, have_names, strict=False):
            yield step, mistake, has_name or mistake == SLIP

    @property
    def plain_marks(self) -> float | int | None:
        """The marks, without a decimal point if they are a whole number."""
        return plain_marks(self.marks)

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON data."""
        return {
            "student": self.student,
            "problem": self.problem,
            "answers": self.answers,
            "marks": self.plain_marks,
            "of": self.of,
            "counts": dict(self.counts) or None,
            "first_wrong": self.first_wrong or None,
            "mistakes": [*self._mistakes_data()],
            "taken_off": [{"marks": marks, "why": why} for marks, why in self.taken_off],
            "steps": [
                {"step": step, "right_or_carried": right, "of": of}
                for step, (right, of) in self.by_step.items()
            ],
            "passed": self.passed,
            "error": self.error or None,
            "note": self.note or None,
            "feedback": self.feedback or None,
            "more": dict(self.more),
        }

    def _mistakes_data(self) -> Iterator[dict[str, Any]]:
        for (step, mistake, is_slip), example in zip_longest(self._told_apart(), self.examples):
            shown = None if example is None else example._asdict()
            yield {"step": step, "mistake": mistake, "slip": is_slip, "example": shown}
