"""Steps that another program worked out: a .npz or .safetensors file, or nested lists in JSON or
YAML.

A trace that attncli wrote as JSON is one too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attncli.attention.losses import LOSS_RULES
from attncli.attention.plan import plan_for
from attncli.attention.registry import (
    COMPUTED_RULES,
    RULES,
    STEP_NAMES,
    gradient_name,
    gradient_rule,
)
from attncli.dtypes import DTYPES
from attncli.english import count, listed, shorten
from attncli.equation.rule import Rule
from attncli.equation.symbols import plain_name, unicode_name
from attncli.errors import AttncliError, Exit, did_you_mean, usage_error
from attncli.problem.arrays.errors import ArrayError, pickled
from attncli.problem.arrays.formats import Format, format_of
from attncli.problem.arrays.stored import StoredArray
from attncli.problem.files import cannot_read, open_regular
from attncli.problem.keys import KEYS
from attncli.problem.model import Problem
from attncli.problem.suffixes import PICKLES
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode, Node, describe, truth
from attncli.problem.text.reading import Reading
from attncli.problem.text.values import Value
from attncli.tracing.comparison import Operand, in_one_head

HELP_ON_STEPS = f"the steps are {', '.join(RULES)}"
# A warning lists so many names.
MOST_NAMES_IN_A_WARNING = 8
# What other programs call a step. A name that is in two lines may be two steps, so it is read as
# neither.
_ELSEWHERE = {
    "X": ("hidden_states", "embeddings"),
    "W_Q": ("q_proj",),
    "W_K": ("k_proj",),
    "W_V": ("v_proj",),
    "Q": ("q", "query", "queries", "query_states", "query_layer", "q_proj"),
    "K": ("k", "key", "keys", "key_states", "key_layer", "k_proj"),
    "V": ("value", "values", "value_states", "value_layer", "v_proj"),
    "scores": (
        "logits",
        "attn_scores",
        "attention_scores",
        "attn_logits",
        "attention_logits",
        "qk",
    ),
    "scaled": ("scaled_scores", "scaled_logits", "scaled_attention_logits"),
    "mask": ("attn_mask",),
    "masked": ("masked_scores", "masked_logits"),
    "weights": (
        "attn_weights",
        "attn_weight",
        "attentions",
        "attention_weights",
        "attn_output_weights",
        "probs",
        "attn_probs",
        "attention_probs",
        "p",
        "attn",
        "attention",
    ),
    "heads_output": ("context_layer",),
    "output": ("out", "y", "attn_output", "attention_output", "attn_out", "attn", "attention"),
    "class_probs": ("p",),
}
# The last of these that a problem has goes into the softmax.
_BEFORE_EXP = ("masked", "capped", "scaled", "scores")
# Words that mean one step or another elsewhere, with the steps that they may be.
_MEANT: dict[str, tuple[str, ...]] = {}
for _step, _words in _ELSEWHERE.items():
    for _word in _words:
        _MEANT[_word] = (*_MEANT.get(_word, ()), _step)
_CALLED = {word: steps[0] for word, steps in _MEANT.items() if len(steps) == 1}
RENAME = "--rename"
# The rules, in one head, of steps that the other side's own equations define, by their names.
RulesOfOwn: TypeAlias = Mapping[str, Rule]
_NONE: RulesOfOwn = {}


def rules_of_own(problem: Problem) -> RulesOfOwn:
    """The rules of the steps of a problem's own equations, and of their gradients, in one head; and
    those of the gradients inside of the built-in softmax, which such equations may read.

    Raises AttncliError (exit 3) for equations that make no plan.
    """
    if problem.system is None:
        return {}
    plan = plan_for(problem)
    rules = (*plan.rules, *plan.softmax_rules(shift=False), *plan.softmax_rules(shift=True))
    found = {}
    for rule in rules:
        has_known_gradient = rule.given or gradient_name(rule.name) in RULES
        if not rule.own and has_known_gradient:
            continue
        alone = in_one_head(rule)
        back = gradient_rule(alone)
        target = replace(alone.target, name=back.name)
        found[back.name] = back.with_formula(target, None)
        if rule.own:
            found[rule.name] = alone
    return found


def _own_letters(own: RulesOfOwn) -> dict[str, str]:
    """The step of each name and letter that pages use for steps of own equations."""
    found: dict[str, str] = {}
    for spell in (str, plain_name, unicode_name):
        found |= {spell(rule.symbol): name for name, rule in own.items()}
    return found | {name: name for name in own}


@dataclass(frozen=True, slots=True, eq=False)
class Dump:
    """Arrays by the names of steps, in the order in which attncli works these out.

    `dtype` is the number format as far as the file shows it. `labels` are those of each axis of a
    step, if the file is a trace of attncli. `left_out` are names in the file that no step has.
    `read_as` has the step of every name that is not attncli's own, and `own` the rules of steps of
    the other side's own equations.
    """

    arrays: Mapping[str, NDArray[Any]]
    dtype: str
    labels: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    read_as: Mapping[str, str] = field(default_factory=dict)
    own: RulesOfOwn = field(default_factory=dict)

    def operand(self, name: str, word: str, phrase: str) -> Operand:
        """These numbers as one side of a comparison."""
        return Operand(
            name,
            word,
            phrase,
            self.arrays,
            DTYPES[self.dtype],
            self.labels,
            warnings=self.warnings,
            read_as=self.read_as,
            own=self.own,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All names in the file: of a step that has a name of its own, this."""
        of_step = {step: name for name, step in self.read_as.items()}
        return (*(of_step.get(step, step) for step in self.arrays), *self.left_out)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was not read, and which step each may be."""
        if not self.left_out:
            return ()
        return (
            (
                "not compared, because no step has this name:"
                f" {listed(self._left_out_names(), most=MOST_NAMES_IN_A_WARNING)}"
            ),
        )

    def _left_out_names(self) -> list[str]:
        """The names that were left out, each with the step that it may be."""
        of_step = {step: name for name, step in self.read_as.items()}
        names = []
        for name in self.left_out[: MOST_NAMES_IN_A_WARNING + 1]:
            near = nearest(name)
            step = _CALLED.get(name.lower())
            if step in of_step:
                near = f"{of_step[step]} is read as {step}"
            elif step in self.arrays:
                near = f"{step} is there"
            said = shorten(name)
            if near != HELP_ON_STEPS:
                said += f" ({near})"
            names.append(said)
        return names

    @property
    def shifted(self) -> bool:
        """Whether the softmax was shifted: the dump has such a step, or the largest exponential of
        every row is 1.

        Without a shift it is 1, too, if the largest score of every row is 0, or too near 0 for its
        exponential.
        """
        if "shifted" in self.arrays or "row_max" in self.arrays:
            return True
        if "exp" not in self.arrays:
            return False
        before = next((name for name in _BEFORE_EXP if name in self.arrays), None)
        if before is not None:
            largest_scores = self.arrays[before].max(axis=-1)
            is_near_0 = abs(largest_scores) <= DTYPES[self.dtype].epsilon
            if is_near_0.all():
                return False
        exponentials = self.arrays["exp"]
        begins_at_1 = exponentials.max(axis=-1) == 1
        # A query that sees no key has none but NaN, if these were shifted. Plain ones are NaN only
        # where a score is.
        has_none = np.isnan(exponentials).all(axis=-1)
        return bool((begins_at_1 | has_none).all())

    @property
    def plain(self) -> bool:
        """Whether it has exponentials, and they are those of scores that were not shifted."""
        return "exp" in self.arrays and not self.shifted


def output_alone(root: Node) -> Node:
    """A file that is one array in nested lists as a file with the output; any other as it is."""
    if not isinstance(root, ListNode) or root.length == 0:
        return root
    first: Node = root.items[0]
    is_nested = isinstance(first, ListNode)
    while isinstance(first, ListNode) and first.length:
        first = first.items[0]
    if not is_nested or _number(first) is None:
        return root
    return MappingNode(root.at, {"output": root}, {"output": root.at})


def is_dump(root: Node, renames: Collection[str] = ()) -> bool:
    """Whether a file has computed steps, or names of `renames`, and is no problem."""
    return isinstance(root, MappingNode) and are_of_dump(root.keys, renames)


def are_of_dump(names: Collection[str], renames: Collection[str] = ()) -> bool:
    """Whether these keys are the names of steps, or of `renames`, and not the keys of a problem.

    Both may have some (Q, mask).
    """
    if any(name in names for name in renames):
        return True
    keys = set(names)
    if "steps" in keys:
        return True
    steps = {_CALLED.get(key.lower(), key) for key in keys}
    only_of_dumps = COMPUTED_RULES.keys() - KEYS
    if steps & only_of_dumps:
        return True
    only_of_problems = KEYS.keys() - RULES
    if keys & only_of_problems:
        return False
    letters = {STEP_NAMES.get(key) for key in keys.difference(KEYS)}
    if not letters.isdisjoint(COMPUTED_RULES):
        return True
    has_sources = all(keys & {letter, f"W_{letter}"} for letter in "QKV")
    return not has_sources


def parse_renames(texts: Iterable[str]) -> dict[str, str]:
    """`NAME=STEP` texts, each name with its step; AttncliError (exit 2) for no `=`, no such step,
    or a name or a step that is given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, step = (part.strip() for part in text.rpartition("="))
        if not equals or not name:
            raise usage_error(
                f"{RENAME} {shorten(text)} does not name a step",
                help=f"write it as in {RENAME} attn_weights=weights",
            )
        if step not in STEP_NAMES:
            raise usage_error(
                f"{RENAME} {shorten(text)}: no step is called {shorten(step)}", help=nearest(step)
            )
        if name in found:
            raise usage_error(
                f"{RENAME} {shorten(name)} is given twice", help="keep one of the two"
            )
        found[name] = STEP_NAMES[step]
    if clash := twice(found):
        raise usage_error(f"{RENAME}: {clash[1]}", help="keep one of the two")
    return found


