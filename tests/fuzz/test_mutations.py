"""Good files with slips in them: worked out or refused, and nothing else; for every kind of file,
and for options.

`tests/tools/fuzz/run.py` does this for as long as it is told, led by coverage. Here are the inputs
it kept, and some drawn anew.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tools.fuzz.mutations import mutated
from tests.tools.fuzz.targets import HERE, TARGETS

FEW = settings.get_profile("few")
EVERY = list(TARGETS)


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", EVERY)
def test_seeds_and_what_was_found(name: str) -> None:
    """Everything that fuzzing begins with, with what it once found to break the program."""
    target = TARGETS[name]
    assert len(target.begin()) >= 2
    for data in target.begin():
        target.play(data)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", EVERY)
def test_slips(name: str) -> None:
    random, seeds = Random(name), TARGETS[name].seeds()
    for _ in range(20):
        data = mutated(random.choice(seeds), random)
        try:
            TARGETS[name].play(data)
        except AssertionError as error:
            raise AssertionError(f"{data!r}: {error}") from None


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", EVERY)
@FEW
@given(data=st.binary(max_size=80))
def test_any_bytes(name: str, data: bytes) -> None:
    TARGETS[name].play(data)


def test_every_folder_is_of_a_target() -> None:
    for folder in (HERE / "seeds", HERE / "crashes"):
        assert {path.name for path in folder.iterdir() if path.is_dir()} <= {*EVERY}
