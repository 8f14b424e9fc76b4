"""Checks that all shapes fit together: products, biases, scores, labels and masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attncli.english import count, listed
from attncli.equation.shapes import shape_text
from attncli.problem.axes import Axes, axes_of, rows, sizes, width
from attncli.problem.commas import comma_advice
from attncli.problem.layer import check_leading, check_output, check_past
from attncli.problem.masks import Placed
from attncli.problem.model import Additive, Hide, Keep, Lengths, Matrix, Padding
from attncli.problem.places import Places
from attncli.problem.projections import SCORE_INPUTS, input_of
from attncli.problem.report import Report
from attncli.problem.written import transpose_advice

_MASK_HELP = "a mask may be heads × n × m or batch × heads × n × m; an axis before the rows may also be 1, for all"


def check_products(given: Mapping[str, Matrix], at: Places, report: Report) -> None:
    """Every projection fits what it projects, and every bias its projection, whatever heads they hold."""
    for letter in "QKV":
        if letter not in given:
            _check_product(letter, given, at, report)


def check_shapes(given: Mapping[str, Matrix], at: Places, score: str, report: Report) -> None:
    """What Q, K and V are to each other, with their heads apart, and what comes before and after them."""
    check_leading(given, at, report)
    m, values = rows("K", given), "V" if "V" in given else input_of("V", given)
    if (found := rows("V", given)) != m:
        keys = "K" if "K" in given else input_of("K", given)
        report.add(
            f"has {count(found, 'row')} where {keys} has {m}", at=at[values], path=values,
            help="every key needs a value: K and V have equally many rows",
        )  # fmt: skip
    if "past_K" in given:
        check_past(given, at, report)
    _check_score(given, width("Q", given), width("K", given), score, at, report)
    check_output(given, at, report)


def check_labels(name: str, labels: Sequence[str], number: int, rows: str, at: int, report: Report) -> None:
    """As many labels as rows."""
    if len(labels) != number:
        report.add(
            f"{count(len(labels), 'label')} for {count(number, rows)}", at=at, path=name,
            help=f"give one label each, or remove {name} for numbered ones",
        )  # fmt: skip


def check_mask(parts: Sequence[Placed], given: Mapping[str, Matrix]) -> None:
    """Masks fit n queries and m keys exactly, a row or column is never repeated to fit; heads and entries may be."""
    (n, m), axes = sizes(given), axes_of(given)
    for placed in parts:
        match placed.part:
            case Padding(exists=exists) if len(exists[0]) != m:
                message = f"{count(len(exists[0]), 'entry')} for {count(m, 'key')}"
                help = "give 1 or 0 for every key"
            case Lengths(lengths=lengths) if max(lengths) > m:
                message = f"{max(lengths)} keys cannot exist where there are {m}"
                help = f"write a number from 0 to {m}"
            case Padding(exists=several) | Lengths(lengths=several) if len(several) not in (1, axes.batch or 1):
                message = f"{len(several)} of them for {count(axes.batch or 1, 'entry')} of the batch"
                help = "give one for each entry of the batch, or one for all"
            case Keep(matrix=array) | Hide(matrix=array):
                message, help = _mask_shape(array.shape, n, m, axes)
            case Additive(matrix=matrix):
                message, help = _mask_shape(matrix.value.shape, n, m, axes)
            case _:
                continue
        if message:
            placed.spot.wrong(message, help)


def _mask_shape(shape: tuple[int, ...], n: int, m: int, axes: Axes) -> tuple[str, str]:
    """What is wrong with the shape of a mask, and what helps; empty where nothing is."""
    if shape[-2:] != (n, m):
        turned = "; it may be transposed" if shape[-2:] == (m, n) else ""
        return (
            f"is {shape_text(shape)}, but {count(n, 'query')} and {count(m, 'key')} need {n}×{m}",
            f"give one row per query and one column per key{turned}",
        )
    leading = (axes.batch or 1, axes.heads or 1)[4 - len(shape) :]
    wrong = any(found not in (1, length) for found, length in zip(shape[:-2], leading, strict=True))
    fitting = shape_text((*leading, n, m))
    return (f"is {shape_text(shape)} where {fitting} is needed", _MASK_HELP) if wrong else ("", "")


def _check_product(letter: str, given: Mapping[str, Matrix], at: Places, report: Report) -> None:
    source, weights, bias = input_of(letter, given), f"W_{letter}", f"b_{letter}"
    entered, (rows, columns) = given[source].value, given[weights].value.shape
    if entered.shape[-1] != rows:
        report.add(
            f"{source} is {shape_text(entered.shape)} and {weights} is {rows}×{columns}: "
            f"{source} has {count(entered.shape[-1], 'column')}, {weights} {count(rows, 'row')}",
            at=at[weights], path=weights,
            help=f"{letter} = {source}·{weights} needs them equal"
            + transpose_advice(weights, columns == entered.shape[-1], report)
            + _commas(report, at, source, weights),
        )  # fmt: skip
    if bias in given and (length := given[bias].value.shape[0]) != columns:
        report.add(
            f"has {count(length, 'number')}, but {letter} has {count(columns, 'column')}",
            at=at[bias], path=bias,
            help=f"give one number for each column of {weights}" + _commas(report, at, bias, weights),
        )  # fmt: skip


def _check_score(given: Mapping[str, Matrix], d_q: int, d_k: int, score: str, at: Places, report: Report) -> None:
    if score in ("scaled_dot", "dot"):
        if d_q != d_k:
            key = "K" if "K" in given else "W_K"
            report.add(
                f"a key has {count(d_k, 'number')} and a query {d_q}: their dot product needs equally many",
                at=at[key], path=key,
                help=f"make them equal, or write score: multiplicative with a W_a of {d_q}×{d_k}"
                + _commas(report, at, *(name for name in ("Q", "W_Q", "K", "W_K") if name in given)),
            )  # fmt: skip
        return
    if missing := [name for name in SCORE_INPUTS[score] if name not in given]:
        report.add(
            f"score: {score} needs {listed(missing)}", at=at["score"],
            help=f"give {listed([_said_shape(name, given, d_q, d_k) for name in missing])}",
        )  # fmt: skip
        return
    width = given["v"].value.shape[0] if score == "additive" else 0
    needs = {"W_a": (d_q, d_k)} if score == "multiplicative" else {"W_1": (d_q, width), "W_2": (d_k, width)}
    for name, shape in needs.items():
        if given[name].value.shape != shape:
            report.add(
                f"is {shape_text(given[name].value.shape)} where {shape_text(shape)} is needed", at=at[name], path=name,
                help=f"a query has {count(d_q, 'number')}, a key {d_k}" + (f", v {width}" if width else ""),
            )  # fmt: skip


def _said_shape(name: str, given: Mapping[str, Matrix], d_q: int, d_k: int) -> str:
    """Which shape weights of the score would have that are missing; the length of v is seen from the others."""
    length = next((given[each].value.shape[-1] for each in ("v", "W_1", "W_2") if each in given), None)
    if name == "v":
        return f"v of {count(length, 'number') if length else 'any length'}"
    rows, columns = d_k if name == "W_2" else d_q, d_k if name == "W_a" else length
    return f"{name} of {rows}×{columns}" if columns else f"{name} of {rows} × the length of v"


def _commas(report: Report, at: Places, *names: str) -> str:
    """Advice for the first of these that seems to be written with decimal commas."""
    text = report.source.text
    ends = (min((place for place in at.values() if place > at[name]), default=len(text)) for name in names)
    written = (text[at[name] : end] for name, end in zip(names, ends, strict=True))
    return next(filter(None, map(comma_advice, written)), "")
