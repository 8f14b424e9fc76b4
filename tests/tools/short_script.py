"""Make the short form of the script that live pages have: `python tests/tools/short_script.py`.

It needs Node.js and `npm install --prefix .ci terser@5.51`. A page is right without it, and larger.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
# A script finds only what stands beside it.
sys.path.insert(0, str(HERE))

from attncli.render.html.script_text import SHORT, digest_of, long_script  # noqa: E402

TERSER = HERE / ".ci/node_modules/.bin/terser"
OPTIONS = ("--ecma", "2022", "--compress", "passes=2", "--mangle", "--comments", "false")


def short_form(script: str) -> str:
    """The text of the file: what it is made of, and the script with short names."""
    ran = subprocess.run(
        [TERSER, *OPTIONS],
        input=script,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    )
    return f"{digest_of(script)}\n{ran.stdout.strip()}\n"


if __name__ == "__main__":
    SHORT.write_text(short_form(long_script()), encoding="utf-8")
