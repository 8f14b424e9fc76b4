"""What attention does, in one sentence about the words of a problem, for who has never seen it."""

from __future__ import annotations

from collections.abc import Iterable

from attncli.english import count
from attncli.tracing.model import Trace


def opening(trace: Trace, *, has_all_numbers: bool = True) -> str:
    """Every word looks at the other words and mixes what it finds. Here 3 words do it, with all
    numbers; or without these words, on a page that leaves some of them out.

    Empty where equations of the problem's own stand in the place of attention.
    """
    if not trace.is_plain:
        return ""
    word = "token"
    if are_words((*trace.tokens, *trace.context_tokens)):
        word = "word"
    does = _what_it_does(trace, word)
    who = _who_does_it(trace, word)
    end = ", with all numbers" if has_all_numbers else ""
    return f"{does} Here {who}{end}."


def are_words(labels: Iterable[str]) -> bool:
    """Whether labels are words of a text, rather than t1 and t2, or a, b and c."""
    is_any_long = False
    for label in labels:
        if any(map(str.isdigit, label)):
            return False
        if not any(map(str.isalpha, label)):
            return False
        if len(label) > 1:
            is_any_long = True
    return is_any_long


def _what_it_does(trace: Trace, word: str) -> str:
    before = f"itself and the {word}s before it,"
    if "past_K" in trace:
        return f"Every new {word} looks at {before} and mixes what it finds."
    if not trace.self_attention:
        return f"Every {word} of one text looks at the {word}s of another and mixes what it finds."
    others = f"the other {word}s"
    if tuple(trace.settings.mask) == ("causal",):
        others = before
    return f"Every {word} looks at {others} and mixes what it finds."


def _who_does_it(trace: Trace, word: str) -> str:
    queries = len(trace.tokens)
    who = count(queries, word)
    if trace.self_attention:
        if queries == 1:
            return f"one {word} has only itself"
        return f"{who} do it"
    keys = len(trace.context_tokens)
    if queries == 1:
        return f"{who} looks at {keys:,}"
    return f"{who} look at {keys:,}"
