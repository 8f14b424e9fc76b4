"""The options that commands share: name, form and help of each, said once."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from attncli.cli.values import CHOICES
from attncli.dtypes import PRECISION


@dataclass(frozen=True, slots=True)
class Argument:
    """What stands on a command line by itself, as its help shows it."""

    metavar: str
    help: str


class Option:
    """What follows one of its `names`, or for a truth value just one of them, as its help shows it."""

    def __init__(self, *names: str, help: str, metavar: str | None = None, show_default: bool = True) -> None:
        self.names, self.help, self.metavar, self.show_default = names, help, metavar, show_default


def choice(option: str, help: str) -> object:
    """An option whose value is one of a few words."""
    return Option(option, metavar="|".join(CHOICES[option]), help=help, show_default=False)


Problem: TypeAlias = Annotated[str, Argument(metavar="FILE", help="The problem in YAML or JSON; - is standard input.")]
Format: TypeAlias = Annotated[
    str | None, choice("--format", "How the page is written.  [default: by the suffix of -o, else table]")
]
Output: TypeAlias = Annotated[
    str | None, Option("-o", "--output", metavar="FILE", help="Write to this file, replacing it whole.")
]
Steps: TypeAlias = Annotated[
    str | None, Option("--steps", metavar="NAME,…", help="Show these steps only: weights,output.")
]
Detail: TypeAlias = Annotated[
    str | None,
    choice("--detail", "Matrices only, one worked line per row, or every cell worked.  [default: rows]"),
]
Cell: TypeAlias = Annotated[str | None, Option("--cell", metavar="CELL", help="Work this one cell: 'scores[0,1]'.")]
Head: TypeAlias = Annotated[str | None, Option("--head", metavar="N", help="Show this head only; heads count from 0.")]
Entry: TypeAlias = Annotated[
    str | None, Option("--entry", metavar="N", help="Show this entry of a batch only; entries count from 0.")
]
Precision: TypeAlias = Annotated[
    str,
    Option("--precision", metavar="N", help=f"Decimals shown, {PRECISION[0]} to {PRECISION[-1]}."),
]
Rounding: TypeAlias = Annotated[
    str,
    choice(
        "--rounding",
        "Keep closed forms, round only what is shown, or feed it to the next step, as on paper.  [default: shown]",
    ),
]
Heatmap: TypeAlias = Annotated[bool, Option("--heatmap", help="Shade the cells by size.")]
Mask: TypeAlias = Annotated[
    str | None, Option("--mask", metavar="MASK", help="Another mask than the file's: causal, none, …")
]
As: TypeAlias = Annotated[
    str | None, choice("--as", "Read a mask that does not say what it means as this software does.")
]
AllowOutside: TypeAlias = Annotated[
    bool, Option("--allow-outside", help="Let {file: …} name files outside the problem's folder.")
]
Scale: TypeAlias = Annotated[
    str | None, Option("--scale", metavar="SCALE", help="Another scale than the file's: a number or none.")
]
Dtype: TypeAlias = Annotated[str, choice("--dtype", "The format in which numbers are kept.  [default: float64]")]
Device: TypeAlias = Annotated[str, choice("--device", "Where it is worked out.  [default: cpu]")]
Color: TypeAlias = Annotated[str, choice("--color", "Whether the table is coloured.  [default: auto]")]
Math: TypeAlias = Annotated[
    str | None,
    choice("--math", "How Markdown marks formulas: for GitHub, or for pandoc and Jupyter.  [default: fences]"),
]
Fragment: TypeAlias = Annotated[bool, Option("--fragment", help="LaTeX to paste into a document of your own.")]
All: TypeAlias = Annotated[bool, Option("--all", help="Show large matrices whole and all heads, on a terminal too.")]
Quiet: TypeAlias = Annotated[bool, Option("-q", "--quiet", help="Leave out the warnings.")]
