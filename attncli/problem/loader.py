"""Reads a problem: a file or bytes to a tree, and the tree to a checked Problem, every key by its kind."""

from __future__ import annotations

from functools import partial
from os import PathLike, fspath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from attncli.english import named
from attncli.errors import AttncliError
from attncli.problem.axes import PER_HEAD, axes_of, past_length, rows, rows_from, sizes
from attncli.problem.conventions import OWN, Convention, convention_named
from attncli.problem.files import STANDARD_INPUT
from attncli.problem.heads import split_heads
from attncli.problem.keys import ARRAYS, KEYS
from attncli.problem.layout_checks import check_leading, check_widths
from attncli.problem.losses import check_loss
from attncli.problem.model import Mask, Matrix, Problem, Scalar
from attncli.problem.nodes import Mapping, Node, describe
from attncli.problem.settings import READERS
from attncli.problem.shape_checks import (
    check_array_sizes,
    check_gradient,
    check_labels,
    check_per_head,
    check_products,
    check_shapes,
    check_sources,
)
from attncli.problem.source import Source, decode, read_source
from attncli.problem.values import ErrorCollector, Places, Value, places_in

if TYPE_CHECKING:
    from attncli.problem.mask_reader import MaskReading
    from attncli.problem.positions import Position

Values: TypeAlias = dict[str, Any]  # of the keys that could be read


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


def read_problem(source: Source, *, convention: str | None = None, holds_scores: bool = True) -> Problem:
    """The problem a text tells; AttncliError as for `load`.

    `holds_scores` says whether the matrix of scores is going to be held, and so may not be too large.
    """
    reads = convention_named(convention)
    errors, root = read_tree(source)
    return problem_from_tree(root, errors, reads, holds_scores=holds_scores)


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
    from attncli.problem.json_parser import parse_json  # each takes a while, and most need one

    return parse_json(errors, not_finite=not_finite)


def _yaml(errors: ErrorCollector) -> Node:
    from attncli.problem.yaml_parser import parse_yaml

    return parse_yaml(errors)


def problem_from_tree(
    root: Node, errors: ErrorCollector, convention: Convention = OWN, *, holds_scores: bool = True
) -> Problem:
    """The problem of a whole tree; AttncliError as `errors` collects them. `holds_scores` is as for `read_problem`."""
    if not isinstance(root, Mapping):
        errors.fail(
            f"a problem must be a mapping of keys to values, not {describe(root)}",
            at=root.at,
            help="write lines such as X: [[1, 0], [0, 1]]",
        )
    errors.root = root
    values: Values = {"score": "scaled_dot"} | _read_values(root, errors, convention)
    positions: tuple[Position, ...] = values.get("position") or ()
    mask: MaskReading | None = values.get("mask")
    if all(key in KEYS for key in root.keys):  # a misspelt W_K is not told again as a missing one
        check_sources(root.keys, values["score"], errors, root.at)
    at = places_in(root)
    if errors.count:
        _check_what_was_read(values, root, at, errors)
    errors.stop()  # here and below: what is checked next asks for what has been read, or for arrays that fit
    given, joined = _fitting_arrays(values, positions, at, errors, holds_scores)
    tokens, context_tokens = _labels(values, given, at, errors)
    if mask:
        mask.check(given)
    check_gradient(values.get("d_output"), given, joined, at, errors)
    loss = check_loss(values.get("loss"), given, joined, at, errors)
    errors.stop()
    numbers = _numbers_of_one_head(given)
    return Problem(
        title=values.get("title") or "",
        tokens=tokens,
        context_tokens=context_tokens,
        given=MappingProxyType(given),
        mask=mask.mask() if mask else Mask(),
        sink=values["sink"] if isinstance(values.get("sink"), Scalar) else numbers.get("sink"),
        positions=positions,
        joined=joined,
        convention=None if convention is OWN else convention.name,
        loss=loss,
        **{key: values[key] for key, row in KEYS.items() if row.setting and values.get(key) is not None},
    )


def _read_values(root: Mapping, errors: ErrorCollector, convention: Convention) -> dict[str, Any]:
    readers = READERS | {"mask": partial(READERS["mask"], convention=convention)}
    values: dict[str, Any] = {}
    for key, node in root.values.items():
        if key in KEYS:
            values[key] = readers[KEYS[key].kind](Value(node, key, errors))
        else:
            from attncli.problem.synonyms import unknown_key_help

            errors.add(f"there is no such key as {named(key)}", at=root.keys[key], help=unknown_key_help(key))
    return values


def _check_what_was_read(values: Values, root: Mapping, at: Places, errors: ErrorCollector) -> None:
    """Beside what could not be read, also tell what does not fit of what could."""
    whole = {name: values[name] for name in ARRAYS if isinstance(values.get(name), Matrix)}
    known = all(key in KEYS for key in root.keys)
    check_products(whole, at, errors, "QKV" if known else "Q")  # an unknown key may be a misspelt context
    queries = whole.get(rows_from("Q", at))
    if values.get("tokens") and queries:
        check_labels("tokens", values["tokens"], queries.shape[-2], "query", at["tokens"], errors)


def _fitting_arrays(
    values: Values, positions: tuple[Position, ...], at: Places, errors: ErrorCollector, holds_scores: bool
) -> tuple[dict[str, Matrix], bool]:
    """All arrays by name, in the order of `ARRAYS`, with heads on an axis of their own, once they are known to fit
    together; and whether queries had their heads side by side in columns."""
    read = {**values, **(values.get("past") or {})}
    for position in positions:
        read |= position.arrays
    whole = {name: read[name] for name in ARRAYS if isinstance(read.get(name), Matrix)}
    check_products(whole, at, errors)
    heads, kv_heads = values.get("heads"), values.get("kv_heads")
    check_widths(whole, heads, kv_heads, values["score"], at, errors)
    given, joined = split_heads(whole, heads, kv_heads, at, errors)
    errors.stop()
    check_leading(given, at, errors)
    check_shapes(given, at, values["score"], errors)
    errors.stop()
    for position in positions:
        position.check(given, at, errors)
    check_per_head(given, at, errors)
    errors.stop()
    check_array_sizes(given, at, errors, holds_scores=holds_scores)
    return given, joined


def _labels(
    values: Values, given: dict[str, Matrix], at: Places, errors: ErrorCollector
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of the queries and of the keys."""
    n, m = sizes(given)
    tokens = values.get("tokens") or tuple(f"t{i}" for i in range(1, n + 1))
    for name, number, row in (("tokens", n, "query"), ("context_tokens", m, "key")):
        if name in values:
            check_labels(name, values[name], number, row, at[name], errors)
    return tokens, values.get("context_tokens") or _key_labels(tokens, given)


def _key_labels(tokens: tuple[str, ...], given: dict[str, Matrix]) -> tuple[str, ...]:
    """The labels of keys that were given none: their tokens, after p1, p2, … from a cache; else c1, c2, …"""
    past, new = past_length(given), rows("K", given)
    if "context" in given or new != len(tokens):
        return tuple(f"c{j}" for j in range(1, past + new + 1))
    return (*(f"p{j}" for j in range(1, past + 1)), *tokens)


def _numbers_of_one_head(given: dict[str, Matrix]) -> dict[str, Scalar]:
    """What is given per head, taken out of the arrays as a number where there is a single head."""
    if axes_of(given).heads:
        return {}
    return {name: given.pop(name).only_number for name in PER_HEAD if name in given}
