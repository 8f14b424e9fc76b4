"""Answers in YAML or JSON: {scores: [[1, 5, 3], …], weights: …}, each matrix nested as in the
trace.
"""

from __future__ import annotations

from contextlib import suppress

from attncli.answers.model import Answer, OtherShapes
from attncli.answers.nested import read_nested
from attncli.answers.pages import Page
from attncli.answers.percent import is_in_percent
from attncli.answers.remarks import is_remark
from attncli.answers.steps import NoStep, step_named
from attncli.answers.texts import add_named
from attncli.english import shorten
from attncli.errors import AttncliError
from attncli.problem.keys import ARRAYS, KEYS
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import MappingNode, describe
from attncli.problem.text.reading import Reading
from attncli.problem.text.source import Source
from attncli.problem.text.tree import read_tree
from attncli.problem.text.values import Value
from attncli.tracing.model import Trace

# Of the keys of a problem, these are no arrays, which answers may repeat.
_SETTINGS = frozenset(key for key, row in KEYS.items() if row.setting or key in ("title", "tokens"))
_PROBLEM_FIRST = (
    "check takes the problem first, and then the answers: attncli check PROBLEM ANSWERS"
)
_FORM = "write scores: [[_, _, _], [_, _, _], …], with your numbers for _"


def read(source: Source, trace: Trace, others: OtherShapes = None) -> dict[str, Answer]:
    """The answer to each step that is named; raises AttncliError (exit 3) for what is wrong."""
    try:
        errors, root = read_tree(source)
    except AttncliError as error:
        return _read_as_text(source, trace, others, error)
    if not isinstance(root, MappingNode):
        if in_text := _read_as_text(source, trace, others, None):
            return in_text
        errors.fail(
            f"answers need the names of steps, not {describe(root)}", at=root.at, help=_FORM
        )
    if "attncli" in root.keys and "steps" in root.keys:
        root = _steps_of_trace(root)
    if all(key in KEYS for key in root.keys) and not _SETTINGS.isdisjoint(root.keys):
        given = [key for key in root.keys if key in ARRAYS]
        if given:
            help = (
                "check takes the problem first, and then the answers: attncli check PROBLEM ANSWERS"
            )
            errors.fail("this file holds a problem, not answers", at=root.at, help=help)
    answers: dict[str, Answer] = {}
    written_as: dict[str, str] = {}
    for name, node in root.values.items():
        at = root.keys[name]
        try:
            step = step_named(name, trace)
        except NoStep as error:
            if is_remark(name, node):
                continue
            errors.add(error.message, at=at, help=error.help, path=shorten(name))
            continue
        if step.name in answers:
            message = f"{step.name} is given twice, as {written_as[step.name]} and as {name}"
            errors.add(message, at=at, help="keep one of the two", path=name)
            continue
        value = Value(node, name, Reading(errors))
        if answer := read_nested(value, step, others, in_percent=is_in_percent(name)):
            answers[step.name], written_as[step.name] = answer, name
    errors.stop()
    if not answers:
        errors.fail("there are no answers here", at=root.at, help=_FORM)
    return answers


def _steps_of_trace(root: MappingNode) -> MappingNode:
    """The steps of a trace, as `compute --format json` writes it, as answers have them.

    An exact page has its numbers in fractions and roots, too.
    """
    answers = MappingNode(root.at)
    steps = root.values["steps"]
    if not isinstance(steps, MappingNode):
        return answers
    for name, step in steps.values.items():
        if not isinstance(step, MappingNode):
            continue
        found = step.values.get("exact") or step.values.get("value")
        if found is not None:
            answers.values[name], answers.keys[name] = found, steps.keys[name]
    return answers


def _read_as_text(
    source: Source, trace: Trace, others: OtherShapes, error: AttncliError | None
) -> dict[str, Answer]:
    """The answers in a text that is no YAML, where there are any; else raises what is wrong with it
    as YAML, if anything is.
    """
    page = Page(ErrorCollector(source), trace, others)
    with suppress(AttncliError):
        if not source.name.lower().endswith(".json"):
            add_named(page)
        # In a file of YAML, what is wrong is wrong as YAML.
        is_yaml = source.name.lower().endswith((".yaml", ".yml"))
        if (page.errors.count and not is_yaml) or (page.answers and not page.errors.count):
            error = None
    if error is not None:
        raise error
    return page.finish("") if page.answers or page.errors.count else {}
