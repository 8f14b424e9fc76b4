"""A problem that is saved reads back as the same problem."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli

INPUTS = Path(__file__).parents[2] / "inputs"
ONE = np.eye(2)


def same(problem: attncli.Problem, again: attncli.Problem) -> bool:
    """Whether both have the same labels, settings and steps, forward and backward, to the last
    bit.
    """
    worked, expected = attncli.trace(again, gradient=True), attncli.trace(problem, gradient=True)
    assert [*worked] == [*expected]
    for name in worked:
        np.testing.assert_array_equal(worked[name], expected[name], err_msg=name)
        assert worked.steps[name].labels == expected.steps[name].labels
    assert (again.title, again.mask.names, again.joined) == (
        problem.title,
        problem.mask.names,
        problem.joined,
    )
    return True


@pytest.mark.sampled(16)
@pytest.mark.parametrize("file", sorted(INPUTS.glob("*.yaml")), ids=lambda file: file.stem)
def test_every_example(file: Path, tmp_path: Path) -> None:
    problem = attncli.load(file)
    attncli.save(problem, tmp_path / "saved.yaml")
    assert same(problem, attncli.load(tmp_path / "saved.yaml"))
    assert [each.name for each in tmp_path.iterdir()] == ["saved.yaml"]


@pytest.mark.parametrize(
    "keys",
    [
        {
            "mask": [
                "causal",
                {"padding": [1, 0]},
                {"keep": ONE > 0},
                {"keep": [[1, 1], [0, 1]]},
                {"lengths": 2},
            ]
        },
        {"mask": {"causal": True, "window": [1, -1], "corner": "bottom-right"}},
        {"mask": {"documents": [0, 1], "chunk": 2, "first": 1, "corner": "bottom-right"}},
        {"mask": [{"any": [["causal", {"window": [1, 0]}], {"first": [1]}, "none"]}, "causal"]},
        {"mask": {"any": [{"causal": True, "corner": "bottom-right"}, {"keep": [[1, 0], [0, 1]]}]}},
        {
            "mask": np.array([[0, -np.inf], [-1e300, 0.1]]),
            "scale": "1/3",
            "softcap": 5,
            "exp_base": "2",
            "sink": 0.5,
        },
        {
            "title": 'a "b": \x7f \x07 字 😀 \u2028',
            "tokens": ["null", "- x", "#1", "0.50", "'"],
            "Q": np.ones((5, 2)),
        },
        {
            "past": {"K": ONE, "V": ONE},
            "position": {"rope": {"theta": "1/2"}, "alibi": {"slopes": [0.25]}},
        },
        {
            "Q": np.ones((4, 3, 2)),
            "K": np.ones((2, 2, 2)),
            "position": {"alibi": True},
            "sink": [1, 2, 3, 4],
        },
        {
            "Q": np.arange(16.0).reshape(2, 8),
            "heads": 4,
            "kv_heads": 1,
            "W_O": np.ones((8, 2)),
            "d_output": ONE,
        },
        {
            "X": ONE,
            "W_Q": ONE,
            "b_Q": [1, 2],
            "W_K": ONE,
            "W_V": [[1, "sqrt(2)"], [3, 4]],
            "heads": 2,
            "Q": None,
        },
        {"loss": {"kind": "mse", "target": ONE}},
        {"loss": {"kind": "cross_entropy", "targets": [1, 0]}, "score": "dot", "scale": "none"},
        {"Q": np.ones((2, 1, 2, 2)), "mask": {"additive": np.ones((2, 1, 2, 2))}},
    ],
)
def test_every_kind_of_key(keys: dict[str, Any], tmp_path: Path) -> None:
    given = {"Q": ONE, "K": ONE, "V": ONE} | keys
    if "X" in keys:
        given |= {"K": None, "V": None}
    problem = attncli.load(given)
    attncli.save(problem, tmp_path / "saved.yaml")
    assert same(problem, attncli.load(tmp_path / "saved.yaml"))


@pytest.mark.parametrize(
    ("labels", "is_said"),
    [(None, False), (["t1", "t2"], False), (["t1", "b"], True), (["c1", "c2"], True)],
)
def test_keys_are_labelled_where_their_labels_are_not_those_of_the_tokens(
    labels: list[str] | None, is_said: bool, tmp_path: Path
) -> None:
    problem = attncli.problem(Q=ONE, K=ONE, V=ONE, context_tokens=labels)
    attncli.save(problem, tmp_path / "saved.yaml")
    assert ("context_tokens" in (tmp_path / "saved.yaml").read_text()) is is_said
    assert same(problem, attncli.load(tmp_path / "saved.yaml"))


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        ("causal", "causal"),
        ({"causal": True, "corner": "bottom-right"}, '{causal: true, corner: "bottom-right"}'),
        (["causal", {"lengths": 2}], "[causal, {lengths: [2]}]"),
    ],
)
def test_a_mask_is_written_as_short_as_it_can_be(mask: Any, text: str, tmp_path: Path) -> None:
    attncli.save(attncli.problem(Q=ONE, K=ONE, V=ONE, mask=mask), tmp_path / "saved.yaml")
    assert f"\nmask: {text}\n" in (tmp_path / "saved.yaml").read_text()


def test_large_arrays_stand_beside(tmp_path: Path) -> None:
    problem = attncli.problem(
        Q=np.random.default_rng(0).normal(size=(40, 30)), K=ONE[:, [0] * 30], V=ONE
    )
    attncli.save(problem, tmp_path / "big one.yaml")
    text = (tmp_path / "big one.yaml").read_text()
    assert 'Q: {file: "big one.npz", name: Q}\n' in text
    assert "V: [[1.0, 0.0], [0.0, 1.0]]\n" in text
    assert same(problem, attncli.load(tmp_path / "big one.yaml"))


def test_numbers_stay_as_they_were_written(tmp_path: Path) -> None:
    attncli.save(
        attncli.problem(Q=[["1/3", "0.50"]], K=[["sqrt(2)", 1]], V=[[-3]]), tmp_path / "p.yaml"
    )
    assert "Q: [[1/3, 0.50]]\nK: [[sqrt(2), 1]]\nV: [[-3]]\n" in (tmp_path / "p.yaml").read_text()


def test_both_files_are_replaced_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, keys = tmp_path / "p.yaml", np.ones((40, 40))
    attncli.save(attncli.problem(Q=keys, K=keys, V=keys), path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    replace = os.replace

    def fail(old: str, new: str) -> None:
        if (
            str(old).endswith(".tmp")
            and str(new).endswith(".yaml")
            and Path(old).read_bytes() != before["p.yaml"]
        ):
            raise OSError("no room")
        replace(old, new)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(attncli.AttncliError):
        attncli.save(attncli.problem(Q=2 * keys, K=keys, V=keys, mask="causal"), path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_where_nothing_can_be_saved(tmp_path: Path) -> None:
    problem = attncli.problem(Q=ONE, K=ONE, V=ONE)
    with pytest.raises(attncli.AttncliError, match=r"p\.json is not a YAML file"):
        attncli.save(problem, tmp_path / "p.json")
    with pytest.raises(attncli.AttncliError, match="there is no folder") as caught:
        attncli.save(problem, tmp_path / "nowhere" / "p.yaml")
    assert caught.value.help == "choose another place"
    attncli.save(problem, tmp_path / "p.yaml")
    # over the file that it came from
    attncli.save(attncli.load(tmp_path / "p.yaml"), tmp_path / "p.yaml")
