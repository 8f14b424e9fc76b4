"""The problem that a page keeps: lines of YAML in a comment, which readers of the page do not see.

Whoever has the page has the problem, to the last digit: `attncli compute page.md` works it out
again.
"""

from __future__ import annotations

from attncli.kept_text import kept_text, places_of_kept
from attncli.problem.model import Problem
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf, MappingNode, Node
from attncli.problem.text.source import Source

# The keys of the JSON of a page, and the one that keeps its problem.
_KEYS_OF_JSON = ("attncli", "steps")
KEY = "problem"


def text_to_keep(problem: Problem) -> str:
    """The problem as YAML; empty where its arrays are so large that they need a file of their
    own.
    """
    # Few pages are written, and every problem is read.
    from attncli.problem.saving import as_yaml

    text, arrays = as_yaml(problem, "")
    return "" if arrays else text


def kept_tree(source: Source) -> tuple[ErrorCollector, Node] | None:
    """The tree of the problem that a page in text keeps; None where it keeps none.

    Raises AttncliError (exit 3) where there are several pages in one file.
    """
    found = list(places_of_kept(source.text))
    if not found:
        return None
    errors = ErrorCollector(source)
    if len(found) > 1:
        second, _ = found[1]
        help = "name the file of one of them"
        errors.fail("there are several pages in this file", at=second, help=help)
    return _tree(source, kept_text(source.text, *found[0]))


def kept_tree_of_json(source: Source, root: Node) -> tuple[ErrorCollector, Node] | None:
    """The same of a page in JSON with this tree; raises AttncliError (exit 3) for a part of one."""
    if not isinstance(root, MappingNode) or not all(key in root.values for key in _KEYS_OF_JSON):
        return None
    kept = root.values.get(KEY)
    if not isinstance(kept, Leaf):
        ErrorCollector(source).fail(
            "this is a trace that attncli wrote, not a problem",
            at=root.keys["attncli"],
            help="name the problem that it was made of, or a whole page of it",
        )
    return _tree(source, kept.text)


def without_kept(text: str) -> str:
    """The text of a page with blanks in the place of its problem."""
    places = list(places_of_kept(text))
    if not places:
        return text
    # Few answers stand in pages, and it brings all that finds pasted matrices.
    from attncli.problem.text.pasted.named import blanked

    for start, end in places:
        text = blanked(text, start, end)
    return text


def _tree(source: Source, text: str) -> tuple[ErrorCollector, Node]:
    from attncli.problem.text.yaml_parser import parse_yaml

    errors = ErrorCollector(Source(source.name, text, source.folder, source.outside))
    return errors, parse_yaml(errors)
