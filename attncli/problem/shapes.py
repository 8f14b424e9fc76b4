"""Checks that all shapes fit together: products, biases, scores, labels and masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attncli.english import count, shape_text
from attncli.problem.axes import input_of, output_shape, rows, source_of
from attncli.problem.commas import advice_at
from attncli.problem.layer import check_leading, check_output, check_past
from attncli.problem.model import Matrix
from attncli.problem.places import Places
from attncli.problem.scores import check_score
from attncli.problem.values import ErrorCollector
from attncli.problem.written import transpose_advice


def check_products(given: Mapping[str, Matrix], at: Places, errors: ErrorCollector, letters: str = "QKV") -> None:
    """Every projection fits what it projects, and every bias its projection, whatever heads they hold.

    Passed over is what could not be read and so is not `given`, though it has a place.
    """
    for letter in letters:
        if letter not in at and given.keys() >= {input_of(letter, at), f"W_{letter}"}:
            _check_product(letter, given, at, errors)


def check_shapes(given: Mapping[str, Matrix], at: Places, score: str, errors: ErrorCollector) -> None:
    """What Q, K and V are to each other, with their heads apart, and what comes before and after them."""
    check_leading(given, at, errors)
    m, values = rows("K", given), source_of("V", given)
    if (found := rows("V", given)) != m:
        keys = source_of("K", given)
        errors.add(
            f"has {count(found, 'row')} where {keys} has {m}", at=at[values], path=values,
            help="every key needs a value: K and V have equally many rows",
        )  # fmt: skip
    if "past_K" in given:
        check_past(given, at, errors)
    check_score(given, score, at, errors)
    check_output(given, at, errors)


def check_labels(name: str, labels: Sequence[str], number: int, rows: str, at: int, errors: ErrorCollector) -> None:
    """As many labels as rows."""
    if len(labels) != number:
        errors.add(
            f"{count(len(labels), 'label')} for {count(number, rows)}", at=at, path=name,
            help=f"give one label each, or remove {name} for numbered ones",
        )  # fmt: skip


def check_gradient(
    gradient: Matrix | None, given: Mapping[str, Matrix], joined: bool, at: Places, errors: ErrorCollector
) -> None:
    """The gradient of the output has one number for each of the output's."""
    expected = output_shape(given, joined)
    if gradient is not None and gradient.shape != expected:
        errors.add(
            f"is {shape_text(gradient.shape)}, but the output is {shape_text(expected)}",
            at=at["d_output"], path="d_output",
            help="give one number for each of the output's, or remove d_output for all ones",
        )  # fmt: skip


def _check_product(letter: str, given: Mapping[str, Matrix], at: Places, errors: ErrorCollector) -> None:
    source, weights, bias = input_of(letter, given), f"W_{letter}", f"b_{letter}"
    entered, (rows, columns) = given[source], given[weights].shape
    if entered.shape[-1] != rows:
        errors.add(
            f"{source} is {shape_text(entered.shape)} and {weights} is {rows}×{columns}: "
            f"{source} has {count(entered.shape[-1], 'column')}, {weights} {count(rows, 'row')}",
            at=at[weights], path=weights,
            help=f"{letter} = {source}·{weights} needs them equal"
            + transpose_advice(weights, columns == entered.shape[-1], errors)
            + advice_at(errors, at, source, weights),
        )  # fmt: skip
    if bias in given and (length := given[bias].shape[0]) != columns:
        errors.add(
            f"has {count(length, 'number')}, but {letter} has {count(columns, 'column')}",
            at=at[bias], path=bias,
            help=f"give one number for each column of {weights}" + advice_at(errors, at, bias, weights),
        )  # fmt: skip
