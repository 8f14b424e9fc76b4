"""On a real GPU: what the double says of CuPy is true, and the numbers are those of the CPU."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.backend import Backend, backend_for
from attncli.cli.main import run as command
from attncli.dtypes import DTYPES
from attncli.errors import AttncliError
from attncli.problem.loader import load
from attncli.tracing import chunked, run
from attncli.tracing.model import Trace
from tests.cases import in_one_test
from tests.device.test_double import ALLOWED, EXAMPLES, INPUTS, REFUSED, in_parts

pytestmark = pytest.mark.gpu

FUNCTIONS = Path(__file__).with_name("functions")


@pytest.fixture(scope="module")
def gpu() -> Backend:
    """CuPy on a device, where there is one."""
    try:
        return backend_for("gpu")
    except AttncliError as error:
        pytest.skip(error.message)


# --- what the double says of CuPy


@in_one_test("use", REFUSED.values(), ids=[*REFUSED])
def test_what_cupy_refuses(gpu: Backend, use: Callable[[Any, Any], object]) -> None:
    with pytest.raises((TypeError, AttributeError, ValueError)):
        use(gpu.xp, gpu.xp.asarray([1.0, 2.0, 3.0]))


@in_one_test("use", ALLOWED.values(), ids=[*ALLOWED])
def test_what_cupy_allows(gpu: Backend, use: Callable[[Any, Any], object]) -> None:
    assert use(gpu.xp, gpu.xp.asarray([1.0, 2.0, 3.0]))


# --- the numbers


def same_numbers(on_gpu: Trace, on_cpu: Trace, dtype: str) -> None:
    """The steps are equal but for the order in which sums are added.

    A step may be as wrong as a few roundings of its largest number.
    """
    assert {name for name, step in on_gpu.steps.items() if step.kept} == {
        name for name, step in on_cpu.steps.items() if step.kept
    }
    assert on_gpu.fully_masked == on_cpu.fully_masked
    assert on_gpu.warnings == on_cpu.warnings
    for name, step in on_cpu.steps.items():
        if not step.kept:
            continue
        theirs = on_gpu.steps[name].value
        assert type(theirs) is np.ndarray
        finite = np.isfinite(step.value)
        np.testing.assert_array_equal(finite, np.isfinite(theirs), err_msg=name)
        largest = np.abs(np.where(finite, step.value, 0)).max(initial=1)
        far = np.abs(np.where(finite, theirs, 0) - np.where(finite, step.value, 0)).max(initial=0)
        assert far <= 32 * DTYPES[dtype].epsilon * largest, (name, far, largest)


@in_one_test("dtype", DTYPES)
@in_one_test("name", EXAMPLES)
def test_every_example_has_the_numbers_of_the_cpu(gpu: Backend, name: str, dtype: str) -> None:
    problem = load(str(INPUTS / name))
    on_gpu, on_cpu = (
        run(problem, device=device, dtype=dtype, gradient=True) for device in ("gpu", "cpu")
    )
    assert on_gpu.settings.device == "gpu"
    same_numbers(on_gpu, on_cpu, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_in_parts(
    gpu: Backend, name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunked, "CELLS_OF_A_BUSY_GPU", 1)
    problem = load(str(INPUTS / name))
    numpy = Backend(np, "gpu", np.array, lambda: 2**34)
    for keep in (("output",), ("weights", "output"), ("scores", "exp", "row_sum")):
        on_gpu, on_cpu = (in_parts(problem, dtype, keep, backend) for backend in (gpu, numpy))
        assert (on_gpu is None) == (on_cpu is None)
        if on_gpu is not None and on_cpu is not None:
            same_numbers(on_gpu, on_cpu, dtype)


def test_commands(gpu: Backend, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line in (["compute"], ["gradient"], ["compute", "--steps", "output"]):
        found = {}
        for device in ("cpu", "gpu"):
            file = tmp_path / f"{device}.json"
            example = str(INPUTS / "causal.yaml")
            assert command([*line, example, "--device", device, "-o", str(file)]) == 0
            found[device] = json.loads(file.read_text(encoding="utf-8"))
            assert found[device]["settings"].pop("device") == device
        assert found["gpu"].keys() == found["cpu"].keys()
    assert capsys.readouterr().err == ""


def test_arrays_that_are_on_the_device(gpu: Backend) -> None:
    random = np.random.default_rng(7)
    given = {name: random.standard_normal((40, 4)) for name in "QKV"}
    there = {name: gpu.xp.asarray(value) for name, value in given.items()}
    expected = attncli.trace(**given, mask="causal")
    np.testing.assert_allclose(
        attncli.trace(**there, mask="causal")["output"], expected["output"], rtol=1e-12
    )


def test_a_large_problem(gpu: Backend) -> None:
    random = np.random.default_rng(7)
    given = {name: random.standard_normal((20_000, 8)) for name in "QKV"}
    on_gpu, on_cpu = (
        attncli.trace(**given, mask="causal", steps="output", device=each)
        for each in ("gpu", "cpu")
    )
    np.testing.assert_allclose(on_gpu["output"], on_cpu["output"], rtol=1e-9, atol=1e-12)


# --- functions that run on a GPU, tested


def needs(*packages: str) -> None:
    for package in packages:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


@pytest.mark.parametrize(
    ("file", "packages", "mistake"),
    [
        ("by_torch", ["torch"], None),
        ("by_torch_upside_down", ["torch"], "the mask was inverted"),
        ("by_triton", ["torch", "triton"], None),
        (
            "by_triton_unscaled",
            ["torch", "triton"],
            "the scores were not scaled",
        ),
        ("by_cupy", ["cupy"], None),
        ("by_jax", ["jax"], None),
    ],
)
def test_functions(
    gpu: Backend, tmp_path: Path, file: str, packages: list[str], mistake: str | None
) -> None:
    needs(*packages)
    report = tmp_path / "report.json"
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "attncli", "test"),
            *(f"{FUNCTIONS / file}.py:attention", "-o", str(report), "--format", "json"),
        ],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == (0 if mistake is None else 1), ended.stderr
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["mistakes"] == ([mistake] if mistake else [])


# --- tensors and models on a GPU


@pytest.fixture
def cuda(gpu: Backend) -> ModuleType:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no CUDA device")
    return torch  # type: ignore[no-any-return]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_tensors_on_the_device(cuda: Any, dtype: str) -> None:
    there = {
        name: cuda.randn(6, 4, device="cuda", dtype=getattr(cuda, dtype), requires_grad=True)
        for name in "QKV"
    }
    given = {name: value.detach().double().cpu().numpy() for name, value in there.items()}
    np.testing.assert_array_equal(
        attncli.trace(**there)["output"], attncli.trace(**given)["output"]
    )


def test_a_call_on_the_device_is_recorded(cuda: Any) -> None:
    import attncli.torch

    query, key, value = (cuda.randn(1, 2, 6, 4, device="cuda") for _ in "QKV")
    with attncli.torch.recording() as calls:
        output = cuda.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    (call,) = calls
    trace = attncli.trace(call.problem())
    np.testing.assert_allclose(trace["output"], output[0].cpu().numpy(), rtol=1e-4, atol=1e-5)
