"""Recordings and models in several threads: each sees its own, and PyTorch is afterwards as it was
before.
"""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

import attncli
from tests.cases import in_one_test

pytestmark = pytest.mark.torch
Recording = Callable[..., Any]
Changed = Callable[[], dict[str, Any]]


def attend(torch: Any) -> Any:
    return torch.nn.functional.scaled_dot_product_attention(
        *(torch.randn(1, 2, 3, 4) for _ in range(3))
    )


def layer(torch: Any) -> Any:
    return torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()


def in_a_thread(*functions: Callable[[], Any]) -> list[Any]:
    """What these give, each in a thread of its own, at the same time."""
    with ThreadPoolExecutor(len(functions)) as pool:
        return [
            each.result(timeout=60) for each in [pool.submit(function) for function in functions]
        ]


@in_one_test("ends", ["AB", "BA"])
@in_one_test("in_threads", [True, False])
@in_one_test("fails", ["", "A", "B"])
def test_recordings_that_overlap(
    ends: str,
    in_threads: bool,
    fails: str,
    torch: Any,
    recording: Recording,
    what_is_changed: Changed,
) -> None:
    """A begins, B begins, and they end in this order, in two threads or in one; either may end with
    an error.
    """
    recordings = {name: recording() for name in "AB"}
    error = RuntimeError("mine")
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as another:
        pools = {"A": one, "B": another if in_threads else one}
        calls = {name: pools[name].submit(recordings[name].__enter__).result() for name in "AB"}
        for name in ends:
            pools[name].submit(attend, torch).result()
            raised = (RuntimeError, error, None) if name == fails else (None, None, None)
            ended = pools[name].submit(recordings[name].__exit__, *raised)
            assert ended.exception() in (None, error)
        for pool in (one, another):
            assert pool.submit(what_is_changed).result()["modes"] == ()
    # in one thread, the recording that ends last has seen the call of the other as well
    assert {name: len(calls[name]) for name in ends} == {
        ends[0]: 1,
        ends[1]: 1 if in_threads else 2,
    }


def test_recordings_in_each_other_see_the_same(torch: Any, recording: Recording) -> None:
    module, x = layer(torch), torch.randn(1, 3, 8)
    with recording() as outer:
        with recording() as inner:
            module(x, x, x)
        attend(torch)
    assert (len(outer), len(inner)) == (2, 1)
    for call in (outer[0], inner[0]):
        assert "W_O" in call.trace()
        assert call.check()


