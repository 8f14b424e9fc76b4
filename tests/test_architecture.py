"""The shape of the house: imports go one way, every rule has its use, and no two are called
alike.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.attention.registry import GIVEN, RULES
from attncli.attention.steps import COMPUTED
from attncli.attention.variants import output, variants_of
from attncli.equation.indices import INDICES
from attncli.equation.parser import parse_equation, parse_expression
from attncli.page.document import text
from attncli.problem.keys import ARRAYS
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.positions import Rope, Sinusoidal
from attncli.tracing import run
from tests.cases import in_one_test

ROOT = Path(__file__).parents[1]
LLAMA_3 = Rope(
    Scalar.of(10000),
    "half",
    "llama3",
    factor=Scalar.of(8),
    low_freq_factor=Scalar.of(1),
    high_freq_factor=Scalar.of(4),
    original_max_position_embeddings=Scalar.of(8192),
)
YARN = Rope(
    Scalar.of(10000),
    "half",
    "yarn",
    factor=Scalar.of(8),
    original_max_position_embeddings=Scalar.of(8192),
)
PLACED = Rope(
    Scalar.of(10000),
    "half",
    positions={"queries": Matrix.of([0, 1]), "keys": Matrix.of([0, 1])},
)
DYNAMIC = Rope(
    Scalar.of(10000),
    "half",
    "dynamic",
    factor=Scalar.of(8),
    max_position_embeddings=Scalar.of(8192),
)


def test_imports_go_one_way() -> None:
    """In a process of its own: it configures logging, which closes the handlers that Keras left in
    this one.
    """
    run_alone = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", run_alone, "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


# The only places that may import a library, each below `attncli/`; NumPy's are held by the import
# contracts.
IMPORTERS = {
    "rich": ["render/table/*.py", "cli/progress.py"],
    "yaml": ["problem/text/yaml_parser.py"],
    "typer": ["cli/*.py", "features/*/command.py"],
    # A function of somebody else's gets the arrays of the library it uses.
    "cupy": ["backend.py", "testing/running/child.py"],
}


@pytest.mark.parametrize("library", IMPORTERS)
def test_a_library_is_imported_in_its_room_only(library: str) -> None:
    package = ROOT / "attncli"
    statement = re.compile(rf"^\s*(import|from) {library}\b", re.MULTILINE)
    using = {
        path for path in package.rglob("*.py") if statement.search(path.read_text(encoding="utf-8"))
    }
    assert using
    assert using <= {path for pattern in IMPORTERS[library] for path in package.glob(pattern)}


FEATURES = sorted(
    path.parent.name for path in (ROOT / "attncli" / "features").glob("*/__init__.py")
)


@in_one_test("name", FEATURES)
def test_every_capability_is_whole(name: str) -> None:
    """Its command, its tests, its section in the reference, and a how-to that uses it."""
    assert (ROOT / "attncli" / "features" / name / "command.py").is_file()
    assert list((ROOT / "tests" / "features" / name).glob("test_*.py"))
    assert f"\n## {name}\n" in (ROOT / "docs" / "reference" / "command-line.md").read_text(
        encoding="utf-8"
    )
    guides = (path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "how-to").glob("*.md"))
    assert any(f"attncli {name}" in guide for guide in guides)


def test_every_module_says_what_it_is_for() -> None:
    modules = (ROOT / "attncli").rglob("*.py")
    assert [
        path for path in modules if not re.match('r?"""', path.read_text(encoding="utf-8"))
    ] == []


def test_no_two_steps_share_a_name_or_a_letter() -> None:
    for rules in (GIVEN, COMPUTED):
        assert max(Counter(rule.name for rule in rules).values()) == 1
    assert max(Counter(rule.symbol for rule in RULES.values()).values()) == 1


def test_every_key_of_a_problem_that_holds_numbers_has_a_rule() -> None:
    rows_after_a_cache = {"new_K", "new_V"}  # what K and V are called where past comes before them
    assert {rule.name for rule in GIVEN} == {*ARRAYS, *rows_after_a_cache}


@in_one_test(
    "rule", [*GIVEN, *COMPUTED], ids=lambda rule: f"{rule.name}-{'given' if rule.given else ''}"
)
def test_every_rule_can_be_read(rule: Any) -> None:
    assert rule.target.name == rule.name
    assert set(rule.target.indices) <= set(INDICES)
    assert rule.meaning
    assert all(text(prose) for prose in (rule.meaning, rule.why) if prose)
    assert rule.given or parse_equation(rule.source) == rule.equation
    assert rule.matrix_form is None or parse_expression(rule.matrix_source) == rule.matrix_form


@in_one_test("name", [*RULES, "output of all heads"])
def test_names_in_the_words_of_a_rule_are_formulas(name: str) -> None:
    """Between backticks, so that every format sets W_O and row i as it sets them in formulas."""
    rules = (
        [RULES[name], *variants_of(name).values()]
        if name in RULES
        else [output(True, False, False)]
    )
    words = [
        word.strip(".,:;()")
        for rule in rules
        for piece in text(f"{rule.meaning} {rule.why}")
        if isinstance(piece, str)
        for word in piece.split()
    ]
    assert [word for word in words if "_" in word or (word in INDICES and word != "a")] == []


def test_every_step_can_be_reached(problem: Callable[..., Problem]) -> None:
    square, row, heads = np.ones((2, 2)), np.ones(2), np.ones((2, 2, 2))
    projected = {
        f"{part}_{name}": square if part == "W" else row for part in "Wb" for name in "QKV"
    }
    problems = [
        problem(X=square, context=square, **projected, softcap=1.0, mask=(Causal(),), scale=5000.0),
        problem(Q=square * 30, K=square * 30, V=square, mask=(Causal(),), scale="none"),
        problem(Q=square, K=square, V=square, score="multiplicative", W_a=square),
        problem(Q=square, K=square, V=square, score="additive", W_1=square, W_2=square, v=row),
        problem(Q=square, K=square, V=square, past_K=square, past_V=square, rope=(10000, "half")),
        problem(Q=square, K=square, V=square, rope=LLAMA_3),
        problem(Q=square, K=square, V=square, rope=YARN),
        problem(Q=square, K=square, V=square, rope=PLACED),
        problem(Q=np.ones((2, 4)), K=np.ones((2, 4)), V=square, rope=DYNAMIC),
        problem(
            X=square,
            past_K=square,
            past_V=square,
            **projected,
            W_O=square,
            b_O=row,
            alibi=True,
            slope=0.5,
        ),
        problem(Q=heads, K=heads, V=heads, W_O=np.ones((4, 2)), alibi=True, sink=row),
        problem(Q=heads, K=square, V=square, alibi=True, slopes=row, joined=True),
    ]
    in_sines = replace(problem(X=square, **projected), positions=(Sinusoidal(),))
    problems.append(in_sines)
    traces = [run(each) for each in problems]
    reached = {(name, step.rule.given) for trace in traces for name, step in trace.steps.items()}
    assert reached == {(rule.name, rule.given) for rule in (*GIVEN, *COMPUTED)}
    # A slope for each head may be given, then it stands among what is given. Sines stand before the
    # queries, which may be given elsewhere.
    elsewhere = {"slopes", "PE", "X_pos"}
    for trace in traces:
        steps = [name for name in trace.steps if name not in elsewhere]
        assert steps == [name for name in RULES if name in steps]
