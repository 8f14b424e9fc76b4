"""PyTorch for these tests, which are skipped without it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def recording(torch: Any) -> Callable[..., Any]:
    """`attncli.torch.recording`, with the same random numbers for every test."""
    import attncli.torch

    torch.manual_seed(0)
    return attncli.torch.recording


@pytest.fixture
def what_is_changed(torch: Any) -> Callable[[], dict[str, Any]]:
    """All that recording may change for a while, by its name."""
    from torch._dynamo import eval_frame
    from torch.overrides import _get_current_function_mode_stack

    def now() -> dict[str, Any]:
        changed = {
            "Module.__call__": torch.nn.Module.__call__,
            "Thread.start": threading.Thread.start,
        }
        changed |= {
            f"functional.{name}": each
            for name, each in vars(torch.nn.functional).items()
            if callable(each)
        }
        changed["fast path"] = torch.backends.mha.get_fastpath_enabled()
        # PyTorch 2.5 has no stance, and a function in its place
        stance = getattr(eval_frame, "_stance", None)
        changed["stance"] = stance.stance if stance else eval_frame._maybe_set_eval_frame
        if registry := sys.modules.get("transformers.modeling_utils"):
            changed["get_interface"] = registry.AttentionInterface.get_interface
        return changed | {"modes": tuple(_get_current_function_mode_stack())}

    return now


@pytest.fixture(autouse=True)
def _everything_is_put_back(what_is_changed: Callable[[], dict[str, Any]]) -> Iterator[None]:
    """However a test ends, PyTorch is afterwards as it was."""
    before = what_is_changed()
    yield
    after = what_is_changed()
    assert {
        name for name in before if before[name] is not after[name] and before[name] != after[name]
    } == set()
