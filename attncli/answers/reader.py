"""Reads answers in any of their forms: YAML or JSON, or a page of ours in Markdown or LaTeX with numbers written in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import cast

from attncli.answers.model import CLOSE, Answer, Answers, Claim
from attncli.answers.steps import LATEX_NAMES
from attncli.attention.gradients import GRADIENT_RULES
from attncli.attention.losses import LOSS_RULES
from attncli.attention.names import NAMED
from attncli.problem.files import STANDARD_INPUT
from attncli.problem.loader import read_tree
from attncli.problem.source import Source
from attncli.problem.values import ErrorCollector
from attncli.tracing.model import Step, Trace

_SUFFIXES = {
    ".yaml": "lists", ".yml": "lists", ".json": "lists",
    ".md": "markdown", ".markdown": "markdown",
    ".tex": "latex", ".latex": "latex",
}  # fmt: skip
_LOOKS_LIKE_LATEX = re.compile(r"\\(?:bordermatrix|documentclass|section)\b")
_LOOKS_LIKE_MARKDOWN = re.compile(r"^ {0,3}\|.*\|[ \t]*\n {0,3}\|[ \t]*:?-+:?[ \t]*\|", re.MULTILINE)

_BACK = {name for name, of in {**NAMED, **LATEX_NAMES}.items() if of in LOSS_RULES or of in GRADIENT_RULES}
_MARKED = sorted((name for name in _BACK if name[0] == "d" or "mathrm{d}" in name), key=len, reverse=True)
_GRADIENT = re.compile(rf"(?<![\w\\])(?:{'|'.join(map(re.escape, _MARKED))})(?![\w'])")
_KEY = re.compile(rf"""(?:^|[{{,\s])["']?(?:{"|".join(map(re.escape, sorted(_BACK)))})["']?[ \t]*:""", re.MULTILINE)


def read_answers(source: Source, trace: Trace) -> Answers:
    """The answers in a file, to steps of this trace; its suffix says in which form, and else its content does.

    Raises AttncliError (exit 3) for what is wrong in it: the first problem in the order of the file, with up to
    nineteen others as its `more`.
    """
    errors = ErrorCollector(source)
    if not source.text.strip():
        errors.fail("the file is empty", at=0, help="answers have lines such as scores: [[1, 5, 3], [3, 3, 3]]")
    match _form(source):
        case "markdown":
            from attncli.answers.markdown import read_markdown

            steps = _without_the_problem(read_markdown(errors, trace), trace)
        case "latex":
            from attncli.answers.latex import read_latex

            steps = _without_the_problem(read_latex(errors, trace), trace)
        case _:
            from attncli.answers.lists import read_lists

            errors, root = read_tree(source)
            steps = read_lists(root, errors, trace)
    errors.stop()
    return Answers({name: steps[name] for name in trace.steps if name in steps}, source)


def of_gradients(source: Source) -> bool:
    """Whether any answer is to a step of the loss or of the way back, as far as can be told before it is read."""
    return bool(_GRADIENT.search(source.text) or _KEY.search(source.text))


def _form(source: Source) -> str:
    suffix = PurePath(source.name).suffix.lower()
    if source.name != STANDARD_INPUT and suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if _LOOKS_LIKE_LATEX.search(source.text):
        return "latex"
    return "markdown" if _LOOKS_LIKE_MARKDOWN.search(source.text) else "lists"


def _without_the_problem(steps: Mapping[str, Answer], trace: Trace) -> Mapping[str, Answer]:
    """What a page says beyond the arrays that the problem gives, which it prints too; unless one was changed."""
    return {name: answer for name, answer in steps.items() if not _as_given(trace.steps[name], answer)}


def _as_given(step: Step, answer: Answer) -> bool:
    if not step.rule.given:
        return False
    claims = (cast("Claim | None", cell) for cell in answer.cells.flat)
    return all(
        claim is None or abs(float(claim.value) - value) <= float(claim.half) + CLOSE * abs(value)
        for claim, value in zip(claims, step.value.flat, strict=True)
    )
