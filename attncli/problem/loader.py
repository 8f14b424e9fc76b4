"""Reads a problem: a file or bytes to a tree, and the tree to a checked Problem, every key by its
kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from os import PathLike, fspath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from attncli.english import named
from attncli.errors import AttncliError, Place
from attncli.problem.arrays.matrix_reader import MOST_AXES, read_matrix
from attncli.problem.kept import kept_tree, kept_tree_of_json
from attncli.problem.keys import (
    ANSWERED,
    ARRAYS,
    HOLDS_ANSWERS,
    KEYS,
    SCALE_WORDS,
    SCORES,
    Kind,
)
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.axes import PER_HEAD, Shaped, axes_of, key_labels, rows_from, sizes
from attncli.problem.parts.conventions import OWN, Convention, convention_named
from attncli.problem.parts.heads import (
    check_heads_are_there,
    check_leading,
    check_per_head,
    check_widths,
    split_heads,
)
from attncli.problem.parts.losses import (
    LOSSES,
    Loss,
    check_loss,
    read_like_result,
    read_loss,
)
from attncli.problem.parts.masks import Mask
from attncli.problem.parts.positions import Position, read_positions
from attncli.problem.shape_checks import (
    check_array_sizes,
    check_gradient,
    check_labels,
    check_products,
    check_shapes,
    check_sources,
)
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf, MappingNode, Node, describe, is_null, places_in
from attncli.problem.text.pasted.finding import written_out
from attncli.problem.text.pasted.names import other_order
from attncli.problem.text.reading import Reading
from attncli.problem.text.source import Source, decode, read_source
from attncli.problem.text.tree import read_tree
from attncli.problem.text.values import (
    Value,
    read_integer,
    read_labels,
    read_scalar,
    read_title,
    read_word,
    require_keys,
)

if TYPE_CHECKING:
    from attncli.problem.parts.equations import System
    from attncli.problem.parts.mask_reader import MaskReading

_PAST_HELP = "write past: {K: [[1, 0]], V: [[0, 1]]}"
# Characters. A longer line of a file is not kept with its problem.
LONGEST_LINE_KEPT = 2_000
# The values of the keys that could be read, by key.
Values: TypeAlias = dict[str, Any]


def load(path: str, *, convention: str | None = None, outside: bool = False) -> Problem:
    """The problem in a file, or on standard input for "-".

    `convention` names the software, such as "torch", by whose meaning a mask is read that does not
    say its own; `outside` lets `{file: …}` lead out of the problem's folder. Raises AttncliError:
    exit 2 for a convention that is none, exit 4 where the file cannot be read, exit 3 for what is
    wrong in it, the first problem in the order of the file with up to nineteen others as its
    `more`, and how many there are besides.
    """
    return read_problem(read_source(path, outside=outside), convention=convention)


def loads(
    data: bytes, name: str, *, folder: str | PathLike[str] = "", convention: str | None = None
) -> Problem:
    r"""The problem in these bytes; `name` is the file's in messages, and its suffix tells JSON from
    YAML.

    `{file: …}` references start from `folder`, by default the current one. Raises AttncliError
    (exit 3).

    >>> loads(b"Q: [[1, 0]]\nK: [[1, 0], [0, 1]]\nV: [[1], [1/2]]\n", "problem.yaml")
    <problem: Q 1×2, K 2×2, V 2×1>
    """
    return read_problem(decode(data, name, fspath(folder)), convention=convention)


def read_problem(source: Source, *, convention: str | None = None) -> Problem:
    """The problem a text tells; AttncliError as for `load`."""
    errors, root = _tree_of(source)
    return problem_from_tree(root, errors, convention)


def _tree_of(source: Source) -> tuple[ErrorCollector, Node]:
    """The tree of a file: of YAML or JSON, or of a text with matrices that have names."""
    if kept := kept_tree(source):
        return kept
    # Few problems are in texts, and what finds matrices in them comes with it.
    from attncli.problem.text_of_matrices import has_matrices, is_text, read_text

    if is_text(source):
        return read_text(source)
    # Julia prints 2×2 Matrix{Float64}: above a matrix, which is a key of YAML.
    if "×" in source.text:
        source = _with_tight_rows(source)
    try:
        errors, root = read_tree(source)
    except AttncliError:
        if source.name.lower().endswith(".json"):
            raise
        if has_matrices(source):
            return read_text(source)
        errors, root = read_tree(_with_tight_rows(source))
    if isinstance(root, Leaf):
        # It has no key of YAML.
        if has_matrices(source, is_yaml=False):
            return read_text(source)
        errors, root = read_tree(_with_tight_rows(source))
    return kept_tree_of_json(source, root) or (errors, root)


def _with_tight_rows(source: Source) -> Source:
    # Few problems have loose rows.
    from attncli.problem.text.loose_rows import with_tight_rows

    return with_tight_rows(source)


def problem_from_tree(root: Node, errors: ErrorCollector, convention: str | None = None) -> Problem:
    """The problem of a whole tree; AttncliError as `errors` collects them."""
    reads = OWN if convention is None else convention_named(convention)
    if not isinstance(root, MappingNode):
        errors.fail(
            f"this is {describe(root)}, not a problem",
            at=root.at,
            help="write lines such as X: [[1, 0], [0, 1]]",
        )
    reading = Reading(errors, root.values, places_in(root))
    values: Values = {"score": "scaled_dot"} | _read_values(root, reading, reads)
    system = _system_of(values, reading, root)
    positions: tuple[Position, ...] = values.get("position") or ()
    mask: MaskReading | None = values.get("mask")
    # A misspelt W_K is not told again as a missing one.
    if all(key in KEYS for key in root.keys):
        check_sources(values["score"], reading, root.at, system)
    if errors.count:
        _check_what_was_read(values, root, reading)
    # Here and below, what is checked next asks for what has been read, or for arrays that fit.
    errors.stop()
    reading = _with_equations(reading, system, root)
    given, sized, joined = _fitting_arrays(values, positions, system, reading)
    tokens, context_tokens = _labels(values, sized, reading)
    if mask:
        mask.check(sized)
    # What another result has the shape of, only its equations say.
    is_output = not _has_own_result(values)
    if is_output:
        check_gradient(values.get("d_output"), sized, joined, reading)
    loss: Loss | None = values.get("loss")
    if loss is not None and (is_output or LOSSES[loss.kind].of_classes or "d_output" in values):
        loss = check_loss(loss, sized, joined, reading)
    errors.stop()
    numbers = _numbers_of_one_head(given, sized)
    return Problem(
        title=values.get("title") or "",
        tokens=tokens,
        context_tokens=context_tokens,
        given=MappingProxyType(given),
        mask=mask.mask() if mask else Mask(),
        sink=values["sink"] if isinstance(values.get("sink"), Scalar) else numbers.get("sink"),
        positions=positions,
        joined=joined,
        convention=convention,
        loss=loss,
        system=system,
        places=_places_of(given, reading),
        **{
            key: values[key]
            for key, row in KEYS.items()
            if row.setting and values.get(key) is not None
        },
    )


def _read_values(root: MappingNode, reading: Reading, convention: Convention) -> dict[str, Any]:
    _require_no_answers(root, reading)
    lower_case_v = _means_V(root)
    readers = READERS | {"mask": partial(READERS["mask"], convention=convention)}
    values: dict[str, Any] = {}
    for key, node in root.values.items():
        if key in KEYS and not (key == "v" and lower_case_v):
            values[key] = readers[KEYS[key].kind](Value(node, key, reading))
        else:
            from attncli.problem.synonyms import unknown_key_help

            at = root.keys[key]
            help = unknown_key_help(key, node)
            help = "did you mean V?" if key == "v" else help
            reading.errors.add(f"there is no key {named(key)}", at=at, help=help)
    return values


def _require_no_answers(root: MappingNode, reading: Reading) -> None:
    """Raises AttncliError for a file that has steps to be worked out, and nothing to begin with, or
    for a trace.
    """
    if "attncli" in root.keys and "steps" in root.keys:
        help = "name the problem that it was made of; check and compare take a trace beside it"
        message = "this is a trace, as attncli itself writes it, and not a problem"
        reading.errors.fail(message, at=root.keys["attncli"], help=help)
    answered = [key for key in ANSWERED if key in root.keys]
    if answered and not any(key in KEYS for key in root.keys):
        message, help = HOLDS_ANSWERS
        reading.errors.fail(message, at=root.keys[answered[0]], help=help)


def _means_V(root: MappingNode) -> bool:
    """Whether v is the V of a problem whose keys are all in lower case."""
    are_lower = not root.keys.keys().isdisjoint(("q", "k", "w_q"))
    return are_lower and "V" not in root.keys and "W_1" not in root.keys


def _check_what_was_read(values: Values, root: MappingNode, reading: Reading) -> None:
    """Beside what could not be read, also tell what does not fit of what could."""
    whole = {name: values[name] for name in ARRAYS if isinstance(values.get(name), Matrix)}
    are_known = all(key in KEYS for key in root.keys)
    # An unknown key may be a misspelt context, from which keys and values come.
    check_products(whole, reading, "QKV" if are_known else "Q")
    queries = whole.get(rows_from("Q", reading.nodes))
    if values.get("tokens") and queries:
        check_labels("tokens", values["tokens"], queries.shape[-2], "query", reading)


def _with_equations(reading: Reading, system: System | None, root: MappingNode) -> Reading:
    """The reading with the places of what equations make in the place of an array."""
    if system is None:
        return reading
    places = dict.fromkeys(ARRAYS, root.at)
    for own in system.equations:
        if own.name in ARRAYS:
            places[own.name] = own.at
    return replace(reading, places={**places, **reading.places})


def _fitting_arrays(
    values: Values,
    positions: tuple[Position, ...],
    system: System | None,
    reading: Reading,
) -> tuple[dict[str, Matrix], Mapping[str, Shaped], bool]:
    """All arrays by name, in the order of `ARRAYS`, with heads on an axis of their own, once they
    are known to fit together; the same with those that equations make; and whether queries had
    their heads side by side in columns.
    """
    read = {**values, **(values.get("past") or {})}
    for position in positions:
        read |= position.arrays
    whole = {name: read[name] for name in ARRAYS if isinstance(read.get(name), Matrix)}
    check_products(whole, reading)
    heads, kv_heads = values.get("heads"), values.get("kv_heads")
    check_widths(whole, heads, kv_heads, values["score"], reading)
    given, joined = split_heads(whole, heads, kv_heads, reading)
    reading.errors.stop()
    sized: Mapping[str, Shaped] = given
    replaced: frozenset[str] = frozenset()
    if system is not None:
        from attncli.problem.parts.made import with_made

        sized = with_made(given, system)
        replaced = frozenset(system.replaced)
        joined = joined or ("Q" in replaced and heads is not None)
        check_heads_are_there(sized, heads, reading)
    check_leading(sized, reading)
    check_shapes(sized, values["score"], reading, replaced)
    reading.errors.stop()
    for position in positions:
        position.check(sized, reading)
    check_per_head(sized, reading)
    reading.errors.stop()
    check_array_sizes(sized, reading)
    return given, sized, joined


def _places_of(given: dict[str, Matrix], reading: Reading) -> dict[str, Place]:
    """Where arrays that have a key of their own stand in the file; nowhere for values of Python."""
    source = reading.errors.source
    if not source.name:
        return {}
    stand = {name: reading.places[name] for name in given if name in reading.places}
    return {name: _kept_place(source, at) for name, at in stand.items()}


def _kept_place(source: Source, at: int) -> Place:
    """A place as a problem keeps it: without a line that nobody could read.

    JSON on one line is as long as its file. `Source.place` would copy all of it.
    """
    text = source.text
    begin = text.rfind("\n", 0, at) + 1
    end_of_short_line = begin + LONGEST_LINE_KEPT
    is_last = len(text) <= end_of_short_line
    if is_last or text.find("\n", at, end_of_short_line + 1) >= 0:
        return source.place(at)
    line = text.count("\n", 0, begin) + 1
    return Place(source.name, line, at - begin + 1)


def _labels(
    values: Values, given: Mapping[str, Shaped], reading: Reading
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of the queries and of the keys."""
    n, m = sizes(given)
    if "tokens" in values:
        check_labels("tokens", values["tokens"], n, "query", reading)
    if "context_tokens" in values:
        check_labels("context_tokens", values["context_tokens"], m, "key", reading)
    for name in ("X", "Q"):
        _check_order(name, values.get("tokens"), reading)
    tokens = values.get("tokens") or tuple(f"t{i}" for i in range(1, n + 1))
    return tokens, values.get("context_tokens") or key_labels(tokens, given)


