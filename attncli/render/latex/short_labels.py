"""Short names in the place of labels that are too long, or that TeX has no letters for: T1, T2 and
so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from attncli.escaping import label
from attncli.page.drawing import Drawing, Label, Path, Shape, Words, paths_and_words
from attncli.render.latex.escape import lacks_letters, length

# A label that is wider, in digits, has a short one in its place.
WIDEST_LABEL = 30
NBSP = "\u00a0"


def is_long(name: str) -> bool:
    """Whether a label is too long for a matrix, or would be codes."""
    return lacks_letters(label(name)) or length(label(name)) > WIDEST_LABEL


def short_labels(
    labels: Iterable[str], is_replaced: Callable[[str], bool] = is_long
) -> dict[str, str]:
    """What stands for each label that is replaced; it is like none of the others."""
    names = list(dict.fromkeys(labels))
    letter = "T"
    while any(name.startswith(letter) for name in names):
        letter += "T"
    return {name: f"{letter}{number}" for number, name in enumerate(filter(is_replaced, names), 1)}


def legend(short: Mapping[str, str]) -> str:
    """The sentence that explains short labels; empty where there are none."""
    said = ", ".join(f"{brief}{NBSP}={NBSP}{label(name)}" for name, brief in short.items())
    return f"In labels, {said}." if said else ""


def labels_of(drawing: Drawing) -> list[str]:
    """The labels of a picture, each once, as they are made visible."""
    _, words = paths_and_words(drawing.shapes)
    found = (each.label.whole for each in words if each.label)
    return list(dict.fromkeys(found))


def relabelled(drawing: Drawing, short: Mapping[str, str]) -> Drawing:
    """The picture with short names in the place of its labels."""

    def renamed(shape: Shape) -> Shape:
        match shape:
            case Words(text=text, label=Label(shown, whole)) if whole in short:
                return shape._replace(text=text.replace(shown, short[whole], 1), label=None)
            case Words() | Path():
                return shape

    return drawing._replace(shapes=tuple(map(renamed, drawing.shapes)))
