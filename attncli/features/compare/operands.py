"""Reads what is compared (problems, problems with changes, dumps), and computes the problems in the
same way.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from attncli.cli.input import limit_threads
from attncli.dtypes import DEVICES, DTYPES, ROUNDINGS
from attncli.english import listed, shorten
from attncli.errors import did_you_mean, usage_error
from attncli.problem.parts.conventions import CONVENTIONS
from attncli.problem.suffixes import PICKLES, TEXT_SUFFIXES, array_suffixes
from attncli.problem.text.source import Source, read_source

if TYPE_CHECKING:
    from attncli.features.compare.dumps import Dump, RulesOfOwn
    from attncli.problem.model import Problem
    from attncli.problem.text.nodes import Node
    from attncli.tracing.comparison import Operand
    from attncli.tracing.model import Trace
    from attncli.tracing.number_formats import FormatDeviation

WORKING = {"dtype": tuple(DTYPES), "device": DEVICES, "rounding": ROUNDINGS}
READING = {"as": tuple(CONVENTIONS)}
# A help line lists so many names of a dump.
MOST_NAMES_OF_A_DUMP = 20
# Pickles are among them: the error says what to save instead.
_BINARY = ({*array_suffixes()} - {*TEXT_SUFFIXES}) | {*PICKLES}


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file: its tree and its problem, or a dump.

    `changes` are those of --set, by key; `convention` is that of --as.
    """

    name: str
    source: Source | None
    root: Node | None
    content: Problem | Dump
    changes: Mapping[str, str]
    convention: str | None


def read_files(
    paths: Sequence[str],
    settings: list[str],
    convention: str | None,
    *,
    outside: bool = False,
    renames: Sequence[str] = (),
) -> list[InputFile]:
    """One or two files; raises AttncliError as for a problem, and with exit 2 for bad settings and
    renames.

    Call it before anything imports NumPy, because it limits the threads that NumPy starts.
    """
    if paths.count("-") > 1:
        raise usage_error("standard input cannot be both files", help="name a file for one of them")
    sources = {path: read_source(path, outside=outside) for path in paths if not _binary(path)}
    if len(sources) == len(paths):
        limit_threads("\n".join([*(source.text for source in sources.values()), *settings]))

    from attncli.features.compare.changes import parse_settings
    from attncli.features.compare.dumps import parse_renames

    changed = parse_settings(settings, WORKING | READING)
    renamed = parse_renames(renames)
    files: list[InputFile] = []
    for path in paths:
        own = _own_of_other(paths, path, sources, convention)
        if path in sources:
            file = read_text(sources[path], changed, convention, renamed, own)
        else:
            file = _read_binary(path, changed, convention, renamed, own)
        files.append(file)
    require_names(files, renamed)
    return files


def _own_of_other(
    paths: Sequence[str], path: str, sources: Mapping[str, Source], convention: str | None
) -> RulesOfOwn:
    """The steps of own equations of the file beside this one, where that is a problem with such."""
    others = [other for other in paths if other != path and other in sources]
    if not others or "equations" not in sources[others[0]].text:
        return {}

    from attncli.features.compare.dumps import Dump, rules_of_own

    other = read_text(sources[others[0]], {}, convention, {}).content
    return {} if isinstance(other, Dump) else rules_of_own(other)


def read_one(
    path: str,
    changes: Mapping[str, str],
    renames: Mapping[str, str],
    own: RulesOfOwn = MappingProxyType({}),
) -> InputFile:
    """One file, as `read_files` reads it; `changes` and `renames` are read already."""
    if _binary(path):
        return _read_binary(path, changes, None, renames, own)
    return read_text(read_source(path), changes, None, renames, own)


def _read_binary(
    path: str,
    changes: Mapping[str, str],
    convention: str | None,
    renames: Mapping[str, str],
    own: RulesOfOwn,
) -> InputFile:
    """A dump of arrays."""
    from attncli.features.compare.dumps import read_archive

    dump = read_archive(path, renames, own)
    return InputFile(path, None, None, dump, changes, convention)


def read_text(
    source: Source,
    changes: Mapping[str, str],
    convention: str | None,
    renames: Mapping[str, str],
    own: RulesOfOwn = MappingProxyType({}),
) -> InputFile:
    """A problem, or a dump of nested lists; one array alone is the output."""
    from attncli.features.compare.dumps import is_dump, output_alone, read_dump
    from attncli.problem.loader import problem_from_tree
    from attncli.problem.text.tree import read_tree

    report, root = read_tree(source, not_finite=True)
    root = output_alone(root)
    content: Problem | Dump
    if is_dump(root, renames):
        content = read_dump(root, report, renames, own)
    else:
        content = problem_from_tree(root, report, convention)
    return InputFile(source.name, source, root, content, changes, convention)


def require_names(files: Sequence[InputFile], renames: Mapping[str, str]) -> None:
    """Raises AttncliError (exit 2) for a name of --rename that no dump has."""
    from attncli.features.compare.dumps import Dump

    dumps = {file.name: file.content for file in files if isinstance(file.content, Dump)}
    for name in renames:
        if not dumps:
            raise usage_error(
                "--rename is for the names in a dump, and there is none", help="leave out --rename"
            )
        if not any(name in dump.names for dump in dumps.values()):
            names = list(dict.fromkeys(known for dump in dumps.values() for known in dump.names))
            raise usage_error(
                f"--rename {shorten(name)}: {listed(list(dumps), last='or')} has no such name",
                help=did_you_mean(
                    shorten(name),
                    names,
                    f"the names are {listed(names, most=MOST_NAMES_OF_A_DUMP)}",
                ),
            )


