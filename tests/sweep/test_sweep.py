"""Drawn command lines about drawn problems end as promised, and what is new to the program is drawn by itself.

`run.py` plays more of them, and tells a fault as commands to be pasted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from contextlib import nullcontext
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Annotated, Any

import pytest
import typer
from drawn_lines import ENDLESS, commands, draw_line
from drawn_problems import Drawn, draw_problem, problem_schema
from ends import End
from playing import PROMISES, Broken, Case, Fault

HERE = Path(__file__).parent
DRAWS = 200


@pytest.mark.parametrize("lines", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_drawn_lines_end_as_promised(lines: int) -> None:
    # in a process of its own, which forks for each case and has no threads
    done = subprocess.run(
        [sys.executable, HERE / "run.py", "--seed=2026", f"--lines={lines}", "--shrink=0"],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def drawn_problems(schema: Any = None) -> list[Drawn]:
    return [draw_problem(Random(seed), schema) for seed in range(DRAWS)]


def test_every_key_of_the_schema_is_drawn() -> None:
    drawn = Counter(key for each in drawn_problems() for key in each.data)
    assert not {*problem_schema()["properties"]}.difference(drawn)


def test_a_key_and_a_word_that_are_new_to_the_schema_are_drawn() -> None:
    schema: Any = deepcopy(problem_schema())
    schema["properties"]["score"]["enum"].append("cosine")
    schema["properties"]["temperature"] = {"type": "number", "exclusiveMinimum": 0}
    drawn = drawn_problems(schema)
    assert "cosine" in [each.data.get("score") for each in drawn]
    assert any("temperature" in each.data for each in drawn)


def test_every_command_and_option_is_drawn() -> None:
    drawn = {argument for line in drawn_lines(commands()) for argument in options(line)}
    known = {(name, *spelled) for name, each in commands().items() for spelled in spellings(each)}
    lacking = {pair for pair in known if not {(pair[0], option) for option in pair[1:]} & drawn}
    assert not lacking


def test_an_option_and_a_word_that_are_new_to_the_application_are_drawn() -> None:
    application = typer.Typer()

    @application.command()
    def paint(
        colour: Annotated[str, typer.Option(metavar="red|green")] = "red",
        size: Annotated[int, typer.Option(min=3, max=5)] = 3,
    ) -> None: ...

    lines = drawn_lines({"paint": typer.main.get_command(application)})
    found = " ".join(argument for line in lines for argument in line)
    assert "red" in found
    assert "green" in found
    assert "--size=5" in found


def test_most_drawn_problems_are_right(tmp_path: Path) -> None:
    from drawn_problems import array_file

    import attncli
    from attncli.errors import AttncliError

    right = 0
    for drawn in drawn_problems():
        (tmp_path / "problem.json").write_text(json.dumps(drawn.data))
        for name, arrays in drawn.arrays.items():
            (tmp_path / name).write_bytes(array_file(name, arrays))
        try:
            attncli.load(tmp_path / "problem.json")
        except AttncliError:
            continue
        right += 1
    assert 0.7 * DRAWS < right < DRAWS


def test_a_fault_is_told_as_commands_to_be_pasted() -> None:
    from run import told

    text = told(
        Case({"problem.yaml": "Q: [[1]]\n"}, {}, [["compute", "problem.yaml"]], "ends well"), Fault("kind", "seen")
    )
    assert "cat > problem.yaml <<'END'\nQ: [[1]]\nEND\nattncli compute problem.yaml\n" in text


@pytest.mark.parametrize(("shown", "same"), [("60509219279.20", True), ("60509219279.21", False), ("1.20", False)])
def test_a_large_number_is_compared_as_pages_round_it(shown: str, same: bool) -> None:
    """60509219279.19496 is 60509219279.1950 in 15 digits, which is .20 half up."""
    steps = {"exp": {"inputs": ["scores"], "value": [[60509219279.19496]]}}
    ends = [End(0, json.dumps({"steps": steps}), ""), *[End(0, f"t1 [ {shown} ]", "")] * 4]
    with nullcontext() if same else pytest.raises(Broken):
        PROMISES["same numbers"].holds([], ends)


def drawn_lines(known: dict[str, Any]) -> list[list[str]]:
    problem = Drawn({"tokens": ["a", "b"]}, lengths={"i": 2, "j": 2})
    return [draw_line(Random(seed), "problem.yaml", problem, known) for seed in range(12 * DRAWS)]


def options(line: list[str]) -> list[tuple[str, str]]:
    return [(line[0], argument.partition("=")[0]) for argument in line[1:] if argument.startswith("-")]


def spellings(command: Any) -> list[tuple[str, ...]]:
    options = (tuple(each.opts) for each in command.params if each.opts[0].startswith("-"))
    return [each for each in options if ENDLESS not in each]
