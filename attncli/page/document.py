"""The blocks of a page: what is said, with nothing about how it looks in any format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar, overload

from attncli.equation.nodes import Call, Equation, Expression, Name
from attncli.equation.notation import UNICODE, Notation
from attncli.equation.parser import parse_expression
from attncli.equation.printer import write, write_equation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncli.page.drawing import Drawing

Item = TypeVar("Item")
# What is a formula in the names of mistakes: lengths and weights, the root of a length, and
# products with a transposed matrix, or that were worked out in the place of another one.
_FACTOR = r"d?[A-Z](?:_[QKVO])?(?:\^T)?"
_FACTORS = rf"{_FACTOR}(?: {_FACTOR})*"
_SYMBOL = re.compile(
    r"(?<![\w\[])(?:"
    rf"(?P<product>(?:(?=[\w ^]*\^T)|(?<=instead of )|(?={_FACTORS} was worked out))"
    rf"{_FACTORS})(?![\w^])"
    r"|the root of (?P<length>d_(?:k|v|model)|n)(?![\w\[^]| of)"
    r"|(?P<symbol>d_(?:k|v|model)|W_[QKVO])(?![\w\[^])"
    r")"
)
# Of a matrix with more cells, only some rows or columns are there at a time.
MOST_CELLS_IN_MEMORY = 2**19
# "row" or "column", and how many there are in all.
LeftOut: TypeAlias = tuple[tuple[str, int], ...]


class Lazy(Sequence[Item]):
    """Items that are made again on each walk through them, because all at once would fill the
    memory.

    It is never empty, so `bool` needs no item.
    """

    def __init__(self, make: Callable[[], Iterable[Item]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Item]:
        return iter(self._make())

    def __len__(self) -> int:
        # `tuple` asks for it, and does without.
        raise TypeError("how many there are is known only at the end")

    def __bool__(self) -> bool:
        return True

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, at: int | slice) -> Item | tuple[Item, ...]:
        return tuple(self)[at]


class Once(Sequence[Item]):
    """Items that are made when somebody first asks for one: data of a page needs none of its
    blocks.
    """

    def __init__(self, make: Callable[[], Iterable[Item]]) -> None:
        self._make = make
        self._items: tuple[Item, ...] | None = None

    def _all(self) -> tuple[Item, ...]:
        if self._items is None:
            self._items = tuple(self._make())
        return self._items

    def __iter__(self) -> Iterator[Item]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, at: int | slice) -> Item | tuple[Item, ...]:
        return self._all()[at]


class LazyCells(Lazy[Sequence["Cell"]]):
    """The rows of a large matrix; `make` makes those of some of its columns."""

    def __init__(self, make: Callable[[slice], Iterable[Sequence[Cell]]]) -> None:
        super().__init__(lambda: make(slice(None)))
        self.columns = make


class Math(NamedTuple):
    """An expression standing in a sentence."""

    expression: Expression


class Field(str):
    """Room in a sentence for a few letters: dots, and in a browser a field. `name` is what is to be
    written there.
    """

    name: str

    def __new__(cls, name: str, letters: int) -> Field:
        made = super().__new__(cls, "." * letters)
        made.name = name
        return made


# A run of prose. Its strings are plain text, never markup.
Text: TypeAlias = tuple["str | Math", ...]
# Factors, then the result, as in ((3, 4), (4, 3), (3, 3)); or the result alone.
Shapes: TypeAlias = tuple[tuple[int, ...], ...]


class Heading(NamedTuple):
    """The title of a step or of a section of the page. `number` is the step's number, if it has
    one, or those of several steps, 1–3; `part` marks the title of a part of the page, such as a
    head, whose sections follow. `step` is the name of the step, if it is one; `place` that of the
    part on leading axes, ("h", 0) for the first head, if all that follows is there.

    `shapes` are those of the step's product, and `formula` is what the step says, for formats whose
    titles have room for them; the others find both below. `beside` says that the section has
    nothing but a formula and a matrix: it may stand beside another such without its title.
    """

    text: str
    number: int | str | None = None
    shapes: Shapes = ()
    part: bool = False
    step: str = ""
    place: tuple[tuple[str, int], ...] = ()
    formula: Equation | Expression | None = None
    beside: bool = False


class Paragraph(NamedTuple):
    """A few sentences; `kind` says how they are meant."""

    text: Text
    kind: Literal["text", "note", "warning"] = "text"


class Formula(NamedTuple):
    """An equation on a line of its own, S = Q K^T, or the symbol of what is given, with the shapes
    of its product. One that is `titled` stands in the title of its section, too, where that has
    room.
    """

    equation: Equation | Expression
    shapes: Shapes = ()
    titled: bool = False


class WorkedLine(NamedTuple):
    """One cell worked out: where, the numbers put in, `=` or `≈`, and what comes out: 2·2 + 0·1 +
    1·1 = 5.

    `work` is None where there is nothing to work, and `result` too where the remark says it all. It
    `holds` where `=` stands between them. `remark` is a word on the line, e.g. why a cell is
    hidden. `cell` is where the cell is in its array, if the line is of a whole cell.
    """

    label: str
    work: Expression | None = None
    result: Expression | None = None
    holds: bool = True
    remark: Text = ()
    cell: tuple[int, ...] | None = None


class Worked(NamedTuple):
    """Worked lines that belong together; `left_out` says of which rows or columns they are
    missing.
    """

    lines: Sequence[WorkedLine]
    left_out: LeftOut = ()


class Cell(NamedTuple):
    """One printed number: its text in ASCII ("-inf", "1/3", "0.707"), and how it is set off.
    Without a text it is room to write one.

    `shade` from 0 to 1 asks for a heat-map colour; `hidden` marks what a mask hides; `rounded` says
    that the number is only near the closed form beside it. `verdict` is that on a number which
    somebody wrote. `marked` sets off the numbers that one cell is worked out from.
    """

    text: str
    shade: float | None = None
    hidden: bool = False
    rounded: bool = False
    verdict: Literal["right", "carried", "rounding", "wrong", "missing"] | None = None
    marked: bool = False


class Shading(NamedTuple):
    """What the shades of a matrix stand for: the printed numbers of the first and the last one.

    `signed`: the shade in the middle is that of 0. `least` and `most` are the smallest and the
    largest number where they lie beyond these shades, else "".
    """

    low: str
    high: str
    signed: bool = False
    least: str = ""
    most: str = ""


class Grid(NamedTuple):
    """A matrix with its labels. `columns` is empty for a single column of numbers without a head.

    `closed` are the closed forms that its numbers are the decimals of, to be shown beside them. Of
    a long matrix there may be no more than its ends: then `left_out` tells of which rows or
    columns. A `picture` is a long matrix with a shade in every cell, for a terminal, where its
    digits have no room; it says whether shades are compared within their rows, as weights are, or
    within the whole matrix; a `map` is a small one, whose digits stand further below. `step` is the
    name of the array whose numbers stand here as they stand in it, or `turned`: its rows as
    columns. `shading` says what its shades stand for, if any.
    """

    name: Expression
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Sequence[Sequence[Cell]]
    closed: tuple[tuple[Expression, ...], ...] = ()
    left_out: LeftOut = ()
    picture: Literal["rows", "matrix", "map"] | None = None
    step: str = ""
    turned: bool = False
    shading: Shading | None = None

    def loaded(self) -> Grid:
        """The same with its cells in memory, unless there are too many of them."""
        few = len(self.rows) * max(1, len(self.columns)) <= MOST_CELLS_IN_MEMORY
        return self._replace(cells=tuple(self.cells)) if few else self

    def block(self, start: int, end: int) -> Sequence[Sequence[Cell]]:
        """The cells of some columns, in memory."""
        if isinstance(self.cells, LazyCells):
            return tuple(self.cells.columns(slice(start, end)))
        return [row[start:end] for row in self.cells]

    def marked(self, row: int | None = None, column: int | None = None) -> Grid:
        """The same with a row marked, a column, or the cell in which both meet."""
        cells: list[Sequence[Cell]] = []
        for at, line in enumerate(self.cells):
            if row not in (None, at):
                cells.append(line)
            elif column is None:
                cells.append(tuple(cell._replace(marked=True) for cell in line))
            else:
                cell = line[column]._replace(marked=True)
                cells.append((*line[:column], cell, *line[column + 1 :]))
        return self._replace(cells=tuple(cells))

    @property
    def rounded(self) -> bool:
        """Whether any of the numbers is not all of its closed form."""
        return bool(self.closed) and any(cell.rounded for row in self.cells for cell in row)


# A matrix, or only its letter.
Factor: TypeAlias = "Grid | Math"


class Product(NamedTuple):
    """A matrix beside the matrices that it is the product of: [Q]·[Kᵀ] = [S]; the result alone has
    its labels.

    A factor that a page has shown before is only its letter: X·[W_K] = [K]. `added` are matrices
    added to the product, such as a bias, whose one row is added to every row. `meeting` is the row
    of the first factor and the column of the last one that give one cell: these are marked.
    `instead` stands in its place where it is too wide for a page.
    """

    factors: tuple[Factor, ...]
    result: Grid
    instead: tuple[Block, ...]
    added: tuple[Factor, ...] = ()
    meeting: tuple[int, int] | None = None

    @property
    def operands(self) -> tuple[tuple[str, Factor], ...]:
        """What stands before the result, each matrix with the sign before it: "", "·" or "+"."""
        first, *others = self.factors
        return (
            ("", first),
            *(("·", each) for each in others),
            *(("+", each) for each in self.added),
        )

    @property
    def matrices(self) -> tuple[Grid, ...]:
        """All that have numbers here, the result last."""
        before = [each for each in (*self.factors, *self.added) if isinstance(each, Grid)]
        return (*before, self.result)

    def has(self, step: str) -> bool:
        """Whether the matrix of a step stands before the result as it is, and not transposed."""
        return any(each.step == step and not each.turned for each in self.matrices[:-1])

    @property
    def shows_step(self) -> bool:
        """Whether the result is the matrix of a step, whose labels have to be seen, and not a cell
        that is worked.
        """
        return self.result in self.instead

    def marked(self) -> Product:
        """The same with the cells marked that `meeting` says."""
        if self.meeting is None:
            return self
        row, column = self.meeting
        first, *between, last = self.factors
        # Of a cell, all factors are matrices.
        assert isinstance(first, Grid)
        assert isinstance(last, Grid)
        factors = (first.marked(row=row), *between, last.marked(column=column))
        added: list[Factor] = []
        for each in self.added:
            assert isinstance(each, Grid)
            own_row = row if len(each.rows) > 1 else 0
            added.append(each.marked(row=own_row, column=column))
        result = self.result.marked(row=row, column=column)
        return self._replace(factors=factors, added=tuple(added), result=result)


class Table(NamedTuple):
    """A table of sentences, e.g. the summary of the steps; `right` names the columns of numbers.

    Columns that are `whole`, such as names, are broken over lines only where there is no other way.
    A table that `sorts` is sorted by a click on a heading, in the page of a browser: a column by
    its numbers or words, or, if it has `ranks`, by the rank of each row. Columns whose heads are
    signs have `words` for those who hear the page.
    """

    head: tuple[str | Text, ...]
    rows: tuple[tuple[Text, ...], ...]
    right: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()
    sorts: bool = False
    ranks: Mapping[int, Sequence[int]] = MappingProxyType({})
    words: Mapping[int, str] = MappingProxyType({})

    @property
    def heads(self) -> tuple[Text, ...]:
        """The first line as sentences."""
        return tuple((each,) if isinstance(each, str) else each for each in self.head)


class Room(NamedTuple):
    """Room to write so many lines by hand, below what they belong to. Only paper has it."""

    lines: int


class Verbatim(NamedTuple):
    """Lines as they stand in a file, in letters that are all as wide, so that a caret can stand
    under one of them.
    """

    lines: tuple[str, ...]


class Listing(NamedTuple):
    """A list of sentences; `left_out` tells what others it would have."""

    items: tuple[Text, ...]
    left_out: LeftOut = ()


class Picture(NamedTuple):
    """A picture, which `draw` makes when a format has room for it. No other picture of the page has
    its `name`.
    """

    name: str
    draw: Callable[[], Drawing]


Block: TypeAlias = (
    Heading
    | Paragraph
    | Formula
    | Worked
    | Grid
    | Product
    | Table
    | Listing
    | Verbatim
    | Room
    | Picture
)


class Live(NamedTuple):
    """What a page needs to work itself out again: a problem as data, and the page's blocks in every
    setting.

    `layouts` are the blocks by the words of their setting, the first that of the page itself. Their
    numbers are all 0, since these are worked out, and there are no worked lines.
    """

    data: dict[str, Any]
    layouts: Mapping[str, tuple[Block, ...]]


# A cell of an array by its name and its place, or a number by its name.
CellKey: TypeAlias = tuple[str, tuple[int, ...]]


class CellContent(NamedTuple):
    """What stands in a cell of a workbook: its number, and what this is worked out from.

    The leaves of `work` are cells, Q[0, 2], rows or columns of cells, Q[0, 0:2], and numbers that
    have a cell by their name, d_k. It is None where the number is given as it is.
    """

    value: float
    work: Expression | None = None


class SheetMatrix(NamedTuple):
    """A matrix of a workbook: which cells stand in it, row by row, with its labels; `columns` as in
    a Grid.

    `given` numbers are there to be typed over. `may_hide` says that −∞ may stand in it, `shares`
    that its rows are shares of 1. `blank` is room for a reader's own numbers, which take the colour
    of a right or a wrong one.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    keys: tuple[tuple[CellKey, ...], ...]
    given: bool = False
    may_hide: bool = False
    shares: bool = False
    blank: bool = False


