"""A function from a file or a package, tested from its name to what it does."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from attncli.errors import AttncliError, Exit, input_error, usage_error
from attncli.testing.battery import all_cases
from attncli.testing.case import Case
from attncli.testing.facts import facts_of
from attncli.testing.layouts import Layout, possible_layouts
from attncli.testing.process import USUAL_LIMITS, FunctionError, FunctionProcess, Limits
from attncli.testing.signature import QKV
from attncli.testing.trial import Asking, CaseResult, Trial

EXAMPLE = "attncli test my_attention.py:attention"


def target_of(text: str) -> dict[str, Any]:
    """What `FILE.py:NAME` or `package.module:NAME` names, for the process.

    Raises AttncliError: exit 2 where it is neither, 4 where there is no such file.
    """
    place, colon, name = text.partition(":")
    # A drive of Windows has a colon, too.
    if len(place) == 1 and place.isalpha() and name[:1] in ("\\", "/"):
        rest, colon, name = name.partition(":")
        place = f"{place}:{rest}"
    is_file = place.endswith(".py") or os.path.exists(place)
    if not colon or not name.strip():
        example = f"{place}:attention" if is_file else "my_attention.py:attention"
        raise usage_error(f"{text} names no function", help=f"write attncli test {example}")
    if is_file:
        _require_file(place)
        return {"file": os.path.abspath(place), "module": "", "name": name}
    if not all(part.isidentifier() for part in place.split(".")):
        what = f"{place} is neither a file of Python nor the name of a package"
        raise usage_error(what, help=f"write {EXAMPLE}")
    return {"file": None, "module": place, "name": name}


def _require_file(path: str) -> None:
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        what = f"{path} cannot be read: {error.strerror or error}"
        raise AttncliError(Exit.FILE, what, help="check the name of the file") from None


def try_function(
    text: str,
    *,
    expression: str = "",
    limits: Limits = USUAL_LIMITS,
    begin: Callable[[str], None] = lambda _: None,
) -> Trial:
    """Call a function with every case, and judge what comes out.

    `text` is `FILE.py:NAME` or `package.module:NAME`, `expression` how it is called where its
    parameters do not say so, such as "f(q, k, v, mask=~mask)". `begin` is told which case comes
    next. Raises AttncliError: exit 2 or 4 as `target_of`, 3 where it cannot be loaded.
    """
    target = target_of(text)
    with FunctionProcess(target, limits) as process:
        asking = Asking(process, expression)
        begin("loading the function")
        try:
            asking.begin()
        except FunctionError as error:
            help = "it must be a function of queries, keys and values"
            raise input_error(f"{text} cannot be loaded: {error}", help=help) from None
        _require_qkv(text, asking)
        cases = all_cases()
        plain, *others = cases
        begin(plain.name)
        results = [_plain_result(asking, plain)]
        for case in others:
            begin(case.name)
            results.append(asking.answer(case))
    facts = facts_of(results, asking.layout.words)
    return Trial(text, tuple(results), facts, tuple(_remarks(asking)))


def _require_qkv(text: str, asking: Asking) -> None:
    if asking.expression or asking.known is None:
        return
    if len(asking.known) < len(QKV):
        names = ", ".join(each.name for each in asking.known) or "none"
        what = f"{text} has fewer than three parameters: {names}"
        help = "the first three are queries, keys and values; or say how it is called: --call"
        raise input_error(what, help=help)


def _plain_result(asking: Asking, plain: Case) -> CaseResult:
    """The plain case in the layout of the function, which is found by trying.

    It is the first in which a function agrees, or makes a known mistake; else the first that gives
    the right shape, and else the last.
    """
    fitting: dict[Layout, CaseResult] = {}
    result = CaseResult(plain, "not asked")
    for layout in possible_layouts():
        asking.layout = layout
        result = asking.answer(plain, twice=True)
        if asking.is_lost or result.result == "same" or _is_a_mistake(result):
            return result
        if result.result == "differs":
            fitting[layout] = result
    for layout, first in fitting.items():
        asking.layout = layout
        return first
    return result


def _is_a_mistake(result: CaseResult) -> bool:
    if result.result != "differs" or result.output is None:
        return False
    expected = result.right
    return any(expected.evidence(name, result.output) == "gives" for name in expected.changes)


def _remarks(asking: Asking) -> list[str]:
    remarks = []
    if not asking.repeats:
        remarks.append(
            "It gives other numbers when it is called again with the same ones: dropout may be on."
        )
    if asking.changed:
        names = ", ".join(sorted(asking.changed))
        remarks.append(f"It changes what it is given: {names}.")
    return remarks
