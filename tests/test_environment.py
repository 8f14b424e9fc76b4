"""What ATTNCLI_REQUIRE="torch tex katex jq …" promises must be there, so that no oracle is skipped in silence."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.render import browsers

NODE_MODULES = Path(__file__).parents[1] / ".ci" / "node_modules"
PRESENT: dict[str, Callable[[], bool]] = {
    "torch": lambda: importlib.util.find_spec("torch") is not None,
    "onnx": lambda: importlib.util.find_spec("onnx") is not None,
    "jax": lambda: importlib.util.find_spec("jax") is not None,
    "keras": lambda: importlib.util.find_spec("keras") is not None,
    "transformers": lambda: importlib.util.find_spec("transformers") is not None,
    "cmarkgfm": lambda: importlib.util.find_spec("cmarkgfm") is not None,
    "text2qti": lambda: importlib.util.find_spec("text2qti") is not None,
    "distributed": lambda: importlib.util.find_spec("distributed") is not None and shutil.which("openssl") is not None,
    "gpu": lambda: importlib.util.find_spec("cupy") is not None,
    "tex": lambda: all(shutil.which(engine) for engine in ("pdflatex", "xelatex", "lualatex")),
    "shells": lambda: all(shutil.which(shell) for shell in ("bash", "zsh", "fish")),
    "man": lambda: all(shutil.which(program) for program in ("man", "groff")),
    "pandoc": lambda: shutil.which("pandoc") is not None,
    "libreoffice": lambda: shutil.which("soffice") is not None,
    "jq": lambda: shutil.which("jq") is not None,
    "pdftotext": lambda: shutil.which("pdftotext") is not None,
    "chromium": lambda: browsers.program_of("chromium") is not None,
    "firefox": lambda: browsers.program_of("firefox") is not None,
    "katex": lambda: shutil.which("node") is not None and (NODE_MODULES / "katex").is_dir(),
}


@pytest.mark.parametrize("oracle", os.environ.get("ATTNCLI_REQUIRE", "").split() or ["none promised"])
def test_what_is_promised_is_there(oracle: str) -> None:
    assert oracle == "none promised" or PRESENT[oracle]()
