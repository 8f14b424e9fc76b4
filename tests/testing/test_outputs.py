"""`attncli test --outputs`: what another program has worked out of the exported cases."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.cli.main import run
from attncli.testing.battery import all_cases
from tests.testing import other_program
from tests.testing.other_program import Array, answer_all, attention

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("exported") / "cases"
    assert run(["test", "--export", str(to)]) == 0
    return to


def judged(folder: Path, capsys: Capture, exit_code: int) -> dict[str, Any]:
    """What `--format json` says of a folder."""
    assert run(["test", "--outputs", str(folder), "--format", "json"]) == exit_code
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def results(data: dict[str, Any]) -> dict[str, str]:
    return {case["name"]: case["result"] for case in data["cases"]}


@pytest.mark.long
def test_attention_by_the_book_agrees_in_every_case(
    cases: Path, tmp_path: Path, capsys: Capture
) -> None:
    answer_all(cases, tmp_path / "mine")
    data = judged(tmp_path / "mine", capsys, 0)
    assert set(results(data).values()) == {"same"}
    assert data["agrees"]
    assert data["mistakes"] == []
    assert data["function"] == str(tmp_path / "mine")
    assert data["facts"]["causal"] == "bottom-right"
    assert data["facts"]["window"] == "with the token itself"
    assert data["facts"]["sees no key"] == "0"
    assert data["facts"]["rope"] == "turns pairs of halves"


def _unscaled(**given: Any) -> Array:
    return attention(**{"scale": 1.0, **given})


def _tiled(q: Array, k: Array, v: Array, **settings: Any) -> Array:
    group = q.shape[1] // k.shape[1]
    return attention(q, *(np.tile(each, (1, group, 1, 1)) for each in (k, v)), **settings)


def _inverted(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    return attention(q, k, v, mask=None if mask is None else ~mask)


@pytest.mark.long
@pytest.mark.parametrize(
    ("function", "mistake"),
    [
        (_unscaled, "the scores were not scaled"),
        (_tiled, "KV heads were tiled, not repeated"),
        (_inverted, "the mask was inverted"),
    ],
)
def test_a_mistake_is_named(
    function: Callable[..., Array], mistake: str, cases: Path, tmp_path: Path, capsys: Capture
) -> None:
    answer_all(cases, tmp_path / "mine", function)
    assert judged(tmp_path / "mine", capsys, 1)["mistakes"] == [mistake]


@pytest.mark.long
def test_a_program_may_leave_cases_out(cases: Path, tmp_path: Path, capsys: Capture) -> None:
    def plain(q: Array, k: Array, v: Array, causal: bool = False) -> Array:
        return attention(q, k, v, causal=causal)

    answer_all(cases, tmp_path / "mine", plain)
    found = results(judged(tmp_path / "mine", capsys, 0))
    asked = {case.name for case in all_cases() if set(case.asks) <= {"causal", "grouped"}}
    assert {name for name, result in found.items() if result == "same"} == asked
    assert run(["test", "--outputs", str(tmp_path / "mine")]) == 0
    assert "Not asked, since there is no output of it: " in capsys.readouterr().out


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    ("stored", "suffix"), [("<f8", "f64"), ("<f4", "f32"), ("<f2", "f16"), ("bfloat16", "bf16")]
)
def test_outputs_in_every_number_format(
    stored: str, suffix: str, cases: Path, tmp_path: Path, capsys: Capture
) -> None:
    if suffix == "bf16":
        ml_dtypes = pytest.importorskip("ml_dtypes")
        stored = ml_dtypes.bfloat16
    answer_all(cases, tmp_path, stored=stored, suffix=suffix)
    assert set(results(judged(tmp_path, capsys, 0)).values()) == {"same"}


@pytest.mark.long
def test_an_output_in_float64_has_to_be_exact(cases: Path, tmp_path: Path, capsys: Capture) -> None:
    def coarse(q: Array, k: Array, v: Array) -> Array:
        return attention(q, k, v).astype(np.float16)

    answer_all(cases, tmp_path, coarse, stored="<f8", suffix="f64")
    assert results(judged(tmp_path, capsys, 1))["plain"] == "differs"


@pytest.mark.long
def test_the_outputs_may_lie_beside_the_cases(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "cases"
    assert run(["test", "--export", str(folder)]) == 0
    answer_all(folder, folder)
    assert judged(folder, capsys, 0)["agrees"]


def test_cases_of_another_version_are_refused(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "cases"
    assert run(["test", "--export", str(folder)]) == 0
    answer_all(folder, folder)
    path = folder / "cases.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "digest": "0123456789abcdef"}))
    assert run(["test", "--outputs", str(folder)]) == 3
    assert "has other cases: of another version of attncli" in capsys.readouterr().err


@pytest.mark.long
def test_a_nan_differs(cases: Path, tmp_path: Path, capsys: Capture) -> None:
    def with_nan(q: Array, k: Array, v: Array) -> Array:
        output = attention(q, k, v)
        output[..., 0, 0] = np.nan
        return output

    answer_all(cases, tmp_path, with_nan)
    found = results(judged(tmp_path, capsys, 1))
    assert set(found.values()) == {"differs", "not asked"}
    assert run(["test", "--outputs", str(tmp_path)]) == 1
    assert "it gave   nan" in capsys.readouterr().out


def _short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _long(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def _wide(path: Path) -> None:
    np.fromfile(path, "<f4").astype("<f8").tofile(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    path.unlink()
    os.mkfifo(path)


def _lost(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


@pytest.mark.long
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_short, "plain.output.f32 has 287 bytes, not 288: 2×2×3×6 numbers of 4 bytes"),
        (_long, "plain.output.f32 has 289 bytes, not 288"),
        (_wide, "if they are of float64, let its name end in .f64"),
        (_folder, "plain.output.f32 is not a file"),
        (_pipe, "plain.output.f32 is not a file"),
        (_lost, "plain.output.f32 cannot be read: no such file"),
    ],
)
def test_a_damaged_output_is_an_error_of_its_case(
    damage: Callable[[Path], None], said: str, cases: Path, tmp_path: Path, capsys: Capture
) -> None:
    answer_all(cases, tmp_path)
    damage(tmp_path / "plain.output.f32")
    data = judged(tmp_path, capsys, 1)
    found = results(data)
    assert found.pop("plain") == "error"
    assert set(found.values()) == {"same"}
    assert said in data["cases"][0]["error"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "has no outputs"),
        (["plain.f32", "notes.txt"], "has no outputs"),
        (["plian.output.f32"], "did you mean plain?"),
        (["Plain.output.f32"], "did you mean plain?"),
        (["plain.output.npy"], "let the name end in .f16, .bf16, .f32 or .f64"),
        (["\x1b[31mplain.output.f32"], "\\x1b[31mplain.output.f32 is the output of no case"),
        (["plain.output.f32", "plain.output.f64"], "has two outputs of one case"),
    ],
)
def test_a_folder_that_cannot_be_judged(
    names: list[str], said: str, tmp_path: Path, capsys: Capture
) -> None:
    for name in names:
        (tmp_path / name).write_bytes(b"")
    assert run(["test", "--outputs", str(tmp_path)]) == 3
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nowhere", "file", "nul\0"])
def test_a_folder_that_is_not_there(name: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").write_text("")
    assert run(["test", "--outputs", str(tmp_path / name)]) == 4
    assert "error: cannot read" in capsys.readouterr().err


@pytest.mark.long
def test_other_files_do_not_matter(cases: Path, tmp_path: Path, capsys: Capture) -> None:
    answer_all(cases, tmp_path)
    (tmp_path / "kernel.c").write_text("int main(void) { return 0; }")
    assert judged(tmp_path, capsys, 0)["agrees"]


def test_the_smallest_problem_is_written(cases: Path, tmp_path: Path, capsys: Capture) -> None:
    def unscaled(q: Array, k: Array, v: Array) -> Array:
        return attention(q, k, v, scale=1.0)

    answer_all(cases, tmp_path / "mine", unscaled)
    problem = tmp_path / "smallest.yaml"
    assert run(["test", "--outputs", str(tmp_path / "mine"), "-o", str(problem)]) == 1
    capsys.readouterr()
    assert run(["compute", str(problem), "--steps", "output", "--format", "json"]) == 0
    plain = other_program.cases_in(cases)[0]
    right = attention(**other_program.arrays_of(cases, plain))
    output = json.loads(capsys.readouterr().out)["steps"]["output"]["value"]
    np.testing.assert_allclose(output, right[0, 0], rtol=1e-12)


def _tokens_first(q: Array, k: Array, v: Array, **settings: Any) -> Array:
    """Attention of arrays that have tokens before heads."""
    swapped = (np.swapaxes(each, 1, 2) for each in (q, k, v))
    return np.swapaxes(attention(*swapped, **settings), 1, 2)


def _from_the_first(q: Array, k: Array, v: Array, causal: bool = False) -> Array:
    """Causal from the first token, also where there are fewer queries than keys."""
    seen = np.tri(q.shape[-2], k.shape[-2], dtype=bool)
    return attention(q, k, v, mask=seen if causal else None)


def test_as_says_in_which_order_the_axes_are(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "cases"
    assert run(["test", "--export", str(folder), "--as", "flash"]) == 0
    assert "tokens_first 1" in (folder / "cases.txt").read_text()
    (first, *_) = other_program.cases_in(folder)
    assert first["arrays"]["q"]["shape"] == [2, 3, 2, 5]
    assert first["output"]["shape"] == [2, 3, 2, 6]

    def flash(q: Array, k: Array, v: Array, causal: bool = False) -> Array:
        return _tokens_first(q, k, v, causal=causal)

    answer_all(folder, folder, flash)
    assert run(["test", "--outputs", str(folder), "--as", "flash"]) == 0
    assert "entries × tokens × heads × features" in capsys.readouterr().out
    assert run(["test", "--outputs", str(folder)]) == 3
    assert "or with another --as" in capsys.readouterr().err


def test_as_says_what_true_in_a_mask_means(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "cases"
    assert run(["test", "--export", str(folder), "--as", "torch-mha"]) == 0
    (asks,) = (
        case["asks"]
        for case in other_program.cases_in(folder)
        if case["name"] == "a mask of truth values"
    )
    assert "is hidden" in asks["mask"]

    def hiding(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
        return attention(q, k, v, mask=None if mask is None else ~mask)

    answer_all(folder, folder, hiding)
    assert run(["test", "--outputs", str(folder), "--as", "torch-mha"]) == 0


@pytest.mark.long
def test_with_as_what_others_do_is_a_mistake(cases: Path, tmp_path: Path, capsys: Capture) -> None:
    answer_all(cases, tmp_path, _from_the_first)
    assert judged(tmp_path, capsys, 0)["facts"]["causal"] == "top-left"
    assert run(["test", "--outputs", str(tmp_path), "--as", "torch"]) == 0
    assert run(["test", "--outputs", str(tmp_path), "--as", "mlx"]) == 1
    capsys.readouterr()
