"""Counts and lists read as a person would write them."""

from attncli.english import a, count, either, listed
from tests.cases import in_one_test


@in_one_test(
    ("number", "words", "said"),
    [
        (0, ["row"], "0 rows"),
        (1, ["row"], "1 row"),
        (2, ["query"], "2 queries"),
        (2, ["key"], "2 keys"),
        (1, ["index", "indices"], "1 index"),
        (1024, ["index", "indices"], "1,024 indices"),
    ],
)
def test_counts(number: int, words: list[str], said: str) -> None:
    assert count(number, *words) == said


def test_the_article_agrees() -> None:
    assert [a(word) for word in ("head", "entry")] == ["a head", "an entry"]


def test_the_verb_agrees() -> None:
    assert [either(number, "does", "do") for number in (0, 1, 2)] == ["do", "does", "do"]


@in_one_test(
    ("words", "options", "said"),
    [
        ("", {}, ""),
        ("a", {}, "a"),
        ("ab", {}, "a and b"),
        ("abc", {}, "a, b and c"),
        ("abc", {"last": "or"}, "a, b or c"),
        ("abc", {"last": ""}, "a, b, c"),
        ("abcd", {"most": 3}, "a, b, c, …"),
        ("abc", {"last": "", "most": 3}, "a, b, c"),
    ],
)
def test_lists(words: str, options: dict[str, object], said: str) -> None:
    assert listed(list(words), **options) == said  # type: ignore[arg-type]
