"""Heat maps of the weights and of the scores: a cell for each query and key, with its digits where there is room."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attncli.english import count, listed
from attncli.page.colors import CIVIDIS, LEGEND, background, foreground
from attncli.page.pictures.drawing import (
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
    largest_scores_in_words,
    typeset,
    visible_numbers,
)
from attncli.page.printer import format_number
from attncli.tracing.model import Trace, masked_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

HIGH = 30  # of a cell with digits
NARROWEST = 44
MOST_DIGITS = 1600  # cells with digits in one picture
WIDE = 960  # of a map with digits
SIDE = 480  # of a map without digits, about
LARGEST, SMALLEST = 24, 4  # cells without digits
MOST_CELLS = 128  # on a side; of more, some share a cell
MOST_NAMED = 3  # keys of a row, under the pointer: a number for each cell would make the file five times as large
LEVELS = 40  # of colour, of cells without digits
LABEL = 130  # the longest label
TURN = 45.0
APART = 14  # lines of labels
_HEADS = SMALL + APART  # at least: what the labels are is said in two lines beside those of keys
TOPS = (0.1, 0.2, 0.5, 1.0)  # the first that no weight is above has the last colour
STEP = 18  # of the colour bar


class Scale(NamedTuple):
    """What the first and the last colour stand for; `by_row`: shades are compared within a row."""

    low: float
    high: float
    by_row: bool = False

    def shades(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """From 0 to 1; NaN where there is no number to shade."""
        finite = np.where(np.isfinite(values), values, np.nan)
        if self.by_row:
            top = np.max(np.nan_to_num(finite), axis=-1, keepdims=True)
            return np.asarray(np.divide(finite, top, out=np.where(np.isnan(finite), np.nan, 0.0), where=top > 0))
        if self.high == self.low:
            return np.where(np.isnan(finite), np.nan, 0.5)
        # halves, so that the distance of the largest numbers is finite, too
        return (finite / 2 - self.low / 2) / (self.high / 2 - self.low / 2)


class Map(NamedTuple):
    """A matrix to be shaded; `texts` are its digits, where there is room for them, "" in hidden cells.

    Without digits, `titles` say what is largest in each row.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    shades: NDArray[np.float64]
    hidden: NDArray[np.bool_]
    texts: tuple[tuple[str, ...], ...] = ()
    titles: tuple[str, ...] = ()


def heatmap(title: str, parts: Sequence[Part], step: str) -> Drawing:
    """The picture of `weights` or `scores`, a map for each head."""
    values = [visible_numbers(part.trace, step) for part in parts]
    digits = has_digits(parts, step)
    scale = _scale(values, step, digits)
    maps = [_map(part, step, scale, each, digits) for part, each in zip(parts, values, strict=True)]
    share = max(block_of(part.trace) for part in parts)
    panels = [with_title(part.title, _panel(each)) for part, each in zip(parts, maps, strict=True)]
    what, said = "Scores", largest_scores_in_words(parts)
    if step == "weights":
        what, said = "Attention weights", attention_in_words(parts)
    return drawing(title, what, said, side_by_side(panels), list(_legend(parts[0], scale, maps, share)))


def has_digits(parts: Sequence[Part], step: str) -> bool:
    """Whether the cells have room for their digits."""
    cells = sum(part.trace["weights"].size for part in parts)
    columns = max(part.trace["weights"].shape[-1] for part in parts)
    return cells <= MOST_DIGITS and columns * NARROWEST <= WIDE


def block_of(trace: Trace) -> int:
    """How many rows, and columns, share a cell."""
    return ceil(int(max(trace["weights"].shape)) / MOST_CELLS)


def _scale(values: Sequence[NDArray[np.float64]], step: str, digits: bool) -> Scale:
    finite = np.concatenate([each[np.isfinite(each)] for each in values])
    if step == "weights":
        most = finite.max(initial=0.0)
        return Scale(0.0, next((top for top in TOPS if most <= top), 1.0), by_row=not digits)
    return Scale(float(finite.min()), float(finite.max())) if finite.size else Scale(0, 0)


