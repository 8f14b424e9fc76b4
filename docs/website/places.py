"""Where a file of the repository stands in the site."""

from __future__ import annotations

import posixpath
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
INPUTS = ROOT / "inputs"
FRONT = "index.html"
GALLERY = "examples/index.html"
BLANK = "new.html"
EQUATIONS = "equations"
# Other files are shown as they are, each on a page of its own.
FILES = "files"

_NAMED = {
    ROOT / "README.md": FRONT,
    DOCS / "README.md": "documentation.html",
    INPUTS: GALLERY,
    INPUTS / EQUATIONS: f"{GALLERY}#{EQUATIONS}",
}


def address_of(file: Path) -> str:
    """The address of a file, a folder or a page, from the root of the site.

    >>> address_of(DOCS / "how-to" / "masks.md")
    'how-to/masks.html'
    >>> address_of(DOCS / "pictures" / "flow.svg")
    'pictures/flow.svg'
    >>> address_of(INPUTS / "causal.yaml")
    'files/inputs/causal.yaml.html'
    """
    if file in _NAMED:
        return _NAMED[file]
    if file.is_relative_to(DOCS):
        page = file.relative_to(DOCS).as_posix()
        if page.endswith("/README.md"):
            page = page.replace("README.md", "index.md")
        return _as_html(page)
    return f"{FILES}/{file.relative_to(ROOT).as_posix()}.html"


def example_address(problem: Path) -> str:
    """Where the live page of an example is.

    >>> example_address(INPUTS / "equations" / "sigmoid.yaml")
    'examples/equations/sigmoid.html'
    >>> example_address(INPUTS / "qkv_given.json")
    'examples/qkv_given-json.html'
    """
    name = problem.relative_to(INPUTS).as_posix()
    name = name.removesuffix(".yaml").replace(".", "-")
    return f"examples/{name}.html"


def link(target: str, page: str) -> str:
    """The link to one address from another.

    >>> link("how-to/masks.html#forms", "reference/input.html")
    '../how-to/masks.html#forms'
    """
    address, sign, anchor = target.partition("#")
    if address == page and anchor:
        return f"#{anchor}"
    return posixpath.relpath(address, posixpath.dirname(page)) + sign + anchor


def _as_html(page: str) -> str:
    stem, dot, ending = page.rpartition(".")
    return f"{stem}.html" if f"{dot}{ending}" == ".md" else page
