"""Markdown as HTML: what the site writes in another way than markdown-it does."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from website.code_blocks import CONSOLE, code_block, commands_of
from website.formulas import mathml
from website.live_links import live_pages
from website.places import ROOT, address_of, link

LONGEST_IN_ONE_PIECE = 22
LONGEST_WORDS = 40
# Between the words of a name: behind a dot, a slash or an underscore.
_JOINT = re.compile(r"(?<=\w[._/])(?=\w)")
_SIZE_OF_SVG = re.compile(r'<svg [^>]*?viewBox="0 0 ([\d.]+) ([\d.]+)"')


@dataclass
class Links:
    """What pages link to besides each other: live pages of examples, and files, which are noted."""

    written: dict[Path, set[str]]
    files: set[Path]

    def address(self, file: Path) -> str:
        """Where a file is in the site; nothing of a folder of the tests, which only a clone has."""
        if file.is_dir() and not file.is_relative_to(ROOT / "inputs"):
            return ""
        address = address_of(file)
        if address.startswith("files/"):
            self.files.add(file)
        return address


class Renderer(RendererHTML):
    """Each method writes the token that it is named after; `env` has the file of the page."""

    def link_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        target = str(tokens[at].attrs["href"])
        if re.match("[a-z]+:", target):
            return f'<a href="{escape(target)}">'
        name, sign, anchor = target.partition("#")
        here = env["file"]
        file = (here.parent / name).resolve() if name else here
        address = env["links"].address(file)
        if not address:
            return "<a>"
        return f'<a href="{escape(link(address + sign + anchor, address_of(here)))}">'

    def image(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        file = (env["file"].parent / str(tokens[at].attrs["src"])).resolve()
        source = link(address_of(file), address_of(env["file"]))
        width, height = size_of(file)
        said = escape(tokens[at].content)
        return f'<img src="{source}" alt="{said}" width="{width}" height="{height}"/>'

    def code_inline(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        text = tokens[at].content
        # A short one is not broken over lines: --cell stays --cell. A long name may be broken.
        if len(text) <= LONGEST_IN_ONE_PIECE:
            return f'<code class="whole">{escape(text)}</code>'
        return f"<code>{_JOINT.sub('<wbr/>', escape(text))}</code>"

    def fence(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        token = tokens[at]
        language = token.info.split(" ")[0]
        if language == "math":
            return f'<div class="wide">{mathml(token.content)}</div>\n'
        label = "Commands and what they print" if language == CONSOLE else "Code"
        block = code_block(token.content, language, label)
        opened = ""
        if language == CONSOLE:
            opened = _opened(token.content, env)
        return f'<div class="code" data-language="{language}">{block}</div>{opened}\n'

    def table_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return '<div class="wide"><table>\n'

    def th_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return _cell(tokens, at)

    def td_open(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return _cell(tokens, at)

    def table_close(self, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        return "</table></div>\n"


def _cell(tokens: Sequence[Token], at: int) -> str:
    """The beginning of a cell; the policy of the pages allows no style of its own."""
    tag = tokens[at].tag
    if "right" in str(tokens[at].attrs.get("style", "")):
        return f'<{tag} class="right">'
    # A sentence needs some room, or it becomes a tower of words.
    is_sentence = len(tokens[at + 1].content) > LONGEST_WORDS
    return f'<{tag} class="said">' if is_sentence else f"<{tag}>"


def size_of(picture: Path) -> tuple[int, int]:
    """The width and the height of a picture, so that no text moves while it is read."""
    if picture.suffix == ".png":
        width, height = struct.unpack(">II", picture.read_bytes()[16:24])
        return width, height
    found = _SIZE_OF_SVG.search(picture.read_text(encoding="utf-8"))
    assert found, f"{picture} has no viewBox"
    return round(float(found[1])), round(float(found[2]))


def _opened(text: str, env: Any) -> str:
    """Links to the live pages of what the commands work out."""
    pages = live_pages(commands_of(text), env["links"].written)
    shown = []
    for address, problem in pages.items():
        said = "Open this as a page" if len(pages) == 1 else f"Open {problem.name} as a page"
        shown.append(f'<a href="{link(address, address_of(env["file"]))}">{said}</a>')
    return f'<p class="opens">{" ".join(shown)}</p>' if shown else ""
