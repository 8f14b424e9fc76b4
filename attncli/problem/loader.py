"""Reads a problem: a file or bytes to a tree, and the tree to a checked Problem; changes its mask or its scale."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike, fspath

from attncli.errors import AttncliError, Exit, usage_error
from attncli.problem.assembly import read_root
from attncli.problem.conventions import named
from attncli.problem.files import STANDARD_INPUT
from attncli.problem.model import Problem
from attncli.problem.nodes import Leaf, Node
from attncli.problem.plain import read_plain
from attncli.problem.settings import read_scale
from attncli.problem.source import Source, decode, read_source
from attncli.problem.values import ErrorCollector, Value


def load(path: str, *, convention: str | None = None, outside: bool = False) -> Problem:
    """The problem in a file, or on standard input for "-".

    `convention` names the software, such as "torch", by whose meaning a mask is read that does not say its own;
    `outside` lets `{file: …}` lead out of the problem's folder.
    Raises AttncliError: exit 2 for a convention that is none, exit 4 where the file cannot be read, exit 3 for what
    is wrong in it, the first problem in the order of the file with up to nineteen others as its `more`, and how
    many there are besides.
    """
    return read_problem(read_source(path, outside=outside), convention=convention)


def loads(data: bytes, name: str, *, folder: str | PathLike[str] = "", convention: str | None = None) -> Problem:
    """The problem in these bytes; `name` is the file's in messages, and its suffix tells JSON from YAML.

    `{file: …}` references start from `folder`, by default the current one. Raises AttncliError (exit 3).
    """
    return read_problem(decode(data, name, fspath(folder)), convention=convention)


def read_problem(source: Source, *, convention: str | None = None, scores: bool = True) -> Problem:
    """The problem a text tells; AttncliError as for `load`.

    `scores` says whether the matrix of scores is going to be held, and so may not be too large.
    """
    reads = named(convention)
    errors, root = read_tree(source)
    return read_root(root, errors, reads, scores=scores)


def read_tree(source: Source, *, not_finite: bool = False) -> tuple[ErrorCollector, Node]:
    """The tree of a file with positions, and the collector of what is wrong with it.

    `not_finite` lets JSON have NaN, Infinity and -Infinity, as other programs write them.
    """
    errors = ErrorCollector(source)
    if source.name.lower().endswith(".json"):
        return errors, _json(errors, not_finite)
    if source.name == STANDARD_INPUT and source.text.lstrip()[:1] in ("{", "["):
        try:
            return errors, _json(errors, not_finite)
        except AttncliError as json_error:  # flow YAML begins with the same signs
            errors = ErrorCollector(source)
            try:
                return errors, _yaml(errors)
            except AttncliError as yaml_error:
                looks_like_json = source.text.lstrip(" \t\r\n{[").startswith('"')
                raise (json_error if looks_like_json else yaml_error) from None
    return errors, _yaml(errors)


def _json(errors: ErrorCollector, not_finite: bool) -> Node:
    from attncli.problem.json_reader import read_json  # each takes a while, and most need one

    return read_json(errors, not_finite=not_finite)


def _yaml(errors: ErrorCollector) -> Node:
    plain = read_plain(errors.source.text)
    if plain is not None:
        return plain
    from attncli.problem.yaml_reader import read_yaml

    return read_yaml(errors)


def change(problem: Problem, *, mask: str | None = None, scale: str | None = None, outside: bool = False) -> Problem:
    """The problem with another mask (in YAML, as in a file) or scale; AttncliError (exit 2) for bad ones.

    The mask is read by the convention of the problem. A file that it refers to and that cannot be read is exit 4,
    as in a problem; `outside` is as for `load`, and the folder the current one.
    """
    if mask is not None:
        if not mask.strip():
            raise usage_error("--mask is empty", help="write none, causal or a form: '{padding: [1, 1, 0]}'")
        errors = ErrorCollector(Source("--mask", mask, outside=outside), Exit.USAGE)
        from attncli.problem.mask_reader import read_mask

        reading = read_mask(Value(_yaml(errors), "mask", errors), named(problem.convention))
        reading.check(problem.given)
        errors.stop()
        problem = replace(problem, mask=reading.mask())
    if scale is not None:
        errors = ErrorCollector(Source("--scale", scale), Exit.USAGE)
        number = read_scale(Value(Leaf(scale.strip(), False, 0), "scale", errors))
        errors.stop()
        problem = replace(problem, scale=number)
    return problem
