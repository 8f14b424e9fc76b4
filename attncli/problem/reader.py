"""Reads a problem: bytes to a tree, the tree to values by the table of keys, the values to a checked Problem."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attncli.english import shorten
from attncli.errors import AttncliError, Exit, did_you_mean, usage_error
from attncli.problem.axes import axes_of, past_length, rows, sizes
from attncli.problem.conventions import OWN, Convention, named
from attncli.problem.extent import check_extent
from attncli.problem.files import STANDARD_INPUT
from attncli.problem.heads import split_heads
from attncli.problem.json_reader import read_json
from attncli.problem.keys import KEYS, LATER
from attncli.problem.layer import check_positions
from attncli.problem.masks import MaskReading, read_mask
from attncli.problem.model import GIVEN, Matrix, Problem, Scalar
from attncli.problem.positions import Position
from attncli.problem.projections import check_projections
from attncli.problem.report import Report
from attncli.problem.settings import READERS, read_scale
from attncli.problem.shapes import check_labels, check_mask, check_products, check_shapes
from attncli.problem.source import Source, decode, read_source
from attncli.problem.spot import Spot
from attncli.problem.tree import Leaf, Mapping, Node, describe
from attncli.problem.yaml_reader import read_yaml


def load(path: str, *, convention: str | None = None) -> Problem:
    """The problem in a file, or on standard input for "-".

    `convention` names the software, such as "torch", by whose meaning a mask is read that does not say its own.
    Raises AttncliError: exit 2 for a convention that is none, exit 4 where the file cannot be read, exit 3 for what
    is wrong in it, the first problem in the order of the file with up to nineteen others as its `more`, and how
    many there are besides.
    """
    return read_problem(read_source(path), convention=convention)


def loads(data: bytes, name: str, *, folder: Path | None = None, convention: str | None = None) -> Problem:
    """The problem in these bytes; `name` is the file's in messages, and its suffix tells JSON from YAML.

    `{file: …}` references start from `folder`, by default the current one. Raises AttncliError (exit 3).
    """
    return read_problem(decode(data, name, folder), convention=convention)


def read_problem(source: Source, *, convention: str | None = None) -> Problem:
    """The problem a text tells; AttncliError as for `load`."""
    reads = named(convention)
    report, root = read_tree(source)
    return read_root(root, report, reads)


def read_tree(source: Source, *, not_finite: bool = False) -> tuple[Report, Node]:
    """The tree of a file with positions, and the report that goes on collecting what is wrong with it.

    `not_finite` lets JSON have NaN, Infinity and -Infinity, as other programs write them.
    """
    report = Report(source)
    if source.name.lower().endswith(".json"):
        return report, read_json(report, not_finite=not_finite)
    if source.name == STANDARD_INPUT and source.text.lstrip()[:1] in ("{", "["):
        try:
            return report, read_json(report, not_finite=not_finite)
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

    The mask is read by the convention of the problem. A file that it refers to and that cannot be read is exit 4,
    as in a problem.
    """
    if mask is not None:
        if not mask.strip():
            raise usage_error("--mask is empty", help="write none, causal or a form: '{padding: [1, 1, 0]}'")
        report = Report(Source("--mask", mask), Exit.USAGE)
        reading = read_mask(Spot(read_yaml(report), "mask", report), named(problem.convention))
        check_mask(reading.parts, problem.given)
        report.stop()
        problem = replace(problem, mask=reading.mask())
    if scale is not None:
        report = Report(Source("--scale", scale), Exit.USAGE)
        number = read_scale(Spot(Leaf(scale.strip(), False, 0), "scale", report))
        report.stop()
        problem = replace(problem, scale=number)
    return problem


def read_root(root: Node, report: Report, convention: Convention = OWN) -> Problem:
    """The problem of a whole tree; AttncliError as the report collects them."""
    if not isinstance(root, Mapping):
        report.fail(
            f"a problem must be a mapping of keys to values, not {describe(root)}",
            at=root.at,
            help="write lines such as X: [[1, 0], [0, 1]]",
        )
    report.root = root
    values = _read_values(root, report, convention)
    given = _given(values)
    position: Position = values.get("position") or Position()
    mask: MaskReading = values.get("mask") or MaskReading()
    score = values.get("score", "scaled_dot")
    if all(key in KEYS for key in root.keys):  # a misspelt W_K is not told again as a missing one
        check_projections(root.keys, score, report, root.at)
    report.stop()
    check_products(given, root.keys, report)
    split = split_heads(given, values.get("heads"), values.get("kv_heads"), root.keys, report)
    joined = any(split[name] is not given[name] for name in ("Q", "W_Q") if name in given)
    given = split
    report.stop()
    check_shapes(given, root.keys, score, report)
    check_positions(given, position.rope, root.keys, report)
    report.stop()
    check_extent(given, root.keys, report)
    n, m = sizes(given)
    tokens = values.get("tokens") or tuple(f"t{i}" for i in range(1, n + 1))
    context_tokens = values.get("context_tokens") or _key_labels(tokens, given)
    for name, number, row in (("tokens", n, "query"), ("context_tokens", m, "key")):
        if name in values:
            check_labels(name, values[name], number, row, root.keys[name], report)
    check_mask(mask.parts, given)
    report.stop()
    sink, slope = _for_all_heads(given, "sink"), _for_all_heads(given, "slopes")
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
        sink=values["sink"] if isinstance(values.get("sink"), Scalar) else sink,
        rope=position.rope,
        alibi=position.alibi,
        slope=slope,
        joined=joined,
        convention=None if convention is OWN else convention.name,
    )


def _given(values: dict[str, Any]) -> dict[str, Matrix]:
    """The arrays that were read, by name, in the order of `GIVEN`."""
    position = values.get("position") or Position()
    arrays = {**values, **(values.get("past") or {}), "slopes": position.slopes}
    return {name: arrays[name] for name in GIVEN if isinstance(arrays.get(name), Matrix)}


def _key_labels(tokens: tuple[str, ...], given: dict[str, Matrix]) -> tuple[str, ...]:
    """The labels of keys that were given none: their tokens, after p1, p2, … from a cache; else c1, c2, …"""
    past, new = past_length(given), rows("K", given)
    if "context" in given or new != len(tokens):
        return tuple(f"c{j}" for j in range(1, past + new + 1))
    return (*(f"p{j}" for j in range(1, past + 1)), *tokens)


def _for_all_heads(given: dict[str, Matrix], name: str) -> Scalar | None:
    """A list of one number where there is a single head, taken out of the arrays as that number."""
    if name not in given or axes_of(given).heads:
        return None
    only = given.pop(name)
    written = None if only.written is None else str(only.written[0])
    return Scalar(float(only.value[0]), written or repr(float(only.value[0])))


def _read_values(root: Mapping, report: Report, convention: Convention) -> dict[str, Any]:
    readers = READERS | {"mask": partial(read_mask, convention=convention)}
    values: dict[str, Any] = {}
    for key, node in root.values.items():
        if key in KEYS:
            values[key] = readers[KEYS[key].kind](Spot(node, key, report))
        elif key in LATER:
            message, help = LATER[key]
            report.add(message, at=root.keys[key], path=key, help=help)
        else:
            report.add(
                f"there is no such key as {shorten(key)}", at=root.keys[key],
                help=did_you_mean(key, [*KEYS, *LATER], "attncli schema problem lists the keys"),
            )  # fmt: skip
    return values
