"""Reads single values of the tree: a number, an integer, a truth value, a word of a choice, a list of labels."""

from __future__ import annotations

import re
from collections.abc import Collection

from attncli.errors import did_you_mean
from attncli.problem.misread import why_not_a_number
from attncli.problem.model import Scalar
from attncli.problem.numbers import MINUS_INFINITY, NumberError, as_float, is_plain
from attncli.problem.report import Report
from attncli.problem.tree import Leaf, Mapping, Node, Sequence, describe, is_null, shorten, truth

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")


def read_number(node: Node, path: str, report: Report, *, minus_infinity: bool = False) -> float | None:
    """A finite number (or -inf where a mask allows it); None after reporting anything else."""
    if not isinstance(node, Leaf):
        report.add(f"must be a number, not {describe(node)}", at=node.at, path=path, help="write one number")
        return None
    text = node.text
    if text in MINUS_INFINITY:
        if minus_infinity:
            return float("-inf")
        message, help = why_not_a_number(text)
    elif node.quoted and is_plain(text):
        message, help = f'"{shorten(text)}" is text, not a number', f"remove the quotes: {shorten(text)}"
    else:
        try:
            return as_float(text)
        except NumberError as error:
            message, help = error.message, error.help
    report.add(message, at=node.at, path=path, help=help)
    return None


def read_scalar(node: Node, path: str, report: Report) -> Scalar | None:
    """A finite number with its text; None after reporting anything else."""
    value = read_number(node, path, report)
    return Scalar(value, node.text) if value is not None and isinstance(node, Leaf) else None


def read_integer(node: Node, path: str, report: Report, *, least: int, help: str) -> int | None:
    """A whole number of at least `least`; None after reporting anything else."""
    if isinstance(node, Leaf) and not node.quoted and _INTEGER.fullmatch(node.text) and len(node.text) < 19:
        value = int(node.text)
        if value >= least:
            return value
    report.add(f"must be a whole number of at least {least}, not {describe(node)}", at=node.at, path=path, help=help)
    return None


def read_truth(node: Node, path: str, report: Report) -> bool | None:
    """true or false; None after reporting anything else."""
    value = truth(node)
    if value is None:
        report.add(f"must be true or false, not {describe(node)}", at=node.at, path=path, help="write true or false")
    return value


def read_word(node: Node, path: str, report: Report, choices: Collection[str]) -> str | None:
    """One of some words; None after reporting anything else."""
    if isinstance(node, Leaf) and node.text in choices:
        return node.text
    listed = ", ".join(choices)
    otherwise = f"choose one of {listed}"
    report.add(
        f"must be one of {listed}, not {describe(node)}",
        at=node.at,
        path=path,
        help=did_you_mean(node.text, list(choices), otherwise) if isinstance(node, Leaf) else otherwise,
    )
    return None


def read_text(node: Node, path: str, report: Report) -> str | None:
    """Text in one value, taken as it was written; None after reporting anything else."""
    if isinstance(node, Leaf) and node.text and (node.quoted or not is_null(node)):
        return node.text
    report.add(f"must be text, not {describe(node)}", at=node.at, path=path, help="write a text in quotes")
    return None


def read_labels(node: Node, path: str, report: Report) -> tuple[str, ...] | None:
    """A list of labels, taken as written (2024 stays 2024, null is the word); None after reporting anything else."""
    if not isinstance(node, Sequence):
        report.add(
            f"must be a list of labels, not {describe(node)}",
            at=node.at,
            path=path,
            help=f'write {path}: ["I", "love", "AI"]',
        )
        return None
    before = report.count
    labels = []
    for position, item in enumerate(node.items):
        if isinstance(item, Leaf) and item.text:
            labels.append(item.text)
            continue
        what = '""' if isinstance(item, Leaf) and item.quoted else describe(item)
        report.add(
            f"a label must be a text of at least one character, not {what}",
            at=item.at,
            path=f"{path}[{position}]",
            help="a blank label would leave its row without a name",
        )
    return tuple(labels) if report.count == before else None


def insist_keys(node: Mapping, path: str, report: Report, known: Collection[str]) -> bool:
    """Whether a mapping has known keys only, each unknown one reported."""
    for key, at in node.keys.items():
        if key not in known:
            otherwise = f"the keys known here are {', '.join(known)}"
            report.add(
                f"there is no such key as {shorten(key)}",
                at=at,
                path=path,
                help=did_you_mean(key, list(known), otherwise),
            )
    return all(key in known for key in node.keys)
