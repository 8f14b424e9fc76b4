"""The GPU path without a GPU: on a double of CuPy, every number is the one of NumPy, to the bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.attention.plan import plan_for
from attncli.backend import CPU, Backend, backend_for
from attncli.cli.main import run as command
from attncli.dtypes import DTYPES
from attncli.problem.loader import load
from attncli.tracing import chunked, run
from attncli.tracing.model import Settings, Trace
from attncli.tracing.shift import Shift
from tests.cases import in_one_test
from tests.device.double import VERSIONS, Cupy

INPUTS = Path(__file__).parents[2] / "inputs"
FUNCTIONS = Path(__file__).with_name("functions")
EXAMPLES = sorted(file.name for file in INPUTS.glob("*.[jy]*"))


@pytest.fixture(params=VERSIONS)
def cupy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Cupy:
    """The double, where attncli imports CuPy."""
    double = Cupy(request.param)
    monkeypatch.setitem(sys.modules, "cupy", double)
    return double


# --- the double is as strict as CuPy is

REFUSED: dict[str, Callable[[Any, Any], object]] = {
    "an array of NumPy made of one of CuPy": lambda cp, x: np.asarray(x),
    "a list with one": lambda cp, x: np.array([x, x]),
    "a cell of NumPy set to one": lambda cp, x: np.zeros(3).__setitem__(slice(None), x),
    "a sum with an array of NumPy": lambda cp, x: x + np.ones(3),
    "a sum that begins with an array of NumPy": lambda cp, x: np.ones(3) + x,
    "a function of an array of NumPy": lambda cp, x: cp.exp(np.ones(3)),
    "a choice among arrays of NumPy": lambda cp, x: cp.where(x > 1, np.ones(3), x),
    "NumPy's choice": lambda cp, x: np.where(x > 1, np.ones(3), x),
    "a stack with an array of NumPy": lambda cp, x: cp.stack([x, np.ones(3)]),
    "a cell set to an array of NumPy": lambda cp, x: x.__setitem__(slice(None), np.ones(3)),
    "a range of a whole number on the device": lambda cp, x: range(cp.asarray(3)),
    "a place in a list": lambda cp, x: [1, 2][cp.argmax(x)],
    "a sum of a bare number": lambda cp, x: cp.sum(1.0),
    "a shape for a bare number": lambda cp, x: cp.reshape(1.0, (1,)),
    "a keyword that only NumPy has": lambda cp, x: cp.max(x, initial=0),
    "a function that only NumPy has": lambda cp, x: cp.errstate(all="ignore"),
    "a method that only NumPy has": lambda cp, x: x.tobytes_of_host(),
}
ALLOWED: dict[str, Callable[[Any, Any], object]] = {
    "a copy": lambda cp, x: isinstance(cp.asnumpy(x), np.ndarray),
    "its own copy": lambda cp, x: isinstance(x.get(), np.ndarray),
    "a sum that stays on the device": lambda cp, x: (
        isinstance(cp.sum(x), cp.ndarray) and cp.sum(x).shape == ()
    ),
    "a cell that stays there": lambda cp, x: isinstance(x[0], cp.ndarray),
    "a float of a sum": lambda cp, x: float(cp.sum(x)) == 6,
    "a truth value": lambda cp, x: bool(cp.all(x > 0)),
    "numbers as operands": lambda cp, x: bool(cp.all(2 * x + np.float64(1) > 1)),
    "a scalar of NumPy first": lambda cp, x: isinstance(np.float64(2) * x, cp.ndarray),
    "a function of NumPy": lambda cp, x: isinstance(np.exp(x), cp.ndarray),
    "NumPy's choice": lambda cp, x: isinstance(np.where(x > 1, x, x), cp.ndarray),
    "an array made of one of NumPy": lambda cp, x: isinstance(cp.asarray(np.ones(3)), cp.ndarray),
    "bits": lambda cp, x: str(x.view("uint64").dtype) == "uint64",
}


@in_one_test("use", REFUSED.values(), ids=[*REFUSED])
def test_what_cupy_refuses(cupy: Cupy, use: Callable[[Any, Any], object]) -> None:
    with pytest.raises((TypeError, AttributeError)):
        use(cupy, cupy.asarray([1.0, 2.0, 3.0]))


@in_one_test("use", ALLOWED.values(), ids=[*ALLOWED])
def test_what_cupy_allows(cupy: Cupy, use: Callable[[Any, Any], object]) -> None:
    assert use(cupy, cupy.asarray([1.0, 2.0, 3.0]))


# --- and attncli does not notice


def bits(trace: Trace) -> dict[str, Any]:
    """Every number that was kept, to the bit, and what is said of them."""
    kept = {name: step.value for name, step in trace.steps.items() if step.kept}
    said = {"warnings": trace.warnings, "fully masked": trace.fully_masked}
    return {
        name: (value.dtype, value.shape, value.tobytes()) for name, value in kept.items()
    } | said


@pytest.mark.sampled(20)
@pytest.mark.each_choice
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_the_bits_of_the_cpu(cupy: Cupy, name: str, dtype: str) -> None:
    problem = load(str(INPUTS / name))
    on_gpu, on_cpu = (
        run(problem, device=device, dtype=dtype, gradient=True) for device in ("gpu", "cpu")
    )
    assert on_gpu.settings.device == "gpu"
    assert bits(on_gpu) == bits(on_cpu)
    assert all(type(step.value) is np.ndarray for step in on_gpu.steps.values())


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_in_parts(
    cupy: Cupy, name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One query after the other, as a large problem is worked out, with NumPy in the place of the
    device.
    """
    monkeypatch.setattr(chunked, "CELLS_OF_A_BUSY_GPU", 1)
    problem = load(str(INPUTS / name))
    numpy = Backend(np, "gpu", np.array, lambda: 2**34)
    for keep in (("output",), ("weights", "output"), ("scores", "exp", "row_sum")):
        on_gpu, on_cpu = (
            in_parts(problem, dtype, keep, backend) for backend in (backend_for("gpu"), numpy)
        )
        assert (on_gpu is None) == (on_cpu is None)
        if on_gpu is not None and on_cpu is not None:
            assert bits(on_gpu) == bits(on_cpu)


