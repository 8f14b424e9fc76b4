"""Every value of an option is read by our own rules; a bad one is refused with what would have been
right.
"""

from pathlib import Path

import pytest

from attncli.cli.look import page_format
from attncli.cli.main import run
from attncli.cli.options import index, names, whole
from attncli.dtypes import PRECISION
from attncli.english import shorten
from attncli.errors import AttncliError, Exit
from tests.cases import in_one_test

LOVE = str(Path(__file__).parents[2] / "inputs" / "i_love_ai.yaml")


def refusal(error: pytest.ExceptionInfo[AttncliError]) -> tuple[str, str]:
    assert error.value.exit_code == Exit.USAGE
    return error.value.message, error.value.help


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("3", 3), ("15", 15), ("07", 7)])
def test_whole_numbers(text: str, number: int) -> None:
    assert whole("--precision", text, allowed=PRECISION) == number


@in_one_test(
    "text",
    [
        "",
        " 3",
        "3.0",
        "+3",
        "-1",
        "16",
        "nan",
        "inf",
        "1e400",
        "1_0",
        "0x3",
        "٣",
        "³",
        "three",
        "9" * 5000,
    ],
)
def test_what_is_no_precision(text: str) -> None:
    with pytest.raises(AttncliError) as caught:
        whole("--precision", text, allowed=PRECISION)
    assert refusal(caught) == (
        f"--precision cannot be {shorten(repr(text))}",
        "give a whole number from 0 to 15",
    )


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("12", 12), ("-1", -1)])
def test_places_count_from_0_and_whether_one_is_there_is_told_later(text: str, number: int) -> None:
    assert index("--head", text) == number


@in_one_test("text", ["", "1.0", "+1", "first", "--1", "1_0", "٣", "0\n", "9" * 10])
def test_what_is_no_place(text: str) -> None:
    with pytest.raises(AttncliError) as caught:
        index("--head", text)
    assert refusal(caught) == (
        f"--head cannot be {text!r}",
        "give a whole number: --head 0 is the first",
    )


@pytest.mark.parametrize(
    ("option", "value", "help"),
    [
        ("--format", "markdwon", "did you mean markdown?"),
        ("--format", "", "choose table, markdown, latex, html, json, pdf, csv, tsv or xlsx"),
        ("--detail", "all", "choose brief, rows or cells"),
        ("--rounding", "nearest", "choose exact, shown or paper"),
        ("--dtype", "float", "did you mean float64?"),
        ("--dtype", "int8", "choose float16, bfloat16, float32 or float64"),
        ("--device", "tpu1", "choose cpu or gpu"),
        ("--color", "yes", "choose auto, always or never"),
        ("--math", "katex", "choose fences or dollars"),
    ],
)
def test_a_word_that_is_not_known(
    option: str, value: str, help: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compute", "problem.yaml", option, value]) == Exit.USAGE
    assert (
        capsys.readouterr().err == f"attncli: error: {option} cannot be {value!r}\nhelp: {help}\n"
    )


@pytest.mark.sampled(4, "long")
@pytest.mark.parametrize(
    ("option", "typed", "word"),
    [
        ("--format", "md", "markdown"),
        ("--format", "tex", "latex"),
        ("--format", "JSON", "json"),
        ("--format", "txt", "table"),
        ("--dtype", "fp16", "float16"),
        ("--dtype", "half", "float16"),
        ("--dtype", "BF16", "bfloat16"),
        ("--dtype", "fp32", "float32"),
        ("--dtype", "double", "float64"),
        ("--rounding", "Paper", "paper"),
    ],
)
def test_another_name_of_a_word_is_understood(
    option: str, typed: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = []
    for value in (typed, word):
        assert run(["compute", LOVE, option, value]) == Exit.OK
        pages.append(capsys.readouterr().out)
    assert pages[0] == pages[1]


SUFFIXES = [".ods", ".ipynb", ".xml", ".toml", ".pt", ".yaml", ".foo", "."]
COMMANDS = {
    "compute": [LOVE],
    "gradient": [LOVE],
    "check": [LOVE, LOVE],
    "compare": [LOVE, "--set", "mask=causal"],
    "cost": [LOVE],
    "picture": [LOVE],
    "scaling": [LOVE],
    "worksheet": [LOVE],
    "steps": [],
    "schema": ["problem"],
}


@pytest.mark.each_choice
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_with_an_unknown_suffix_is_refused_with_the_known_ones(
    command: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / f"x{suffix}"
    assert run([command, *COMMANDS[command], "-o", str(output)]) == Exit.USAGE
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"attncli: error: -o {output}: this command does not write {suffix} files"
    assert second.startswith("help: end the name in .")
    assert not output.exists()


def test_a_text_file_holds_the_page_of_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(["compute", LOVE]) == run(["compute", LOVE, "-o", str(tmp_path / "x.txt")]) == Exit.OK
    )
    assert (tmp_path / "x.txt").read_text(encoding="utf-8") == capsys.readouterr().out


def test_names() -> None:
    assert names("--steps", "weights, output") == ("weights", "output")


@pytest.mark.parametrize("text", ["", ",", "weights,", "weights,,output"])
def test_a_missing_name(text: str) -> None:
    with pytest.raises(AttncliError) as caught:
        names("--steps", text)
    assert refusal(caught) == (
        f"--steps has an empty name in {text!r}",
        "put one comma between names: --steps weights,output",
    )


@in_one_test(
    ("given", "output", "format"),
    [
        (None, None, "table"),
        (None, "-", "table"),
        (None, "a", "table"),
        (None, "a.txt", "table"),
        (None, "a.md", "markdown"),
        (None, "a.tex", "latex"),
        (None, "dir.md/a.JSON", "json"),
        (None, "a.PDF", "pdf"),
        ("json", None, "json"),
        ("latex", "a.txt", "latex"),
        ("table", "a.pdf", "table"),
    ],
)
def test_the_format_follows_the_option_and_then_the_suffix(
    given: str | None, output: str | None, format: str
) -> None:
    assert page_format(given, output) == format


HELP = "end the name in .txt, .md, .tex, .html, .json or .pdf, or choose a format with --format"


def test_a_suffix_of_something_else_is_refused() -> None:
    with pytest.raises(AttncliError) as caught:
        page_format(None, "a.ODT")
    assert refusal(caught) == (
        "-o a.ODT: this command does not write .odt files",
        HELP,
    )
    with pytest.raises(AttncliError) as caught:
        page_format(None, "a.npz", data=("npy", "csv", "tsv"))
    assert refusal(caught)[1] == f"{HELP}; .npy, .csv and .tsv hold the numbers of one step"
