"""A picture alone as a file."""

from __future__ import annotations

from collections.abc import Iterator

from attncli.english import count, listed
from attncli.page.drawing import Drawing
from attncli.render.markdown import chart, linked, plain_text
from attncli.render.svg import svg

# A warning names so many characters.
MOST_BOXES_NAMED = 3


def picture_file(drawing: Drawing, format: str, *, fragment: bool = False) -> bytes:
    """The file of a picture; `format` is a key of PICTURES, `fragment` asks for LaTeX to include in
    a document.

    Raises AttncliError (exit 5) where no renderer for PNG is installed.
    """
    if format == "png":
        from attncli.render.png import renderer

        return renderer()(drawing)
    if format == "latex":
        from attncli.render.latex.tikz import tikz

        return tikz(drawing, fragment=fragment).encode()
    return (svg(drawing) if format == "svg" else _markdown(drawing)).encode()


def warnings_of_picture(drawing: Drawing, format: str) -> Iterator[str]:
    """What does not look as it should in the file of a picture."""
    if format != "png":
        return
    from attncli.render.png import characters_without_font

    boxes = characters_without_font(drawing)
    if boxes:
        shown = boxes[:MOST_BOXES_NAMED]
        left_out = len(boxes) - len(shown)
        if left_out:
            shown.append(count(left_out, "other"))
        yield (
            f"no font on this machine has {listed(shown)}, so the picture has boxes there; install"
            " a font that has them, or write .svg, which takes the fonts of its reader"
        )


def _markdown(drawing: Drawing) -> str:
    """A chart in a fence, as GitHub draws it; any other picture inside the file, as a link to its
    own data.
    """
    if not drawing.mermaid:
        return f"{linked(drawing)}\n"
    return (
        f"# {plain_text(drawing.title)}\n\n{chart(drawing)}\n\n{plain_text(drawing.description)}\n"
    )
