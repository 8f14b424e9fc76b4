"""The pages of a class in one file: each on new paper, and whose it is stands on every sheet."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from attncli.page.document import Document, Paragraph
from attncli.render.bundles import FORMATS_OF_BUNDLES, BundledPages
from attncli.render.pdf import engine

CLASS = [("01", "Ada % Lovelace"), ("02", "王小明"), ("03", "Zoë <b>")]


def bundled(format: str) -> str:
    file = BundledPages(format, "Midterm & more")
    for number, name in CLASS:
        text = "Seven. " * 700 if number == "01" else f"What {number} works out."
        file.add(number, name, Document(f"Midterm: {name}", (Paragraph((text,)),)))
    first = "".join(file.pieces())
    assert "".join(file.pieces()) == first
    return first


def test_a_file_of_latex_has_one_preamble_and_tells_pages_apart_by_number() -> None:
    text = bundled("latex")
    assert text.count(r"\begin{document}") == text.count(r"\end{document}") == 1
    assert text.count(r"\setcounter{page}{1}") == len(CLASS) - 1
    feet = re.findall(r"@oddfoot\{\\hfil (.*?)\\quad page", text)
    # TeX has no letters for the second name.
    assert feet == [r"01 Ada \% Lovelace", "02", r"03 Zo\"{e} $<$b$>$"]


def test_a_file_of_html_lists_its_pages() -> None:
    text = bundled("html")
    assert text.count("<!DOCTYPE html>") == text.count("</html>") == 1
    entries = re.findall(r'<li><a href="#(.*?)">(.*?)</a>', text)
    assert [name for _, name in entries] == ["01 Ada % Lovelace", "02 王小明", "03 Zoë &lt;b&gt;"]
    assert [f'id="{id}"' in text for id, _ in entries] == [True] * 3


def test_every_format_of_bundles_is_tried() -> None:
    assert FORMATS_OF_BUNDLES == ("latex", "html")


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no TeX")
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="no pdftotext")
def test_each_begins_on_new_paper(tmp_path: Path) -> None:
    """Each takes one side of its paper: they begin on the first, the third and the fifth page."""
    (tmp_path / "all.pdf").write_bytes(engine()(bundled("latex")))
    told = subprocess.run(
        ["pdftotext", "-layout", "all.pdf", "-"], cwd=tmp_path, capture_output=True, check=True
    )
    *pages, _ = told.stdout.decode().split("\f")
    feet = [" ".join(page.split()[-3:]) for page in pages]
    assert feet == ["Lovelace page 1", "", "02 page 1", "", "<b> page 1"]
