"""Problems that are exported, and words that are made to break out of every format."""

from __future__ import annotations

from json import dumps
from pathlib import Path

INPUTS = Path(__file__).parents[3] / "inputs"
HOSTILE = (
    "</script><b>x",
    "}",
    "~%100%5",
    "# head",
    "=1",
    r"\}",
    "]]>",
    "{1:NUMERICAL:=7}",
    "&lt;",
    "a|b",
    "$x$",
    "`r 1`",
    "`r system('x') #`",
    "```{r}",
    "##ANSWER1##",
    "exsolution: 7",
    "![](/etc/passwd)",
    r"\num{3}",
    "<!-- x -->",
    "1. x",
    "- x",
    "====",
    "\x1b[31m",
    "\u202eabc",
    "\ufffe",
    "a\nb",
    "  ",
    "日本語",
    "%",
    "END_GROUP",
    "*a* _b_ --",
)


def hostile_problem(folder: Path) -> Path:
    """A problem with all of them in its title and as labels of its keys."""
    file = folder / "hostile.yaml"
    rows = [[index % 3, (index * 7) % 5 - 2] for index in range(len(HOSTILE))]
    problem = {
        "title": " ".join(HOSTILE),
        "tokens": ["q"],
        "context_tokens": list(HOSTILE),
        "Q": [[1, 0.5]],
        "K": rows,
        "V": rows,
    }
    file.write_text(dumps(problem), encoding="utf-8")
    return file
