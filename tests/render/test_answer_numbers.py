"""What a worksheet in a browser takes for a number is what `check` reads as one."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from attncli.answers.claims import read_claim
from attncli.answers.typed_forms import typed_forms
from attncli.problem.text.number_forms import NumberError
from attncli.render.html.script_text import script_of

ARE_NUMBERS = (
    *("0.7", "-0.7", "+3", ".5", "3.", "1e3", "- 0.5", "− 0.5", "33 %", "33%", "-5 %", "-(0.7)"),
    *("1/2", "-1/2", "5/3/2", "½", "1½", "√½", "0.(3)", "½·√3", "2√3", "√3/2", "1/√3", "√(2+1)"),
    *("√3√2", "sqrt(2)", "e", "e^2", "e^-1", "2^2/3", "3²", "10⁻³", "e^(5/√3)", "2(1+e)", "2*3"),
    *("(1+e)(2+e)", "2**3", "tanh(2)", "2 tanh(2)", "ln(2)", "exp(2)^2", "1.5×10^3", "1.5×10³"),
    *("1.5x10^3", "5 e - 3", "1/3 = 0.333", "1/3 ≈ 0.33", "1⁄3", "-inf", "-∞"),
    *("", "_", "____", "?", "-", "–", "—", "…", "..."),
)
ARE_NONE = (
    *("abc", "5.5.5", "1 2", "007", "1_000", "1,234", "0,5,5", "x", "1+", "(1", "1)", "(0.7)"),
    *("((0.7))", "nan", "1/0", "sqrt(-1)", "1e400", "1/2√3", "2^3^2", "2^1/2", "√3e"),
    *("ln 2", "exp^2(2)", "0.5(1+e)", "2 (1+e)", "0·5", "3–5", "1.5×103", "1.5*10-3", "0.5e"),
    *("5e - 3", "=", "==", "0x10", "1d5", "33 x", "% 33"),
)


def taken(texts: list[str]) -> list[bool]:
    forms = json.dumps(typed_forms())
    read = 'JSON.parse(require("fs").readFileSync(0, "utf8"))'
    said = f"{read}.map((text) => new AnswerNumbers({forms}).has(text))"
    of_page = script_of(("saving/answer_number",))
    script = f'"use strict";{of_page}\nconsole.log(JSON.stringify({said}));'
    done = subprocess.run(
        ["node", "-e", script], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    found: list[bool] = json.loads(done.stdout)
    return found


def is_claim(text: str) -> bool:
    try:
        read_claim(text)
    except NumberError:
        return False
    return True


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_script_and_check_agree_what_a_number_is() -> None:
    texts = [*ARE_NUMBERS, *ARE_NONE]
    found = dict(zip(texts, taken(texts), strict=True))
    read = {text: is_claim(text) for text in texts}
    for said in (read, found):
        assert [text for text in ARE_NUMBERS if not said[text]] == []
        assert [text for text in ARE_NONE if said[text]] == []
