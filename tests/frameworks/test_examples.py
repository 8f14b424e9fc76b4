"""The examples that name a framework give what that framework gives: the same problem, worked out by its own code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import yaml
from software import Array, imported, onnx_weights, torch_weights

from attncli.problem.reader import load
from attncli.tracing import run

INPUTS = Path(__file__).parents[2] / "inputs"
Given: TypeAlias = dict[str, Any]
Steps: TypeAlias = dict[str, Array]


def given(name: str) -> Given:
    """What the file holds, its lists of numbers as arrays."""
    data = yaml.safe_load((INPUTS / name).read_text(encoding="utf-8"))
    numeric = {key for key in data if key in ("X", "Q", "K", "V", "sink") or key[:2] in ("W_", "b_")}
    return data | {key: np.array(data[key], dtype=np.float64) for key in numeric}


def tensors(problem: Given, *names: str) -> list[Any]:
    """These arrays as a batch of one."""
    torch = imported("torch")
    return [torch.from_numpy(problem[name])[None] for name in names]


def numpy(tensor: Any) -> Array:
    return tensor.detach().numpy()[0]


def is_causal(problem: Given) -> Steps:
    return {"weights": torch_weights(problem["Q"], problem["K"], causal=True)}


def gemma2_softcap(problem: Given) -> Steps:
    mask = np.tril(np.ones((3, 3), dtype=bool))
    return {"weights": onnx_weights(problem["Q"], problem["K"], mask, scale=1 / 16, softcap=50.0)}


def gemma2_softcap_of_transformers(problem: Given) -> Steps:
    torch, gemma = imported("torch"), imported("transformers.models.gemma2.modeling_gemma2")
    q, k, v = (tensor[None] for tensor in tensors(problem, "Q", "K", "V"))
    module = type("Module", (), {"num_key_value_groups": 1, "training": False})
    mask = torch.full((3, 3), torch.finfo(torch.float64).min, dtype=torch.float64).triu(1)
    output, weights = gemma.eager_attention_forward(module, q, k, v, mask, scaling=256**-0.5, softcap=50.0)
    return {"weights": numpy(weights)[0], "output": numpy(output)[:, 0]}


EXAMPLES: dict[str, tuple[Callable[[Given], Steps], ...]] = {
    "is_causal.yaml": (is_causal,),
    "gemma2_softcap.yaml": (gemma2_softcap, gemma2_softcap_of_transformers),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what transformers imports
@pytest.mark.parametrize(("name", "theirs"), [(name, each) for name, them in EXAMPLES.items() for each in them])
def test_example(name: str, theirs: Callable[[Given], Steps]) -> None:
    steps = theirs(given(name))
    trace = run(load(str(INPUTS / name)))
    for step, value in steps.items():  # some of their softmaxes are always in float32
        np.testing.assert_allclose(trace[step], value, atol=1e-6, err_msg=f"{name}: {step}")
