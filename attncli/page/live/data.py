"""A problem as data: its numbers as they were written, and its equations as trees.

There is a plan for every setting that a page offers: each mask, with and without the scale, with
the plain softmax and the shifted one, and each mistake that can be made in it. A page needs no
other knowledge of attention. `render/html/script/types.d.ts` says what the script finds in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from attncli.answers.model import CLOSE, ONE_UNIT_OFF
from attncli.attention.first_steps import has_sink
from attncli.attention.plan import Plan, plan_for
from attncli.dtypes import DTYPES
from attncli.equation.error_bounds import TooLongError, magnitude
from attncli.equation.indexing import GROUP_MEMBER
from attncli.equation.mathml import MATHML, mathml_cell, mathml_name
from attncli.equation.nodes import Call, Expression, Reduce, Ref, walk
from attncli.equation.notation import ATOM, PRODUCT, UNICODE
from attncli.equation.rule import Rule
from attncli.equation.shapes import product_factors
from attncli.mistakes.catalogue import applicable
from attncli.mistakes.groups import grouped
from attncli.mistakes.model import with_changes
from attncli.page.live.constants import shared_constants
from attncli.page.live.dimensions import sizes_of
from attncli.page.live.offered_settings import (
    Scaled,
    Traces,
    clicked_mask,
    clicked_name,
    settings_of,
    traces_of,
)
from attncli.page.live.saved_text import joined_names, yaml_of
from attncli.page.live.sizes import PageSizes
from attncli.page.live.trees import as_tree, forms_of, function_data, names_in, spelling_of
from attncli.page.notes_and_summary import ROUNDED, groups_of_flow
from attncli.page.printer import GIVEN_DECIMALS, MOST_NUMBERS_WITH_RESIDUES
from attncli.page.relation import DIVISOR_IS_0, NO_DIVISOR
from attncli.page.short.opening import opening
from attncli.page.view import View
from attncli.page.worked.visibility import FALSE, HIDDEN, TRUE, VISIBLE
from attncli.page.worked.worked_line import OF_A_BLIND_QUERY
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.axes import LEADING
from attncli.tracing.labels import labels
from attncli.tracing.magnitudes import HONEST_EPSILONS, softmax_of
from attncli.tracing.model import Step, Trace, is_built_in_softmax, step_of_pairs
from attncli.tracing.shift import FEWEST_DECIMALS, Shift
from attncli.tracing.warnings import infinities_in, unread_of

FLOAT64 = DTYPES["float64"]
# Functions of printed numbers, and between stages.
OF_PRINTED_NUMBERS = ("neg", "ratio", "multiple", "sqrt", "comes_to", "comes_near", "sub")
_WORDS = {
    "no_key": OF_A_BLIND_QUERY,
    "no_divisor": NO_DIVISOR[0],
    "divisor_is_0": DIVISOR_IS_0[0],
    "true": TRUE,
    "false": FALSE,
    "visible": VISIBLE,
    "hidden": HIDDEN,
    "rounded": ROUNDED,
}


def live_data(problem: Problem, precision: int, detail: str = "rows") -> dict[str, Any]:
    """The problem as data that JSON can hold: what `render/html/script/model/model.js` reads."""
    return data_of(problem, precision, detail, traces_of(problem, precision))


def data_of(problem: Problem, precision: int, detail: str, traces: Traces) -> dict[str, Any]:
    """The same, of a problem that is worked out in every setting.

    `arrays` are the given ones, and those of masks, with the texts of their numbers, or the numbers
    where nobody wrote them. `rules` are all steps of any setting, each once; a plan lists them by
    their places. A rule of a mistake says only what differs from the rule that it is `instead` of.
    """
    offered = [(mask, scaled, plan_for(other)) for mask, scaled, other in settings_of(problem)]
    sizes = PageSizes([plan for _, _, plan in offered])
    collected = _Collected(problem, traces, sizes)
    settings = [collected.setting(*each) for each in offered]
    words = collected.words(sizes.plan)
    plan, trace = sizes.plan, next(iter(traces.values()))
    return {
        "shared": shared_constants(),
        "precision": precision,
        "detail": detail,
        "given_decimals": GIVEN_DECIMALS,
        "letters": {
            "leading": list(LEADING),
            "group": GROUP_MEMBER,
            "parts": list(trace.leading_letters),
        },
        "given": list(plan.given),
        "mask": "mask",
        **_attention(plan),
        "plain": trace.is_plain and is_built_in_softmax(trace.steps),
        "unread": unread_of(plan, trace.steps),
        "has_own": any(step.rule.own for step in trace.steps.values()),
        "own": clicked_name(problem),
        "yaml": yaml_of(plan)[0],
        "joined": joined_names(plan),
        "arrays": collected.arrays,
        "labels": [names for names, _ in collected.labels],
        "naming": [naming for _, naming in collected.labels],
        "tokens": words,
        "sizes": sizes.data(),
        "flow": list(map(_names, groups_of_flow(trace))),
        "rules": collected.rules,
        "settings": settings,
        "mistakes": list(collected.mistakes.values()),
        "groups": grouped(collected.mistakes),
        "shift": _shift(problem, precision),
        "residue": {
            "noise": HONEST_EPSILONS * FLOAT64.epsilon,
            "epsilon": FLOAT64.epsilon,
            "smallest": FLOAT64.smallest,
            "most": MOST_NUMBERS_WITH_RESIDUES,
        },
        "judging": {"one_unit_off": ONE_UNIT_OFF, "exactly": CLOSE},
        "command": _command(precision, detail),
        "functions": {name: function_data(name) for name in sorted(collected.functions)},
        "notation": forms_of(UNICODE) | {"product": PRODUCT, "atom": ATOM},
        "mathml": collected.mathml(),
        "words": _WORDS,
    }


def _attention(plan: Plan) -> dict[str, str]:
    """The names of the built-in weights, and of the step that mixes the values by them, where
    these are there: others need not be the shares of keys.
    """
    rules = plan.softmax_rules(shift=False)
    found = {}
    for rule in rules:
        if rule.own:
            continue
        if rule.name == "weights":
            found["weights"] = rule.name
        if "weights" in rule.inputs and "weights" in found:
            found["mixed"] = rule.name
    return found


def _names(steps: Sequence[Step]) -> list[str]:
    return [step.name for step in steps]


def _shift(problem: Problem, precision: int) -> dict[str, float]:
    """When the softmax of a page is shifted by the largest score of each row."""
    base = problem.exp_base
    terms = len(problem.context_tokens) + has_sink(problem)
    return {
        "steepness": math.log(base.value if base else math.e),
        "terms": terms,
        "highest": FLOAT64.highest_exponent_of(terms),
        "lowest": Shift.at(max(precision, FEWEST_DECIMALS), problem, FLOAT64).lowest,
    }


def _command(precision: int, detail: str) -> str:
    """The command line that works out the file that a page saves, as this page does."""
    usual = View()
    words = ["attncli", "compute", "problem.yaml"]
    if precision != usual.precision:
        words += ["--precision", str(precision)]
    if detail != usual.detail:
        words += ["--detail", detail]
    return " ".join(words)


def _in_both(plain: list[list[int]], shifted: list[list[int]]) -> dict[str, list[list[int]]]:
    """The mistakes of the plain softmax, and of the shifted one those that differ: one without
    rules cannot be made there.
    """
    found = [mistake for mistake in shifted if mistake not in plain]
    known = {place for place, *_ in shifted}
    for place, *_ in plain:
        if place not in known:
            found.append([place])
    return {"plain": plain, "shifted": found}


class _Collected:
    """Rules, labels, arrays and mistakes of all settings, each once."""

    def __init__(self, problem: Problem, traces: Traces, sizes: PageSizes) -> None:
        self.problem = problem
        self.traces = traces
        self.sizes = sizes
        # Their names, by their ids.
        self.mistakes: dict[str, str] = {}
        self.rules: list[dict[str, Any]] = []
        # With how places are called, and of which dimension they are.
        self.labels: list[tuple[tuple[str, ...], tuple[str, int]]] = []
        self.arrays: dict[str, dict[str, Any]] = {}
        self.functions: set[str] = set(OF_PRINTED_NUMBERS)
        # All names that stand in equations.
        self.names: set[str] = set()
        self._places: dict[tuple[Any, ...], int] = {}

    def setting(self, mask: str, scaled: Scaled, plan: Plan) -> dict[str, Any]:
        """One mask with a scale or without: its two plans, and the mistakes of each."""
        shapes = {
            name: given.value.shape
            for name, given in plan.parameters.items()
            if isinstance(given, Matrix)
        }
        for name, matrix in (*plan.given.items(), *plan.parameters.items()):
            if isinstance(matrix, Matrix):
                self.arrays.setdefault(name, _array(matrix))
        trace, other = (self.traces[mask, scaled, shift] for shift in (False, True))
        behind = [plan.softmax_rules(shift=shift) for shift in (False, True)]
        before = [self._rule(plan, rule, trace, shapes) for rule in plan.rules]
        plain = [self._rule(plan, rule, trace, shapes) for rule in behind[False]]
        shifted = [self._rule(plan, rule, other, shapes) for rule in behind[True]]
        found = {}
        if plan.takes_softmax:
            found["maxima"] = "row_max"
        pairs = step_of_pairs(trace.steps)
        if pairs is not None:
            found["pairs"] = pairs.name
        return {
            "mask": mask,
            "opening": opening(trace),
            "words": plan.problem.mask.names,
            "scaled": scaled,
            "logits": plan.logits,
            **found,
            "plain": before + plain,
            "shifted": before + shifted,
            "mistakes": _in_both(self._mistakes(plan, trace), self._mistakes(plan, other)),
            "clicks": clicked_mask(plan.problem),
            "yaml": yaml_of(plan)[1],
            "scalars": {
                name: given.written
                for name, given in plan.parameters.items()
                if isinstance(given, Scalar)
            },
        }

    # Rules

    def _rule(
        self, plan: Plan, rule: Rule, trace: Trace, shapes: dict[str, tuple[int, ...]]
    ) -> int:
        """The place of a rule of a trace among all, after writing it there.

        `shapes` are those of the steps before it, and get that of this one.
        """
        letters, tree = rule.target.letters, rule.expression
        sizes = sizes_of(plan, rule, shapes)
        shape = tuple(sizes[letter] for letter in letters)
        shapes[rule.name] = shape
        key = (rule.name, letters, tree)
        if key in self._places:
            return self._places[key]
        written: dict[str, Any] = {
            "name": rule.name,
            "symbol": rule.symbol,
            "title": rule.title,
            "cell": letters,
            "shape": shape,
            "axes": rule.axis_names,
            "labels": self._labels(plan, rule, shape),
        }
        if tree is not None:
            bound = None
            softmax = softmax_of(rule, trace.steps) if rule.name in trace else None
            if softmax is None:
                # Without a bound, the numbers themselves are one.
                with suppress(TooLongError):
                    bound = magnitude(rule.equation, FLOAT64.epsilon).expression
            else:
                written["softmax"] = softmax.steepness(trace.settings.exp_base)
            written |= self._equation(rule, tree, sizes, bound)
            if rule.divides_rows:
                written["divides"] = True
            if rule.matrix_form and (factors := product_factors(rule.matrix_form)):
                written["factors"] = [f"{name}'" if turned else name for name, turned in factors]
            if infinities := infinities_in(rule):
                # JSON has no infinities: their signs.
                written["meant"] = sorted(int(math.copysign(1, each)) for each in infinities)
        return self._add(key, written)

    def _add(self, key: tuple[Any, ...], written: dict[str, Any]) -> int:
        self._places[key] = len(self.rules)
        self.rules.append(written)
        return self._places[key]

    def _labels(self, plan: Plan, rule: Rule, shape: tuple[int, ...]) -> list[int]:
        """The places of the labels of each axis among all."""
        found = []
        of_axes = labels(plan.problem, rule, shape)
        for place, names in enumerate(of_axes):
            naming = self.sizes.naming(rule, place)
            at = self._axis(names, naming)
            found.append(at)
        return found

    def _axis(self, names: tuple[str, ...], naming: tuple[str, int]) -> int:
        if (names, naming) not in self.labels:
            self.labels.append((names, naming))
        return self.labels.index((names, naming))

    def words(self, plan: Plan) -> dict[str, int]:
        """Which labels a file has: the tokens, and those of keys."""
        problem, letters = plan.problem, self.sizes.letters_of_plan()
        return {
            "tokens": self._axis(problem.tokens, ("words", letters.get("i", -1))),
            "context_tokens": self._axis(problem.context_tokens, ("words", letters.get("j", -1))),
        }

    def _equation(
        self, rule: Rule, tree: Expression, sizes: Mapping[str, int], bound: Expression | None
    ) -> dict[str, Any]:
        nodes = list(_all_nodes(tree))
        self.functions |= {node.function for node in nodes if isinstance(node, Call | Reduce)}
        for node in (rule.target, *nodes):
            self.names.update(names_in(node))
        summed = sorted({node.index for node in walk(tree) if isinstance(node, Reduce)})
        found: dict[str, Any] = {
            "equation": as_tree(tree),
            "runs": {letter: sizes[letter] for letter in summed},
        }
        if rule.is_copy:
            found["copies"] = True
        if rule.only_hides:
            found["hides"] = True
        if bound is not None:
            found["magnitude"] = as_tree(bound)
        return found

    # Mistakes

    def _mistakes(self, plan: Plan, trace: Trace) -> list[list[int]]:
        """Every mistake that can be made here: its place among all, and those of its rules.

        Without those that put numbers in the place of a step, such as rounding: the numbers of a
        page change.
        """
        found = []
        for mistake, changes in applicable(trace, of_own=False):
            if any(isinstance(change, np.ndarray) for change in changes.values()):
                continue
            self.mistakes.setdefault(mistake.id, mistake.name)
            steps = with_changes(trace, changes).steps
            rules = [self._instead(plan, trace, steps[name].rule) for name in changes]
            found.append([list(self.mistakes).index(mistake.id), *rules])
        return found

    def _instead(self, plan: Plan, trace: Trace, wrong: Rule) -> int:
        """The place of a rule with a mistake, after writing how it differs from the right one."""
        tree = wrong.equation.expression
        key = (wrong.name, wrong.target.letters, tree)
        if key in self._places:
            return self._places[key]
        base = self._rule(plan, trace.steps[wrong.name].rule, trace, trace.shapes())
        equation = self._equation(wrong, tree, trace.sizes(wrong.equation), None)
        return self._add(key, {"instead": base} | equation)

    # Notation

    def mathml(self) -> dict[str, Any]:
        """The notation of formulas: how functions are spelled, and what names are called.

        A name has its symbol alone, and with {0} in the place of indices.
        """
        symbols = {rule["name"]: rule["symbol"] for rule in self.rules if "symbol" in rule}
        names = sorted({symbols.get(name, name) for name in self.names})
        spellings = {name: spelling_of(MATHML.spelling(name)) for name in sorted(self.functions)}
        return forms_of(MATHML) | {
            "tall": MATHML.tall,
            "tall_parenthesis": MATHML.tall_parenthesis,
            "functions": spellings,
            "names": {name: (mathml_name(name), mathml_cell(name, ("{0}",))) for name in names},
        }


def _all_nodes(tree: Expression) -> Iterator[Expression]:
    """The nodes of an equation, and those of indices that are worked out, such as [j - i]."""
    for node in walk(tree):
        yield node
        if isinstance(node, Ref):
            for index in node.indices:
                if isinstance(index, Call):
                    yield from walk(index)


def _array(matrix: Matrix) -> dict[str, Any]:
    """The cells of an array, row after row, as they were written; else as numbers."""
    if matrix.written is not None:
        texts = [str(text) for text in matrix.written.ravel().tolist()]
        return {"shape": matrix.shape, "written": texts}
    numbers = np.asarray(matrix.value, dtype=np.float64).ravel().tolist()
    # JSON has no infinity.
    spelled = [number if math.isfinite(number) else repr(number) for number in numbers]
    return {"shape": matrix.shape, "numbers": spelled}
