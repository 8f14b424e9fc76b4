"""The decimals that were asked for, which come before the digits that were written.

Every decimal is read with as many: 0.5 where two are asked is 0.50, and 0 for 0.07 is 0.00, which
is not right. Of 0.3333, the two that were asked for are held against the solution, no more.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np

from attncli.answers.model import Answers, CellOfStep, Claim


def with_decimals_asked(answers: Answers, decimals: int | None) -> Answers:
    """The answers, each decimal of which claims so many decimals; as they are for None.

    What is exact, as 1/3 and -inf are, stays so.
    """
    if decimals is None:
        return answers
    half = Decimal((0, (5,), -decimals - 1))
    claims: dict[CellOfStep, Claim] = {}
    for name, answer in answers.steps.items():
        for index, claim in np.ndenumerate(answer.cells):
            if isinstance(claim, Claim) and not claim.exact:
                claims[name, index] = replace(claim, half=half, half_as_written=claim.half)
    return answers.with_claims(claims)
