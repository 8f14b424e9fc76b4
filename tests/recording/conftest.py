"""PyTorch for these tests, which are skipped without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def recording(torch: Any) -> Callable[..., Any]:
    """`attncli.torch.recording`, with the same random numbers for every test."""
    import attncli.torch

    torch.manual_seed(0)
    return attncli.torch.recording