def _map(part: Part, step: str, scale: Scale, values: NDArray[np.float64], digits: bool) -> Map:
    trace, shades = part.trace, scale.shades(values)
    hidden = masked_out(trace.steps)
    hidden = np.zeros(shades.shape, dtype=bool) if hidden is None else hidden
    rows, columns = trace.tokens, trace.context_tokens
    if digits:
        texts = tuple(
            tuple("" if hidden[row, column] else part.text(step, row, column) for column in range(len(columns)))
            for row in range(len(rows))
        )
        return Map(rows, columns, shades, hidden, texts)
    if (block := block_of(trace)) > 1:
        shades, hidden = _largest(shades, block), _all(hidden, block)
        return Map(rows[::block], columns[::block], shades, hidden)
    return Map(rows, columns, shades, hidden, titles=tuple(_largest_of_rows(part, step, values)))


def _largest_of_rows(part: Part, step: str, values: NDArray[np.float64]) -> Iterator[str]:
    """What the pointer shows on each row: AI: love 0.533, AI 0.299, I 0.168."""
    queries, keys = (
        [cut(name, SIZE, LABEL)[0] for name in names] for names in (part.trace.tokens, part.trace.context_tokens)
    )
    for row, query in enumerate(queries):
        seen = np.flatnonzero(np.isfinite(values[row]))
        most = seen[np.argsort(-values[row, seen], kind="stable")[:MOST_NAMED]].tolist()
        yield (
            f"{query}: {listed([f'{keys[key]} {part.text(step, row, key)}' for key in most], last='')}" if most else ""
        )


def _largest(shades: NDArray[np.float64], block: int) -> NDArray[np.float64]:
    """The largest of each square of cells; NaN where no cell of it has a shade."""
    found = np.full([ceil(size / block) for size in shades.shape], np.nan)
    for down in range(block):
        for right in range(block):
            some = shades[down::block, right::block]
            part = found[: some.shape[0], : some.shape[1]]
            np.fmax(part, some, out=part)
    return found


def _all(cells: NDArray[np.bool_], block: int) -> NDArray[np.bool_]:
    """Whether all cells of each square are true."""
    found = np.ones([ceil(size / block) for size in cells.shape], dtype=bool)
    for down in range(block):
        for right in range(block):
            some = cells[down::block, right::block]
            found[: some.shape[0], : some.shape[1]] &= some
    return found


