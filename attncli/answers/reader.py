"""Reads answers in any of their forms: YAML or JSON, or a page of ours with numbers written in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING

from attncli.answers.model import Answer, Answers, OtherShapes
from attncli.answers.nested import blank_answer
from attncli.answers.remarks import is_blank
from attncli.answers.row_names import with_rows_apart
from attncli.answers.steps import LATEX_NAMES, spellings
from attncli.attention.losses import LOSS_RULES
from attncli.attention.registry import GRADIENT_RULES, STEP_NAMES, gradient_name
from attncli.equation.symbols import differential
from attncli.errors import AttncliError
from attncli.problem.files import STANDARD_INPUT
from attncli.problem.kept import without_kept
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.source import Source
from attncli.tracing.model import Trace

if TYPE_CHECKING:
    from attncli.problem.parts.equations import System


@dataclass(frozen=True, slots=True)
class Form:
    """A way to write answers: `module` of this package reads it, by its function `read(source,
    trace)`.

    A file is of this form where its name has one of the `suffixes`, or, without a known one, where
    the content `looks_like` it.
    """

    module: str
    suffixes: tuple[str, ...]
    looks_like: re.Pattern[str]


# A heading of a page for a terminal, the first of several rows, or a row in words.
_HEADING_OR_ROW = r"── .*──|.*⎡.*⎤(?:[ \t]*$| {5})|[ \t]*row(?: .*)?: "
# A matrix of one row has the brackets that lists have: names without a colon stand above it, which
# no list of YAML has there, and no comma and blank separate its numbers.
_NAMES_ABOVE = r"[ \t]*[^\s\[\]{}\-#\"',:](?:[^\n:]|:(?=\S))*\n"
_ONLY_ROW = r"(?:(?:[^\n:]|:(?=\S))*\s)?\[ (?:[^\n\[\],;:]|,(?=\S))* \](?:[ \t]*$| {5})"
# A name and an =, or a formula, begins no line of YAML: S =, Step 1: S =.
_NAMED = re.compile(
    r"^(?:[ \t]*(?:[0-9]+[.)][ \t]+|[^\n=:#\"']{1,40}:[ \t]+)?"
    r"[*_`$>]*[^\W\d][^\n=:#]{0,80}?[ \t`*$]*:?=[ \t]*"
    r"(?:[^\n=:]{1,80}=[ \t]*)?(?:$|[\[(⎡⎛|]|[A-Za-z.]+\(|\\)|\\\[|\$|\\begin\{)",
    re.MULTILINE,
)
# Rows of numbers with blanks between, where no key of YAML has a text below it: key: |.
_NUMBER = r"[-+−]?[0-9.√½][^\s:;]*"
_ROWS = re.compile(
    r"\A(?!(?:.*\n)*?.*:[ \t]*[|>][-+]?[ \t]*$)"
    rf"(?:.*\n)*?[ \t]*{_NUMBER}(?<!,)(?:[ \t]+{_NUMBER}(?<!,))+[ \t]*$",
    re.MULTILINE,
)
_TEXT = Form("texts", (), _NAMED)
FORMS = (
    Form(
        "page_in_html",
        (".html", ".htm"),
        # In the beginning alone: a hostile file has millions of blank lines first.
        re.compile(
            r"\A\s{0,1000}(?:<!--.{0,1000}?-->\s*)?<(?:!doctype html|html|section)\b",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
    Form(
        "latex",
        (".tex", ".latex"),
        re.compile(r"\\(?:bordermatrix|documentclass|section)\b|\\noalign\{\\vskip-\\arraystretch"),
    ),
    Form(
        "markdown",
        (".md", ".markdown"),
        re.compile(r"^ {0,3}\|.*\|[ \t]*\n {0,3}\|[ \t]*:?-+:?[ \t]*\|", re.MULTILINE),
    ),
    Form(
        "terminal",
        (),
        re.compile(rf"^(?:{_HEADING_OR_ROW}|{_NAMES_ABOVE}{_ONLY_ROW})", re.MULTILINE),
    ),
    _TEXT,
    Form("texts", (), _ROWS),
    # What was typed to a program stands behind its prompt.
    Form("texts", (), re.compile(r"^[ \t]*(?:>>>|In \[[0-9]*\]:|julia>) ", re.MULTILINE)),
    Form("lists", (".yaml", ".yml", ".json"), re.compile("")),
)

# What people type, and no program: there, rows may have their names before a colon.
_TYPED = ("texts", "lists")

_OF_GRADIENTS = {
    name
    for name, of in {**STEP_NAMES, **LATEX_NAMES}.items()
    if of in LOSS_RULES or of in GRADIENT_RULES
}
_UNAMBIGUOUS = sorted(
    (name for name in _OF_GRADIENTS if name[0] == "d" or "mathrm{d}" in name), key=len, reverse=True
)
_BEFORE_NAME = r"(?<![\w\\])\Z"
_BEFORE_KEY = r"""(?:^|[{,\s])["']?\Z"""


def _as_key(names: Sequence[str]) -> str:
    """The pattern of any of these names as a key."""
    return rf"""{_any_of(names)}["']?[ \t]*:"""


def _as_name(names: Sequence[str]) -> str:
    """The pattern of any of these names; in the words of a page, d_v = 3 is the size of the
    values.
    """
    return rf"{_any_of(names)}(?![\w'])(?!\s*=\s*[0-9])"


def _any_of(names: Sequence[str]) -> str:
    escaped = [re.escape(name) for name in names]
    return f"(?:{'|'.join(escaped)})"


# Each as names, which are sought first since they are few, and as what may stand before one: alone,
# or as a key.
_MENTIONS = (
    (_as_name(_UNAMBIGUOUS), _BEFORE_NAME),
    (_as_key(sorted(_OF_GRADIENTS)), _BEFORE_KEY),
)


def read_answers(source: Source, trace: Trace, *, for_marks: bool = False) -> Answers:
    """The answers in a file, to steps of this trace; its suffix says in which form, and else its
    content does. Those `for_marks` may have a matrix of another shape than its step, and in a file
    that was handed in blank, all steps are blank.

    Raises AttncliError (exit 3) for what is wrong in it: the first problem in the order of the
    file, with up to nineteen others as its `more`.
    """
    try:
        return _read(source, trace, for_marks)
    except AttncliError:
        if for_marks and is_blank(source.text):
            blank = {step.name: blank_answer(step) for step in trace.computed()}
            return Answers(blank, source.name)
        raise


def _read(source: Source, trace: Trace, for_marks: bool) -> Answers:
    if not source.text.strip():
        help = (
            "answers have lines such as scores: [[_, _, _], [_, _, _], …], with your numbers for _"
        )
        ErrorCollector(source).fail("the file is empty", at=0, help=help)
    source = replace(source, text=without_kept(source.text))
    form = _form(source)
    if form.module in _TYPED:
        rows = with_rows_apart(source.text, trace)
        form = form if rows == source.text else _TEXT
        source = replace(source, text=rows)
    reader = import_module(f"attncli.answers.{form.module}")
    others: OtherShapes = [] if for_marks else None
    found: Mapping[str, Answer] = reader.read(source, trace, others)
    steps = {name: found[name] for name in trace.steps if name in found}
    return Answers(steps, source.name, tuple(others or ()))


def mentions_gradients(source: Source, system: System | None = None) -> bool:
    """Whether any answer is to a step of the loss or of the backward pass, going by the names in
    the text: those that every problem has, and those of the equations of this `system`.
    """
    text = without_kept(source.text)
    return any(
        re.search(before, text[max(found.start() - 2, 0) : found.start()])
        for name, before in (*_MENTIONS, *_mentions_of(system))
        for found in re.finditer(name, text)
    )


def _mentions_of(system: System | None) -> tuple[tuple[str, str], ...]:
    """What mentions a gradient of a problem's own steps or arrays: its name as a key, or its
    symbol as a page writes it.
    """
    if system is None:
        return ()
    symbols = {each.name: each.name for each in system.arrays}
    symbols |= {each.name: each.symbol or each.name for each in system.equations}
    if not symbols:
        return ()
    keys = [gradient_name(name) for name in symbols]
    written = [each for symbol in symbols.values() for each in spellings(differential(symbol))]
    return (_as_key(keys), _BEFORE_KEY), (_as_name(written), _BEFORE_NAME)


def _form(source: Source) -> Form:
    suffix = "" if source.name == STANDARD_INPUT else PurePath(source.name).suffix.lower()
    by_suffix = (form for form in FORMS if suffix in form.suffixes)
    return next(by_suffix, None) or next(
        form for form in FORMS if form.looks_like.search(source.text)
    )
