"""Files that the documentation names: each is shown on a page of its own."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from website.code_blocks import code_block
from website.layout import Shell
from website.places import ROOT, address_of, example_address, link

LANGUAGES = {".yaml": "yaml", ".json": "json", ".py": "python", ".csv": "text", ".txt": "text"}


def page_of_file(file: Path, shell: Shell, *, is_live: bool) -> str:
    """The text of a file, with a link to its live page where it has one."""
    name = file.relative_to(ROOT).as_posix()
    opens = ""
    if is_live:
        address = link(example_address(file), shell.address)
        opens = f'<p class="opens first"><a href="{address}">Open this as a page</a></p>\n'
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return shell.around(
            f"<h1>{escape(name)}</h1>\n<p>This file holds numbers, and no text.</p>"
        )
    block = code_block(text, LANGUAGES.get(file.suffix, "text"), name)
    return shell.around(f'<h1>{escape(name)}</h1>\n{opens}<div class="code">{block}</div>\n')


def page_of_folder(folder: Path, shell: Shell) -> str:
    """The names of all files in a folder."""
    name = folder.relative_to(ROOT).as_posix()
    items = "".join(_items(folder, shell.address))
    return shell.around(f"<h1>{escape(name)}</h1>\n<ul>{items}</ul>\n")


def files_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file())


def _items(folder: Path, here: str) -> Iterator[str]:
    for file in files_in(folder):
        yield f'<li><a href="{link(address_of(file), here)}">{escape(file.name)}</a></li>\n'
