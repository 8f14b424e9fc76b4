"""Drawn command lines end as promised, write what they should, and what is new to the program is
drawn by itself.

`tests/tools/sweep/run.py` plays more of them, and tells a fault as commands to be pasted.
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

from tests.cases import in_one_test
from tests.tools.fuzz.ends import End, end_of
from tests.tools.sweep.documented import documented_lines
from tests.tools.sweep.drawn_files import (
    MANIFEST,
    MANIFEST_OF_FUNCTIONS,
    OTHER,
    ROSTER,
    SCHEME,
    draw_file,
)
from tests.tools.sweep.drawn_lines import ENDLESS, READ, _range, _Values, commands, draw_line
from tests.tools.sweep.drawn_problems import Drawn, draw_problem, problem_schema
from tests.tools.sweep.mended_lines import mended
from tests.tools.sweep.playing import PROMISES, Broken, Case, Fault, case
from tests.tools.sweep.written_files import (
    WRITES,
    Contents,
    Unwritten,
    asked_files,
    check_files,
    contents,
)

RUN = Path(__file__).parents[1] / "tools" / "sweep" / "run.py"
DRAWS = 200


@pytest.mark.long
@pytest.mark.parametrize("lines", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_drawn_lines_end_as_promised(lines: int) -> None:
    # in a process of its own, which forks for each case and has no threads
    done = subprocess.run(
        [sys.executable, RUN, "--seed=2026", f"--lines={lines}", "--shrink=0"],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_command_is_played_however_few_lines_are_asked_for() -> None:
    first = [case(7, number) for number in range(len(commands()))]
    assert [each.lines[-1][0] for each in first] == [*commands()]


def drawn_problems(schema: Any = None) -> list[Drawn]:
    return [draw_problem(Random(seed), schema) for seed in range(DRAWS)]


@pytest.mark.long
def test_every_key_of_the_schema_is_drawn() -> None:
    drawn = Counter(key for each in drawn_problems() for key in each.data)
    assert not {*problem_schema()["properties"]}.difference(drawn)


@pytest.mark.long
def test_a_key_and_a_word_that_are_new_to_the_schema_are_drawn() -> None:
    schema: Any = deepcopy(problem_schema())
    schema["properties"]["score"]["enum"].append("cosine")
    schema["properties"]["temperature"] = {"type": "number", "exclusiveMinimum": 0}
    drawn = drawn_problems(schema)
    assert "cosine" in [each.data.get("score") for each in drawn]
    assert any("temperature" in each.data for each in drawn)


@pytest.mark.long
def test_every_command_and_option_is_drawn() -> None:
    drawn = set()
    for name in commands():
        # One that takes long is drawn rarely.
        for line in drawn_lines(commands(), name, DRAWS):
            drawn.update(options(line))
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


def test_every_kind_of_value_has_values_of_its_own() -> None:
    """An option of a kind that is not known would be drawn, and hardly ever serve."""
    values = _Values(Random(0), "compute", "problem.yaml", Drawn({}))
    lacking = set()
    for name, command in commands().items():
        for each in command.params:
            kind = each.metavar or ""
            words = kind.split("|")
            known = each.opts[0].startswith("-") and (
                getattr(each, "is_flag", False) or kind == "FILE"
            )
            known = known or len(words) > 1 or _range(each) is not None
            if not known and kind not in values.by_kind:
                lacking.add((name, each.opts[-1], kind))
    assert not lacking


def test_every_command_has_documented_lines() -> None:
    lines = {name: documented_lines(command, name) for name, command in commands().items()}
    assert all(lines.values())
    together = {frozenset(line.options) for line in lines["generate"]}
    assert any({"--seed", "--roster", "-d"} <= each for each in together)
    assert any(line.options.get("--category") == "Week 3" for line in lines["export"])
    assert ["i_love_ai"] in [line.arguments for line in lines["example"]]


@pytest.mark.long
def test_drawn_lines_often_have_what_a_documented_one_has() -> None:
    """Each of these options alone is an error."""
    lines = [line for line in drawn_lines(commands()) if line[:1] == ["generate"]]
    seeds = [line for line in lines if any(word.startswith("--seed") for word in line)]
    sets = [
        line for line in seeds if {"-d", "--directory"} & {word.partition("=")[0] for word in line}
    ]
    assert len(sets) > len(lines) / 3


@in_one_test(
    ("line", "error", "better"),
    [
        ("generate --audit p.yaml -d set", "--audit cannot be used with -d", "generate -d set"),
        ("generate --audit=p.yaml -d set", "--audit cannot be used with -d", "generate -d set"),
        (
            "generate --ascii -d set",
            "--ascii cannot be used with a set of problems",
            "generate -d set",
        ),
        ("check --directory . p.yaml", "-d cannot be used without --batch", "check p.yaml"),
        (
            "generate -d set --count 1",
            "--seed is missing",
            "generate -d set --count 1 --seed midterm",
        ),
        (
            "generate --seed s -d set",
            "--count or --roster is missing",
            "generate --seed s -d set --count 1",
        ),
        ("compute p.yaml --ascii", "p.yaml:1:1: Q: is missing", None),
        ("computer --ascii", "--ascii cannot be used with --all", None),
    ],
)
def test_a_line_that_is_refused_is_mended(line: str, error: str, better: str | None) -> None:
    expected = None if better is None else better.split()
    assert mended(line.split(), f"attncli: error: {error}\nhelp: …\n") == expected


@pytest.mark.parametrize("name", [ROSTER, MANIFEST, MANIFEST_OF_FUNCTIONS, SCHEME, OTHER])
def test_files_beside_the_problem_are_drawn_in_many_ways(name: str) -> None:
    texts = {
        draw_file(Random(seed), name, "problem.yaml", Drawn({"Q": [[1]]}))[0] for seed in range(50)
    }
    assert len(texts) > 10


def written(
    folder: Path, *words: str, before: Contents | None = None, end: End | None = None
) -> None:
    """Hold the files of a folder against those that a line was asked for."""
    check_files([*words], end or End(0, "", ""), before or {}, contents(folder))


@pytest.mark.parametrize(
    ("files", "line", "message"),
    [
        ({}, ["new", "-o", "written.yaml"], "writes nothing for --output"),
        ({"other.md": "x"}, ["compute", "p.yaml"], "writes what was not asked for"),
        (
            {"written.md": "x", "more.svg": "<svg/>"},
            ["compute", "p.yaml", "-o", "written.md"],
            "writes what was not",
        ),
        (
            {"written.md": ""},
            ["compute", "p.yaml", "-o", "written.md"],
            "writes a .md that cannot be read",
        ),
        (
            {"written.json": "{"},
            ["compute", "p.yaml", "-o", "written.json"],
            "writes a .json that cannot be read",
        ),
        (
            {"written.json": "NaN"},
            ["compute", "p.yaml", "-o", "written.json"],
            "writes a .json that cannot be read",
        ),
        (
            {"written.svg": "<svg>"},
            ["picture", "p.yaml", "-o", "written.svg"],
            "writes a .svg that cannot be read",
        ),
        (
            {"written.xlsx": "PK"},
            ["compute", "p.yaml", "-o", "written.xlsx"],
            "writes a .xlsx that cannot be read",
        ),
        (
            {"written.tex": "\\begin{a}"},
            ["compute", "p.yaml", "-o", "written.tex"],
            "writes a .tex that cannot be read",
        ),
        (
            {"written.csv": "1,2\n3\n"},
            ["compute", "p.yaml", "-o", "written.csv"],
            "writes a .csv that cannot be read",
        ),
        (
            {"written.yaml": "Q: ["},
            ["new", "--random", "-o", "written.yaml"],
            "compute does not read what it writes",
        ),
    ],
)
def test_what_is_not_written_as_asked_for_is_a_fault(
    files: dict[str, str],
    line: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        Path(name).write_text(text)
    with pytest.raises(Unwritten, match=message):
        written(tmp_path, *line)


def test_the_page_of_recorded_calls_is_no_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("page.yaml").write_text("# Recorded calls\n")
    written(tmp_path, "record", "model", "--format=markdown", "-o", "page.yaml")
    with pytest.raises(Unwritten, match="compute does not read what it writes"):
        written(tmp_path, "record", "model", "--layer=0", "-o", "page.yaml")


def test_a_line_may_say_that_there_was_nothing_to_write(tmp_path: Path) -> None:
    line = ["test", "mine.py:attention", "-o", "written.yaml"]
    written(tmp_path, *line, end=End(0, "", "no case differs, so written.yaml was not written"))
    with pytest.raises(Unwritten, match="writes nothing for --output"):
        written(tmp_path, *line, end=End(0, "", "no case differs, so other.yaml was not written"))


@pytest.mark.long
def test_no_line_that_writes_is_run_again() -> None:
    """A folder or a file that the first one has written is there when it is run again."""
    draw = PROMISES["again"].lines
    lines = [draw(Random(seed), "problem.yaml", Drawn({}))[0] for seed in range(10 * DRAWS)]
    assert any(line[0] == "test" for line in lines if line)
    assert not [line for line in lines if asked_files(line)]


def test_a_file_that_is_lost_and_one_that_an_error_leaves_are_faults(tmp_path: Path) -> None:
    with pytest.raises(Unwritten, match="loses a file"):
        written(tmp_path, "compute", before={"problem.yaml": b"Q: [[1]]"})
    (tmp_path / "written.md").write_text("half")
    with pytest.raises(Unwritten, match="an error leaves a file"):
        written(tmp_path, "compute", "p.yaml", "-o", "written.md", end=End(3, "", "attncli: error"))


def test_every_option_that_names_what_is_written_is_known() -> None:
    """A new one is added to `WRITES` or to `READ`; else what it writes is something that nobody
    asked for.
    """
    kinds = ("FILE", "FOLDER", "DIR")
    options = {
        f"{name} {each.opts[-1]}"
        for name, command in commands().items()
        for each in command.params
        if each.metavar in kinds and each.opts[0].startswith("-")
    }
    known = {option for option in options if option in WRITES or option.partition(" ")[2] in WRITES}
    assert options - known == {*READ}


@pytest.mark.long
def test_the_sets_of_generate_are_read_by_the_commands_that_read_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["generate", "--seed", "s", "--count", "1", "-d", "folder"]
    end = end_of(line)
    written(tmp_path, *line, end=end)
    key = Path("folder/keys/student-01.md")
    key.write_text(key.read_text().replace("0.", "9."))
    with pytest.raises(Unwritten, match="check does not read what it writes: exit 1"):
        written(tmp_path, *line, end=end)


@pytest.mark.long
def test_most_drawn_problems_are_right(tmp_path: Path) -> None:
    import attncli
    from attncli.errors import AttncliError
    from tests.tools.sweep.drawn_problems import array_file

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
    from tests.tools.sweep.run import told

    text = told(
        Case({"problem.yaml": "Q: [[1]]\n"}, {}, [["compute", "problem.yaml"]], "ends well"),
        Fault("kind", "seen"),
    )
    assert "cat > problem.yaml <<'END'\nQ: [[1]]\nEND\nattncli compute problem.yaml\n" in text


@pytest.mark.parametrize(
    ("shown", "same"), [("60509219279.20", True), ("60509219279.21", False), ("1.20", False)]
)
def test_a_large_number_is_compared_as_pages_round_it(shown: str, same: bool) -> None:
    """60509219279.19496 is 60509219279.1950 in 15 digits, which is .20 half up."""
    steps = {"exp": {"inputs": ["scores"], "value": [[60509219279.19496]]}}
    ends = [End(0, json.dumps({"steps": steps}), ""), *[End(0, f"t1 [ {shown} ]", "")] * 4]
    with nullcontext() if same else pytest.raises(Broken):
        PROMISES["same numbers"].holds([], ends)


def drawn_lines(
    known: dict[str, Any], called: str | None = None, many: int = 12 * DRAWS
) -> list[list[str]]:
    problem = Drawn({"tokens": ["a", "b"]}, lengths={"i": 2, "j": 2})
    return [draw_line(Random(seed), "problem.yaml", problem, known, called) for seed in range(many)]


def options(line: list[str]) -> list[tuple[str, str]]:
    return [
        (line[0], argument.partition("=")[0]) for argument in line[1:] if argument.startswith("-")
    ]


def spellings(command: Any) -> list[tuple[str, ...]]:
    options = (tuple(each.opts) for each in command.params if each.opts[0].startswith("-"))
    return [each for each in options if ENDLESS not in each]
