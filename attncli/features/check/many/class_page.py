"""The page of a class: a row for each student, the mistakes that were made and how often, and what
was not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean, median
from typing import Any

from attncli.attention.registry import RULES
from attncli.cli.classes.results import further_columns, results_document, table_of_marks
from attncli.cli.classes.summary import (
    BETWEEN_MISTAKES,
    all_named,
    most_first,
    named,
    spread_in_words,
)
from attncli.english import count, either, listed
from attncli.features.check.many.copies import Copies, in_classes
from attncli.features.check.many.manifest import Stray, belong_to_nobody
from attncli.features.check.many.result_row import Example, Marked
from attncli.features.check.page import SIGNS
from attncli.features.check.verdicts import VERDICTS, Verdict
from attncli.page.document import (
    Block,
    Document,
    Heading,
    Listing,
    Paragraph,
    Table,
    Text,
    with_symbols,
)
from attncli.page.in_words import percent
from attncli.page.measures import bar_of
from attncli.render.csv_lines import Value
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__

MOST_MISTAKES_LISTED = 20
# A mistake with its step, and the students who made it.
Made = tuple[tuple[str, str], list[str]]
NO_PROOF = (
    "This is no proof: students may have worked together, or have learned from the same page. No"
    " student's page says it."
)
NO_COPIES = Copies()
COLUMNS_OF_RESULTS = (
    "student",
    "marks",
    "of",
    *VERDICTS,
    "first_wrong",
    "mistakes",
    "taken_off",
    "note",
    "error",
    "problem",
    "answers",
)
# Results have this column where there are pages for students.
FEEDBACK = "feedback"


def class_page(
    results: Sequence[Marked], found: Copies = NO_COPIES, strays: Sequence[Stray] = ()
) -> Document:
    """The page; its rows are those of results.csv and results.xlsx, its data those of
    results.json. `found` is what is alike in these rows, and `strays` are files of nobody.
    """
    return results_document(
        f"{count(len(results), 'solution')}: checked",
        results,
        blocks=lambda rows: _blocks(rows, found, strays),
        data=lambda rows: _data(rows, found, strays),
        rows=_rows,
        tables=lambda rows: _summary_tables(rows, found, strays),
    )


def _rows(results: Sequence[Marked]) -> Iterator[Sequence[Value | None]]:
    """A line of names and a line for each student, at its end the further columns of the
    manifest.
    """
    more = further_columns(results, (*COLUMNS_OF_RESULTS, FEEDBACK))
    of_pages = [FEEDBACK] if any(each.feedback for each in results) else []
    yield [*COLUMNS_OF_RESULTS, *of_pages, *more.values()]
    for each in results:
        yield [
            each.student,
            each.plain_marks,
            each.of,
            *(each.counts.get(verdict) for verdict in VERDICTS),
            each.first_wrong,
            BETWEEN_MISTAKES.join(f"{step}: {mistake}" for step, mistake in each.mistakes),
            BETWEEN_MISTAKES.join(f"{marks:g}: {why}" for marks, why in each.taken_off),
            each.note,
            each.error,
            each.problem,
            each.answers,
            *(each.feedback for _ in of_pages),
            *(each.more.get(name) for name in more),
        ]


def _summary_tables(
    results: Sequence[Marked], found: Copies, strays: Sequence[Stray]
) -> Iterator[list[Sequence[Value | None]]]:
    """What the page says of the whole class, with all names."""
    read = [each for each in results if not each.error]
    kinds = [(words, number) for number, _, words in _kinds(results, read)]
    yield [("solutions", len(results)), *kinds]
    if read:
        yield table_of_marks([*map(_share, read)], _of_all(read))
    own = _without_copies(read, found)
    made = [(mistake, who, _steps_of(own, mistake)) for mistake, who in _topics(own)]
    if taught := [*made, *_lost_by(own, found)]:
        rows = [(what, len(who), ", ".join(who), ", ".join(steps)) for what, who, steps in taught]
        yield [("what to teach again", "students", "who", "steps"), *rows]
    if first := _first_steps(read):
        steps = [(step, len(who), ", ".join(who)) for step, who in first]
        yield [("first wrong number in", "students", "who"), *steps]
    if notes := [(each.student, each.note) for each in results if each.note]:
        yield [("answers that are alike", "note"), *notes]
    if unread := [(each.student, each.error) for each in results if each.error]:
        yield [("could not be checked", "why"), *unread]
    if strays:
        yield [("belongs to nobody", "did you mean"), *strays]


def _data(results: Sequence[Marked], found: Copies, strays: Sequence[Stray]) -> dict[str, Any]:
    read = [each for each in results if not each.error]
    return {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "students": [each.to_dict() for each in results],
        "summary": {
            "students": len(results),
            "passed": sum(each.passed for each in results),
            "not_read": len(results) - len(read),
            "mean_share": mean(map(_share, read)) if read else None,
            "median_share": median(map(_share, read)) if read else None,
            "mistakes": [
                {
                    "step": step,
                    "mistake": mistake,
                    "students": names,
                    "example": _example_data(read, step, mistake),
                }
                for (step, mistake), names in _made(read)
            ],
            "steps": [
                {"step": step, "right_or_carried": right, "of": of}
                for step, (right, of) in _by_step(read).items()
            ],
            "first_wrong": [
                {"step": step, "students": names} for step, names in _first_steps(read)
            ],
            "answers_of_another": [
                {
                    "student": each.student,
                    "others": [*each.others],
                    "right_there": each.right_there,
                    "numbers": each.numbers,
                    "of": each.of,
                    "chance": each.chance,
                    "same": None if each.same is None else each.same._asdict(),
                }
                for each in found.of_another
            ],
            "alike": [
                {"students": [*each.students], "numbers": each.numbers, "chance": each.chance}
                for each in found.alike
            ],
            "files_of_nobody": [
                {"file": each.name, "perhaps": each.meant or None} for each in strays
            ],
        },
    }


def _blocks(results: Sequence[Marked], found: Copies, strays: Sequence[Stray]) -> Iterator[Block]:
    read = [each for each in results if not each.error]
    yield Paragraph((_counted(results, read),))
    if read:
        yield Paragraph((spread_in_words([*map(_share, read)], _of_all(read)),))
    if results:
        yield from _of_students(results, read, found)
    if strays:
        yield Heading("Files of nobody")
        which = either(len(strays), "it", "them")
        yield Paragraph((f"{belong_to_nobody(strays)}. Nothing in {which} was marked.",))
        yield Listing(tuple((each.in_words,) for each in strays))


def _of_students(
    results: Sequence[Marked], read: Sequence[Marked], found: Copies
) -> Iterator[Block]:
    """What the students have done, and what was not read."""
    own = _without_copies(read, found)
    made = _topics(own)
    lost = [
        (f"{count(len(who), 'student')}: {what} in {listed(steps)}. {named(who)}.",)
        for what, who, steps in _lost_by(own, found)
    ]
    if lines := [*_taught_again(own, made[:MOST_MISTAKES_LISTED]), *lost]:
        yield Heading("What to teach again")
        yield Listing(tuple(lines))
        if further := made[MOST_MISTAKES_LISTED:]:
            yield Paragraph((_further_in_words(further),))
    if steps := _by_step(read):
        yield Heading("How each step went")
        yield _bars(steps)
    yield Heading("Each student")
    yield from _students(results, read)
    if first := _first_steps(read):
        yield Heading("Where the first wrong number is")
        yield Table(
            ("step", "students", "who"),
            tuple(((step,), (f"{len(who):,}",), (named(who),)) for step, who in first),
            (1,),
        )
    if found:
        yield Heading("Answers that are alike")
        yield Listing(tuple((sentence,) for sentence in _alike_in_words(found)))
        yield Paragraph((NO_PROOF,))
    if unread := [each for each in results if each.error]:
        yield Heading("What could not be checked")
        yield Table(("student", "why"), tuple(((each.student,), (each.error,)) for each in unread))


def _without_copies(read: Sequence[Marked], found: Copies) -> list[Marked]:
    """The rows without the answers to another problem: what was wrong there nobody has done
    wrongly.
    """
    copied = {each.student for each in found.of_another}
    return [each for each in read if each.student not in copied]


def _students(results: Sequence[Marked], read: Sequence[Marked]) -> Iterator[Block]:
    """A row for each student, narrow enough for a terminal, and below what its signs mean."""
    counted = Counter[str]()
    for each in read:
        counted.update(each.counts)
    there = [verdict for verdict in VERDICTS if counted[verdict]]
    of = _of_all(read)
    rows = tuple(_row_of_page(each, there, of) for each in results)
    signs = [SIGNS[verdict] for verdict in there]
    head = ("student", "marks" if of is None else f"of {of}", *signs, "first wrong")
    columns_of_numbers = tuple(range(1, len(there) + 2))
    last = len(head) - 1
    ranks = {last: _ranks_of_first_wrong(results, read)}
    words = dict(enumerate(there, start=2))
    yield Table(
        head,
        rows,
        columns_of_numbers,
        whole=(0, last),
        sorts=True,
        ranks=ranks,
        words=words,
    )
    if there:
        meaning = "; ".join(f"{SIGNS[verdict]} {verdict}" for verdict in there)
        yield Paragraph((f"{meaning}.",))


def _ranks_of_first_wrong(results: Sequence[Marked], read: Sequence[Marked]) -> list[int]:
    """Where each row comes if they are sorted by the step of their first wrong number: by the order
    of the steps. What was not read comes after them.
    """
    steps = [*_by_step(read)]
    # Those of a problem's own equations stand where they are worked out.
    if RULES.keys() >= set(steps):
        steps = [*RULES]
    rank = {step: number for number, step in enumerate(steps)}
    return [rank.get(_first_step(each), len(steps)) for each in results]


def _topics(read: Sequence[Marked]) -> list[tuple[str, list[str]]]:
    """Each mistake, in whatever steps it shows, and the students who made it; the most frequent
    first. A slip in a single number is nothing to be taught.
    """
    found = []
    for each in read:
        of_student = [mistake for _, mistake in each.without_slips]
        found += [(mistake, each.student) for mistake in dict.fromkeys(of_student)]
    return most_first(found)


def _further_in_words(made: Sequence[tuple[str, list[str]]]) -> str:
    """How many further mistakes there are, the most frequent first, and how often they were
    made.
    """
    _, who = made[0]
    number = count(len(made), "more mistake")
    verb = either(len(made), "was", "were")
    students = count(len(who), "student")
    most = "" if len(who) == 1 else "at most "
    each = " each" if len(made) > 1 else ""
    return f"{number} {verb} made by {most}{students}{each}."


def _steps_of(read: Sequence[Marked], mistake: str) -> list[str]:
    """The steps in which a mistake shows, each once."""
    steps = [step for each in read for step, made in each.mistakes if made == mistake]
    return [*dict.fromkeys(steps)]


def _lost_by(read: Sequence[Marked], alike: Copies) -> Iterator[tuple[str, list[str], list[str]]]:
    """What costs marks and is no mistake, with the students and the steps: slips, then numbers with
    too few decimals, then those that are missing. Of students who are `alike`, the first one's
    slips stand for those of all.
    """
    again = {student for each in alike.alike for student in each.students[1:]}
    slips = []
    for each in read:
        if each.student not in again:
            slips += [(step, each.student) for step in each.slips]
    words = "a slip" if len(slips) == 1 else "slips"
    yield from _lost_in_steps(slips, words)
    reasons = (("too coarse", "too few decimals"), ("missing", "missing numbers"))
    for reason, words in reasons:
        found = []
        for each in read:
            found += [(step, each.student) for step, why in each.losses if why == reason]
        yield from _lost_in_steps(found, words)


def _lost_in_steps(
    found: Sequence[tuple[str, str]], words: str
) -> Iterator[tuple[str, list[str], list[str]]]:
    """All of these pairs of a step and a student in one, if there are some."""
    if not found:
        return
    once = dict.fromkeys(found)
    steps = [step for step, _ in most_first(once)]
    who = [*dict.fromkeys(student for _, student in found)]
    yield words, who, steps


def _taught_again(read: Sequence[Marked], made: Sequence[tuple[str, list[str]]]) -> Iterator[Text]:
    """Each mistake, who made it, and the number to show."""
    for mistake, who in made:
        steps = _steps_of(read, mistake)
        said = f"{count(len(who), 'student')}: {listed(steps)}: {mistake}."
        example = _smallest_example(read, steps, mistake)
        if example is None:
            yield with_symbols(f"{said} {named(who)}.")
            continue
        student, shown = example
        where = f", {shown.where}" if shown.where else ""
        yield with_symbols(
            f"{said} To show, {student}{where}: {shown.given}, where {shown.right} is right."
            f"{_others(who, student)}"
        )


def _others(who: Sequence[str], shown: str) -> str:
    others = [student for student in who if student != shown]
    return f" Also {named(others)}." if others else ""


def _smallest_example(
    read: Sequence[Marked], steps: Sequence[str], mistake: str
) -> tuple[str, Example] | None:
    """The student and the number that show a mistake in these steps most quickly."""
    found = []
    for each in read:
        # Rows of earlier results have none.
        for (step, made), example in zip(each.mistakes, each.examples, strict=False):
            if made == mistake and step in steps and example is not None:
                found.append((each.student, example))
    return min(found, key=lambda one: one[1].size, default=None)


def _example_data(read: Sequence[Marked], step: str, mistake: str) -> dict[str, str] | None:
    example = _smallest_example(read, [step], mistake)
    if example is None:
        return None
    student, shown = example
    return {"student": student, **shown._asdict()}


def _by_step(read: Sequence[Marked]) -> dict[str, tuple[int, int]]:
    """How many of the numbers of each step are right or carried, and of how many."""
    earned, asked = Counter[str](), Counter[str]()
    for each in read:
        for step, (right, of) in each.by_step.items():
            earned[step] += right
            asked[step] += of
    return {step: (earned[step], of) for step, of in asked.items() if of}


def _bars(steps: Mapping[str, tuple[int, int]]) -> Table:
    rows = []
    for step, (right, of) in steps.items():
        part = right / of
        rows.append(((step,), (percent(part),), (bar_of(part),)))
    return Table(("step", "right or carried", ""), tuple(rows), right=(1,))


def _alike_in_words(found: Copies) -> Iterator[str]:
    for each in found.of_another:
        whose = "right for the problem of" if each.right_there else "also in the answers of"
        said = (
            f"{each.student}: {each.numbers} of {count(each.of, 'number')} that are wrong or"
            f" carried are {whose} {all_named(each.others)}."
        )
        if each.same is not None:
            same = each.same.in_words
            said += f" {same[0].upper()}{same[1:]}."
        yield f"{said} By chance, {in_classes(each.chance)} has such a case."
    for group in found.alike:
        yield (
            f"{all_named(group.students)} have the same {count(group.numbers, 'wrong number')} in"
            f" the same cells, and no known mistake gives them. By chance,"
            f" {in_classes(group.chance)} has such a case."
        )


def _row_of_page(each: Marked, verdicts: Sequence[Verdict], of: int | None) -> tuple[Text, ...]:
    """A row, whose marks are `of` as many as all others, or else say of how many."""
    marks: Text = ()
    if each.marks is not None:
        marks = (f"{each.plain_marks:g}" if of is not None else _mark_text(each),)
    counts: list[Text] = []
    for verdict in verdicts:
        number = each.counts.get(verdict)
        counts.append((f"{number:,}" if number else "",))
    at_the_end = "not read" if each.error else each.first_wrong
    return ((each.student,), marks, *counts, (at_the_end,))


def _kinds(results: Sequence[Marked], read: Sequence[Marked]) -> list[tuple[int, str, str]]:
    """How many solutions there are of each kind, and the verb and the words for them."""
    passed = sum(each.passed for each in read)
    blank = sum(each.is_blank for each in read)
    wrong = len(read) - passed - blank
    unread = len(results) - len(read)
    kinds = (
        (passed, either(passed, "has ", "have "), "no error"),
        (wrong, either(wrong, "has ", "have "), "errors or blanks"),
        (blank, either(blank, "is ", "are "), "blank"),
        (unread, "", "could not be checked"),
    )
    return [kind for kind in kinds if kind[0]]


def _counted(results: Sequence[Marked], read: Sequence[Marked]) -> str:
    parts = [f"{number:,} {verb}{words}" for number, verb, words in _kinds(results, read)]
    return f"{listed(parts)}." if parts else "There are no solutions."


def _of_all(read: Sequence[Marked]) -> int | None:
    """How many marks there are for everybody; None where they are not as many for all."""
    different = {each.of for each in read}
    return different.pop() if len(different) == 1 else None


def _share(each: Marked) -> float:
    return (each.marks or 0) / max(each.of or 0, 1)


def _mark_text(each: Marked) -> str:
    return f"{each.plain_marks:g} / {each.of}"


def _made(read: Sequence[Marked]) -> list[Made]:
    """Each mistake, with its step, and the students who made it; the most frequent first."""
    return most_first((mistake, each.student) for each in read for mistake in each.mistakes)


def _first_steps(read: Sequence[Marked]) -> list[tuple[str, list[str]]]:
    return most_first((_first_step(each), each.student) for each in read if each.first_wrong)


def _first_step(each: Marked) -> str:
    """The step of the first wrong number; empty for none."""
    return each.first_wrong.partition(",")[0]
