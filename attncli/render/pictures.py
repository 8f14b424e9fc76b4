"""A picture alone as a file, and as it stands in a page of Markdown."""

from __future__ import annotations

from base64 import b64encode

from attncli.page.pictures.drawing import Drawing
from attncli.render.markdown import plain_text
from attncli.render.svg import svg


def picture_file(drawing: Drawing, format: str, *, fragment: bool = False) -> bytes:
    """The file of a picture; `format` is a key of PICTURES, `fragment` asks for LaTeX to include in a document.

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
    """A chart in a fence, as GitHub draws it; any other picture inside the file, as a link to its own data."""
    head, said = plain_text(drawing.title), plain_text(drawing.description)
    if drawing.mermaid:
        return f"# {head}\n\n```mermaid\n{drawing.mermaid}```\n\n{said}\n"
    return f"![{said}](data:image/svg+xml;base64,{b64encode(svg(drawing).encode()).decode()})\n"
