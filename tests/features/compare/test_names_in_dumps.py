"""Every mistake of the catalogue, made by NumPy alone and handed over in every number format, from
every step on.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from attncli.cli.main import run as run_command
from attncli.comparison.known_mistakes import FEWEST_CELLS, MOST_MISTAKES_NAMED, explanation
from attncli.features.compare.dumps import Dump, in_order
from attncli.features.compare.operands import InputFile, operands
from attncli.problem.loader import loads
from attncli.tracing import run
from attncli.tracing.comparison import Comparison, compare
from tests.reference.back_in_arrays import sheet_of, steps_of
from tests.reference.in_arrays import Problem, Sheet, Steps, Work, worked
from tests.reference.mistaken import GROUPS, Again, Kind, Made, steps_mistaken
from tests.reference.on_paper import Array, drawn

ALL = {kind.name: kind for kind in GROUPS["in attention"]}
# which only `check` sees, cell by cell
UNNAMED = "the exponentials were those of the unscaled scores"
# Of a program, what it does with such a query is a convention.
OF_NO_KEY = "a query that sees no key"
KINDS = {
    name: kind for name, kind in ALL.items() if name != UNNAMED and not name.startswith(OF_NO_KEY)
}
PROBLEMS = 1  # of each kind


class Case(NamedTuple):
    """A problem, and the mistake that was made in it."""

    problem: Sheet
    made: Made
    steps: Steps


def cases(kind: Kind, number: int = PROBLEMS) -> Iterator[Case]:
    """Drawn problems in which a mistake of this kind can be made."""
    for seed in range(number):
        choice = np.random.default_rng([seed, zlib.crc32(kind.name.encode())])
        problem = drawn(choice, kind.needs)
        try:
            made = kind.make(problem, choice, 4)
        except Again:
            continue
        right = steps_of(problem)
        if set(made.steps) <= set(right) and not divides_by_zero(kind, problem):
            yield Case(problem, made, {**right, **made.steps})


def divides_by_zero(kind: Kind, problem: Sheet) -> bool:
    """Whether scores cancel that are a sum to be divided by: what comes out is up to the
    program.
    """
    if kind.name != "the scores were divided by their sum, without exponentials":
        return False
    logits = worked(problem, steps_of(problem)).logits
    return bool((abs(np.where(np.isfinite(logits), logits, 0).sum(axis=-1)) < 1e-9).any())


# What software makes of a query that sees no key


def hides_whole(s: Sheet) -> Array:
    """Which queries see no key, as a column beside the weights."""
    found: Array = np.isneginf(s.logits).all(axis=-1, keepdims=True)
    return found


def nan_where_blind(weights: Work) -> Work:
    return lambda s: np.where(hides_whole(s), np.nan, weights(s))


def even_where_blind(weights: Work) -> Work:
    return lambda s: np.where(hides_whole(s), 1 / s.logits.shape[-1], weights(s))


def by_turns_where_blind(weights: Work) -> Work:
    """0 in a row, NaN in the next one, equal weights in the one after that, and so on."""

    def work(s: Sheet) -> Array:
        turns = np.arange(s.logits.shape[-2])[:, None] % 3
        ways = [weights(s), nan_where_blind(weights)(s), even_where_blind(weights)(s)]
        return np.choose(turns, ways)

    return work


CONVENTIONS: dict[str, Callable[[Work], Work]] = {
    "0": lambda weights: weights,
    "NaN": nan_where_blind,
    "even": even_where_blind,
    "by turns": by_turns_where_blind,
}


# The comparison, and what may be said of it


def compared(problem: Sheet, theirs: dict[str, Array], dtype: str) -> Comparison:
    ours = loads(json.dumps(problem.problem).encode(), "p.json")
    there = set(run(ours))
    with np.errstate(over="ignore"):
        dump = Dump(
            in_order(
                {name: array.astype(dtype) for name, array in theirs.items() if name in there}
            ),
            dtype,
        )
    files = [
        InputFile(name, None, None, content, {}, None)
        for name, content in (("p.json", ours), ("d.npz", dump))
    ]
    return compare(*operands(files, 3))


def computed(problem: Sheet, steps: Steps) -> dict[str, Array]:
    with np.errstate(all="ignore"):
        sheet = worked(problem, steps)
    return {name: sheet[name] for name in steps}


def dumps(problem: Sheet, made: dict[str, Array], mistaken: Steps) -> Iterator[dict[str, Array]]:
    """Dumps of all steps, from the first mistaken one on, from each later stage on, and of the
    output alone.

    A mask that was used wrongly may be in the dump as it was given, which is right.
    """
    names = list(made)
    first = min(names.index(name) for name in mistaken)
    starts = {
        0,
        first,
        *(names.index(name) for name in ("masked", "exp", "weights", "output") if name in names),
    }
    for start in sorted(starts):
        dump = {name: made[name] for name in names[start:]}
        yield dump
        if "mask" in mistaken and start != 0:
            yield {**dump, "mask": worked(problem, steps_of(problem))["mask"]}


def shows(comparison: Comparison) -> bool:
    """Whether as many numbers differ as a name needs."""
    first = comparison.first
    return (
        first is not None
        and first.difference is not None
        and first.difference.differing >= FEWEST_CELLS
    )


def gives(
    name: str, problem: Sheet, dump: dict[str, Array], comparison: Comparison, convention: str
) -> bool:
    """Whether the mistake of this name, worked by NumPy, gives the first step that differs."""
    assert comparison.first is not None
    step = comparison.first.name
    steps = {**steps_of(problem), **steps_mistaken(name, problem)}
    steps["weights"] = CONVENTIONS[convention](steps["weights"])
    made = computed(problem, steps)
    coarse = {"float64": 1e-8, "float32": 1e-4}.get(comparison.b.dtype.name, 3e-2)
    # What is lost in a sum is lost of its largest term.
    finite = np.abs(dump[step][np.isfinite(dump[step])])
    largest = finite.max(initial=1)
    return made[step].shape == dump[step].shape and np.allclose(
        made[step], dump[step], rtol=coarse, atol=coarse * largest, equal_nan=True
    )


def says_little(
    problem: Sheet, dump: dict[str, Array], comparison: Comparison, convention: str
) -> bool:
    """Whether more mistakes give these numbers than are named, as where each query sees one key
    alone; or numbers in half precision, which make such weights 0 and 1.
    """
    weights = computed(problem, steps_of(problem))["weights"]
    if "weights" in dump and np.allclose(dump["weights"], weights.round(0), atol=1e-3):
        return True
    alike = [
        name
        for name in KINDS
        if can_be_made(name, problem) and gives(name, problem, dump, comparison, convention)
    ]
    return len(alike) > MOST_MISTAKES_NAMED


def can_be_made(name: str, problem: Sheet) -> bool:
    """Whether the problem has all that this kind of mistake works with."""
    right = steps_of(problem)
    try:
        steps = steps_mistaken(name, problem)
        computed(problem, {**right, **steps})
    except (AttributeError, KeyError, ValueError, Again):
        return False
    return set(steps) <= set(right)


FEW = ("the mask was inverted", "W_K was transposed")


@pytest.mark.long
@pytest.mark.parametrize("name", FEW)
def test_a_mistake_is_named_from_every_step_on(name: str) -> None:
    named_from_every_step_on(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in KINDS if name not in FEW])
def test_every_mistake_is_named_from_every_step_on(name: str) -> None:
    named_from_every_step_on(name)


def named_from_every_step_on(name: str) -> None:
    """From each dump in one format, by turns: a problem has many."""
    formats = cycle(("float64", "float32"))
    for problem, made, steps in cases(KINDS[name]):
        with np.errstate(invalid="ignore"):
            blind = bool(hides_whole(worked(problem, steps)).any())
        for convention, weights in CONVENTIONS.items() if blind else [("0", CONVENTIONS["0"])]:
            followed = {**steps, "weights": weights(steps["weights"])}
            for dump in dumps(problem, computed(problem, followed), made.steps):
                dtype = next(formats)
                comparison = compared(problem, dump, dtype)
                if not shows(comparison):
                    continue
                where = (name, convention, next(iter(dump)), dtype, problem.problem)
                found = explanation(comparison)
                if found is None:
                    assert says_little(problem, dump, comparison, convention), where
                    continue
                assert set(made.names) & set(found.mistakes), (where, found.mistakes)
                for other in set(found.mistakes) - set(made.names):
                    assert gives(other, problem, dump, comparison, convention), (where, other)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.needs.mask != "any"])
def test_a_half_precise_dump_names_nothing_else(name: str) -> None:
    for problem, made, steps in cases(KINDS[name]):
        for dump in dumps(problem, computed(problem, steps), made.steps):
            comparison = compared(problem, dump, "float16")
            found = explanation(comparison) if shows(comparison) else None
            for other in set(found.mistakes if found else ()) - set(made.names):
                assert gives(other, problem, dump, comparison, "0"), (problem.problem, other)


# Layers as people try them first: d_k, heads and the root of d_model are the same number

TOKENS, HEADS, WIDTH = 6, 4, 4
TOY = np.random.default_rng(0)
X = TOY.normal(size=(TOKENS, HEADS * WIDTH)).round(2)
W = {f"W_{name}": TOY.normal(size=(HEADS * WIDTH,) * 2).round(2).tolist() for name in "QKV"}
LAYER: Problem = {"X": X.tolist(), **W, "heads": HEADS, "mask": "causal"}
SEEN = np.tri(TOKENS) > 0
HIDDEN = {"causal": np.where(SEEN, 0, -np.inf), "inverted": np.where(SEEN, -np.inf, 0),
          "strict": np.where(np.tri(TOKENS, k=-1) > 0, 0, -np.inf)}  # fmt: skip


def toy(mask: Array, scale: float = WIDTH**-0.5) -> dict[str, Array]:
    """A causal layer, with another mask added, or another scale. NaN is the softmax of a row of
    -inf.
    """
    sheet = sheet_of(LAYER)
    sheet["shifted"] = True
    right = steps_of(sheet)
    changed: Steps = {
        "scaled": lambda s: s.scores * scale,
        "mask": lambda s: mask,
        "weights": nan_where_blind(right["weights"]),
    }
    found = worked(sheet, right | changed)
    return {name: found[name] for name in ("scores", "scaled", "masked", "weights", "output")}


Told = Callable[..., dict[str, Any]]


@pytest.fixture
def told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    """What the command says, in JSON, of a file with the steps of a layer from one on."""
    layer = tmp_path / "layer.json"
    layer.write_text(json.dumps(LAYER), "utf-8")

    def tell(
        made: dict[str, Array], start: str, dtype: str = "float64", suffix: str = "npz"
    ) -> dict[str, Any]:
        names = list(made)[list(made).index(start) :]
        arrays = {name: made[name].astype(dtype) for name in names}
        dump = tmp_path / f"dump.{suffix}"
        if suffix == "npz":
            np.savez(dump, **arrays)
        else:
            dump.write_text(json.dumps(plainly(arrays)), "utf-8")
        assert run_command(["compare", str(layer), str(dump), "--format", "json"]) == 1
        explained: dict[str, Any] = json.loads(capsys.readouterr().out)["explanation"]
        return explained

    return tell


def plainly(arrays: dict[str, Array]) -> dict[str, Any]:
    """Nested lists, with words for what JSON has no numbers for."""

    def number(value: Any) -> Any:
        if isinstance(value, list):
            return [number(each) for each in value]
        return (
            value
            if np.isfinite(value)
            else str(value).replace("nan", "NaN").replace("inf", "Infinity")
        )

    return {name: number(array.tolist()) for name, array in arrays.items()}


FOUR = {
    "the scores were divided by d_k, not by its root",
    "the scores were scaled twice",
    "the scores were divided by the root of d_model",
    "the scores were divided by the root of d_k of all heads together",
}


@pytest.mark.long
@pytest.mark.each_choice
@pytest.mark.parametrize("suffix", ["npz", "json"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("start", ["scaled", "weights", "output"])
def test_mistakes_that_are_one_in_these_sizes_are_all_named(
    start: str, dtype: str, suffix: str, told: Told
) -> None:
    explained = told(toy(HIDDEN["causal"], 1 / WIDTH), start, dtype, suffix)
    after_mask = set() if start == "scaled" else {"the masked scores were scaled once more"}
    assert set(explained["mistakes"]) == FOUR | after_mask
    assert explained["shared"] == ["All 4 mistakes divide scores by 4 instead of 2."]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("instead", [-np.inf, -1e9, float(np.finfo(np.float32).min)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("start", ["masked", "weights", "output"])
@pytest.mark.parametrize(
    ("mask", "name", "blind"),
    [
        ("inverted", "the mask was inverted", ["t6"]),
        ("strict", "the mask hid each token from itself", ["t1"]),
    ],
)
def test_a_mask_that_hides_a_row_whole_is_named(
    mask: str, name: str, blind: list[str], start: str, dtype: str, instead: float, told: Told
) -> None:
    """In that row: NaN for -inf, the weights without a mask for -1e9, which swallows no double, and
    equal weights.
    """
    added = np.where(np.isinf(HIDDEN[mask]), instead, 0)
    explained = told(toy(added), start, dtype)
    assert (explained["mistakes"], explained["sees_no_key"]) == ([name], blind)


@pytest.mark.long
@pytest.mark.each_choice
@pytest.mark.parametrize("start", ["masked", "weights", "output"])
@pytest.mark.parametrize(
    ("mask", "name"),
    [
        (HIDDEN["inverted"], "the mask was inverted"),
        (
            HIDDEN["causal"].T,
            "the causal mask hid what comes before, not what comes after",
        ),
        (~SEEN * 1.0, "a mask of 0 for seen and 1 for hidden was added to the scores, as it is"),
    ],
    ids=["inverted", "transposed", "added"],
)
def test_a_mask_that_was_used_wrongly_is_named_beside_the_right_one(
    mask: Array, name: str, start: str, told: Told
) -> None:
    made = {**toy(mask), "mask": HIDDEN["causal"]}
    assert name in told(made, start)["mistakes"]


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("start", ["masked", "weights", "output"])
def test_a_mask_of_0_and_1_that_is_added(start: str, told: Told) -> None:
    """In the scores it is seen which; after the softmax, 1 for what is seen is -1 for what is
    not.
    """
    seen = "a mask of 1 for seen and 0 for hidden was added to the scores, as it is"
    hidden = "a mask of 0 for seen and 1 for hidden was added to the scores, as it is"
    also = [] if start == "masked" else ["-1 was added instead of -inf"]
    assert told(toy(SEEN * 1.0), start)["mistakes"] == [seen, *also]
    assert told(toy(~SEEN * 1.0), start)["mistakes"] == [hidden]


@pytest.mark.parametrize("mistake", ["inverted", "forgotten"])
def test_padding_in_single_precision(mistake: str) -> None:
    """A small score of large terms is off by what these are off, also where our side hides it."""
    random = np.random.default_rng(1)
    q, k = (random.normal(size=(24, 64)).round(2) for _ in range(2))
    shown = np.arange(24) < 16
    problem = loads(
        json.dumps(
            {
                "Q": q.tolist(),
                "K": k.tolist(),
                "V": k.tolist(),
                "mask": {"padding": shown.astype(int).tolist()},
            }
        ).encode(),
        "p.json",
    )
    scaled = (q.astype("float32") @ k.astype("float32").T) / np.float32(8)
    off = abs(scaled - q @ k.T / 8)
    assert (off > 1e-5 * abs(scaled))[:, ~shown].any()  # else nothing is tried
    masked = np.where(shown, -np.inf, scaled) if mistake == "inverted" else scaled
    dump = Dump({"masked": masked.astype("float32")}, "float32")
    files = [
        InputFile(of, None, None, content, {}, None)
        for of, content in (("p", problem), ("d", dump))
    ]
    found = explanation(compare(*operands(files, 3)))
    assert found is not None
    assert found.mistakes == (f"the mask was {mistake}",)


@pytest.mark.long
def test_a_row_without_numbers_is_explained(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    np.savez(tmp_path / "dump.npz", output=np.array([[1.0], [np.nan]]))
    (tmp_path / "p.yaml").write_text(
        "Q: [[1], [2]]\nK: [[1], [2]]\nV: [[1], [2]]\nmask: causal\n", "utf-8"
    )
    assert run_command(["compare", str(tmp_path / "p.yaml"), str(tmp_path / "dump.npz")]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert 'In output, the row of the query "t2" is NaN in theirs. ' in said
    assert "The usual cause is a query that sees no key: the softmax of a row of -∞ is NaN." in said


USUAL = "The usual cause is a query that sees no key"


@pytest.mark.sampled(1, "long")
@pytest.mark.parametrize(
    ("nan", "mask", "sentence", "usual"),
    [
        ([(0, 0), (1, 0)], "causal", 'the row of the query "t1" is NaN in theirs.', True),
        (
            [(0, 2), (1, 0), (1, 2)],
            "causal",
            'rows are NaN in theirs: head 0, query "t3"; head 1, queries "t1" and "t3".',
            True,
        ),
        ([(1, 1)], None, 'rows are NaN in theirs: head 1, query "t2".', False),
        ([...], "causal", "all numbers are NaN in theirs.", False),
        ([...], None, "all numbers are NaN in theirs.", False),
    ],
    ids=["of all heads", "of some heads", "no mask", "everything", "everything without a mask"],
)
def test_rows_without_numbers_are_named_with_their_heads(
    nan: list[Any],
    mask: str | None,
    sentence: str,
    usual: bool,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    said = said_of_weights(nan, mask, {}, capsys, tmp_path)
    assert f"In weights, {sentence}" in said
    assert (USUAL in said) == usual


def test_no_mask_is_to_blame_for_what_was_nan_before_the_softmax(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    scores = np.zeros((2, 3, 3))
    scores[1, 1] = np.nan
    said = said_of_weights([(1, 1)], "causal", {"scores": scores}, capsys, tmp_path)
    assert 'rows are NaN in theirs: head 1, query "t2".' in said
    assert USUAL not in said


def said_of_weights(
    nan: list[Any],
    mask: str | None,
    others: dict[str, Array],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> str:
    """What is said of weights of two heads and three tokens that are NaN in these rows."""
    weights = np.full((2, 3, 3), 1 / 3)
    for row in nan:
        weights[row] = np.nan
    np.savez(tmp_path / "dump.npz", weights=weights, **others)
    ones = [[1, 1]] * 3
    problem: dict[str, Any] = {name: [ones, ones] for name in "QKV"}
    problem |= {"mask": mask} if mask else {}
    (tmp_path / "p.json").write_text(json.dumps(problem), "utf-8")
    run_command(["compare", str(tmp_path / "p.json"), str(tmp_path / "dump.npz")])
    return " ".join(capsys.readouterr().out.split())
