"""Two models, or one with two implementations of attention, on the same tokens: which call is the
first that differs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attncli.cli.progress import progress
from attncli.errors import AttncliError, nearest, usage_error
from attncli.features.record.model import Loaded, Recorded, read_model, run_model
from attncli.torch.compared.all_calls import ComparedCalls, compared_calls
from attncli.tracing.comparison import TOLERANCES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attncli.torch import Call
    from attncli.torch.call import ProblemOptions


class Wishes(NamedTuple):
    """What both models read, and what of them is compared: one layer or all, one head or all, from
    their latent vectors or not.

    `attention` is the implementation of the first model, None for that of its config.
    """

    text: str
    layer: int | None = None
    head: int | None = None
    attention: str | None = None
    tolerance: float | None = None
    latent: bool = False
    absorbed: bool = False


def against_another(
    model: str, other: str, wishes: Wishes, implementations: Collection[str]
) -> ComparedCalls:
    """Both models run on the tokens that the first one makes of the text, and compared.

    `other` is a folder, or the word of an implementation, which stands for the same model with it.
    Raises AttncliError where a model cannot be read or run, or has no such layer.
    """
    is_word = other in implementations and not Path(other).is_dir()
    if not is_word:
        _require_folder(other, implementations)
    layers = None if wishes.layer is None else [wishes.layer]
    progress.begin(f"running {model}")
    first = read_model(model, attention=wishes.attention)
    with _of_model(model):
        ours = run_model(first, wishes.text, layers)
    progress.begin(f"running {other}")
    second = read_model(
        model if is_word else other,
        attention=other if is_word else None,
        asked_by="--against",
        needs_tokenizer=False,
    )
    with _of_model(other):
        theirs = run_model(second, wishes.text, layers, tokenizer=first.tokenizer)
    if wishes.latent or wishes.absorbed:
        _require_latents(model, ours)
        _require_latents(other, theirs)
    calls = _compared(ours, theirs, _names(model, other, wishes.attention), wishes)
    warnings = _warnings((model, first), (other, second), wishes.text)
    off = None
    if wishes.layer is None and wishes.head is None:
        off = _outputs_apart(ours.output, theirs.output, wishes.tolerance)
    return replace(calls, warnings=tuple(warnings), output_difference=off)


def _require_folder(other: str, implementations: Collection[str]) -> None:
    """Raises AttncliError (exit 2) for a word that is none of an implementation, before a model is
    run.
    """
    is_a_path = Path(other).exists() or "/" in other or "\\" in other
    near = nearest(other, [*implementations])
    if is_a_path or not near:
        return
    raise usage_error(f"--against: there is no folder {other}", help=f"did you mean {near}?")


def _require_latents(name: str, recorded: Recorded) -> None:
    """Raises AttncliError (exit 2) for a model none of whose calls has latent vectors."""
    if any(call.latents is not None for call in recorded.calls):
        return
    raise usage_error(
        f"no call of {name} has latent keys and values",
        help="leave out --latent and --absorbed, and both models are compared from Q, K and V",
    )


@contextmanager
def _of_model(name: str) -> Iterator[None]:
    """What is said of one model has its name, as there are two of them."""
    try:
        yield
    except AttncliError as error:
        raise AttncliError(
            error.exit_code, f"{name}: {error.message}", path=error.path, help=error.help
        ) from error


def _outputs_apart(
    ours: NDArray[Any], theirs: NDArray[Any], tolerance: float | None
) -> float | None:
    """How far apart the outputs are; None where no number is off by more than the tolerance times
    the largest of its row, or where they have other shapes.
    """
    if ours.shape != theirs.shape:
        return None
    apart = np.abs(ours - theirs)
    largest = np.maximum(np.abs(ours), np.abs(theirs)).max(axis=-1, keepdims=True)
    allowed = TOLERANCES["float32"] if tolerance is None else tolerance
    if (apart <= allowed * largest).all():
        return None
    return float(apart.max())


def _names(model: str, other: str, attention: str | None) -> tuple[str, str]:
    """What the page calls both: the names of their folders, if these are not the same."""
    a, b = (Path(path).name or path for path in (model, other))
    if a == b:
        a, b = model, other
    if attention is not None:
        a = f"{a} ({attention})"
    return a, b


def _compared(
    ours: Recorded, theirs: Recorded, names: tuple[str, str], wishes: Wishes
) -> ComparedCalls:
    def options(call: Call, other: Call) -> ProblemOptions:
        wanted = ours.options(call, wishes.head)
        # Both begin as early as they can.
        if call.latents is not None and other.latents is not None:
            wanted["latent"] = wishes.latent
            wanted["absorbed"] = wishes.absorbed
        return wanted

    def report(done: int, of: int) -> None:
        progress.begin(f"comparing call {done + 1} of {of}")

    return compared_calls(
        ours.calls,
        theirs.calls,
        names,
        tolerance=wishes.tolerance,
        options=options,
        report=report,
    )


def _warnings(first: tuple[str, Loaded], second: tuple[str, Loaded], text: str) -> list[str]:
    """What each folder lacks, and whether the second one would have read other tokens."""
    said = []
    for name, loaded in (first, second):
        said += [f"{name}: {warning}" for warning in loaded.warnings]
    name, loaded = second
    if loaded.tokenizer is not None:
        own = loaded.tokenizer(text)["input_ids"]
        if own != first[1].tokenizer(text)["input_ids"]:
            said.append(
                f"the tokenizer of {name} makes other tokens of this text; both models read those"
                f" of {first[0]}"
            )
    return said
