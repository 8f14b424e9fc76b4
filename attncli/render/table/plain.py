"""The page in words, for screen readers, plain pipes and encodings that lack the signs of a page:
nothing is drawn.

A matrix has a line for each row, `row I: 0.070, 0.707, 0.223`. Shades and verdicts are words, and
so are signs that screen readers pass over: ≈ is "about", Σ "sum over", ᵀ "transposed".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import wrap

from attncli.equation.nodes import Expression
from attncli.equation.notation import (
    CHOICE,
    PLAIN,
    PLAIN_FUNCTIONS,
    POWER,
    PRODUCT,
    UNICODE_FUNCTIONS,
    Spelling,
    operator,
)
from attncli.equation.printer import write, write_number
from attncli.equation.shapes import product_text
from attncli.escaping import label, visible
from attncli.page import document as page
from attncli.page.document import formula, sides
from attncli.page.ends import ends_of_picture
from attncli.render import Style
from attncli.render.cells import (
    HIDDEN_SIGN,
    SHADE_SIGNS,
    VERDICT_SIGNS,
    left_out_text,
    mark,
    shades_are,
    with_dots,
)

PREFIXES = {"text": "", "note": "Note: ", "warning": "Warning: "}
# Room for a number.
BLANK_WORD = "blank"
WORDS_OF_MARKS = {
    **dict(zip(SHADE_SIGNS, ("very light", "light", "dark", "very dark"), strict=True)),
    **{sign: verdict for verdict, sign in VERDICT_SIGNS.items()},
    HIDDEN_SIGN: "hidden",
    "": "",
}
_SIGNS = str.maketrans(
    {
        **dict(zip("−—“”‘’•", "--\"\"''*", strict=True)),
        "·": " times ",
        "×": " by ",
        "–": " to ",
        "→": "to",
        "≈": "about",
        "…": "...",
        "≤": "<=",
        "≥": ">=",
        "±": "+-",
        "√": "sqrt ",
        "Σ": "sum",
        "ᵀ": " transposed",
        "²": " squared",
        "∞": "infinity",
        "␣": r"\x20",
    }
)
# The words for these signs have blanks of their own.
_BESIDE = re.compile(" ?([·×–]) ?")
_ROOT = re.compile(r"√(\w+)")
# In what explains the signs of verdicts, these are the words already.
_EXPLAINED = re.compile(f"[{''.join(VERDICT_SIGNS.values())}] (?={'|'.join(VERDICT_SIGNS)})")
_WORDS_ON_A_TERMINAL = (
    "transpose",
    "row_sums",
    "column_sums",
    "row_maxima",
    "stack",
    "join",
    "rotate",
)
WORDS = replace(
    PLAIN,
    functions=PLAIN_FUNCTIONS
    | {function: UNICODE_FUNCTIONS[function] for function in _WORDS_ON_A_TERMINAL}
    | {
        "matmul": operator(" times ", PRODUCT, PRODUCT, POWER),
        "hadamard": operator(" times elementwise ", PRODUCT, PRODUCT, POWER),
        "transposed": Spelling("{0} transposed", POWER, (POWER,)),
        "floor_div": Spelling("floor({0}/{1})", needs=(PRODUCT, POWER)),
        "left_out": Spelling("... {0} more ..."),
        "comes_near": operator(" about ", CHOICE),
        "nearly": Spelling("{0}, about", CHOICE),
    },
    sums="sum over {index} of {body}",
    maxima="max over {index} of {body}",
    name=lambda name: PLAIN.name(name).replace("^T", " transposed"),
    cell=lambda name, indices: PLAIN.cell(name, indices).replace("^T", " transposed"),
    nearly="about",
)


def stream(document: page.Document, style: Style) -> Iterator[str]:
    """The page as lines, which are wrapped where a terminal has a width, and nowhere else."""
    writer = _WordWriter(style.encoding)
    if document.title:
        yield from _wrapped(writer.text(visible(document.title)), style.width)
    before: page.Block | None = None
    for block in page.without_room(document.blocks):
        run_on = isinstance(block, page.Formula) and isinstance(before, page.Formula)
        is_first = before is None and not document.title
        if not run_on and not is_first:
            yield "\n"
        for line in writer.block(block):
            yield from _wrapped(line, style.width) if line else ("\n",)
        before = block


def _wrapped(line: str, width: int | None) -> Iterator[str]:
    """A line in as many as it needs between words; no word and no number is divided."""
    if width is None:
        yield f"{line}\n"
        return
    hang = "  " if width > 20 else ""
    for part in wrap(
        line, width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False
    ):
        yield f"{part}\n"


class _WordWriter:
    """Turns one block after another into lines, with nothing that the encoding lacks."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding

    def block(self, block: page.Block) -> Iterator[str]:
        match block:
            case page.Heading(text=text, number=number, shapes=shapes):
                said = self.text(visible(text))
                if number is not None:
                    steps = "Steps" if isinstance(number, str) else "Step"
                    said = f"{steps} {self.text(str(number))}: {said}"
                if shapes:
                    said += f", {self.text(product_text(shapes))}"
                yield said
            case page.Paragraph(text=text, kind=kind):
                yield PREFIXES[kind] + self.sentence(text)
            case page.Formula(equation=equation):
                yield self.text(formula(equation, WORDS))
            case page.Worked(lines=lines, left_out=left_out):
                yield from map(self.worked, lines)
                yield from self.said(left_out)
            # The words above say where it is dark.
            case page.Grid(picture="map"):
                pass
            case page.Grid(left_out=left_out):
                if block.picture:
                    yield from self.block(ends_of_picture(block))
                    return
                yield from self.matrix(block)
                if block.shading:
                    said = shades_are(block.shading, lambda text: write_number(text, WORDS))
                    yield self.text(f"Shades: {said}.")
                yield from self.said(left_out)
            case page.Product():
                if block.shows_step:
                    for place, each in enumerate(block.instead):
                        if place:
                            yield ""
                        yield from self.block(each)
                else:
                    yield from self.meeting(block)
            case page.Table(rows=rows):
                heads = [
                    block.words.get(place) or self.sentence(head)
                    for place, head in enumerate(block.heads)
                ]
                for row in rows:
                    yield self.row(heads, list(map(self.sentence, row)))
            case page.Verbatim(lines=lines):
                yield from (self.text(visible(line)) for line in lines)
            case page.Picture(draw=draw):
                yield self.text(draw().description)
            case page.Listing(items=items, left_out=left_out):
                yield from map(self.sentence, items)
                yield from self.said(left_out)
            # Only paper has room to write by hand.
            case page.Room():
                pass

    def text(self, text: str) -> str:
        """Text that is safe already, in what the encoding has; letters that it lacks are
        escapes.
        """
        if not text.isascii():
            text = _BESIDE.sub(r"\1", _ROOT.sub(r"sqrt(\1)", _EXPLAINED.sub("", text))).translate(
                _SIGNS
            )
        return text.encode(self.encoding, "backslashreplace").decode(self.encoding)

    def formula(self, expression: Expression) -> str:
        return self.text(write(expression, WORDS))

    def sentence(self, text: page.Text) -> str:
        return "".join(
            (
                self.formula(piece.expression)
                if isinstance(piece, page.Math)
                else self.text(visible(piece))
            )
            for piece in text
        )

    def worked(self, line: page.WorkedLine) -> str:
        sums = " ".join(self.text(side) for side in sides(line, WORDS) if side)
        said = "; ".join(part for part in (sums, self.sentence(line.remark)) if part)
        return f"{self.text(label(line.label))}: {said}" if line.label else said

    def matrix(self, grid: page.Grid) -> Iterator[str]:
        """The name of a matrix and the labels of its columns, then its rows."""
        grid = grid.loaded()
        if grid.left_out:
            grid = with_dots(grid)
        heads = [self.text(label(column)) for column in grid.columns]
        name = self.formula(grid.name)
        yield f"{name}, columns: {', '.join(heads)}" if any(heads) else f"{name}:"
        forms = iter(grid.closed)
        for row, cells in zip(grid.rows, grid.cells, strict=True):
            numbers = self.numbers(cells, next(forms, ()))
            yield f"{self.place('row', row)}: {numbers}"

    def place(self, what: str, name: str) -> str:
        """Row I; just the word where there is no label."""
        return f"{what} {self.text(label(name))}".rstrip()

    def numbers(self, cells: Sequence[page.Cell], forms: Sequence[Expression] = ()) -> str:
        """Numbers in a row, each with what is to be said of it: 0.070, 0.707 (wrong).

        A number stands after its closed form where that says more.
        """
        said: list[str] = []
        for place, cell in enumerate(cells):
            number = write_number(cell.text, WORDS) if cell.text else BLANK_WORD
            shown = number
            form = self.formula(forms[place]) if forms else number
            if form != number:
                relation = "about" if cell.rounded else "="
                shown = f"{form} {relation} {number}"
            word = WORDS_OF_MARKS[mark(cell)]
            if word:
                shown += f" ({word})"
            said.append(shown)
        return self.text(", ".join(said))

    def meeting(self, product: page.Product) -> Iterator[str]:
        """The row and the column that give one cell."""
        row, column = product.meeting or (0, 0)
        first, last = product.factors[0], product.factors[-1]
        # Of a cell, all factors are matrices.
        assert isinstance(first, page.Grid)
        assert isinstance(last, page.Grid)
        yield self.line_of(first, "row", first.rows[row], first.cells[row])
        cells = [line[column] for line in last.cells]
        name = last.columns[column]
        yield self.line_of(last, "column", name, cells)

    def line_of(self, grid: page.Grid, what: str, name: str, cells: Sequence[page.Cell]) -> str:
        """A row or a column of a matrix: Q, row I: 1, 0, 2."""
        return f"{self.formula(grid.name)}, {self.place(what, name)}: {self.numbers(cells)}"

    def row(self, heads: Sequence[str], cells: Sequence[str]) -> str:
        """A row of a table, each cell with the head of its column."""
        number = ""
        if cells[0] and not heads[0]:
            # It is the number of a step.
            number = f"{cells[0]}. "
        said = []
        for head, cell in zip(heads, cells, strict=True):
            if head and cell:
                said.append(f"{head}: {cell}")
        return number + "; ".join(said)

    def said(self, left_out: page.LeftOut) -> Iterator[str]:
        if left_out:
            yield self.text(left_out_text(left_out))
