"""The page of a class: what to teach again, how each step went, and a table that sorts."""

from __future__ import annotations

from attncli.features.check.many.class_page import class_page
from attncli.features.check.many.result_row import Example, Marked
from attncli.render import Style, render

UNSCALED = ("scaled", "the scores were not scaled")
COUNTS = {"right": 1, "carried": 0, "rounding": 0, "wrong": 1, "missing": 0}
LONG_NAME = "Ada Augusta King, Countess of Lovelace"[:36]


def row(student: str, marks: float, right: int, example: Example | None = None) -> Marked:
    mistakes = (UNSCALED,) if example else ()
    return Marked(
        student,
        "p.yaml",
        f"{student}.yaml",
        marks=marks,
        of=10,
        counts=COUNTS,
        mistakes=mistakes,
        examples=(example,) if example else (),
        by_step={"scaled": (right, 4), "output": (4, 4)},
    )


ROWS = [
    row("Ben", 9.5, 4),
    row("Cy", 10, 1, Example("t1", "2.83", "2.000")),
    row(LONG_NAME, 2, 1, Example("t2", "1", "0.707")),
    row("Dai 10", 8, 2),
    row("Dai 9", 8, 2),
]


def test_the_smallest_example_is_shown() -> None:
    page = " ".join(render(class_page(ROWS), "table", Style()).split())
    said = f"2 students: scaled: the scores were not scaled. To show, {LONG_NAME}, t2: 1, where"
    assert said in page
    assert "Also Cy." in page
    data = class_page(ROWS).data()
    [mistake] = data["summary"]["mistakes"]
    assert mistake["example"] == {
        "student": LONG_NAME,
        "where": "t2",
        "given": "1",
        "right": "0.707",
    }


def test_each_step_has_a_bar() -> None:
    """10 of 20 is half of a bar of sixteen."""
    lines = render(class_page(ROWS), "table", Style()).splitlines()
    bars = {line.split()[0]: line.count("█") for line in lines if "█" in line}
    assert bars == {"scaled": 8, "output": 16}
    steps = class_page(ROWS).data()["summary"]["steps"]
    assert steps[0] == {"step": "scaled", "right_or_carried": 10, "of": 20}


def test_a_name_is_on_one_line() -> None:
    page = render(class_page(ROWS), "table", Style(width=80))
    assert any(line.strip().startswith(LONG_NAME) for line in page.splitlines())
    assert all(len(line) <= 80 for line in page.splitlines())
