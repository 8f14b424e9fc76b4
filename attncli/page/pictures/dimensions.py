"""The flow chart of a problem: a box for each step, and arrows with shapes from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TypeAlias

from attncli.attention import variants
from attncli.attention.registry import cell_form, headline
from attncli.english import listed, shape_text
from attncli.equation.indices import index_of
from attncli.equation.nodes import Call, Equation, Expression, Name, Reduce, Ref, rewrite
from attncli.equation.notation import LATEX_LINE, UNICODE
from attncli.equation.rule import Rule
from attncli.page.document import formula
from attncli.page.drawing import (
    SMALL_TEXT,
    TEXT_SIZE,
    Drawing,
    Move,
    Panel,
    Path,
    Point,
    Shape,
    Words,
    drawing,
    polygon,
    rectangle,
    text_width,
)
from attncli.page.pictures.layers import Layout, lay_out
from attncli.page.printer import Printer
from attncli.tracing.model import Step, Trace
from attncli.tracing.slices import forward_steps

# The height of a box, and from one box down to the next.
BOX_HEIGHT, BETWEEN_BOXES = 44.0, 42.0
# More arrows than a few have numbers that need more room.
FEW_ARROWS, BELOW_MANY_ARROWS = 3, 64.0
# Where the title and the formula of a box stand below its top, and what is left and right of them.
TITLE_BASE, FORMULA_BASE = 17, 35
ROOM_AROUND_TEXT = 20
# A title has wider letters than its measure says.
WIDER_LETTERS = 1.06
# Around all boxes, so that their lines are seen whole.
MARGIN = 1
# Half of the width of the tip of an arrow, its length, and from one arrow of a box to the next.
HALF_A_TIP, TIP_LENGTH = 4, 7.0
BETWEEN_ARROWS = 34.0
# A way of an arrow is looked at in these parts. On the first and last ones stands no number.
PARTS_OF_A_WAY = tuple(place / 24 for place in range(25))
PARTS_WITHOUT_NUMBERS = 5
# Half of the height of a number, its base below its top, and between two numbers.
HALF_A_NUMBER, NUMBER_BASE, BETWEEN_NUMBERS = 7.0, 11, 6.0
INSIDE_THE_SOFTMAX = ("row_max", "shifted", "exp", "row_sum")

# The left, the top, the width and the height.
Area: TypeAlias = tuple[float, float, float, float]


def dimensions(title: str, trace: Trace) -> Drawing:
    """The picture of all shapes."""
    inputs = _inputs(trace)
    boxes = {name: _Box(trace, name, inputs[name]) for name in inputs}
    legend = [_lengths(trace, inputs)]
    said = _said(trace, inputs)
    drawn = drawing(title, "The shapes of all steps", said, _panel(boxes, inputs), legend)
    return drawn._replace(mermaid=_mermaid(boxes, inputs))


def _inputs(trace: Trace) -> dict[str, tuple[str, ...]]:
    """What each step reads that the output is made of.

    The softmax is one step, from its scores to the weights. The trace of one of several heads ends
    with the output of this head.
    """
    read: dict[str, tuple[str, ...]] = {}
    is_one_step = has_whole_softmax(trace)
    for name in forward_steps(trace):
        if name == "weights" and is_one_step:
            scores = trace.steps["shifted"].rule.inputs[0] if trace.shifted else trace.logits
            read[name] = (scores, "sink") if "sink" in trace else (scores,)
        elif name not in INSIDE_THE_SOFTMAX or not is_one_step:
            read[name] = tuple(each for each in trace.steps[name].rule.inputs if each in trace)
    end = trace.result if trace.result in trace else "heads_output"
    # A step of the problem's own is of interest, also if no other reads it.
    own = [name for name in read if trace.steps[name].rule.own]
    ends = [name for name in (end, *own) if name in read]
    found = {*ends}
    waiting = [*ends]
    while waiting:
        new = [name for name in read[waiting.pop()] if name not in found]
        found.update(new)
        waiting += new
    return {name: inputs for name, inputs in read.items() if name in found}


class _Box:
    """A step as it stands in the chart: its title, its formula and its shape."""

    def __init__(self, trace: Trace, name: str, inputs: tuple[str, ...]) -> None:
        self.step: Step = trace.steps[name]
        is_softmax = name == "weights" and has_whole_softmax(trace)
        rule = _whole_softmax(trace) if is_softmax else self.step.rule
        self.title = rule.title
        shown = (headline(rule) or cell_form(rule)) if inputs else None
        self.formula: Equation | Expression = (
            Printer(trace, 3).formula(shown) if shown else Name(rule.symbol)
        )
        self.given = not inputs
        self.shape = shape_text(self.step.shape, " × ") or "1"

    @property
    def text(self) -> str:
        """The formula, S = Q·Kᵀ."""
        return formula(self.formula, UNICODE)

    @property
    def tex(self) -> str:
        """The same for LaTeX."""
        return formula(self.formula, LATEX_LINE)

    @property
    def width(self) -> float:
        title = text_width(self.title, SMALL_TEXT) * WIDER_LETTERS
        widest = max(title, text_width(self.text, TEXT_SIZE))
        return 2.0 * ceil(widest / 2) + ROOM_AROUND_TEXT


def has_whole_softmax(trace: Trace) -> bool:
    """Whether the weights are the built-in softmax of the logits, inside of which nobody else
    reads.
    """
    inside = [name for name in INSIDE_THE_SOFTMAX if name in trace]
    if not trace.takes_softmax or not {"exp", "row_sum"} <= {*inside} or "weights" not in trace:
        return False
    if any(trace.steps[name].rule.own for name in (*inside, "weights")):
        return False
    others = (step for step in trace.computed() if step.rule.own)
    return not any({*inside} & {*step.rule.inputs} for step in others)


def _whole_softmax(trace: Trace) -> Rule:
    """The weights as one step from the scores on, as if the softmax were not shifted."""
    rule = trace.steps["weights"].rule
    base = trace.settings.exp_base
    has_sink = "sink" in trace or "sink" in trace.parameters
    exponential = variants.exponential(base).bind({"logits": trace.logits})
    row_sums = variants.row_sums(has_sink, False, base).equation.expression
    inside = {"exp": exponential.matrix_form, "row_sum": rewrite(row_sums, _of_rows)}

    def put(node: Expression) -> Expression:
        found = inside.get(node.name) if isinstance(node, Name) else None
        return rewrite(found, put) if found else node

    assert rule.matrix_form is not None
    return rule.with_formula(rule.equation, rewrite(rule.matrix_form, put))


def _of_rows(node: Expression) -> Expression:
    """The sum of each row of a matrix, in the place of a sum over its cells."""
    match node:
        case Reduce(function="add", body=Ref(name=name)):
            return Call("row_sums", (Name(name),))
        case _:
            return node


def _panel(boxes: dict[str, _Box], inputs: dict[str, tuple[str, ...]]) -> Panel:
    widths = {name: box.width for name, box in boxes.items()}
    layout = lay_out(widths, inputs)
    areas: list[Path] = []
    titles: list[Shape] = []
    formulas: list[Shape] = []
    for name, box in boxes.items():
        x = round(layout.middles[name])
        y = _top(layout, layout.levels[name])
        left = x - box.width / 2
        fill, stroke = ("paper", "soft")
        if box.given:
            fill, stroke = ("wash", "line")
        outline = rectangle(left, y, box.width, BOX_HEIGHT)
        areas.append(Path(outline, fill, stroke))
        titles.append(Words(x, y + TITLE_BASE, box.title, "soft", SMALL_TEXT, "middle"))
        formulas.append(Words(x, y + FORMULA_BASE, box.text, anchor="middle", tex=box.tex))
    # What looks alike stands together, so that the file says it once.
    areas.sort(key=_look)
    shapes = [*_arrows(layout, boxes), *areas, *titles, *formulas]
    lowest = max(layout.levels.values())
    height = _top(layout, lowest) + BOX_HEIGHT + MARGIN
    return Panel(layout.width, height, tuple(shapes))


def _look(area: Path) -> str:
    """What an area has besides its moves."""
    return str(area[1:])


def _top(layout: Layout, level: int) -> float:
    top = float(MARGIN)
    for above in range(level):
        top += BOX_HEIGHT + _below(layout, above)
    return top


def _below(layout: Layout, level: int) -> float:
    """The room below the boxes of a level: more where many arrows begin, each with its number."""
    begin = [source for source, _, _ in layout.arrows if layout.levels[source] == level]
    return BETWEEN_BOXES if len(begin) <= FEW_ARROWS else BELOW_MANY_ARROWS


def _arrows(layout: Layout, boxes: dict[str, _Box]) -> list[Shape]:
    """Arrows, their tips, and the shapes of what they bring.

    They are in this order, lest a line crosses a number.
    """
    stems: list[Shape] = []
    tips: list[Shape] = []
    texts: list[str] = []
    ways: list[Sequence[Point]] = []
    for source, target, between in layout.arrows:
        points = [_begin(layout, boxes, source, target)]
        for level, x in between:
            top = _top(layout, level)
            points.append((round(x), top))
            points.append((round(x), top + BOX_HEIGHT))
        end = _end(layout, boxes, source, target)
        points.append(end)
        stems.append(_stem(points))
        tips.append(_tip(end))
        texts.append(boxes[source].shape)
        first, second, *_ = points
        ways.append([_on_curve(first, second, part) for part in PARTS_OF_A_WAY])
    widths = [ceil(text_width(text, SMALL_TEXT)) for text in texts]
    backs: list[Shape] = []
    numbers: list[Shape] = []
    for place, text in zip(_places(widths, ways), texts, strict=True):
        x, y, width, _ = place
        backs.append(Path(rectangle(*place), "paper"))
        numbers.append(Words(x + width / 2, y + NUMBER_BASE, text, "ink", SMALL_TEXT, "middle"))
    return [*stems, *tips, *backs, *numbers]


def _tip(end: Point) -> Path:
    x, y = end
    outline = polygon((x - HALF_A_TIP, y), (x + HALF_A_TIP, y), (x, y + TIP_LENGTH))
    return Path(outline, "soft")


def _begin(layout: Layout, boxes: dict[str, _Box], source: str, target: str) -> Point:
    """Where an arrow leaves its box."""
    width = boxes[source].width
    offset = layout.offset(source, target, width, BETWEEN_ARROWS, out=True)
    middle = layout.middles[source]
    top = _top(layout, layout.levels[source])
    return round(middle + offset), top + BOX_HEIGHT


def _end(layout: Layout, boxes: dict[str, _Box], source: str, target: str) -> Point:
    """Where the tip of an arrow begins."""
    width = boxes[target].width
    offset = layout.offset(source, target, width, BETWEEN_ARROWS, out=False)
    middle = layout.middles[target]
    top = _top(layout, layout.levels[target])
    return round(middle + offset), top - TIP_LENGTH


def _stem(points: Sequence[Point]) -> Path:
    """The line of an arrow: a curve between two levels, and straight through each level."""
    moves: list[Move] = [("M", (points[0],))]
    for (from_x, from_y), (x, y) in zip(points[::2], points[1::2], strict=True):
        if from_x == x:
            # It goes straight on, with the line through the next level.
            continue
        if from_y != points[0][1]:
            moves.append(("L", ((from_x, from_y),)))
        middle = (from_y + y) / 2
        moves.append(("C", ((from_x, middle), (x, middle), (x, y))))
    _, last = moves[-1]
    if last[-1] != points[-1]:
        moves.append(("L", (points[-1],)))
    return Path(tuple(moves), stroke="soft")


def _on_curve(begin: Point, end: Point, part: float) -> Point:
    """The point of the curve between two levels after this part of its way."""
    from_x, from_y = begin
    to_x, to_y = end
    across = part * part * (3 - 2 * part)
    down = 1.5 * part * (1 - part) + part**3
    x = from_x + (to_x - from_x) * across
    y = from_y + (to_y - from_y) * down
    return x, y


def _places(widths: Sequence[float], ways: Sequence[Sequence[Point]]) -> list[Area]:
    """Where the number of each arrow stands on its way.

    It is apart from other numbers, then on few other arrows, and then near the middle. Short ways
    come first, since they have little choice.
    """
    found: dict[int, Area] = {}
    shortest_first = sorted(range(len(ways)), key=lambda arrow: _width_of_way(ways[arrow]))
    for arrow in shortest_first:
        own = ways[arrow]
        others: list[Point] = []
        for other, way in enumerate(ways):
            if other != arrow and way[0][1] == own[0][1]:
                others += way
        areas: list[Area] = []
        width = widths[arrow]
        for x, y in own[PARTS_WITHOUT_NUMBERS:-PARTS_WITHOUT_NUMBERS]:
            left, top = round(x - width / 2), round(y - HALF_A_NUMBER)
            areas.append((left, top, width, 2 * HALF_A_NUMBER))
        found[arrow] = _best(areas, list(found.values()), others)
    return [found[arrow] for arrow in range(len(ways))]


def _width_of_way(way: Sequence[Point]) -> float:
    return abs(way[-1][0] - way[0][0])


def _best(areas: Sequence[Area], taken: Sequence[Area], others: Sequence[Point]) -> Area:
    """The area that is apart from those taken, and has few points of other ways in it."""

    def cost(place: int) -> tuple[int, int, int]:
        area = areas[place]
        near = sum(_is_near(area, other) for other in taken)
        crossed = sum(_contains(area, point) for point in others)
        after = len(areas) - 1 - place
        from_middle = abs(place - after)
        return near, crossed, from_middle

    places = range(len(areas))
    best = min(places, key=cost)
    return areas[best]


def _is_near(area: Area, other: Area) -> bool:
    left, top, width, height = area
    other_left, other_top, other_width, other_height = other
    if left - BETWEEN_NUMBERS >= other_left + other_width:
        return False
    if other_left >= left + width + BETWEEN_NUMBERS:
        return False
    bottom = top + height
    other_bottom = other_top + other_height
    return top < other_bottom and other_top < bottom


def _contains(area: Area, point: Point) -> bool:
    left, top, width, height = area
    x, y = point
    return left < x < left + width and top < y < top + height


def _lengths(trace: Trace, inputs: dict[str, tuple[str, ...]]) -> str:
    """What the numbers are: d_k = 3, as in the equations."""
    found: dict[str, int] = {}
    for name in inputs:
        step = trace.steps[name]
        letters = step.rule.target.letters
        for letter, size in zip(letters, step.shape, strict=True):
            length = index_of(letter, own=step.rule.own).length
            found.setdefault(length, size)
    return ", ".join(f"{name} = {size:,}" for name, size in found.items())


def _said(trace: Trace, inputs: dict[str, tuple[str, ...]]) -> str:
    """Each step with its shape and what it is made of."""
    given: list[str] = []
    made: list[str] = []
    for name, read in inputs.items():
        lengths = trace.steps[name].shape
        shape = shape_text(lengths) or "1"
        step = f"{name} ({shape})"
        if read:
            sources = listed(read)
            made.append(f"{step} from {sources}")
        else:
            given.append(step)
    begin = listed(given)
    then = "; ".join(made)
    return f"Begin with {begin}. Then {then}."


def _mermaid(boxes: dict[str, _Box], inputs: dict[str, tuple[str, ...]]) -> str:
    """The chart in the language of Mermaid. All text is the project's own, and in quotes."""
    lines = ["flowchart TD\n"]
    for name, box in boxes.items():
        left, right = ("([", "])") if box.given else ("[", "]")
        text = f"{_quoted(box.title)}<br>{_quoted(box.text)}"
        lines.append(f'    s_{name}{left}"{text}"{right}\n')
    for target, read in inputs.items():
        for source in read:
            shape = boxes[source].shape
            lines.append(f'    s_{source} -- "{shape}" --> s_{target}\n')
    return "".join(lines)


def _quoted(text: str) -> str:
    return (
        text.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
    )
