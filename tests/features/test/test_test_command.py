"""`attncli test`, from the name of a function to its page."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import attncli
from attncli.cli.main import run
from attncli.errors import Exit

ROOT = Path(__file__).parents[3]
HOMEWORK = f"{ROOT / 'inputs/functions/homework.py'}:attention"
CORRECTED = f"{ROOT / 'inputs/functions/corrected.py'}:attention"
SCHEMA = json.loads((ROOT / "attncli/testing/test.schema.json").read_text(encoding="utf-8"))

# The parts of attention that the functions below put together, each with a mistake or two.
ATTENTION = """
import numpy as np

def softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)

def scores_of(q, k):
    return q @ k.swapaxes(-1, -2)

def right(q, k, v):
    return softmax(scores_of(q, k) / np.sqrt(q.shape[-1])) @ v

def no_scale_and_inverted(q, k, v, mask=None):
    scores = scores_of(q, k)
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    return softmax(scores) @ v

def tiled(q, k, v):
    k, v = (np.tile(each, (1, q.shape[-3] // k.shape[-3], 1, 1)) for each in (k, v))
    return right(q, k, v)

def tokens_first(q, k, v):
    q, k, v = (each.swapaxes(-2, -3) for each in (q, k, v))
    return right(q, k, v).swapaxes(-2, -3)

def with_weights(q, k, v):
    weights = softmax(scores_of(q, k) / np.sqrt(q.shape[-1]))
    return weights @ v, weights

def corner(q, k, v, causal=False):
    scores = scores_of(q, k) / np.sqrt(q.shape[-1])
    n, m = scores.shape[-2:]
    if causal:
        scores = np.where(np.tri(n, m, m - n, dtype=bool), scores, -np.inf)
    return softmax(scores) @ v

def dropout(q, k, v):
    weights = softmax(scores_of(q, k) / np.sqrt(q.shape[-1]))
    return weights * (np.random.default_rng().random(weights.shape) > 0.5) * 2 @ v

def reads_elsewhere_in_four_axes(q, k, v):
    found = right(q, k, v)
    return found if q.ndim < 4 else np.random.default_rng().random(found.shape)

def in_place(q, k, v):
    q /= np.sqrt(q.shape[-1])
    return softmax(scores_of(q, k)) @ v

def wrong_shape(q, k, v):
    return right(q, k, v).sum(-1)

def raises(q, k, v):
    raise ValueError("there is nothing here")

def two_values(q, k):
    return q

def root_of_d_v(q, k, v):
    return softmax(scores_of(q, k) / np.sqrt(v.shape[-1])) @ v

def causal_by_default(q, k, v, causal=True):
    scores = scores_of(q, k) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    return softmax(scores) @ v

def with_dropout(q, k, v, dropout=0.1):
    weights = softmax(scores_of(q, k) / np.sqrt(q.shape[-1]))
    if dropout > 0:
        weights = weights * (np.random.default_rng().random(weights.shape) > dropout)
    return weights @ v

def truth_alone(q, k, v, mask):
    scores = scores_of(q, k) / np.sqrt(q.shape[-1])
    return softmax(np.where(~mask, -np.inf, scores)) @ v

def with_a_small_number(q, k, v):
    scores = scores_of(q, k) / np.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / (powers.sum(-1, keepdims=True) + 1e-9) @ v

def down_the_columns(q, k, v, mask=None):
    scores = scores_of(q, k) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    return softmax(scores, -2) @ v

def sums_in_16_bits(q, k, v):
    scores = scores_of(q, k) / np.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    total = np.add.accumulate(powers.astype(np.float16), axis=-1)[..., -1:]
    return powers / total.astype(powers.dtype) @ v

def numbers_as_truth(q, k, v, mask=None):
    scores = scores_of(q, k) / np.sqrt(q.shape[-1])
    return softmax(scores if mask is None else np.where(mask, scores, -np.inf)) @ v

class Cls:
    def __call__(self, q, k, v):
        return right(q, k, v)
"""


@pytest.fixture
def functions(tmp_path: Path) -> str:
    file = tmp_path / "functions.py"
    file.write_text(ATTENTION, encoding="utf-8")
    return str(file)


def data_of(line: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """The data of `attncli test`, which has to end with this code and to fit its schema."""
    assert run(["test", *line, "--format", "json"]) == code
    data: dict[str, object] = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, SCHEMA)
    return data


@pytest.mark.long
def test_a_mistake_is_named_with_all_cases_that_it_explains(
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = data_of([HOMEWORK], Exit.DIFFERENCE, capsys)
    assert data["mistakes"] == ["the scores were divided by the root of n"]
    (explanation,) = data["explanations"]
    differing = [case["name"] for case in data["cases"] if case["result"] == "differs"]
    assert explanation["cases"]
    assert sorted(explanation["cases"]) == sorted(differing)


@pytest.mark.long
def test_the_problem_of_a_case_gives_what_is_expected_of_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = data_of([HOMEWORK], Exit.DIFFERENCE, capsys)
    for case in data["cases"]:
        if "problem" in case:
            # By hand, without a mask: the rows of the softmax, and their sums of values.
            problem = case["problem"]
            if "mask" in problem:
                continue
            q, k, v = (np.array(problem[name]) for name in "QKV")
            scores = q @ k.T / np.sqrt(q.shape[1])
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            weights = powers / powers.sum(axis=1, keepdims=True)
            np.testing.assert_allclose(weights @ v, case["expected"], rtol=1e-9, atol=1e-12)


def test_a_right_function_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    data = data_of([CORRECTED], Exit.OK, capsys)
    assert data["agrees"]
    assert not data["mistakes"]
    assert not data["remarks"]
    assert data["facts"]["layout"] == "tokens × features"
    assert data["facts"]["scale"] == "1/sqrt(d_k)"
    assert data["facts"]["window"] == "not asked"


@pytest.mark.long
def test_two_mistakes_at_once_are_both_named(
    functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of([f"{functions}:no_scale_and_inverted"], Exit.DIFFERENCE, capsys)
    assert data["mistakes"] == ["the scores were not scaled", "the mask was inverted"]
    assert data["facts"]["softmax"] == "over keys"


@pytest.mark.long
def test_a_mistake_that_only_some_cases_can_show(
    functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of([f"{functions}:tiled"], Exit.DIFFERENCE, capsys)
    assert data["mistakes"] == ["KV heads were tiled, not repeated"]
    (explanation,) = data["explanations"]
    assert explanation["cases"] == ["two KV heads of four"]


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("right", "entries × heads × tokens × features"),
        ("tokens_first", "entries × tokens × heads × features"),
        ("with_weights", "entries × heads × tokens × features"),
    ],
)
def test_the_layout_is_found(
    name: str, layout: str, functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of([f"{functions}:{name}"], Exit.OK, capsys)
    assert data["facts"]["layout"] == layout


@pytest.mark.long
def test_a_convention_is_a_fact_and_with_as_a_mistake(
    functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    function = f"{functions}:corner"
    assert data_of([function], Exit.OK, capsys)["facts"]["causal"] == "bottom-right"
    data_of(
        [
            function,
            "--as",
            "flash",
            "--call",
            "f(q.swapaxes(1, 2), k.swapaxes(1, 2), v.swapaxes(1, 2), causal).swapaxes(1, 2)",
        ],
        Exit.OK,
        capsys,
    )
    data = data_of([function, "--as", "torch"], Exit.DIFFERENCE, capsys)
    assert data["mistakes"] == ["the mask was aligned to the other corner"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "meant", "mistake"),
    [
        ("numbers_as_truth", "onnx", "numbers in a mask: truth values, not added"),
        ("right", "flash", "tokens come after heads, not before"),
        ("tokens_first", "torch", "tokens come before heads, not after"),
    ],
)
def test_with_as_another_fact_is_a_mistake(
    name: str, meant: str, mistake: str, functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert data_of([f"{functions}:{name}"], Exit.OK, capsys)["agrees"]
    data = data_of([f"{functions}:{name}", "--as", meant], Exit.DIFFERENCE, capsys)
    assert mistake in data["mistakes"]
    assert not data["agrees"]


@pytest.mark.long
def test_sums_in_16_bits_are_told(functions: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = data_of([f"{functions}:sums_in_16_bits"], Exit.DIFFERENCE, capsys)
    assert "the exponentials were added in 16 bits" in data["mistakes"]
    assert data["facts"]["precision"].startswith("the exponentials were added in 16 bits")


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    ("name", "fact", "words"),
    [
        ("causal_by_default", "causal", "top-left"),
        ("with_dropout", "scale", "1/sqrt(d_k)"),
        ("truth_alone", "numbers in a mask", "refused"),
        ("with_a_small_number", "precision", "sums in float32"),
        ("Cls()", "scale", "1/sqrt(d_k)"),
    ],
)
def test_other_ways_to_be_right(
    name: str, fact: str, words: str, functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of([f"{functions}:{name}"], Exit.OK, capsys)
    assert data["facts"][fact] == words


@pytest.mark.long
def test_a_mistake_does_not_hide_in_values_as_wide_as_keys(
    functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of([f"{functions}:root_of_d_v"], Exit.DIFFERENCE, capsys)
    assert data["facts"]["layout"] == "entries × heads × tokens × features"


@pytest.mark.long
def test_a_name_is_given_though_some_cases_have_nothing_to_divide_by(
    functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of([f"{functions}:down_the_columns"], Exit.DIFFERENCE, capsys)
    assert data["mistakes"] == ["the softmax was taken down the columns"]


@pytest.mark.long
def test_what_is_right_is_true_also_beside_another_mistake(
    functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The problem that the page shows last is worked out by itself."""
    assert run(["test", f"{functions}:no_scale_and_inverted", "--format", "json"]) == 1
    cases = {case["name"]: case for case in json.loads(capsys.readouterr().out)["cases"]}
    expected = cases["a mask of truth values"]["expected"][0][0][0][0]
    assert run(["test", f"{functions}:no_scale_and_inverted"]) == 1
    page = capsys.readouterr().out.partition("The mask was inverted")[2]
    right = next(line for line in page.splitlines() if line.startswith("    right"))
    assert right.endswith(f"≈ {expected:.3f}")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("dropout", Exit.DIFFERENCE, "dropout may be on"),
        ("in_place", Exit.OK, "It changes what it is given: q."),
    ],
)
def test_how_a_function_behaves_is_told(
    name: str, code: int, said: str, functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of([f"{functions}:{name}"], code, capsys)
    assert said in " ".join(data["remarks"])


@pytest.mark.long
def test_how_a_function_behaves_in_a_layout_that_is_not_its_own_is_not_told(
    functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """PyTorch, called with keys for queries, reads what is not there, and only in four axes."""
    data = data_of([f"{functions}:reads_elsewhere_in_four_axes"], Exit.OK, capsys)
    assert data["facts"]["layout"] == "heads × tokens × features"
    assert data["remarks"] == []


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("wrong_shape", "its shape is"),
        ("raises", "ValueError: there is nothing here"),
    ],
)
def test_a_call_that_fails_is_told_with_the_last_line_of_its_error(
    name: str, error: str, functions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of([f"{functions}:{name}"], Exit.DIFFERENCE, capsys)
    assert {case["result"] for case in data["cases"]} <= {"error", "not asked"}
    assert all(error in case["error"] for case in data["cases"] if case["result"] == "error")


@pytest.mark.sampled(3, "long")
@pytest.mark.parametrize(
    ("target", "code", "message", "help"),
    [
        ("FILE:missing", 3, "there is no missing in it; it has softmax", ""),
        ("FILE:sofmax", 3, "there is no sofmax in it; it has softmax", "did you mean softmax?"),
        ("FILE:two_values", 3, "has fewer than three parameters: q, k", "--call"),
        ("FILE:ATTENTION", 3, "there is no ATTENTION", ""),
        ("FILE:Cls", 3, "is a class: name an object of it", ""),
        ("FILE:np.pi", 3, "is a value of type float, not a function", ""),
        ("FILE", 2, "names no function", "attention"),
        ("no_such_file.py:attention", 4, "cannot be read", "name of the file"),
        ("no_such_package:attention", 3, "No module named 'no_such_package'", ""),
        ("not a package:attention", 2, "neither a file of Python nor", ""),
    ],
)
def test_what_cannot_be_loaded(
    target: str,
    code: int,
    message: str,
    help: str,
    functions: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["test", target.replace("FILE", functions)]) == code
    error = capsys.readouterr().err
    assert message in error
    assert help in error
    assert "Traceback" not in error


@pytest.mark.parametrize("call", ["f(q, k", "f(q, k)", "g(q, k, v)"])
def test_a_call_that_is_none(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["test", CORRECTED, "--call", call]) == Exit.USAGE
    assert "f(q, k, v, mask=~mask)" in capsys.readouterr().err


@pytest.mark.long
def test_the_smallest_problem_is_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "failing.yaml"
    assert run(["test", HOMEWORK, "-o", str(path)]) == Exit.DIFFERENCE
    saved = attncli.load(path)
    shown = capsys.readouterr().out
    assert saved.title == "Plain"
    expected = attncli.trace(saved)["output"][0, 0]
    assert f"≈ {expected:.3f}" in shown


@pytest.mark.long
def test_where_nothing_differs_no_problem_is_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "failing.yaml"
    assert run(["test", CORRECTED, "-o", str(path)]) == Exit.OK
    assert not path.exists()
    assert "no case differs" in capsys.readouterr().err


def test_where_every_call_fails_no_problem_is_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, path = tmp_path / "mine.py", tmp_path / "failing.yaml"
    source.write_text("def attention(q, k, v):\n    raise ValueError\n", encoding="utf-8")
    assert run(["test", f"{source}:attention", "-o", str(path)]) == Exit.DIFFERENCE
    assert not path.exists()
    assert "a case that fails has no output to compare" in capsys.readouterr().err


def test_a_page_in_a_file_of_a_problem_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "failing.yaml"
    assert run(["test", CORRECTED, "--format", "table", "-o", str(path)]) == Exit.USAGE
    assert not path.exists()
    assert "leave --format out" in capsys.readouterr().err


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    ("source", "help"),
    [
        ("import a_package_that_lacks.part", "-m pip install a_package_that_lacks"),
        ("def attention(:", "mend this line, or the one above it"),
    ],
)
def test_what_to_do_about_a_file_that_cannot_be_loaded(
    source: str, help: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(source, encoding="utf-8")
    assert run(["test", f"{path}:attention"]) == Exit.INPUT
    said = capsys.readouterr().err
    assert "line 1: " in said
    assert help in said
