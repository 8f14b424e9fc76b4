"""Heat maps of weights, scores and other steps: a cell for each number, with digits if they fit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attncli.english import count, listed
from attncli.equation.indices import INDICES
from attncli.errors import usage_error
from attncli.page.colors import LEGEND
from attncli.page.colors.scale import Scale, has_sign, scale_of
from attncli.page.drawing import (
    DIGIT_MIDDLE,
    HIGHEST_BODY,
    LABEL_GAP,
    LEVELS_OF_SHADES,
    LINE_HEIGHT,
    SIGN_GAP,
    SMALL_TEXT,
    TEXT_SIZE,
    WIDEST_BODY,
    Drawing,
    Label,
    Move,
    Panel,
    Path,
    Point,
    Shape,
    Words,
    cut,
    digit_paint,
    drawing,
    entry_of_legend,
    in_lines,
    lines,
    moved,
    rectangle,
    shade_paint,
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
from attncli.tracing.model import Cells
from attncli.tracing.true_runs import true_runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Cells with digits: their height and their least width, in pixels, and how many one picture has.
CELL_HEIGHT = 30
NARROWEST_CELL = 44
MOST_DIGITS = 1600
# A map with digits is no wider, in pixels, and no longer, in rows.
WIDEST_MAP, MOST_ROWS = 960, 64
# The sides of cells without digits, and the longer side of their map, about.
LARGEST_CELL, SMALLEST_CELL = 24, 4
LONGEST_SIDE = 480
# The same of more heads than a few.
FEW_HEADS, LARGEST_CELL_OF_MANY, LONGEST_SIDE_OF_MANY = 2, 14, 240
# Of more cells on a side, some share one.
MOST_CELLS_ON_A_SIDE = 128
# The pointer shows so many keys of a row. A number for each cell would make the file five times as
# large.
MOST_KEYS_NAMED = 3
WIDEST_LABEL = 130
LABEL_TURN = 45.0
LABEL_LINE = 14
# What the labels are is said in two lines beside those of keys.
CAPTIONS_HEIGHT = SMALL_TEXT + LABEL_LINE
# Each colour of the legend, and each sign, is so wide and so high, and so far from the top.
COLORS_OF_BAR, COLOR_BAR_STEP = 9, 12
SIGN_WIDTH, SIGN_HEIGHT, SIGN_TOP = 18, 12, 2
FRAME_WIDTH, INSIDE_OF_FRAME = 2.0, 1.5
# Between cells with digits, and around their digits and the labels of columns.
BETWEEN_CELLS, ROOM_AROUND_DIGITS, ROOM_AROUND_LABEL = 1, 14, 4
# Between a map and the labels above it; turned ones are moved to stand over their columns.
ABOVE_MAP, TURNED_LABEL_SHIFT = 6, 3
KINDS_OF_FEATURES = {
    "d": "model",
    "k": "key",
    "p": "query",
    "c": "value",
    "a": "hidden",
    "e": "joined",
    "o": "output",
}


class Map(NamedTuple):
    """A matrix to be shaded.

    `axes` says what its rows and its columns are. `texts` are its digits, where there is room for
    them, "" in hidden cells. Without digits, `titles` say what is largest in each row.
    """

    axes: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    scale: Scale
    shades: NDArray[np.float64]
    hidden: NDArray[np.bool_]
    texts: tuple[tuple[str, ...], ...] = ()
    titles: tuple[str, ...] = ()


def heatmap(
    title: str, parts: Sequence[Part], step: str, ends: Sequence[float] | None = None
) -> Drawing:
    """The picture of a step, a map for each of its heads; a vector is one column.

    The numbers of `ends` have the first and the last colour. Raises AttncliError (exit 2) if the
    step has no rows and columns, or if 0 is in the middle of its colours, but not of the ends.
    """
    rule = parts[0].trace.steps[step].rule
    if len(rule.target.letters) not in (1, 2):
        what = "one number" if not rule.target.letters else "more than rows and columns"
        raise usage_error(
            f"{step} is {what}, and a heat map has rows and columns", help="draw another step"
        )
    values = [_matrix(visible_numbers(part.trace, step)) for part in parts]
    shape = values[0].shape
    digits = _has_room_for_digits(shape, len(parts))
    maps, body = _maps(parts, step, values, ends, digits)
    if digits and len(parts) > 1 and body.height > 2 * HIGHEST_BODY:
        maps, body = _maps(parts, step, values, ends, digits=False)
    share = ceil(max(shape) / MOST_CELLS_ON_A_SIDE)
    description = _description(parts, step) or "No number is finite."
    return drawing(title, rule.title, description, body, list(_legend(parts[0], maps, share)))


def _has_room_for_digits(shape: tuple[int, ...], parts: int) -> bool:
    rows, columns = shape
    if rows * columns * parts > MOST_DIGITS or rows > MOST_ROWS:
        return False
    return columns * NARROWEST_CELL <= WIDEST_MAP


def _description(parts: Sequence[Part], step: str) -> str:
    own = parts[0].trace.steps[step].rule.own
    if step == "weights" and not own:
        return attention_in_words(parts)
    if step == "scores" and not own:
        return largest_scores_in_words(parts)
    return extremes_in_words(parts, step)


def _maps(
    parts: Sequence[Part],
    step: str,
    values: Sequence[NDArray[np.float64]],
    ends: Sequence[float] | None,
    digits: bool,
) -> tuple[list[Map], Panel]:
    """The map of each head, and all of them side by side; of many heads, small ones.

    All weights of a long row are small: so without digits, they are compared within their rows.
    """
    numbers = np.concatenate([each.ravel() for each in values])
    scale = scale_of(parts[0].trace, step, numbers, by_row=not digits, ends=ends)
    if ends and scale.signed and ends[0] != -ends[1]:
        raise usage_error(
            f"{step} has numbers below 0, and the colour of 0 is the one in the middle",
            help=f"let the colours go as far below 0 as above it: {_symmetric(ends)}",
        )
    many = len(parts) > FEW_HEADS
    maps: list[Map] = []
    panels: list[Panel] = []
    for part, own in zip(parts, values, strict=True):
        map = _map(part, step, scale, own, digits)
        maps.append(map)
        panels.append(with_title(part.title, _panel(map, many)))
    return maps, side_by_side(panels)


def _symmetric(ends: Sequence[float]) -> str:
    """From −2 to 2, where the ends are −1 and 2."""
    farthest = max(map(abs, ends))
    return f"-{farthest:g}..{farthest:g}"


def _matrix(cells: NDArray[Cells]) -> NDArray[Cells]:
    """Rows and columns; a vector is one column."""
    if cells.ndim == 2:
        return cells
    return cells[:, None]


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
    block = ceil(max(shades.shape) / MOST_CELLS_ON_A_SIDE)
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
    texts: list[tuple[str, ...]] = []
    for row, line in enumerate(hidden):
        cells: list[str] = []
        for column, is_hidden in enumerate(line):
            place = (row, column)[:rank]
            cells.append("" if is_hidden else part.text(step, *place))
        texts.append(tuple(cells))
    return tuple(texts)


def _axes(letters: Sequence[str]) -> tuple[str, ...]:
    """What rows and columns are; features are told apart where both are."""
    features = [letter for letter in letters if letter in KINDS_OF_FEATURES]
    names: list[str] = []
    for letter in letters:
        if letter not in features:
            names.append(INDICES[letter].axis)
        elif len(features) > 1:
            kind = KINDS_OF_FEATURES[letter]
            names.append(f"{kind} feature")
        else:
            names.append("feature")
    return tuple(names)


def _largest_of_rows(
    part: Part, step: str, values: NDArray[np.float64], rows: Sequence[str], columns: Sequence[str]
) -> Iterator[str]:
    """What the pointer shows on each row: AI: love 0.533, AI 0.299, I 0.168.

    Of signed numbers, it is those far from 0.
    """
    names = [cut(name, TEXT_SIZE, WIDEST_LABEL).shown for name in columns]
    size = np.abs(values) if has_sign(part.trace, step) else values
    rank = part.trace.steps[step].value.ndim
    for row, label in enumerate(rows):
        seen = np.flatnonzero(np.isfinite(values[row]))
        if not seen.size:
            yield ""
            continue
        order = np.argsort(-size[row, seen], kind="stable")
        numbers = []
        for column in seen[order[:MOST_KEYS_NAMED]].tolist():
            place = (row, column)[:rank]
            # A vector is one column, which has no name.
            numbers.append(f"{names[column]} {part.text(step, *place)}".strip())
        yield f"{cut(label, TEXT_SIZE, WIDEST_LABEL).shown}: {listed(numbers, last='')}"


def _largest(shades: NDArray[np.float64], block: int, nothing: float) -> NDArray[np.float64]:
    """Of each square of cells the shade farthest from `nothing`, that of 0.

    NaN where no cell of it has a shade.
    """
    found = np.full(_squares(shades, block), np.nan)
    for some in _one_of_each_square(shades, block):
        rows, columns = some.shape
        part = found[:rows, :columns]
        distance = np.abs(some - nothing)
        is_farther = distance > np.abs(part - nothing)
        is_first = np.isnan(part)
        np.copyto(part, some, where=is_first | is_farther)
    return found


def _squares(cells: NDArray[Any], block: int) -> tuple[int, int]:
    """How many squares of cells there are in each direction."""
    rows, columns = cells.shape
    return ceil(rows / block), ceil(columns / block)


def _one_of_each_square(cells: NDArray[Cells], block: int) -> Iterator[NDArray[Cells]]:
    """The first cell of every square, then the second one of each, and so on."""
    for down in range(block):
        for right in range(block):
            yield cells[down::block, right::block]


def _all(cells: NDArray[np.bool_], block: int) -> NDArray[np.bool_]:
    """Whether all cells of each square are true."""
    found = np.ones(_squares(cells, block), dtype=bool)
    for some in _one_of_each_square(cells, block):
        found[: some.shape[0], : some.shape[1]] &= some
    return found


def _panel(map: Map, many: bool) -> Panel:
    """A map with its labels: those of queries on the left, those of keys above.

    It is a small one, if there are `many`.
    """
    width, height = _size_of_cells(map, many)
    rows, columns = map.shades.shape
    names = [cut(name, TEXT_SIZE, WIDEST_LABEL) for name in map.rows]
    captions = [f"{axis} {arrow}" for axis, arrow in zip(map.axes, "↓→", strict=False)]
    widest_name = max(text_width(name.shown, TEXT_SIZE) for name in names)
    widest_caption = max(text_width(caption, SMALL_TEXT) for caption in captions)
    left = ceil(max(widest_name, widest_caption)) + LABEL_GAP
    heads = list(_heads(map.columns, left, width))
    # The first label of low rows reaches above them.
    raised = max(0.0, TEXT_SIZE - height) / 2
    highest_head = max(_height(head) for head in heads)
    top = ceil(max(CAPTIONS_HEIGHT + raised, highest_head)) + ABOVE_MAP
    shapes: list[Shape] = []
    for place, caption in enumerate(captions):
        y = top - ABOVE_MAP - raised - place * LABEL_LINE
        shapes.append(Words(left - LABEL_GAP, y, caption, "soft", SMALL_TEXT, anchor="end"))
    # Above a vector there is no label.
    shapes += [head._replace(y=top - ABOVE_MAP) for head in heads if head.text]
    shapes += _row_labels(names, left - LABEL_GAP, top, height)
    draw = _cells_with_digits if map.texts else _cells
    shapes += moved(draw(map, width, height), left, top)
    right = max(left + columns * width, *[_right(head) for head in heads])
    return Panel(right, top + rows * height, tuple(shapes))


def _row_labels(names: Sequence[Label], x: float, top: float, height: float) -> Iterator[Words]:
    """The labels of rows; of low rows, only some have one."""
    every = 1
    if height < LABEL_LINE:
        every = ceil(LABEL_LINE / height)
    for row in range(0, len(names), every):
        name = names[row]
        middle = top + (row + 0.5) * height
        y = middle + DIGIT_MIDDLE * TEXT_SIZE
        yield Words(x, y, name.shown, anchor="end", label=name)


def _size_of_cells(map: Map, many: bool) -> tuple[float, float]:
    """How wide and how high a cell is.

    With digits it is as its texts need it, else as the side of the map allows.
    """
    if map.texts:
        widths = [text_width(text, TEXT_SIZE) for row in map.texts for text in row]
        width = ceil(max(widths, default=0)) + ROOM_AROUND_DIGITS
        return float(max(NARROWEST_CELL, width)), float(CELL_HEIGHT)
    largest, side = LARGEST_CELL, LONGEST_SIDE
    if many:
        largest, side = LARGEST_CELL_OF_MANY, LONGEST_SIDE_OF_MANY
    rows, columns = map.shades.shape
    width = min(largest, max(SMALLEST_CELL, side // columns))
    height = min(largest, max(SMALLEST_CELL, side // rows))
    return float(width), float(height)


def _heads(names: Sequence[str], left: float, width: float) -> Iterator[Words]:
    """The labels of columns: in the middle of their columns if all have room there, else turned."""
    labels = [cut(name, TEXT_SIZE, WIDEST_LABEL) for name in names]
    if all(text_width(label.shown, TEXT_SIZE) <= width - ROOM_AROUND_LABEL for label in labels):
        for column, label in enumerate(labels):
            x = left + (column + 0.5) * width
            yield Words(x, 0, label.shown, anchor="middle", label=label)
        return
    across = LABEL_LINE / np.sin(np.radians(LABEL_TURN))
    every = 1 if width >= across else ceil(across / width)
    for column in range(0, len(labels), every):
        label = labels[column]
        x = left + (column + 0.5) * width + TURNED_LABEL_SHIFT
        yield Words(x, 0, label.shown, turn=LABEL_TURN, label=label)


def _height(head: Words) -> float:
    if not head.turn:
        return TEXT_SIZE
    _, up = turned_size(text_width(head.text, head.size), head.size, head.turn)
    return up


def _right(head: Words) -> float:
    width = text_width(head.text, head.size)
    if head.turn:
        right, _ = turned_size(width, head.size, head.turn)
    else:
        right = width / 2
    return head.x + right


def _cells_with_digits(map: Map, width: float, height: float) -> Iterator[Shape]:
    areas: dict[str, list[Shape]] = defaultdict(list)
    digits: dict[str, list[Shape]] = defaultdict(list)
    for (row, column), shade in np.ndenumerate(map.shades):
        x = column * width
        y = row * height
        fill = "wash"
        if not np.isnan(shade):
            fill = shade_paint(float(shade), signed=map.scale.signed)
        area = rectangle(x, y, width - BETWEEN_CELLS, height - BETWEEN_CELLS)
        areas[fill].append(Path(area, fill))
        text = map.texts[row][column]
        if not text:
            continue
        paint = "ink" if fill == "wash" else digit_paint(fill)
        base = y + height / 2 + DIGIT_MIDDLE * TEXT_SIZE
        digits[paint].append(Words(x + width / 2, base, text, paint, anchor="middle"))
    # Shapes of one colour stand together, so that the file says the colour once.
    for alike in (*areas.values(), *digits.values()):
        yield from alike
    yield from _hatched(map.hidden, width, height)
    inner_width = width - BETWEEN_CELLS
    inner_height = height - BETWEEN_CELLS
    for x, y in _beyond(map, width, height):
        yield _frame_inside(x, y, inner_width, inner_height, map.scale.signed)


def _cells(map: Map, width: float, height: float) -> Iterator[Shape]:
    """Cells without digits: of each colour one path, with a stroke for each run of cells."""
    rows, columns = map.shades.shape
    whole = rectangle(0, 0, columns * width, rows * height)
    yield Path(whole, "wash")
    strokes = _strokes(map, width, height)
    for level in sorted(strokes):
        paint = shade_paint(level / (LEVELS_OF_SHADES - 1), signed=map.scale.signed)
        yield Path(tuple(strokes[level]), stroke=paint, width=height, crisp=True)
    yield from _hatched(map.hidden, width, height)
    # The frame is around the cell, which may be small.
    for x, y in _beyond(map, width, height):
        left, top = x - FRAME_WIDTH / 2, y - FRAME_WIDTH / 2
        around = rectangle(left, top, width + FRAME_WIDTH, height + FRAME_WIDTH)
        yield Path(around, stroke="ink", width=FRAME_WIDTH)
    yield Path(whole, stroke="line")
    for row, said in enumerate(map.titles):
        if said:
            yield Path(rectangle(0, row * height, columns * width, height), title=said)


def _strokes(map: Map, width: float, height: float) -> Mapping[int, list[Move]]:
    """The strokes of each level of colour; cells without a shade have none."""
    steps = np.nan_to_num(map.shades).clip(0, 1) * (LEVELS_OF_SHADES - 1)
    levels = np.where(np.isnan(map.shades), -1, np.floor(steps + 0.5)).astype(int)
    strokes: dict[int, list[Move]] = defaultdict(list)
    for row, line in enumerate(levels):
        y = (row + 0.5) * height
        start = 0
        for end in [*(np.flatnonzero(np.diff(line)) + 1).tolist(), len(line)]:
            level = int(line[start])
            if level >= 0:
                strokes[level] += lines([(start * width, y), (end * width, y)])
            start = end
    return strokes


def _beyond(map: Map, width: float, height: float) -> Iterator[Point]:
    """The cells whose numbers are beyond the colours."""
    if not map.scale.has_beyond:
        return
    shades = np.nan_to_num(map.shades)
    is_beyond = (shades < 0) | (shades > 1)
    for row, column in np.argwhere(is_beyond).tolist():
        yield column * width, row * height


def _frame_inside(x: float, y: float, width: float, height: float, signed: bool) -> Path:
    """A frame in a cell of the last colour, which is far from that of the paper."""
    edge = INSIDE_OF_FRAME + FRAME_WIDTH / 2
    inner_width = width - 2 * edge
    inner_height = height - 2 * edge
    inner = rectangle(x + edge, y + edge, inner_width, inner_height)
    last_color = shade_paint(1.0, signed=signed)
    return Path(inner, stroke=digit_paint(last_color), width=FRAME_WIDTH)


def _hatched(hidden: NDArray[np.bool_], width: float, height: float) -> Iterator[Shape]:
    """Lines across what is hidden, from corner to corner; those of neighbours are one."""
    rows, columns = hidden.shape
    moves: list[Move] = []
    for offset in range(1 - rows, columns):
        row = max(0, -offset)
        column = max(0, offset)
        for start, end in true_runs(np.diagonal(hidden, offset)):
            first = ((column + start) * width, (row + start) * height)
            last = ((column + end) * width, (row + end) * height)
            moves += lines([first, last])
    if moves:
        yield Path(tuple(moves), stroke="line")


def _legend(part: Part, maps: Sequence[Map], share: int) -> Iterator[Panel | str]:
    first = maps[0]
    scale = first.scale
    signs = []
    if scale.low < scale.high:
        signs.append(_bar(part, scale))
    if any(each.hidden.any() for each in maps):
        signs.append(_sign_of_hidden())
    if scale.has_beyond:
        signs.append(_sign_of_outliers(part, scale))
    if signs:
        yield in_lines(signs, WIDEST_BODY)
    if share > 1:
        which = "the number farthest from 0" if scale.signed else "the largest"
        rows = count(share, "row")
        columns = count(share, "column")
        yield f"Each cell is {which} of {rows} by {columns}."


def _bar(part: Part, scale: Scale) -> Panel:
    """What the colours stand for: those between which the ramp changes evenly."""
    low = typeset(format_number(scale.low, part.precision))
    high = typeset(format_number(scale.high, part.precision))
    if scale.by_row:
        low, high = "0", "the largest of the row"
    first = text_line(low, paint="soft", size=SMALL_TEXT)
    shapes: list[Shape] = list(first.shapes)
    left = ceil(first.width) + SIGN_GAP
    for step in range(COLORS_OF_BAR):
        area = rectangle(left + step * COLOR_BAR_STEP, SIGN_TOP, COLOR_BAR_STEP, SIGN_HEIGHT)
        shade = step / (COLORS_OF_BAR - 1)
        shapes.append(Path(area, shade_paint(shade, signed=scale.signed)))
    last = text_line(high, paint="soft", size=SMALL_TEXT)
    right = left + COLORS_OF_BAR * COLOR_BAR_STEP + SIGN_GAP
    shapes += moved(last.shapes, right, 0)
    return Panel(right + last.width, LINE_HEIGHT, tuple(shapes))


def _sign_of_outliers(part: Part, scale: Scale) -> Panel:
    """What a frame means: numbers beyond those that the colours stand for."""
    said: list[str] = []
    if scale.least is not None:
        said.append(f"below {part.number(scale.low)}, down to {part.number(scale.least)}")
    if scale.most is not None:
        said.append(f"above {part.number(scale.high)}, up to {part.number(scale.most)}")
    shade = 0.0 if scale.most is None else 1.0
    paint = shade_paint(shade, signed=scale.signed)
    area = Path(rectangle(0, SIGN_TOP, SIGN_WIDTH, SIGN_HEIGHT), paint)
    frame = _frame_inside(0, SIGN_TOP, SIGN_WIDTH, SIGN_HEIGHT, scale.signed)
    return entry_of_legend([area, frame], SIGN_WIDTH, "; ".join(said))


def _sign_of_hidden() -> Panel:
    area = Path(rectangle(0, SIGN_TOP, SIGN_WIDTH, SIGN_HEIGHT), "wash")
    corner = (SIGN_WIDTH, SIGN_TOP + SIGN_HEIGHT)
    line = Path(lines([(0, SIGN_TOP), corner]), stroke="line")
    return entry_of_legend((area, line), SIGN_WIDTH, LEGEND)
