"""The rules of all steps by name, and their letters in formulas.

Everything that a page says or a program computes about a step comes from its rule. The rules of
computed steps are in `steps.py`, those of the loss in `losses.py`. This module makes the rules of
given arrays from the rows of `keys.py`, and the rules of gradients from the rules of the arrays
that they belong to; `backward.py` finds their equations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from attncli.attention.losses import LOSS_RULES, TARGET
from attncli.attention.steps import BACKWARD_ORDER, COMPUTED, FOR_GRADIENTS
from attncli.equation.nodes import Call, Equation, Expression, Name, Ref, rename, rewrite
from attncli.equation.rule import Rule, UnparsedCell
from attncli.equation.symbols import differential, plain_name, unicode_name
from attncli.errors import did_you_mean
from attncli.problem.keys import ARRAYS, GivenArray
from attncli.problem.parts.positions import POSITIONS

# What the gradient of a step of a problem's own equations is.
OF_OWN = "How much the result grows with each number of this step."


def gradient_name(name: str) -> str:
    """What the gradient of a step is called."""
    return f"d_{name}"


def _given(array: GivenArray) -> Rule:
    return Rule(
        array.name,
        array.symbol or array.name,
        array.title,
        UnparsedCell(array.cell),
        meaning=array.meaning,
        when=array.when,
        gradient=array.gradient or "",
    )


# If they are given directly, they come last, where they would be computed.
_PROJECTED = ("Q", "K", "V")
GIVEN = (
    *(_given(array) for name, array in ARRAYS.items() if name not in _PROJECTED),
    _given(ARRAYS["Q"]),
    Rule(
        "new_K",
        "K_new",
        "New keys",
        UnparsedCell("new_K[s, k]"),
        meaning="one row per new token: its key.",
        when="if the problem gives past and K",
    ),
    _given(ARRAYS["K"]),
    Rule(
        "new_V",
        "V_new",
        "New values",
        UnparsedCell("new_V[s, c]"),
        meaning="one row per new token: its value.",
        when="if the problem gives past and V",
    ),
    _given(ARRAYS["V"]),
)


def _by_name(rules: Iterable[Rule]) -> dict[str, Rule]:
    """These rules by their names; of two with the same name, the second."""
    return {rule.name: rule for rule in rules}


def gradient_rule(of: Rule) -> Rule:
    """The rule of a gradient, before its equation is known."""
    cell = str(of.formula).partition(" = ")[0]
    return Rule(
        gradient_name(of.name),
        differential(of.symbol),
        f"Gradient of the {of.title[0].lower()}{of.title[1:]}",
        UnparsedCell(gradient_name(cell)),
        meaning=of.gradient,
        why=of.gradient_why,
        when=f"in the backward pass, if there is {of.name}",
        own=of.own,
    )


def _gradients() -> Iterable[Rule]:
    """The gradient of every step that has one, in order of work, with the helpers that gradients
    read.
    """
    helpers = _by_name(FOR_GRADIENTS)
    known = FORWARD | helpers
    for name in BACKWARD_ORDER:
        if name in helpers:
            yield helpers[name]
        # Delta has no gradient: it is a sum of gradients.
        if name != "delta":
            yield gradient_rule(known[name])


COMPUTED_RULES = _by_name(COMPUTED)
FORWARD = _by_name((*GIVEN, *COMPUTED))
GRADIENT_RULES = _by_name(_gradients())
GIVEN_RULES = _by_name((*GIVEN, TARGET, GRADIENT_RULES["d_output"]))
RULES = FORWARD | LOSS_RULES | GRADIENT_RULES


def known_rule(name: str) -> Rule:
    """The rule of a step of ours by its name; KeyError for a name that none has.

    Where equations of a problem's own read what is inside of the softmax, this has gradients, too.
    """
    if name in RULES:
        return RULES[name]
    of = name.removeprefix(gradient_name(""))
    if of == name:
        raise KeyError(name)
    return gradient_rule(FORWARD[of])


# In expressions, d_v is the width of the values. The gradient of v has the same name, but no step
# reads it.
_SYMBOLS = {name: rule.symbol for name, rule in RULES.items() if name != "d_v"}


def _called() -> Iterator[tuple[str, str]]:
    """The letters of formulas, each with the step that it stands for; the transposed keys have the
    letter of those that positions have in the place of K.
    """
    for name, rule in RULES.items():
        yield rule.symbol, name
    for kind in POSITIONS.values():
        if "K" in kind.replaces:
            yield f"{RULES[kind.replaces['K']].symbol}_T", "K_T"


# Every step by its name, and by its letter in each spelling that pages use: Z', Kᵀ or K^T.
STEP_NAMES: Mapping[str, str] = {
    spelled: name
    for spell in (str, plain_name, unicode_name)
    for symbol, name in _called()
    for spelled in (spell(symbol), name)
}
# What papers and other programs call a step.
_CALLED_ELSEWHERE = {
    "softmax": "weights",
    "attention": "weights",
    "probs": "weights",
    "logits": "scaled",
    "qk^t": "scores",
}
_BY_TITLE = {rule.title.lower(): name for name, rule in RULES.items()}


def step_called(name: str) -> str:
    """The step that a heading of a page, a paper or another program calls so; empty for none."""
    said = " ".join(name.lower().replace("_", " ").split())
    return _CALLED_ELSEWHERE.get(said) or _BY_TITLE.get(said, "")


def step_meant(name: str, known: Sequence[str], otherwise: str) -> str:
    """A help line for a name that no step has: the one of the `known` names that is meant, as by
    the heading of a page, or the nearest one; `otherwise` where there is none.

    >>> step_meant("Attention weights", ["scores", "weights"], "")
    'did you mean weights?'
    """
    meant = step_called(name)
    if meant in known:
        return f"did you mean {meant}?"
    return did_you_mean(name, [*known], otherwise)


def is_small(rule: Rule) -> bool:
    """Whether a step neither has a number for each pair of query and key, nor is computed from such
    numbers.
    """
    return "i" not in rule.target.letters or not (
        "j" in rule.target.letters or rule.name in ("row_max", "row_sum")
    )


def holds_scores(names: Collection[str]) -> bool:
    """Whether one of these steps has a number for each pair of query and key."""
    return any(
        not is_small(RULES[name]) and "j" in RULES[name].target.letters
        for name in names
        if name in RULES
    )


def in_symbols(expression: Expression, own: Sequence[tuple[str, str]] = ()) -> Expression:
    """An expression with the letters of steps in place of their names: S for scores, Aᵀ for the
    weights transposed.
    """

    def turned(node: Expression) -> Expression:
        match node:
            case Call(function="transposed", arguments=(Name(name=name),)):
                return Name(f"{name}_T")
            case _:
                return node

    symbols = {**_SYMBOLS, **dict(own)} if own else _SYMBOLS
    return rewrite(rename(expression, symbols), turned)


def headline(rule: Rule) -> Equation | None:
    """The matrix form in the letters of formulas, S = Q K^T; None if there is only the index
    form.
    """
    return (
        None
        if rule.matrix_form is None
        else Equation(Ref(rule.symbol), in_symbols(rule.matrix_form, rule.symbols))
    )


def cell_form(rule: Rule) -> Equation:
    """The index form in the letters of formulas: S[i, j] = Σ_k Q[i, k]·Kᵀ[k, j]."""
    expression = in_symbols(rule.equation.expression, rule.symbols)
    return Equation(Ref(rule.symbol, rule.target.indices), expression)