class Sheet(NamedTuple):
    """A sheet of a workbook; its title names it among the others."""

    title: str
    blocks: tuple[Heading | Paragraph | Formula | SheetMatrix, ...]


class Workbook(NamedTuple):
    """The sheets of a workbook, what stands in each cell, and with how many decimals it is
    shown.
    """

    sheets: tuple[Sheet, ...]
    entry: Callable[[CellKey], CellContent]
    precision: int


class TableSheet(NamedTuple):
    """A sheet of tables, one below the other. The first row of each has the names of its
    columns.
    """

    title: str
    tables: tuple[Sequence[Sequence[str | int | float | None]], ...]


class ToFillIn(NamedTuple):
    """What is typed into a page is saved as a `file` of this name: the `answers`, in which a number
    stands in the place of each `blank`, step by step. The page asks for a name, and calls the file
    so, unless the file `is_named` after somebody. Of the steps, those that are `asked` are counted;
    all if none is named. `forms` are the regular expressions and words by which the page tells
    numbers from other texts.
    """

    file: str
    answers: str
    blank: str = "_"
    is_named: bool = False
    asked: tuple[str, ...] = ()
    forms: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Document:
    """A page: its title and its blocks in order; `data` makes the same page for programs (JSON).

    Data is made of dicts, lists, numbers and words; a list of it may be `Lazy`. `array` and `rows`
    are for the page of one step of a trace: the array of its numbers, and the rows of a table of
    them, with labels. `live` is for a page that works itself out when a number is changed, and so
    is a `workbook` of formulas; one of tables has only their numbers. In LaTeX and HTML there may
    be several `copies`, each on new paper. Pages for browsers begin with the `opening`.
    `to_fill_in` is for a page with blanks to type into. `problem` makes the text of the problem
    that a whole page keeps; of others, none.
    """

    title: str
    blocks: Sequence[Block]
    data: Callable[[], dict[str, Any]] = field(default=dict, compare=False)
    array: Callable[[], NDArray[Any]] | None = field(default=None, compare=False)
    rows: Callable[[], Iterable[Sequence[str | int | float | None]]] = field(
        default=tuple, compare=False
    )
    live: Callable[[], Live] | None = field(default=None, compare=False)
    workbook: Callable[[], Workbook | tuple[TableSheet, ...]] | None = field(
        default=None, compare=False
    )
    copies: int = 1
    opening: str = field(default="", compare=False)
    to_fill_in: ToFillIn | None = field(default=None, compare=False)
    problem: Callable[[], str] = field(default=str, compare=False)

    @property
    def sorts(self) -> bool:
        """Whether a table of it is sorted by a click."""
        return any(isinstance(block, Table) and block.sorts for block in self.blocks)


