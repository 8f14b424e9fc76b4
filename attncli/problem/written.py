"""Advice on weights by how they were written: an array in a file is turned, or cut, where it is named."""

from __future__ import annotations

from collections.abc import Iterator

from attncli.problem.nodes import Leaf, Mapping, Sequence, truth
from attncli.problem.values import ErrorCollector

WEIGHTS = ("W_Q", "W_K", "W_V")


def transpose_advice(name: str, fits_turned: bool, errors: ErrorCollector) -> str:
    """The end of a help line for weights whose rows and columns may be swapped; empty where that would not help.

    Of a part that was cut out of columns that are rows, the shape does not tell whether the whole would fit.
    """
    reference = _reference(name, errors)
    if not fits_turned and (reference is None or "part" not in reference.keys):
        return ""
    if reference is None:
        return f"; transpose {name} if it is laid out as in torch.nn.Linear"
    if "transpose" in reference.keys and truth(reference.values["transpose"]):
        return "; remove transpose: true if it is not laid out as in torch.nn.Linear"
    return "; write transpose: true if it is laid out as in torch.nn.Linear"


def without_part(errors: ErrorCollector) -> Iterator[tuple[str, str, bool]]:
    """Weights that take the whole of an array from which others are taken, too: their name, that of another, and
    whether the other takes a part."""
    references = {name: found for name in WEIGHTS if (found := _reference(name, errors))}
    for name, reference in references.items():
        if "part" not in reference.keys:
            same = [each for each in references if each != name and _array(references[each]) == _array(reference)]
            cut = [each for each in same if "part" in references[each].keys]
            if same:
                yield name, (cut or same)[0], bool(cut)


def _reference(name: str, errors: ErrorCollector) -> Mapping | None:
    """The mapping that names an array in a file, where that is how it was given."""
    node = errors.root.values.get(name) if isinstance(errors.root, Mapping) else None
    return node if isinstance(node, Mapping) and "file" in node.keys else None


def _array(reference: Mapping) -> list[list[str]]:
    """What says which array is meant, as texts that can be compared."""
    named = [reference.values[key] for key in ("file", "name", "index") if key in reference.keys]
    items = [node.items if isinstance(node, Sequence) else [node] for node in named]
    return [[item.text for item in each if isinstance(item, Leaf)] for each in items]