def _check_order(name: str, tokens: tuple[str, ...] | None, reading: Reading) -> None:
    """Report a pasted table whose rows have the names of the tokens in another order."""
    names = reading.row_names.get(name)
    message = other_order(names, tokens, "rows") if names and tokens else ""
    if message:
        reading.wrong(name, message, "bring its rows, or the tokens, into the same order")


def _numbers_of_one_head(
    given: dict[str, Matrix], sized: Mapping[str, Shaped]
) -> dict[str, Scalar]:
    """What is given per head, taken out of the arrays as a number where there is a single head."""
    if axes_of(sized).heads:
        return {}
    return {name: given.pop(name).only_number for name in PER_HEAD if name in given}


# How each kind of key is read.


def read_scale(value: Value) -> Any:
    """A number, or the words none and default; None after reporting anything else."""
    if isinstance(value.node, Leaf):
        if value.text in SCALE_WORDS:
            return value.text
        if value.text.isalpha() or is_null(value.node):
            what = describe(value.node)
            value.wrong(
                f"must be a number or none, not {what}",
                "write a number, or none for unscaled scores",
            )
            return None
    return read_scalar(value)


def _read_positive(value: Value) -> Scalar | None:
    help = "write a number such as 50"
    number = read_scalar(value, help=help)
    if number is not None and number.value <= 0:
        value.wrong(f"must be greater than 0, not {describe(value.node)}", help)
    return number


