"""Reads the tree of a text: as JSON or as YAML, by its name or by how it begins."""

from __future__ import annotations

from attncli.errors import AttncliError
from attncli.problem.files import STANDARD_INPUT
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf, Node
from attncli.problem.text.source import Source


def read_tree(
    source: Source, *, not_finite: bool = False, example: str = ""
) -> tuple[ErrorCollector, Node]:
    """The tree of a file with positions, and the collector of what is wrong with it.

    `not_finite` lets JSON have NaN, Infinity and -Infinity, as other programs write them. The
    `example` is what to write into a file that is empty; without one, that of a problem.
    """
    errors = ErrorCollector(source)
    if source.name.lower().endswith(".json"):
        return errors, _json(errors, not_finite)
    if source.name == STANDARD_INPUT and source.text.lstrip()[:1] in ("{", "["):
        try:
            return errors, _json(errors, not_finite)
        except AttncliError as json_error:
            # YAML in one line begins with the same signs.
            errors = ErrorCollector(source)
            try:
                return errors, _yaml(errors, example)
            except AttncliError as yaml_error:
                looks_like_json = source.text.lstrip(" \t\r\n{[").startswith('"')
                raise (json_error if looks_like_json else yaml_error) from None
    return errors, _yaml(errors, example)


def parse_value(errors: ErrorCollector) -> Node:
    """The node of a text that is a single value, as on a command line: of YAML, or a pasted matrix
    that YAML refuses; raises AttncliError for anything else.
    """
    # It brings what few commands need.
    from attncli.problem.text.pasted.spellings import behind_name, spelling_at
    from attncli.problem.text.yaml_parser import parse_yaml

    text = errors.source.text
    try:
        return parse_yaml(ErrorCollector(errors.source, errors.exit_code))
    except AttncliError as error:
        is_pasted = spelling_at(text, behind_name(text)) is not None
        if not is_pasted or error.message.endswith("is missing"):
            raise
    return Leaf(text, False, 0)


def _json(errors: ErrorCollector, not_finite: bool) -> Node:
    # Each parser takes a while to import, and most problems need one.
    from attncli.problem.text.json_parser import parse_json

    return parse_json(errors, not_finite=not_finite)


def _yaml(errors: ErrorCollector, example: str) -> Node:
    from attncli.problem.text.yaml_parser import OF_A_PROBLEM, fail_for_key, parse_yaml

    root = parse_yaml(errors, example=example or OF_A_PROBLEM)
    if isinstance(root, Leaf) and not root.quoted:
        fail_for_key(root.at, errors)
    return root
