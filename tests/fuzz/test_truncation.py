"""Good files cut off at any byte: worked out or refused with a place, whatever is missing.

Long files are cut off at each so-manieth byte, and at each where HYPOTHESIS_PROFILE is explore.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from tests.tools.fuzz.ends import End, check_end, end_of
from tests.tools.fuzz.samples import ANSWERED, INPUTS, PROBLEM, array, dump, page

MATRIX = "Q: {file: a.SUFFIX}\nK: [[1, 2, 3]]\nV: [[1]]\n"
ALL = settings().max_examples > 1000  # HYPOTHESIS_PROFILE=explore
NAMES = ("causal", "exact_fractions", "additive_mask")
PAGE = ("--steps", "weights", "--detail", "brief")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("love.yaml").write_text(PROBLEM, encoding="utf-8")


def cut(
    data: bytes, name: str, command: list[str], codes: tuple[int, ...], *, every: int = 1
) -> list[End]:
    """The ends of the command for every beginning of the file, and at last for all of it."""
    ends = []
    for length in [*range(0, len(data), 1 if ALL else every), len(data)]:
        Path(name).write_bytes(data[:length])
        try:
            ends.append(check_end(end_of(command), codes))
        except AssertionError as error:
            raise AssertionError(f"{name} cut off at byte {length}: {error}") from None
    return ends


def test_the_first_answer_is_bad_input_and_the_last_is_good() -> None:
    """Of one byte after another, so that these tests can fail."""
    first, *_, last = cut(b"Q: [[1]]\nK: [[1]]\nV: [[1]]", "p.yaml", ["compute", "p.yaml"], (0, 3))
    assert (first.code, last.code) == (3, 0)
    with pytest.raises(AssertionError, match="cut off at byte 0"):
        cut(b"Q: [[1]]", "p.yaml", ["compute", "p.yaml"], (0,))


@pytest.mark.parametrize(
    ("name", "every"),
    [("causal", 9), *(pytest.param(name, 2, marks=pytest.mark.slow) for name in NAMES)],
)
def test_a_problem_in_yaml(name: str, every: int) -> None:
    data = (INPUTS / f"{name}.yaml").read_bytes()
    ends = cut(data, "p.yaml", ["compute", "p.yaml", "--format", "json"], (0, 3), every=every)
    assert (ends[0].code, ends[-1].code) == (3, 0)


@pytest.mark.slow
def test_a_problem_in_json() -> None:
    data = (INPUTS / "qkv_given.json").read_bytes()
    ends = cut(data, "p.json", ["compute", "p.json", "--format", "json"], (0, 3))
    assert {end.code for end in ends[: data.rindex(b"}") + 1]} == {3}
    assert ends[-1].code == 0


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors", "xlsx"])
def test_a_file_of_arrays(suffix: str) -> None:
    cells = "xlsx, range: A1:C2" if suffix == "xlsx" else suffix
    Path("p.yaml").write_text(MATRIX.replace("SUFFIX", cells), encoding="utf-8")
    command = ["compute", "p.yaml", "--format", "json"]
    ends = cut(array(suffix), f"a.{suffix}", command, (0, 3), every=5 if suffix == "xlsx" else 1)
    assert {end.code for end in ends[:-1]} == {3}
    assert ends[-1].code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "every"), [("yaml", 1), ("json", 1), ("md", 3), ("tex", 5), ("txt", 3)]
)
def test_answers_to_a_small_problem(suffix: str, every: int) -> None:
    Path("small.yaml").write_text("Q: [[1], [0]]\nK: [[1], [2]]\nV: [[1], [3]]\n", encoding="utf-8")
    answers = {
        "yaml": "scores: [[1, 2], [0, 0]]  # all\nweights:\n- [0.27, 0.73]\n- [0.5, null]\n",
        "json": '{"scores": [[1, 2], [0, 0]], "A": [[0.27, 0.73], [0.5, 0.5]]}',
        "md": end_of(["compute", "small.yaml", *PAGE, "--format", "markdown"]).out,
        "tex": end_of(["compute", "small.yaml", *PAGE, "--format", "latex", "--fragment"]).out,
        "txt": end_of(["compute", "small.yaml", *PAGE]).out,
    }
    ends = cut(
        answers[suffix].encode(),
        f"a.{suffix}",
        ["check", "small.yaml", f"a.{suffix}"],
        (0, 1, 3),
        every=every,
    )
    assert (ends[0].code, ends[-1].code) == (3, 1 if suffix == "yaml" else 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "every"), [("yaml", 29), ("json", 11), ("md", 97), ("tex", 211), ("txt", 97)]
)
def test_long_answers(suffix: str, every: int) -> None:
    data = ANSWERED.encode() if suffix == "yaml" else page(suffix)
    ends = cut(
        data,
        f"a.{suffix}",
        ["check", "love.yaml", f"a.{suffix}", "--format", "json"],
        (0, 1, 3),
        every=every,
    )
    assert ends[0].code == 3
    # the one that was printed has a digit that is wrong
    assert ends[-1].code == (1 if suffix == "yaml" else 0)


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "every"), [("json", 83), ("yaml", 1), ("npz", 3)])
def test_a_dump(suffix: str, every: int) -> None:
    command = ["compare", "love.yaml", f"d.{suffix}", "--format", "json"]
    ends = cut(dump(suffix), f"d.{suffix}", command, (0, 1, 3), every=every)
    assert (ends[0].code, ends[-1].code) == (3, 0)
