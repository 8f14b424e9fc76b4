"""R/exams: an exercise whose parts a reader of our own finds, and in which nothing runs."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from exports import HOSTILE, INPUTS, hostile_problem

from attncli.problem.loader import load
from attncli.tracing import run

Export = Callable[..., str]
RUNS = (r"`r[ #]", r"(?m)^[\t >]*```+\s*\{")  # what knitr runs: `r 1 + 1`, and blocks


def parts(text: str) -> dict[str, str]:
    """The sections of an exercise, as R/exams finds them: a title over a line of equals signs."""
    pieces = re.split(r"(?m)^(Question|Solution|Meta-information)\n=+\n", text)
    assert pieces[0] == ""
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def meta(text: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in parts(text)["Meta-information"].split("\n") if line)


def test_every_field_has_its_answer(export: Export) -> None:
    text = export(INPUTS / "causal.yaml", "--to", "rexams", "--category", "NLP/Week 3")
    assert list(parts(text)) == ["Question", "Solution", "Meta-information"]
    assert re.findall(r"##ANSWER(\d+)##", text) == [str(number) for number in range(1, 16)]
    about = meta(text)
    assert (about["extype"], about["exname"]) == ("cloze", "I love AI from left to right")
    assert (about["extol"], about["exsection"]) == ("0.0015", "NLP/Week 3")
    assert about["exclozetype"].split("|") == ["num"] * 15
    trace = run(load(str(INPUTS / "causal.yaml")))
    right = [*trace["weights"][np.tril_indices(3)], *trace["output"].ravel()]
    np.testing.assert_allclose(
        [float(key) for key in about["exsolution"].split("|")], right, atol=0.0005
    )


def test_the_solution_names_the_mistakes(export: Export) -> None:
    solution = parts(export(INPUTS / "causal.yaml", "--to", "rexams"))["Solution"]
    assert re.search(
        r"\| the scores were not scaled +\| Output, AI, d2 +\| +\$1\.575\$ \| \$1\.365\$ \|",
        solution,
    )
    assert "| **AI**   | 0.168 |     0.533 |     0.299 |" in solution


def test_hostile_words_run_nothing(export: Export, tmp_path: Path) -> None:
    text = export(hostile_problem(tmp_path), "--to", "rexams")
    assert not any(re.search(pattern, text) for pattern in RUNS)
    assert len(re.findall("##ANSWER", text)) == len(HOSTILE) + 2
    assert text.count("exsolution:") == 1
    assert [line for line in text.split("\n") if re.fullmatch("=+", line)] == [
        "=" * 8,
        "=" * 8,
        "=" * 16,
    ]
    assert len(meta(text)["exsolution"].split("|")) == len(HOSTILE) + 2


def test_pandoc_shows_hostile_words(export: Export, tmp_path: Path) -> None:
    """R/exams gives the question to pandoc, and then looks for its fields."""
    if shutil.which("pandoc") is None:
        pytest.skip("pandoc is not installed")
    question = parts(export(hostile_problem(tmp_path), "--to", "rexams"))["Question"]
    ran = subprocess.run(
        ["pandoc", "-t", "plain", "--wrap=none", "--columns=9999"],
        input=question,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert len(re.findall(r"##ANSWER\d+##", ran.stdout)) == len(HOSTILE) + 2
    for word in (
        "</script><b>x",
        "{1:NUMERICAL:=7}",
        "`r 1`",
        "exsolution: 7",
        "#\u2060#ANSWER1#",
        "![](/etc/passwd)",
    ):
        assert word in ran.stdout
