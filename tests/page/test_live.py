"""The page that works itself out: its script against attncli, number by number and line by line."""

from __future__ import annotations

import gzip
import json
import math
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.answers.reader import read_answers
from attncli.attention.registry import cell_form
from attncli.dtypes import DTYPES
from attncli.equation.functions import FUNCTIONS
from attncli.equation.mathml import MATHML
from attncli.features.check.verdicts import judge
from attncli.mistakes.catalogue import applicable, changes_of
from attncli.mistakes.mistaken_trace import MistakenTrace
from attncli.mistakes.model import with_changes
from attncli.page.derivation import derivation
from attncli.page.document import Heading, Worked, formula, plain_line
from attncli.page.in_words import percent
from attncli.page.live.constants import shared_constants
from attncli.page.live.data import live_data
from attncli.page.live.live_or_static import why_static
from attncli.page.live.offered_settings import OVER, OWN, settings_of
from attncli.page.printer import format_number, printer_for
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.problem.saving import as_yaml
from attncli.problem.text.not_a_number import why_not_a_number
from attncli.problem.text.number_forms import NumberError
from attncli.problem.text.numbers import as_float, canonical
from attncli.problem.text.source import decode
from attncli.render.html import script_text
from attncli.render.html.script_text import DATA_FILE, MODEL_FILES, PAGE_FILES, script_of
from attncli.render.html.small_scripts import SAVING_FILES, SORTING_FILE
from attncli.tracing import Trace, run
from attncli.tracing.magnitudes import Magnitudes
from tests.cases import in_one_test
from tests.page.typed_numbers import Fault, drawn_text, keystrokes, number_typed, texts_after

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
INPUTS = sorted((ROOT / "inputs").glob("*.[jy]*"))
pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")


