"""Checks that the arrays of a problem belong together: none is missing or unused, and lengths that
meet are equal.

Equal letters in the cells of `keys.py` say which lengths meet. Nearly every check has its own
words, for the place to blame and what helps. What the equations of a plan would refuse besides is a
fault of ours.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from attncli.english import count, listed, shape_text
from attncli.equation.indices import INDICES
from attncli.errors import input_error
from attncli.problem.keys import ARRAYS, SCORES, array_path
from attncli.problem.limits import ELEMENT_LIMIT, TOKEN_LIMIT
from attncli.problem.matrix import Matrix
from attncli.problem.model import Problem
from attncli.problem.parts.axes import (
    Shaped,
    axes_of,
    columns_from,
    input_of,
    output_shape,
    past_length,
    rows,
    rows_from,
    sizes,
    width,
)
from attncli.problem.text.decimal_commas import comma_advice_for
from attncli.problem.text.nodes import truth
from attncli.problem.text.reading import Reading

if TYPE_CHECKING:
    from attncli.problem.parts.equations import System

WITHOUT_SCORES = "attncli compute --steps output --detail brief does without it"
_WORDS = {"Q": "queries", "K": "keys", "V": "values"}
# Other checks have words of their own for these, as _check_cells has not.
_TOLD_OTHERWISE = {
    "X",
    "context",
    "W_O",
    "b_O",
    *(f"{before}{letter}" for before in ("", "W_", "b_", "past_") for letter in _WORDS),
    *(array.name for score in SCORES.values() for array in score.arrays),
}


def check_sources(
    score: str | None, reading: Reading, start: int, system: System | None = None
) -> None:
    """There is something to make Q, K and V from, and nothing is unused; `start` is the place for
    what is missing.

    Where a `system` of equations makes or reads something itself, a plan tells what is missing.

    `score` is None where it could not be read. What it needs and lacks is reported with its shape,
    later.
    """
    given = {name for name in ARRAYS if name in reading.nodes and name != "sink"}
    for letter in "QKV":
        if system is None:
            _check_letter(letter, given, reading, start)
        elif letter in given:
            _check_given(letter, given, reading)
    used = {input_of(letter, given) for letter in "QKV" if letter not in given}
    if system is not None:
        used |= system.read
    for name in ("X", "context"):
        if name in given and name not in used:
            direct = "Q, K and V are" if name == "X" and "context" not in given else "K and V are"
            if name == "X" and "context" in given:
                direct = "Q is"
            reading.wrong(name, f"is not used: {direct} given directly", f"remove {name}")
    for kind, other in SCORES.items() if score else ():
        for name in (array.name for array in other.arrays):
            if score != kind and name in given and name not in used:
                reading.wrong(
                    name,
                    f"is used only with score: {kind}",
                    f"remove {name}, or write score: {kind}",
                )


_OTHER_WIDTHS = "a key has {} and a query {}: a dot product needs the same number"


def check_products(given: Mapping[str, Shaped], reading: Reading, letters: str = "QKV") -> None:
    """Every projection fits what it projects, and every bias its projection, whatever heads they
    hold.

    Passed over is what could not be read and so is not `given`, though it has a place.
    """
    for letter in letters:
        if letter not in reading.places and given.keys() >= {
            input_of(letter, reading.places),
            f"W_{letter}",
        }:
            _check_product(letter, given, reading)


def check_shapes(
    given: Mapping[str, Shaped],
    score: str,
    reading: Reading,
    replaced: frozenset[str] = frozenset(),
) -> None:
    """What Q, K and V are to each other, with their heads apart, and what comes before and after
    them.

    What equations of the problem have `replaced` may fit in other ways, which its plan checks.
    """
    m, values = rows("K", given), rows_from("V", given)
    may_differ = not replaced.isdisjoint(("K", "V", "heads_output", "output"))
    # Of a K that is turned, one error is enough.
    is_turned = "Q" in given and _is_turned("K", given["Q"].shape[-1], given)
    if (found := rows("V", given)) != m and not may_differ and not is_turned:
        keys = rows_from("K", given)
        reading.wrong(
            values,
            f"has {count(found, 'row')}, but {keys} has {m}",
            "every key needs a value: K and V must have the same number of rows",
        )
    # An equation may be called as one of the two, where there is no cache.
    if "past_K" in given and "past_V" in given:
        _check_past(given, reading)
    _check_score(given, score, reading, replaced)
    if replaced.isdisjoint(("V", "heads_output", "concat", "output")):
        _check_output(given, reading)
    _check_cells(given, reading)


def check_labels(
    name: str, labels: Sequence[str], number: int, rows: str, reading: Reading
) -> None:
    """As many labels as rows."""
    if len(labels) != number:
        reading.wrong(
            name,
            f"{count(len(labels), 'label')} for {count(number, rows)}",
            f"give one label for each, or remove {name} to get numbered labels",
        )


def check_gradient(
    gradient: Matrix | None, given: Mapping[str, Shaped], joined: bool, reading: Reading
) -> None:
    """The gradient of the output has one number for each of the output's."""
    expected = output_shape(given, joined)
    if gradient is not None and gradient.shape != expected:
        found = shape_text(gradient.shape) or "one number"
        reading.wrong(
            "d_output",
            f"is {found}, but the output is {shape_text(expected)}",
            "give one number for each number of the output, or remove d_output to use all ones",
        )


