"""Matrices that have another shape than their step, which bring no marks, in words and as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attncli.answers.model import OtherShape
from attncli.cli.classes.summary import MOST_STUDENTS_NAMED
from attncli.english import count, listed


def brings_no_marks(other: OtherShape) -> str:
    """output is 4×3, but must be 4×5: it brings no marks."""
    return f"{other.in_words}: it brings no marks"


def other_shapes_in_words(of_students: Mapping[str, Sequence[str]]) -> list[str]:
    """A warning for the teacher that says whose matrices have another shape, and which; none where
    there are none.
    """
    said = [f"{student} ({listed(others)})" for student, others in of_students.items() if others]
    if not said:
        return []
    students = count(len(said), "student")
    return [
        f"{students} wrote matrices of another shape than their step, which bring no marks:"
        f" {listed(said, most=MOST_STUDENTS_NAMED)}"
    ]


def other_shapes_data(others: Sequence[OtherShape]) -> list[dict[str, Any]]:
    """The same for programs, with the shapes as lists."""
    return [
        {
            "step": other.step,
            "index": [*other.place],
            "shape": [*other.shape],
            "needs": [*other.needs],
            "said": brings_no_marks(other),
        }
        for other in others
    ]
