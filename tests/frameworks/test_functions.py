"""`attncli test` says of real software that it is right, and what it does where software differs.

Each test needs what it calls and is skipped without it: PyTorch, JAX, Keras, ONNX,
Transformers, MLX.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from software import imported

from attncli.testing.meant import meant_by
from attncli.testing.running.process import Limits
from attncli.testing.trial import Trial, try_function

ROOT = Path(__file__).parents[2]
ROOT_OF_D_K = {"scale": "1/sqrt(d_k)", "softmax": "over keys", "precision": "sums in float32"}
A_LAYER = 'type("Layer", (), {"num_key_value_groups": q.shape[1] // k.shape[1], "training": False})'
MASK = "bias if mask is None else torch.where(mask, 0.0, -torch.inf).to(q.dtype)"
# It takes a mask or the word. Where both are asked, the call fails, and so the case is not asked.
ONE_MASK = "{True: 'causal'}[mask is None] if causal is True else (mask if bias is None else bias)"
SCALE = "q.shape[-1] ** -0.5 if scale is None else scale"
HEADS_FIRST = "entries × heads × tokens × features"
TOKENS_FIRST = "entries × tokens × heads × features"
CONVENTIONS = (ROOT / "docs/reference/conventions.md").read_text(encoding="utf-8")
# A framework may be slow where others work, too.
PATIENT = Limits(seconds=60)


def tried(function: str, expression: str = "") -> Trial:
    return try_function(function, expression=expression, limits=PATIENT)


def require_documented(trial: Trial) -> None:
    """The row of the function in the reference has its facts."""
    name = trial.name.replace(":", ".")
    row = next(line for line in CONVENTIONS.splitlines() if line.startswith(f"| `{name}` |"))
    _, *cells = (cell.strip() for cell in row.strip("| ").split("|"))
    facts = ("layout", "causal", "sees no key", "numbers in a mask")
    assert cells == [trial.facts[fact] for fact in facts]


def require_right(trial: Trial, facts: Mapping[str, str]) -> None:
    assert [each.case.name for each in trial.results if each.result == "differs"] == []
    assert trial.explanations == ()
    expected = {**ROOT_OF_D_K, **facts}
    assert {name: trial.facts[name] for name in expected} == expected


@pytest.mark.long
def test_pytorch() -> None:
    imported("torch")
    trial = tried("torch.nn.functional:scaled_dot_product_attention")
    assert trial.agrees
    require_right(
        trial,
        {
            "layout": HEADS_FIRST,
            "mask": "true is seen",
            "numbers in a mask": "added",
            "causal": "top-left",
            "sees no key": "0",
            "kv heads": "repeated",
            "window": "not asked",
            "softcap": "not asked",
            "sink": "not asked",
        },
    )
    require_documented(trial)


@pytest.mark.long
def test_jax() -> None:
    imported("jax")
    trial = tried("jax.nn:dot_product_attention")
    assert trial.agrees
    require_right(
        trial,
        {
            "layout": f"{TOKENS_FIRST}; values as wide as keys",
            "mask": "true is seen",
            "numbers in a mask": "added",
            "causal": "top-left",
            "sees no key": "average",
            "kv heads": "repeated",
            "window": "beside the token itself",
        },
    )
    require_documented(trial)


@pytest.mark.long
def test_keras() -> None:
    """Its softcap is for TPUs alone, and says so."""
    imported("torch")
    imported("keras")
    trial = tried("keras.ops:dot_product_attention")
    require_right(
        trial,
        {
            "layout": TOKENS_FIRST,
            "mask": "true is seen",
            "numbers in a mask": "added",
            "causal": "top-left",
            "sees no key": "average",
            "kv heads": "repeated",
        },
    )
    require_documented(trial)
    failed = [each for each in trial.results if each.result == "error"]
    assert {role for each in failed for role in each.case.asks} <= {"softcap", "mask"}
    assert all("only supported for JAX on TPU" in each.error for each in failed)


def test_onnx() -> None:
    imported("onnx")
    trial = tried("onnx.reference.ops.op_attention:_compute_attention")
    assert trial.agrees
    require_right(
        trial,
        {
            "layout": HEADS_FIRST,
            "mask": "true is seen",
            "numbers in a mask": "added",
            "causal": "top-left",
            "sees no key": "0",
            "kv heads": "repeated",
            "softcap": "before the mask",
        },
    )
    require_documented(trial)


@pytest.mark.long
def test_transformers() -> None:
    imported("torch")
    imported("transformers")
    trial = tried(
        "transformers.models.llama.modeling_llama:eager_attention_forward",
        f"f({A_LAYER}, q, k, v, {MASK}, {SCALE})[0].transpose(1, 2)",
    )
    assert trial.agrees
    require_right(
        trial,
        {"layout": HEADS_FIRST, "sees no key": "NaN", "kv heads": "repeated"},
    )
    require_documented(trial)


@pytest.mark.parametrize("blind", ["average", "NaN"])
def test_mlx(blind: str) -> None:
    """What a query gets that sees no key has changed twice."""
    mlx = imported("mlx.core")
    is_nan = mlx.__version__.startswith(("0.27", "0.28"))
    if is_nan != (blind == "NaN"):
        pytest.skip("it is another release")
    trial = tried(
        "mlx.core.fast:scaled_dot_product_attention",
        f"f(q, k, v, scale={SCALE}, mask={ONE_MASK})",
    )
    assert trial.agrees
    require_right(
        trial,
        {
            "layout": HEADS_FIRST,
            "mask": "true is seen",
            "causal": "bottom-right",
            "sees no key": blind,
            "kv heads": "repeated",
        },
    )


@pytest.mark.long
def test_pytorch_layer() -> None:
    """What `nn.MultiheadAttention` means by true is the opposite of what a problem means."""
    imported("torch")
    layer = "torch.nn:MultiheadAttention(6, 2, batch_first=True)"
    trial = try_function(layer, meant=meant_by("torch-mha"), limits=PATIENT)
    assert trial.agrees
    assert trial.facts["layout"] == "entries × tokens × features; 2 heads"
    assert trial.facts["mask"] == "true is hidden"
    assert [each.case.name for each in trial.results if each.result == "same"] == [
        "a layer",
        "a layer with a context",
        "a causal layer",
        "a layer with a mask",
    ]
    otherwise = try_function(layer, limits=PATIENT)
    assert [name for each in otherwise.explanations for name in each.mistakes] == [
        "the mask was inverted"
    ]