def without_room(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks of a page that is not for paper."""
    return (block for block in blocks if not isinstance(block, Room))


def sequence(make: Callable[[], Iterable[Item]], *, lazy: bool) -> Sequence[Item]:
    """The items that `make` makes: all of them now, or each when it is its turn."""
    return Lazy(make) if lazy else tuple(make())


def text(source: str) -> Text:
    """Prose with expressions between backticks, "divide by `sqrt(d_k)`", as a run of text.

    For the project's own sentences only: what a person wrote is put in as a plain string.

    >>> plain(text("divide by `sqrt(d_k)`"))
    'divide by √d_k'
    """
    pieces = source.split("`")
    return tuple(
        Math(parse_expression(piece)) if position % 2 else piece
        for position, piece in enumerate(pieces)
        if piece
    )


def with_symbols(sentence: str) -> Text:
    """A sentence whose lengths, weights, roots of lengths and products, such as d_k and K Q^T, are
    formulas.

    >>> plain(with_symbols("the scores were divided by the root of d_k"))
    'the scores were divided by √d_k'
    >>> plain(with_symbols("K Q^T was worked out instead of Q K^T"))
    'K Qᵀ was worked out instead of Q Kᵀ'
    >>> pieces = with_symbols("A X was worked out instead of A V")
    >>> [each for each in pieces if isinstance(each, str)]
    [' was worked out instead of ']
    """
    pieces: list[str | Math] = []
    end = 0
    for found in _SYMBOL.finditer(sentence):
        before = sentence[end : found.start()]
        said = Math(_expression(found))
        pieces += [before, said]
        end = found.end()
    pieces.append(sentence[end:])
    return tuple(filter(None, pieces))


def _expression(found: re.Match[str]) -> Expression:
    """The formula of some words of a sentence."""
    if length := found["length"]:
        return Call("sqrt", (Name(length),))
    if symbol := found["symbol"]:
        return Name(symbol)
    factors = map(_factor, found["product"].split(" "))
    return reduce(lambda left, right: Call("matmul", (left, right)), factors)


def _factor(text: str) -> Expression:
    name = Name(text.removesuffix("^T"))
    return Call("transposed", (name,)) if text.endswith("^T") else name


def formula(equation: Equation | Expression, notation: Notation) -> str:
    """An equation as left = right, an expression as it is."""
    if isinstance(equation, Equation):
        return write_equation(equation, notation)
    return write(equation, notation)


def sides(line: WorkedLine, notation: Notation) -> tuple[str, str]:
    """A worked line as what is worked, 2·2 + 0·1 + 1·1, and what comes out, = 5; empty where there
    is none.
    """
    if line.result is None:
        return "", ""
    result = write(line.result, notation)
    if line.work is None:
        return result, ""
    work = write(line.work, notation)
    relation = notation.equals if line.holds else notation.nearly
    return work, f"{relation} {result}"


def plain(text: Text) -> str:
    """A run of prose as one string."""
    return "".join(
        write(part.expression, UNICODE) if isinstance(part, Math) else part for part in text
    )


def plain_line(line: WorkedLine) -> str:
    """A worked line as one string: 2·2 + 0·1 + 1·1 = 5."""
    return " ".join(part for part in (*sides(line, UNICODE), plain(line.remark)) if part)
