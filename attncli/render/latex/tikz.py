"""A drawing as TikZ, in a document of its own or to include; by day, since paper is white."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from attncli.page.drawing import (
    PAINTS,
    PICTURE_MARGIN,
    Drawing,
    Move,
    Path,
    Point,
    Shape,
    Words,
    cut,
    moved,
    paths_and_words,
    words_on_top,
    wrapped,
)
from attncli.render.latex.escape import coded, escape, lacks_letters
from attncli.render.latex.short_labels import labels_of, legend, relabelled, short_labels

# The width of a pixel, in points.
PIXEL = 0.75
# A picture takes no more of the height of a page.
MOST_OF_A_PAGE = 0.9
# The decimals of a coordinate.
COORDINATE_DECIMALS = 1
# The paint "paper" is white, as paper is.
WHITE = "#ffffff"

PREAMBLE = r"""\documentclass{article}
\usepackage[paperwidth=WIDTHpt, paperheight=HEIGHTpt, margin=0pt]{geometry}
\usepackage{tikz}
\pagestyle{empty}
\setlength{\parindent}{0pt}
\setlength{\topskip}{0pt}
\begin{document}
"""
ANCHORS = {"start": "base west", "middle": "base", "end": "base east"}


def boxed(drawing: Drawing) -> str:
    """The drawing as a paragraph, smaller than it is where a line or a page of the document has no
    room for it.
    """
    ratio, body = drawing.width / drawing.height, "\n".join(_picture(drawing))
    return (
        f"{{\\dimen0={drawing.width * PIXEL:g}pt"
        f" \\dimen2={MOST_OF_A_PAGE * ratio:.4f}\\textheight\n\\ifdim\\dimen0>\\linewidth"
        " \\dimen0=\\linewidth\\fi \\ifdim\\dimen0>\\dimen2"
        f" \\dimen0=\\dimen2\\fi\n\\noindent\\resizebox{{\\dimen0}}{{!}}{{%\n{body}}}\\par}}"
    )


def tikz(drawing: Drawing, *, fragment: bool) -> str:
    """The drawing as LaTeX: a page as large as the picture, or a picture to include in a document.

    Labels that TeX has no letters for have short names, which a legend explains.
    """
    drawing = _with_short_labels(drawing)
    body = "\n".join(_picture(drawing))
    if fragment:
        return f"% Needs \\usepackage{{tikz}} in the preamble.\n{body}\n"
    # It is a pixel higher, lest TeX begins a second page.
    size = {"WIDTH": drawing.width, "HEIGHT": drawing.height + 1}
    preamble = PREAMBLE
    for name, pixels in size.items():
        preamble = preamble.replace(name, f"{pixels * PIXEL:g}")
    return f"{preamble}{body}%\n\\end{{document}}\n"


def _with_short_labels(drawing: Drawing) -> Drawing:
    short = short_labels(labels_of(drawing), lacks_letters)
    if not short:
        return drawing
    said = wrapped(coded(legend(short)), drawing.width - 2 * PICTURE_MARGIN)
    top = drawing.height - PICTURE_MARGIN + 2
    below = moved(said.shapes, PICTURE_MARGIN, top)
    shapes = relabelled(drawing, short).shapes
    height = drawing.height + said.height + 2
    return drawing._replace(shapes=(*shapes, *below), height=height)


def _picture(drawing: Drawing) -> Iterator[str]:
    colors = {
        paint: f"attncli{place}"
        for place, paint in enumerate(dict.fromkeys(_paints(drawing.shapes)))
    }
    yield rf"\begin{{tikzpicture}}[x={PIXEL}pt, y=-{PIXEL}pt, inner sep=0pt, outer sep=0pt]"
    for paint, name in colors.items():
        value = _by_day(paint)
        yield rf"\definecolor{{{name}}}{{HTML}}{{{value[1:].upper()}}}"
    yield rf"\useasboundingbox (0,0) rectangle ({drawing.width:g},{drawing.height:g});"

    def options_of(shape: Shape) -> str:
        return _options(shape, colors)

    seen = filter(_is_seen, drawing.shapes)
    for options, shapes in groupby(words_on_top(seen, options_of), options_of):
        # What looks alike is of one kind.
        paths, words = paths_and_words(shapes)
        if paths:
            yield from _outlines(paths, options)
        if words:
            yield rf"\begin{{scope}}[nodes={{{options}}}]"
            yield from (_words(_coded(each, drawing)) for each in words)
            yield r"\end{scope}"
    yield r"\end{tikzpicture}"


def _outlines(paths: list[Path], options: str) -> Iterator[str]:
    """Paths that look alike as one, unless what lies on another is seen through it."""
    parts = list(map(_outline, paths))
    if paths[0].opacity == 1:
        parts = ["".join(parts)]
    for part in parts:
        yield rf"\path[{options}]{part};"


def _paints(shapes: tuple[Shape, ...]) -> Iterator[str]:
    for shape in shapes:
        match shape:
            case Words(paint=paint):
                yield paint
            case Path(fill=fill, stroke=stroke):
                yield from filter(None, (fill, stroke))


def _coded(words: Words, drawing: Drawing) -> Words:
    """A title with codes for what TeX has no letters for, cut off where they are too many."""
    if words.tex or not lacks_letters(words.text):
        return words
    room = (drawing.width - PICTURE_MARGIN - words.x) / (1.06 if words.bold else 1)
    return words._replace(text=cut(coded(words.text), words.size, room).shown)


def _by_day(paint: str) -> str:
    """The colour of a paint on paper, which is white."""
    if paint == "paper":
        return WHITE
    if paint in PAINTS:
        return PAINTS[paint][0]
    return paint


def _is_seen(shape: Shape) -> bool:
    match shape:
        case Words():
            return True
        case Path(fill=fill, stroke=stroke):
            return bool(fill or stroke)


def _options(shape: Shape, colors: dict[str, str]) -> str:
    """The look of a shape, which many have in common."""
    match shape:
        case Words():
            return ", ".join(_options_of_words(shape, colors))
        case Path():
            return ", ".join(_options_of_path(shape, colors))


def _options_of_words(words: Words, colors: dict[str, str]) -> Iterator[str]:
    yield f"anchor={ANCHORS[words.anchor]}"
    yield f"text={colors[words.paint]}"
    if words.turn:
        yield f"rotate={words.turn:g}"
    points = words.size * PIXEL
    weight = r"\bfseries" if words.bold else ""
    yield rf"font=\fontsize{{{points:g}}}{{{points * 1.2:g}}}\selectfont\sffamily{weight}"


def _options_of_path(path: Path, colors: dict[str, str]) -> Iterator[str]:
    if path.fill:
        yield f"fill={colors[path.fill]}"
    if path.stroke:
        yield f"draw={colors[path.stroke]}"
        yield f"line width={path.width * PIXEL:g}pt"
    if path.opacity != 1:
        yield f"fill opacity={path.opacity:g}"


def _words(words: Words) -> str:
    text = f"${words.tex}$" if words.tex else escape(words.text)
    return rf"\node at {_point((words.x, words.y))} {{{text}}};"


def _outline(path: Path) -> str:
    """The moves of a path; a rectangle by two of its corners."""
    corners = [points[0] for kind, points in path.moves if kind in "ML"]
    kinds = "".join(kind for kind, _ in path.moves)
    if kinds == "MLLLZ":
        one, beside, across, _ = corners
        is_level = one[1] == beside[1]
        is_upright = beside[0] == across[0]
        if is_level and is_upright:
            return f"\n{_point(one)} rectangle {_point(across)}"
    return "".join(map(_move, path.moves))


def _move(move: Move) -> str:
    kind, points = move
    places = [_point(point) for point in points]
    match kind:
        case "M":
            # TeX has room for lines of 200,000 characters, and paths may be longer.
            return f"\n{places[0]}"
        case "L":
            return f" -- {places[0]}"
        case "C":
            return f" .. controls {places[0]} and {places[1]} .. {places[2]}"
        case _:
            return " -- cycle"


def _point(point: Point) -> str:
    """In pixels, with no more digits than are seen: (12.5,8)."""
    return "({})".format(
        ",".join(
            f"{round(place, COORDINATE_DECIMALS):z.{COORDINATE_DECIMALS}f}".removesuffix(".0")
            for place in point
        )
    )
