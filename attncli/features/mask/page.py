"""The page of a function of FlexAttention: its form, its mask, and where else that holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attncli.attention.changes_of_scores import SCORES
from attncli.english import count, grouped, listed
from attncli.features.mask.alibi import Slopes
from attncli.features.mask.data import study_data
from attncli.features.mask.positions import Positions
from attncli.features.mask.problem import mask_of, problem_of
from attncli.features.mask.shortest import Check, is_whole
from attncli.features.mask.study import Study
from attncli.features.mask.words import (
    NO_MASK,
    added_words,
    flow,
    form_words,
    is_matrix,
    mask_words,
    score_keys,
    without_numbers,
)
from attncli.page.derivation import derivation
from attncli.page.document import Block, Document, Heading, Listing, Paragraph, Table, Text
from attncli.page.printer import format_number
from attncli.page.view import View
from attncli.problem.saving import mask_as_yaml
from attncli.tracing import run

# What a score_mod does is seen in these steps, if a problem has them.
STEPS = ("bias", "mask")
# What a function without a form gives is told for so many scores.
SCORES_SHOWN = (-7.0, -1.0, 0.0, 1.0, 3.0, 30.0)
EQUATIONS = (
    "An equation of your own can say what it does: see docs/how-to/write-your-own-attention.md."
)
# A mask of more characters would fill the page, which shows its matrix below.
MOST_WRITTEN = 240
WITHOUT_NUMBERS = "-o mask.yaml writes a problem with the whole mask."
SCALED = (
    "FlexAttention has multiplied the scores by its own scale before, 1/√d_k unless it is told"
    " another. The scale of a problem is the product of both."
)


def study_page(study: Study, view: View) -> Document:
    """The page; its data is that of `attncli mask --format json`."""
    title = f"{study.name}: a {study.kind}"
    return Document(title, tuple(_blocks(study, view)), lambda: study_data(study))


def _blocks(study: Study, view: View) -> Iterator[Block]:
    yield from map(_paragraph, _answer(study))
    for said in study.remarks:
        yield Paragraph((said,), "warning")
    if not study.has_form:
        yield from _samples(study, view.precision)
        return
    yield from _of_heads(study)
    yield from _in_a_problem(study)
    yield from _elsewhere(study)
    trace = run(problem_of(study), precision=view.precision)
    shown = [name for name in STEPS if name in trace.steps]
    if shown:
        chosen = View(view.detail, view.precision, steps=shown, only_ends=view.only_ends)
        yield from derivation(trace, chosen).blocks


def _paragraph(said: str) -> Paragraph:
    return Paragraph((said,))


def _answer(study: Study) -> Iterator[str]:
    """What the function is, and how much it shows."""
    if not study.has_form:
        assert study.score is not None
        yield study.score.why_not if study.is_broken else f"{study.score.why_not} {EQUATIONS}"
        return
    shown = int(study.visible.sum())
    said = f"{grouped(shown)} of {count(study.visible.size, 'pair')} of a query and a key"
    sees = f"{said} are visible"
    if shown == study.visible.size:
        sees = "every query sees every key"
    form = form_words(study)
    if study.score is not None and form == NO_MASK:
        form = "none, and changes no score"
    if any(is_matrix(each.mask) for each in study.masks):
        yield f"It is a matrix, {form}, and has no shorter form: {sees}."
    else:
        yield f"It is {form}: {sees}."
    if study.adds_matrix:
        yield from added_words(study)


def _of_heads(study: Study) -> Iterator[Block]:
    """The mask of each head, if they differ."""
    if len(study.masks) == 1:
        return
    heads: dict[str, list[str]] = {}
    for number, each in enumerate(study.masks):
        heads.setdefault(mask_words(each.mask), []).append(str(number))
    rows = tuple(((", ".join(numbers),), (words,)) for words, numbers in heads.items())
    yield Table(("heads", "mask"), rows)


def _in_a_problem(study: Study) -> Iterator[Block]:
    """The keys that a problem writes; of large matrices only their names."""
    keys = [f"{key}: {flow(value)}" for key, value in score_keys(study).items()]
    mask = mask_of(study)
    is_whole = True
    if mask.parts:
        written = mask_as_yaml(mask)
        is_whole = len(written) <= MOST_WRITTEN
        keys.append(f"mask: {written if is_whole else without_numbers(mask)}")
    if not keys:
        return
    yield Paragraph(("In a problem:",))
    yield Listing(tuple((key,) for key in keys))
    if not is_whole:
        yield Paragraph((WITHOUT_NUMBERS,), "note")
    if study.slopes is not None and study.slopes.are_usual and study.has_alibi:
        yield Paragraph((_usual_slopes(study.slopes),))
    if study.score is not None and study.score.scale is not None:
        yield Paragraph((SCALED,), "note")


def _usual_slopes(slopes: Slopes) -> str:
    """What the slopes are that nobody has to write."""
    written = listed([f"{slope:.6g}" for slope in slopes.numbers])
    if len(slopes.numbers) == 1:
        return f"The slope is {written}, which attncli has for one head."
    return f"The slopes of the heads are {written}, which attncli has for so many heads."


def _elsewhere(study: Study) -> Iterator[Block]:
    """At which other positions the form holds."""
    checks = study.checks
    holds = [_at(each.positions) for each in checks if each.holds]
    if holds:
        yield Paragraph((f"The same form holds {', and '.join(holds)}.",))
    failed = [each for each in checks if each.error]
    if failed:
        first = failed[0]
        where = _at(first.positions)
        said = f"The function fails {where}, so its form is only known here: {first.error}"
        yield Paragraph((f"{said}.",), "note")
    differing = [each for each in checks if each.differs_at is not None]
    if differing:
        yield Paragraph((_differs(differing[0]),), "warning")
    if any(not each.holds and not each.error and each.differs_at is None for each in checks):
        said = "This form lists positions, and says nothing of others."
        yield Paragraph((said,), "note")


def _at(positions: Positions) -> str:
    if not is_whole(positions):
        return f"at positions up to {grouped(positions.keys[-1])}"
    queries, keys = positions.shape
    return f"with {count(queries, 'query')} and {count(keys, 'key')}"


def _differs(check: Check) -> str:
    assert check.differs_at is not None
    query, key = map(grouped, check.differs_at)
    where = _at(check.positions)
    return (
        f"This form does not hold {where}: the function says something else of query {query} and"
        f" key {key}. Give a larger -n and -m, or smaller numbers in the function."
    )


def _samples(study: Study, precision: int) -> Iterator[Block]:
    """What a function without a form gives at some places, for some scores."""
    assert study.values is not None
    places = [SCORES.index(score) for score in SCORES_SHOWN]
    head = ("q_idx, kv_idx", *(f"score {score:g}" for score in SCORES_SHOWN))
    rows = []
    for query, key in _corners(study.sizes.queries, study.sizes.keys):
        values = study.values[0, 0, query, key]
        cells: list[Text] = [(f"{query}, {key}",)]
        for place in places:
            cells.append((format_number(float(values[place]), precision),))
        rows.append(tuple(cells))
    yield Heading("What it gives")
    if study.sizes.heads > 1 or study.sizes.entries > 1:
        yield Paragraph(("This is head 0 of entry 0.",))
    right = tuple(range(1, len(head)))
    yield Table(head, tuple(rows), right=right)


def _corners(queries: int, keys: int) -> Sequence[tuple[int, int]]:
    """The corners of a matrix, and what lies between them."""
    rows = sorted({0, queries // 2, queries - 1})
    columns = sorted({0, keys // 2, keys - 1})
    return [(row, column) for row in rows for column in columns]
