"""How models of Transformers are recorded: what their problems have, generating, threads, and the
registry.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.recording.architectures import GROUPED, MODELS, imported, inputs_of, model_of

pytestmark = pytest.mark.torch


@pytest.mark.filterwarnings("ignore")
def test_what_each_kind_of_model_has_besides(torch: Any, recording: Callable[..., Any]) -> None:
    def first(name: str) -> dict[str, Any]:
        model = model_of(name, "eager")
        with torch.no_grad(), recording() as calls:
            model(**inputs_of(name, torch))
        found: dict[str, Any] = calls[0].keys(head=1, entry=0)
        return found

    assert first("gemma2")["softcap"] == 50
    assert first("gemma2")["mask"] == {"causal": True, "window": [3, 0]}
    assert "sink" in first("gpt_oss")
    assert "additive" in first("t5")["mask"]
    assert first("t5")["scale"] == 1
    assert {"X", "W_Q", "b_V"} <= first("gpt2").keys()
    assert first("gpt2")["mask"] == "causal"


@pytest.mark.filterwarnings("ignore")
def test_generating_with_a_cache(torch: Any, recording: Callable[..., Any]) -> None:
    transformers = imported()
    config = transformers.AutoConfig.for_model("llama", **GROUPED)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    asked = {"max_new_tokens": 3, "do_sample": False}
    expected = model.generate(torch.tensor([[5, 6, 7]]), **asked)
    with recording() as calls:
        assert torch.equal(model.generate(torch.tensor([[5, 6, 7]]), **asked), expected)
    assert [(call.step, call.layer, call.shapes[1][-2]) for call in calls] == [
        (0, 0, 3), (0, 1, 3), (1, 0, 4), (1, 1, 4), (2, 0, 5), (2, 1, 5),
    ]  # fmt: skip
    assert all(call.check() for call in calls)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("llama", "sdpa"),
        ("llama", "eager"),
        ("bloom", "eager"),
        pytest.param("llama", "flex_attention", marks=pytest.mark.slow),
    ],
)
def test_text_that_is_generated_in_a_thread(
    name: str, kind: str, torch: Any, recording: Callable[..., Any]
) -> None:
    """As a TextIteratorStreamer needs it."""
    transformers = imported()
    config = transformers.AutoConfig.for_model(name, **MODELS[name])
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=kind).eval()

    class Streamer:
        def put(self, tokens: Any) -> None:
            put.append(tokens)

        def end(self) -> None:
            put.append(None)

    put: list[Any] = []
    asked = {
        "inputs": torch.tensor([[5, 6, 7]]),
        "max_new_tokens": 3,
        "do_sample": False,
        "streamer": Streamer(),
    }
    with recording() as calls:
        thread = threading.Thread(target=model.generate, kwargs=asked)
        thread.start()
        thread.join()
    assert put[-1] is None
    assert [(call.step, call.layer, call.shapes[1][-2]) for call in calls] == [
        (0, 0, 3), (0, 1, 3), (1, 0, 4), (1, 1, 4), (2, 0, 5), (2, 1, 5),
    ]  # fmt: skip
    assert all(call.check() for call in calls)


@pytest.mark.filterwarnings("ignore")
def test_a_model_of_another_thread_is_not_recorded(
    torch: Any, recording: Callable[..., Any]
) -> None:
    """The registry is that of all threads, and what another one takes from it is its own."""
    model, mine = model_of("llama", "eager"), torch.nn.MultiheadAttention(8, 2).eval()
    inputs, x = inputs_of("llama", torch), torch.randn(3, 1, 8)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        with recording() as calls:
            pool.submit(model, **inputs).result()
            mine(x, x, x)
    assert [call.where for call in calls] == ["MultiheadAttention"]


@pytest.mark.filterwarnings("ignore")
def test_the_registry_is_put_back(torch: Any, recording: Callable[..., Any]) -> None:
    imported()
    from transformers.modeling_utils import AttentionInterface

    before = AttentionInterface.get_interface
    with pytest.raises(RuntimeError, match="mine"), recording():
        raise RuntimeError("mine")
    assert AttentionInterface.get_interface is before
