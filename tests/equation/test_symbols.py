"""Names are spelled by their parts: the letter, its mark, the transpose."""

from __future__ import annotations

from attncli.equation.nodes import Name, Ref
from attncli.equation.notation import LATEX, PLAIN, UNICODE
from attncli.equation.printer import write
from attncli.equation.symbols import Symbol, differential, latex_name, symbol
from tests.cases import in_one_test


@in_one_test(
    ("name", "parts"),
    [
        ("Q", Symbol("Q")),
        ("W_Q", Symbol("W", "Q")),
        ("K_T", Symbol("K", "", True)),
        ("K_rot_T", Symbol("K", "rot", True)),
        ("Z'", Symbol("Z'")),
        ("row_max", Symbol("row_max")),
        ("scores", Symbol("scores")),
        ("gain_q", Symbol("gain", "q")),
        ("key_sum_2", Symbol("key_sum", "2")),
        ("gain_q_T", Symbol("gain", "q", True)),
        ("gain_'", Symbol("gain_'")),
    ],
)
def test_the_parts_of_a_name(name: str, parts: Symbol) -> None:
    assert symbol(name) == parts


@in_one_test(
    ("name", "plain", "unicode", "latex", "cell"),
    [
        ("Q", "Q", "Q", "Q", "Q_{i,j}"),
        ("W_Q", "W_Q", "W_Q", "W^{Q}", "W^{Q}_{i,j}"),
        ("b_Q", "b_Q", "b_Q", "b^{Q}", "b^{Q}_{i,j}"),
        ("Q_rot", "Q_rot", "Q_rot", r"Q^{\mathrm{rot}}", r"Q^{\mathrm{rot}}_{i,j}"),
        ("S_cap", "S_cap", "S_cap", r"S^{\mathrm{cap}}", r"S^{\mathrm{cap}}_{i,j}"),
        ("K_T", "K^T", "Kᵀ", r"K^{\top}", r"K^{\top}_{i,j}"),
        ("K_rot_T", "K_rot^T", "K_rotᵀ", r"K^{\mathrm{rot}\top}", r"K^{\mathrm{rot}\top}_{i,j}"),
        ("d_k", "d_k", "d_k", "d_{k}", "{d_{k}}_{i,j}"),
        ("d_Q", "d_Q", "d_Q", "d_{Q}", "{d_{Q}}_{i,j}"),
        ("d_model", "d_model", "d_model", r"d_{\mathrm{model}}", r"{d_{\mathrm{model}}}_{i,j}"),
        ("d", "d", "d", "d", "d_{i,j}"),
        ("W_kv", "W_kv", "W_kv", r"W^{\mathrm{kv}}", r"W^{\mathrm{kv}}_{i,j}"),
        ("row_max", "row_max", "row_max", r"\mathrm{row~max}", r"\mathrm{row~max}_{i,j}"),
        ("Z'", "Z'", "Z'", "Z'", "Z'_{i,j}"),
        ("gain_q", "gain_q", "gain_q", r"\mathrm{gain}^{q}", r"\mathrm{gain}^{q}_{i,j}"),
        ("own_0", "own_0", "own_0", r"\mathrm{own}^{(0)}", r"\mathrm{own}^{(0)}_{i,j}"),
    ],
)
def test_names_in_every_notation(
    name: str, plain: str, unicode: str, latex: str, cell: str
) -> None:
    assert [write(Name(name), notation) for notation in (PLAIN, UNICODE, LATEX)] == [
        plain,
        unicode,
        latex,
    ]
    assert write(Ref(name, ("i", "j")), LATEX) == cell
    assert write(Ref(name, ("i", "j")), UNICODE) == f"{unicode}[i, j]"


def test_a_numbered_letter_is_no_power() -> None:
    assert latex_name("W_2") == "W^{(2)}"


def test_a_gradient_is_called_after_its_symbol() -> None:
    assert [differential(name) for name in ("Q", "W_Q", "Z'", "concat")] == [
        "dQ",
        "dW_Q",
        "dZ'",
        "d concat",
    ]
