"""Reads a problem: bytes to a tree, the tree to values by the table of keys, the values to a checked Problem."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attncli.english import shorten
from attncli.errors import AttncliError, Exit, did_you_mean, usage_error
from attncli.problem.extent import check_extent
from attncli.problem.files import STANDARD_INPUT
from attncli.problem.json_reader import read_json
from attncli.problem.keys import KEYS, LATER
from attncli.problem.masks import MaskReading, read_mask
from attncli.problem.model import GIVEN, Problem
from attncli.problem.projections import check_projections
from attncli.problem.report import Report
from attncli.problem.settings import READERS, read_scale
from attncli.problem.shapes import check_labels, check_mask, check_shapes, sizes
from attncli.problem.source import Source, decode, read_source
from attncli.problem.spot import Spot
from attncli.problem.tree import Leaf, Mapping, Node, describe
from attncli.problem.yaml_reader import read_yaml


def load(path: str) -> Problem:
    """The problem in a file, or on standard input for "-".

    Raises AttncliError: exit 4 where the file cannot be read, exit 3 for what is wrong in it, the first
    problem in the order of the file with up to nineteen others as its `more`, and how many there are besides.
    """
    return read_problem(read_source(path))


def loads(data: bytes, name: str, *, folder: Path | None = None) -> Problem:
    """The problem in these bytes; `name` is the file's in messages, and its suffix tells JSON from YAML.

    `{file: …}` references start from `folder`, by default the current one. Raises AttncliError (exit 3).
    """
    return read_problem(decode(data, name, folder))


def read_problem(source: Source) -> Problem:
    """The problem a text tells; AttncliError (exit 3) as for `load`."""
    report, root = read_tree(source)
    return _problem(root, report)


def read_tree(source: Source) -> tuple[Report, Node]:
    """The tree of a file with positions, and the report that goes on collecting what is wrong with it."""
    report = Report(source)
    if source.name.lower().endswith(".json"):
        return report, read_json(report)
    if source.name == STANDARD_INPUT and source.text.lstrip()[:1] in ("{", "["):
        try:
            return report, read_json(report)
        except AttncliError as json_error:  # flow YAML begins with the same signs
            report = Report(source)
            try:
                return report, read_yaml(report)
            except AttncliError as yaml_error:
                looks_like_json = source.text.lstrip(" \t\r\n{[").startswith('"')
                raise (json_error if looks_like_json else yaml_error) from None
    return report, read_yaml(report)


def change(problem: Problem, *, mask: str | None = None, scale: str | None = None) -> Problem:
    """The problem with another mask (in YAML, as in a file) or scale; AttncliError (exit 2) for bad ones.

    A file that a mask refers to and that cannot be read is exit 4, as in a problem.
    """
    if mask is not None:
        if not mask.strip():
            raise usage_error("--mask is empty", help="write none, causal or a form: '{padding: [1, 1, 0]}'")
        report = Report(Source("--mask", mask), Exit.USAGE)
        reading = read_mask(Spot(read_yaml(report), "mask", report))
        check_mask(reading.parts, *sizes(problem.given))
        report.stop()
        problem = replace(problem, mask=reading.mask())
    if scale is not None:
        report = Report(Source("--scale", scale), Exit.USAGE)
        number = read_scale(Spot(Leaf(scale.strip(), False, 0), "scale", report))
        report.stop()
        problem = replace(problem, scale=number)
    return problem


def _problem(root: Node, report: Report) -> Problem:
    if not isinstance(root, Mapping):
        report.fail(
            f"a problem must be a mapping of keys to values, not {describe(root)}",
            at=root.at,
            help="write lines such as X: [[1, 0], [0, 1]]",
        )
    values = _read_values(root, report)
    given = {name: values[name] for name in GIVEN if values.get(name) is not None}
    mask: MaskReading = values.get("mask") or MaskReading()
    score = values.get("score", "scaled_dot")
    if all(key in KEYS for key in root.keys):  # a misspelt W_K is not told again as a missing one
        check_projections(root.keys, score, report, root.at)
    report.stop()
    check_shapes(given, root.keys, score, report)
    check_extent(given, root.keys, report)
    n, m = sizes(given)
    tokens = values.get("tokens") or tuple(f"t{i}" for i in range(1, n + 1))
    shared = "context" not in given and m == n
    context_tokens = values.get("context_tokens") or (tokens if shared else tuple(f"c{j}" for j in range(1, m + 1)))
    for name, count, rows in (("tokens", n, "query"), ("context_tokens", m, "key")):
        if name in values:
            check_labels(name, values[name], count, rows, root.keys[name], report)
    check_mask(mask.parts, n, m)
    report.stop()
    return Problem(
        title=values.get("title") or "",
        tokens=tokens,
        context_tokens=context_tokens,
        given=MappingProxyType(given),
        mask=mask.mask(),
        score=score,
        scale=values.get("scale", "default"),
        softcap=values.get("softcap"),
        exp_base=values.get("exp_base"),
    )


def _read_values(root: Mapping, report: Report) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, node in root.values.items():
        if key in KEYS:
            values[key] = READERS[KEYS[key].kind](Spot(node, key, report))
        elif key in LATER:
            message, help = LATER[key]
            report.add(message, at=root.keys[key], path=key, help=help)
        else:
            report.add(
                f"there is no such key as {shorten(key)}", at=root.keys[key],
                help=did_you_mean(key, [*KEYS, *LATER], "attncli schema problem lists the keys"),
            )  # fmt: skip
    return values
