"""The flow chart of a problem: a box for each step, and arrows with the shapes of what goes from
one to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TypeAlias

from attncli.attention import variants
from attncli.attention.registry import cell_form, headline
from attncli.english import listed, shape_text
from attncli.equation.indices import INDICES
from attncli.equation.nodes import Call, Equation, Expression, Name, Reduce, Ref, rewrite
from attncli.equation.notation import LATEX_LINE, UNICODE
from attncli.equation.rule import Rule
from attncli.page.document import formula
from attncli.page.drawing import (
    SIZE,
    SMALL,
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

# of a box; from one box to the next
HIGH, DOWN = 46.0, 61.0
TIP = 7.0  # of an arrow
# from one arrow of a box to the next
SPREAD = 34.0
PARTS = tuple(place / 24 for place in range(25))  # of an arrow's way
# of these, where a number may stand
FIRST = 5
# of the height of a number; between two
HALF, BESIDE = 7.0, 6.0
INSIDE_THE_SOFTMAX = ("row_max", "shifted", "exp", "row_sum")

# its left, top, width and height
Area: TypeAlias = tuple[float, float, float, float]


def dimensions(title: str, trace: Trace) -> Drawing:
    """The picture of all shapes."""
    inputs = _inputs(trace)
    boxes = {name: _Box(trace, name, inputs[name]) for name in inputs}
    said = _said(trace, inputs)
    drawn = drawing(
        title, "The shapes of all steps", said, _panel(boxes, inputs), [_lengths(trace, inputs)]
    )
    return drawn._replace(mermaid=_mermaid(boxes, inputs))


def _inputs(trace: Trace) -> dict[str, tuple[str, ...]]:
    """What each step reads that the output is made of; the softmax is one step, from its scores to
    the weights.

    The trace of one of several heads ends with the output of this head.
    """
    read: dict[str, tuple[str, ...]] = {}
    for name in forward_steps(trace):
        if name == "weights":
            sink = ("sink",) if "sink" in trace else ()
            read[name] = (
                trace.logits if not trace.shifted else trace.steps["shifted"].rule.inputs[0],
                *sink,
            )
        elif name not in INSIDE_THE_SOFTMAX:
            read[name] = tuple(each for each in trace.steps[name].rule.inputs if each in trace)
    end = "output" if "output" in trace else "heads_output"
    found, waiting = {end}, [end]
    while waiting:
        new = [each for each in read[waiting.pop()] if each not in found]
        found.update(new)
        waiting += new
    return {name: each for name, each in read.items() if name in found}


class _Box:
    """A step as it stands in the chart: its title, its formula and its shape."""

    def __init__(self, trace: Trace, name: str, inputs: tuple[str, ...]) -> None:
        self.step: Step = trace.steps[name]
        rule = self.step.rule if name != "weights" else _whole_softmax(trace)
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
        return (
            2.0 * ceil(max(text_width(self.title, SMALL) * 1.06, text_width(self.text, SIZE)) / 2)
            + 20
        )


def _whole_softmax(trace: Trace) -> Rule:
    """The weights as one step from the scores on, as if the softmax were not shifted."""
    rule, base = trace.steps["weights"].rule, trace.settings.exp_base
    sums = variants.row_sums("sink" in trace or "sink" in trace.parameters, False, base)
    inside = {
        "exp": variants.exponential(base).bind({"logits": trace.logits}).matrix_form,
        "row_sum": rewrite(sums.equation.expression, _of_rows),
    }

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
    return node


def _panel(boxes: dict[str, _Box], inputs: dict[str, tuple[str, ...]]) -> Panel:
    layout = lay_out({name: box.width for name, box in boxes.items()}, inputs)
    areas: list[Shape] = []
    titles: list[Shape] = []
    formulas: list[Shape] = []
    for name, box in boxes.items():
        x, y = round(layout.middles[name]), _top(layout.levels[name])
        fill = "wash" if box.given else "paper"
        areas.append(
            Path(
                rectangle(x - box.width / 2, y, box.width, HIGH),
                fill,
                "soft" if not box.given else "line",
            )
        )
        titles.append(Words(x, y + 18, box.title, "soft", SMALL, "middle"))
        formulas.append(Words(x, y + 36, box.text, anchor="middle", tex=box.tex))
    areas.sort(key=lambda shape: str(shape[1:]))
    shapes = [*_arrows(layout, boxes), *areas, *titles, *formulas]
    height = _top(max(layout.levels.values())) + HIGH + 1
    return Panel(layout.width, height, tuple(shapes))


def _top(level: int) -> float:
    return level * (HIGH + DOWN) + 1


def _arrows(layout: Layout, boxes: dict[str, _Box]) -> list[Shape]:
    """Arrows, their tips, and the shapes of what they bring, in this order, lest a line crosses a
    number.
    """
    stems: list[Shape] = []
    tips: list[Shape] = []
    ways: list[tuple[Point, ...]] = []
    for source, target, between in layout.arrows:
        begin = round(
            layout.middles[source]
            + layout.offset(source, target, boxes[source].width, SPREAD, out=True)
        )
        end = round(
            layout.middles[target]
            + layout.offset(source, target, boxes[target].width, SPREAD, out=False)
        )
        points: list[Point] = [(begin, _top(layout.levels[source]) + HIGH)]
        for level, x in between:
            points += [(round(x), _top(level)), (round(x), _top(level) + HIGH)]
        points.append((end, _top(layout.levels[target]) - TIP))
        moves: list[Move] = [("M", (points[0],))]
        for (from_x, from_y), (x, y) in zip(points[::2], points[1::2], strict=True):
            middle = (from_y + y) / 2
            if from_x == x:
                # straight on, with the line through the next level
                continue
            if from_y != points[0][1]:
                moves.append(("L", ((from_x, from_y),)))
            moves.append(("C", ((from_x, middle), (x, middle), (x, y))))
        if moves[-1][1][-1] != points[-1]:
            moves.append(("L", (points[-1],)))
        stems.append(Path(tuple(moves), stroke="soft"))
        x, y = points[-1]
        tips.append(Path(polygon((x - 4, y), (x + 4, y), (x, y + TIP)), "soft"))
        ways.append(tuple(_on_curve(points[0], points[1], part) for part in PARTS))
    texts = [boxes[source].shape for source, _, _ in layout.arrows]
    places = _places([ceil(text_width(text, SMALL)) for text in texts], ways)
    backs = [Path(rectangle(*place), "paper") for place in places]
    labels = [
        Words(x + width / 2, y + 11, text, "ink", SMALL, "middle")
        for (x, y, width, _), text in zip(places, texts, strict=True)
    ]
    return [*stems, *tips, *backs, *labels]


def _on_curve(begin: Point, end: Point, part: float) -> Point:
    turned = part * part * (3 - 2 * part)
    return (
        begin[0] + (end[0] - begin[0]) * turned,
        begin[1] + (end[1] - begin[1]) * (1.5 * part * (1 - part) + part**3),
    )


def _places(widths: Sequence[float], ways: Sequence[Sequence[Point]]) -> list[Area]:
    """Where the number of each arrow stands on its way: apart from other numbers, then on few other
    arrows, and then near the middle. Short ways come first, since they have little choice.
    """
    found: dict[int, Area] = {}
    for arrow in sorted(
        range(len(ways)), key=lambda arrow: abs(ways[arrow][-1][0] - ways[arrow][0][0])
    ):
        width, own = widths[arrow], ways[arrow]
        others = [
            point
            for other, way in enumerate(ways)
            if other != arrow and way[0][1] == own[0][1]
            for point in way
        ]
        areas = [
            (round(x - width / 2), round(y - HALF), width, 2 * HALF) for x, y in own[FIRST:-FIRST]
        ]

        def cost(
            place: int, areas: Sequence[Area] = areas, others: Sequence[Point] = others
        ) -> tuple[int, int, int]:
            left, top, wide, high = areas[place]
            near = sum(
                left - BESIDE < x + w
                and x < left + wide + BESIDE
                and top < y + h
                and y < top + high
                for x, y, w, h in found.values()
            )
            crossed = sum(left < x < left + wide and top < y < top + high for x, y in others)
            return near, crossed, abs(2 * place - len(areas) + 1)

        found[arrow] = areas[min(range(len(areas)), key=cost)]
    return [found[arrow] for arrow in range(len(ways))]


def _lengths(trace: Trace, inputs: dict[str, tuple[str, ...]]) -> str:
    """What the numbers are: d_k = 3, as in the equations."""
    found: dict[str, int] = {}
    for name in inputs:
        for letter, size in zip(
            trace.steps[name].rule.target.letters, trace.steps[name].shape, strict=True
        ):
            found.setdefault(INDICES[letter].length, size)
    return ", ".join(f"{name} = {size:,}" for name, size in found.items())


def _said(trace: Trace, inputs: dict[str, tuple[str, ...]]) -> str:
    """Each step with its shape and what it is made of."""
    shapes = {name: f"{name} ({shape_text(trace.steps[name].shape) or '1'})" for name in inputs}
    given = listed([shapes[name] for name, read in inputs.items() if not read])
    made = "; ".join(f"{shapes[name]} from {listed(read)}" for name, read in inputs.items() if read)
    return f"Begin with {given}. Then {made}."


def _mermaid(boxes: dict[str, _Box], inputs: dict[str, tuple[str, ...]]) -> str:
    """The chart in the language of Mermaid. All text is the project's own, and in quotes."""
    lines = ["flowchart TD"]
    for name, box in boxes.items():
        left, right = ("([", "])") if box.given else ("[", "]")
        text = f"{_quoted(box.title)}<br>{_quoted(box.text)}"
        lines.append(f'    s_{name}{left}"{text}"{right}')
    for target, read in inputs.items():
        for source in read:
            shape = boxes[source].shape
            lines.append(f'    s_{source} -- "{shape}" --> s_{target}')
    return "".join(f"{line}\n" for line in lines)


def _quoted(text: str) -> str:
    return (
        text.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
    )
