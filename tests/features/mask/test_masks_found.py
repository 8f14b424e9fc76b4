"""The shortest form of a mask_mod: what people call it, and the same mask at every position."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from attncli.features.mask.positions import Positions, seen
from attncli.features.mask.search import fitting_masks
from attncli.features.mask.study import Study
from attncli.features.mask.words import form_words
from tests.features.mask.studied import form, studied, visible_by_attncli

Mod = Callable[[Any, Any, Any, Any], Any]
DOCUMENTS = [0, 0, 0, 1, 1, 2, 2, 2]
LENGTHS = [3, 5]
# The last tokens belong to none, and see nothing.
PADDED = [0, 0, 0, 1, 1, 2, -1, -1]


def causal(b: Any, h: Any, q: Any, k: Any) -> Any:
    return q >= k


def sliding(b: Any, h: Any, q: Any, k: Any) -> Any:
    return (q >= k) & (q - k <= 2)


def document(b: Any, h: Any, q: Any, k: Any) -> Any:
    return DOCUMENTS[q] == DOCUMENTS[k]


def streaming(b: Any, h: Any, q: Any, k: Any) -> Any:
    return (q >= k) & ((q - k <= 2) | (k < 2))


def dilated(b: Any, h: Any, q: Any, k: Any) -> Any:
    return (q >= k) & (q - k <= 4) & ((q - k) % 2 == 0)


def natten(b: Any, h: Any, q: Any, k: Any) -> Any:
    return (abs(q // 4 - k // 4) <= 1) & (abs(q % 4 - k % 4) <= 1)


def tiles(b: Any, h: Any, q: Any, k: Any) -> Any:
    return abs(q // 4 - k // 4) <= 1


# The names on the right are read off the functions on the left, by hand.
NAMED: list[tuple[Mod, int, int, str]] = [
    (causal, 6, 8, "causal"),
    (causal, 8, 5, "causal"),
    (lambda b, h, q, k: True, 3, 4, "none"),
    (lambda b, h, q, k: False, 3, 4, "lengths 0"),
    (sliding, 6, 8, "causal and window [2, 0]"),
    (lambda b, h, q, k: abs(q - k) <= 1, 6, 8, "window [1, 1]"),
    (lambda b, h, q, k: k - q <= 3, 8, 8, "window [-1, 3]"),
    (lambda b, h, q, k: q - k <= 3, 8, 8, "window [3, -1]"),
    (lambda b, h, q, k: q + 2 >= k, 6, 8, "causal, corner bottom-right"),
    (lambda b, h, q, k: q >= k + 3, 8, 5, "causal, corner bottom-right"),
    (
        lambda b, h, q, k: (q + 2 >= k) & (q + 2 - k <= 1),
        6,
        8,
        "causal and window [1, 0], corner bottom-right",
    ),
    (lambda b, h, q, k: (k < 3) | (q >= k), 6, 8, "any [causal, first 3]"),
    (lambda b, h, q, k: k < 5, 6, 8, "lengths 5"),
    (lambda b, h, q, k: (k < 5) & (q >= k), 8, 8, "causal and lengths 5"),
    (lambda b, h, q, k: (k != 1) & (q >= k), 4, 4, "causal and padding [1, 0, 1, 1]"),
    (lambda b, h, q, k: q // 3 == k // 3, 8, 8, "chunk 3"),
    (lambda b, h, q, k: (q // 4 == k // 4) & (q >= k), 6, 8, "causal and chunk 4"),
    # Of so few positions, only more of them show the chunk.
    (lambda b, h, q, k: (q // 4 == k // 4) & (q >= k), 3, 3, "causal and chunk 4"),
    (document, 8, 8, f"documents {DOCUMENTS}"),
    (
        lambda b, h, q, k: document(b, h, q, k) & (q >= k),
        8,
        8,
        f"causal and documents {DOCUMENTS}",
    ),
    # What is seen nowhere, and sees nothing, is in one document.
    (
        lambda b, h, q, k: (PADDED[q] == PADDED[k]) & (PADDED[q] >= 0),
        8,
        8,
        "lengths 6 and documents [0, 0, 0, 1, 1, 2, 3, 3]",
    ),
    # Two chunks and the first key fit by chance, and six positions more show that.
    (lambda b, h, q, k: (q >= k) & ((q - k < 2) | (k % 3 == 0)), 6, 6, "keep"),
    (streaming, 8, 8, "causal and any [window [2, -1], first 2]"),
    (
        lambda b, h, q, k: (k < 1) | ((q // 4 == k // 4) & (q >= k)),
        8,
        8,
        "any [causal and chunk 4, first 1]",
    ),
    (natten, 12, 12, "keep"),
]


@pytest.mark.sampled(12, "long")
@pytest.mark.parametrize(("mod", "n", "m", "name"), NAMED)
def test_a_mask_has_the_name_that_people_give_it(mod: Mod, n: int, m: int, name: str) -> None:
    assert form(mod, n, m) == name


def all_seen(mod: Mod, study: Study) -> Any:
    """What a function shows, by loops of Python's own numbers."""
    found = np.zeros(study.visible.shape, dtype=bool)
    for place in np.ndindex(found.shape):
        found[place] = bool(mod(*place))
    return found


def require_same(mod: Mod, study: Study) -> None:
    """What is found, and the problem as it is written and read, show what the function does."""
    wanted = all_seen(mod, study)
    assert np.array_equal(study.visible, wanted)
    assert np.array_equal(visible_by_attncli(study), wanted)


@pytest.mark.each_choice
@pytest.mark.parametrize("mod", [causal, sliding, document, streaming, dilated, natten, tiles])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 6), (6, 1), (3, 8), (8, 3), (5, 5), (8, 8)])
def test_the_problem_shows_what_the_function_does(mod: Mod, n: int, m: int) -> None:
    require_same(mod, studied(mod, n, m))