def check_array_sizes(given: Mapping[str, Shaped], reading: Reading) -> None:
    """Ends the reading where there are too many tokens, or where an array on the way would be too
    large.

    What has a number for each query and key is not made by all who read a problem: who makes it
    calls `require_scores`.
    """
    n, m = sizes(given)
    for name, tokens in ((rows_from("Q", given), n), (rows_from("K", given), m)):
        if tokens > TOKEN_LIMIT:
            reading.wrong(
                name,
                f"has {count(tokens, 'row')}, one for each token",
                f"at most {TOKEN_LIMIT:,} tokens are possible",
            )
            reading.errors.stop()
    makers = {letter: columns_from(letter, given) for letter in "QKV"}
    d_q, d_k, d_v = (width(letter, given) for letter in "QKV")
    made: list[tuple[str, str, tuple[int, ...]]] = [
        (makers["Q"], "Q", (n, d_q)),
        (makers["K"], "K", (m, d_k)),
        (makers["V"], "V", (m, d_v)),
        (makers["V"], "the output", (n, d_v)),
    ]
    if "W_a" in given:
        made.append(("W_a", "Q·W_a", (n, given["W_a"].shape[1])))
    if "W_O" in given:
        made.append(("W_O", "the output", (n, given["W_O"].shape[1])))
    for name, what, shape in made:
        if wrong := _too_large(what, shape, given):
            reading.wrong(name, *wrong)
            reading.errors.stop()


def require_scores(problem: Problem, advice: str = WITHOUT_SCORES) -> None:
    """Raises AttncliError (exit 3) where an array with a number for each query and key would be too
    large to be held, with its place in the file.

    It is called where such arrays are made. `advice` is the end of the help.
    """
    if too_large := _scores_too_large(problem.sized):
        name, message, help = too_large
        place = problem.places.get(name)
        raise input_error(message, path=name, place=place, help=f"{help}; {advice}")


def transpose_advice(name: str, fits_turned: bool, reading: Reading) -> str:
    """The end of a help line for weights whose rows and columns may be swapped; empty where that
    would not help.

    Of a part that was cut out of columns that are rows, the shape does not tell whether the whole
    would fit.
    """
    reference = reading.stored(name)
    if not fits_turned and (reference is None or "part" not in reference.keys):
        return ""
    if reference is None:
        return f"; transpose {name} if it is laid out as in torch.nn.Linear"
    if "transpose" in reference.keys and truth(reference.values["transpose"]):
        return "; remove transpose: true if it is not laid out as in torch.nn.Linear"
    return "; write transpose: true if it is laid out as in torch.nn.Linear"


def what_is_missing(letter: str, there: Collection[str]) -> tuple[str, str, str] | None:
    """The key to blame for queries, keys or values that cannot be made of what is there, what is
    missing, and what to give; None where all is there. No key is to blame for one that is not
    there.
    """
    weights, source = f"W_{letter}", input_of(letter, there)
    if letter in there or {weights, source} <= {*there}:
        return None
    if weights in there:
        return (
            weights,
            f"there is no {source} to project",
            f"give {source}, or {letter} itself instead of {weights}",
        )
    needed = f"{weights} to project {source}" if source in there else f"X and {weights}"
    if letter != "Q" and source not in there:
        needed = f"X (or context) and {weights}"
    return "", f"the {_WORDS[letter]} are missing", f"give {letter}, or {needed}"


def _check_letter(letter: str, given: Collection[str], reading: Reading, start: int) -> None:
    if letter in given:
        _check_given(letter, given, reading)
    elif missing := what_is_missing(letter, given):
        path, message, help = missing
        at = reading.places[path] if path else start
        reading.errors.add(message, at=at, path=path, help=help)


