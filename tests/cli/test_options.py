"""Every value of an option is read by our own rules; a bad one is refused with what would have been right."""

import pytest

from attncli.cli.main import run
from attncli.cli.options import index, names, page_format, whole
from attncli.dtypes import PRECISION
from attncli.english import shorten
from attncli.errors import AttncliError, Exit


def refusal(error: pytest.ExceptionInfo[AttncliError]) -> tuple[str, str]:
    assert error.value.exit_code == Exit.USAGE
    return error.value.message, error.value.help


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("3", 3), ("15", 15), ("07", 7)])
def test_whole_numbers(text: str, number: int) -> None:
    assert whole("--precision", text, allowed=PRECISION) == number


@pytest.mark.parametrize(
    "text",
    ["", " 3", "3.0", "+3", "-1", "16", "nan", "inf", "1e400", "1_0", "0x3", "٣", "³", "three", "9" * 5000],
)
def test_what_is_no_precision(text: str) -> None:
    with pytest.raises(AttncliError) as caught:
        whole("--precision", text, allowed=PRECISION)
    assert refusal(caught) == (f"--precision cannot be {shorten(repr(text))}", "give a whole number from 0 to 15")


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("12", 12), ("-1", -1)])
def test_places_count_from_0_and_whether_one_is_there_is_told_later(text: str, number: int) -> None:
    assert index("--head", text) == number


@pytest.mark.parametrize("text", ["", "1.0", "+1", "first", "--1", "1_0", "٣", "0\n", "9" * 10])
def test_what_is_no_place(text: str) -> None:
    with pytest.raises(AttncliError) as caught:
        index("--head", text)
    assert refusal(caught) == (f"--head cannot be {text!r}", "give a whole number: --head 0 is the first")


@pytest.mark.parametrize(
    ("option", "value", "help"),
    [
        ("--format", "markdwon", "did you mean markdown?"),
        ("--format", "Table", "did you mean table?"),
        ("--format", "", "choose table, markdown, latex or json"),
        ("--detail", "all", "choose brief, rows or cells"),
        ("--rounding", "nearest", "choose exact, shown or paper"),
        ("--dtype", "float", "did you mean float64?"),
        ("--dtype", "int8", "choose float16, bfloat16, float32 or float64"),
        ("--dtype", "fp16", "did you mean float16?"),
        ("--dtype", "half", "did you mean float16?"),
        ("--dtype", "BF16", "did you mean bfloat16?"),
        ("--dtype", "fp32", "did you mean float32?"),
        ("--dtype", "fp64", "did you mean float64?"),
        ("--dtype", "double", "did you mean float64?"),
        ("--device", "cuda", "did you mean gpu?"),
        ("--device", "tpu1", "choose cpu or gpu"),
        ("--color", "yes", "choose auto, always or never"),
        ("--math", "katex", "choose fences or dollars"),
    ],
)
def test_a_word_that_is_not_known(option: str, value: str, help: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compute", "problem.yaml", option, value]) == Exit.USAGE
    assert capsys.readouterr().err == f"attncli: error: {option} cannot be {value!r}\nhelp: {help}\n"


def test_names() -> None:
    assert names("--steps", "weights, output") == ("weights", "output")


@pytest.mark.parametrize("text", ["", ",", "weights,", "weights,,output"])
def test_a_missing_name(text: str) -> None:
    with pytest.raises(AttncliError) as caught:
        names("--steps", text)
    assert refusal(caught) == (
        f"--steps lacks a name in {text!r}",
        "put one comma between names: --steps weights,output",
    )


@pytest.mark.parametrize(
    ("given", "output", "format"),
    [
        (None, None, "table"),
        (None, "-", "table"),
        (None, "a", "table"),
        (None, "a.txt", "table"),
        (None, "a.md", "markdown"),
        (None, "a.tex", "latex"),
        (None, "dir.md/a.JSON", "json"),
        ("json", None, "json"),
        ("latex", "a.txt", "latex"),
        ("table", "a.pdf", "table"),
    ],
)
def test_the_format_follows_the_option_and_then_the_suffix(given: str | None, output: str | None, format: str) -> None:
    assert page_format(given, output) == format


HELP = "end the name in .txt, .md, .tex or .json, or say which of these it is with --format"


def test_a_suffix_of_something_else_is_refused() -> None:
    with pytest.raises(AttncliError) as caught:
        page_format(None, "a.PDF")
    assert refusal(caught) == (
        "-o a.PDF: attncli does not write .pdf files",
        HELP,
    )
    with pytest.raises(AttncliError) as caught:
        page_format(None, "a.npz", arrays=True)
    assert refusal(caught)[1] == f"{HELP}; .npy holds the array of one step"