def asked(*questions: dict[str, Any]) -> list[Any]:
    """What the script answers to each."""
    constants = f"const SHARED = {json.dumps(shared_constants())};"
    lines = [f"{constants}\n{script_of(MODEL_FILES)}", *questions]
    text = "".join(f"{json.dumps(line, allow_nan=False)}\n" for line in lines)
    ran = subprocess.run(
        ["node", str(HERE / "live_model.cjs")],
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return [json.loads(line) for line in ran.stdout.splitlines()]


def lines_of(trace: Trace, precision: int) -> Iterator[tuple[str, int, dict[str, int], list[str]]]:
    """Each worked line of the page with all cells: its step, the place in its numbers, what is
    fixed, and its texts.
    """
    fixed: dict[str, int] = {}
    for block in derivation(trace, View(detail="cells", precision=precision, short=False)).blocks:
        if isinstance(block, Heading):
            fixed, name = dict(block.place) if block.part else fixed, block.step
        if isinstance(block, Worked) and name:
            step = trace.steps[name]
            for line in block.lines:
                assert line.cell is not None
                rest = iter(line.cell)
                index = tuple(
                    fixed[each] if each in fixed else next(rest)
                    for each in step.rule.target.letters
                )
                yield (
                    step.name,
                    int(np.ravel_multi_index(index, step.shape)),
                    fixed,
                    [line.label, plain_line(line)],
                )


def question(
    data: dict[str, Any], trace: Trace, **others: Any
) -> tuple[dict[str, Any], list[list[str]]]:
    """What to ask of a problem, and the lines that its page has."""
    lines = list(lines_of(trace, 3))
    return {"ask": "trace", "data": data, "cells": [line[:3] for line in lines], **others}, [
        line[3] for line in lines
    ]


def must_agree(
    trace: Trace, found: dict[str, Any], precision: int = 3, digits: int | None = None
) -> bool:
    """The same steps, numbers to twelve digits of what they are made of, and the same texts.

    False where texts that are not compared have more `digits` than these.
    """
    assert found["shifted"] == trace.shifted
    assert list(found["steps"]) == list(trace.steps)
    magnitudes, printer = (
        Magnitudes(trace, DTYPES["float64"]),
        printer_for(trace, View(precision=precision)),
    )
    for name, step in trace.steps.items():
        values = np.array([float(value) for value in found["steps"][name]["values"]]).reshape(
            step.shape
        )
        np.testing.assert_array_equal(np.isfinite(values), np.isfinite(step.value), name)
        finite = np.isfinite(values)
        off = np.abs(np.where(finite, values, 0) - np.where(finite, step.value, 0))
        assert (off <= 1e-12 * magnitudes[name] + 1e-300).all(), name
        step = printer.trace.steps[name]
        texts = [printer.text(step, index) for index in np.ndindex(step.shape)]
        if digits is not None and max(len(re.sub(r"e.*|\D", "", text)) for text in texts) > digits:
            return False
        found_texts = found["steps"][name]["texts"]
        if digits is not None:
            texts, found_texts = map(known_digits, (texts, found_texts))
        assert found_texts == texts, name
    return True


def known_digits(texts: list[str]) -> list[str]:
    """Texts in which a number that is nearly whole is whole, and a long one has 12 digits: the last
    bits of two languages may differ.
    """
    number = re.compile(r"\d+\.\d+")
    return [number.sub(lambda match: f"{float(match[0]):.12g}", text) for text in texts]


@pytest.mark.long
@pytest.mark.sampled(5)
@pytest.mark.parametrize("file", INPUTS, ids=lambda file: file.stem)
def test_every_number_and_line_of_an_example_is_that_of_attncli(file: Path) -> None:
    problem, data = live_example(file)
    trace = run(problem)
    assert why_static(trace, View()) is None
    one, lines = question(data, trace)
    (found,) = asked(one)
    must_agree(trace, found)
    assert found["worked"] == lines


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    "keys",
    [
        {"mask": {"any": [["causal", {"window": [1, 0]}], {"first": 1}], "documents": [0, 0, 1]}},
        {"mask": {"documents": [[0, 0, 1], [0, 1, 1]], "chunk": 2}, "heads": 2},
        {"position": {"sinusoidal": {"from": 1, "layout": "halves"}}, "mask": "causal"},
    ],
    ids=["any", "entries", "sines"],
)
def test_masks_and_sines_of_models_are_worked_out_as_attncli_does(keys: dict[str, Any]) -> None:
    rows = (2, 3, 4) if "heads" in keys else (3, 4)
    given = {"X": {"random": [*rows], "seed": 1}}
    for seed, name in enumerate(("W_Q", "W_K", "W_V"), start=2):
        given[name] = {"random": [4, 4], "seed": seed}
    problem = attncli.load(given | keys)
    trace = run(problem)
    one, lines = question(live_data(problem, 3), trace)
    (found,) = asked(one)
    must_agree(trace, found)
    assert found["worked"] == lines


@pytest.mark.long
@pytest.mark.sampled(5)
@pytest.mark.parametrize("file", INPUTS, ids=lambda file: file.stem)
def test_every_formula_is_set_as_attncli_sets_it(file: Path) -> None:
    problem, data = live_example(file)
    (found,) = asked({"ask": "formulas", "data": data})
    for (_, _, other), formulas in zip(settings_of(problem), found, strict=True):
        trace = run(other)
        printer = printer_for(trace, View())
        rules = [step.rule for step in trace.computed()]
        assert formulas == [
            [rule.name, formula(printer.formula(cell_form(rule)), MATHML)] for rule in rules
        ]


@pytest.mark.long
def test_a_sum_is_stepped_through_with_what_its_terms_come_to_so_far() -> None:
    data = live_data(load(str(ROOT / "inputs" / "i_love_ai.yaml")), 3)
    asking = {
        "ask": "walks",
        "data": data,
        "cells": [["scores", 1, {}], ["row_sum", 0, {}], ["scaled", 0, {}]],
    }
    ((scores, row_sum, scaled),) = asked(json.loads(json.dumps(asking)))
    assert [part[:3] for part in scores] == [
        ["2·2", "=", "4"],
        ["0·1", "=", "4"],
        ["1·1", "=", "5"],
    ]
    assert [part[3] for part in scores] == [[["Q", at], ["K_T", 3 * at + 1]] for at in range(3)]
    assert [part[:3] for part in row_sum] == [  # 1.7813 + 17.9345 + 5.6522
        ["1.781", "=", "1.781"], ["17.935", "=", "19.716"], ["5.652", "=", "25.368"]
    ]  # fmt: skip
    assert scaled == []