def _check_given(letter: str, given: Collection[str], reading: Reading) -> None:
    """What would make Q, K or V is not there beside it."""
    weights, bias, source = f"W_{letter}", f"b_{letter}", input_of(letter, given)
    if weights in given:
        reading.errors.add(
            f"both {letter} and {weights} are given",
            at=max(reading.places[letter], reading.places[weights]),
            help=(
                f"remove {weights} to use {letter} as it is, or remove {letter} to project {source}"
            ),
        )
    elif bias in given:
        reading.wrong(
            bias,
            f"is not added to anything: {letter} is given directly",
            f"add it to {letter} yourself, or give {weights} instead of {letter}",
        )


def _check_product(letter: str, given: Mapping[str, Shaped], reading: Reading) -> None:
    source, weights, bias = input_of(letter, given), f"W_{letter}", f"b_{letter}"
    entered, (rows, columns) = given[source], given[weights].shape
    if entered.shape[-1] != rows:
        reading.wrong(
            weights,
            f"{source} is {shape_text(entered.shape)} and {weights} is {rows}×{columns}: {source}"
            f" has {count(entered.shape[-1], 'column')}, but {weights} has {count(rows, 'row')}",
            f"{letter} = {source}·{weights} needs these two to be equal"
            + transpose_advice(weights, columns == entered.shape[-1], reading)
            + comma_advice_for(reading, source, weights),
        )
    if bias in given and (length := given[bias].shape[0]) != columns:
        reading.wrong(
            bias,
            f"has {count(length, 'number')}, but {letter} has {count(columns, 'column')}",
            f"give one number for each column of {weights}"
            + comma_advice_for(reading, bias, weights),
        )


def _check_past(given: Mapping[str, Shaped], reading: Reading) -> None:
    """A cache is as wide as the new keys and values, and holds a value for every key."""
    for name in "KV":
        cached, new = given[f"past_{name}"].shape[-1], width(name, given)
        if cached != new:
            heads = axes_of(given).kv_heads or 1
            each = f", in each of {heads} heads" if heads > 1 else ""
            reading.wrong(
                f"past.{name}",
                f"has rows of {cached}, but {name} has rows of {new}{each}",
                "the rows of the cache come before the new rows, so they must be equally long",
            )
    keys, values = (given[f"past_{name}"].shape[-2] for name in "KV")
    if keys != values:
        reading.wrong(
            "past.V",
            f"has {count(values, 'row')}, but past.K has {keys}",
            "every key of the cache needs a value",
        )


def _check_score(
    given: Mapping[str, Shaped], score: str, reading: Reading, replaced: frozenset[str]
) -> None:
    """A query is as long as a key where the score needs that, and the arrays of the score are there
    and fit them.
    """
    arrays = {array.name: array.letters for array in SCORES[score].arrays}
    known = _lengths(given)
    if SCORES[score].equal_widths and replaced.isdisjoint(("Q", "K", "scores")):
        _check_equal_widths(given, known, reading)
    # The last array with another letter sets its length.
    lengths = dict(known)
    for name in reversed([name for name in arrays if name in given]):
        for letter, length in zip(arrays[name], given[name].shape, strict=True):
            lengths.setdefault(letter, int(length))
    if missing := [name for name in arrays if name not in given]:
        said = [f"{name} of {_needed_shape(name, score, lengths)}" for name in missing]
        reading.errors.add(
            f"score: {score} needs {listed(missing)}",
            at=reading.places["score"],
            help=f"give {listed(said)}",
        )
        return
    others = [
        f", {list(arrays)[-1]} {length}"
        for letter, length in lengths.items()
        if letter not in known
    ]
    for name, letters in arrays.items():
        found, needed = given[name].shape, tuple(lengths[letter] for letter in letters)
        if found != needed:
            reading.wrong(
                name,
                f"is {shape_text(found)}, but {shape_text(needed)} is needed",
                f"a query has {count(lengths['p'], 'number')}, a key {lengths['k']}"
                + "".join(others),
            )


def _is_turned(name: str, columns: int, given: Mapping[str, Shaped]) -> bool:
    """Whether a matrix that is given directly would fit with its rows as columns."""
    if name not in given or len(given[name].shape) != 2:
        return False
    down, across = given[name].shape
    return down == columns and across == rows("V", given)


