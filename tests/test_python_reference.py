"""The reference of Python and the package say the same: each name, argument and default that the
page has is there, and each public name of what a program holds is on the page.

The page is read as it is written: tables whose first column is called `name`. Its first cell names
what a row is of: names, calls with their arguments, or expressions. The names in its second cell
are those of the value, of what is in the value, of arguments, or words of a problem.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import attncli
import attncli.testing
from attncli import features
from attncli.attention.registry import STEP_NAMES
from attncli.cli.main import run as command
from attncli.dtypes import DETAILS, DEVICES, DTYPES, ROUNDINGS
from attncli.equation import exact
from attncli.equation.indices import INDICES
from attncli.page.pictures import KINDS
from attncli.problem.keys import KEYS
from attncli.problem.parts.conventions import CONVENTIONS
from tests.cases import in_one_test

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
LOVE = ROOT / "inputs" / "i_love_ai.yaml"
# what second cells name besides: words of problems and of options, axes, and texts of files
MARKING = {"marks": 4, "steps": {"scaled": 2, "weights": 2}, "mistake": 1}
WORDS = {
    *STEP_NAMES,
    *KEYS,
    *CONVENTIONS,
    *KINDS,
    *DETAILS,
    *DEVICES,
    *DTYPES,
    *ROUNDINGS,
    *vars(builtins),
    *INDICES,
    *(index.axis for index in INDICES.values()),
    "entry",
    "row",
    "past_K",
    "past_V",
    "inf",
    "h0",
    "d1",
    "none",
    "causal",
    "added",
    "true",
    "false",
    "Fraction",
    "Decimal",
    "concurrent",
    # what others call their functions and parameters
    "torch",
    "from_numpy",
    "enable_gqa",
    "futures",
    "Executor",
    # fields of the JSON of pages
    "reading",
    "worked",
    "cell",
}


class Row(NamedTuple):
    """A row of a table: the section it stands in, the code in its first cell, and that in its
    second.
    """

    section: str
    names: tuple[str, ...]
    description: tuple[str, ...]


def code(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([^`]+)`", text.replace("\\|", "|")))


def rows() -> Iterator[Row]:
    section, named = "", False
    for line in PAGE.splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 2:
            named = False
        elif cells[0] in ("name", "---"):
            named = named or cells[0] == "name"
        elif named:
            yield Row(section, code(cells[0]), code(cells[1]))


ROWS = list(rows())


@pytest.fixture(scope="module")
def call() -> Any:
    """A recorded call of PyTorch, with a batch of one entry and two heads."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed", exc_type=ImportError)
    from attncli.torch import recording

    numbers = torch.arange(12.0).reshape(1, 2, 3, 2)
    with recording() as calls:
        torch.nn.functional.scaled_dot_product_attention(numbers, numbers, numbers)
    return SimpleNamespace(Call=calls[0], Calls=calls, recording=recording)


