"""Steps that another program worked out: a .npz or .safetensors file, or nested lists in JSON or YAML.

A trace that attncli wrote as JSON is one too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from attncli.attention.losses import LOSS_RULES
from attncli.attention.registry import COMPUTED_RULES, RULES, STEP_NAMES
from attncli.dtypes import DTYPES
from attncli.english import count, listed, shorten
from attncli.errors import AttncliError, Exit, did_you_mean
from attncli.problem.array_formats import Array, ArrayError, Format, format_of, pickled
from attncli.problem.files import PICKLES, cannot_read, open_regular
from attncli.problem.keys import KEYS
from attncli.problem.source import ErrorCollector
from attncli.problem.tree import Leaf, Node, Sequence, describe, truth
from attncli.problem.tree import Mapping as Keyed
from attncli.problem.values import Value
from attncli.tracing.comparison import Operand

STEPS = f"the steps are {', '.join(RULES)}"
MOST_NAMES = 8  # listed in one warning
# What programs call a step, where that is not near its name.
_ELSEWHERE = {
    "weights": ("attn", "attention", "attn_weights", "attention_weights", "probs", "attn_probs", "p"),
    "scores": ("logits", "attn_scores", "qk"), "output": ("out", "attn_output", "y"), "mask": ("attn_mask",),
    "heads_output": ("context_layer",), "Q": ("query",), "K": ("key",), "V": ("value",),
}  # fmt: skip
_CALLED = {word: step for step, words in _ELSEWHERE.items() for word in words}


@dataclass(frozen=True, slots=True, eq=False)
class Dump:
    """Arrays by the names of steps, in the order in which attncli works these out.

    `dtype` is the number format as far as the file tells it, `labels` those of each axis of a step where a trace of
    attncli has them. `left_out` are the names in it that are no step's.
    """

    arrays: Mapping[str, NDArray[Any]]
    dtype: str
    labels: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    def operand(self, name: str, word: str, phrase: str) -> Operand:
        """These numbers as one side of a comparison."""
        return Operand(name, word, phrase, self.arrays, DTYPES[self.dtype], self.labels, warnings=self.warnings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was not read, and which step it may be."""
        if not self.left_out:
            return ()
        nearest_steps = ((shorten(name), nearest(name)) for name in self.left_out[: MOST_NAMES + 1])
        names = [name if near == STEPS else f"{name} ({near})" for name, near in nearest_steps]
        return (f"left out what is no step: {listed(names, most=MOST_NAMES)}",)

    @property
    def shifted(self) -> bool:
        """Whether the softmax was shifted: the steps say so, or every row of exponentials has a largest 1."""
        if "shifted" in self.arrays or "row_max" in self.arrays:
            return True
        return "exp" in self.arrays and bool((self.arrays["exp"].max(axis=-1) == 1).all())


def is_dump(root: Node) -> bool:
    """Whether a file tells steps that were worked out, not a problem: by its keys, which both may share (Q, mask)."""
    if not isinstance(root, Keyed):
        return False
    keys = set(root.keys)
    if "steps" in keys or any(key in COMPUTED_RULES and key not in KEYS for key in keys):
        return True
    sources = all(keys & {letter, f"W_{letter}"} for letter in "QKV")
    letters = any(STEP_NAMES.get(key) in COMPUTED_RULES and key not in KEYS for key in keys)
    return (letters or not sources) and not any(key in KEYS and key not in RULES for key in keys)


