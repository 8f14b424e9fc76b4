"""What a browser prints of a page of HTML."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def printed(page: Path) -> list[str]:
    """The text of each sheet of paper; the test is skipped where nothing prints."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None or shutil.which("pdftotext") is None:
        pytest.skip("needs Chromium and pdftotext")
    pdf = page.with_suffix(".pdf")
    options = ["--headless", "--no-sandbox", "--no-pdf-header-footer", f"--print-to-pdf={pdf}"]
    subprocess.run([browser, *options, str(page)], check=True, capture_output=True, timeout=120)
    text = subprocess.run(["pdftotext", str(pdf), "-"], check=True, capture_output=True).stdout
    *sheets, _ = text.decode().split("\f")
    return sheets
