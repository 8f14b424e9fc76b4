"""Sinks that are joined to the scores by hand, as a paper writes them: they become `sink` of a
problem, or it is said why they do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import attncli

pytestmark = pytest.mark.torch
Recording = Callable[..., Any]
SINKS = [0.5, -1.25]


class Given:
    """Two entries of two heads, three queries and four keys, and a logit for each head."""

    def __init__(self, torch: Any) -> None:
        torch.manual_seed(0)
        self.torch = torch
        self.q, self.k, self.v = (torch.randn(2, 2, rows, 4) for rows in (3, 4, 4))
        self.scores = self.q @ self.k.mT / 2
        self.sink = torch.tensor(SINKS).view(1, 2, 1, 1).expand(2, 2, 3, 1)


def at_the_end(g: Given) -> Any:
    weights = g.torch.cat([g.scores, g.sink], dim=-1).softmax(-1)
    return weights[..., :-1] @ g.v


def before_the_keys(g: Given) -> Any:
    weights = g.torch.cat([g.sink, g.scores], dim=3).softmax(-1)
    return weights.narrow(-1, 1, 4) @ g.v


def shifted(g: Given) -> Any:
    logits = g.torch.concat([g.scores, g.sink], dim=-1)
    logits = logits - logits.max(dim=-1, keepdim=True).values
    weights = g.torch.nn.functional.softmax(logits, dim=-1, dtype=g.torch.float32)
    return g.torch.einsum("bhij,bhjd->bihd", weights[..., :4].to(g.v.dtype), g.v)


@pytest.mark.parametrize("attend", [at_the_end, before_the_keys, shifted])
def test_a_sink_of_each_head(
    attend: Callable[[Given], Any], torch: Any, recording: Recording, tmp_path: Any
) -> None:
    with recording() as calls:
        attend(Given(torch))
    (call,) = calls
    assert call.check(), call.check()
    assert call.keys()["sink"] == SINKS
    call.save(tmp_path / "sinks.yaml", head=1, entry=1)
    # The weights of the keys and that of the sink are 1 together.
    trace = attncli.trace(tmp_path / "sinks.yaml")
    logits = torch.cat([Given(torch).scores[1, 1], torch.full((3, 1), SINKS[1])], dim=-1)
    assert trace["weights"] == pytest.approx(logits.softmax(-1)[:, :4].numpy(), abs=1e-6)


def test_a_sink_of_a_single_head(torch: Any, recording: Recording) -> None:
    x = torch.randn(3, 4)
    with recording() as calls:
        scores = torch.cat([x @ x.T, torch.full((3, 1), 0.5)], 1)
        torch.softmax(scores, 1)[:, :3] @ x
    assert calls[0].check()
    assert calls[0].keys()["sink"] == [0.5]


def of_each_query(g: Given) -> Any:
    rows = g.torch.arange(3.0).view(1, 1, 3, 1).expand(2, 2, 3, 1)
    return g.torch.cat([g.scores, rows], dim=-1).softmax(-1)[..., :-1] @ g.v


def scaled_with_its_sink(g: Given) -> Any:
    return (g.torch.cat([g.scores, g.sink], dim=-1) / 2).softmax(-1)[..., :-1] @ g.v


NOT_KEPT = {
    "its sink is not one number for each head": of_each_query,
    "its weights are not the softmax of its scores": scaled_with_its_sink,
}


@pytest.mark.parametrize("said", NOT_KEPT)
def test_a_sink_that_no_problem_has(said: str, torch: Any, recording: Recording) -> None:
    with recording() as calls:
        NOT_KEPT[said](Given(torch))
    assert calls[0].reason.startswith(said)


def changed_before_the_cut(g: Given) -> Any:
    weights = g.torch.cat([g.scores, g.sink], dim=-1).softmax(-1) * 2
    return weights[..., :-1] @ g.v


def cut_at_the_wrong_end(g: Given) -> Any:
    return g.torch.cat([g.scores, g.sink], dim=-1).softmax(-1)[..., 1:] @ g.v


@pytest.mark.parametrize("attend", [changed_before_the_cut, cut_at_the_wrong_end])
def test_what_is_joined_and_not_cut_off_is_no_sink(
    attend: Callable[[Given], Any], torch: Any, recording: Recording
) -> None:
    with pytest.raises(attncli.AttncliError, match="no call") as caught, recording():
        attend(Given(torch))
    assert "a softmax was seen, but not the product that gave its scores" in caught.value.help
