"""A problem as data for a page that works itself out: its numbers as they were written, and its
equations as trees.

There is a plan for every setting that a page offers: each mask, with and without the scale, with
the plain softmax and the shifted one, and each mistake that can be made in it. A page needs no
other knowledge of attention.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from attncli.answers.model import CLOSE, ONE_UNIT_OFF
from attncli.attention.plan import Plan, has_sink, plan_for
from attncli.dtypes import DTYPES
from attncli.equation.error_bounds import magnitude
from attncli.equation.functions import FUNCTIONS
from attncli.equation.indexing import GROUP_MEMBER
from attncli.equation.mathml import MATHML, mathml_cell, mathml_name
from attncli.equation.nodes import Call, Expression, Name, Number, Reduce, Ref, walk
from attncli.equation.notation import ATOM, PRODUCT, UNICODE, Notation, Spelling
from attncli.equation.rule import Rule
from attncli.equation.shapes import index_sizes
from attncli.mistakes.catalogue import applicable
from attncli.mistakes.model import with_changes
from attncli.page.derivation import beginning, sections_of
from attncli.page.document import MOST_ROWS_SHOWN as EDGES
from attncli.page.document import (
    Block,
    Cell,
    Document,
    Grid,
    Heading,
    Lazy,
    Live,
    Once,
    Paragraph,
    Product,
    Worked,
)
from attncli.page.heads import MOST_PARTS_SHOWN as MOST_PARTS
from attncli.page.printer import GIVEN_DECIMALS, printer_for
from attncli.page.printer import MOST_NUMBERS_WITH_RESIDUES as LARGEST_WITH_RESIDUES
from attncli.page.relation import NO_DIVISOR
from attncli.page.remarks import ROUNDED, closing
from attncli.page.view import View
from attncli.page.worked.line import NO_KEY
from attncli.page.worked.visibility import FALSE, HIDDEN, TRUE, VISIBLE
from attncli.problem import keys
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.model import Problem
from attncli.problem.parts.axes import BATCH, HEAD, LEADING
from attncli.problem.parts.masks import Clause, Mask, MaskSizes
from attncli.problem.parts.masks.additive import Additive
from attncli.problem.parts.masks.causal import Causal
from attncli.problem.parts.masks.keep_and_hide import Keep
from attncli.problem.parts.offset import Offset
from attncli.problem.saving import as_yaml
from attncli.tracing.labels import labels
from attncli.tracing.magnitudes import HONEST_EPSILONS
from attncli.tracing.model import Trace
from attncli.tracing.run import run
from attncli.tracing.shift import FEWEST_DECIMALS, Shift
from attncli.tracing.slices import axis_length, backward_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

# the mask whose cells a reader has clicked
OWN = "own"
# the same on top of the numbers that the mask of the problem adds
OVER = "over"
# computed ones; a page of more would be slow to follow an edit
MOST_CELLS = 20_000
FLOAT64 = DTYPES["float64"]
# in numbers, and between stages
PRINTED = ("neg", "ratio", "multiple", "sqrt", "comes_to", "comes_near", "sub")
Tree: TypeAlias = "str | float | list[Any]"
# by the mask, the scale, and whether the softmax is shifted
Traces: TypeAlias = Mapping[tuple[str, bool, bool], Trace]


def with_live(page: Document, problem: Problem, trace: Trace, view: View) -> Document:
    """The page of a whole trace with what it needs to work itself out, or with a note that says why
    it does not.
    """
    if any(part is not None for part in (view.steps, view.cell, view.query, view.head, view.entry)):
        return page
    why = why_static(trace, view)
    if why is None:
        return replace(page, live=lambda: live(problem, trace, view))

    def blocks() -> Iterator[Block]:
        remaining = iter(page.blocks)
        yield next(remaining)
        yield Paragraph((f"The numbers of this page cannot be changed: {why}.",), "note")
        yield from remaining

    return replace(
        page,
        blocks=(
            type(page.blocks)(blocks) if isinstance(page.blocks, Lazy | Once) else tuple(blocks())
        ),
    )


def why_static(trace: Trace, view: View) -> str | None:
    """Why a page cannot work this trace out; None where it can."""
    settings = trace.settings
    if settings.rounding != "shown":
        return "they are exact" if settings.rounding == "exact" else "they are rounded as on paper"
    if settings.dtype != "float64":
        return f"they are {settings.dtype}"
    if settings.device != "cpu":
        return "they were worked out on a GPU"
    if view.heatmap:
        return "they are shaded"
    if backward_steps(trace):
        return "gradients are worked out by attncli alone"
    if view.ends and (
        max(max(step.shape, default=0) for step in trace.steps.values()) > EDGES
        or _has_many_parts(trace)
    ):
        return "the page does not have all of them; --all shows all"
    if sum(step.value.size for step in trace.computed()) > MOST_CELLS or not all(
        step.kept for step in trace.steps.values()
    ):
        return "there are too many of them"
    return None


def _has_many_parts(trace: Trace) -> bool:
    return math.prod(axis_length(trace, letter) for letter in trace.leading_letters) > MOST_PARTS


def live(problem: Problem, trace: Trace, view: View) -> Live:
    """What the page of this trace needs to work itself out; the problem as data, and the page in
    every setting.
    """
    traces = _traces(problem, view.precision, first=trace.shifted)
    layouts = {
        layout_name(*setting): tuple(_layout(found, view)) for setting, found in traces.items()
    }
    return Live(_Writer(problem, view.precision, view.detail, traces).data(), layouts)


def _traces(problem: Problem, precision: int, *, first: bool = False) -> Traces:
    """The problem worked out in every setting; that of the page itself comes first, if it `first`
    is shifted.
    """
    return {
        (mask, scaled, shifted): run(other, precision=precision, shifted=shifted)
        for mask, scaled, other in settings_of(problem)
        for shifted in (first, not first)
    }


def layout_name(mask: str, scaled: bool, shifted: bool) -> str:
    """The words of a setting, as the script spells them."""
    return f"{mask} {scaled} {shifted}".replace("True", "true").replace("False", "false")


def _layout(trace: Trace, view: View) -> Iterator[Block]:
    """The blocks of a page, without its numbers and its summary."""
    # numbers and lines that are left out need not be made
    printer = replace(printer_for(trace, view), lazy=True)
    yield from beginning(printer, view)
    yield from map(_without_numbers, sections_of(printer, tuple(trace.steps), view))
    yield from closing(printer, words=not trace.leading_letters)


def _without_numbers(block: Block) -> Block:
    """The same block for any numbers."""
    match block:
        case Heading(number=int()):
            return block._replace(number=0)
        case Grid():
            return _zeros(block)
        case Product():
            factors, added = (tuple(map(_zeros, grids)) for grids in (block.factors, block.added))
            result = _zeros(block.result)
            return block._replace(factors=factors, added=added, result=result, instead=(result,))
        case Worked():
            return Worked(())
    return block


def _zeros(grid: Grid) -> Grid:
    width = max(1, len(grid.columns) or len(next(iter(grid.cells))))
    return grid._replace(cells=tuple((Cell("0"),) * width for _ in grid.rows))


def live_data(problem: Problem, precision: int, detail: str = "rows") -> dict[str, Any]:
    """The problem as data that JSON can hold: what `render/html/script/model.js` reads.

    `arrays` are the given ones, and those of masks, with the texts of their numbers, or the numbers
    where nobody wrote them. `rules` are all steps of any setting, each once; a plan lists them by
    their places. A rule of a mistake says only what differs from the rule that it is `instead` of.
    """
    return _Writer(problem, precision, detail, _traces(problem, precision)).data()


def settings_of(problem: Problem) -> Iterator[tuple[str, bool, Problem]]:
    """Every mask and scale that a page offers, by their words, with the problem that has them; the
    given ones first.
    """
    for mask in _masks(problem):
        for scaled, scale in _scales(problem):
            yield mask[0], scaled, replace(problem, mask=mask[1], scale=scale)


def _masks(problem: Problem) -> Iterator[tuple[str, Mask]]:
    given = problem.mask
    yield "given", given
    if given.parts:
        yield "none", Mask()
    if given.parts != (Causal(),):
        yield "causal", Mask((Causal(),))
    clicked = _clicked(problem)
    yield OWN, Mask((clicked,))
    added = tuple(part for part in given.parts if isinstance(part, Additive) and part.adds_numbers)
    if added:
        # without the corner of parts that are left out: no file could say it
        yield OVER, Mask((*added, clicked))


class _FurtherKeep(Keep):
    """A matrix with a name of its own beside that of the problem, which stays as it is."""

    __slots__ = ()
    suffix = "_own"

    def clause(self, offset: Offset, suffix: str) -> Clause:
        return super().clause(offset, self.suffix)


def _clicked_name(problem: Problem) -> str:
    """What the matrix of the cells that a reader has clicked is called."""
    return Keep.name + _FurtherKeep.suffix * any(
        isinstance(part, Keep) for part in problem.mask.parts
    )


def _clicked(problem: Problem) -> Keep:
    """A mask whose cells can be clicked, one for each head and entry between which the mask of the
    problem differs.
    """
    rule = next((rule for rule in plan_for(problem).rules if rule.name == "mask"), None)
    letters = rule.target.letters if rule else ()
    sizes = MaskSizes.of(problem.given)
    batch, heads = (
        size if letter in letters else 1
        for letter, size in ((BATCH, sizes.batch), (HEAD, sizes.heads))
    )
    leading = (batch, heads) if batch > 1 else (heads,) if heads > 1 else ()
    every = np.ones((*leading, sizes.queries, sizes.keys), dtype=bool)
    name = _clicked_name(problem)
    return (Keep if name == Keep.name else _FurtherKeep)(
        Matrix(every, _names_of_cells(name, every.shape))
    )


def _scales(problem: Problem) -> Iterator[tuple[bool, Scalar | keys.ScaleWord]]:
    can_scale = isinstance(problem.scale, Scalar) or keys.SCORES[problem.score].divided
    scaled = can_scale and problem.scale != "none"
    yield scaled, problem.scale
    if can_scale:
        yield not scaled, "none" if scaled else "default"


class _Writer:
    """Collects rules, labels and arrays of all settings, each once."""

    def __init__(self, problem: Problem, precision: int, detail: str, traces: Traces) -> None:
        self.problem, self.precision, self.detail, self.traces = problem, precision, detail, traces
        self.mistakes: list[str] = []
        self.rules: list[dict[str, Any]] = []
        self.labels: list[tuple[str, ...]] = []
        self.arrays: dict[str, dict[str, Any]] = {}
        self.functions: set[str] = {*PRINTED}
        self.names: set[str] = set()  # in equations
        self._places: dict[tuple[Any, ...], int] = {}

    def data(self) -> dict[str, Any]:
        """All of it."""
        settings = [self._setting(*each) for each in settings_of(self.problem)]
        plan, base = plan_for(self.problem), self.problem.exp_base
        shift = Shift.at(max(self.precision, FEWEST_DECIMALS), self.problem, FLOAT64)
        terms = len(self.problem.context_tokens) + has_sink(self.problem)
        return {
            "precision": self.precision,
            "detail": self.detail,
            "given_decimals": GIVEN_DECIMALS,
            "letters": {"leading": list(LEADING), "group": GROUP_MEMBER},
            "given": list(plan.given),
            "mask": "mask",
            "weights": "weights",
            "mixed": next(
                rule.name for rule in plan.softmax_rules(shift=False) if "weights" in rule.inputs
            ),
            "own": _clicked_name(self.problem),
            "yaml": self._yaml(self.problem)[0],
            "arrays": self.arrays,
            "labels": self.labels,
            "rules": self.rules,
            "settings": settings,
            "mistakes": self.mistakes,
            "shift": {
                "steepness": math.log(base.value if base else math.e),
                "highest": FLOAT64.highest_exponent_of(terms),
                "lowest": shift.lowest,
            },
            "residue": {
                "noise": HONEST_EPSILONS * FLOAT64.epsilon,
                "epsilon": FLOAT64.epsilon,
                "smallest": FLOAT64.smallest,
                "most": LARGEST_WITH_RESIDUES,
            },
            "judging": {"one_unit_off": ONE_UNIT_OFF, "exactly": CLOSE},
            "command": _command(self.precision, self.detail),
            "functions": {name: self._function(name) for name in sorted(self.functions)},
            "notation": _forms(UNICODE) | {"product": PRODUCT, "atom": ATOM},
            "mathml": self._mathml(),
            "words": {
                "no_key": NO_KEY,
                "no_divisor": NO_DIVISOR[0],
                "true": TRUE,
                "false": FALSE,
                "visible": VISIBLE,
                "hidden": HIDDEN,
                "rounded": ROUNDED,
            },
        }

    def _setting(self, mask: str, scaled: bool, problem: Problem) -> dict[str, Any]:
        plan = plan_for(problem)
        shapes = {
            name: given.value.shape
            for name, given in plan.parameters.items()
            if isinstance(given, Matrix)
        }
        for name, matrix in (*plan.given.items(), *plan.parameters.items()):
            if isinstance(matrix, Matrix):
                self.arrays.setdefault(name, _array(matrix))
        before = [self._rule(plan, rule, shapes) for rule in plan.rules]
        return {
            "mask": mask,
            "words": plan.problem.mask.names,
            "scaled": scaled,
            "logits": plan.logits,
            "plain": (
                before
                + [self._rule(plan, rule, shapes) for rule in plan.softmax_rules(shift=False)]
            ),
            "shifted": (
                before + [self._rule(plan, rule, shapes) for rule in plan.softmax_rules(shift=True)]
            ),
            "mistakes": {
                word: self._mistakes(plan, self.traces[mask, scaled, shifted])
                for word, shifted in (("plain", False), ("shifted", True))
            },
            "yaml": self._yaml(problem)[1],
            "scalars": {
                name: given.written
                for name, given in plan.parameters.items()
                if isinstance(given, Scalar)
            },
        }

    def _yaml(self, problem: Problem) -> tuple[str, str]:
        """The file of a problem, with the name of its cell for every number, and apart from it what
        settings change.

        Both are empty where there are so many numbers that they need a file of their own.
        """
        renamed = {
            kept: name for name, kept in zip(plan_for(problem).given, problem.given, strict=True)
        }
        given = {
            name: Matrix(matrix.value, _names_of_cells(renamed[name], matrix.shape))
            for name, matrix in problem.given.items()
        }
        text, arrays = as_yaml(replace(problem, given=given), "")
        if arrays:
            return "", ""
        keys = re.split(r"^(?=\w)", text, flags=re.MULTILINE)
        changed = {key for key in keys if key.startswith(("mask:", "scale:"))}
        return "".join(key for key in keys if key not in changed), "".join(
            key for key in keys if key in changed
        )

    def _rule(self, plan: Plan, rule: Rule, shapes: dict[str, tuple[int, ...]]) -> int:
        """The place of a rule among all, after writing it there; `shapes` are those of the steps
        before it.
        """
        letters, tree = rule.target.letters, rule.expression
        if rule.given:
            sizes: Mapping[str, int] = dict(zip(letters, plan.given[rule.name].shape, strict=True))
        else:
            sizes = {**index_sizes(rule.equation, shapes), **plan.sizes}
        shapes[rule.name] = tuple(sizes[letter] for letter in letters)
        key = (rule.name, letters, tree)
        if key not in self._places:
            self._places[key] = len(self.rules)
            axes = [self._axis(names) for names in labels(plan.problem, rule, shapes[rule.name])]
            written = {
                "name": rule.name,
                "symbol": rule.symbol,
                "cell": letters,
                "shape": shapes[rule.name],
                "axes": rule.axis_names,
                "labels": axes,
            }
            self.rules.append(
                written if tree is None else written | self._equation(rule, tree, sizes)
            )
        return self._places[key]

    def _mistakes(self, plan: Plan, trace: Trace) -> list[list[int]]:
        """Every mistake that can be made here: its place among all, and those of its rules.

        Without those that put numbers in the place of a step, such as rounding: the numbers of a
        page change.
        """
        found = []
        for mistake, changes in applicable(trace):
            if any(isinstance(change, np.ndarray) for change in changes.values()):
                continue
            if mistake.name not in self.mistakes:
                self.mistakes.append(mistake.name)
            steps = with_changes(trace, changes).steps
            rules = [self._instead(plan, trace, steps[name].rule) for name in changes]
            found.append([self.mistakes.index(mistake.name), *rules])
        return found

    def _instead(self, plan: Plan, trace: Trace, wrong: Rule) -> int:
        """The place of a rule with a mistake, after writing down how it differs from the right
        one.
        """
        tree = wrong.equation.expression
        key = (wrong.name, wrong.target.letters, tree)
        if key not in self._places:
            base = self._rule(plan, trace.steps[wrong.name].rule, trace.shapes())
            sizes = trace.sizes(wrong.equation)
            self._places[key] = len(self.rules)
            self.rules.append({"instead": base} | self._equation(wrong, tree, sizes, right=False))
        return self._places[key]

    def _axis(self, names: tuple[str, ...]) -> int:
        if names not in self.labels:
            self.labels.append(names)
        return self.labels.index(names)

    def _equation(
        self, rule: Rule, tree: Expression, sizes: Mapping[str, int], *, right: bool = True
    ) -> dict[str, Any]:
        kinds = {
            "copies": rule.is_copy,
            "hides": rule.only_hides,
            "divides": right and rule.divides_rows,
        }
        bound = (
            magnitude(rule.equation, FLOAT64.epsilon).expression
            if right and not rule.divides_rows
            else None
        )
        indices = [
            each
            for node in walk(tree)
            if isinstance(node, Ref)
            for each in node.indices
            if isinstance(each, Call)
        ]
        nodes = [node for part in (tree, *indices) for node in walk(part)]
        self.functions |= {node.function for node in nodes if isinstance(node, Call | Reduce)}
        self.names |= {name for node in (rule.target, *nodes) for name in _names(node)}
        summed = {node.index for node in walk(tree) if isinstance(node, Reduce)}
        return {
            "equation": as_tree(tree),
            "runs": {letter: sizes[letter] for letter in sorted(summed)},
            **{kind: True for kind, holds in kinds.items() if holds},
            **({} if bound is None else {"magnitude": as_tree(bound)}),
        }

    def _mathml(self) -> dict[str, Any]:
        """The notation of formulas: how functions are spelled, and names alone and with indices in
        the place of {0}.
        """
        symbols = {rule["name"]: rule["symbol"] for rule in self.rules if "symbol" in rule}
        names = {symbols.get(name, name) for name in self.names}
        return _forms(MATHML) | {
            "tall": MATHML.tall,
            "tall_parenthesis": MATHML.tall_parenthesis,
            "functions": {
                name: _spelling(MATHML.spelling(name)) for name in sorted(self.functions)
            },
            "names": {
                name: (mathml_name(name), mathml_cell(name, ("{0}",))) for name in sorted(names)
            },
        }

    def _function(self, name: str) -> dict[str, Any]:
        """How a function is spelled, and what is known of it when a line is worked."""
        known, found = FUNCTIONS.get(name), _spelling(UNICODE.spelling(name))
        if known and known.zero_arguments:
            found["zero_arguments"] = known.zero_arguments
        if known and known.looked_up:
            found["looked_up"] = True
        return found


def _command(precision: int, detail: str) -> str:
    """The command line that works out the file that a page saves, as this page does."""
    usual = View()
    options = f" --precision {precision}" * (
        precision != usual.precision
    ) + f" --detail {detail}" * (detail != usual.detail)
    return f"attncli compute problem.yaml{options}"


def as_tree(node: Expression) -> Tree:
    """An expression as nested lists: ["sum", "k", ["mul", ["@", "Q", "i", "k"], ["@", "K_T", "k",
    "j"]]].

    A name is its text, a number of an equation a number, or ["#", "-inf"] and ["#", "1e9"]; ["@",
    …] is a cell.
    """
    match node:
        case Number(value=value, text=text):
            assert value is not None
            if math.isinf(value) or "e" in text:
                return ["#", text]
            return int(value) if value == int(value) else float(value)
        case Name(name=name):
            return name
        case Ref(name=name, indices=indices):
            return [
                "@",
                name,
                *(index if isinstance(index, str) else as_tree(index) for index in indices),
            ]
        case Call(function=function, arguments=arguments):
            return [function, *map(as_tree, arguments)]
        case Reduce(function=function, index=index, body=body):
            return ["sum" if function == "add" else "largest", index, as_tree(body)]


def _names(node: Expression) -> Iterator[str]:
    """The names in a node itself, and the letters of its indices."""
    match node:
        case Name(name=name):
            yield name
        case Ref(name=name, indices=indices):
            yield from (name, *(index for index in indices if isinstance(index, str)))
        case Reduce(index=index):
            yield index


def _forms(notation: Notation) -> dict[str, Any]:
    return {
        "equals": notation.equals,
        "nearly": notation.nearly,
        "parenthesis": notation.parenthesis,
        "sum": notation.sums,
        "largest": notation.maxima,
    }


def _spelling(spelling: Spelling) -> dict[str, Any]:
    found: dict[str, Any] = {
        "form": spelling.form,
        "level": spelling.level,
        "needs": spelling.needs,
    }
    if spelling.separator:
        found["separator"] = spelling.separator
    if spelling.of_number:
        found["of_number"] = _spelling(spelling.of_number)
    if spelling.of_tall:
        found["of_tall"] = _spelling(spelling.of_tall)
    return found


def _names_of_cells(name: str, shape: tuple[int, ...]) -> NDArray[np.object_]:
    """What stands for each number of an array in a file that the script fills in: ⟨X:0⟩, ⟨X:1⟩,
    …
    """
    return np.array(
        [f"⟨{name}:{place}⟩" for place in range(math.prod(shape))], dtype=object
    ).reshape(shape)


def _array(matrix: Matrix) -> dict[str, Any]:
    """The cells of an array, row after row: as they were written, or where nobody wrote them as
    numbers.
    """
    if matrix.written is not None:
        return {
            "shape": matrix.shape,
            "written": [str(text) for text in matrix.written.ravel().tolist()],
        }
    numbers = np.asarray(matrix.value, dtype=np.float64).ravel().tolist()
    return {
        "shape": matrix.shape,
        "numbers": [number if math.isfinite(number) else repr(number) for number in numbers],
    }
