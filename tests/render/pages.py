"""Pages for the renderers' tests, built by hand from blocks."""

from attncli.equation.exact import expression_of, read_exact
from attncli.equation.nodes import Call, Expression, Number
from attncli.equation.parser import parse_equation, parse_expression
from attncli.page.document import (
    Block,
    Cell,
    Document,
    Formula,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Picture,
    Product,
    Room,
    Shading,
    Table,
    Verbatim,
    Worked,
    WorkedLine,
    text,
)
from attncli.page.drawing import Drawing, Path, lines

HOSTILE = (
    "a|b",
    "[red]x[/red]",
    r"\input{/etc/passwd}",
    "</script><b>",
    "_ & # } ^ \\ % $x$ {b} ~",
    "[/]",
    ":smile: *a* **b** `c` ~~d~~",
    "日本語",
    "👩\u200d👩\u200d👧",
    "\x1b[31m",
    "\u202eabc",
    " lead",
    "# 1. - x",
    "Łódź naïve ą",
    "x\ny",
    "--- '' \"q\" ?` !`",
)


def number(text: str) -> Number:
    return Number(None, text)


def dot(*pairs: tuple[str, str]) -> Expression:
    return Call("add", tuple(Call("mul", (number(left), number(right))) for left, right in pairs))


def grid(
    name: str,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    *cells: str,
    hidden: str = "",
    shaded: bool = False,
) -> Grid:
    """A matrix from one line of text per row; `hidden` names the texts that a mask hides."""

    def cell(text: str) -> Cell:
        return Cell(
            text, float(text) if shaded and text != "-inf" else None, text in hidden.split()
        )

    return Grid(
        parse_expression(name),
        rows,
        columns,
        tuple(tuple(map(cell, line.split())) for line in cells),
        shading=Shading("0", "1") if shaded else None,
    )


def closed_grid(
    rows: tuple[str, ...] = ("I", "AI"), columns: tuple[str, ...] = ("I", "AI")
) -> Grid:
    """A matrix with closed forms beside its decimals."""
    forms = (("1/sqrt(3)", "0"), ("e^(5/sqrt(3))", "2.5"))
    spelled = tuple(tuple(expression_of(read_exact(form)) for form in row) for row in forms)
    numbers = grid("Z", rows, columns, "0.577 0", "17.935 2.5")
    cells = tuple((row[0]._replace(rounded=True), *row[1:]) for row in numbers.cells)
    return numbers._replace(cells=cells, closed=spelled)


def page(*blocks: Block, title: str = "") -> Document:
    return Document(title, blocks)


_SCORES = grid("S", ("I", "AI"), ("I", "AI"), "0 4", "1 1")
PRODUCT = Product(
    (
        grid("Q", ("I", "AI"), ("d1", "d2"), "2 0", "0 1"),
        grid("K_T", ("d1", "d2"), ("I", "AI"), "0 2", "1 1"),
    ),
    _SCORES,
    (_SCORES,),
)

_PATH = Path(lines([(0, 5), (20, 5)]), stroke="ink")
LINE = Drawing("A line", "A line from A to B.", 20, 10, (_PATH,))
EVERY_BLOCK: tuple[Block, ...] = (
    Heading("Scores", number=4),
    Formula(parse_equation("S = Q @ K_T"), ((3, 4), (4, 3), (3, 3))),
    Formula(parse_equation("S[i, j] = sum(k, Q[i, k] * K_T[k, j])")),
    Paragraph(text("Divide by `sqrt(d_k)`, then go on.")),
    Paragraph(("Mind this.",), kind="note"),
    Paragraph(("Beware.",), kind="warning"),
    grid("S", ("I", "AI"), ("I", "AI"), "1 -2.5", "1/3 sqrt(2)"),
    closed_grid(),
    grid("Z", ("I", "AI"), ("I", "AI"), "0.5 -inf", "0.25 0", hidden="-inf 0", shaded=True),
    PRODUCT,
    PRODUCT._replace(meeting=(0, 1), added=(grid("b", ("",), ("I", "AI"), "0 0"),)),
    grid("r", ("I", "AI"), (), "25.368", "16.956"),
    Worked(
        (
            WorkedLine("I → AI", dot(("2", "2"), ("0", "1")), number("4")),
            WorkedLine(
                "I, d1",
                Call("exp", (number("2.887"),)),
                number("17.935"),
                holds=False,
                remark=("rounded",),
            ),
            WorkedLine("AI → I", remark=text("`j <= i` does not hold")),
            WorkedLine(
                "AI",
                Call("add", (number("1"), Call("left_out", (number("4"),)), number("2"))),
                number("9"),
            ),
        )
    ),
    Heading("A part"),
    Table(("step", "shape"), ((text("Queries, `X @ W_Q`"), ("3×4",)),), (1,)),
    Room(3),
    Listing((text("rows of `A` sum to 1"), ("second",))),
    Verbatim(("  - [1, <2>, `3`, **x** & $a_b$ % ]", "          ^")),
    Picture("line", lambda: LINE),
)
