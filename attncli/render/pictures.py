"""A picture alone as a file."""

from __future__ import annotations

from attncli.page.drawing import Drawing
from attncli.render.markdown import chart, linked, plain_text
from attncli.render.svg import svg


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


def _markdown(drawing: Drawing) -> str:
    """A chart in a fence, as GitHub draws it; any other picture inside the file, as a link to its
    own data.
    """
    if not drawing.mermaid:
        return f"{linked(drawing)}\n"
    return (
        f"# {plain_text(drawing.title)}\n\n{chart(drawing)}\n\n{plain_text(drawing.description)}\n"
    )
