"""Helpers of these tests are modules beside them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from attncli.cli.main import run

sys.path.insert(0, str(Path(__file__).parent))

Export = Callable[..., str]


@pytest.fixture
def export(capsys: pytest.CaptureFixture[str]) -> Export:
    """What `attncli export` prints for these arguments."""

    def printed(*arguments: object) -> str:
        assert run(["export", *map(str, arguments), "-q"]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return printed
