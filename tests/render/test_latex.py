"""LaTeX: everything is escaped, and the page really compiles where a TeX is installed."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pages import EVERY_BLOCK, HOSTILE, dot, grid, number, page

from attncli.equation.nodes import Call, Name
from attncli.equation.parser import parse_equation
from attncli.errors import AttncliError
from attncli.features.steps.page import full_page
from attncli.page.derivation import derivation
from attncli.page.document import (
    Block,
    Cell,
    Document,
    Formula,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Room,
    Table,
    Worked,
    WorkedLine,
    text,
)
from attncli.page.gradient import gradient_page
from attncli.page.view import View
from attncli.problem.loader import load
from attncli.problem.model import Problem
from attncli.render import Style
from attncli.render import render as whole
from attncli.render.latex import FRAGMENT_BEGINS, FRAGMENT_ENDS
from attncli.render.latex.escape import escape, length
from attncli.render.latex.matrix import ABOVE_THE_ROWS
from attncli.tracing import run
from tests.cases import in_one_test

FRAGMENT = Style(fragment=True)


def render(document: Document, format: str, style: Style | None = None) -> str:
    """The page; a fragment without the paragraph that it begins and ends."""
    text = whole(document, format, style)
    if style is not FRAGMENT:
        return text
    assert FRAGMENT_BEGINS in text
    assert text.endswith(FRAGMENT_ENDS)
    return text.replace(FRAGMENT_BEGINS, "").removesuffix(FRAGMENT_ENDS) + "\n"


@in_one_test(
    ("written", "latex"),
    [
        ("I love AI", "I love AI"),
        ("_&#%$", r"\_\&\#\%\$"),
        ("{b}", r"\{b\}"),
        ("^~", r"\^{}\~{}"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("[a]", "{[}a{]}"),
        ("a--b", "a-{}-{}b"),
        ("é ñ ü Å č ő ş ï", r"\'{e} \~{n} \"{u} \r{A} \v{c} \H{o} \c{s} \"{\i}"),
        ("e\u0301", r"\'{e}"),
        ("Łódź ß", r"\L{}\'{o}d\'{z} \ss{}"),
        ("ễ ậ ỉ", r"$\tilde{\mbox{\^{e}}}$ $\hat{\mbox{\d{a}}}$ U+1EC9\allowbreak{}"),
        ("███ █", r"\rule{1.5em}{1.4ex} \rule{0.5em}{1.4ex}"),
        ("日", r"U+65E5\allowbreak{}"),
        ("ą", r"U+0105\allowbreak{}"),
        ("😀", r"U+1F600\allowbreak{}"),
        ("1/√d × 2 — “so”", r"1/$\surd$d $\times$ 2 --- ``so''"),
        ('a "word" ("or two")', "a ``word'' (``or two'')"),
        ('6" "', "6'' ''"),
        ("\x1b", r"\textbackslash{}x1b"),
        ("2.3\u0305 0.1\u03044\u0304", r"2.$\overline{3}$ 0.$\overline{14}$"),
        ("0.1\u030742857\u0307", r"0.$\dot{1}$4285$\dot{7}$"),
        ("½ 1⅞", r"$\frac{1}{2}$ 1$\frac{7}{8}$"),
        ("2⁻¹ H₂O", r"2$^{-}$$^{1}$ H$_{2}$O"),
        ("3¹⁄₂", r"3$^{1}$/$_{2}$"),
        ("2⋅3∙4∗5∕6", r"2$\cdot$3$\cdot$4$\ast$5/6"),
        ("⅟", r"U+215F\allowbreak{}"),
        ("a → b␣", r"a $\rightarrow$ b\textvisiblespace{}"),
    ],
)
def test_text_is_escaped(written: str, latex: str) -> None:
    assert escape(written) == latex


def test_any_character_becomes_ascii() -> None:
    everything = "".join(
        map(chr, [*range(0x250), *range(0x370, 0x400), *range(0x2000, 0x2270), 0xD800, 0x1F600])
    )
    assert escape(everything).isascii()


# Widths of Computer Modern at 11 pt, in digits, from the font's own metrics.
@in_one_test(
    ("text", "width"),
    [("WWW", 6.17), ("love", 3.34), ("illl", 2.2), ("日", 7.4), ("mmMM", 7.0), ("0123", 4.0)],
)
def test_the_room_for_a_text_is_never_less_than_it_takes(text: str, width: float) -> None:
    assert width <= length(text) <= 1.6 * width


def test_a_matrix_has_its_name_and_labels_outside_and_points_in_line() -> None:
    assert (
        render(page(grid("E", ("a_b", "c"), ("I",), "1", "10.068")), "latex", FRAGMENT)
        == "{\\nopagebreak\\raggedright\\leftskip=1.5em"
        "\\parskip=4pt\\lineskip=4pt\\linepenalty=1000\n"
        "$\\rule{0pt}{\\dimexpr\\arraystretch\\normalbaselineskip*13/10+1.1em\\relax}\n"
        f"\\begin{{array}}{{@{{}}l@{{\\;}}}}{ABOVE_THE_ROWS}\n"
        "  E \\\\\n"
        "  \\hbox{a\\_b} \\\\\n"
        "  \\hbox{c}\n"
        "\\end{array}\n"
        f"\\left(\\begin{{array}}{{@{{\\,}}c@{{\\,}}}}{ABOVE_THE_ROWS}\n"
        "  \\hbox{I} \\\\\n"
        "  \\hfill 1\\phantom{.068} \\\\\n"
        "  \\hfill 10.068\n"
        "\\end{array}\\right)$\\par}\n"
    )


@pytest.mark.parametrize(
    ("column", "written"),
    [
        ("-3.5 12", [r"\phantom{0}{-3.5}", r"\phantom{-}{12\phantom{.5}}"]),
        ("1 0", ["1", "0"]),
        ("1/2 -10", [r"\frac{1}{2}", "-10"]),
    ],
)
def test_numbers_stand_in_the_middle_below_a_wide_name(column: str, written: list[str]) -> None:
    shown = render(page(grid("E", ("a", "b"), ("a wide name",), *column.split())), "latex")
    numbers = shown[shown.index("a wide name} \\\\\n") :].splitlines()[1:3]
    assert [row.strip().removesuffix(r" \\") for row in numbers] == written


def test_wide_and_long_matrices_come_in_blocks() -> None:
    rows = tuple(f"r{n}" for n in range(40))
    written = render(
        page(grid("W", rows, tuple("abcdefghijklmnopqrst"), *(" ".join("1" * 20) for _ in rows))),
        "latex",
        FRAGMENT,
    )
    captions = [
        line.removeprefix(r"{\small ").removesuffix(":}")
        for line in written.splitlines()
        if " of " in line
    ]
    assert captions == [
        f"columns {columns} of 20, rows {rows} of 40"
        for columns in ("1--8", "9--16", "17--20")
        for rows in ("1--14", "15--28", "29--40")
    ]


def test_a_vector_has_no_line_for_labels_of_columns() -> None:
    written = render(page(grid("r", ("a",), (), "5")), "latex", FRAGMENT)
    assert "  r \\\\\n  \\hbox{a}\n" in written
    assert "  \\hbox{} \\\\\n  \\hfill 5\n" in written


@pytest.mark.parametrize(
    ("number", "lines"), [("1/3", "1.5"), ("", "1.85"), ("1.5e+20", "1.2"), ("2", None)]
)
def test_all_rows_of_matrices_side_by_side_are_as_high_as_the_highest(
    number: str, lines: str | None
) -> None:
    high = Grid(Name("Q"), ("a", "b"), ("c",), ((Cell(number),), (Cell("1"),)))
    low = grid("K", ("a", "b"), ("c",), "1", "2")
    paragraphs = (Paragraph(("Queries.",)), high, Paragraph(("Keys.",)), low)
    written = render(page(*paragraphs), "latex", FRAGMENT)
    found = re.findall(r"\\renewcommand\{\\arraystretch\}\{([0-9.]+)\}", written)
    assert found == ([lines] if lines else [])


def test_labels_too_long_or_without_letters_are_explained_once() -> None:
    names = ("I", "人工", "a label with rather too many words")
    lines = (WorkedLine("I → 人工", result=number("1")), WorkedLine(names[2], result=number("1")))
    written = render(
        page(grid("S", names, names, "1 2 3", "4 5 6", "7 8 9"), Worked(lines)), "latex", FRAGMENT
    )
    said = (
        r"In labels, T1~=~U+4EBA\allowbreak{}U+5DE5\allowbreak{}, T2~=~a label with rather too many"
        r" words."
    )
    assert written.startswith(rf"{{\raggedright {said}\par}}")
    assert written.count("U+") == 2
    assert "  \\hbox{I} \\\\\n  \\hbox{T1} \\\\\n  \\hbox{T2}\n" in written
    assert r"I $\rightarrow$ T1 &" in written


def test_what_stands_for_a_label_is_no_label_itself() -> None:
    written = render(page(grid("S", ("T1", "日"), ("a", "b"), "1 2", "3 4")), "latex")
    assert "  \\hbox{T1} \\\\\n  \\hbox{TT1}\n" in written


ROW = r"{\nopagebreak\raggedright\leftskip=1.5em\parskip=4pt\lineskip=4pt\linepenalty=1000"
GAP = r"\hskip2em minus1em"


def test_the_formulas_of_a_step_stand_side_by_side_on_the_page_of_their_neighbours() -> None:
    headline = Formula(parse_equation("S = Q @ K_T"), ((3, 4), (4, 3), (3, 3)))
    cell = Formula(parse_equation("S[i, j] = Q[i, j]"))
    written = render(
        page(Paragraph(("Why.",)), headline, cell, grid("S", ("a",), ("b",), "1")),
        "latex",
        FRAGMENT,
    )
    assert written.startswith(
        f"Why.\n\n{ROW}\n$\\displaystyle S = Q \\, K^{{\\top}}$\\hskip2em minus1em\n"
        f"$\\displaystyle S_{{i,j}} = Q_{{i,j}}${GAP}\n"
        f"$(3 \\times 4) \\cdot (4 \\times 3) = (3 \\times 3)$\\par}}\\par\\nopagebreak"
        f"\n\n{ROW}\n$\\rule"
    )


def test_a_legend_stays_with_its_matrix() -> None:
    shown = Grid(Name("S"), ("a",), ("b",), ((Cell("1", hidden=True),),))
    assert "\\right)$\\par}\n\n\\nopagebreak{\\small\\leftskip=1.5em\\leavevmode\\color" in render(
        page(shown), "latex", FRAGMENT
    )


def test_given_arrays_stand_in_a_row_below_what_they_are() -> None:
    inputs, weights = grid("X", ("a",), ("b",), "1"), grid("W_Q", ("b",), ("c",), "2")
    blocks = (Paragraph(("Input X.",)), inputs, Paragraph(("Weights W.",)), weights)
    written = render(page(*blocks), "latex", FRAGMENT)
    assert written.startswith(f"Input X.\\quad Weights W.\n\n{ROW}\n$\\rule")
    assert written.count(ROW) == 1
    # Where they do not fit on a line, each has its own, and all are on the page of the matrices.
    said = "Weights W: " + "they turn an embedding into a query, " * 3
    long = (*blocks[:2], Paragraph((said,)), weights)
    assert render(page(*long), "latex", FRAGMENT).startswith(
        "{\\parskip=2pt\nInput X.\\par\\nopagebreak\nWeights W: they"
    )
    assert re.findall(r"^  (?:X|\\smash\{W\^\{Q\}\}) ", written, re.MULTILINE) == [
        "  X ",
        r"  \smash{W^{Q}} ",
    ]


def test_matrices_of_one_name_stand_each_below_what_tells_them_apart() -> None:
    matrix = grid("S", ("a",), ("b",), "1")
    written = render(
        page(Paragraph(("Head 0:",)), matrix, Paragraph(("Head 1:",)), matrix), "latex", FRAGMENT
    )
    assert [line for line in written.splitlines() if "Head" in line or "  S " in line] == [
        "Head 0:",
        "  S \\\\",
        "Head 1:",
        "  S \\\\",
    ]


def test_short_worked_lines_stand_beside_their_matrix_and_long_ones_below() -> None:
    short = WorkedLine("a", dot(("2", "3")), number("6"))
    beside = render(page(grid("S", ("a",), ("b",), "6"), Worked((short,))), "latex", FRAGMENT)
    lines = "\\begin{tabular}{@{}l@{\\quad}l@{}}\na & $2 \\cdot 3 = 6$ \\\\\n\\end{tabular}\\par}"
    assert f"\\right)${GAP}\n{lines}" in beside
    long = WorkedLine("a", dot(*[("0.123", "4.567")] * 6), number("3.37"), holds=False)
    below = render(page(grid("S", ("a",), ("b",), "6"), Worked((short, long))), "latex", FRAGMENT)
    assert "tabular" not in below
    assert below.count(r"\makebox") == 2


def test_a_fragment_names_its_package_and_has_no_preamble() -> None:
    shaded = render(page(grid("A", ("a",), ("b",), "0.5", shaded=True)), "latex", FRAGMENT)
    assert shaded.startswith("% Needs \\usepackage{color} in the preamble.\n")
    assert "documentclass" not in shaded
    assert render(page(Paragraph(("plain",))), "latex", FRAGMENT) == "plain\n"


def test_sections_to_fill_in_stand_beside_each_other_where_a_line_has_room() -> None:
    def section(title: str, columns: int) -> tuple[Block, ...]:
        heads = tuple("abcdefgh"[:columns])
        blanks = ((Cell(""),) * columns,)
        formula = Formula(parse_equation("S = Q @ K_T"))
        return Heading(title, 1, step="S"), formula, Grid(Name("S"), ("t",), heads, blanks)

    def halves(*blocks: Block) -> list[str]:
        written = render(page(*blocks), "latex")
        parts = written.split(r"\begin{minipage}")[1:]
        return ["".join(re.findall("One|Two|Three|Wide", part)) for part in parts]

    one, two, three = (section(title, 3) for title in ("One", "Two", "Three"))
    assert halves(*one, *two, *three) == ["One", "TwoThree"]
    assert halves(*one, *section("Wide", 5), *two) == ["One", "WideTwo"]
    assert halves(*one, *section("Wide", 8), *two) == []
    assert halves(*one, *section("Wide", 8), *two, *three) == ["Two", "Three"]
    # Two of six columns are too wide for halves.
    assert halves(*section("Wide", 6), *section("Wide", 6)) == []
    # What has room for calculations, or an explanation, needs its whole width.
    assert halves(*one, Room(3), *two) == []
    assert halves(one[0], Paragraph(("Why.",)), *one[1:], *two) == []


def test_the_headings_of_a_fragment_are_out_of_the_numbering_around_it() -> None:
    document = page(Heading("Scores", 5, step="scores"))
    assert r"\section*{5\quad Scores}" in render(document, "latex")
    assert r"\section*{Scores}" in render(document, "latex", FRAGMENT)
    below = Style(fragment=True, heading_level=2)
    assert r"\subsubsection*{Scores}" in render(document, "latex", below)


def test_worked_lines_are_inline_math_so_that_they_break() -> None:
    line = WorkedLine("I", dot(("2", "-2"), ("0", "1")), number("-4"), holds=False)
    assert r"$2 \cdot (-2) + 0 \cdot 1 \approx -4$\par" in render(page(Worked((line,))), "latex")


def test_a_long_sum_may_be_broken_before_its_terms_and_nowhere_else() -> None:
    """By itself TeX breaks after any operator: inside a product, and with the plus at the end of a
    line.
    """
    sums = Worked((WorkedLine("I", dot(*[("0.360", "0.938")] * 12), number("4.052"), holds=False),))
    highest = Worked(
        (WorkedLine("I", Call("max", tuple(map(number, map(str, range(20))))), number("19")),)
    )
    stages = (
        Call(
            "comes_near", (Call("comes_to", (dot(*[("1.5", "2")] * 9), number("27"))), number("3"))
        ),
        number("3"),
    )
    written = render(page(sums, highest, Worked((WorkedLine("I", *stages),))), "latex")
    assert r"2 \allowbreak = 27 \allowbreak \approx 3 \allowbreak = 3$" in written
    terms = r" \allowbreak + ".join([r"0.360 \cdot 0.938"] * 12)
    assert rf"${terms} \allowbreak \approx 4.052$" in written
    assert r"$\max(0, \allowbreak 1, \allowbreak 2, " in written
    assert written.count(r"\binoppenalty=10000\relpenalty=10000") == 3


def test_a_long_formula_in_a_table_can_be_broken() -> None:
    rule = text("`where(j <= i and j >= i - 2 and j <= i + 2, 0, -inf)`")
    written = render(
        page(Table(("formula", "meaning"), ((rule, ("what may be seen, and from where, " * 3,)),))),
        "latex",
    )
    assert r"$0 \;\mathrm{if}\; j \le i" in written
    assert r"\begin{tabular}{@{}p{" in written


ENGINES = ("pdflatex", "xelatex", "lualatex")
BLOCKS: dict[str, tuple[Block, ...]] = {
    "every block": EVERY_BLOCK,
    "hostile text": tuple(
        block
        for written in HOSTILE
        for block in (
            Heading(written),
            Paragraph((written,)),
            Paragraph((written,), kind="note"),
            grid("S", (written, "b"), (written, "c"), "1 2", "3 4"),
            Worked((WorkedLine(written, result=number("1"), remark=(written,)),)),
            Table((written, "b"), (((written,), text("`Q @ K_T`")),), (1,)),
            Listing(((written,),)),
        )
    ),
    "wide and long": (
        grid(
            "W_Q",
            tuple(f"token{n}" for n in range(40)),
            tuple(f"feature{n}" for n in range(20)),
            *(" ".join(f"-{row}.{column:03}" for column in range(20)) for row in range(40)),
        ),
        Worked((WorkedLine("I", dot(*[("0.123", "-4.567")] * 60), number("3.37"), holds=False),)),
        Table(("step", "text"), tuple((("word " * 30,), ("more " * 40,)) for _ in range(40))),
    ),
    "wide labels": (
        grid(
            "S",
            ("人工智能", "W" * 14),
            tuple(letter * 8 for letter in "WMmAi@%日"),
            "1/3 " * 8,
            "-0.5 " * 8,
        ),
        Worked(tuple(WorkedLine(letter * 12, result=number("1")) for letter in "WMmAi@%日")),
    ),
    "steps": full_page().blocks,
}


@pytest.mark.at_most(8)
@pytest.mark.sampled(1)
@pytest.mark.tex
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", BLOCKS)
def test_it_compiles(engine: str, name: str, tmp_path: Path) -> None:
    assert "Overfull" not in compiled(engine, render(page(*BLOCKS[name]), "latex"), tmp_path)


@pytest.mark.sampled(1, "long")
@pytest.mark.each_choice
@pytest.mark.tex
@pytest.mark.parametrize("options", ["", "[fleqn]"])
@pytest.mark.parametrize("packages", ["color,tikz", "color,tikz,amsmath,amssymb"])
def test_a_fragment_fits_into_other_documents(options: str, packages: str, tmp_path: Path) -> None:
    body = render(page(*EVERY_BLOCK), "latex", FRAGMENT)
    head = f"\\documentclass{options}{{article}}\n\\usepackage{{{packages}}}\n\\begin{{document}}\n"
    compiled("pdflatex", f"{head}{body}\\end{{document}}\n", tmp_path)


INPUTS = Path(__file__).parents[2] / "inputs"
NAMES = sorted(file.name for file in INPUTS.glob("*.[jy]*"))


def of_file(name: str, *, gradient: bool = False) -> str:
    """What `attncli compute inputs/NAME -o page.tex` writes, or `attncli gradient`."""
    problem = load(str(INPUTS / name))
    if gradient:
        return render(gradient_page(run(problem, gradient=True), View()), "latex")
    return render(derivation(run(problem), View()), "latex")


@pytest.mark.tex
@pytest.mark.sampled(1)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_small_problem_takes_three_pages(engine: str, tmp_path: Path) -> None:
    log = compiled(engine, of_file("i_love_ai.yaml"), tmp_path)
    assert "Overfull" not in log
    assert page_count(log) in (2, 3)


@pytest.mark.tex
@pytest.mark.at_most(41)
@pytest.mark.sampled(1)
@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_no_page_has_a_line_that_is_too_long_or_a_hole(
    name: str, gradient: bool, tmp_path: Path
) -> None:
    try:
        source = of_file(name, gradient=gradient)
    except AttncliError:
        pytest.skip("has no gradient")
    log = compiled(
        "pdflatex",
        source.replace("\\begin{document}\n", "\\begin{document}\n\\tracingpages1\n"),
        tmp_path,
    )
    assert "Overfull" not in log
    # Up to 20 lines and their matrix stay together with their heading: before twelve wide rows half
    # of a page may be left.
    assert max(blank_parts(log)[: page_count(log) - 1], default=0) < 0.55


def page_count(log: str) -> int:
    found = re.search(r"Output written on page\.pdf \((\d+) page", log)
    assert found
    return int(found[1])


def blank_parts(log: str) -> list[float]:
    r"""How much of each page stays blank at its foot, from what \tracingpages tells: its best break
    ends in #.
    """
    parts, best = [], 0.0
    for line in log.splitlines():
        if line.startswith("%% goal height"):
            parts.append(best)
        elif found := re.match(r"% t=([\d.]+).* g=([\d.]+).*#$", line):
            best = 1 - float(found[1]) / float(found[2])
    return [*parts[1:], best]


def compiled(engine: str, source: str, folder: Path) -> str:
    """The log of a compilation that had no error and found every character."""
    if not shutil.which(engine):
        pytest.skip(f"{engine} is not installed")
    (folder / "page.tex").write_text(source, encoding="ascii")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"]
    result = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    log = (folder / "page.log").read_text(encoding="utf-8", errors="replace")
    assert result.returncode == 0, log[-2000:]
    assert "Missing character" not in log
    return log


def test_what_a_long_sum_leaves_out_is_said_in_tex(problem: Callable[..., Problem]) -> None:
    long = [[1.5] * 20]
    page = derivation(run(problem(Q=long, K=long, V=[[1]])), View(steps=("scores",)))
    text = render(page, "latex")
    assert r"\ldots\;9\;\mathrm{more}\;\ldots" in text
    assert "…" not in text


def test_a_name_of_codes_leaves_its_neighbours_room() -> None:
    """Codes may be broken after each, so a column beside a long one is as wide as its own longest
    word.
    """
    counts = ("marks", "right", "carried", "rounding", "wrong", "missing")
    cells = (("देवनागरीनमस्ते",), *((name,) for name in counts), ("weights, t1 → t2",))
    written = "".join(
        render(page(Table(("student", *counts, "first"), (cells,), tuple(range(1, 7)))), "latex")
    )
    name, first = (float(share) for share in re.findall(r"p\{([0-9.]+)\\linewidth\}", written))
    assert first * 90 >= length("weights,")
    assert name * 90 >= length("न")


def test_no_page_ends_between_a_formula_and_its_matrix() -> None:
    heading = Heading("Row sums", 7, step="row_sum")
    formula = Formula(parse_equation("r = row_sums(E)"))
    rows = tuple(f"t{number}" for number in range(12))
    tall = Grid(Name("r"), rows, (), tuple((Cell("1"),) for _ in rows))
    given = Grid(Name("V"), rows, ("d1",), tuple((Cell("1"),) for _ in rows))
    written = render(page(heading, formula, Paragraph(("Values V",)), given, tall), "latex")
    # A matrix of so many rows has no word of its own that holds it to what is above it.
    assert written.count("\\par\\nopagebreak\n\n") == 2
    assert "Values V\\par\\nopagebreak\n\n" in written