@pytest.fixture(scope="module")
def held(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What each section of the page is about."""
    trace = attncli.trace(LOVE, rounding="exact")
    wrong = [["0.33", "1.67", "1.00"], [1, 1, 1], ["0.67", "1.33", "1.00"]]
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.load(ROOT / "tests" / "test_api.py")
    return {
        "Functions": attncli,
        "Problem": attncli.load(ROOT / "inputs" / "gemma2_softcap.yaml"),
        "Trace": trace,
        "Picture": trace.picture(),
        "Step": trace.steps["weights"],
        "Checked": attncli.check(LOVE, {"scaled": wrong}, marking=MARKING),
        "Compared": attncli.compare(LOVE, {"scaled": trace["scores"]}),
        "attncli.testing": attncli.testing,
        "ExactNumber": exact,
        "AttncliError": caught.value,
    }


def of(section: str, held: Mapping[str, Any], request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue("call") if section == "attncli.torch" else held[section]


def scope(thing: Any, held: Mapping[str, Any]) -> dict[str, Any]:
    """What the expressions of the page read."""
    return {
        "trace": held["Trace"],
        "Trace": attncli.Trace,
        "a": Fraction(1, 3),
        "b": exact.read_exact("sqrt(2)"),
    }


def found(thing: Any, name: str, held: Mapping[str, Any]) -> Any:
    """What a first cell names: an attribute of the section's thing, a call of one, or an
    expression.
    """
    path = name.partition("(")[0]
    if re.fullmatch(r"[\w.]+", path) and (path == name or "(" in name) and path not in ("len",):
        at = attncli.Trace if path.startswith("Trace.") else thing
        for part in path.removeprefix("Trace.").split("."):
            at = getattr(at, part)
        return at
    source = f"{name}: pass" if name.startswith("for ") else name
    # an error of its own says what is not there
    exec(compile(source, "<page>", "exec"), scope(thing, held))
    return None


def whole_names(row: Row) -> list[str]:
    """The names of a first cell; after `Call.number`, `step` is `Call.step`."""
    prefix = row.names[0].partition(".")[0] + "." if re.match(r"Call\.", row.names[0]) else ""
    return [name if name.startswith(prefix) else prefix + name for name in row.names]


IDS = [", ".join(row.names)[:60] for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_what_a_row_names_is_there(
    row: Row, held: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    thing = of(row.section, held, request)
    for name in whole_names(row):
        found(thing, name, held)


def signature(function: Any, called: str) -> str:
    """A call as the page has it: arguments with their defaults, and no types."""
    parameters = inspect.signature(function).parameters.values()
    plain = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in parameters
        if each.name != "self"
    ]
    text = str(inspect.Signature(plain))
    return f"{called}{text}".replace("'", '"')


CALLS = [
    (row, name) for row in ROWS for name in whole_names(row) if re.fullmatch(r"[\w.]+\(.*\)", name)
]


@pytest.mark.parametrize(
    ("row", "name"),
    [case for case in CALLS if "len(" not in case[1]],
    ids=lambda case: str(case)[:60],
)
def test_arguments_and_their_defaults(
    row: Row, name: str, held: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    called = name.partition("(")[0]
    # the page lists the options of a problem of a call, which are those of its keys
    function = found(
        of(row.section, held, request), {"Call.problem": "Call.keys"}.get(called, name), held
    )
    assert name.replace("2**30", str(2**30)) == signature(function, called)


# --- what the second cells say


def inside(value: Any) -> Iterator[Any]:
    """A value and what is in it: the first value of a mapping, the first item of a list or of an
    array of objects.
    """
    yield value
    if isinstance(value, Mapping) and value:
        yield from inside(next(iter(value.values())))
    elif isinstance(value, Sequence) and not isinstance(value, str) and len(value):
        yield from inside(value[0])
    elif isinstance(value, np.ndarray) and value.dtype == object:
        yield value.flat[0]


def results(name: str, held: Mapping[str, Any], call: Any) -> Any:
    """What a function of the page gives back."""
    made = {
        "load": lambda: held["Problem"],
        "problem": lambda: held["Problem"],
        "problems": lambda: attncli.problems("a", separate=False),
        "trace": lambda: held["Trace"],
        "at": lambda: held["Trace"],
        "check": lambda: held["Checked"],
        "compare": lambda: held["Compared"],
        "check_many": lambda: attncli.check_many(
            [("Ada", LOVE, {"scores": [[1, 5, 3], [3, 3, 3], [2, 4, 3]]})]
        ),
        "mistakes": lambda: attncli.mistakes(),
        "picture": lambda: held["Picture"],
        "page": lambda: held["Trace"].page(),
        "recording": lambda: call.Calls,
        "Call.problem": lambda: call.Call.problem(),
        "Call.check": lambda: call.Call.check(),
        "Call.trace": lambda: call.Call.trace(),
        "cases": lambda: attncli.testing.cases(),
    }
    path = name.partition("(")[0]
    return made[path]() if path in made else None


def known_names(row: Row, held: Mapping[str, Any], thing: Any, call: Any) -> set[str]:
    """The names that a second cell may have."""
    values: list[Any] = [
        thing,
        *(vars(thing).values() if isinstance(thing, SimpleNamespace) else ()),
    ]
    known = {*WORDS, *attncli.__all__, *exact.__all__, *held["Trace"].parameters, "a", "b"}
    for name in whole_names(row):
        value = found(thing, name, held)
        known |= {*re.findall(r"\w+", name)}
        if callable(value) and not isinstance(value, type):
            known |= {*inspect.signature(value).parameters}
            value = results(name, held, call)
        values += inside(value)
    attributes = {name for span in row.description for name in re.findall(r"[A-Za-z_]\w*", span)}
    for value in values:  # which grows: what an attribute holds has names of its own
        named = [
            getattr(value, name)
            for name in attributes
            if hasattr(value, name) and not inspect.ismodule(value)
        ]
        values += [
            each
            for one in named
            if not callable(one)
            for each in inside(one)
            if not is_among(each, values)
        ]
    own = {name for value in values for name in attributes if hasattr(value, name)}
    return known | own | {type(value).__name__ for value in values}


def is_among(value: Any, values: Sequence[Any]) -> bool:
    return isinstance(value, str | int | float) or any(value is each for each in values)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_what_a_row_says_of_other_names(
    row: Row, held: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    thing = of(row.section, held, request)
    call = thing if row.section == "attncli.torch" else None
    known = known_names(row, held, thing, call) | parameters_of_functions()
    said = [name for span in row.description for name in names_in(span)]
    assert [name for name in said if name not in known] == []


def names_in(span: str) -> list[str]:
    """The names in a piece of Python: a and b of a.b(c=1); none in texts, suffixes and commands."""
    if re.match(r"[.\"']|attncli |pip ", span) or "…" in span.replace("(Q=…, K=…, V=…)", ""):
        return []
    try:
        tree = ast.parse(span.replace("…", "0"))
    except SyntaxError:
        return re.findall(r"[A-Za-z_]\w*", span)
    nodes = list(ast.walk(tree))
    found = [node.id for node in nodes if isinstance(node, ast.Name)]
    found += [node.attr for node in nodes if isinstance(node, ast.Attribute)]
    return found + [node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg]


def parameters_of_functions() -> set[str]:
    functions = (
        getattr(attncli, name)
        for name in (
            "load",
            "problem",
            "problems",
            "trace",
            "check",
            "check_many",
            "compare",
            "save",
        )
    )
    return {name for function in functions for name in inspect.signature(function).parameters}


# --- the command line and Python


def described_options() -> dict[str, str]:
    """What the page says of each option of the command line."""
    text = PAGE.split("\n## What the command line has\n")[1].split("\n## ")[0]
    lines = [re.split(r"(?<!\\)\|", line) for line in text.splitlines() if line.startswith("| `-")]
    return {option: line[2] for line in lines for option in code(line[1])}


def test_every_command_and_option_has_a_word_on_python(capsys: pytest.CaptureFixture[str]) -> None:
    commands = [module.name for module in iter_modules(features.__path__)]
    assert {*commands} - named_in("What the command line has") == set()
    options = set()
    for name in ("compute", "gradient", "check", "compare", "picture"):
        assert command([name, "--help"]) == 0
        help = capsys.readouterr().out.partition("\n\n")[2]
        options |= {*re.findall(r"^  (?:-\w, )?(--[a-z-]+)", help, re.MULTILINE)} - {"--help"}
    assert options - {*described_options()} == set()
    assert {option for option in described_options() if option.startswith("--")} - options == set()


@in_one_test("option", described_options())
def test_the_counterpart_of_an_option_is_there(option: str, held: dict[str, Any]) -> None:
    """Calls have these arguments, and names stand in the package, in a trace or in what a class
    needs.
    """
    trace, others = (
        held["Trace"],
        {"problem", "answers", "other", "jobs", "executor", "numpy", "save", "savetxt", "trace"},
    )
    known = {*attncli.__all__, *public(trace), *others, *parameters_of_functions()}
    for span in code(described_options()[option]):
        for call in (node for node in ast.walk(ast.parse(span)) if isinstance(node, ast.Call)):
            of = trace if isinstance(call.func, ast.Attribute) else attncli
            name = ast.unparse(call.func).removeprefix("trace.")
            given = {each.arg: None for each in call.keywords if each.arg}
            # raises TypeError for an argument that there is not
            inspect.signature(getattr(of, name)).bind(*call.args, **given)
            known |= {*given}
        assert [name for name in names_in(span) if name not in known] == []


@pytest.mark.parametrize("name", ["to_markdown", "to_latex", "to_html", "page"])
def test_pages_have_the_arguments_that_the_table_says(name: str) -> None:
    given = {*inspect.signature(getattr(attncli.Trace, name)).parameters}
    assert {"detail", "precision", "heatmap", "pictures"} <= given
    own = {"to_markdown": "math", "to_latex": "fragment", "to_html": "fragment", "page": "static"}
    assert own[name] in given


# --- and the other way round


def public(thing: Any, without: type = object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")} - {*dir(without)}


def named_in(section: str) -> set[str]:
    """All names in the tables of a section, in both columns, and in its text."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return {name for span in code(text) for name in re.findall(r"[A-Za-z_]\w*", span)}


@in_one_test(
    "file", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda file: file.name
)
def test_every_row_of_a_table_stands_under_a_header(file: Path) -> None:
    """A blank line ends a table: the rows after it would be text."""
    text = re.sub(
        r"^```.*?^```$", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert [
        table[:80]
        for table in tables
        if not re.fullmatch(r"[|\s:-]+", f"{table}\n".split("\n")[1] or "x")
    ] == []


def test_every_name_of_the_package_is_on_the_page() -> None:
    sections = {*re.findall(r"^## ([\w.]+)$", PAGE, re.MULTILINE)}
    assert {*attncli.__all__} - named_in("Functions") - sections == set()


@in_one_test("section", ["Problem", "Trace", "Picture", "Step", "Checked", "Compared"])
def test_every_public_name_of_a_thing_is_on_the_page(section: str, held: dict[str, Any]) -> None:
    assert public(held[section]) - named_in(section) == set()


def test_every_public_name_of_an_error_is_on_the_page(held: dict[str, Any]) -> None:
    assert public(held["AttncliError"], Exception) - named_in("AttncliError") == set()
    assert public(held["AttncliError"].place) - named_in("AttncliError") == set()


def test_every_public_name_of_what_functions_return_is_on_the_page(held: dict[str, Any]) -> None:
    (row,) = attncli.check_many([("Ada", LOVE, {"scores": [[1, 5, 3], [3, 3, 3], [2, 4, 3]]})])
    assert public(row) - named_in("Functions") == set()
    assert public(held["Trace"].page()) - named_in("Trace") == set()


def test_every_public_name_of_testing_is_on_the_page() -> None:
    known = named_in("attncli.testing")
    assert {*attncli.testing.__all__} - known == set()
    assert public(attncli.testing.AttentionCase) - known == set()


def test_every_public_name_of_recording_is_on_the_page(call: Any) -> None:
    from attncli import torch

    known = named_in("attncli.torch")
    assert {*torch.__all__} - known == set()
    assert public(call.Call) - known == set()
    assert public(call.Calls, Sequence) - known == set()
    assert public(call.Call.check(), tuple) - known == set()
