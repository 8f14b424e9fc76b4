"""Heat maps of weights, scores and all other steps: a cell for each number, with its digits where
there is room.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attncli.attention.registry import GRADIENT_RULES
from attncli.english import count, listed
from attncli.equation.indices import INDICES
from attncli.errors import usage_error
from attncli.page.colors import CIVIDIS, DIVERGING, LEGEND, RGB, background, foreground
from attncli.page.drawing import (
    HIGHEST,
    LINE,
    MIDDLE,
    SIZE,
    SMALL,
    WIDEST,
    Drawing,
    Panel,
    Path,
    Point,
    Shape,
    Words,
    cut,
    drawing,
    entry_of_legend,
    hexadecimal,
    in_lines,
    lines,
    moved,
    rectangle,
    rgb,
    side_by_side,
    text_line,
    text_width,
    turned_size,
    with_title,
)
from attncli.page.pictures.parts import (
    Part,
    attention_in_words,
    extremes_in_words,
    hidden_cells,
    largest_scores_in_words,
    typeset,
    visible_numbers,
)
from attncli.page.printer import format_number
from attncli.tracing.model import Cells, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

HIGH = 30  # of a cell with digits
NARROWEST = 44
# cells with digits in one picture
MOST_DIGITS = 1600
# of a map with digits: pixels, and rows
WIDE, LONG = 960, 64
# of a long map without digits, about
SIDE = 480
# sides of cells without digits
LARGEST, SMALLEST = 24, 4
# of more heads, the largest cell, and the side of a map, without digits
FEW_HEADS, LESS, SIDE_OF_MANY = 2, 14, 240
# Outliers: at most one of 20, four times as large as the rest, where there are five at least.
FEW, FAR, LEAST = 20, 4, 5
# on a side; of more, some share a cell
MOST_CELLS = 128
# keys of a row, under the pointer: a number for each cell would make the file five times as large
MOST_NAMED = 3
# of colour, of cells without digits
LEVELS = 40
LABEL = 130  # the longest label
TURN = 45.0
APART = 14  # lines of labels
# at least: what the labels are is said in two lines beside those of keys
_HEADS = SMALL + APART
# the first that no weight is above has the last colour
TOPS = (0.1, 0.2, 0.5, 1.0)
STEP = 18  # of the colour bar
FRAME = 2.0
FEATURES = {
    "d": "model",
    "k": "key",
    "p": "query",
    "c": "value",
    "a": "hidden",
    "e": "joined",
    "o": "output",
}


class Scale(NamedTuple):
    """What the first and the last colour stand for.

    `by_row`: shades are compared within a row. `signed`: the colour in the middle is that of 0.
    `farthest` is the largest number, or the one farthest from 0, where a few lie far beyond these
    colours: their shades are not from 0 to 1.
    """

    low: float
    high: float
    by_row: bool = False
    signed: bool = False
    farthest: float | None = None

    @property
    def ramp(self) -> tuple[RGB, ...]:
        return DIVERGING if self.signed else CIVIDIS

    def color(self, shade: float) -> str:
        """The colour of a shade from 0 to 1."""
        return hexadecimal(background(shade, self.ramp))

    def shades(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """From 0 to 1, or beyond; NaN where there is no number to shade."""
        finite = np.where(np.isfinite(values), values, np.nan)
        if self.by_row:
            top = np.max(np.nan_to_num(finite), axis=-1, keepdims=True)
            return np.asarray(
                np.divide(finite, top, out=np.where(np.isnan(finite), np.nan, 0.0), where=top > 0)
            )
        if self.high == self.low:
            return np.where(np.isnan(finite), np.nan, 0.5)
        # halves, so that the distance of the largest numbers is finite, too
        return (finite / 2 - self.low / 2) / (self.high / 2 - self.low / 2)


class Map(NamedTuple):
    """A matrix to be shaded; `texts` are its digits, where there is room for them, "" in hidden
    cells.

    `axes` says what its rows and its columns are. Without digits, `titles` say what is largest in
    each row.
    """

    axes: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    scale: Scale
    shades: NDArray[np.float64]
    hidden: NDArray[np.bool_]
    texts: tuple[tuple[str, ...], ...] = ()
    titles: tuple[str, ...] = ()


def heatmap(title: str, parts: Sequence[Part], step: str) -> Drawing:
    """The picture of a step, a map for each of its heads; raises AttncliError (exit 2) if it has no
    rows and columns.

    A vector is one column.
    """
    rule = parts[0].trace.steps[step].rule
    if len(rule.target.letters) not in (1, 2):
        what = "one number" if not rule.target.letters else "more than rows and columns"
        raise usage_error(
            f"{step} is {what}, and a heat map has rows and columns", help="draw another step"
        )
    values = [_matrix(visible_numbers(part.trace, step)) for part in parts]
    shape = values[0].shape
    digits = (
        shape[0] * shape[1] * len(parts) <= MOST_DIGITS
        and shape[1] * NARROWEST <= WIDE
        and shape[0] <= LONG
    )
    maps, body = _maps(parts, step, values, digits)
    if digits and len(parts) > 1 and body.height > 2 * HIGHEST:
        maps, body = _maps(parts, step, values, digits=False)
    share = ceil(max(shape) / MOST_CELLS)
    said = {"weights": attention_in_words, "scores": largest_scores_in_words}.get(step)
    description = (
        said(parts) if said else extremes_in_words(parts, step)
    ) or "No number is finite."
    return drawing(title, rule.title, description, body, list(_legend(parts[0], maps, share)))


def _maps(
    parts: Sequence[Part], step: str, values: Sequence[NDArray[np.float64]], digits: bool
) -> tuple[list[Map], Panel]:
    """The map of each head, and all of them side by side; of many heads, small ones."""
    scale = _scale(values, parts[0].trace, step, digits)
    maps = [_map(part, step, scale, each, digits) for part, each in zip(parts, values, strict=True)]
    many = len(parts) > FEW_HEADS
    panels = [
        with_title(part.title, _panel(each, many)) for part, each in zip(parts, maps, strict=True)
    ]
    return maps, side_by_side(panels)


def _matrix(cells: NDArray[Cells]) -> NDArray[Cells]:
    """Rows and columns; a vector is one column."""
    return cells if cells.ndim == 2 else cells[:, None]


def _scale(values: Sequence[NDArray[np.float64]], trace: Trace, step: str, digits: bool) -> Scale:
    """What the colours stand for: all gradients have a sign, other numbers if any is negative. Of
    those without a sign, the smallest has the first colour.
    """
    finite = np.concatenate([each[np.isfinite(each)] for each in values])
    low = float(finite.min(initial=np.inf))
    high = float(finite.max(initial=-np.inf))
    if step == "weights":
        top = next((top for top in TOPS if high <= top), 1.0)
        return Scale(0.0, top, by_row=not digits)
    if not finite.size:
        return Scale(0, 0)
    if step in GRADIENT_RULES:
        return _signed_scale(finite)
    if low < 0 and _has_sign(trace, step):
        return _signed_scale(finite)
    with np.errstate(over="ignore"):
        sizes = finite - low
    top = float(finite[sizes <= _without_outliers(sizes)].max())
    return Scale(low, top, farthest=high if top < high else None)


def _signed_scale(finite: NDArray[np.float64]) -> Scale:
    """As far below 0 as above it."""
    sizes = np.abs(finite)
    most = _without_outliers(sizes)
    farthest = float(finite[sizes.argmax()])
    beyond = farthest if most < abs(farthest) else None
    return Scale(-most, most, signed=True, farthest=beyond)


def _without_outliers(sizes: NDArray[np.float64]) -> float:
    """The largest size; or, where a few sizes are many times as large as all others, the largest of
    the others.
    """
    ordered = np.sort(sizes[sizes > 0])
    largest = float(ordered[-1]) if len(ordered) else 0.0
    few = max(1, len(ordered) // FEW)
    if len(ordered) < LEAST or not np.isfinite(largest):
        return largest
    # the widest gap, as a ratio, among the few largest
    ratios = ordered[-few:] / ordered[-few - 1 : -1]
    place = int(ratios.argmax())
    return float(ordered[place - few - 1]) if ratios[place] >= FAR else largest


def _has_sign(trace: Trace, step: str) -> bool:
    """Whether 0 means something in a step: of scores, only how far they are apart does."""
    letters = trace.steps[step].rule.target.letters
    return step in GRADIENT_RULES or letters != trace.steps["weights"].rule.target.letters


def _map(part: Part, step: str, scale: Scale, values: NDArray[np.float64], digits: bool) -> Map:
    own = part.trace.steps[step]
    shades = scale.shades(values)
    hidden = hidden_cells(part.trace, step)
    if hidden is None:
        hidden = np.zeros(shades.shape, dtype=bool)
    axes = _axes(own.rule.target.letters)
    rows, columns = own.labels if len(own.labels) == 2 else (*own.labels, ("",))
    if digits:
        texts = _digits(part, step, hidden, len(axes))
        return Map(axes, rows, columns, scale, shades, hidden, texts)
    block = ceil(max(shades.shape) / MOST_CELLS)
    if block > 1:
        shades = _largest(shades, block, 0.5 if scale.signed else 0.0)
        hidden = _all(hidden, block)
        return Map(axes, rows[::block], columns[::block], scale, shades, hidden)
    titles = tuple(_largest_of_rows(part, step, values, rows, columns))
    return Map(axes, rows, columns, scale, shades, hidden, titles=titles)


def _digits(
    part: Part, step: str, hidden: NDArray[np.bool_], rank: int
) -> tuple[tuple[str, ...], ...]:
    """The number of each cell, "" in hidden ones; a vector, of rank 1, is one column."""
    texts: list[list[str]] = [[] for _ in hidden]
    for place, is_hidden in np.ndenumerate(hidden):
        text = "" if is_hidden else part.text(step, *place[:rank])
        texts[place[0]].append(text)
    return tuple(tuple(row) for row in texts)


def _axes(letters: Sequence[str]) -> tuple[str, ...]:
    """What rows and columns are; features are told apart where both are."""
    apart = all(letter in FEATURES for letter in letters) and len(letters) > 1
    kinds = {letter: f"{kind} feature" if apart else "feature" for letter, kind in FEATURES.items()}
    return tuple(kinds.get(letter, INDICES[letter].axis) for letter in letters)


def _largest_of_rows(
    part: Part, step: str, values: NDArray[np.float64], rows: Sequence[str], columns: Sequence[str]
) -> Iterator[str]:
    """What the pointer shows on each row: AI: love 0.533, AI 0.299, I 0.168. Of signed numbers,
    those far from 0.
    """
    names = [cut(name, SIZE, LABEL).shown for name in columns]
    size = np.abs(values) if _has_sign(part.trace, step) else values
    rank = part.trace.steps[step].value.ndim
    for row, label in enumerate(rows):
        seen = np.flatnonzero(np.isfinite(values[row]))
        if not seen.size:
            yield ""
            continue
        order = np.argsort(-size[row, seen], kind="stable")
        numbers = []
        for column in seen[order[:MOST_NAMED]].tolist():
            place = (row, column)[:rank]
            # a vector is one column, which has no name
            numbers.append(f"{names[column]} {part.text(step, *place)}".strip())
        yield f"{cut(label, SIZE, LABEL).shown}: {listed(numbers, last='')}"


def _largest(shades: NDArray[np.float64], block: int, nothing: float) -> NDArray[np.float64]:
    """Of each square of cells the shade farthest from `nothing`, that of 0; NaN where no cell of it
    has a shade.
    """
    found = np.full([ceil(size / block) for size in shades.shape], np.nan)
    for down in range(block):
        for right in range(block):
            some = shades[down::block, right::block]
            part = found[: some.shape[0], : some.shape[1]]
            farther = np.isnan(part) | (np.abs(some - nothing) > np.abs(part - nothing))
            np.copyto(part, some, where=farther)
    return found


def _all(cells: NDArray[np.bool_], block: int) -> NDArray[np.bool_]:
    """Whether all cells of each square are true."""
    found = np.ones([ceil(size / block) for size in cells.shape], dtype=bool)
    for down in range(block):
        for right in range(block):
            some = cells[down::block, right::block]
            found[: some.shape[0], : some.shape[1]] &= some
    return found


def _panel(map: Map, many: bool) -> Panel:
    """A map with its labels: those of queries on the left, those of keys above; a small one, if
    there are `many`.
    """
    width, height = _size_of_cells(map, many)
    rows, columns = map.shades.shape
    names = [cut(name, SIZE, LABEL) for name in map.rows]
    captions = [f"{axis} {arrow}" for axis, arrow in zip(map.axes, "↓→", strict=False)]
    widest_name = max(text_width(name.shown, SIZE) for name in names)
    widest_caption = max(text_width(said, SMALL) for said in captions)
    left = ceil(max(widest_name, widest_caption)) + 8
    heads = list(_heads(map.columns, left, width))
    # the first label of low rows reaches above them
    raised = max(0.0, SIZE - height) / 2
    top = ceil(max(_HEADS + raised, *(_height(head) for head in heads))) + 6
    shapes: list[Shape] = []
    for place, said in enumerate(captions):
        y = top - 6 - raised - place * APART
        shapes.append(Words(left - 8, y, said, "soft", SMALL, anchor="end"))
    # there is none above a vector
    shapes += (head._replace(y=top - 6) for head in heads if head.text)
    every = 1 if height >= APART else ceil(APART / height)
    for row, name in list(enumerate(names))[::every]:
        y = top + (row + 0.5) * height + MIDDLE * SIZE
        shapes.append(Words(left - 8, y, name.shown, anchor="end", label=name))
    cells = _cells_with_digits(map, width, height) if map.texts else _cells(map, width, height)
    shapes += moved(cells, left, top)
    right = max([left + columns * width, *(_right(head) for head in heads)])
    return Panel(right, top + rows * height, tuple(shapes))


def _size_of_cells(map: Map, many: bool) -> tuple[float, float]:
    """How wide and how high a cell is: with digits as its texts need it, else as the side of the
    map allows.
    """
    if map.texts:
        widest = max((text_width(text, SIZE) for row in map.texts for text in row), default=0)
        return float(max(NARROWEST, ceil(widest) + 14)), float(HIGH)
    largest, side = (LESS, SIDE_OF_MANY) if many else (LARGEST, SIDE)
    rows, columns = map.shades.shape
    width = min(largest, max(SMALLEST, side // columns))
    height = min(largest, max(SMALLEST, side // rows))
    return float(width), float(height)


def _heads(names: Sequence[str], left: float, width: float) -> Iterator[Words]:
    """The labels of columns: each in the middle of its column if all have room for that, else
    turned.
    """
    labels = [cut(name, SIZE, LABEL) for name in names]
    if all(text_width(label.shown, SIZE) <= width - 4 for label in labels):
        for column, label in enumerate(labels):
            yield Words(left + (column + 0.5) * width, 0, label.shown, anchor="middle", label=label)
        return
    across = APART / np.sin(np.radians(TURN))
    every = 1 if width >= across else ceil(across / width)
    for column, label in list(enumerate(labels))[::every]:
        yield Words(left + (column + 0.5) * width + 3, 0, label.shown, turn=TURN, label=label)


def _height(head: Words) -> float:
    if not head.turn:
        return SIZE
    return turned_size(text_width(head.text, head.size), head.size, head.turn)[1]


def _right(head: Words) -> float:
    width = text_width(head.text, head.size)
    return head.x + (turned_size(width, head.size, head.turn)[0] if head.turn else width / 2)


def _cells_with_digits(map: Map, width: float, height: float) -> Iterator[Shape]:
    areas: dict[str, list[Shape]] = defaultdict(list)
    digits: dict[str, list[Shape]] = defaultdict(list)
    for (row, column), shade in np.ndenumerate(map.shades):
        x = column * width
        y = row * height
        fill = "wash" if np.isnan(shade) else map.scale.color(float(shade))
        area = rectangle(x, y, width - 1, height - 1)
        areas[fill].append(Path(area, fill))
        text = map.texts[row][column]
        if not text:
            continue
        paint = "ink" if fill == "wash" else hexadecimal(foreground(rgb(fill)))
        base = y + height / 2 + MIDDLE * SIZE
        digits[paint].append(Words(x + width / 2, base, text, paint, anchor="middle"))
    # shapes of one colour stand together, so that the file says the colour once
    for alike in (*areas.values(), *digits.values()):
        yield from alike
    yield from _hatched(map.hidden, width, height)
    inner_width = width - 1 - FRAME
    inner_height = height - 1 - FRAME
    for x, y in _beyond(map, width, height):
        yield _frame(x + FRAME / 2, y + FRAME / 2, inner_width, inner_height)


def _cells(map: Map, width: float, height: float) -> Iterator[Shape]:
    """Cells without digits: of each colour one path, with a stroke for each run of cells."""
    rows, columns = map.shades.shape
    yield Path(rectangle(0, 0, columns * width, rows * height), "wash")
    levels = np.where(
        np.isnan(map.shades),
        -1,
        np.floor(np.nan_to_num(map.shades).clip(0, 1) * (LEVELS - 1) + 0.5),
    )
    runs: dict[int, list[tuple[Point, Point]]] = defaultdict(list)
    for row, line in enumerate(levels.astype(int)):
        ends = [*(np.flatnonzero(np.diff(line)) + 1).tolist(), columns]
        start, y = 0, (row + 0.5) * height
        for end in ends:
            runs[int(line[start])].append(((start * width, y), (end * width, y)))
            start = end
    runs.pop(-1, None)
    for level in sorted(runs):
        moves = tuple(move for run in runs[level] for move in lines(run))
        yield Path(moves, stroke=map.scale.color(level / (LEVELS - 1)), width=height, crisp=True)
    yield from _hatched(map.hidden, width, height)
    # around the cell, which may be small
    for x, y in _beyond(map, width, height):
        yield _frame(x - FRAME / 2, y - FRAME / 2, width + FRAME, height + FRAME)
    yield Path(rectangle(0, 0, columns * width, rows * height), stroke="line")
    for row, said in enumerate(map.titles):
        if said:
            yield Path(rectangle(0, row * height, columns * width, height), title=said)


def _beyond(map: Map, width: float, height: float) -> Iterator[Point]:
    """The cells whose numbers are beyond the colours."""
    if map.scale.farthest is not None:
        shades = np.nan_to_num(map.shades)
        for row, column in np.argwhere((shades < 0) | (shades > 1)).tolist():
            yield column * width, row * height


def _frame(x: float, y: float, width: float, height: float) -> Path:
    return Path(rectangle(x, y, width, height), stroke="ink", width=FRAME)


def _hatched(hidden: NDArray[np.bool_], width: float, height: float) -> Iterator[Shape]:
    """Lines across what is hidden, from corner to corner; those of neighbours are one."""
    rows, columns = hidden.shape
    moves: list[tuple[str, tuple[Point, ...]]] = []
    for offset in range(1 - rows, columns):
        row = max(0, -offset)
        column = max(0, offset)
        for start, end in _runs(np.diagonal(hidden, offset)):
            first = ((column + start) * width, (row + start) * height)
            last = ((column + end) * width, (row + end) * height)
            moves += lines([first, last])
    if moves:
        yield Path(tuple(moves), stroke="line")


def _runs(cells: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Where each run of true cells begins, and the place after its end: 1, 3 of false, true, true,
    false.
    """
    between = np.concatenate([[False], cells, [False]])
    before, after = between[:-1], between[1:]
    starts = np.flatnonzero(after & ~before)
    ends = np.flatnonzero(before & ~after)
    yield from zip(starts.tolist(), ends.tolist(), strict=True)