def _check_equal_widths(
    given: Mapping[str, Shaped], lengths: Mapping[str, int], reading: Reading
) -> None:
    d_q, d_k = lengths["p"], lengths["k"]
    if d_q != d_k:
        key = columns_from("K", given)
        if _is_turned("K", d_q, given):
            help = f"K seems to be transposed: each row is a key, so write it as {d_k}×{d_q}"
            reading.wrong(key, _OTHER_WIDTHS.format(count(d_k, "number"), d_q), help)
            return
        reading.wrong(
            key,
            _OTHER_WIDTHS.format(count(d_k, "number"), d_q),
            f"make them equal, or write score: multiplicative with a W_a of {d_q}×{d_k}"
            + comma_advice_for(
                reading, *(name for name in ("Q", "W_Q", "K", "W_K") if name in given)
            ),
        )


def _needed_shape(name: str, score: str, lengths: Mapping[str, int]) -> str:
    """The shape that a missing array would have; a length that no other array tells goes by the
    array that sets it.
    """
    arrays = {array.name: array.letters for array in SCORES[score].arrays}
    axes = arrays[name]
    known = [lengths[axis] for axis in axes if axis in lengths]
    if len(known) == len(axes):
        return shape_text(tuple(known)) if len(known) > 1 else count(known[0], "number")
    # The last array of a score has all its letters.
    setting = [*arrays][-1]
    free = "any length" if name == setting else f"the length of {setting}"
    sides = [str(lengths.get(axis, free)) for axis in axes]
    return " × ".join(sides)


def _check_output(given: Mapping[str, Shaped], reading: Reading) -> None:
    """W_O projects all heads side by side."""
    heads = axes_of(given).number
    wide = heads * width("V", given)
    if "W_O" in given and (found := given["W_O"].shape)[0] != wide:
        said = f"{heads} heads of {count(width('V', given), 'value')}" if heads > 1 else "a value"
        turned = transpose_advice("W_O", found[1] == wide, reading)
        reading.wrong(
            "W_O",
            f"is {shape_text(found)}, but {said} {'have' if heads > 1 else 'has'}"
            f" {count(wide, 'number')}",
            f"W_O needs {count(wide, 'row')}{turned}",
        )
    if "b_O" in given:
        if "W_O" not in given:
            reading.wrong("b_O", "is not added to anything", "give W_O, or remove b_O")
        elif (length := given["b_O"].shape[0]) != (columns := given["W_O"].shape[1]):
            reading.wrong(
                "b_O",
                f"has {count(length, 'number')}, but W_O has {count(columns, 'column')}",
                "give one number for each column of W_O",
            )


def _check_cells(given: Mapping[str, Shaped], reading: Reading) -> None:
    """What the letters of their cells say of arrays that no other check is for; a letter of their
    own goes by the first that has it.
    """
    lengths = _lengths(given) | {
        "u": past_length(given),
        "e": axes_of(given).number * width("V", given),
    }
    for name, matrix in given.items():
        letters = ARRAYS[name].letters
        found = matrix.shape[matrix.ndim - len(letters) :]
        needed = tuple(
            lengths.setdefault(letter, length)
            for letter, length in zip(letters, found, strict=True)
        )
        if found != needed and name not in _TOLD_OTHERWISE:
            axes = listed([INDICES[letter].meaning for letter in letters])
            reading.wrong(
                array_path(name),
                f"is {shape_text(found)}, but {shape_text(needed)} is needed",
                f"its axes are {axes}",
            )


def _lengths(given: Mapping[str, Shaped]) -> dict[str, int]:
    """How long the axes are along which queries, keys and values run, by their letters."""
    (n, m), (d_q, d_k, d_v) = sizes(given), (width(letter, given) for letter in "QKV")
    return {"i": n, "j": m, "p": d_q, "k": d_k, "c": d_v}


def _scores_too_large(given: Mapping[str, Shaped]) -> tuple[str, str, str] | None:
    """The array to blame, what is wrong and what helps, where a number for each query and key would
    be too many.
    """
    n, m = sizes(given)
    if wrong := _too_large("the matrix of scores", (n, m), given):
        return rows_from("K", given), *wrong
    # The additive score makes q·W_1 + k·W_2 for every query and key at once.
    if "v" in given and (
        wrong := _too_large("what v is multiplied by", (n, m, given["v"].shape[0]), given)
    ):
        return "v", *wrong
    return None


def _too_large(
    what: str, shape: tuple[int, ...], given: Mapping[str, Shaped]
) -> tuple[str, str] | None:
    """What is wrong with an array that has this shape in each head and entry, and what helps; None
    where it fits.
    """
    axes = axes_of(given)
    whole = (*(length for length in (axes.batch or 1, axes.number) if length > 1), *shape)
    if prod(whole) <= ELEMENT_LIMIT:
        return None
    message = f"{what} would be {shape_text(whole)}, which is {prod(whole):,} numbers"
    return message, f"an array has at most {ELEMENT_LIMIT:,} numbers"
