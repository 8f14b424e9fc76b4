"""Draw the README's pictures: `python docs/pictures/make.py` writes terminal.svg, and page.png with
Chromium.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from attncli import api
from attncli.page.derivation import derivation
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.render import Style, render
from attncli.tracing import run

HERE = Path(__file__).parent
PROBLEM = "inputs/i_love_ai.yaml"
COMMAND = f"attncli compute {PROBLEM}"
# The words, the map, the shapes and the first product.
LINES_SHOWN = 38


def picture() -> str:
    """The beginning of the page on a terminal of 80 columns, as SVG."""
    trace = run(load(str(HERE.parents[1] / PROBLEM)))
    page = render(derivation(trace, View()), "table", Style(width=80, color=True))
    beginning = "\n".join([*page.split("\n")[:LINES_SHOWN], "  …"])
    console = Console(
        record=True, width=82, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(Text(f"$ {COMMAND}\n", "bold"))
    console.print(Text.from_ansi(beginning))
    return console.export_svg(title="attncli", unique_id="attncli")


def photograph(path: Path) -> None:
    """The upper part of the page that works itself out, as Chromium shows it, as PNG; nothing where
    there is none.
    """
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(api.trace(HERE.parents[1] / PROBLEM).page().html, encoding="utf-8")
        quiet = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
        size = ("--window-size=1280,800", "--virtual-time-budget=2000")
        shot = (f"--screenshot={path}", page.as_uri())
        subprocess.run([chromium, *quiet, *size, *shot], check=True, capture_output=True)


if __name__ == "__main__":
    (HERE / "terminal.svg").write_text(picture(), encoding="utf-8")
    photograph(HERE / "page.png")
