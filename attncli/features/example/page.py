"""The page of `attncli example`: every problem and solution that comes with the package, with one
line on each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from attncli.features.example.collection import about, problems, solutions, with_equations
from attncli.page.document import Document, Heading, Paragraph, Table

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def list_of_examples() -> Document:
    """Three tables: the problems by name, those with equations of their own, and the solutions of
    some of them.
    """
    blocks = (
        Paragraph(
            (
                (
                    "attncli example NAME prints one of these problems; with -o my.yaml it writes a"
                    " file."
                ),
            )
        ),
        _table(problems()),
        Heading("Equations of your own"),
        Paragraph(("Steps of these problems are equations in the file, which you can change.",)),
        _table(with_equations()),
        Heading("Solutions to check"),
        Paragraph(
            ("attncli check my.yaml answers.yaml judges a solution of the problem in my.yaml.",)
        ),
        _table(solutions()),
    )
    return Document("Examples", blocks, dict)


def _table(files: Mapping[str, Traversable]) -> Table:
    return Table(
        ("name", "what it is about"),
        tuple(((name,), (about(file),)) for name, file in files.items()),
    )
