"""What every format of text says the same way: chains of equal expressions, shapes, the opening title."""

from __future__ import annotations

from collections.abc import Sequence

from attncli.equation.notation import Notation
from attncli.equation.tree import Equation, Expression
from attncli.equation.write import write, write_equation
from attncli.page.document import Block, Document, Formula, Heading, WorkedLine


def chain(parts: Sequence[Equation | Expression], notation: Notation) -> str:
    """The parts of a formula, joined by equals signs."""
    spelled = [
        write_equation(part, notation) if isinstance(part, Equation) else write(part, notation) for part in parts
    ]
    return f" {notation.equals} ".join(spelled)


def sides(line: WorkedLine, notation: Notation) -> tuple[str, str]:
    """A worked line as what is worked, 2·2 + 0·1 + 1·1, and what comes out, = 5; empty where there is none."""
    if not line.expressions:
        return "", ""
    if not line.expressions:
        return "", ""
    *worked, result = [write(expression, notation) for expression in line.expressions]
    if not worked:
        return result, ""
    relation = notation.equals if line.exact else notation.nearly
    return f" {notation.equals} ".join(worked), f"{relation} {result}"


def product(shapes: Sequence[tuple[int, ...]], times: str = "×", dot: str = "·") -> str:
    """The shapes of a product, (3×4)·(4×3) = (3×3); a single shape stands alone."""
    *factors, result = [f"({times.join(map(str, shape))})" for shape in shapes]
    return f"{dot.join(factors)} = {result}" if factors else result


def opening(document: Document) -> tuple[Block, ...]:
    """The page's blocks, the title first where no block says it already."""
    first = document.blocks[0] if document.blocks else None
    titled = isinstance(first, Heading) and first.level == 1
    if titled or not document.title:
        return document.blocks
    return (Heading(document.title, level=1), *document.blocks)


def shapes_in(blocks: Sequence[Block]) -> tuple[tuple[int, ...], ...]:
    """The shapes of a step's product, if just one formula before the next heading has them."""
    found: list[tuple[tuple[int, ...], ...]] = []
    for block in blocks:
        if isinstance(block, Heading):
            break
        if isinstance(block, Formula) and block.shapes:
            found.append(block.shapes)
    return found[0] if len(found) == 1 else ()
