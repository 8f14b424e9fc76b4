"""Two problem files that say the same give the same: heads, batches, caches and masks written
another way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.drawn import scoring
from tests.conformance.problems import arrays, problem_file

Program = Callable[..., dict[str, np.ndarray]]
seeds = st.integers(0, 2**16)
positions = st.sampled_from([
    None, {"rope": {"theta": 100}}, {"rope": {"pairing": "interleaved"}}, {"alibi": True},
    {"alibi": {"slopes": [0.5, 1, 0.25, 2]}},
])  # fmt: skip
bare_masks = st.sampled_from(
    [
        None,
        "causal",
        {"causal": True, "corner": "bottom-right"},
        {"window": [1, 1]},
        {"lengths": 3},
        {"lengths": [4, 2]},
        {"padding": [[1, 0, 1, 1, 0], [1, 1, 1, 1, 1]]},
        {"keep": [[[[0, 1, 1, 0, 1]] * 3]]},
    ]
)


def extras(random: np.random.Generator, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings, with the weights that their score needs for queries and keys of length 4."""
    weights = {
        "multiplicative": {"W_a": (4, 4)},
        "additive": {"W_1": (4, 2), "W_2": (4, 2), "v": (2,)},
    }
    shapes = weights.get(settings.get("score", ""), {})
    return settings | {name: random.normal(size=shape) for name, shape in shapes.items()}


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray], *names: str) -> None:
    for name in names or ("scores", "weights", "output"):
        np.testing.assert_allclose(one[name], other[name], rtol=1e-10, atol=1e-12, err_msg=name)


@given(seed=seeds, settings=scoring(), position=positions, mask=bare_masks)
def test_grouped_queries_are_heads_with_repeated_keys(
    program: Program, seed: int, settings: dict[str, Any], position: Any, mask: Any
) -> None:
    random = np.random.default_rng(seed)
    grouped, settings = arrays(random, kv_heads=2), extras(random, settings)
    repeated = grouped | {name: grouped[name].repeat(2, axis=1) for name in "KV"}
    choices = {**settings, "position": position, "mask": mask}
    same(program(problem_file(**grouped, **choices)), program(problem_file(**repeated, **choices)))


@pytest.mark.long
@given(seed=seeds, settings=scoring(), position=positions, mask=bare_masks)
def test_an_entry_alone_and_a_head_alone(
    program: Program, seed: int, settings: dict[str, Any], position: Any, mask: Any
) -> None:
    random = np.random.default_rng(seed)
    whole, settings, sink = (
        arrays(random, kv_heads=4),
        extras(random, settings),
        random.normal(size=4),
    )
    found = program(problem_file(**whole, **settings, position=position, mask=mask, sink=sink))
    for entry in range(2):
        part = _of_entry(mask, entry)
        alone = program(
            problem_file(
                **{k: a[entry] for k, a in whole.items()},
                **settings,
                position=position,
                mask=part,
                sink=sink,
            )
        )
        for name in ("scores", "weights", "output"):
            np.testing.assert_allclose(found[name][entry], alone[name][0], rtol=1e-10, atol=1e-12)
    if position is not None and "alibi" in position:
        return  # its slopes depend on how many heads there are
    one = program(
        problem_file(
            **{k: a[1, 2] for k, a in whole.items()},
            **settings,
            position=position,
            mask=part,
            sink=sink[2],
        )
    )
    for name in ("scores", "weights", "output"):
        np.testing.assert_allclose(
            found[name][1, 2], one[name].reshape(found[name][1, 2].shape), atol=1e-12
        )


def _of_entry(mask: Any, entry: int) -> Any:
    """The mask of one entry of the batch."""
    if isinstance(mask, dict):
        for form in {"lengths", "padding"} & {*mask}:
            if isinstance(mask[form], list) and len(mask[form]) == 2:
                return {form: mask[form][entry]}
        if "keep" in mask:
            return {"keep": mask["keep"][0]}
    return mask


@given(seed=seeds, order=st.permutations(range(4)), settings=scoring(), mask=bare_masks)
def test_heads_in_any_order(
    program: Program, seed: int, order: list[int], settings: dict[str, Any], mask: Any
) -> None:
    random = np.random.default_rng(seed)
    given, settings, sink = (
        arrays(random, kv_heads=4),
        extras(random, settings),
        random.normal(size=4),
    )
    found = program(problem_file(**given, **settings, mask=mask, sink=sink))
    moved = {name: array[:, order] for name, array in given.items()}
    other = program(problem_file(**moved, **settings, mask=mask, sink=sink[order]))
    for name in ("weights", "output"):
        np.testing.assert_allclose(other[name], found[name][:, order], rtol=1e-12)


