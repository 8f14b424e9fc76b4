"""What people write in other notations is refused with the form that is right here."""

from __future__ import annotations

from typing import Any

import pytest

import attncli

QKV: dict[str, Any] = {"Q": [[1, 0], [0, 1]], "K": [[1, 2], [2, 1]], "V": [[1], [2]]}


@pytest.mark.parametrize(
    ("right", "help"),
    [
        (
            "sum(Q[i, k] * K[j, k])",
            "name the letter that it runs over: sum(k, Q[i, k] * K[j, k])",
        ),
        ("Q @ K.T", "write the product with indices: sum(k, Q[i, k] * K[j, k])"),
        ("Q[i, 0] ^ 2", "write ** for a power: x ** 2"),
        ("Q[i, k] * K[j, k]", "put it on the left side, or write sum(k, …)"),
        ("Q[i, min(j, 1)]", "of two numbers, a position stands last: min(1, j)"),
        ("pow(Q[i, 0], 2)", "write ** for a power: x ** 2"),
        ("norm(Q[i, 0])", "write sqrt(sum(k, x[k] ** 2)), with the letter that it runs over"),
        ("np.exp(Q[i, 0])", "write exp(x)"),
        ("Q[i][0]", "write Q[i, k]"),
        ("2 Q[i, 0]", "write * between them: 2 * …"),
        ("2(Q[i, 0])", "write *: 2 * (…)"),
        ("|Q[i, 0]|", "write abs(x) for the size of x"),
        ("ln(Q[i, 0])", "write log(x)"),
        ("Q[i, 0] × 2", "write *"),
        ("(j <= i) + 1", "it stands first in a choice: write where(j <= i, 1, 0)"),
        ("where(Q[i, 0] and j <= i, 1, 0)", "write 0 < Q[i, 0]"),
        ("A[i, j]", "write weights[i, j]: A is its symbol on the page"),
    ],
)
def test_the_help_has_the_right_form(right: str, help: str) -> None:
    with pytest.raises(attncli.AttncliError) as caught:
        attncli.trace(**QKV, equations=[f"scores[i, j] = {right}"])
    assert caught.value.help == help
