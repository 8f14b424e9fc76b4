"""The script of pages in its short form: it is made of the script as it stands here."""

from __future__ import annotations

import shutil

import pytest

from attncli.render.html.script_text import SHORT, digest_of, long_script, script
from tests.tools.short_script import TERSER, short_form


def test_the_short_form_is_of_this_script() -> None:
    said, _, short = SHORT.read_text(encoding="utf-8").partition("\n")
    assert said == digest_of(long_script()), "play: python tests/tools/short_script.py"
    assert script() == short
    assert len(short) < 0.75 * len(long_script())


def test_it_is_what_the_minifier_makes() -> None:
    if not TERSER.exists() or shutil.which("node") is None:
        pytest.skip("needs Node.js and terser: npm install --prefix .ci terser")
    assert short_form(long_script()) == SHORT.read_text(encoding="utf-8")


def test_of_another_script_the_long_form_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from attncli.render.html import script_text

    monkeypatch.setattr(script_text, "long_script", lambda: "another();")
    script.cache_clear()
    try:
        assert script() == "another();"
    finally:
        monkeypatch.undo()
        script.cache_clear()
