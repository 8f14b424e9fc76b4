"""`attncli test --export --gradient` and `--outputs --gradient`: what another program, in any
language, has worked out of the gradients.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncli.cli.main import run
from tests.testing import other_program
from tests.testing.gradients import wrong
from tests.testing.gradients.in_files import Back, answer_back, by_autograd, by_hand
from tests.testing.other_program import Array
from tests.testing.test_exported import words_in

Capture = pytest.CaptureFixture[str]
LARGEST = "4,096 equal keys"
GRADIENTS = ("dQ", "dK", "dV")


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("exported") / "cases"
    assert run(["test", "--export", str(to), "--gradient"]) == 0
    return to


def judged(folder: Path, capsys: Capture, exit_code: int, *options: str) -> dict[str, Any]:
    """What `--format json` says of a folder."""
    words = ["test", "--outputs", str(folder), "--gradient", "--format", "json", *options]
    assert run(words) == exit_code
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def test_every_case_but_the_largest_asks_for_three_gradients(cases: Path) -> None:
    words = words_in(cases)
    for case in other_program.cases_in(cases):
        stem = case["output"]["file"].removesuffix(".output.f32")
        if case["name"] == LARGEST:
            assert case["gradients"] == {}
            assert "dO" not in {*case["arrays"], *case["asks"], *words[stem]}
            continue
        assert words[stem]["dO"] == "f32"
        assert "gradient of the output" in case["asks"]["dO"]
        said = case["arrays"]["dO"]
        assert said == {**case["output"], "file": f"{stem}.dO.f32"}
        numbers = np.fromfile(cases / said["file"], "<f4")
        assert numbers.size == np.prod(said["shape"])
        for name, of in zip(GRADIENTS, "qkv", strict=True):
            expected = {**case["arrays"][of], "file": f"{stem}.{name}.f32"}
            assert case["gradients"][name] == expected


def test_the_gradient_of_an_output_is_exact_in_16_bits_and_0_where_no_key_is_seen(
    cases: Path,
) -> None:
    for case in other_program.cases_in(cases):
        if not case["gradients"]:
            continue
        arrays = other_program.arrays_of(cases, case)
        numbers = arrays["dO"]
        np.testing.assert_array_equal(numbers.astype(np.float16), numbers)
        if case["name"] == "a query that sees no key":
            assert not numbers[~arrays["mask"].any(axis=-1)].any()
            assert numbers.any()


def test_without_gradient_nothing_is_said_of_any(tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    assert run(["test", "--export", str(folder)]) == 0
    assert not list(folder.glob("*.dO.*"))
    assert all(case["gradients"] == {} for case in other_program.cases_in(folder))


@pytest.mark.long
@pytest.mark.torch
def test_autograd_agrees_in_every_case(
    torch: Any, cases: Path, tmp_path: Path, capsys: Capture
) -> None:
    answer_back(cases, tmp_path, by_autograd)
    data = judged(tmp_path, capsys, 0)
    assert {case["result"] for case in data["cases"]} == {"same"}
    results = {case["name"]: case.get("gradients", {}).get("result") for case in data["cases"]}
    assert results.pop(LARGEST) is None
    assert set(results.values()) == {"same"}
    assert data["facts"]["gradients"] == "in files"
    assert data["facts"]["rope"] == "turns pairs of halves"


@pytest.mark.torch
@pytest.mark.slow
def test_a_gradient_that_autograd_calls_wrong_is_called_wrong(
    torch: Any, cases: Path, tmp_path: Path, capsys: Capture
) -> None:
    def without_sink(**given: Any) -> Mapping[str, Array]:
        """The gradient of attention whose sink has no weight."""
        right = by_autograd(**given)
        sinks = given.pop("sinks", None)
        return right if sinks is None else {**by_autograd(**given), "output": right["output"]}

    answer_back(cases, tmp_path, without_sink)
    data = judged(tmp_path, capsys, 1)
    differing = [case["name"] for case in data["cases"] if case["result"] == "differs"]
    assert differing == ["a sink"]


@pytest.mark.long
def test_gradients_without_outputs_are_judged(cases: Path, tmp_path: Path, capsys: Capture) -> None:
    answer_back(cases, tmp_path, by_hand, only=GRADIENTS)
    data = judged(tmp_path, capsys, 0)
    (plain, *_) = data["cases"]
    assert plain["gradients"]["result"] == "same"
    assert "given" not in plain
    assert run(["test", "--outputs", str(tmp_path), "--gradient"]) == 0
    assert "Its gradients are those of attention" in capsys.readouterr().out


def _with_mistake(name: str) -> Back:
    """The gradients of a wrong function, beside a right output."""

    def back(
        q: Array, k: Array, v: Array, dO: Array, mask: Array | None = None
    ) -> Mapping[str, Array]:
        found = by_hand(q, k, v, mask=mask)
        masked = {} if mask is None else {"mask": mask}
        gradients = wrong.WRONG[name].function(q, k, v, dO, **masked)
        return {**found, **dict(zip(GRADIENTS, gradients, strict=True))}

    return back


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "name", ["mean_not_subtracted", "scale_forgotten_in_d_q", "scale_forgotten", "mask_forgotten"]
)
def test_a_mistake_of_the_backward_pass_is_named(
    name: str, cases: Path, tmp_path: Path, capsys: Capture
) -> None:
    answer_back(cases, tmp_path, _with_mistake(name))
    said = judged(tmp_path, capsys, 1)["mistakes"]
    assert said
    assert {*said} <= {*wrong.WRONG[name].names}
    assert run(["test", "--outputs", str(tmp_path), "--gradient"]) == 1
    assert "Its output is right, but its gradients are not" in capsys.readouterr().out


def test_a_wrong_output_is_said_first(cases: Path, tmp_path: Path, capsys: Capture) -> None:
    def unscaled(q: Array, k: Array, v: Array, dO: Array) -> Mapping[str, Array]:
        return by_hand(q * q.shape[-1] ** 0.5, k, v, dO)

    answer_back(cases, tmp_path, unscaled)
    data = judged(tmp_path, capsys, 1)
    assert data["mistakes"] == ["the scores were not scaled"]
    differing = [case for case in data["cases"] if case["result"] == "differs"]
    assert differing
    assert not any("gradients" in case for case in differing)


def test_a_case_without_gradients_has_its_output_judged(
    cases: Path, tmp_path: Path, capsys: Capture
) -> None:
    answer_back(cases, tmp_path, by_hand)
    for name in GRADIENTS:
        (tmp_path / f"plain.{name}.f32").unlink()
    (plain, *others) = judged(tmp_path, capsys, 0)["cases"]
    assert plain["result"] == "same"
    assert "gradients" not in plain
    assert sum("gradients" in case for case in others) > 5


@pytest.mark.long
def test_the_coarsest_of_three_formats_says_how_exact_they_are(
    cases: Path, tmp_path: Path, capsys: Capture
) -> None:
    answer_back(cases, tmp_path, by_hand)
    for file in tmp_path.glob("*.dK.f32"):
        np.fromfile(file, "<f4").astype("<f2").tofile(file.with_suffix(".f16"))
        file.unlink()
    assert judged(tmp_path, capsys, 0)["agrees"]


def _one_is_missing(folder: Path) -> None:
    (folder / "plain.dK.f32").unlink()


def _one_is_short(folder: Path) -> None:
    path = folder / "plain.dK.f32"
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_one_is_missing, "dK is missing: all three gradients are asked for"),
        (_one_is_short, "plain.dK.f32 has 319 bytes, not 320: 2×2×4×5 numbers of 4 bytes"),
    ],
)
def test_a_damaged_gradient_is_an_error_of_its_case(
    damage: Any, said: str, cases: Path, tmp_path: Path, capsys: Capture
) -> None:
    answer_back(cases, tmp_path, by_hand)
    damage(tmp_path)
    (plain, *others) = judged(tmp_path, capsys, 1)["cases"]
    assert (plain["result"], plain["error"]) == ("error", said)
    assert {case["result"] for case in others} <= {"same", "not asked"}


def _lower_case(folder: Path) -> None:
    for name in GRADIENTS:
        for file in folder.glob(f"*.{name}.f32"):
            file.rename(str(file).replace(name, name.lower()))


def _misspelt(folder: Path) -> None:
    (folder / "plane.dQ.f32").write_bytes(b"")


def _of_the_largest(folder: Path) -> None:
    (folder / "4096_equal_keys.dQ.f32").write_bytes(b"")


def _twice(folder: Path) -> None:
    (folder / "plain.dQ.f64").write_bytes(b"")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_lower_case, "has no gradients"),
        (_misspelt, "plane.dQ.f32 is the gradient of no case"),
        (_of_the_largest, "4096_equal_keys.dQ.f32 is the gradient of no case"),
        (_twice, "has two gradients of one case: plain.dQ.f32 and plain.dQ.f64"),
    ],
)
def test_what_cannot_be_judged(
    change: Any, said: str, cases: Path, tmp_path: Path, capsys: Capture
) -> None:
    answer_back(cases, tmp_path, by_hand)
    change(tmp_path)
    assert run(["test", "--outputs", str(tmp_path), "--gradient"]) == 3
    err = capsys.readouterr().err
    assert said in err
    assert "help: " in err


@pytest.mark.parametrize(("one", "other"), [(["--gradient"], []), ([], ["--gradient"])])
def test_cases_with_gradients_are_other_cases(
    one: list[str], other: list[str], tmp_path: Path, capsys: Capture
) -> None:
    folder = tmp_path / "cases"
    assert run(["test", "--export", str(folder), *one]) == 0
    answer_back(folder, folder, by_hand)
    assert run(["test", "--outputs", str(folder), *other]) == 3
    assert "with or without --gradient" in capsys.readouterr().err


@pytest.mark.torch
def test_tokens_first(torch: Any, tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "cases"
    assert run(["test", "--export", str(folder), "--as", "flash", "--gradient"]) == 0

    def flash(
        q: Array, k: Array, v: Array, dO: Array | None = None, causal: bool = False
    ) -> Mapping[str, Array]:
        given = {"q": q, "k": k, "v": v, **({} if dO is None else {"dO": dO})}
        swapped = {name: np.swapaxes(each, 1, 2) for name, each in given.items()}
        found = by_autograd(**swapped, causal=causal)
        return {name: np.swapaxes(each, 1, 2) for name, each in found.items()}

    answer_back(folder, folder, flash)
    data = judged(folder, capsys, 0, "--as", "flash")
    assert data["facts"]["layout"] == "entries × tokens × heads × features"
    (plain, *_) = data["cases"]
    assert plain["gradients"]["result"] == "same"
