"""What a page that works itself out shows at once, and what it has behind *How?*.

Titles, sentences, formulas and matrices are seen at once. Behind *How?* are the formula of a cell,
the worked lines, and what is said of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from attncli.equation.nodes import Equation
from attncli.equation.notation import UNICODE
from attncli.page import document as page
from attncli.render.html.matrix import NARROW_MATRIX, fits_beside, is_narrow, width

# A matrix beside a sentence is no wider, in digits.
WIDEST_BESIDE = 56


class Pair(NamedTuple):
    """A paragraph and the small matrix below it, which may stand beside others."""

    said: page.Paragraph
    grid: page.Grid


class Beside(NamedTuple):
    """What is said of matrices, which stand beside it where there is room."""

    said: tuple[page.Block, ...]
    matrices: page.Grid | page.Product


class How(NamedTuple):
    """What is closed until somebody asks for it."""

    blocks: tuple[page.Block, ...]


Shown: TypeAlias = page.Block | Pair | Beside | How


def paired(blocks: Iterable[page.Block]) -> Iterator[page.Block | Pair]:
    """The blocks; a paragraph and the small matrix after it are one, and may stand beside
    others.
    """
    said: page.Paragraph | None = None
    for block in blocks:
        if said and isinstance(block, page.Grid) and not block.closed and is_narrow(block):
            yield Pair(said, block)
            said = None
            continue
        if said:
            yield said
        said = block if isinstance(block, page.Paragraph) and block.kind == "text" else None
        if not said:
            yield block
    if said:
        yield said


def folded(blocks: Iterable[page.Block | Pair]) -> Iterator[Shown]:
    """The blocks, with each small matrix beside its sentence, and the work of each step closed."""
    section: list[page.Block | Pair] = []
    for block in blocks:
        if isinstance(block, page.Heading):
            yield from _Folding(section).blocks()
            yield block
            section = []
        else:
            section.append(block)
    yield from _Folding(section).blocks()


class _Folding:
    """What follows a heading, up to the next one."""

    def __init__(self, blocks: list[page.Block | Pair]) -> None:
        self._blocks = blocks
        self._has_work = any(isinstance(block, page.Worked) for block in blocks)
        # Read, and not shown yet.
        self._said: list[page.Block] = []
        self._cell_formulas: list[page.Block] = []
        self._work: list[page.Block] = []

    def blocks(self) -> Iterator[Shown]:
        for block in self._blocks:
            yield from self._next(block)
        yield from self._closed()
        yield from self._waiting()
        yield from self._cell_formulas

    def _next(self, block: page.Block | Pair) -> Iterator[Shown]:
        if self._work and not _is_note(block):
            yield from self._closed()
        match block:
            case page.Worked():
                yield from self._waiting()
                self._work = [*self._cell_formulas, block]
                self._cell_formulas = []
            case page.Paragraph() if self._work:
                self._work.append(block)
            case page.Formula() if self._has_work and self._is_of_cell(block):
                self._cell_formulas.append(block)
            case page.Paragraph(kind="text") | page.Formula():
                self._said.append(block)
            case page.Grid() | page.Product() if self._may_stand_beside(block):
                yield Beside(tuple(self._said), block)
                self._said = []
            case _:
                yield from self._waiting()
                yield block

    def _is_of_cell(self, block: page.Formula) -> bool:
        """Whether it says of a cell what the formula before it says of the matrix."""
        if not self._said:
            return False
        before = _target(self._said[-1])
        return before is not None and before == _target(block)

    def _may_stand_beside(self, block: page.Grid | page.Product) -> bool:
        if not self._said or any(map(_is_wide, self._said)):
            return False
        if isinstance(block, page.Product):
            return fits_beside(block)
        return not block.closed and not block.picture and width(block) <= WIDEST_BESIDE

    def _waiting(self) -> Iterator[Shown]:
        yield from self._said
        self._said = []

    def _closed(self) -> Iterator[Shown]:
        if self._work:
            yield How(tuple(self._work))
        self._work = []


def _is_note(block: page.Block | Pair) -> bool:
    return isinstance(block, page.Paragraph) and block.kind == "note"


def _is_wide(block: page.Block) -> bool:
    """Whether a formula would leave no room beside it."""
    if not isinstance(block, page.Formula):
        return False
    return len(page.formula(block.equation, UNICODE)) > NARROW_MATRIX


def _target(block: page.Block) -> str | None:
    """What a formula is about."""
    if isinstance(block, page.Formula) and isinstance(block.equation, Equation):
        return block.equation.target.name
    return None