def _read_base(value: Value) -> Scalar | None:
    if isinstance(value.node, Leaf) and value.text == "e":
        return None
    help = "write e, or a number such as 2 or 3"
    number = read_scalar(value, help=help)
    if number is not None and number.value <= 1:
        value.wrong(f"must be greater than 1, not {describe(value.node)}", help)
    return number


def _read_past(value: Value) -> dict[str, Matrix | None] | None:
    """The arrays of a cache, by the names of their steps; None after reporting what is wrong."""
    if not isinstance(value.node, MappingNode):
        value.wrong(f"must be {{K: …, V: …}}, not {describe(value.node)}", _PAST_HELP)
        return None
    whole = require_keys(value, ("K", "V"))
    for name in "KV":
        if whole and name not in value.keys:
            value.wrong(
                f"has no {name}: a cache holds a key and a value of every earlier token", _PAST_HELP
            )
            return None
    return {
        f"past_{name}": read_matrix(value.key(name), deepest=MOST_AXES)
        for name in "KV"
        if name in value.keys
    }


def _read_sink(value: Value) -> Scalar | Matrix | None:
    if not written_out(value, rank=1):
        return None
    return read_scalar(value) if isinstance(value.node, Leaf) else read_matrix(value, rank=1)


def _read_mask(value: Value, convention: Convention = OWN) -> MaskReading:
    # All forms of masks come with it, and most problems have none.
    from attncli.problem.parts.mask_reader import read_mask

    return read_mask(value, convention)


