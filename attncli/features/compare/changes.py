"""A problem with some of its keys changed, as `--set mask=causal` asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from attncli.dtypes import chosen
from attncli.english import listed, shorten
from attncli.errors import AttncliError, Exit, Place, did_you_mean, usage_error
from attncli.problem.keys import KEYS
from attncli.problem.loader import problem_from_tree
from attncli.problem.model import Problem
from attncli.problem.synonyms import equivalent
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf, ListNode, MappingNode, Node, is_null
from attncli.problem.text.source import Source
from attncli.problem.text.tree import parse_value
from attncli.system import quoted, unquoted

SET = "--set"


@dataclass(frozen=True, slots=True)
class _Patched(Source):
    """A file's text with the changes after it: a place in a change is a place in the option that
    made it.
    """

    # By where each change begins in the text.
    changes: Mapping[int, Source] = field(default_factory=dict)

    def place(self, at: int) -> Place:
        start = max((start for start in self.changes if start <= at), default=None)
        if start is not None:
            return self.changes[start].place(at - start)
        return Source.place(self, at)


def parse_settings(settings: list[str], words: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """`KEY=VALUE` texts as a mapping; AttncliError (exit 2) for an unknown key, a key given twice,
    or no `=`.

    `words` are further keys that a problem does not have, such as dtype, with their possible
    values.
    """
    found: dict[str, str] = {}
    for setting in map(unquoted, settings):
        key, equals, value = setting.partition("=")
        key = key.strip()
        if not equals:
            what = f"{SET} {shorten(setting)} has no ="
            raise usage_error(what, help=f"write it as in {SET} mask=causal")
        if key not in KEYS and key not in words:
            what = f"{SET} {shorten(key)}: there is no such key"
            raise usage_error(what, help=_instead(key, value, words))
        if key in found:
            raise usage_error(f"{SET} {key} is given twice", help="keep one of the two")
        if key in words:
            value = chosen(f"{SET} {key}", value.strip(), words[key])
        found[key] = value
    return found


def _instead(key: str, value: str, words: Iterable[str]) -> str:
    """Help for an unknown key: the name of other software for a known key, or a key with dots for a
    mapping.
    """
    first, *inner = key.split(".")
    if first in KEYS and inner and all(inner):
        for part in reversed(inner):
            value = f"{{{part}: {value}}}"
        setting = quoted(f"{first}={value}")
        return f"write {SET} {shorten(setting, 120)}"
    advice = equivalent(key, _node_of(value))
    if advice:
        written, _, advised = advice.written.partition(": ")
        if advised:
            return f"write {SET} '{written}={advised}'{advice.remark}"
        key = written
    known = [*KEYS, *words]
    help = f"the keys are {', '.join(known)}"
    return did_you_mean(key, known, help)


def _node_of(value: str) -> Node | None:
    """What stands behind the equals sign; None where that cannot be read."""
    try:
        return parse_value(ErrorCollector(Source(SET, value), Exit.USAGE))
    except AttncliError:
        return None


def read_changed(
    root: Node, source: Source, changed: Mapping[str, str], *, convention: str | None = None
) -> Problem:
    """The problem of a tree with these keys changed (YAML text by key); the tree was read without
    errors before.

    An empty text or null removes the key; `convention` is as for `load`. Raises AttncliError with
    exit code 2, because only a change can be wrong now, or 4 if an array's file cannot be read.
    """
    assert isinstance(root, MappingNode)
    values, keys = dict(root.values), dict(root.keys)
    text, sources = source.text, {}
    for key, value in changed.items():
        written = Source(f"{SET} {key}", value, source.folder, source.outside)
        node = parse_value(ErrorCollector(written, Exit.USAGE)) if value.strip() else None
        if node is None or is_null(node):
            if key not in values:
                raise usage_error(
                    f"{SET} {key}= removes a key that {source.name} does not have",
                    help=f"leave out {SET} {key}=",
                )
            del values[key], keys[key]
            continue
        start = len(text) + 1
        sources[start] = written
        text += f"\n{value}"
        values[key], keys[key] = moved(node, start), start
    patched = _Patched(source.name, text, source.folder, source.outside, changes=sources)
    try:
        return problem_from_tree(
            MappingNode(root.at, values, keys), ErrorCollector(patched, Exit.USAGE), convention
        )
    except AttncliError as error:
        options = listed(
            [f"{SET} {shorten(quoted(f'{key}={new.strip()}'))}" for key, new in changed.items()]
        )
        for each in (error, *error.more):
            # The file itself was correct before the change.
            if each.place and each.place.file == source.name:
                each.help = f"{each.help}; the file is correct without {options}"
        raise


def moved(node: Node, by: int) -> Node:
    """The tree with every place moved on by so many characters, for a text that is put after
    another.
    """
    match node:
        case ListNode(numbers=None, items=items):
            return ListNode(node.at + by, [moved(item, by) for item in items])
        case MappingNode(values=values, keys=keys):
            return MappingNode(
                node.at + by,
                {key: moved(value, by) for key, value in values.items()},
                {key: at + by for key, at in keys.items()},
            )
        case ListNode(numbers=numbers):
            return ListNode(node.at + by, numbers=numbers)
        case Leaf():
            return replace(node, at=node.at + by)