def operands(
    files: Sequence[InputFile], precision: int, *, gradient: bool = False
) -> tuple[Operand, Operand]:
    """Both sides, computed with the same steps in the softmax, so that they can be compared.

    Gradients are computed, too, if `gradient` asks for them, or if a dump has gradients or steps of
    a loss.

    Raises AttncliError (exit 2) for a change of a dump.
    """
    from attncli.features.compare.dumps import Dump
    from attncli.tracing.comparison import Operand

    first, second = files[0], files[-1]
    if len(files) == 1:
        _require_problem(first)
        who = [
            (first.name, "before", "before the change"),
            (f"the same file {_changes_text(first.changes)}", "after", "after the change"),
        ]
        sources = _worked(
            [(first.content, {}), (_changed(first), first.changes)], precision, gradient
        )
    else:
        if files[0].changes and all(isinstance(each.content, Dump) for each in files):
            raise usage_error(
                "--set changes a problem, and both files are dumps", help="leave out --set"
            )
        dumps = isinstance(first.content, Dump), isinstance(second.content, Dump)
        words = {(False, True): ("ours", "theirs"), (True, False): ("theirs", "ours")}.get(
            dumps, ("A", "B")
        )
        who = [(each.name, word, f"in {word}") for each, word in zip(files, words, strict=True)]
        sources = _worked(
            [(_changed(each), each.changes) for each in (first, second)], precision, gradient
        )
    a, b = (
        source.operand(*names) if isinstance(source, Dump) else Operand.of_trace(source, *names)
        for names, source in zip(who, sources, strict=True)
    )
    return a, b


def format_deviations(file: InputFile, precision: int) -> tuple[tuple[FormatDeviation, ...], str]:
    """A problem in every lower format against float64, and its title."""
    from attncli.features.compare.dumps import Dump
    from attncli.tracing.number_formats import deviations

    _require_problem(file)
    for key in ("dtype", "rounding"):
        if key in file.changes:
            raise usage_error(
                f"--dtypes cannot be used with --set {key}", help="leave out one of the two"
            )
    problem = _changed(file)
    # A dump was refused above.
    assert not isinstance(problem, Dump)
    return (
        deviations(problem, device=file.changes.get("device", "cpu"), precision=precision),
        problem.title,
    )


def _changes_text(changes: Mapping[str, str]) -> str:
    """with scale=2, mask=none; without softcap."""
    changed = []
    removed = []
    for key, value in changes.items():
        written = value.strip()
        if written:
            changed.append(f"{key}={written}")
        else:
            removed.append(key)
    parts = []
    if changed:
        parts.append(f"with {', '.join(changed)}")
    if removed:
        parts.append(f"without {', '.join(removed)}")
    return "; ".join(parts)


def _binary(path: str) -> bool:
    return os.path.splitext(path)[1].lower() in _BINARY


def _require_problem(file: InputFile) -> None:
    from attncli.features.compare.dumps import Dump

    if isinstance(file.content, Dump):
        raise usage_error(
            f"{file.name} is a dump, so attncli cannot compute anything from it",
            help=f"compare it with a problem: attncli compare problem.yaml {file.name}",
        )


def _changed(file: InputFile) -> Problem | Dump:
    from attncli.features.compare.changes import read_changed

    changed = {key: value for key, value in file.changes.items() if key not in WORKING}
    if not changed or not _is_problem(file):
        return file.content
    if file.source is None or file.root is None:
        return file.content
    convention = changed.pop("as", file.convention)
    return read_changed(file.root, file.source, changed, convention=convention)


def _is_problem(file: InputFile) -> bool:
    from attncli.problem.model import Problem

    return isinstance(file.content, Problem)


def _worked(
    each: Sequence[tuple[Problem | Dump, Mapping[str, str]]], precision: int, gradient: bool
) -> list[Trace | Dump]:
    """Both sides computed, with the same softmax: as a dump has it that has exponentials, and else
    shifted if one side has to shift its.
    """
    from attncli.attention.losses import LOSS_RULES
    from attncli.attention.registry import GRADIENT_RULES
    from attncli.features.compare.dumps import Dump
    from attncli.problem.model import Problem
    from attncli.tracing.run import run

    def work(
        content: Problem | Dump, changes: Mapping[str, str], shifted: bool | None
    ) -> Trace | Dump:
        if not isinstance(content, Problem):
            return content
        dtype, device = changes.get("dtype", "float64"), changes.get("device", "cpu")
        rounding = changes.get("rounding", "shown")
        return run(
            content,
            device=device,
            dtype=dtype,
            rounding=rounding,
            precision=precision,
            shifted=shifted,
            gradient=back,
        )

    dumped = [
        name for content, _ in each if not isinstance(content, Problem) for name in content.arrays
    ]
    back = gradient or any(name in GRADIENT_RULES or name in LOSS_RULES for name in dumped)
    worked = [work(content, changes, None) for content, changes in each]
    if any(isinstance(side, Dump) and side.plain for side in worked):
        plain = [work(content, changes, False) for content, changes in each]
        return plain if all(isinstance(side, Dump) or _has_sums(side) for side in plain) else worked
    if any(side.shifted for side in worked):
        worked = [
            side if side.shifted else work(content, changes, True)
            for side, (content, changes) in zip(worked, each, strict=True)
        ]
    return worked


def _has_sums(trace: Trace) -> bool:
    """Whether no sum of exponentials overflows, or vanishes for a query that sees a key."""
    import numpy as np

    if "row_sum" not in trace or not trace.takes_softmax:
        # Equations of the problem's own leave out what nobody reads, and may have no softmax.
        return True
    sums = trace["row_sum"]
    is_blind = np.isneginf(trace[trace.logits]).all(axis=-1)
    may_be_divided_by = (sums > 0) | is_blind
    return bool((np.isfinite(sums) & may_be_divided_by).all())
