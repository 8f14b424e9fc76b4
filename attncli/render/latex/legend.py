"""Labels too long for LaTeX's matrices: T1 stands for the first of them, and a line at the top says for what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from attncli.page.document import Block, Grid, Worked
from attncli.render.labels import label
from attncli.render.latex.escape import lacks_letters, length

LONGEST = 30  # digits wide
NBSP = "\u00a0"


def shortened(blocks: Sequence[Block]) -> tuple[str, Sequence[Block]]:
    """The line that explains them, empty where there are none, and the blocks with all of them replaced."""
    grids = [block for block in blocks if isinstance(block, Grid)]
    names = list(dict.fromkeys(name for grid in grids for name in (*grid.rows, *grid.columns)))
    long = [name for name in names if lacks_letters(label(name)) or length(label(name)) > LONGEST]
    if not long:
        return "", blocks
    letter = "T"
    while any(name.startswith(letter) for name in names):
        letter += "T"
    short = {name: f"{letter}{number}" for number, name in enumerate(long, 1)}
    said = ", ".join(f"{short[name]}{NBSP}={NBSP}{label(name)}" for name in long)
    return f"In labels, {said}.", [_replaced(block, short) for block in blocks]


def _replaced(block: Block, short: Mapping[str, str]) -> Block:
    match block:
        case Grid(rows=rows, columns=columns):
            return replace(
                block,
                rows=tuple(short.get(name, name) for name in rows),
                columns=tuple(short.get(name, name) for name in columns),
            )
        case Worked(lines=lines):
            # In "long → short" only the long label is replaced; no shorter label can hold it.
            found = re.compile("|".join(map(re.escape, sorted(short, key=len, reverse=True))))
            changed = (replace(line, label=found.sub(lambda name: short[name[0]], line.label)) for line in lines)
            return replace(block, lines=tuple(changed))
    return block
