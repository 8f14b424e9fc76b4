"""LaTeX: everything is escaped, and the page really compiles where a TeX is installed."""

import shutil
import subprocess
from pathlib import Path

import pytest
from pages import EVERY_BLOCK, HOSTILE, dot, grid, number, page

from attncli.page.catalogue import catalogue
from attncli.page.document import Block, Heading, Listing, Paragraph, Table, Worked, WorkedLine, text
from attncli.render import Style, render
from attncli.render.latex.escape import escape, length

FRAGMENT = Style(fragment=True)


@pytest.mark.parametrize(
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
        ("日", r"U+65E5\allowbreak{}"),
        ("ą", r"U+0105\allowbreak{}"),
        ("😀", r"U+1F600\allowbreak{}"),
        ("1/√d × 2 — “so”", r"1/$\surd$d $\times$ 2 --- ``so''"),
        ("\x1b", r"\textbackslash{}x1b"),
        ("a → b␣", r"a $\rightarrow$ b\textvisiblespace{}"),
    ],
)
def test_text_is_escaped(written: str, latex: str) -> None:
    assert escape(written) == latex


def test_any_character_becomes_ascii() -> None:
    everything = "".join(map(chr, [*range(0x250), *range(0x370, 0x400), *range(0x2000, 0x2270), 0xD800, 0x1F600]))
    assert escape(everything).isascii()
    assert length("日") == 6
    assert length("_é") == 2


def test_a_matrix_has_labels_outside_and_points_in_line() -> None:
    assert render(page(grid("E", ("a_b", "c"), ("I",), "1", "10.068")), "latex", FRAGMENT) == (
        "\\[\n"
        "E = \\bordermatrix{\n"
        "   & \\hfill\\hbox{I} \\cr\n"
        "  \\hbox{a\\_b}\\hfill & \\hfill 1\\phantom{.068} \\cr\n"
        "  \\hbox{c}\\hfill & \\hfill 10.068 \\cr\n"
        "}\n"
        "\\]\n"
    )


def test_wide_and_long_matrices_come_in_blocks() -> None:
    rows = tuple(f"r{n}" for n in range(40))
    written = render(page(grid("W", rows, tuple("abcdefghijklmnopqrst"), *(" ".join("1" * 20) for _ in rows))), "latex")
    captions = [line.split("small ")[1].rstrip("}") for line in written.splitlines() if r"\eqno" in line]
    assert captions == [
        f"columns {columns} of 20, rows {rows} of 40"
        for columns in ("1--8", "9--16", "17--20")
        for rows in ("1--30", "31--40")
    ]


def test_a_fragment_names_its_package_and_has_no_preamble() -> None:
    shaded = render(page(grid("A", ("a",), ("b",), "0.5", shaded=True)), "latex", FRAGMENT)
    assert shaded.startswith("% Needs \\usepackage{color} in the preamble.\n")
    assert "documentclass" not in shaded
    assert render(page(Paragraph(("plain",))), "latex", FRAGMENT) == "plain\n"


def test_worked_lines_are_inline_math_so_that_they_break() -> None:
    line = WorkedLine("I", dot(("2", "-2"), ("0", "1")), number("-4"), exact=False)
    assert r"$2 \cdot (-2) + 0 \cdot 1 \approx -4$\par" in render(page(Worked((line,))), "latex")


def test_a_long_formula_in_a_table_can_be_broken() -> None:
    rule = text("`where(j <= i and j >= i - 2 and j <= i + 2, 0, -inf)`")
    written = render(
        page(Table(("formula", "meaning"), ((rule, ("what may be seen, and from where, " * 3,)),))), "latex"
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
        Worked((WorkedLine("I", dot(*[("0.123", "-4.567")] * 60), number("3.37"), exact=False),)),
        Table(("step", "text"), tuple((("word " * 30,), ("more " * 40,)) for _ in range(40))),
    ),
    "steps": catalogue().blocks,
}


@pytest.mark.tex
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", BLOCKS)
def test_it_compiles(engine: str, name: str, tmp_path: Path) -> None:
    if not shutil.which(engine):
        pytest.skip(f"{engine} is not installed")
    (tmp_path / "page.tex").write_text(render(page(*BLOCKS[name]), "latex"), encoding="ascii")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    log = (tmp_path / "page.log").read_text(encoding="utf-8", errors="replace")
    assert result.returncode == 0, log[-2000:]
    assert "Missing character" not in log
    assert "Overfull" not in log
