"""The GPU that is not there: a missing package and a missing device are told apart, and nothing
falls back.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from attncli.backend import CPU, backend_for
from attncli.errors import AttncliError, Exit
from attncli.problem.model import Problem
from attncli.tracing import run


def test_the_cpu_is_always_there() -> None:
    assert backend_for("cpu") is CPU


def test_cupy_is_not_installed(monkeypatch: pytest.MonkeyPatch, love: Problem) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(AttncliError) as caught:
        run(love, device="gpu")
    assert caught.value.exit_code == Exit.MISSING == 5
    assert caught.value.message == "--device gpu needs CuPy, which is not installed"
    assert (
        caught.value.help
        == "pip install 'attncli[cuda12]' (or 'attncli[cuda13]' for CUDA 13), or leave out"
        " --device gpu"
    )


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (
            RuntimeError(
                "cudaErrorInsufficientDriver: CUDA driver version is insufficient\nfor CUDA runtime"
                " version"
            ),
            "cudaErrorInsufficientDriver: CUDA driver version is insufficient",
        ),
        (OSError(), "OSError"),
    ],
)
def test_cupy_is_installed_and_there_is_no_device(
    monkeypatch: pytest.MonkeyPatch, love: Problem, failure: Exception, reason: str
) -> None:
    def zeros(_: int) -> None:
        raise failure

    cupy = ModuleType("cupy")
    cupy.__dict__.update(zeros=zeros, cuda=SimpleNamespace())
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with pytest.raises(AttncliError) as caught:
        run(love, device="gpu")
    assert caught.value.exit_code == 5
    assert caught.value.message == f"CuPy is installed but finds no usable GPU: {reason}"
    assert caught.value.help == "check the driver with nvidia-smi, or leave out --device gpu"


@pytest.mark.parametrize(("limit", "left"), [(0, 700 + 50), (400, 400 - 250), (10**6, 700 + 50)])
def test_what_is_left_of_a_gpu(monkeypatch: pytest.MonkeyPatch, limit: int, left: int) -> None:
    """CuPy has taken 300 bytes of 1,000 and uses 250 of them; CUPY_GPU_MEMORY_LIMIT is a limit on
    what it takes.
    """
    pool = SimpleNamespace(free_bytes=lambda: 50, used_bytes=lambda: 250, get_limit=lambda: limit)
    runtime = SimpleNamespace(memGetInfo=lambda: (700, 1000))
    stream = SimpleNamespace(null=SimpleNamespace(synchronize=lambda: None))
    cupy = ModuleType("cupy")
    cuda = SimpleNamespace(runtime=runtime, Stream=stream)
    cupy.__dict__.update(
        zeros=lambda _: 0, asnumpy=None, cuda=cuda, get_default_memory_pool=lambda: pool
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert backend_for("gpu").free() == left
    assert CPU.free() is None


@pytest.mark.gpu
def test_a_gpu_says_what_a_cpu_says(love: Problem) -> None:
    pytest.importorskip("cupy", reason="CuPy is not installed")
    try:
        trace = run(love, device="gpu")
    except AttncliError as error:
        pytest.skip(error.message)
    assert trace.settings.device == "gpu"
    assert trace["weights"] == pytest.approx(run(love)["weights"], rel=1e-14)