def _legend(part: Part, maps: Sequence[Map], share: int) -> Iterator[Panel | str]:
    scale = maps[0].scale
    signs = []
    # digits say more than colours
    if scale.low < scale.high and not maps[0].texts:
        signs.append(_bar(part, scale))
    if any(each.hidden.any() for each in maps):
        signs.append(_sign_of_hidden())
    if scale.farthest is not None:
        signs.append(_sign_of_outliers(part, scale))
    if signs:
        yield in_lines(signs, WIDEST)
    if share > 1:
        which = "the number farthest from 0" if scale.signed else "the largest"
        yield f"Each cell is {which} of {count(share, 'row')} by {count(share, 'column')}."


def _bar(part: Part, scale: Scale) -> Panel:
    """What the colours stand for: those between which the ramp changes evenly."""
    low = typeset(format_number(scale.low, part.precision))
    high = typeset(format_number(scale.high, part.precision))
    if scale.by_row:
        low, high = "0", "the largest of the row"
    first = text_line(low, paint="soft", size=SMALL)
    shapes: list[Shape] = list(first.shapes)
    left = ceil(first.width) + 6
    for step, color in enumerate(scale.ramp):
        area = rectangle(left + step * STEP, 2, STEP, 12)
        shapes.append(Path(area, hexadecimal(color)))
    last = text_line(high, paint="soft", size=SMALL)
    right = left + len(scale.ramp) * STEP + 6
    shapes += moved(last.shapes, right, 0)
    return Panel(right + last.width, LINE, tuple(shapes))


def _sign_of_outliers(part: Part, scale: Scale) -> Panel:
    """What a frame means: numbers beyond those that the colours stand for."""
    low, high, farthest = (
        part.number(edge) for edge in (scale.low, scale.high, scale.farthest or 0)
    )
    said = (
        f"below {low} or above {high}, as far as {farthest}"
        if scale.signed
        else f"above {high}, up to {farthest}"
    )
    color = scale.color(float((scale.farthest or 0) > 0))
    return entry_of_legend([Path(rectangle(0, 2, 18, 12), color), _frame(1, 3, 16, 10)], 18, said)


def _sign_of_hidden() -> Panel:
    sign = (Path(rectangle(0, 2, 18, 12), "wash"), Path(lines([(0, 2), (18, 14)]), stroke="line"))
    return entry_of_legend(sign, 18, LEGEND)
