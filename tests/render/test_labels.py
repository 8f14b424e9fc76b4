"""What people wrote stays visible and harmless."""

from attncli.escaping import label, visible
from tests.cases import in_one_test


@in_one_test(
    ("written", "shown"),
    [
        ("love", "love"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("nul\0", r"nul\x00"),
        ("\x9b2J", r"\x9b2J"),
        ("\u202etxet", r"\u202etxet"),
        ("a\u200bb", r"a\u200bb"),
        ("\u2028", r"\u2028"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("日本 é e\u0301 👩\u200d👧", "日本 é e\u0301 👩\u200d👧"),
    ],
)
def test_unseen_characters_are_escaped_and_words_left_alone(written: str, shown: str) -> None:
    assert visible(written) == shown


@in_one_test(
    ("written", "shown"),
    [(" love", "␣love"), ("a b", "a b"), ("a  ", "a␣␣"), ("  ", "␣␣"), ("\u00a0x", "␣x"), ("", "")],
)
def test_spaces_at_the_ends_of_a_token_are_shown(written: str, shown: str) -> None:
    assert label(written) == shown