def _panel(map: Map) -> Panel:
    """A map with its labels: those of queries on the left, those of keys above."""
    if map.texts:
        widest = max((text_width(text, SIZE) for row in map.texts for text in row), default=0)
        width, height = float(max(NARROWEST, ceil(widest) + 14)), float(HIGH)
    else:
        width = height = float(min(LARGEST, max(SMALLEST, SIDE // max(map.shades.shape))))
    rows, columns = map.shades.shape
    names = [cut(name, SIZE, LABEL) for name in map.rows]
    left = ceil(max(text_width(name, SIZE) for name, _ in names)) + 8
    left = max(left, ceil(text_width("query ↓", SMALL)) + 8)
    heads = list(_heads(map.columns, left, width))
    top = ceil(max(_HEADS, *(_height(head) for head in heads))) + 6
    corner = ((top - 6, "query ↓"), (top - 6 - APART, "key →"))
    shapes: list[Shape] = [Words(left - 8, y, said, "soft", SMALL, anchor="end") for y, said in corner]
    shapes += (head._replace(y=top - 6) for head in heads)
    every = 1 if height >= APART else ceil(APART / height)
    shapes += (
        Words(left - 8, top + (row + 0.5) * height + MIDDLE * SIZE, name, anchor="end", title=whole)
        for row, (name, whole) in list(enumerate(names))[::every]
    )
    cells = _cells_with_digits(map, width, height) if map.texts else _cells(map, width)
    shapes += moved(cells, left, top)
    right = max([left + columns * width, *(_right(head) for head in heads)])
    return Panel(right, top + rows * height, tuple(shapes))


def _heads(names: Sequence[str], left: float, width: float) -> Iterator[Words]:
    """The labels of columns: each in the middle of its column if all have room for that, else turned."""
    if all(text_width(cut(name, SIZE, LABEL)[0], SIZE) <= width - 4 for name in names):
        for column, name in enumerate(names):
            yield Words(left + (column + 0.5) * width, 0, cut(name, SIZE, LABEL)[0], anchor="middle")
        return
    across = APART / np.sin(np.radians(TURN))
    every = 1 if width >= across else ceil(across / width)
    for column, name in list(enumerate(names))[::every]:
        shown, whole = cut(name, SIZE, LABEL)
        yield Words(left + (column + 0.5) * width + 3, 0, shown, turn=TURN, title=whole)


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
        x, y = column * width, row * height
        fill = "wash" if np.isnan(shade) else hexadecimal(background(float(shade)))
        areas[fill].append(Path(rectangle(x, y, width - 1, height - 1), fill))
        if text := map.texts[row][column]:
            paint = "ink" if fill == "wash" else hexadecimal(foreground(rgb(fill)))
            base = y + height / 2 + MIDDLE * SIZE
            digits[paint].append(Words(x + width / 2, base, text, paint, anchor="middle"))
    for alike in (*areas.values(), *digits.values()):
        yield from alike
    yield from _hatched(map.hidden, width, height)


def _cells(map: Map, size: float) -> Iterator[Shape]:
    """Cells without digits: of each colour one path, with a stroke for each run of cells."""
    rows, columns = map.shades.shape
    yield Path(rectangle(0, 0, columns * size, rows * size), "wash")
    levels = np.where(np.isnan(map.shades), -1, np.floor(np.nan_to_num(map.shades).clip(0, 1) * (LEVELS - 1) + 0.5))
    runs: dict[int, list[tuple[Point, Point]]] = defaultdict(list)
    for row, line in enumerate(levels.astype(int)):
        ends = [*(np.flatnonzero(np.diff(line)) + 1).tolist(), columns]
        start, y = 0, (row + 0.5) * size
        for end in ends:
            runs[int(line[start])].append(((start * size, y), (end * size, y)))
            start = end
    runs.pop(-1, None)
    for level in sorted(runs):
        moves = tuple(move for run in runs[level] for move in lines(run))
        color = hexadecimal(background(level / (LEVELS - 1)))
        yield Path(moves, stroke=color, width=size, crisp=True)
    yield from _hatched(map.hidden, size, size)
    yield Path(rectangle(0, 0, columns * size, rows * size), stroke="line")
    for row, said in enumerate(map.titles):
        if said:
            yield Path(rectangle(0, row * size, columns * size, size), title=said)


def _hatched(hidden: NDArray[np.bool_], width: float, height: float) -> Iterator[Shape]:
    """Lines across what is hidden, from corner to corner; those of neighbours are one."""
    rows, columns = hidden.shape
    moves: list[tuple[Point, Point]] = []
    for offset in range(1 - rows, columns):
        cells = np.concatenate([[False], np.diagonal(hidden, offset), [False]])
        starts, ends = (np.flatnonzero(change) for change in (cells[1:] & ~cells[:-1], ~cells[1:] & cells[:-1]))
        row, column = max(0, -offset), max(0, offset)
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            first, last = (((column + at) * width, (row + at) * height) for at in (start, end))
            moves.append((first, last))
    if moves:
        yield Path(tuple(move for pair in moves for move in lines(pair)), stroke="line")


def _legend(part: Part, scale: Scale, maps: Sequence[Map], share: int) -> Iterator[Panel | str]:
    hidden = [_sign_of_hidden()] if any(each.hidden.any() for each in maps) else []
    bar = [_bar(part, scale)] if scale.low < scale.high and not maps[0].texts else []  # digits say more
    if bar or hidden:
        yield in_lines([*bar, *hidden], WIDEST)
    if share > 1:
        yield f"Each cell is the largest of {count(share, 'row')} by {count(share, 'column')}."


def _bar(part: Part, scale: Scale) -> Panel:
    """What the colours stand for: those between which the ramp changes evenly."""
    low, high = (typeset(format_number(edge, part.precision)) for edge in (scale.low, scale.high))
    ends = ("0", "the largest of the row") if scale.by_row else (low, high)
    first = text_line(ends[0], paint="soft", size=SMALL)
    shapes: list[Shape] = list(first.shapes)
    left = ceil(first.width) + 6
    for step, color in enumerate(CIVIDIS):
        shapes.append(Path(rectangle(left + step * STEP, 2, STEP, 12), hexadecimal(color)))
    last = text_line(ends[1], paint="soft", size=SMALL)
    right = left + len(CIVIDIS) * STEP + 6
    shapes += moved(last.shapes, right, 0)
    return Panel(right + last.width, LINE, tuple(shapes))


def _sign_of_hidden() -> Panel:
    sign = (Path(rectangle(0, 2, 18, 12), "wash"), Path(lines([(0, 2), (18, 14)]), stroke="line"))
    return entry_of_legend(sign, 18, LEGEND)
