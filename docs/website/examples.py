"""The live pages of all examples, and the page that shows them all."""

from __future__ import annotations

import re
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path

from attncli import api
from attncli.cli.main import run
from attncli.errors import AttncliError
from website.layout import Shell
from website.places import EQUATIONS, GALLERY, INPUTS, example_address, link
from website.way_back import with_way_back

FIRST = INPUTS / "i_love_ai.yaml"


@dataclass(frozen=True)
class Example:
    """A problem with its live page."""

    problem: Path
    title: str
    has_picture: bool
    # Of the sections of the page.
    anchors: frozenset[str]


def problems() -> list[Path]:
    """All examples, the first one first."""
    found = [*INPUTS.glob("*.yaml"), *INPUTS.glob("*.json"), *(INPUTS / EQUATIONS).glob("*.yaml")]
    return sorted(found, key=lambda file: (file != FIRST, file.parent != INPUTS, file.name))


def write_examples(folder: Path, chosen: Iterable[Path]) -> list[Example]:
    """The page and the picture of each; in several processes, as this takes longest."""
    files = list(chosen)
    for file in files:
        (folder / example_address(file)).parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor() as processes:
        return list(processes.map(partial(_write_example, folder), files))


def write_gallery(folder: Path, examples: Iterable[Example], shell: Shell) -> None:
    """The page with the pictures of all."""
    cards: dict[bool, list[str]] = {False: [], True: []}
    for example in examples:
        cards[example.problem.parent.name == EQUATIONS].append(_card(example))
    main = (
        f"<h1>{shell.title}</h1>\n"
        '<p class="lead">Each picture shows the weights of a problem. Open it to see how they are'
        " worked out. On that page, change any number, and all others follow.</p>\n"
        f'<ul class="cards">\n{"".join(cards[False])}</ul>\n'
        f'<h2 id="{EQUATIONS}">With equations of their own</h2>\n'
        "<p>These attentions are no part of attncli. Each is written down in a few lines of its"
        " problem.</p>\n"
        f'<ul class="cards">\n{"".join(cards[True])}</ul>\n'
    )
    (folder / GALLERY).write_text(shell.around(main), encoding="utf-8")


def _write_example(folder: Path, problem: Path) -> Example:
    page = folder / example_address(problem)
    code = run(["compute", str(problem), "--quiet", "-o", str(page)])
    if code:
        raise SystemExit(f"{problem} has no page")
    text = page.read_text(encoding="utf-8")
    back = with_way_back(text, example_address(problem), GALLERY, "All examples")
    page.write_text(back, encoding="utf-8")
    anchors = frozenset(re.findall(r'<section id="([^"]+)"', text))
    trace = api.trace(problem)
    has_picture = _draw(trace, page.with_suffix(".svg"))
    return Example(problem, trace.title or problem.stem, has_picture, anchors)


def _draw(trace: api.Trace, file: Path) -> bool:
    """The weights as a picture; False where a problem has none."""
    try:
        picture = replace(trace, title="").picture("weights")
    except AttncliError:
        return False
    file.write_text(picture.to_svg(), encoding="utf-8")
    return True


def _card(example: Example) -> str:
    address = example_address(example.problem)
    picture = ""
    if example.has_picture:
        source = link(address.replace(".html", ".svg"), GALLERY)
        picture = f'<img src="{source}" alt="" loading="lazy"/>'
    return f'<li><a href="{link(address, GALLERY)}">{escape(example.title)}{picture}</a></li>\n'