def named_steps(
    names: Collection[str], renames: Mapping[str, str] | None = None, own: RulesOfOwn = _NONE
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The names of steps, with the steps; and the other names.

    What `renames` says counts first, then the `own` steps of the other side, then attncli's names
    and letters, then what other programs call a step. The letters of a loss do not count, because
    other programs use P and L for other things; v beside q or k is V.
    """
    renames = renames or {}
    steps = {}
    for name in names:
        step = STEP_NAMES.get(name)
        if step is None:
            continue
        if name in RULES or step not in LOSS_RULES:
            steps[name] = step
    stands_beside_q_or_k = "q" in names or "k" in names
    if "v" in steps and stands_beside_q_or_k and "V" not in names:
        steps["v"] = "V"
    letters = _own_letters(own)
    steps |= {name: letters[name] for name in names if name in letters}
    steps |= {name: renames[name] for name in names if name in renames}
    there = set(steps.values())
    for name in names:
        step = _CALLED.get(name.lower())
        if step is not None and step not in there and name not in steps:
            steps[name] = step
    named = {name: steps[name] for name in names if name in steps}
    others = tuple(name for name in names if name not in steps)
    return named, others


def guessed(steps: Mapping[str, str], own: RulesOfOwn = _NONE) -> dict[str, str]:
    """Those of the names of steps that are neither attncli's nor the other side's own."""
    known = {**STEP_NAMES, **_own_letters(own)}
    return {name: step for name, step in steps.items() if known.get(name) != step}


def twice(steps: Mapping[str, str]) -> tuple[str, str] | None:
    """A step that has two names, such as A and weights: the second name, and what is wrong."""
    names: dict[str, str] = {}
    for name, step in steps.items():
        earlier = names.get(step)
        if earlier is not None:
            what = f"{earlier} and {name} are both the step {step}"
            return name, what
        names[step] = name
    return None


def keep_one(steps: Mapping[str, str], name: str, own: RulesOfOwn = _NONE) -> str:
    """Help for a step that has two names, of which this is the second: only guesses give way to
    --rename.
    """
    step = steps[name]
    both = {other for other, its_step in steps.items() if its_step == step}
    help = "keep one of the two"
    if both <= guessed(steps, own).keys():
        help += f", or choose it: {RENAME} {shorten(name)}={step}"
    return help


def nearest(name: str) -> str:
    """Help for a name that no step has, or that two may have."""
    meant = _MEANT.get(name.lower(), ())
    likely = shorten(name)
    if len(meant) > 1:
        steps = listed(meant, last="or")
        return f"it may be {steps}: write {RENAME} {likely}={meant[0]}"
    if meant:
        likely = meant[0]
    return did_you_mean(likely, list(RULES), HELP_ON_STEPS)


def single(step: str, own: RulesOfOwn = _NONE) -> bool:
    """Whether a step is one number in one head: a loss, a sink."""
    rule = own.get(step) or RULES[step]
    return not rule.axis_names


def as_step(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """An array as the step has it: a mask of true and false as the numbers that are added, true
    being visible.
    """
    if name == "mask" and array.dtype == bool:
        return np.where(array, 0.0, -np.inf)
    return array


def in_order(
    arrays: Mapping[str, NDArray[Any]], own: RulesOfOwn = _NONE
) -> dict[str, NDArray[Any]]:
    """The arrays in the order in which attncli works their steps out; then the other side's own."""
    return {name: arrays[name] for name in dict.fromkeys((*RULES, *own)) if name in arrays}


_SAVING = (
    'numpy.savez("{}.npz", scores=scores.detach().cpu().numpy(), …), or with'
    " safetensors.torch.save_file"
)


class Arrays(Protocol):
    """Arrays by their names, of a file or of Python; what is none is an `ArrayError`."""

    def names(self) -> list[str]: ...
    def read(self, name: str, *, single: bool) -> StoredArray: ...
    def dtype(self, name: str) -> str: ...


class _Archive(NamedTuple):
    """The arrays of a file in one of the formats of arrays."""

    stream: IO[bytes]
    called: str
    format: Format

    def names(self) -> list[str]:
        return self.format.names(self.stream, self.called)

    def read(self, name: str, *, single: bool) -> StoredArray:
        called = f"{self.called}: {shorten(name)}"
        return self.format.read(self.stream, called, name, single=single)

    def dtype(self, name: str) -> str:
        return self.format.dtype(self.stream, self.called, name)


def read_archive(
    path: str, renames: Mapping[str, str] | None = None, own: RulesOfOwn = _NONE
) -> Dump:
    """The steps of a file; AttncliError with exit 4 if it cannot be read, with exit 3 if something
    in it is wrong.
    """
    called = shorten(path, 200)
    try:
        with open_regular(path) as stream:
            suffix = Path(path).suffix.lower()
            if suffix in PICKLES:
                raise pickled(called, _SAVING.format(shorten(Path(path).stem)))
            return read_arrays(_Archive(stream, called, format_of(suffix)), called, renames, own)
    except ArrayError as error:
        raise unreadable(error) from None
    except (OSError, ValueError) as error:
        raise cannot_read(path, error, path, "name a .npz or .safetensors file") from None


def unreadable(error: ArrayError) -> AttncliError:
    """What is wrong with an array, for people (exit 3)."""
    message, help = error.args
    return AttncliError(Exit.INPUT, message, help=help)


def read_arrays(
    arrays: Arrays,
    called: str,
    renames: Mapping[str, str] | None = None,
    own: RulesOfOwn = _NONE,
) -> Dump:
    """The steps among these arrays, which messages call so; ArrayError if there is none, or if what
    has the name of a step is no array.
    """
    steps, left_out = _steps(arrays.names(), called, renames, own)
    guesses = guessed(steps, own)
    sure = {name for name in steps if name not in guesses or name in (renames or {})}
    found: dict[str, StoredArray] = {}
    others = []
    for name, step in steps.items():
        try:
            array = arrays.read(name, single=single(step, own))
            found[step] = as_step(step, array)
        except ArrayError:
            if name in sure:
                raise
            others.append(name)
    dtypes = {arrays.dtype(name) for name in _without(steps, others)} & DTYPES.keys()
    coarsest = max(dtypes, key=lambda name: DTYPES[name].epsilon, default="float64")
    return Dump(
        in_order(found, own),
        coarsest,
        left_out=(*left_out, *others),
        read_as=guessed(_without(steps, others), own),
        own=own,
    )


def _without(steps: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    return {name: step for name, step in steps.items() if name not in names}


def _steps(
    names: list[str], file: str, renames: Mapping[str, str] | None, own: RulesOfOwn
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The names of steps, with the steps, of which there must be one; and the other names."""
    if not names:
        raise ArrayError(f"{file} has no array", HELP_ON_STEPS)
    steps, left_out = named_steps(names, renames, own)
    if not steps:
        first = names[0]
        raise ArrayError(f"{file}: no step is called {shorten(first)}", nearest(first))
    clash = twice(steps)
    if clash is not None:
        name, what = clash
        raise ArrayError(f"{file}: {what}", keep_one(steps, name, own))
    return steps, left_out


_WORDS_FOR_NUMBERS = {
    word: value
    for value, words in (
        (np.nan, ("NaN", "nan", ".nan", ".NaN")),
        (np.inf, ("Infinity", "inf", ".inf", "+inf", "+Infinity")),
        (-np.inf, ("-Infinity", "-inf", "-.inf")),
    )
    for word in words
}
_HELP_ON_UNEVEN_ROWS = "give all rows of an array the same length"


def read_dump(
    root: Node,
    errors: ErrorCollector,
    renames: Mapping[str, str] | None = None,
    own: RulesOfOwn = _NONE,
) -> Dump:
    """The steps of a JSON or YAML file; AttncliError (exit 3) if no step has these names, or if
    something is no array.

    `{scores: [[…]], …}` by itself or under `steps`, each an array (a number where the step is one)
    or, as in a trace, a mapping with its `value`.
    """
    assert isinstance(root, MappingNode)
    values = {name: Value(node, name, Reading(errors)) for name, node in root.values.items()}
    dtype = None
    if "steps" in values:
        dtype = _written_dtype(values.get("settings"))
        steps = values["steps"].node
        if not isinstance(steps, MappingNode):
            errors.fail(
                f"must be a mapping, not {describe(steps)}",
                at=steps.at,
                path="steps",
                help="write {scores: …}",
            )
        values, root = (
            {name: Value(node, name, Reading(errors)) for name, node in steps.values.items()},
            steps,
        )
    if not values:
        errors.fail("the file has no step", at=root.at, help=HELP_ON_STEPS)
    arrays: dict[str, NDArray[Any]] = {}
    labels: dict[str, tuple[tuple[str, ...], ...]] = {}
    found, left_out = named_steps(values, renames, own)
    others = [
        name
        for name in guessed(found, own)
        if name not in (renames or {}) and not _is_array(values[name].node)
    ]
    found, left_out = _without(found, others), (*left_out, *others)
    if not found:
        for name in left_out:
            errors.add(f"no step is called {shorten(name)}", at=root.keys[name], help=nearest(name))
    if clash := twice(found):
        errors.fail(clash[1], at=root.keys[clash[0]], help=keep_one(found, clash[0], own))
    for name, step in found.items():
        value = values[name]
        if isinstance(value.node, MappingNode) and "value" in value.keys:
            labels[step] = _labels(value.node.values.get("labels"))
            value = value.key("value")
        array = _array(value, step, is_single=single(step, own))
        if array is not None:
            arrays[step] = array
    errors.stop()
    return Dump(
        in_order(arrays, own),
        dtype or _format_of(arrays),
        labels,
        left_out,
        guessed(found, own),
        own,
    )


def _is_array(node: Node) -> bool:
    return isinstance(node.values.get("value") if isinstance(node, MappingNode) else node, ListNode)


def _array(value: Value, step: str, *, is_single: bool) -> NDArray[Any] | None:
    """An array from nested lists, or one number for a step that is one number; None after reporting
    an error.

    A mask may have true and false.
    """
    shape: list[int] = []
    node = value.node
    while isinstance(node, ListNode):
        if not node.items:
            value.wrong("is empty", "leave the step out", at=node.at)
            return None
        shape.append(len(node.items))
        node = node.items[0]
    is_number = is_single and isinstance(node, Leaf)
    if not shape and not is_number:
        what = f"must be an array, not {describe(value.node)}"
        value.wrong(what, f"write {value.name}: [[1, 0], [0, 1]]")
        return None
    errors_before = value.errors.count
    cells: list[float | bool] = []
    has_truths = False
    if step == "mask":
        has_truths = truth(node) is not None
    _gather(value, shape, cells, truths=has_truths)
    if value.errors.count > errors_before:
        return None
    array = np.array(cells).reshape(shape)
    return as_step(step, array)


def _gather(value: Value, shape: list[int], cells: list[float | bool], *, truths: bool) -> None:
    node = value.node
    if not shape:
        number = truth(node) if truths else _number(node)
        if number is not None:
            cells.append(number)
        elif truths:
            value.wrong(
                f"must be true or false, not {describe(node)}",
                "the first value is true or false, so write true or false",
            )
        else:
            value.wrong(
                f"must be a number, not {describe(node)}",
                "write a number, NaN, Infinity or -Infinity",
            )
    elif not isinstance(node, ListNode) or len(node.items) != shape[0]:
        found = count(len(node.items), "entry") if isinstance(node, ListNode) else describe(node)
        value.wrong(f"has {found}, but the first row has {shape[0]}", _HELP_ON_UNEVEN_ROWS)
    else:
        for item in value.items:
            _gather(item, shape[1:], cells, truths=truths)


def _number(node: Node) -> float | None:
    if not isinstance(node, Leaf):
        return None
    if node.text in _WORDS_FOR_NUMBERS:
        return _WORDS_FOR_NUMBERS[node.text]
    try:
        return None if node.quoted or "_" in node.text else float(node.text)
    except ValueError:
        return None


def _labels(node: Node | None) -> tuple[tuple[str, ...], ...]:
    """The labels of a step of a trace; empty if they are not lists in a list."""
    if not isinstance(node, ListNode):
        return ()
    labels = []
    for axis in node.items:
        if isinstance(axis, ListNode):
            leaves = [each for each in axis.items if isinstance(each, Leaf)]
            of_axis = tuple(leaf.text for leaf in leaves)
            labels.append(of_axis)
    return tuple(labels)


def _written_dtype(settings: Value | None) -> str | None:
    if settings is None or not isinstance(settings.node, MappingNode):
        return None
    written = settings.node.values.get("dtype")
    if isinstance(written, Leaf) and written.text in DTYPES:
        return written.text
    return None


def _format_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """float32 if all numbers are float32 and some have more digits than a person would write; else
    float64.
    """
    has_long_numbers = False
    for array in arrays.values():
        finite = array[np.isfinite(array)]
        with np.errstate(over="ignore"):
            in_float32 = finite.astype(np.float32)
        if (in_float32 != finite).any():
            return "float64"
        if not has_long_numbers:
            sample = finite.ravel()[:100].tolist()
            has_long_numbers = any(len(repr(number)) > 12 for number in sample)
    return "float32" if has_long_numbers else "float64"