def test_entries_have_lengths_of_their_own() -> None:
    def padded(b: Any, h: Any, q: Any, k: Any) -> Any:
        return (k < LENGTHS[b]) & (q >= k)

    study = studied(padded, 6, 8, batch=2)
    assert form_words(study) == "causal and lengths [3, 5]"
    require_same(padded, study)


def test_entries_have_documents_of_their_own() -> None:
    rows = [[0, 0, 1, 1, 1, 2], [0, 1, 1, 1, 2, 2]]

    def packed(b: Any, h: Any, q: Any, k: Any) -> Any:
        return (rows[b][q] == rows[b][k]) & (q >= k)

    study = studied(packed, 6, batch=2)
    assert form_words(study) == f"causal and documents {rows}"
    require_same(packed, study)


def test_entries_that_have_nothing_in_common_have_a_matrix() -> None:
    def odd(b: Any, h: Any, q: Any, k: Any) -> Any:
        return q >= k if b == 0 else abs(q - k) == 1

    study = studied(odd, 4, 5, batch=2)
    assert form_words(study) == "keep"
    require_same(odd, study)


def test_each_head_has_a_form() -> None:
    def by_head(b: Any, h: Any, q: Any, k: Any) -> Any:
        return (q >= k) & (q - k <= h)

    study = studied(by_head, 4, 6, heads=3)
    windows = [f"Mask(parts=(Causal(), Window(left={left}, right=0))" for left in range(3)]
    for mask, window in zip(study.masks, windows, strict=True):
        assert repr(mask.mask).startswith(window)
    require_same(by_head, study)


@pytest.mark.parametrize("batch", [1, 2])
def test_a_mask_of_all_heads_is_said_once(batch: int) -> None:
    study = studied(sliding, 4, 6, heads=3, batch=batch)
    assert form_words(study) == "causal and window [2, 0]"
    require_same(sliding, study)


def drawn(choice: Random, deepest: int = 3) -> Mod:
    """A mask_mod made of simple ones by and, or and not."""
    number = choice.randint(1, 4)
    shift = choice.randint(-1, 3)
    rows = [choice.randint(0, 2) for _ in range(12)]
    simple: list[Mod] = [
        lambda b, h, q, k: q + shift >= k,
        lambda b, h, q, k: q - k <= number,
        lambda b, h, q, k: abs(q - k) <= number,
        lambda b, h, q, k: k < number,
        lambda b, h, q, k: q // number == k // number,
        lambda b, h, q, k: (q - k) % (number + 1) == 0,
        lambda b, h, q, k: rows[q] == rows[k],
        lambda b, h, q, k: rows[k] == 0,
        lambda b, h, q, k: (q + 3 * k) % 5 > number,
    ]
    if not deepest or choice.random() < 0.3:
        return choice.choice(simple)
    one, other = drawn(choice, deepest - 1), drawn(choice, deepest - 1)
    return choice.choice(
        [
            lambda b, h, q, k: one(b, h, q, k) and other(b, h, q, k),
            lambda b, h, q, k: one(b, h, q, k) or other(b, h, q, k),
            lambda b, h, q, k: one(b, h, q, k) and not other(b, h, q, k),
        ]
    )


MANY = (pytest.param(range(at, at + 100), marks=pytest.mark.slow) for at in range(10, 1500, 100))


@pytest.mark.parametrize("seeds", [range(10), *MANY], ids=str)
def test_every_mask_that_is_found_shows_the_same(seeds: range) -> None:
    for seed in seeds:
        is_found_as_it_is(seed)


def is_found_as_it_is(seed: int) -> None:
    choice = Random(seed)
    n, m = choice.randint(1, 9), choice.randint(1, 9)
    mod = drawn(choice)
    visible = np.array([[bool(mod(0, 0, q, k)) for k in range(m)] for q in range(n)])
    found = fitting_masks(visible[None], Positions.of(n, m))
    for each in found:
        assert np.array_equal(seen(each.mask, Positions.of(n, m)), visible)
    assert found == sorted(found, key=lambda each: each.cost)
    require_same(mod, studied(mod, n, m))


def test_a_form_that_fits_by_chance_is_told() -> None:
    def long(b: Any, h: Any, q: Any, k: Any) -> Any:
        return (q >= k) & (q - k < 1000)

    near, far = studied(long, 4).checks
    assert near.holds
    assert not far.holds
    query, key = far.differs_at or (0, 0)
    assert not long(0, 0, query, key)
    assert query >= key


def test_an_any_of_many_masks_needs_other_positions() -> None:
    """The table of this function has no more rows, so nothing shows that it means two chunks."""
    table = [[k <= q and (q - k < 2 or k % 3 == 0) for k in range(6)] for q in range(6)]
    study = studied(lambda b, h, q, k: table[q][k], 6)
    assert form_words(study) == "keep"
    assert [bool(each.error) for each in study.checks] == [True, True]


def test_a_function_that_ends_has_a_form_here() -> None:
    first, second = studied(document, 8).checks
    assert "IndexError: list index out of range" in first.error
    assert "IndexError" in second.error


def test_what_depends_on_the_head_is_told() -> None:
    by_head = studied(lambda b, h, q, k: q >= k + h, 4)
    assert by_head.remarks == ("It depends on the head: --heads 2 shows two.",)
    by_entry = studied(lambda b, h, q, k: q >= k + b, 4)
    assert by_entry.remarks == ("It depends on the entry of the batch: --batch 2 shows two.",)
    assert studied(lambda b, h, q, k: q >= k, 4).remarks == ()
