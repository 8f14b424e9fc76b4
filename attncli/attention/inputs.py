"""The arrays a problem may give, each with its letter, its axes and what it is for."""

from __future__ import annotations

from attncli.attention.written import Written

GIVEN = (
    Written(
        "X", "X", "Input", "X[i, d]",
        meaning="one row per token, one column per feature of its embedding.",
        when="where Q is projected, and where K or V is and there is no context",
    ),
    Written(
        "context", "C", "Context", "context[j, d]",
        meaning="the other sequence, where keys and values come from.",
        when="in cross-attention, where K or V is projected from it instead of from X",
    ),
    Written(
        "W_Q", "W_Q", "Query weights", "W_Q[d, k]",
        meaning="turns an embedding into a query.",
        when="unless Q is given directly",
    ),
    Written(
        "W_K", "W_K", "Key weights", "W_K[d, k]",
        meaning="turns an embedding into a key.",
        when="unless K is given directly",
    ),
    Written(
        "W_V", "W_V", "Value weights", "W_V[d, c]",
        meaning="turns an embedding into a value.",
        when="unless V is given directly",
    ),
    Written(
        "W_O", "W_O", "Output weights", "W_O[e, o]",
        meaning="mixes what all heads have found into the output.",
        when="where the problem gives it",
    ),
    Written(
        "b_Q", "b_Q", "Query bias", "b_Q[k]",
        meaning="added to every query.",
        when="where the problem gives it, beside W_Q",
    ),
    Written(
        "b_K", "b_K", "Key bias", "b_K[k]",
        meaning="added to every key.",
        when="where the problem gives it, beside W_K",
    ),
    Written(
        "b_V", "b_V", "Value bias", "b_V[c]",
        meaning="added to every value.",
        when="where the problem gives it, beside W_V",
    ),
    Written(
        "b_O", "b_O", "Output bias", "b_O[o]",
        meaning="added to every row of the output.",
        when="where the problem gives it, beside W_O",
    ),
    Written(
        "past_K", "K_past", "Cached keys", "past_K[u, k]",
        meaning="one row per earlier token: its key, kept from when it was new.",
        when="where the problem gives past",
    ),
    Written(
        "past_V", "V_past", "Cached values", "past_V[u, c]",
        meaning="one row per earlier token: its value, kept from when it was new.",
        when="where the problem gives past",
    ),
    Written(
        "W_a", "W_a", "Score weights", "W_a[p, k]",
        meaning="compares a query with a key (Luong).",
        when="with score: multiplicative",
    ),
    Written(
        "W_1", "W_1", "Score weights of the queries", "W_1[p, a]",
        meaning="brings a query into the hidden layer (Bahdanau).",
        when="with score: additive",
    ),
    Written(
        "W_2", "W_2", "Score weights of the keys", "W_2[k, a]",
        meaning="brings a key into the hidden layer (Bahdanau).",
        when="with score: additive",
    ),
    Written(
        "v", "v", "Score vector", "v[a]",
        meaning="turns the hidden layer into one number.",
        when="with score: additive",
    ),
    Written(
        "slopes", "slopes", "Slopes", "slopes",
        meaning="how much a score loses with each position that a key is away, in each head.",
        when="with alibi, where the problem gives slopes for several heads",
    ),
    Written(
        "sink", "sink", "Sinks", "sink",
        meaning="one more logit in the softmax of every row of a head, of no key.",
        when="where the problem gives sink for each head",
    ),
    Written(
        "Q", "Q", "Queries", "Q[i, k]",
        meaning="one row per query: what each token is looking for.",
        when="where the problem gives it",
    ),
    Written(
        "new_K", "K_new", "New keys", "new_K[s, k]",
        meaning="one row per new token: its key.",
        when="where the problem gives past and K",
    ),
    Written(
        "K", "K", "Keys", "K[j, k]",
        meaning="one row per key: what each token offers to be found by.",
        when="where the problem gives it",
    ),
    Written(
        "new_V", "V_new", "New values", "new_V[s, c]",
        meaning="one row per new token: its value.",
        when="where the problem gives past and V",
    ),
    Written(
        "V", "V", "Values", "V[j, c]",
        meaning="one row per value: what each token hands over.",
        when="where the problem gives it",
    ),
)  # fmt: skip
