"""A matrix as a table with brackets, points under points, and a product as matrices side by
side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from attncli.equation.notation import UNICODE
from attncli.equation.printer import write, write_number
from attncli.page.colors import LEGEND, RGB, background, foreground, hexadecimal, ramp_of
from attncli.page.document import Cell, Grid, Product
from attncli.render.cells import (
    HIDDEN_SIGN,
    LEFT_OUT_DOTS,
    VERDICT_SIGNS,
    chunks,
    has_sign_of_hidden,
    mark,
    product_width,
    shades_are,
    text_width,
    with_dots,
)
from attncli.render.html.text import attribute, isolated, math, number, written

# A phone shows so many digits side by side.
NARROW_MATRIX = 34
# Matrices side by side are no wider, in digits.
WIDEST_PRODUCT = 84
# A label that is wider, in digits, has lines of its own.
WIDEST_LABEL_BESIDE = 18
# Between two columns, in digits.
COLUMN_GAP = 2
# So many rows are measured: the first of a causal mask does not say how wide its columns are.
ROWS_MEASURED = 20
# Columns narrower than this are as wide as the widest of them: a matrix reads as a square.
EVEN_WIDTH = 5
# How wide a decimal point is, in digits.
POINT_WIDTH = 0.45


def matrix(grid: Grid, topic: str) -> Iterator[str]:
    """A matrix with its labels; closed forms stand before their decimals. `topic` is the title of
    its section.
    """
    grid = grid.loaded()
    if grid.left_out:
        grid = with_dots(grid)
    if grid.closed:
        sign = "≈" if grid.rounded else "="
        yield '<div class="product">'
        yield from _table(grid, topic, forms=True)
        yield f'<div class="factor"><span class="sign">{sign}</span>'
        yield from _table(grid._replace(closed=()), topic, labelled=False)
        yield "</div></div>\n"
        return
    yield opening("scroll", f"{topic}: {_name(grid)}" if topic else _name(grid), width(grid))
    yield from _table(grid, topic)
    yield "</div>\n"
    yield _legend(grid)


def small_map(grid: Grid) -> str:
    """A small matrix as shades alone, for the eye: the words beside it say the same."""
    heads = "".join(f"<th>{isolated(head)}</th>" for head in grid.columns)
    signed = grid.shading is not None and grid.shading.signed
    rows = [f"<tr><th>{math(grid.name)}</th>{heads}</tr>"]
    for name, cells in zip(grid.rows, grid.cells, strict=True):
        patches = "".join(_patch(cell, signed=signed) for cell in cells)
        rows.append(f"<tr><th>{isolated(name)}</th>{patches}</tr>")
    body = "".join(rows)
    legend = _legend(grid)
    return f'<table class="map" aria-hidden="true">{body}</table>\n{legend}'


def _patch(cell: Cell, *, signed: bool) -> str:
    """A cell of a map."""
    if cell.shade is None:
        return f"<td>{HIDDEN_SIGN}</td>"
    colors = ";".join(_shade(cell.shade, signed=signed))
    return f'<td class="shaded" style="{colors}"></td>'


def product(product: Product, topic: str) -> Iterator[str]:
    """All matrices side by side, each with the sign before it; only the result shows its labels."""
    marked = product.marked()
    parts = (*marked.operands, ("=", marked.result))
    names = f"{_name(marked.result)}, and what gives it"
    if topic:
        names = f"{topic}: {names}"
    widest = max(width(grid) for grid in marked.matrices)
    yield opening("product", names, widest)
    for sign, grid in parts:
        yield '<div class="factor">'
        if sign:
            yield f'<span class="sign">{sign}</span>'
        if isinstance(grid, Grid):
            yield from _table(grid, topic, labelled=grid is marked.result)
        else:
            yield f'<span class="letter">{math(grid.expression)}</span>'
        yield "</div>"
    yield "</div>\n"
    yield _legend(marked.result)


def _name(grid: Grid) -> str:
    return write(grid.name, UNICODE)


def _legend(grid: Grid) -> str:
    said: list[str] = []
    if grid.shading:
        numbers = shades_are(grid.shading, number)
        said.append(f"{_bar(signed=grid.shading.signed)} {numbers}")
    if any(has_sign_of_hidden(rows) for rows in chunks(grid.cells)):
        said.append(f"{HIDDEN_SIGN} {LEGEND}")
    return f'<p class="legend">{"; ".join(said)}</p>\n' if said else ""


def _bar(*, signed: bool) -> str:
    """The colours of shades, from the first to the last."""
    ramp = ramp_of(signed=signed)
    day, night = map(_gradient, ramp)
    return f'<i class="ramp" aria-hidden="true" style="background:{day};--b:{night}"></i>'


def _gradient(colors: Sequence[RGB]) -> str:
    return f"linear-gradient(90deg,{','.join(map(hexadecimal, colors))})"


def opening(kind: str, called: str, width: int) -> str:
    """The tag before what may be wider than a phone; then it is called something, and the keyboard
    can scroll it.
    """
    if width <= NARROW_MATRIX:
        return f'<div class="{kind}">'
    return (
        f'<div class="{kind}" style="--n:{width}" role="group" tabindex="0"'
        f' aria-label="{attribute(called)}">'
    )


def width(grid: Grid) -> int:
    """About how many digits wide a matrix is, its labels among them, as its first rows tell."""
    columns = zip(*islice(grid.cells, ROWS_MEASURED), strict=True)
    heads = grid.columns or [""]
    widths = []
    for head, cells in zip(heads, columns, strict=True):
        digits = max(len(cell.text) for cell in cells)
        label = min(text_width(head), WIDEST_LABEL_BESIDE)
        widths.append(max(label, digits))
    widest = max(widths)
    if widest <= EVEN_WIDTH:
        # Narrow columns are all as wide as the widest.
        widths = [widest] * len(widths)
    longest_label = max(map(text_width, grid.rows))
    gaps = COLUMN_GAP * len(widths)
    return sum(widths) + gaps + min(longest_label, WIDEST_LABEL_BESIDE)


def is_narrow(grid: Grid) -> bool:
    """Whether a phone shows it whole."""
    return width(grid) <= NARROW_MATRIX


def fits_beside(block: Product) -> bool:
    """Whether what is multiplied has room beside the product."""
    return product_width(block) <= WIDEST_PRODUCT


def _table(grid: Grid, topic: str, *, labelled: bool = True, forms: bool = False) -> Iterator[str]:
    """The table. Without visible labels, the name stands above the numbers, and the labels are only
    read aloud.

    With `forms` it has the closed forms, and not their decimals.
    """
    array = f' data-array="{attribute(grid.step)}"' if grid.step and not forms else ""
    if array and grid.turned:
        array += " data-turned"
    unseen = "" if labelled else ' class="unseen"'
    judged = " judged" if any(cell.verdict for cell in next(iter(grid.cells))) else ""
    columns = grid.columns or ("",) * len(next(iter(grid.cells)))
    decimals, widest = _measured(grid)
    widest = max(widest, *map(len, columns)) if labelled else widest
    even = (
        f' style="--w:{widest}"' if len(columns) > 1 and widest <= EVEN_WIDTH and not forms else ""
    )
    yield f'<table class="matrix{judged}"{array}{even}>'
    if labelled:
        said = f"{topic}: {_name(grid)}" if topic else _name(grid)
        yield f'<caption class="unseen">{written(said)}</caption>'
        corner = f'<td class="name" aria-hidden="true">{math(grid.name)}</td>'
    else:
        yield f"<caption>{math(grid.name)}</caption>"
        corner = f"<td{unseen}></td>"
    if labelled or any(columns):
        labels = "".join(_label(column, "col", unseen) for column in columns)
        yield f"<thead><tr>{corner}{labels}</tr></thead>"
    yield "<tbody>"
    heads = (_label(row, "row", unseen) for row in grid.rows)
    if forms:
        for row in grid.closed:
            yield f"<tr>{next(heads)}{''.join(f'<td>{math(form)}</td>' for form in row)}</tr>"
    else:
        for line in _rows(grid, decimals):
            yield f"<tr>{next(heads)}{line}</tr>\n"
    yield "</tbody></table>"


def _label(text: str, scope: str, unseen: str) -> str:
    if not text:
        return f"<td{unseen}></td>"
    kind = unseen
    if not unseen and text_width(text) > WIDEST_LABEL_BESIDE:
        kind = ' class="long"'
    return f'<th scope="{scope}"{kind}>{isolated(text)}</th>'


def _measured(grid: Grid) -> tuple[list[int], int]:
    """The most decimals of each column, and how many characters the longest number has."""
    first_row = next(iter(grid.cells))
    decimals = [0] * len(first_row)
    widest = 0
    for rows in chunks(grid.cells):
        for place, column in enumerate(zip(*rows, strict=True)):
            # In a large matrix the same cell stands in many places.
            distinct = {id(cell): cell for cell in column}
            for cell in distinct.values():
                decimals[place] = max(decimals[place], _decimals(cell))
                widest = max(widest, len(cell.text))
    return decimals, widest


def _rows(grid: Grid, decimals: Sequence[int]) -> Iterator[str]:
    """The numbers of each row; those with fewer decimals than others of their column stand as far
    from its edge.
    """
    top = 0
    signed = grid.shading is not None and grid.shading.signed
    for rows in chunks(grid.cells):
        known: dict[tuple[int, int], str] = {}
        for row in rows:
            line = []
            for place, (cell, most) in enumerate(zip(row, decimals, strict=True)):
                if not cell.text:
                    line.append(_blank(grid, top, place))
                    continue
                key = (id(cell), most)
                if key not in known:
                    known[key] = _cell(cell, most, signed)
                line.append(known[key])
            yield "".join(line)
            top += 1


def _decimals(cell: Cell) -> int:
    if not cell.text:
        return 0
    _, _, digits = write_number(cell.text, UNICODE).partition(".")
    return len(digits)


def _cell(cell: Cell, most: int, signed: bool) -> str:
    """A number, with the sign and the word of what is said of it; `signed` is its shade."""
    if cell.text == LEFT_OUT_DOTS:
        return f'<td class="dots">{LEFT_OUT_DOTS}</td>'
    classes: list[str] = []
    styles: list[str] = []
    # It has no units to align.
    if (missing := most - _decimals(cell)) and not cell.text.endswith("inf"):
        styles.append(f"--d:{missing if _decimals(cell) else missing + POINT_WIDTH}")
    sign = ""
    if cell.verdict is not None:
        classes.append(cell.verdict)
        sign = (
            f'<i aria-hidden="true">{VERDICT_SIGNS[cell.verdict]}</i><span class="unseen">'
            f" {cell.verdict}</span>"
        )
    elif cell.hidden:
        classes.append("hidden")
        sign = f"<i>{mark(cell)}</i>" if mark(cell) else ""
    elif cell.shade is not None:
        classes.append("shaded")
        styles += _shade(cell.shade, signed=signed)
    if cell.marked:
        classes.append("marked")
    attributes = f' class="{" ".join(classes)}"' if classes else ""
    attributes += f' style="{";".join(styles)}"' if styles else ""
    return f"<td{attributes}>{number(cell.text)}{sign}</td>"


def _shade(shade: float, *, signed: bool) -> Iterator[str]:
    """The colours of a cell and of its digits, and those that they have at night."""
    day, night = ramp_of(signed=signed)
    by_day = background(shade, day)
    at_night = background(shade, night)
    yield f"background:{hexadecimal(by_day)}"
    yield f"color:{hexadecimal(foreground(by_day))}"
    yield f"--b:{hexadecimal(at_night)}"
    yield f"--i:{hexadecimal(foreground(at_night))}"


def _blank(grid: Grid, row: int, column: int) -> str:
    """Room for a number: a line on paper, and on a screen a field to type in."""
    place = [
        label
        for labels, at in ((grid.rows, row), (grid.columns, column))
        for label in labels[at : at + 1]
        if label
    ]
    called = attribute(f"{_name(grid)}: {', '.join(place)}" if place else _name(grid))
    return (
        '<td class="blank"><input size="6" inputmode="decimal" autocomplete="off"'
        f' aria-label="{called}"/></td>'
    )