def named_steps(names: Collection[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The names that are those of steps, or their letters, with the steps; and the others.

    The letters of a loss are none: elsewhere P and L are something else.
    """
    known = {name: STEP_NAMES[name] for name in names if name in STEP_NAMES}
    steps = {name: step for name, step in known.items() if name in RULES or step not in LOSS_RULES}
    return steps, tuple(name for name in names if name not in steps)


def twice(steps: Mapping[str, str]) -> tuple[str, str] | None:
    """A step that stands under two names, such as A and weights: the second of them, and what is wrong."""
    first: dict[str, str] = {}
    for name, step in steps.items():
        if (before := first.setdefault(step, name)) != name:
            return name, f"both {before} and {name} are {step}"
    return None


def nearest(name: str) -> str:
    """Help for a name that is no step's."""
    return did_you_mean(_CALLED.get(name.lower(), shorten(name)), list(RULES), STEPS)


def single(step: str) -> bool:
    """Whether a step is one number in one head: a loss, a sink."""
    return not RULES[step].axis_names


def as_step(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """An array as the step has it: a mask of true and false as the numbers that are added, true being visible."""
    return np.where(array, 0.0, -np.inf) if name == "mask" and array.dtype == bool else array


def in_order(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays in the order in which attncli works their steps out."""
    return {name: arrays[name] for name in RULES if name in arrays}


_SAVING = 'numpy.savez("{}.npz", scores=scores.detach().cpu().numpy(), …), or with safetensors.torch.save_file'


def read_archive(path: str) -> Dump:
    """The steps of a file; AttncliError (exit 4) where it cannot be read, exit 3 for what is wrong in it."""
    called = shorten(path, 200)
    try:
        with open_regular(path) as stream:
            suffix = Path(path).suffix.lower()
            if suffix in PICKLES:
                raise pickled(called, _SAVING.format(shorten(Path(path).stem)))
            arrays, dtypes, left_out = _read(stream, called, format_of(suffix))
    except ArrayError as error:
        message, help = error.args
        raise AttncliError(Exit.INPUT, message, help=help) from None
    except (OSError, ValueError) as error:
        raise cannot_read(path, error, path, "name a .npz or .safetensors file") from None
    coarsest = max(dtypes, key=lambda name: DTYPES[name].epsilon, default="float64")
    return Dump(in_order(arrays), coarsest, left_out=left_out)


def _read(stream: IO[bytes], file: str, format: Format) -> tuple[dict[str, Array], set[str], tuple[str, ...]]:
    """The arrays by their steps, the formats of their numbers, and the names of others."""
    steps, left_out = _steps(format.names(stream, file), file)
    arrays = {
        step: as_step(step, format.read(stream, _called(name, file), name, single=single(step)))
        for name, step in steps.items()
    }
    dtypes = {format.dtype(stream, file, name) for name in steps}
    return arrays, dtypes & DTYPES.keys(), left_out


def _called(name: str, file: str) -> str:
    """What messages call one array of a file."""
    return f"{file}: {shorten(name)}"


def _steps(names: list[str], file: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """The names that are those of steps, with the steps, of which there must be one; and the others."""
    if not names:
        raise ArrayError(f"{file}: there is no array in it", STEPS)
    steps, left_out = named_steps(names)
    if not steps:
        raise ArrayError(f"{file}: no step is called {shorten(names[0])}", nearest(names[0]))
    if clash := twice(steps):
        raise ArrayError(f"{file}: {clash[1]}", "keep one of the two")
    return steps, left_out


_WORDS = {
    word: value
    for value, words in (
        (np.nan, ("NaN", "nan", ".nan", ".NaN")),
        (np.inf, ("Infinity", "inf", ".inf", "+inf", "+Infinity")),
        (-np.inf, ("-Infinity", "-inf", "-.inf")),
    )
    for word in words
}
_EVEN = "all rows of an array are equally long"


def read_dump(root: Node, errors: ErrorCollector) -> Dump:
    """The steps of a JSON or YAML file; AttncliError (exit 3) where no name is a step's, and for what is no array.

    `{scores: [[…]], …}` by itself or under `steps`, each an array (a number where the step is one) or, as in a trace, a
    mapping with its `value`.
    """
    assert isinstance(root, Keyed)
    values = {name: Value(node, name, errors) for name, node in root.values.items()}
    dtype = None
    if "steps" in values:
        dtype = _written_dtype(values.get("settings"))
        steps = values["steps"].node
        if not isinstance(steps, Keyed):
            errors.fail(
                f"must be a mapping, not {describe(steps)}", at=steps.at, path="steps", help="write {scores: …}"
            )
        values, root = {name: Value(node, name, errors) for name, node in steps.values.items()}, steps
    if not values:
        errors.fail("there is no step in it", at=root.at, help=STEPS)
    arrays: dict[str, NDArray[Any]] = {}
    labels: dict[str, tuple[tuple[str, ...], ...]] = {}
    found, left_out = named_steps(values)
    if not found:
        for name in left_out:
            errors.add(f"no step is called {shorten(name)}", at=root.keys[name], help=nearest(name))
    if clash := twice(found):
        errors.fail(clash[1], at=root.keys[clash[0]], help="keep one of the two")
    for name, step in found.items():
        value = values[name]
        if isinstance(value.node, Keyed) and "value" in value.keys:
            labels[step] = _labels(value.node.values.get("labels"))
            value = value.key("value")
        array = _array(value, step)
        if array is not None:
            arrays[step] = array
    errors.stop()
    return Dump(in_order(arrays), dtype or _format_of(arrays), labels, left_out)


def _array(value: Value, step: str) -> NDArray[Any] | None:
    """An array of nested lists, or of one number where the step is that; None after reporting what is wrong with it.

    A mask may be of true and false.
    """
    shape: list[int] = []
    node = value.node
    while isinstance(node, Sequence):
        if not node.items:
            value.wrong("is empty", "leave the step out", at=node.at)
            return None
        shape.append(len(node.items))
        node = node.items[0]
    if not shape and not (single(step) and isinstance(node, Leaf)):
        value.wrong(f"must be an array, not {describe(value.node)}", f"write {value.name}: [[1, 0], [0, 1]]")
        return None
    before = value.errors.count
    cells: list[float | bool] = []
    _gather(value, shape, cells, truths=step == "mask" and truth(node) is not None)
    return as_step(step, np.array(cells).reshape(shape)) if value.errors.count == before else None


def _gather(value: Value, shape: list[int], cells: list[float | bool], *, truths: bool) -> None:
    node = value.node
    if not shape:
        number = truth(node) if truths else _number(node)
        if number is not None:
            cells.append(number)
        elif truths:
            value.wrong(f"must be true or false, not {describe(node)}", "the first is one: write true or false")
        else:
            value.wrong(f"must be a number, not {describe(node)}", "write a number, NaN, Infinity or -Infinity")
    elif not isinstance(node, Sequence) or len(node.items) != shape[0]:
        found = count(len(node.items), "entry") if isinstance(node, Sequence) else describe(node)
        value.wrong(f"has {found} where the first row has {shape[0]}", _EVEN)
    else:
        for item in value.items:
            _gather(item, shape[1:], cells, truths=truths)


def _number(node: Node) -> float | None:
    if not isinstance(node, Leaf):
        return None
    if node.text in _WORDS:
        return _WORDS[node.text]
    try:
        return None if node.quoted or "_" in node.text else float(node.text)
    except ValueError:
        return None


def _labels(node: Node | None) -> tuple[tuple[str, ...], ...]:
    """The labels of a step of a trace, or nothing where they are not two lists deep."""
    axes = node.items if isinstance(node, Sequence) else []
    return tuple(
        tuple(leaf.text for leaf in axis.items if isinstance(leaf, Leaf)) for axis in axes if isinstance(axis, Sequence)
    )


def _written_dtype(settings: Value | None) -> str | None:
    node = settings.node.values.get("dtype") if settings and isinstance(settings.node, Keyed) else None
    return node.text if isinstance(node, Leaf) and node.text in DTYPES else None


def _format_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """float32 where all numbers are such and some have more digits than a person would write; else float64."""
    long = False
    for array in arrays.values():
        finite = array[np.isfinite(array)]
        with np.errstate(over="ignore"):
            if (finite.astype(np.float32) != finite).any():
                return "float64"
        long = long or any(len(repr(number)) > 12 for number in finite.ravel()[:100].tolist())
    return "float32" if long else "float64"
