"""A call is saved as a problem that gives the same weights when it is read again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli

pytestmark = pytest.mark.torch
Recording = Callable[..., Any]


def recorded(torch: Any, recording: Recording, n: int, m: int, **options: Any) -> Any:
    tensors = [torch.randn(1, 4, n, 8), torch.randn(1, 2, m, 8), torch.randn(1, 2, m, 8)]
    with recording() as calls:
        torch.nn.functional.scaled_dot_product_attention(*tensors, enable_gqa=True, **options)
    return calls[0]


def test_large_arrays_are_in_a_file_beside_it(
    torch: Any, recording: Recording, tmp_path: Path
) -> None:
    call = recorded(torch, recording, 3, 80)
    call.save(tmp_path / "small.yaml", head=2, tokens=list(map(str, range(80))))
    assert [path.name for path in tmp_path.iterdir()] == ["small.yaml"]
    call.save(tmp_path / "large.yaml", tokens=list(map(str, range(80))))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "large.npz",
        "large.yaml",
        "small.yaml",
    ]
    small, large = (
        attncli.trace(attncli.load(tmp_path / name)) for name in ("small.yaml", "large.yaml")
    )
    assert small.title == "layer 0, head 2"
    assert small["weights"] == pytest.approx(large["weights"][2], abs=1e-6)
    assert large["weights"] == pytest.approx(call.trace()["weights"], abs=1e-6)
    assert small.tokens == ("77", "78", "79")


@pytest.mark.parametrize("size", [3, 40])
@pytest.mark.parametrize("mask", ["bool", "added"])
def test_masks_survive(
    mask: str, size: int, torch: Any, recording: Recording, tmp_path: Path
) -> None:
    keep = torch.rand(size, size) < 0.6
    keep[:, 0] = True
    given = keep if mask == "bool" else torch.where(keep, torch.randn(size, size), -torch.inf)
    call = recorded(torch, recording, size, size, attn_mask=given)
    call.save(tmp_path / "call.yaml")
    again = attncli.trace(attncli.load(tmp_path / "call.yaml"))
    assert again["weights"] == pytest.approx(call.trace()["weights"], abs=1e-6)
    assert ((again["weights"] == 0) == ~keep.numpy()).all()


def test_digits_read_back_are_the_same_float32(
    torch: Any, recording: Recording, tmp_path: Path
) -> None:
    call = recorded(torch, recording, 3, 3)
    call.save(tmp_path / "call.yaml", head=0)
    problem = attncli.load(tmp_path / "call.yaml")
    assert (problem.given["Q"].value.astype(np.float32) == call.attention.query[0, 0].numpy()).all()


def test_what_would_not_give_the_recorded_output_is_said(
    torch: Any, recording: Recording, tmp_path: Path
) -> None:
    """Whatever the reason is: here somebody changes what was recorded."""
    call = recorded(torch, recording, 3, 3)
    call.output[0, 2, 1, 0] += 0.01
    with pytest.warns(UserWarning, match="1 cell") as caught:
        call.save(tmp_path / "call.yaml")
    assert (
        str(caught[0].message)
        == f"{tmp_path / 'call.yaml'} does not give the output that was recorded: "
        "the first step that differs is output: 1 cell, by at most 0.01"
    )
    assert caught[0].filename == __file__
    assert (tmp_path / "call.yaml").exists()
    assert not call.check()
    with pytest.warns(UserWarning, match="1 cell"):
        call.save(tmp_path / "call.yaml", head=2)
    call.save(tmp_path / "call.yaml", head=1)  # of which nothing was changed


def test_a_large_call_is_worked_out_head_by_head(
    torch: Any, recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import attncli.torch.agreement as agreement

    call = recorded(torch, recording, 5, 5)
    monkeypatch.setattr(agreement, "WEIGHTS_AT_ONCE", 25)
    shapes = []
    run = agreement.run
    monkeypatch.setattr(
        agreement, "run", lambda problem: (shapes.append(problem.given["Q"].shape), run(problem))[1]
    )
    call.save(tmp_path / "call.yaml")
    assert shapes == [(5, 8)] * 4
    call.output[0, 3, 1, 0] += 0.01
    with pytest.warns(UserWarning, match="1 cell"):
        call.save(tmp_path / "call.yaml")
