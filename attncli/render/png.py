"""A drawing as PNG, by the first renderer that is installed; attncli has none of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from importlib.util import find_spec

from attncli.errors import AttncliError, Exit, missing_error
from attncli.page.drawing import Drawing
from attncli.render.svg import FONTS, svg

# A file has so many pixels for each of the picture, for screens that have as many.
ZOOM = 2
# Resvg knows no font by a family such as sans-serif, unless Arial is there. So it gets the names of
# common ones.
NAMED_FONTS = (
    f"{FONTS},Arial,'Noto Sans','DejaVu Sans','Liberation Sans','Open"
    " Sans',Roboto,Ubuntu,Cantarell,Helvetica"
)


def renderer() -> Callable[[Drawing], bytes]:
    """What draws PNG; raises AttncliError (exit 5) where nothing does."""
    # It comes first, because it finds the fonts of all scripts.
    if program := shutil.which("rsvg-convert"):
        return lambda drawing: _by_rsvg(program, drawing)
    if find_spec("resvg_py"):
        return _by_resvg
    raise missing_error(
        "a .png file needs a program that draws SVG, and none is installed",
        help=(
            "pip install 'attncli[png]', or install rsvg-convert (Debian: apt install"
            " librsvg2-bin), or write .svg"
        ),
    )


def _by_rsvg(program: str, drawing: Drawing) -> bytes:
    command = [program, "--unlimited", "--zoom", str(ZOOM)]
    done = subprocess.run(command, input=svg(drawing).encode(), capture_output=True)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip() or "it said nothing"
        *_, last = said.splitlines()
        raise AttncliError(Exit.FAULT, f"{program} could not draw the picture: {last}")
    return done.stdout


def _by_resvg(drawing: Drawing) -> bytes:
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg(drawing, NAMED_FONTS), zoom=ZOOM))
