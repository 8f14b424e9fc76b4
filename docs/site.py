"""Make a web site of all examples, one live page each: `python docs/site.py build/site` writes it
into that folder.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from html import escape
from pathlib import Path

from attncli import api
from attncli.render.html import POLICY, stylesheet

INPUTS = Path(__file__).parents[1] / "inputs"
FIRST = "i_love_ai.yaml"
STYLE = """
body > .attncli { display: block; max-width: 66rem; }
ul { list-style: none; padding: 0; display: grid; gap: 1.5rem; }
ul { grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), 1fr)); }
li a { display: flex; flex-direction: column; height: 100%; }
li a { box-sizing: border-box; padding: 1rem 1.2rem; }
li a { border: 1px solid var(--line); border-radius: .5rem; }
li a { color: var(--ink); font-weight: 600; line-height: 1.35; }
li a:hover { border-color: var(--blue); }
li svg { display: block; max-width: 100%; max-height: 12rem; height: auto; }
li svg { margin: auto; padding-top: 1rem; }
"""


def write(folder: Path) -> None:
    """A page of every example, and `index.html`, which shows the weights of all."""
    folder.mkdir(parents=True, exist_ok=True)
    files = (path for path in INPUTS.iterdir() if path.suffix in {".yaml", ".json"})
    cards = []
    for file in sorted(files, key=lambda path: (path.name != FIRST, path.name)):
        trace = api.trace(file)
        name = f"{file.name.replace('.', '-')}.html"
        (folder / name).write_text(trace.page().html, encoding="utf-8")
        picture = replace(trace, title="").picture("weights").to_svg()
        cards.append(f'<li><a href="{name}">{escape(trace.title)}{picture}</a></li>\n')
    (folder / "index.html").write_text(_index("".join(cards)), encoding="utf-8")


def _index(cards: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        '<title>Attention, worked out</title>\n<link rel="icon" href="data:,"/>\n'
        f"<style>{stylesheet('page.css')}{STYLE}</style>\n</head>\n"
        '<body>\n<div class="attncli">\n<header>\n<h1>Attention, worked out</h1>\n'
        '<p class="lead">Each picture shows the weights of a problem. Click it to see how they are'
        " worked out. "
        "On that page, change any number, and all others"
        f" follow.</p>\n</header>\n<main>\n<ul>\n{cards}</ul>\n"
        "</main>\n</div>\n</body>\n</html>\n"
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]))
