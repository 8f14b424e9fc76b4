"""A drawing as PNG, by the first renderer that is installed; attncli has none of its own."""

from __future__ import annotations

import shutil
import subprocess
import unicodedata
from collections.abc import Callable
from importlib.util import find_spec

from attncli.errors import AttncliError, Exit, missing_error
from attncli.page.drawing import Drawing, paths_and_words
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


def characters_without_font(drawing: Drawing) -> list[str]:
    """The characters of a picture that are boxes in it, because no font on this machine has them.

    None where fontconfig, which knows the fonts, is not installed.
    """
    _, words = paths_and_words(drawing.shapes)
    wanted = {each for word in words for each in word.text if _has_a_shape(each)}
    program = shutil.which("fc-list")
    if not wanted or program is None:
        return []
    done = subprocess.run([program, "--format", r"%{charset}\n"], capture_output=True, text=True)
    # Without any font it says nothing, and then it cannot be asked.
    had = _codes(done.stdout)
    if not had:
        return []
    return sorted(each for each in wanted if not _is_in(had, ord(each)))


def _has_a_shape(character: str) -> bool:
    """Whether a font has to have it: not what is ASCII, a blank, or a mark on another character."""
    return not character.isascii() and unicodedata.category(character)[0] in "LNPS"


def _codes(said: str) -> set[range]:
    """The codes that any font has: 20-7e a0 ff-131 …, in a line for each."""
    found: set[range] = set()
    for some in said.split():
        first, _, last = some.partition("-")
        found.add(range(int(first, 16), int(last or first, 16) + 1))
    return found


def _is_in(had: set[range], code: int) -> bool:
    return any(code in some for some in had)


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