@pytest.mark.long
def test_a_wrong_number_tells_the_mistakes_that_give_it() -> None:
    """The score of "I" and "love" is 5, the scaled one 5/√3."""
    data = live_data(load(str(ROOT / "inputs" / "i_love_ai.yaml")), 3)
    cells = [["scaled", 1, "5"], ["scaled", 1, "1.667"], ["scaled", 1, "77"]]
    (found,) = asked(json.loads(json.dumps({"ask": "giving", "data": data, "cells": cells})))
    unscaled, by_d_k, none = found
    assert unscaled == ["the scores were not scaled", "the scale was applied after the softmax"]
    assert {"the scores were divided by d_k, not by its root", "the scores were scaled twice"} <= {
        *by_d_k
    }
    assert none == []


@pytest.mark.long
@pytest.mark.parametrize("name", ["i_love_ai", "grouped_query", "batch", "kv_cache"])
def test_the_output_is_a_sum_of_values(name: str) -> None:
    problem = load(str(ROOT / "inputs" / f"{name}.yaml"))
    trace = run(problem)
    (found,) = asked({"ask": "terms", "data": json.loads(json.dumps(live_data(problem, 3)))})
    weights, values, output = trace["weights"], trace["V"], trace[found["name"]]
    values = (
        np.repeat(values, output.shape[-3] // values.shape[-3], axis=-3)
        if values.ndim > 2
        else values
    )
    expected = np.moveaxis(weights[..., :, :, None] * values[..., None, :, :], -2, -1)
    np.testing.assert_allclose(np.reshape(found["terms"], expected.shape), expected, atol=1e-12)
    np.testing.assert_allclose(expected.sum(-1), output, atol=1e-12)


@pytest.mark.long
def test_all_that_follows_from_a_number_is_missing_without_it() -> None:
    data = live_data(load(str(ROOT / "inputs" / "i_love_ai.yaml")), 3)
    asking = {"ask": "without", "data": data, "cells": [["scores", 1], ["V", 3]]}
    ((score, value),) = asked(json.loads(json.dumps(asking)))
    assert score[:3] == [["scores", [1]], ["scaled", [1]], ["exp", [1]]]
    assert score[3:] == [["row_sum", [0]], ["weights", [0, 1, 2]], ["output", [0, 1, 2]]]
    assert value == [["V", [3]], ["output", [0, 3, 6]]]


EXACT_OR_LONG = ("5", "5/sqrt(3)", "1/3", "0.33", "3.00", "2.9", "1e1", "0.3333333333333333")


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["i_love_ai", "causal", "sink", "gemma2_softcap"])
def test_a_held_number_is_slid_around_what_its_equation_gives_with_any_mistake(name: str) -> None:
    """Weights are from 0 to 1, and exponentials above 0, unless a mistake makes them otherwise."""
    problem = load(str(ROOT / "inputs" / f"{name}.yaml"))
    data = json.loads(json.dumps(live_data(problem, 3)))
    (found,) = asked({"ask": "sliders", "data": data})
    for each in found:
        for slider in each["sliders"]:
            assert slider["least"] <= slider["value"] <= slider["most"], (each["mistake"], slider)
            assert slider["computed"] == slider["value"]
            assert slider["least"] < slider["most"]
    right = found[0]["sliders"]
    ends = {(slider["least"], slider["most"]) for slider in right if slider["name"] == "weights"}
    assert ends == {(0, 1)}
    lows = {slider["least"] for slider in right if slider["name"] in ("exp_scores", "row_sum")}
    assert lows
    assert min(lows) >= 0
    assert any(slider["least"] < 0 for slider in right if slider["name"] == "scores")


