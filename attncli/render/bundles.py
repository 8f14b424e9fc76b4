"""The pages of a class in one file, to be printed at once."""

from __future__ import annotations

import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from importlib import import_module

from attncli.page.document import Document
from attncli.render import FORMATS

# The formats in which a page begins on new paper; Markdown has none.
FORMATS_OF_BUNDLES = ("latex", "html")


class BundledPages:
    """Pages in the order in which they are added; `pieces` is the file that has all of them.

    What the file begins with depends on its last page. Until then the pages are kept, compressed,
    so that those of ten thousand students have room in memory.
    """

    def __init__(self, format: str, title: str, *, on_new_paper: bool = True) -> None:
        """No page yet, in one of FORMATS_OF_BUNDLES; `title` is that of the whole file. Each page
        begins `on_new_paper`, so that the class can be given theirs; else only on a new page.
        """
        module = import_module(f"{FORMATS[format].module}.bundle")
        self._bundle = module.Bundle(title, on_new_paper=on_new_paper)
        self._ends: str = module.ENDS
        self._compressor: zlib._Compress | None = zlib.compressobj(1)
        self._kept: list[bytes] = []

    def add(self, number: str, name: str, document: Document) -> None:
        """Add the page of somebody, who is known by a number and a name."""
        text = "".join(self._bundle.page(number, name, document))
        assert self._compressor is not None
        self._kept.append(self._compressor.compress(text.encode()))

    def pieces(self) -> Iterator[str]:
        """The text of the file, piece by piece; no page can be added after that."""
        yield self._bundle.begins
        if self._compressor is not None:
            self._kept.append(self._compressor.flush())
            self._compressor = None
        yield from _decompressed(self._kept)
        yield self._ends


def _decompressed(kept: Iterable[bytes]) -> Iterator[str]:
    decompressor = zlib.decompressobj()
    # A piece may end within a character.
    decoder = getincrementaldecoder("utf-8")()
    for piece in kept:
        yield decoder.decode(decompressor.decompress(piece))
