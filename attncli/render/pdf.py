"""A page of LaTeX as PDF, by the first TeX engine that is installed; attncli has none of its
own.

Nobody likes a last page with three lines. Where little stands on it, the page is set once more with
less room between paragraphs, and that is taken if it saves a page.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from attncli.errors import file_error, missing_error
from attncli.render.latex import tightened
from attncli.system import in_own_group

# Seconds for one page. TeX needs less than one.
SECONDS_FOR_A_PAGE = 120
_TEX = ("-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape")
# Without it, a PDF says when it was made, and the same page is another file each time.
_SAME_EACH_TIME = {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
# The fastest engine is the first.
_ENGINES = {"pdflatex": _TEX, "lualatex": _TEX, "xelatex": _TEX, "tectonic": ("--untrusted",)}
_BEGIN = "\\begin{document}"
# So TeX says how high above the foot of the last page its text ends, in parts of a page.
_ASKED = (
    r"\ifdefined\pdfsavepos\let\savepos\pdfsavepos\let\lastypos\pdflastypos\fi"
    r"\AtEndDocument{\par\savepos\write16{ENDS AT \the\lastypos\space OF \number\paperheight}}"
)
_END = re.compile(rb"ENDS AT ([0-9]+) OF ([0-9]+)")
_PAGES = re.compile(rb"Output written on [^(]*\(([0-9]+) pages?")
# A last page that is full to here has little on it.
_LITTLE = 0.38


class _Made(NamedTuple):
    """A PDF, how many pages it has, and down to which part of the last one its text goes."""

    pdf: bytes
    pages: int
    full: float

    @property
    def ends_early(self) -> bool:
        return self.pages > 1 and self.full < _LITTLE


def engine() -> Callable[[str], bytes]:
    """What makes PDF of a whole document in LaTeX; raises AttncliError (exit 5) where nothing does.

    It may run in several threads at once, and raises AttncliError (exit 4) where TeX fails or takes
    too long.
    """
    for name, options in _ENGINES.items():
        if program := shutil.which(name):
            return lambda page: _fitted((program, *options), name, page)
    raise missing_error(
        "a .pdf file needs TeX, and none is installed",
        help=(
            "install TeX Live, MiKTeX or Tectonic (Debian: apt install texlive-latex-recommended),"
            " or write .html and print it in a browser"
        ),
    )


def _fitted(command: tuple[str, ...], name: str, page: str) -> bytes:
    made = _made(command, name, page)
    if made.ends_early:
        tighter = _made(command, name, tightened(page))
        if tighter.pages < made.pages:
            return tighter.pdf
    return made.pdf


def _made(command: tuple[str, ...], name: str, page: str) -> _Made:
    page = page.replace(_BEGIN, f"{_ASKED}\n{_BEGIN}", 1)
    help = f"write the page as .tex, and run {name} on it"
    with TemporaryDirectory(prefix="attncli-") as folder:
        Path(folder, "page.tex").write_text(page, encoding="utf-8")
        try:
            done = subprocess.run(
                [*command, "page.tex"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS_FOR_A_PAGE,
                env=_SAME_EACH_TIME | os.environ,
                # Ctrl-C ends attncli, which lets TeX finish its page.
                **in_own_group(),
            )
            if not done.returncode:
                pdf = Path(folder, "page.pdf").read_bytes()
                return _Made(pdf, *_measured(done.stdout))
        except subprocess.TimeoutExpired:
            raise file_error(f"{name} took more than {SECONDS_FOR_A_PAGE} s", help=help) from None
        except OSError as error:
            raise file_error(f"{name} made no PDF: {error.strerror}", help=help) from None
    lines = (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace").splitlines()
    said = [line.strip() for line in lines if line.startswith(("!", "error"))] or [
        "it said nothing"
    ]
    raise file_error(f"{name} made no PDF: {said[0].removeprefix('! ')}", help=help)


def _measured(said: bytes) -> tuple[int, float]:
    """How many pages an engine says it made, and down to which part of the last one the text goes;
    one full page where it says nothing of the kind.
    """
    pages, end = _PAGES.search(said), _END.search(said)
    if pages is None or end is None:
        return 1, 1.0
    return int(pages[1]), 1 - int(end[1]) / int(end[2])