@pytest.mark.long
def test_answers_are_judged_as_check_judges_them() -> None:
    chosen = random.Random(18)
    problem = load(str(ROOT / "inputs" / "i_love_ai.yaml"))
    trace = run(problem)
    claims: list[tuple[str, int, str]] = []
    for name in ("scores", "scaled", "exp", "weights", "output"):
        for at in range(9):
            value = float(trace[name].ravel()[at])
            places = chosen.randint(0, 4)
            off = chosen.choice([0, 0, 1, -1, 2, -2, 5]) * 10.0**-places
            claims.append((name, at, f"{value + off:.{places}f}"))
            claims.append((name, at, chosen.choice(EXACT_OR_LONG)))
    expected = []
    for name, at, text in claims:
        cells = [["_"] * 3 for _ in range(3)]
        cells[at // 3][at % 3] = text
        answers = decode(json.dumps({name: cells}).encode(), "a.json")
        expected.append(
            judge(trace, read_answers(answers, trace)).steps[name][divmod(at, 3)].verdict
        )
    judging = live_data(problem, 3)["judging"]
    asking = [(float(trace[name].ravel()[at]), text) for name, at, text in claims]
    (found,) = asked({"ask": "verdicts", "claims": asking, "judging": judging})
    assert found == expected
    assert {*expected} == {"right", "rounding", "wrong"}


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("each", [12, pytest.param(3, marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize(
    "name", ["i_love_ai", "large_scores", "gpt2_layer", "grouped_query", "cross_attention"]
)
def test_every_mistake_is_worked_out_as_check_does(name: str, each: int) -> None:
    problem = load(str(ROOT / "inputs" / f"{name}.yaml"))
    (found,) = asked(
        {"ask": "mistakes", "data": json.loads(json.dumps(live_data(problem, 3))), "each": each}
    )
    settings = {(mask, scaled): other for mask, scaled, other in settings_of(problem)}
    for made in found[::each]:
        trace = run(settings[made["mask"], made["scaled"]], shifted=made["shifted"])
        changes = changes_of(made["name"], trace)
        mistaken = MistakenTrace(trace, changes)
        printer, wrong = printer_for(trace, View()), with_changes(trace, changes).steps
        assert made["formulas"] == [
            formula(printer.formula(cell_form(wrong[name].rule)), MATHML) for name in changes
        ]
        for step, shown in made["steps"].items():
            numbers = np.array(shown, dtype=float)
            np.testing.assert_allclose(
                numbers, mistaken[step].ravel(), rtol=1e-9, atol=1e-12, err_msg=made["name"]
            )
        assert [*made["steps"]] == [*trace.steps]
    changed = {
        mistake.name
        for other in settings.values()
        for mistake, changes in applicable(run(other))
        if not any(isinstance(change, np.ndarray) for change in changes.values())
    }
    assert {made["name"] for made in found} >= changed


TEXTS = (
    "0",
    "1",
    "-1",
    "2.5",
    "1/3",
    "-2/7",
    "sqrt(2)",
    "-3*sqrt(5)/4",
    ".5",
    "1e3",
    "-0.0001",
    "123456789.125",
    "40",
)


def edited(problem: Problem, edits: list[tuple[str, int, str]]) -> Problem:
    """The problem with other texts in the places of given numbers."""
    given = dict(problem.given)
    for name, at, text in edits:
        own = name if name in given else name.removeprefix("new_")
        matrix = given[own]
        written = matrix.written
        texts = (
            [repr(number) for number in matrix.value.ravel().tolist()]
            if written is None
            else written.ravel().tolist()
        )
        texts[at] = text
        given[own] = Matrix([as_float(each) for each in texts], texts, matrix.shape)
    return replace(problem, given=given)


@cache
def live_example(file: Path) -> tuple[Problem, dict[str, Any]]:
    """An example, and what its page knows."""
    problem = load(str(file))
    return problem, json.loads(json.dumps(live_data(problem, 3), allow_nan=False))


def random_question(seed: int) -> tuple[dict[str, Any], Trace, list[list[str]]]:
    """An example in one of its settings, with a few numbers edited, and a few cells of a mask of
    one's own clicked.
    """
    chosen = random.Random(seed)
    problem, data = live_example(chosen.choice(INPUTS))
    mask, scaled, other = chosen.choice([*settings_of(problem)])
    arrays = list(data["given"])
    edits = []
    if mask in (OWN, OVER):
        *others, clicked = other.mask.parts
        assert isinstance(clicked, Keep)
        seen = np.array([chosen.random() < 0.7 for _ in range(clicked.matrix.size)]).reshape(
            clicked.matrix.shape
        )
        edits += [(data["own"], at, "0") for at in np.flatnonzero(~seen).tolist()]
        other = replace(
            other, mask=replace(other.mask, parts=(*others, type(clicked)(Matrix.of(seen))))
        )
    for _ in range(chosen.randint(1, 4)):
        name = chosen.choice(arrays)
        matrix = problem.given.get(name) or problem.given[name.removeprefix("new_")]
        text = chosen.choice(
            [*TEXTS, f"{chosen.gauss(0, 3):.{chosen.randint(0, 9)}f}", repr(chosen.gauss(0, 1))]
        )
        edits.append((name, chosen.randrange(matrix.value.size), text))
    trace = run(edited(other, [each for each in edits if each[0] != data["own"]]))
    asking, lines = question(data, trace, mask=mask, scaled=scaled, edits=edits)
    return asking, trace, lines


@pytest.mark.long
@pytest.mark.parametrize(
    "seeds", [range(8), pytest.param(range(8, 108), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_edited_numbers_in_any_setting_are_worked_out_as_attncli_does(seeds: range) -> None:
    asking = [random_question(seed) for seed in seeds]
    for seed, (found, (_, trace, lines)) in zip(
        seeds, zip(asked(*(each[0] for each in asking)), asking, strict=True), strict=True
    ):
        if not must_agree(trace, found, digits=14):
            continue  # of 262648699902511.78, not all digits are known
        assert found["worked"] == lines, seed


LIVE_WARNING = re.compile(r"sees? no key|not fit into float64")
EXTREME = (
    "1e308",
    "-1e308",
    "1e154",
    "-1e200",
    "1.7976931348623157e308",
    "1e-320",
    "5e-324",
    "1e-160",
    "0",
)
WHOLE = (
    "i_love_ai",
    "causal",
    "fully_masked",
    "padding",
    "multi_head",
    "batch",
    "large_scores",
    "kv_cache",
    "window",
)


@pytest.mark.long
@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(40, 400), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_numbers_that_do_not_fit_and_queries_that_see_no_key_are_warned_of_as_attncli_does(
    seeds: range,
) -> None:
    """One number is extreme: what a sum of more comes to depends on its order."""
    asking, expected = [], []
    for seed in seeds:
        chosen = random.Random(seed)
        problem, data = live_example(ROOT / "inputs" / f"{chosen.choice(WHOLE)}.yaml")
        mask, scaled, other = chosen.choice([*settings_of(problem)])
        edits = []
        if mask == OWN:
            *_, clicked = other.mask.parts
            assert isinstance(clicked, Keep)
            seen = np.array([chosen.random() < 0.4 for _ in range(clicked.matrix.size)]).reshape(
                clicked.matrix.shape
            )
            edits += [(data["own"], at, "0") for at in np.flatnonzero(~seen).tolist()]
            other = replace(
                other, mask=replace(other.mask, parts=(type(clicked)(Matrix.of(seen)),))
            )
        name = chosen.choice(list(data["given"]))
        matrix = problem.given.get(name) or problem.given[name.removeprefix("new_")]
        typed = [(name, chosen.randrange(matrix.value.size), chosen.choice(EXTREME))]
        trace = run(edited(other, typed))
        asking.append(
            {
                "ask": "trace",
                "data": data,
                "mask": mask,
                "scaled": scaled,
                "edits": [*edits, *typed],
            }
        )
        expected.append([warning for warning in trace.warnings if LIVE_WARNING.search(warning)])
    found = asked(*asking)
    assert [each["warnings"] for each in found] == expected
    assert any("not fit" in warning for warnings in expected for warning in warnings)
    assert any(" no key" in warning for warnings in expected for warning in warnings)


def test_the_file_that_is_saved_in_any_setting_gives_the_numbers_of_the_page(
    tmp_path: Path,
) -> None:
    given = "".join(
        f"{name}: [[[1, 0], [0, 2], [1, 1]], [[2, 0], [0, 1], [1, 3]]]\n" for name in "KV"
    )
    mask = "[{window: [1, 0], corner: bottom-right}, {additive: [[[0.5, -.inf, 1]], [[0, 2, 0]]]}]"
    file = tmp_path / "problem.yaml"
    file.write_text(
        f"Q: [[[1, 2]], [[0, 1]]]\n{given}position: {{alibi: {{slopes: [1, 0.5]}}}}\nmask: {mask}\n"
    )
    problem = load(str(file))
    found = {}
    for word, scaled, other in settings_of(problem):
        # where nobody has clicked, every key is seen
        file.write_text(re.sub(r"⟨[^⟩]+⟩", "1", as_yaml(other, "")[0]))
        page, saved = run(other), run(load(str(file)))
        for step in page.steps.values():
            np.testing.assert_array_equal(saved[step.name], step.value, f"{word} {step.name}")
        found[word, scaled] = saved["bias"].ravel().tolist()
    assert found["given", True] == [-2, -1, 0, -1, -0.5, 0]  # query 0 is at the place of key 2
    assert (
        found["over", True] == found["own", True] == found["none", True] == [0, -1, -2, 0, -0.5, -1]
    )


def test_numbers_are_read_as_in_a_file() -> None:
    texts = [
        *TEXTS,
        "+.5",
        "1.",
        "1E-3",
        "007",
        "1_000",
        "0x10",
        "",
        " 3 ",
        "sqrt(1/2)",
        "sqrt(4)",
        "1/sqrt(2)",
        "-sqrt(8)/2",
        "2 * sqrt(3)",
        "1/0",
        "sqrt(-1)",
        "1e400",
        "1e-400",
        "0e999999999",
        "nan",
        "inf",
        "-inf",
        "1,5",
        "--1",
        "1e16",
        "123456789012345678901234567890",
        "0.00000012",
        "1/3/4",
        "x",
        "-0",
        "1e-7",
        "12345678.9e3",
        "2/4",
        "٣",
        "1" * 500,
    ]
    expected: list[list[Any] | None] = []
    for text in texts:
        try:
            value = as_float(text.strip())
            expected.append(
                [value if math.isfinite(value) else "-Infinity", canonical(text.strip())]
            )
        except NumberError:
            expected.append(None)
    assert asked({"ask": "numbers", "texts": texts}) == [expected]


@pytest.mark.long
@pytest.mark.parametrize(
    "seeds",
    [range(400), pytest.param(range(400, 8_000), marks=pytest.mark.slow)],
    ids=["few", "many"],
)
def test_what_is_typed_is_the_number_that_the_grammar_reads_or_the_one_from_before(
    seeds: range,
) -> None:
    """Whatever the keys are: what half a number shows meanwhile, and what is left and said in the
    end.
    """
    _, data = live_example(ROOT / "inputs" / "i_love_ai.yaml")
    edits, said = [], []
    before = {at: valued(text) for at, text in enumerate(data["arrays"]["X"]["written"])}
    for seed in seeds:
        chosen = random.Random(seed)
        at = chosen.randrange(len(before))
        texts = texts_after([*keystrokes(drawn_text(chosen), chosen)])
        if not texts:
            continue
        edits.append(("X", at, texts))
        shown, last, fault = [], before[at], ""
        for text in texts:
            try:
                last, fault = number_typed(text), ""
            except Fault as found:
                fault = str(found)
            shown.append(last)
        if not fault:
            before[at] = last
        said.append((texts[-1], shown, fault, before[at]))
    (found,) = asked({"ask": "typed", "data": data, "edits": edits})
    for (text, shown, fault, left), page in zip(said, found, strict=True):
        assert [*map(float, page["shown"]), float(page["value"])] == [*shown, left], text
        assert fault in page["why"], text
        assert bool(fault) == bool(page["why"]), text
        assert as_float(page["written"]) == left  # as the file that is saved has it


@pytest.mark.sampled(2, "long")
@pytest.mark.parametrize(
    "text", ["0.(3)", "-0.(142857)", "0.1\u03057\u0305", "0.333…", "-1.5...", "–2", "—0.5", "2–3"]
)
def test_a_field_says_of_numbers_of_books_what_files_say(text: str) -> None:
    _, data = live_example(ROOT / "inputs" / "i_love_ai.yaml")
    ((found,),) = asked({"ask": "typed", "data": data, "edits": [("X", 0, [text])]})
    message, help = why_not_a_number(text)
    assert found["why"].startswith(message)
    said = found["why"].removeprefix(f"{message}: ")
    # A field has less room for words.
    assert help.startswith(said) or said == "write it as in -1"
    assert found["written"] == data["arrays"]["X"]["written"][0]


def test_a_field_reads_the_signs_of_books_as_files_do() -> None:
    texts = ["½", "-¾", "1½", "√2", "1/√2", "-√3/2", "2√3", "√(2)/2", "2^3", "2^(-1)", "3²", "⅓"]
    _, data = live_example(ROOT / "inputs" / "i_love_ai.yaml")
    edits = [("X", 0, [text]) for text in texts]
    (found,) = asked({"ask": "typed", "data": data, "edits": edits})
    for text, page in zip(texts, found, strict=True):
        assert page["why"] == "", text
        # The same number as in a file, and the file that is saved has it.
        assert float(page["value"]) == as_float(canonical(text)) == as_float(page["written"])


def test_the_script_loses_its_notes_and_no_text() -> None:
    folder = Path(script_text.__file__).parent / "script"
    names = (DATA_FILE, *MODEL_FILES, *PAGE_FILES, SORTING_FILE, *SAVING_FILES)
    for name in names:
        written = (folder / f"{name}.js").read_text(encoding="utf-8")
        code = re.sub(r"/\*\*.*?\*/|^\s*//.*?$", "", written, flags=re.DOTALL | re.MULTILINE)
        texts = re.findall(r'"[^"\n]*"|`[^`\n]*`', code.replace('"use strict";', ""))
        kept = script_of([name])
        assert all(text in kept for text in texts), name
        # A text on several lines would lose their indentation.
        assert all(line.count("`") % 2 == 0 for line in code.splitlines()), name
    files = {file.relative_to(folder).with_suffix("").as_posix() for file in folder.glob("*/*.js")}
    assert files == {*names}


def are_same_scripts(*scripts: tuple[str, str]) -> list[bool]:
    ran = subprocess.run(
        ["node", "--expose-internals", str(HERE / "same_script.cjs")],
        input=json.dumps(scripts),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    found: list[bool] = json.loads(ran.stdout)
    return found


@pytest.mark.long
def test_the_script_of_a_page_does_what_the_written_one_does() -> None:
    folder = Path(script_text.__file__).parent / "script"
    names = (DATA_FILE, *MODEL_FILES, *PAGE_FILES)
    written = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in names]
    pairs = [
        (text.replace('"use strict";', ""), script_of([name]))
        for name, text in zip(names, written, strict=True)
    ]
    same = dict(zip(names, are_same_scripts(*pairs), strict=True))
    assert [name for name in names if not same[name]] == []


def test_scripts_that_differ_in_more_than_notes_and_blanks_are_told_apart() -> None:
    same = ("f(\n  a, // one\n  b,\n);", "f(a,b);")
    without_line = ("a\n(b)", "a;(b)")
    other_text = ('f("a  b")', 'f("a b")')
    assert are_same_scripts(same, without_line, other_text) == [True, False, False]


# A text, or a number that is written with an exponent; of a template, only what no code is in.
LITERAL = re.compile(r'"([^"\n]*)"|`([^`\n]*)`|(?<![\w.$])(\d[\d.]*(?:e[-+]?\d+)?)n?(?![\w.])')


def literals_of(code: str) -> Iterator[str | float]:
    """The numbers and the texts of a script, those of templates piece by piece."""
    for text, template, number in LITERAL.findall(code):
        if number:
            yield float(number)
        elif template:
            yield from re.split(r"\$\{|\}", template)[::2]
        else:
            yield text


def all_values(data: Any) -> Iterator[Any]:
    """What stands in data, however deep."""
    if isinstance(data, dict | list | tuple):
        for value in data.values() if isinstance(data, dict) else data:
            yield from all_values(value)
    else:
        yield data


@in_one_test("file", [*MODEL_FILES, *PAGE_FILES])
def test_what_the_script_gets_from_python_does_not_stand_in_it_again(file: str) -> None:
    """No tolerance is the script's own. Whole numbers may be, such as pixels; those of the model
    up to 20.
    """
    shared = {*all_values(shared_constants())}
    texts = {value for value in shared if isinstance(value, str) and len(value) > 1}
    numbers = {float(value) for value in shared if not isinstance(value, str)}
    is_of_model = file in MODEL_FILES
    telling = {number for number in numbers if number % 1 or (is_of_model and number > 20)}
    for literal in literals_of(script_of([file])):
        if isinstance(literal, str):
            words = re.findall(r"(?<!\w)-?\w+(?!\w)", literal)
            assert literal not in texts
            assert not {"inf", "-inf", "nan"} & {*words}, literal
            assert not [text for text in texts if " " in text and text in literal], literal
        else:
            assert literal not in telling
            assert literal == 0 or literal > 1e-2


def test_the_literals_of_a_script_are_found() -> None:
    code = 'const a = x1 < 1e-6 ? "inf" : `${b} is too ${c} large`; f(64n, 0.5);'
    assert [*literals_of(code)] == [1e-6, "inf", "", " is too ", " large", 64, 0.5]


def valued(written: str) -> float:
    return float(Fraction(written))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("precision", [0, 1, 3, 6, 12, 15])
def test_numbers_are_printed_alike(precision: int) -> None:
    chosen = random.Random(precision)
    values = [
        0.0,
        -0.0,
        0.1 + 0.2,
        2.675,
        0.125,
        -0.0004,
        999.9996,
        1e15,
        1e22,
        9.9996e20,
        123456789012345.6,
        5e-324,
    ]
    # Above 4e14 doubles are at a tie of the fifteenth digit, which the two languages round in
    # different directions.
    values += [chosen.gauss(0, 1) * 10.0 ** chosen.randint(-9, 13) for _ in range(2000)]
    values += [chosen.randrange(10**6) / 10 ** chosen.randint(0, 6) for _ in range(2000)]
    found = asked({"ask": "printed", "values": values, "precision": precision})
    assert found == [[format_number(value, precision) for value in values]]


@pytest.mark.long
def test_the_docs_say_how_large_a_page_is() -> None:
    """In thousands of bytes: a change that adds to the page says how much (decision 29)."""
    file = str(ROOT / "inputs" / "i_love_ai.yaml")
    command = [sys.executable, "-m", "attncli", "compute", file, "--format", "html"]
    page = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    sizes = [round(len(found) / 1000) for found in (page, gzip.compress(page))]
    docs = ROOT / "docs"
    guide = docs / "how-to" / "live-pages.md"
    decision = next((docs / "decisions").glob("0029-*"))
    in_guide = said_in(guide, r"has about (\d+) KB, and (\d+) KB on the way")
    in_decision = said_in(decision, r"has (\d+) KB today, (\d+) KB as a server")
    assert in_guide == in_decision == pytest.approx(sizes, rel=0.03)


def said_in(file: Path, sentence: str) -> list[int]:
    """The numbers of a sentence in a document."""
    words = " ".join(file.read_text(encoding="utf-8").split())
    found = re.search(sentence, words)
    assert found is not None
    return [int(number) for number in found.groups()]


def test_shares_are_said_alike() -> None:
    chosen = random.Random(0)
    values = [0, 1e-300, 0.0004999, 0.0005, 0.0005001, 0.0025, 0.1235, 0.1245, 1 / 3, 0.5]
    values += [0.9994999, 0.9995, 0.9996, 1 - 1e-8, 1 - 1e-10, 1]
    values += [chosen.random() for _ in range(500)]
    values += [chosen.randrange(20001) / 20000 for _ in range(500)]
    assert asked({"ask": "shares", "values": values}) == [[percent(value) for value in values]]


def test_the_script_knows_every_function_of_the_language() -> None:
    # which is no function of numbers
    assert {*FUNCTIONS} - {*asked({"ask": "functions"})[0]} == {"where"}
