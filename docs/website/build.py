"""The whole site, written into a folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from attncli.render.html import stylesheet
from website.contents import entries
from website.examples import write_examples, write_gallery
from website.front import with_entrances, write_blank_page
from website.layout import SCRIPTS, Shell
from website.page import Page, page_of
from website.places import DOCS, FRONT, GALLERY, address_of
from website.renderer import Links
from website.search_index import index_of
from website.source_files import files_in, page_of_file, page_of_folder

HERE = Path(__file__).parent


def write(folder: Path, chosen: Iterable[Path]) -> None:
    """The documentation, and the live pages of the chosen examples."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_shared(folder)
    write_blank_page(folder)
    examples = write_examples(folder, chosen)
    links = Links({example.problem: set(example.anchors) for example in examples}, set())
    pages = [page_of(entry, links) for entry in entries()]
    for page in pages:
        _write_page(folder, page)
    gallery = Shell(GALLERY, "All examples")
    write_gallery(folder, examples, gallery)
    _write_files(folder, links)
    (folder / "search_index.js").write_text(index_of(pages, examples), encoding="utf-8")


def _write_shared(folder: Path) -> None:
    """Style, scripts and pictures."""
    style = stylesheet("page.css") + (HERE / "site.css").read_text(encoding="utf-8")
    (folder / "site.css").write_text(style, encoding="utf-8")
    for script in SCRIPTS:
        shutil.copy(HERE / script, folder)
    pictures = folder / "pictures"
    pictures.mkdir(exist_ok=True)
    for file in (DOCS / "pictures").iterdir():
        if file.suffix in (".svg", ".png"):
            shutil.copy(file, pictures)


def _write_page(folder: Path, page: Page) -> None:
    address = page.entry.address
    shell = Shell(address, page.title, page.description, page)
    main = page.html
    if address == FRONT:
        main = with_entrances(main)
    _write(folder, address, shell.around(main))


def _write_files(folder: Path, links: Links) -> None:
    """Pages of the files that pages link to, and of those in folders that pages link to."""
    folders = [file for file in links.files if file.is_dir()]
    files = links.files.difference(folders).union(*map(files_in, folders))
    for each in folders:
        shell = Shell(address_of(each), each.name)
        _write(folder, shell.address, page_of_folder(each, shell))
    for file in files:
        shell = Shell(address_of(file), file.name)
        shown = page_of_file(file, shell, is_live=file in links.written)
        _write(folder, shell.address, shown)


def _write(folder: Path, address: str, text: str) -> None:
    file = folder / address
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
