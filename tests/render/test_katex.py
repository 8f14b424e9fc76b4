"""Every formula in the Markdown of every example is typeset by KaTeX, the engine behind many
renderers.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from attncli.page.derivation import derivation
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.render import Style, render
from attncli.tracing import run

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MATH = {
    "fences": re.compile(r"```math\n(.*?)\n```|\$`(.*?)`\$", re.DOTALL),
    "dollars": re.compile(r"\$\$\n(.*?)\n\$\$|\$(?!\$)((?:\\.|[^$\\])+)\$", re.DOTALL),
}


@pytest.mark.sampled(1, "long")
@pytest.mark.katex
@pytest.mark.parametrize("math", ["fences", "dollars"])
def test_all_math_is_typeset(math: str, katex_modules: Path) -> None:
    formulas: set[str] = set()
    for file in sorted((ROOT / "inputs").glob("*.[jy]*")):
        page = derivation(run(load(str(file))), View(detail="cells", heatmap=True))
        source = render(page, "markdown", Style(math=math))
        found = [first or second for first, second in MATH[math].findall(source)]
        assert len(found) > 10, f"no math found in {file.name}"
        formulas.update(found)
    ran = subprocess.run(
        ["node", str(HERE / "katex_check.cjs")],
        input=json.dumps({"formulas": sorted(formulas)}),
        env={"NODE_PATH": str(katex_modules), "PATH": "/usr/local/bin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    report = json.loads(ran.stdout)
    assert report["failures"] == []
    assert report["checked"] == len(formulas)
