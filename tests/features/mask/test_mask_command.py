"""`attncli mask`, from the name of a function to its page, its data and its problem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import attncli
from attncli.cli.main import run
from attncli.errors import Exit

ROOT = Path(__file__).parents[3]
MASKS = ROOT / "inputs/functions/masks.py"
SCHEMA = json.loads((ROOT / "attncli/features/mask/mask.schema.json").read_text(encoding="utf-8"))
FUNCTIONS = """
import functools, math, os, sys, time

number = 3

class BlockMask:
    def mask_mod(self, b, h, q_idx, kv_idx):
        return q_idx >= kv_idx

block_mask = BlockMask()

def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print("called")
        return function(*args, **kwargs)
    return wrapper

def wrapped(function):
    def wrapper(*args):
        return function(*args)
    return wrapper

@logged
def decorated(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx

@wrapped
def hidden(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx

def window(b, h, q_idx, kv_idx, size=2):
    return (q_idx >= kv_idx) & (q_idx - kv_idx <= size)

def window_of(b, h, q_idx, kv_idx, size):
    return (q_idx >= kv_idx) & (q_idx - kv_idx <= size)

def named(b, h, q_idx, kv_idx, *, size):
    return q_idx - kv_idx <= size

bound = functools.partial(named, size=1)

def makes(size):
    return lambda b, h, q_idx, kv_idx: q_idx - kv_idx <= size

def makes_of_four(a, b, c, d):
    return makes(a)

def two(q_idx, kv_idx):
    return q_idx >= kv_idx

def not_inverted(b, h, q_idx, kv_idx):
    return ~(q_idx < kv_idx)

def prints(b, h, q_idx, kv_idx):
    print("noise", q_idx)
    sys.stdout.flush()
    return q_idx >= kv_idx

def nothing(b, h, q_idx, kv_idx):
    pass

def difference(b, h, q_idx, kv_idx):
    return q_idx - kv_idx

def a_list(b, h, q_idx, kv_idx):
    return [True]

def truths(score, b, h, q_idx, kv_idx):
    return q_idx >= kv_idx

def raises(b, h, q_idx, kv_idx):
    if kv_idx == 2:
        raise ValueError("never two")
    return True

def few(b, h, q_idx, kv_idx):
    return [0, 0, 1][q_idx] == 0

def leaves(b, h, q_idx, kv_idx):
    sys.exit(7)

def ends(b, h, q_idx, kv_idx):
    os._exit(3)

def hangs(b, h, q_idx, kv_idx):
    while True:
        pass

def waits_far_away(b, h, q_idx, kv_idx):
    while q_idx > 9:
        pass
    return q_idx >= kv_idx

def broken(score, b, h, q_idx, kv_idx):
    return math.nan if q_idx == kv_idx == 1 else score

def near(score, b, h, q_idx, kv_idx):
    return score + 0.5 * (q_idx == kv_idx) if q_idx >= kv_idx else -math.inf

def usual(score, b, h, q_idx, kv_idx):
    return score - abs(q_idx - kv_idx) * 2.0 ** (-4 * (h + 1))

counter = []

def changes(b, h, q_idx, kv_idx):
    counter.append(1)
    return len(counter) % 5 == 0
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mods.py").write_text(FUNCTIONS, encoding="utf-8")
    return "mods.py"


def data(capsys: pytest.CaptureFixture[str], *line: str) -> Any:
    """What the command says as JSON."""
    assert run(["mask", *line, "--format", "json"]) == Exit.OK
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    return found


def page(capsys: pytest.CaptureFixture[str], *line: str) -> str:
    """What the command prints, on one line."""
    assert run(["mask", *line]) == Exit.OK
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.long
def test_a_score_mod_that_gives_nan_is_told_with_its_cell_and_not_written(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = page(capsys, f"{file}:broken", "-n", "3")
    assert "It makes NaN of the score 0 at q_idx = 1 and kv_idx = 1." in said
    assert "for 1 of 9 pairs of a query and a key" in said
    assert "equation of your own" not in said
    found = data(capsys, f"{file}:broken", "-n", "3")
    assert found["form"] is None
    assert found["reason"].startswith("It makes NaN of the score 0 at q_idx = 1 and kv_idx = 1.")
    assert run(["mask", f"{file}:broken", "-n", "3", "-o", "mask.yaml"]) == Exit.INPUT
    assert "mask.yaml was not written" in capsys.readouterr().err
    assert not Path("mask.yaml").exists()


def test_the_keys_of_a_problem_have_what_is_added(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    written = "mask: [causal, {additive: [[0.5, 0], [0, 0.5]]}]"
    assert f"In a problem: • {written}" in page(capsys, f"{file}:near", "-n", "2")
    large = page(capsys, f"{file}:near", "-n", "16")
    assert "• mask: [causal, {additive: …}] Note: -o mask.yaml writes" in large
    numbers = "[0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"
    assert numbers not in large


def test_the_usual_slopes_are_printed(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two heads, 2^-4 and 2^-8."""
    said = page(capsys, f"{file}:usual", "-n", "3", "--heads", "2")
    assert "• position: {alibi: true} The slopes of the heads are 0.0625 and 0.00390625," in said


@pytest.mark.sampled(3, "long")
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("decorated", "causal"),
        ("hidden", "causal"),
        ("window", "causal and window [2, 0]"),
        ("bound", "window [1, -1]"),
        ("makes(3)", "window [3, -1]"),
        ("functools.partial(window_of, size=1)", "causal and window [1, 0]"),
        ("block_mask.mask_mod", "causal"),
        ("not_inverted", "causal"),
        ("prints", "causal"),
        ("BlockMask().mask_mod", "causal"),
    ],
)
def test_however_a_function_is_written_it_is_called(
    file: str, capsys: pytest.CaptureFixture[str], name: str, form: str
) -> None:
    found = data(capsys, f"{file}:{name}", "-n", "5")
    assert found["form"] == form
    assert found["function"] == f"{file}:{name}"
    assert found["kind"] == "mask_mod"


LINE_OF_ERROR = 1 + FUNCTIONS.split("\n").index('        raise ValueError("never two")')
ERRORS = {
    "number": ("number is a value of type int, not a function", "it must be a mask_mod with"),
    "nowhere": ("there is no nowhere in it", "it must be a mask_mod with"),
    "chngs": (", …", "did you mean changes?"),
    "windw": ("there is no windw in it", "did you mean window?"),
    "BlockMask": ("BlockMask is a class: name an object of it", "between the parentheses stands"),
    "block_mask": (
        "block_mask is a value of type BlockMask, not a function",
        "name its function: attncli mask mods.py:block_mask.mask_mod",
    ),
    "makes": (
        "has 1 parameter (size), but a mask_mod has 4, and a score_mod 5",
        "name what it makes, such as attncli mask 'mods.py:makes(…)'",
    ),
    "two": (
        "has 2 parameters (q_idx, kv_idx), but a mask_mod has 4, and a score_mod 5",
        "name what it makes",
    ),
    "named": (
        "needs size by name, which FlexAttention does not give",
        "functools.partial(named, size=…)",
    ),
    "makes_of_four": (
        "it returns a function, not true or false (at b = 0, h = 0, q_idx = 0, kv_idx = 0)",
        "name what it makes, with its arguments: attncli mask 'mods.py:makes_of_four(…)'",
    ),
    "nothing": ("it returns nothing, not true or false", "and returns true or false"),
    "difference": ("it returns a value of type int64, not true or false", "a mask_mod gets"),
    "a_list": ("it returns a value of type list, not true or false", "a mask_mod gets"),
    "truths": ("not a score (at b = 0", "and returns a score"),
    "raises": (
        f"line {LINE_OF_ERROR}: ValueError: never two (at b = 0, h = 0, q_idx = 0, kv_idx = 2)",
        "a mask_mod gets b, h, q_idx and kv_idx, and returns true or false",
    ),
    "few": (
        "IndexError: list index out of range (at b = 0, h = 0, q_idx = 3, kv_idx = 0)",
        "perhaps it is for fewer positions: -n and -m say how many there are",
    ),
    "leaves": ("SystemExit: 7 (at b = 0", "a mask_mod gets"),
    "ends": ("it ended Python, with exit code 3", "a mask_mod gets"),
    "hangs": (
        "it did not come to an end within 1 second",
        "give it some: --seconds 60, or fewer positions: -n 4 -m 4",
    ),
    "changes": (
        "does not give the same when it is called again",
        "take out what is drawn at random",
    ),
}


@pytest.mark.sampled(4, "long")
@pytest.mark.parametrize("name", ERRORS)
def test_what_is_no_function_of_flex_attention_is_an_error(
    file: str, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    # What hangs need not be waited for.
    seconds = "1" if name == "hangs" else "20"
    assert run(["mask", f"{file}:{name}", "-n", "4", "--seconds", seconds]) == Exit.INPUT
    out, err = capsys.readouterr()
    assert out == ""
    what, help = ERRORS[name]
    error, way = err.strip().split("\n")
    assert error.startswith(f"attncli: error: {file}:{name} ")
    assert what in error
    assert way.startswith("help: ")
    assert help in way


def test_a_function_of_too_many_parameters_is_an_error(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(file).write_text("def six(a, b, c, d, e, f): return True\n", encoding="utf-8")
    assert run(["mask", f"{file}:six"]) == Exit.INPUT
    err = capsys.readouterr().err
    assert "has 6 parameters (a, b, c, d, e, f), but a mask_mod has 4, and a score_mod 5" in err
    assert "help: bind what is more, as in functools.partial(six, f=…)" in err


@pytest.mark.parametrize(
    ("line", "code", "what"),
    [
        (["missing.py:causal"], Exit.FILE, "missing.py cannot be read: no such file or directory"),
        (
            ["mods.py"],
            Exit.USAGE,
            "mods.py names no function\nhelp: write attncli mask mods.py:causal",
        ),
        (["a b:c"], Exit.USAGE, "help: write attncli mask my_masks.py:causal"),
        (["no_such_package:causal"], Exit.INPUT, "-m pip install no_such_package"),
        (["mods.py:window", "-n", "0"], Exit.USAGE, "-n cannot be '0'"),
        (["mods.py:window", "-n", "257"], Exit.USAGE, "give a whole number from 1 to 256"),
        (["mods.py:window", "-m", "x"], Exit.USAGE, "-m cannot be 'x'"),
        (["mods.py:window", "--heads", "65"], Exit.USAGE, "--heads cannot be '65'"),
        (
            ["mods.py:window", "-n", "256", "--heads", "2"],
            Exit.USAGE,
            "1 × 2 × 256 × 256 positions are 131,072, and 65,536 are the most",
        ),
        (["mods.py:window", "-o", "a.yaml", "--format", "html"], Exit.USAGE, "leave --format out"),
        (["mods.py:window", "--format", "json", "--detail", "rows"], Exit.USAGE, "no worked lines"),
        (["mods.py:window", "-o", "a.xyz"], Exit.USAGE, "a.xyz"),
        (["./mods.py:window", "-o", "mods.py"], Exit.USAGE, "mods.py"),
    ],
)
def test_a_line_that_cannot_be_played_is_an_error(
    file: str, capsys: pytest.CaptureFixture[str], line: list[str], code: Exit, what: str
) -> None:
    before = Path(file).read_bytes()
    assert run(["mask", *line]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert what in err
    assert Path(file).read_bytes() == before


@pytest.mark.long
def test_the_page_says_the_form_and_draws_the_mask(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mask", f"{MASKS}:sliding_window", "-n", "3", "-m", "4", "--detail", "rows"]) == 0
    page = capsys.readouterr().out
    flat = " ".join(page.split())
    assert "It is causal and window [2, 0]: 6 of 12 pairs of a query and a key are visible." in flat
    assert "• mask: [causal, {window: [2, 0]}]" in page
    assert "The same form holds with 9 queries and 10 keys, and at positions up to 16,384." in flat
    assert "q1 ⎢  0   0  -∞  -∞ ⎥" in page
    assert "q0 → k1   j ≤ i: 1 ≤ 0 is false" in page


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize("format", ["markdown", "latex", "html"])
def test_every_format_has_the_form(capsys: pytest.CaptureFixture[str], format: str) -> None:
    assert run(["mask", f"{MASKS}:prefix(2)", "-n", "3", "--format", format]) == 0
    page = capsys.readouterr().out
    plain = page.replace("{[}", "[").replace("{]}", "]").replace("\\", "")
    assert "any [causal, first 2]" in plain


@pytest.mark.long
def test_the_problem_of_the_data_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    """What JSON holds as keys of a problem can be given to attncli, and hides the same."""
    lines = [
        ["sliding_window", "-m", "5"],
        ["prefix(3)"],
        ["documents"],
        ["window_of_head", "--heads", "2"],
        ["capped"],
        ["alibi", "--heads", "2"],
    ]
    for name, *options in lines:
        found = data(capsys, f"{MASKS}:{name}", "-n", "4", *options)
        sizes = found["sizes"]
        values = {"Q": np.ones((sizes["heads"], sizes["queries"], 1)).tolist()}
        values |= dict.fromkeys(("K", "V"), np.ones((sizes["heads"], sizes["keys"], 1)).tolist())
        trace = attncli.trace({**values, **found["problem"]})
        visible = np.isfinite(trace["masked"] if "masked" in trace.steps else trace["scores"])
        wanted = np.array(found["visible"])[0]
        assert np.array_equal(np.broadcast_to(visible, wanted.shape), wanted)


@pytest.mark.long
def test_a_file_of_yaml_is_a_problem(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With equal scores, each query gets the mean position of the keys that it sees."""
    line = [f"{file}:window", "-n", "4", "-m", "6", "-o", "mask.yaml"]
    assert run(["mask", *line]) == Exit.OK
    assert "It is causal and window [2, 0]" in capsys.readouterr().out
    text = Path("mask.yaml").read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert "mask: [causal, {window: [2, 0]}]\n" in text
    trace = attncli.trace("mask.yaml")
    assert trace["output"].ravel().tolist() == pytest.approx([0, 0.5, 1, 2])


def test_what_no_key_says_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["mask", f"{MASKS}:by_position", "-o", "mask.yaml"]) == Exit.INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(
        "attncli: error: mask.yaml was not written: no key of a problem does what the function does"
    )
    assert not Path("mask.yaml").exists()


@pytest.mark.long
def test_data_of_a_score_mod_has_what_it_gave(capsys: pytest.CaptureFixture[str]) -> None:
    found = data(capsys, f"{MASKS}:by_position", "-n", "2", "-m", "3")
    assert found["form"] is None
    assert found["problem"] is None
    scores = np.array(found["scores"])
    values = np.array(found["values"])
    assert values.shape == (1, 1, 2, 3, len(scores))
    assert np.array_equal(values[0, 0, 0, 2], scores)
    assert np.array_equal(values[0, 0, 1, 0], 2 * scores)


@pytest.mark.long
def test_a_function_that_hangs_at_far_positions_has_a_form_here(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = data(capsys, f"{file}:waits_far_away", "-n", "3", "--seconds", "1")
    assert found["form"] == "causal"
    assert [each.get("queries") for each in found["elsewhere"]] == [9]


@pytest.mark.long
def test_a_large_matrix_stands_beside_its_problem(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(file).write_text(
        "def odd(b, h, q_idx, kv_idx):\n    return (q_idx * 3 + kv_idx * kv_idx) % 7 < 3\n",
        encoding="utf-8",
    )
    assert run(["mask", f"{file}:odd", "-n", "40", "-o", "odd.yaml"]) == Exit.OK
    assert "It is a matrix, keep, and has no shorter form: " in " ".join(
        capsys.readouterr().out.split()
    )
    assert Path("odd.npz").exists()
    visible = attncli.trace("odd.yaml", steps="mask")["mask"] == 0
    for q, k in np.ndindex(40, 40):
        assert visible[q, k] == ((q * 3 + k * k) % 7 < 3)