def test_a_mode_of_somebody_else_that_ends_later_is_left_alone(
    torch: Any, recording: Recording
) -> None:
    from torch.overrides import TorchFunctionMode, _get_current_function_mode

    class Theirs(TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return function(*args, **(kwargs or {}))

    def run() -> None:
        block, theirs = recording(), Theirs()
        block.__enter__()
        theirs.__enter__()
        attend(torch)
        block.__exit__(None, None, None)
        assert _get_current_function_mode() is theirs
        theirs.__exit__(None, None, None)
        with recording() as calls:
            attend(torch)
        assert len(calls) == 1

    in_a_thread(run)


def test_what_somebody_else_replaces_meanwhile_stays(torch: Any, recording: Recording) -> None:
    seen = []
    module, x = layer(torch), torch.randn(1, 3, 8)
    before = torch.nn.Module.__call__
    try:
        with recording() as calls:
            ours = torch.nn.Module.__call__

            def theirs(self: Any, *args: Any, **kwargs: Any) -> Any:
                seen.append(self)
                return ours(self, *args, **kwargs)

            torch.nn.Module.__call__ = theirs
            module(x, x, x)
        assert torch.nn.Module.__call__ is theirs
        with recording() as again:
            module(x, x, x)
    finally:
        torch.nn.Module.__call__ = before
    # ours is still called by theirs, and counts no run a second time
    assert [(call.step, call.layer) for call in (*calls, *again)] == [(0, 0), (0, 0)]
    assert seen == [module, module]


def test_other_threads_are_not_touched(torch: Any, recording: Recording) -> None:
    """Another thread runs all the time what has a fast path: its numbers stay the same, and nobody
    notes it.
    """
    module = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x, expected = torch.randn(1, 3, 8), []
    ended, begun = threading.Event(), threading.Event()

    def other() -> int:
        times = 0
        with torch.no_grad():
            expected.append(module(x))
            begun.set()
            while not ended.is_set():
                assert torch.equal(module(x), expected[0])
                times += 1
        return times

    mine = layer(torch)
    with ThreadPoolExecutor(1) as pool:
        others = pool.submit(other)
        begun.wait(60)
        for _ in range(30):
            with recording() as calls:
                mine(x, x, x)
            assert [call.where for call in calls] == ["MultiheadAttention"]
            assert calls[0].check()
        ended.set()
        assert others.result(timeout=60) > 0


def test_many_threads_record_at_once(torch: Any, recording: Recording) -> None:
    def run() -> None:
        module, x = layer(torch), torch.randn(1, 3, 8)
        expected = module(x, x, x)[0]
        for _ in range(20):
            with recording() as calls:
                assert torch.equal(module(x, x, x)[0], expected)
                attend(torch)
            assert [call.heads for call in calls] == [2, 2]
            assert all(call.check() for call in calls)

    in_a_thread(*[run] * 4)


def test_a_model_in_a_thread_that_the_block_started(torch: Any, recording: Recording) -> None:
    module, x = layer(torch), torch.randn(1, 3, 8)
    with recording() as calls:
        thread = threading.Thread(target=module, args=(x, x, x))
        thread.start()
        thread.join()
        module(x, x, x)
    assert [(call.step, call.layer, call.where) for call in calls] == [
        (0, 0, "MultiheadAttention"),
        (1, 0, "MultiheadAttention"),
    ]
    assert all(call.check() for call in calls)
    assert "run" not in vars(thread)


def test_models_in_several_threads_of_the_block(torch: Any, recording: Recording) -> None:
    """Each run of the model is a step, and the calls of one run are its layers."""
    model, x = torch.nn.Sequential(*(self_attention(torch) for _ in range(3))), torch.randn(1, 3, 8)
    with recording() as calls:
        in_a_thread(*[lambda: [model(x) for _ in range(5)]] * 3)
    runs: dict[int, list[int]] = {}
    for call in calls:
        runs.setdefault(call.step, []).append(call.layer)
    assert sorted(runs) == list(range(15))
    assert all(layers == [0, 1, 2] for layers in runs.values())
    assert [call.number for call in calls] == list(range(45))


def self_attention(torch: Any) -> Any:
    class SelfAttention(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = layer(torch)

        def forward(self, x: Any) -> Any:
            return self.inner(x, x, x)[0]

    return SelfAttention()


def test_a_thread_that_goes_on_after_the_block_adds_no_calls(
    torch: Any, recording: Recording, what_is_changed: Changed
) -> None:
    module, x = layer(torch), torch.randn(1, 3, 8)
    first, over = threading.Event(), threading.Event()
    modes = []

    def run() -> None:
        module(x, x, x)
        first.set()
        over.wait(60)
        module(x, x, x)
        modes.append(what_is_changed()["modes"])

    with recording() as calls:
        thread = threading.Thread(target=run)
        thread.start()
        first.wait(60)
    over.set()
    thread.join()
    assert len(calls) == 1
    assert modes == [()]


def test_a_thread_that_goes_on_keeps_nothing(torch: Any, recording: Recording) -> None:
    """As the threads of a pool do that was made in the block."""
    module, x = layer(torch), torch.randn(1, 3, 8)
    with ExitStack() as stack:
        with recording() as calls:
            pool = stack.enter_context(ThreadPoolExecutor(1))
            pool.submit(module, x, x, x).result()
        kept = [weakref.ref(module), weakref.ref(calls[0].attention.query)]
        assert len(calls) == 1
        del module, calls
        gc.collect()
        assert [each() for each in kept] == [None, None]


@in_one_test("asked", range(8))
def test_a_recording_may_end_while_another_thread_names_its_modules(
    asked: int, torch: Any, recording: Recording
) -> None:
    """It ends when a dict asks for the hash of the model once more than so many times."""
    reached, over = threading.Event(), threading.Event()

    class Model(torch.nn.Module):
        times = 0

        def __hash__(self) -> int:
            if threading.current_thread() is not threading.main_thread():
                Model.times += 1
                if Model.times == asked + 1:
                    reached.set()
                    # what is asked under a lock that the end of the recording waits for must go on
                    # alone
                    over.wait(0.1)
            return id(self)

        def forward(self, x: Any) -> Any:
            return torch.nn.functional.scaled_dot_product_attention(x, x, x)

    model, x = Model(), torch.randn(2, 3)
    with ExitStack() as stack:
        with recording() as calls:
            pool = stack.enter_context(ThreadPoolExecutor(1))
            attend(torch)
            running = pool.submit(model, x)
            running.add_done_callback(lambda done: reached.set())
            reached.wait(60)
        over.set()
        # an error of the recording would be raised here
        running.result(timeout=60)
        kept = weakref.ref(model)
        assert len(calls) <= 2
        del model, running
        gc.collect()
        assert kept() is None


def test_a_thread_that_goes_on_after_the_block_may_start_others(
    torch: Any, recording: Recording
) -> None:
    """While the recording that is over asks whether its threads still run."""
    asked, answered = threading.Event(), threading.Event()

    class Asked(threading.Thread):
        is_over = False

        def is_alive(self) -> bool:
            if not self.is_over:
                asked.set()
                answered.wait(60)
            return False

    def run() -> None:
        asked.wait(60)
        threading.Thread(target=int).start()
        answered.set()

    thread = Asked(target=run)
    # the outer recording goes on, and so do the changes that it makes
    with recording():
        attend(torch)
        with (
            pytest.raises(attncli.AttncliError, match="no call of attention was seen"),
            recording(),
        ):
            thread.start()
        thread.is_over = True
        thread.join()


def test_a_model_in_a_thread_that_was_there_before(torch: Any, recording: Recording) -> None:
    module, x = layer(torch), torch.randn(1, 3, 8)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        with (
            pytest.raises(attncli.AttncliError, match="no call of attention was seen") as caught,
            recording(),
        ):
            pool.submit(module, x, x, x).result()
    assert (
        caught.value.help
        == "MultiheadAttention ran in a thread that was there before the block: begin the recording"
        " in that thread"
    )


def test_a_thread_that_the_block_does_not_wait_for(torch: Any, recording: Recording) -> None:
    module, x = layer(torch), torch.randn(1, 3, 8)
    over = threading.Event()
    thread = threading.Thread(target=lambda: over.wait(60) and module(x, x, x))
    with (
        pytest.raises(attncli.AttncliError, match="no call of attention was seen") as caught,
        recording(),
    ):
        thread.start()
    over.set()
    thread.join()
    assert (
        caught.value.help
        == "a thread that the block started was still running when the block ended: wait for it"
        " there with join()"
    )


def test_a_thread_that_cannot_be_started_is_as_it_was(torch: Any, recording: Recording) -> None:
    thread = threading.Thread(target=int)
    with recording():
        attend(torch)
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="once"):
            thread.start()
    assert "run" not in vars(thread)


def test_a_block_that_ends_in_another_thread(torch: Any, recording: Recording) -> None:
    """As a generator does that is closed elsewhere: what is left in the first thread tells
    nobody.
    """
    with ExitStack() as stack, ThreadPoolExecutor(1) as pool:
        calls = pool.submit(stack.enter_context, recording()).result()
        pool.submit(attend, torch).result()
        stack.close()
        pool.submit(attend, torch).result()
        assert len(calls) == 1
        again = pool.submit(record_one, torch, recording).result()
    assert len(again) == 1


def record_one(torch: Any, recording: Recording) -> Any:
    with recording() as calls:
        attend(torch)
    return calls


def test_why_a_call_without_a_module_is_not_seen_in_a_thread_is_said(
    torch: Any, recording: Recording
) -> None:
    with pytest.raises(attncli.AttncliError) as caught, recording():
        in_a_thread(lambda: attend(torch))
    assert "in a thread that the block starts, only calls of a torch.nn.Module" in caught.value.help
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        with pytest.raises(attncli.AttncliError) as caught, recording():
            pool.submit(attend, torch).result()
    assert "nor are calls in a thread that was there before the block" in caught.value.help
