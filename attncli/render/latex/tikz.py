"""A drawing as TikZ, in a document of its own or to include; by day, since paper is white."""

from __future__ import annotations

from collections.abc import Iterator

from attncli.page.pictures.drawing import MARGIN, PAINTS, Drawing, Move, Path, Shape, Words, cut, moved, wrapped
from attncli.render.latex.escape import coded, escape, lacks_letters
from attncli.render.latex.short_labels import labels_of, legend, relabelled, short_labels

POINTS = 0.75  # in a pixel
MOST_OF_A_PAGE = 0.9  # of its height
WHITE = "#ffffff"  # as paper is

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
    """The drawing as a paragraph, smaller than it is where a line or a page of the document has no room for it."""
    ratio, body = drawing.width / drawing.height, "\n".join(_picture(drawing))
    return (
        f"{{\\dimen0={drawing.width * POINTS:g}pt \\dimen2={MOST_OF_A_PAGE * ratio:.4f}\\textheight\n"
        "\\ifdim\\dimen0>\\linewidth \\dimen0=\\linewidth\\fi \\ifdim\\dimen0>\\dimen2 \\dimen0=\\dimen2\\fi\n"
        f"\\noindent\\resizebox{{\\dimen0}}{{!}}{{%\n{body}}}\\par}}"
    )


def tikz(drawing: Drawing, *, fragment: bool) -> str:
    """The drawing as LaTeX: a page as large as the picture, or a picture to include in a document.

    Labels that TeX has no letters for have short names, which a legend explains.
    """
    drawing = _with_short_labels(drawing)
    body = "\n".join(_picture(drawing))
    if fragment:
        return f"% Needs \\usepackage{{tikz}} in the preamble.\n{body}\n"
    size = {"WIDTH": drawing.width, "HEIGHT": drawing.height + 1}  # a pixel more, lest TeX begins a second page
    preamble = PREAMBLE
    for name, pixels in size.items():
        preamble = preamble.replace(name, f"{pixels * POINTS:g}")
    return f"{preamble}{body}%\n\\end{{document}}\n"


def _with_short_labels(drawing: Drawing) -> Drawing:
    short = short_labels(name for name in labels_of(drawing) if lacks_letters(name))
    if not short:
        return drawing
    said = wrapped(coded(legend(short)), drawing.width - 2 * MARGIN)
    shapes = (*relabelled(drawing, short).shapes, *moved(said.shapes, MARGIN, drawing.height - MARGIN + 2))
    return drawing._replace(shapes=shapes, height=drawing.height + said.height + 2)


def _picture(drawing: Drawing) -> Iterator[str]:
    colors = {paint: f"attncli{place}" for place, paint in enumerate(dict.fromkeys(_paints(drawing.shapes)))}
    yield rf"\begin{{tikzpicture}}[x={POINTS}pt, y=-{POINTS}pt, inner sep=0pt, outer sep=0pt]"
    for paint, name in colors.items():
        value = WHITE if paint == "paper" else PAINTS[paint][0] if paint in PAINTS else paint
        yield rf"\definecolor{{{name}}}{{HTML}}{{{value[1:].upper()}}}"
    yield rf"\useasboundingbox (0,0) rectangle ({drawing.width:g},{drawing.height:g});"
    for shape in drawing.shapes:
        if isinstance(shape, Words):
            yield _words(_coded(shape, drawing), colors)
        elif shape.fill or shape.stroke:  # others are there for a pointer
            yield _path(shape, colors)
    yield r"\end{tikzpicture}"


def _paints(shapes: tuple[Shape, ...]) -> Iterator[str]:
    for shape in shapes:
        paints = (shape.paint,) if isinstance(shape, Words) else (shape.fill, shape.stroke)
        yield from (paint for paint in paints if paint)


def _coded(words: Words, drawing: Drawing) -> Words:
    """A title with codes for what TeX has no letters for, cut off where they are too many."""
    if words.tex or not lacks_letters(words.text):
        return words
    room = (drawing.width - MARGIN - words.x) / (1.06 if words.bold else 1)
    return words._replace(text=cut(coded(words.text), words.size, room).shown)


def _words(words: Words, colors: dict[str, str]) -> str:
    points = words.size * POINTS
    options = [f"anchor={ANCHORS[words.anchor]}", f"text={colors[words.paint]}"]
    if words.turn:
        options.append(f"rotate={words.turn:g}")
    font = rf"\fontsize{{{points:g}}}{{{points * 1.2:g}}}\selectfont\sffamily" + r"\bfseries" * words.bold
    text = f"${words.tex}$" if words.tex else escape(words.text)
    return rf"\node[{', '.join(options)}] at ({words.x:.2f},{words.y:.2f}) {{{font} {text}}};"


def _path(path: Path, colors: dict[str, str]) -> str:
    options = [f"fill={colors[path.fill]}"] if path.fill else []
    if path.stroke:
        options += [f"draw={colors[path.stroke]}", f"line width={path.width * POINTS:g}pt"]
    if path.opacity != 1:
        options.append(f"fill opacity={path.opacity:g}")
    return rf"\path[{', '.join(options)}] {''.join(map(_move, path.moves)).strip()};"


def _move(move: Move) -> str:
    kind, points = move
    places = [f"({x:.2f},{y:.2f})" for x, y in points]
    match kind:
        case "M":
            return f" {places[0]}"
        case "L":
            return f" -- {places[0]}"
        case "C":
            return f" .. controls {places[0]} and {places[1]} .. {places[2]}"
    return " -- cycle"
