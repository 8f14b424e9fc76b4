"""Tensors whose numbers are not where they seem to be: they are read where there is a way, and else
said not to be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import attncli
from tests.cases import in_one_test

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors"),
]
Recording = Callable[..., Any]
SHAPE = (2, 4, 3, 8)


def attend(torch: Any, *tensors: Any, **options: Any) -> Any:
    return torch.nn.functional.scaled_dot_product_attention(*tensors, **options)


@in_one_test("corner", ["upper_left", "lower_right"])
@in_one_test(("n", "m"), [(3, 3), (3, 5), (1, 4)])
def test_a_causal_bias_is_the_mask_that_it_stands_for(
    corner: str, n: int, m: int, torch: Any, recording: Recording
) -> None:
    """Its own memory is never filled in: whatever stands there is no mask."""
    from torch.nn.attention import bias

    mask = getattr(bias, f"causal_{corner}")(n, m)
    with torch.no_grad():
        torch.Tensor.fill_(mask.as_subclass(torch.Tensor), 7.0)
    with recording() as calls:
        attend(
            torch,
            torch.randn(1, 2, n, 4),
            torch.randn(1, 2, m, 4),
            torch.randn(1, 2, m, 4),
            attn_mask=mask,
        )
    assert calls[0].check()
    offset = 0 if corner == "upper_left" else m - n
    visible = calls[0].trace(head=0)["weights"] > 0
    assert (visible == torch.ones(n, m).tril(offset).bool().numpy()).all()


def unreadable(torch: Any) -> dict[str, tuple[str, Callable[[], Any]]]:
    """Calls whose numbers attncli does not get, with what it says of them."""
    query = torch.randn(SHAPE)

    def nested(**options: Any) -> Any:
        return torch.nested.nested_tensor([torch.randn(4, 3, 8), torch.randn(4, 5, 8)], **options)

    def jagged() -> Any:
        rows = [torch.randn(3, 4, 8), torch.randn(5, 4, 8)]
        return torch.nested.nested_tensor(rows, layout=torch.jagged).transpose(1, 2)

    def alike(tensor: Any) -> Any:
        return attend(torch, tensor, tensor, tensor)

    class Elsewhere(torch.Tensor):
        """A mask that means another one."""

        @classmethod
        def __torch_function__(
            cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if function is torch.nn.functional.scaled_dot_product_attention:
                return attend(torch, *args[:3])
            return super().__torch_function__(function, types, args, kwargs or {})

    def fake() -> Any:
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode() as mode:
            return alike(mode.from_tensor(query))

    class Alike(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return alike(x)

    # what PyTorch 2.5 exports is wrapped once more
    exported = "FakeTensor" if hasattr(torch.compiler, "set_stance") else "FunctionalTensor"
    nests, transforms = (
        "its queries are a nested tensor",
        "its queries are a tensor inside torch.vmap",
    )
    return {
        "nested": (nests, lambda: alike(nested())),
        "jagged": (nests, lambda: alike(jagged())),
        "vmap": (transforms, lambda: torch.vmap(alike)(query)),
        "vmap of grad": (
            transforms,
            lambda: torch.vmap(torch.func.grad(lambda x: alike(x).sum()))(query),
        ),
        "keys in vmap": (
            "its keys are",
            lambda: torch.vmap(lambda x: attend(torch, query[0], x, x))(query),
        ),
        "functionalize": (transforms, lambda: torch.func.functionalize(alike)(query)),
        "meta": ("its queries are a tensor of the device meta", lambda: alike(query.to("meta"))),
        "fake": ("its queries are a FakeTensor", fake),
        "export": (
            f"its queries are a {exported}",
            lambda: torch.export.export(Alike(), (query,), strict=False),
        ),
        "mask": (
            "its mask is a Elsewhere, which has operations of its own",
            lambda: attend(torch, query, query, query, torch.zeros(3, 3).as_subclass(Elsewhere)),
        ),
    }


@in_one_test(
    "name",
    [
        "nested",
        "jagged",
        "vmap",
        "vmap of grad",
        "keys in vmap",
        "functionalize",
        "meta",
        "fake",
        "export",
        "mask",
    ],
)
def test_what_cannot_be_read_is_in_the_table_and_says_why(
    name: str, torch: Any, recording: Recording
) -> None:
    why, run = unreadable(torch)[name]
    with recording() as calls:
        run()
        attend(torch, *[torch.randn(1, 2, 3, 4)] * 3)
    *others, last = calls
    assert others
    assert last.check()
    for call in others:
        assert call.reason.startswith(why)
        for use in (call.check, call.problem, lambda call=call: call.save("x.yaml")):
            with pytest.raises(attncli.AttncliError, match=why):
                use()
    assert why in " ".join(str(calls).split())
    assert "cannot be saved" in str(calls)
    assert calls[0].bytes == 0


@pytest.mark.parametrize("name", ["nested", "jagged"])
def test_an_axis_of_several_sizes_is_no_number(name: str, torch: Any, recording: Recording) -> None:
    with recording() as calls:
        unreadable(torch)[name][1]()
    assert [shape[-2] for shape in calls[0].shapes[:2]] == [-1, -1]
    assert calls[0].shapes[0][-1] == 8
    assert "varies" in str(calls)
    assert "varies×varies" in repr(calls[0])


def test_inside_a_gradient_tensors_are_only_wrapped(torch: Any, recording: Recording) -> None:
    with recording() as calls:
        torch.func.grad(lambda x: attend(torch, x, x, x).sum())(torch.randn(SHAPE))
    assert calls[0].check()


def multi_head(torch: Any) -> dict[str, Callable[[Any, Any], Any]]:
    """Calls of the whole layer whose numbers attncli does not get."""
    return {
        "vmap": lambda module, x: torch.vmap(lambda y: module(y, y, y)[0])(torch.stack([x, x])),
        "meta": lambda module, x: module.to("meta")(*[x.to("meta")] * 3),
    }


@pytest.mark.parametrize("name", ["vmap", "meta"])
def test_multi_head_attention_that_cannot_be_read(
    name: str, torch: Any, recording: Recording
) -> None:
    module, x = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.randn(1, 3, 8)
    with (
        pytest.raises(attncli.AttncliError, match="multi_head_attention_forward with a tensor"),
        recording(),
    ):
        multi_head(torch)[name](module, x)


def test_linear_layers_that_cannot_be_read_are_no_inputs(torch: Any, recording: Recording) -> None:
    linear = torch.nn.Linear(8, 8)
    jagged = torch.nested.nested_tensor([torch.randn(3, 8), torch.randn(5, 8)], layout=torch.jagged)
    with recording() as calls:
        linear(jagged)
        torch.vmap(linear)(torch.randn(2, 3, 8))
        attend(torch, *[torch.randn(1, 2, 3, 4)] * 3)
    assert calls[0].check()
    assert "X" not in calls[0].trace()


def test_a_program_that_torch_fx_writes_is_no_call(torch: Any, recording: Recording) -> None:
    class Attend(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return attend(torch, x, x, x, is_causal=True)

    with recording() as calls:
        written = torch.fx.symbolic_trace(Attend())
        assert len(calls) == 0
        written(torch.randn(SHAPE))
    assert calls[0].check()


@pytest.mark.filterwarnings("ignore:`torch.jit.trace")
def test_exported_modules_are_seen_and_those_of_torch_jit_are_not(
    torch: Any, recording: Recording
) -> None:
    class Attend(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return attend(torch, x, x, x, is_causal=True)

    x = torch.randn(SHAPE)
    exported = torch.export.export(Attend(), (x,)).module()
    traced = torch.jit.trace(Attend(), (x,))
    with recording() as calls:
        assert torch.equal(exported(x), Attend()(x))
    assert [call.keys()["mask"] for call in calls] == ["causal", "causal"]
    with (
        pytest.raises(attncli.AttncliError, match="no call of attention was seen") as caught,
        recording(),
    ):
        traced(x)
    assert "torch.jit" in caught.value.help


EMPTY = {
    "queries": ((2, 4, 0, 8), (2, 4, 5, 8)),
    "keys": ((2, 4, 3, 8), (2, 4, 0, 8)),
    "entries": ((0, 4, 3, 8), (0, 4, 5, 8)),
    "features": ((2, 4, 3, 0), (2, 4, 5, 0)),
}


@in_one_test("name", EMPTY)
@in_one_test("mask", [True, False])
def test_what_is_empty(name: str, mask: bool, torch: Any, recording: Recording) -> None:
    """A model runs with it as before, and attncli says that there is nothing to work out."""
    query, key = (torch.randn(shape) for shape in EMPTY[name])
    added = torch.zeros(query.shape[-2], key.shape[-2]) if mask else None
    with recording() as calls:
        attend(torch, query, key, key, attn_mask=added, scale=0.5)
    with pytest.raises(attncli.AttncliError):
        calls[0].check()
