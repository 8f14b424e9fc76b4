"""Architectures of Transformers, small and with random weights: every call is recorded, is worked
out to the same output, and survives being saved.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attncli
from attncli.cli.main import run
from tests.recording import architectures

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
Recording = Callable[..., Any]

# So much weights and queries of one layer differ that attention is neither even nor one-hot.
STD = 0.3
# A model with linear layers of its own, a softcap, sinks, biases, and one that is written out.
FAST = [
    ("gpt2", "sdpa"),
    ("gemma2", "eager"),
    ("gpt_oss", "eager"),
    ("t5", "eager"),
    ("bloom", "eager"),
    ("deberta-v2", "eager"),
]
# The command itself is started for these.
AS_COMMANDS = [("mpt", "eager"), ("deepseek_v3", "sdpa"), ("gemma2, softcap 2", "flex_attention")]


def cases() -> list[Any]:
    names = [*architectures.MODELS, *architectures.VARIANTS]
    pairs = [(name, kind) for name in names for kind in architectures.kinds(name)]
    return [pytest.param(*pair, marks=[] if pair in FAST else [pytest.mark.slow]) for pair in pairs]


def recorded(name: str, kind: str, torch: Any, recording: Recording) -> tuple[Any, Any, Any]:
    """A model, what it reads, and the calls that it makes; recording must not change a bit."""
    model, inputs = architectures.model_of(name, kind, STD), architectures.inputs_of(name, torch)
    if (name, kind) == ("t5", "flex_attention"):
        # With two entries, Transformers looks up a bias that it does not have.
        inputs = {key: each[:1] for key, each in inputs.items()}
    # To compile what a recording runs uncompiled would only take time.
    uncompiled = nullcontext()
    if kind == "flex_attention":
        uncompiled = torch.compiler.set_stance("force_eager")
    with torch.no_grad():
        with uncompiled:
            expected = model(**inputs)[0]
        with recording() as calls:
            output = model(**inputs)[0]
    assert torch.equal(output, expected)
    return model, inputs, calls


@pytest.mark.parametrize(("name", "kind"), cases())
def test_every_call_of_an_architecture(
    name: str,
    kind: str,
    torch: Any,
    recording: Recording,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model, inputs, calls = recorded(name, kind, torch, recording)
    assert len(calls) == architectures.CALLS.get(architectures.family(name), 2)
    assert not calls.unseen
    assert calls[0].where in dict(model.named_modules())
    for call in calls:
        agreement = call.check()
        assert agreement, f"{call.where}: {agreement}"
        assert agreement.comparison["output"].difference.absolute < 1e-5
        path = tmp_path / f"{call.number}.yaml"
        call.save(path)
        saved = attncli.trace(attncli.load(path))
        assert np.array_equal(saved["output"], call.trace()["output"])
    capsys.readouterr()
    assert run(["compute", str(path), "--format", "json"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert np.array_equal(np.array(steps["output"]["value"], dtype=float), saved["output"])
    if kind == "eager" and name not in NOT_COMPARED:
        compare_weights(name, model, inputs, calls, torch)


# What they give as attentions has other axes, or is of two calls.
NOT_COMPARED = ("swin", "diffllama")


def compare_weights(name: str, model: Any, inputs: Any, calls: Any, torch: Any) -> None:
    """The weights are those that the model gives itself, but in rows that see no key."""
    with torch.no_grad():
        given = model(**inputs, output_attentions=True)
    attentions = list(in_order(given))
    assert len(attentions) == len(calls)
    for call, attention in zip(calls, attentions, strict=True):
        trace = call.trace()
        weights, expected = trace["weights"], attention.numpy()
        sees = np.ones(weights.shape[:-1], dtype=bool)
        for row in trace.fully_masked:
            sees[row] = False
        expected = expected.reshape(weights.shape)
        assert weights[sees] == pytest.approx(expected[sees], abs=1e-5), f"{name}: {call}"


def in_order(given: Any) -> Iterator[Any]:
    """The attentions of all layers in the order in which they are worked out."""
    if "attentions" in given:
        # XLNet has a tuple there where it reads two streams.
        yield from given["attentions"]
        return
    yield from given["encoder_attentions"]
    for own, cross in zip(given["decoder_attentions"], given["cross_attentions"], strict=True):
        yield own
        yield cross


@pytest.mark.long
@pytest.mark.parametrize(("name", "kind"), AS_COMMANDS)
def test_the_command_works_out_what_was_saved(
    name: str, kind: str, torch: Any, recording: Recording, tmp_path: Path
) -> None:
    _, _, calls = recorded(name, kind, torch, recording)
    # Heads that are joined would have other axes than the recorded output.
    calls[1].save(tmp_path / "call.yaml", from_inputs=False)
    command = [sys.executable, "-m", "attncli", "compute", "call.yaml", "--format", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    output = np.array(json.loads(done.stdout)["steps"]["output"]["value"], dtype=float)
    expected = calls[1].output.reshape(output.shape).numpy()
    assert output == pytest.approx(expected, abs=1e-5)