def _read_arrays(value: Value) -> Any:
    # What reads equations comes with it, and most problems have none.
    from attncli.problem.parts.equations import read_arrays

    return read_arrays(value)


def _read_equations(value: Value) -> Any:
    from attncli.problem.parts.equations import read_equations

    return read_equations(value)


def _read_result(value: Value) -> Any:
    from attncli.problem.parts.equations import read_result

    return read_result(value)


def _has_own_result(values: Values) -> bool:
    """Whether the gradient starts from another step than the output as attention has it."""
    if values.get("result") is not None and values["result"][0] != "output":
        return True
    return any(own.name == "output" for own in values.get("equations") or ())


def _system_of(values: Values, reading: Reading, root: MappingNode) -> System | None:
    """The equations of the problem; None where it has none."""
    if not any(values.get(key) for key in ("arrays", "equations", "result")):
        return None
    from attncli.problem.parts.equations import System

    equations, arrays = values.get("equations") or (), values.get("arrays") or ()
    source = reading.errors.source
    start = _kept_place(source, root.at) if source.name else None
    if values.get("result") is None:
        return System(equations, arrays, start=start)
    result, place = values["result"]
    return System(equations, arrays, result, place, start)


READERS: dict[Kind, Callable[..., Any]] = {
    "text": read_title,
    "labels": read_labels,
    "entries": lambda value: read_matrix(value, deepest=3),
    "heads": lambda value: read_matrix(value, deepest=MOST_AXES),
    "matrix": read_matrix,
    "vector": lambda value: read_matrix(value, rank=1),
    "score": lambda value: read_word(value, SCORES),
    "scale": read_scale,
    "positive": _read_positive,
    "base": _read_base,
    "mask": _read_mask,
    "past": _read_past,
    "position": read_positions,
    "sink": _read_sink,
    "loss": read_loss,
    "arrays": _read_arrays,
    "equations": _read_equations,
    "step": _read_result,
    "result": read_like_result,
    "count": lambda value: read_integer(
        value, least=1, help="write how many heads there are, such as 8"
    ),
}