def in_parts(problem: Any, dtype: str, keep: tuple[str, ...], backend: Backend) -> Trace | None:
    plan = plan_for(problem)
    settings = Settings.of(plan, dtype=dtype, device=backend.device)
    with np.errstate(all="ignore"):
        shift = Shift.at(3, problem, DTYPES[dtype])
        return chunked.run_chunked(plan, shift, settings, keep, backend=backend)


def test_commands_on_the_device(
    cupy: Cupy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in (
        ["compute"],
        ["gradient"],
        ["compute", "--dtype", "bfloat16"],
        ["compute", "--steps", "output"],
    ):
        found = {}
        for device in ("cpu", "gpu"):
            file = tmp_path / f"{device}.json"
            assert (
                command([*line, str(INPUTS / "causal.yaml"), "--device", device, "-o", str(file)])
                == 0
            )
            found[device] = json.loads(file.read_text(encoding="utf-8"))
            assert found[device]["settings"].pop("device") == device
        assert found["gpu"] == found["cpu"]
    assert capsys.readouterr().err == ""


def test_a_large_problem_in_python_on_the_device(cupy: Cupy) -> None:
    random = np.random.default_rng(7)
    given = {name: random.standard_normal((400, 4)) for name in "QKV"}
    on_gpu, on_cpu = (
        attncli.trace(**given, mask="causal", steps="output", device=each)
        for each in ("gpu", "cpu")
    )
    assert on_gpu.settings.device == "gpu"
    np.testing.assert_allclose(on_gpu["output"], on_cpu["output"], rtol=1e-12, atol=1e-15)
    assert backend_for("cpu") is CPU


# --- what people hand over


def test_arrays_on_the_device_are_read(cupy: Cupy) -> None:
    given = {name: np.array([[1.0, 2.0], [3.0, 4.0]]) for name in "QKV"}
    there = {name: cupy.asarray(value) for name, value in given.items()}
    assert bits(attncli.trace(**there)) == bits(attncli.trace(**given))


@pytest.mark.long
def test_a_function_of_cupy_is_tested(tmp_path: Path) -> None:
    (tmp_path / "cupy.py").write_text(
        "import sys\n"
        "from tests.device.double import VERSIONS, Cupy\n"
        "sys.modules['cupy'] = Cupy([*VERSIONS][-1])\n"
    )
    function = tmp_path / "by_cupy.py"
    function.write_text((FUNCTIONS / "by_cupy.py").read_text(encoding="utf-8"), encoding="utf-8")
    report = tmp_path / "report.json"
    line = [sys.executable, "-m", "attncli", "test", f"{function}:attention", "-o", str(report)]
    paths = os.pathsep.join([str(tmp_path), str(INPUTS.parent)])
    ended = subprocess.run(
        line, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert json.loads(report.read_text(encoding="utf-8"))["agrees"]
