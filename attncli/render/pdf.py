"""A page of LaTeX as PDF, by the first TeX engine that is installed; attncli has none of its
own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from attncli.errors import file_error, missing_error
from attncli.system import in_own_group

# Seconds for one page. TeX needs less than one.
SECONDS_FOR_A_PAGE = 120
_TEX = ("-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape")
# Without it, a PDF says when it was made, and the same page is another file each time.
_SAME_EACH_TIME = {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
# The fastest engine is the first.
_ENGINES = {"pdflatex": _TEX, "lualatex": _TEX, "xelatex": _TEX, "tectonic": ("--untrusted",)}


def engine() -> Callable[[str], bytes]:
    """What makes PDF of a whole document in LaTeX; raises AttncliError (exit 5) where nothing does.

    It may run in several threads at once, and raises AttncliError (exit 4) where TeX fails or takes
    too long.
    """
    for name, options in _ENGINES.items():
        if program := shutil.which(name):
            return lambda page: _made((program, *options), name, page)
    raise missing_error(
        "a .pdf file needs TeX, and none is installed",
        help=(
            "install TeX Live, MiKTeX or Tectonic (Debian: apt install texlive-latex-recommended),"
            " or write .html and print it in a browser"
        ),
    )


def _made(command: tuple[str, ...], name: str, page: str) -> bytes:
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
                return Path(folder, "page.pdf").read_bytes()
        except subprocess.TimeoutExpired:
            raise file_error(f"{name} took more than {SECONDS_FOR_A_PAGE} s", help=help) from None
        except OSError as error:
            raise file_error(f"{name} made no PDF: {error.strerror}", help=help) from None
    lines = (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace").splitlines()
    said = [line.strip() for line in lines if line.startswith(("!", "error"))] or [
        "it said nothing"
    ]
    raise file_error(f"{name} made no PDF: {said[0].removeprefix('! ')}", help=help)
