"""A trace in Python of which only some steps were asked for: their numbers, and what it says of all
the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attncli
from attncli.cli.main import run as command
from tests.cases import in_one_test

INPUTS = Path(__file__).parents[1] / "inputs"
EXAMPLES = sorted(INPUTS.glob("*.[jy]*"))
LOVE = INPUTS / "i_love_ai.yaml"
# 65,536 tokens without a number: whoever reads them only counts them
LARGE = {name: np.zeros((65_536, 1)) for name in "QKV"}
USES: dict[str, Callable[[attncli.Trace], object]] = {
    "Markdown": lambda trace: trace.to_markdown(),
    "LaTeX": lambda trace: trace.to_latex(),
    "HTML": lambda trace: trace.to_html(),
    "a live page": lambda trace: trace.page(),
    "what is shifted": lambda trace: (
        trace.shifted,
        trace.logits,
        trace.self_attention,
        trace.leading_letters,
    ),
    "an own key": lambda trace: trace.own_key(0),
    "one head": lambda trace: trace.at(head=0).to_markdown(),
    **{
        of: lambda trace, of=of: trace.picture(of)
        for of in ("weights", "flow", "dimensions", "output", "softmax")
    },
}


def numbers(trace: attncli.Trace) -> dict[str, Any]:
    return {name: trace[name].tobytes() for name in trace}


@pytest.mark.long
@given(data=st.data())
def test_a_trace_has_the_steps_asked_for_and_no_others(data: st.DataObject) -> None:
    """The same numbers, labels and warnings as in the whole trace, also when read back from
    JSON.
    """
    file, gradient = data.draw(st.sampled_from(EXAMPLES)), data.draw(st.booleans())
    rounding = data.draw(st.sampled_from(["shown", "paper"]))
    whole = attncli.trace(file, gradient=gradient, rounding=rounding)
    names = data.draw(st.lists(st.sampled_from([*whole]), min_size=1, unique=True))

    some = attncli.trace(file, gradient=gradient, rounding=rounding, steps=names)

    assert [*some] == [name for name in whole if name in names]
    assert {*some.left_out} == {*whole} - {*names}
    assert numbers(some) == {
        name: number for name, number in numbers(whole).items() if name in names
    }
    every, few = whole.to_dict(), some.to_dict()
    for part in ("steps", "truth"):
        assert few.pop(part, {}) == {
            name: step for name, step in every.pop(part, {}).items() if name in names
        }
    assert few == every
    read = attncli.Trace.from_dict(json.loads(json.dumps(some.to_dict())))
    assert numbers(read) == numbers(some)
    assert {*read.left_out} <= {*some.left_out}
    assert attncli.Trace.from_dict(whole.to_dict()).left_out == ()


@pytest.mark.long
@settings(settings.get_profile("few"))
@given(data=st.data())
def test_what_needs_other_steps_says_so(data: st.DataObject) -> None:
    """Whatever is missing: a page, a picture or a head is made, or an AttncliError says that it
    cannot be.
    """
    file, gradient = data.draw(st.sampled_from(EXAMPLES)), data.draw(st.booleans())
    every = [*attncli.trace(file, gradient=gradient)]
    missing = data.draw(st.lists(st.sampled_from(every), max_size=3)) or data.draw(
        st.sampled_from([[], every[:-1]])
    )
    names = [name for name in every if name not in missing] or every
    some = attncli.trace(file, gradient=gradient, steps=names)
    for trace in (some, attncli.Trace.from_dict(some.to_dict())):
        assert all(refusal(use, trace) in (None, 2) for use in USES.values())
        assert len({*trace.left_out}) == len(trace.left_out)


def refusal(use: Callable[[attncli.Trace], object], trace: attncli.Trace) -> int | None:
    """The exit code of the AttncliError with help that it raises; None where it raises none."""
    try:
        use(trace)
    except attncli.AttncliError as error:
        return int(error.exit_code) if error.help else 0
    return None


def test_a_notebook_prints_some_steps_as_python_does() -> None:
    some = attncli.trace(LOVE, steps="output")
    assert some._repr_markdown_() is None
    assert repr(some) == "<trace 'I love AI': 3 queries and 3 keys; output>"
    with pytest.raises(
        attncli.AttncliError, match="a page needs all steps, and this trace has only output"
    ) as caught:
        some.to_markdown()
    assert caught.value.help == "work all of them out: leave out steps"


@pytest.mark.sampled(16)
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_a_head_or_an_entry_lacks_nothing(file: Path) -> None:
    trace = attncli.trace(file, gradient=True)
    place = {"head" if letter == "h" else "entry": 0 for letter in trace.leading_letters}
    assert attncli.Trace.from_dict(trace.at(**place).to_dict()).left_out == ()


def test_what_other_steps_tell_is_not_guessed() -> None:
    """The large scores are shifted, and in cross-attention no token is its own key."""
    for name, steps in (("large_scores.yaml", "weights"), ("cross_attention.yaml", "output")):
        some = attncli.trace(INPUTS / name, steps=steps)
        for trace in (some, attncli.Trace.from_dict(some.to_dict())):
            for asked in (lambda t: t.shifted, lambda t: t.self_attention, lambda t: t.own_key(0)):
                assert refusal(asked, trace) == 2
    assert attncli.trace(INPUTS / "large_scores.yaml").shifted


@pytest.mark.parametrize(
    "steps", ["weights,output", "output, weights", "A,O", ["output", "weights"], ("A", "output")]
)
def test_names_and_letters_as_on_the_command_line(steps: Any) -> None:
    assert [*attncli.trace(LOVE, steps=steps)] == ["weights", "output"]


def test_a_step_that_was_left_out_says_how_to_get_it() -> None:
    some = attncli.trace(LOVE, steps="weights,output")
    with pytest.raises(
        KeyError, match="scores was left out; ask for it, too: steps='weights,output,scores'"
    ):
        some["scores"]
    with pytest.raises(KeyError, match="no step 'skores'; there are weights, output"):
        some["skores"]


@in_one_test(
    ("steps", "message", "help"),
    [
        ("outptu", "no step is called 'outptu'", "did you mean output?"),
        ("output,", "no step is called ''", 'give names of steps: steps="weights,output"'),
        (["output", 4], "no step is called 4", 'give names of steps: steps="weights,output"'),
        (3, "steps cannot be 3", 'give names of steps: steps="weights,output"'),
        ([], "steps has no name", 'give names of steps: steps="weights,output"'),
        (
            "d_Q",
            "d_Q is a step of the backward pass",
            "work the gradient out, too: attncli.trace(problem, gradient=True)",
        ),
        (
            "mask",
            "this problem has no step mask",
            (
                "its steps are X, W_Q, W_K, W_V, Q, K, V, K_T, scores, scaled, exp, row_sum,"
                " weights, output"
            ),
        ),
    ],
)
def test_steps_that_are_none(steps: Any, message: str, help: str) -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.trace(LOVE, steps=steps)
    assert (caught.value.message, caught.value.help, int(caught.value.exit_code)) == (
        message,
        help,
        2,
    )


@pytest.mark.parametrize("steps", ["scores,output", ["scores", "output"], "S,O"])
def test_many_are_checked_for_the_steps_that_were_asked_for(steps: Any) -> None:
    """Nine scores are right, and nine cells of the output are missing."""
    (row,) = attncli.check_many(
        [("Ada", LOVE, {"scores": [[1, 5, 3], [3, 3, 3], [2, 4, 3]]})], steps=steps
    )
    assert (row.error, row.counts["right"], row.counts["missing"], row.of) == ("", 9, 9, 18)
    with pytest.raises(attncli.AttncliError, match="no step is called 'scroes'"):
        attncli.check_many([], steps=["scroes"])


# --- room for scores is asked for where they are made, and nowhere else


@pytest.mark.long
def test_what_makes_no_scores_needs_no_room_for_them(tmp_path: Path) -> None:
    problem = attncli.problem(**LARGE, mask="causal")
    attncli.save(problem, tmp_path / "p.yaml")
    assert attncli.load(tmp_path / "p.yaml").tokens == attncli.load({**LARGE}).tokens
    assert command(["cost", str(tmp_path / "p.yaml"), "-o", str(tmp_path / "cost.md")]) == 0
    assert "65536" in (tmp_path / "cost.md").read_text(encoding="utf-8").replace(",", "")


MAKES_SCORES: dict[str, Callable[[Any], object]] = {
    "trace": attncli.trace,
    "weights": lambda problem: attncli.trace(problem, steps="weights"),
    "gradient": lambda problem: attncli.trace(problem, gradient=True, steps="output"),
    "paper": lambda problem: attncli.trace(problem, rounding="paper", steps="output"),
    "exact": lambda problem: attncli.trace(problem, rounding="exact", steps="output"),
    "check": lambda problem: attncli.check(problem, {"output": [[1]]}),
}


@pytest.mark.parametrize("use", MAKES_SCORES.values(), ids=[*MAKES_SCORES])
def test_what_makes_scores_says_what_needs_less(use: Callable[[Any], object]) -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        use(attncli.problem(**LARGE))
    assert int(caught.value.exit_code) == 3
    assert (
        str(caught.value)
        == "K: the matrix of scores would be 65536×65536, which is 4,294,967,296 numbers"
    )
    less = 'attncli.trace(problem, steps="output") does without it'
    if use is MAKES_SCORES["gradient"]:
        less = (
            'the backward pass needs all of them, and attncli.trace(problem, steps="output") does'
            " without it"
        )
    assert caught.value.help == f"an array has at most 50,000,000 numbers; {less}"


def test_the_place_in_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        "Q: {random: [8000, 1]}\nK: {random: [8000, 1]}\nV: {random: [8000, 1]}\n"
    )
    with pytest.raises(
        attncli.AttncliError, match="the matrix of scores would be 8000×8000"
    ) as caught:
        attncli.trace(tmp_path / "p.yaml")
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.column) == (2, 1)


def test_all_steps_are_worked_out_where_one_may_need_a_warning() -> None:
    """A sentinel such as -1e9 may leak into other steps, which only the whole trace can tell."""
    heads = {name: np.zeros((64, 1_000, 1)) for name in "QKV"}
    mask = {"additive": np.where(np.arange(1_000) == 0, -1e9, np.zeros((1_000, 1)))}
    with pytest.raises(
        attncli.AttncliError, match="the matrix of scores would be 64×1000×1000"
    ) as caught:
        attncli.trace(**heads, mask=mask, steps="output")
    assert "because one that is left out may need a warning" in caught.value.help