@pytest.mark.sampled(1)
@given(seed=seeds, settings=scoring(), position=positions, sink=st.sampled_from([None, 0.5]))
@pytest.mark.parametrize("past", [1, 3, 4])
def test_a_step_with_a_cache_is_the_end_of_the_whole(
    program: Program, past: int, seed: int, settings: dict[str, Any], position: Any, sink: Any
) -> None:
    random = np.random.default_rng(seed)
    whole = arrays(random, n=5)
    choices = {**extras(random, settings), "position": position, "mask": "causal", "sink": sink}
    full = program(problem_file(**whole, **choices))
    old, new = (
        {name: whole[name][:, :, part] for name in "KV"}
        for part in (slice(past), slice(past, None))
    )
    step = program(problem_file(Q=whole["Q"][:, :, past:], **new, past=old, **choices))
    for name in ("scores", "weights", "output"):
        np.testing.assert_allclose(step[name], full[name][:, :, past:], rtol=1e-10, atol=1e-12)


@given(
    seed=seeds,
    order=st.permutations(range(5)),
    settings=scoring(),
    kv_heads=st.sampled_from([1, 2, 4]),
)
def test_keys_in_any_order(
    program: Program, seed: int, order: list[int], settings: dict[str, Any], kv_heads: int
) -> None:
    random = np.random.default_rng(seed)
    given, settings, bias = (
        arrays(random, kv_heads=kv_heads),
        extras(random, settings),
        random.normal(size=(4, 3, 5)),
    )
    found = program(problem_file(**given, **settings, mask={"additive": bias}))
    moved = given | {name: given[name][:, :, order] for name in "KV"}
    other = program(problem_file(**moved, **settings, mask={"additive": bias[..., order]}))
    np.testing.assert_allclose(other["output"], found["output"], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        other["weights"], found["weights"][..., order], rtol=1e-10, atol=1e-12
    )


@given(seed=seeds, settings=scoring(), position=positions)
def test_leading_lengths_of_1_change_nothing(
    program: Program, seed: int, settings: dict[str, Any], position: Any
) -> None:
    random = np.random.default_rng(seed)
    if position and isinstance(position.get("alibi"), dict):
        position = {"alibi": {"slopes": [0.5]}}
    plain = {
        name: array[0, 0] for name, array in arrays(random, batch=1, heads=1, kv_heads=1).items()
    }
    choices = {**extras(random, settings), "position": position}
    bias = random.normal(size=(3, 5))
    two = program(problem_file(**plain, **choices, mask={"additive": bias}))
    for leading in ((1,), (1, 1)):
        deep = {name: array.reshape(*leading, *array.shape) for name, array in plain.items()}
        same(
            two | {"output": two["output"].reshape(1, 1, 3, 3)},
            program(
                problem_file(**deep, **choices, mask={"additive": bias.reshape(*leading, 3, 5)})
            ),
        )


@given(
    seed=seeds,
    cap=st.sampled_from([0.5, 3, 20]),
    leading=st.sampled_from([(), (1,), (4,), (2, 1), (1, 4), (2, 4)]),
)
def test_what_a_mask_hides_stays_hidden_under_a_softcap(
    program: Program, seed: int, cap: float, leading: tuple[int, ...]
) -> None:
    random = np.random.default_rng(seed)
    given, hide = arrays(random), random.random((*leading, 3, 5)) < 0.5
    full = np.broadcast_to(hide, (2, 4, 3, 5))
    for mask in ({"hide": hide}, {"additive": np.where(hide, -np.inf, 0.5)}):
        weights = program(problem_file(**given, softcap=cap, mask=mask))["weights"]
        assert (weights[full] == 0).all()
        assert (weights[~full] > 0).all()


@given(seed=seeds, leading=st.sampled_from([(), (1,), (4,), (1, 1), (2, 1), (1, 4)]))
def test_a_mask_repeats_along_heads_and_entries(
    program: Program, seed: int, leading: tuple[int, ...]
) -> None:
    random = np.random.default_rng(seed)
    given = arrays(random)
    bias = random.choice([0, 1.5, -3, -np.inf], size=(*leading, 3, 5))
    repeated = np.broadcast_to(bias, (2, 4, 3, 5))
    one, other = (
        program(problem_file(**given, mask={"additive": mask})) for mask in (bias, repeated)
    )
    np.testing.assert_array_equal(one["weights"], other["weights"])
