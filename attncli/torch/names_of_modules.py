"""Names of modules, short enough for a table."""

from __future__ import annotations

from collections.abc import Sequence


def shortened(names: list[str]) -> tuple[list[str], str]:
    """The names without the parts that all of them have, and these parts with a * for each of the
    others.

    `model.layers.0.self_attn` and `model.layers.1.self_attn` are 0 and 1, and
    `model.layers.*.self_attn`. Nothing is shortened if they have no such parts.
    """
    parts = [name.split(".") for name in names]
    lengths = set(map(len, parts))
    if len(lengths) > 1:
        return names, ""
    # The parts that all names have, at their places; None where names differ.
    common = [_common_to(column) for column in zip(*parts, strict=True)]
    if None not in common:
        # Names that are all alike keep their last part.
        common[-1] = None
    if all(part is None for part in common):
        return names, ""
    shortened: list[str] = []
    for name in parts:
        own = [part for part, said in zip(name, common, strict=True) if said is None]
        shortened.append(".".join(own))
    pattern = ["*" if said is None else said for said in common]
    return shortened, ".".join(pattern)


def _common_to(parts: Sequence[str]) -> str | None:
    """The part that all of these are, or None."""
    first, *others = parts
    return first if all(other == first for other in others) else None
