"""`attncli schema`: the JSON Schemas of what attncli reads and writes, for editors and other tools.

Each is a file `NAME.schema.json` beside the code that reads or writes it, found by listing.
"""

from pathlib import Path
from typing import Annotated

import typer

from attncli.cli import options
from attncli.cli.files import require_writable, write
from attncli.english import listed
from attncli.errors import did_you_mean, usage_error

_PACKAGE = Path(__file__).parents[2]
# What people need first stands first, and then come the schemas of features.
LISTED_FIRST = ("problem", "trace", "answers")


def schemas() -> dict[str, Path]:
    """The file of every schema by its name."""
    files = list(_PACKAGE.glob("*/*.schema.json"))
    files += sorted(_PACKAGE.glob("*/*/*.schema.json"))
    found = {file.name.removesuffix(".schema.json"): file for file in files}
    names = sorted(found, key=lambda name: (*LISTED_FIRST, name).index(name))
    return {name: found[name] for name in names}


def schema(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=f"The schema: {listed(list(schemas()), last='or')}.",
            autocompletion=options.offer(schemas),
        ),
    ],
    output: options.Output = None,
) -> None:
    """Print a JSON Schema (draft-07): of a problem file, a trace, answers, verdicts or a
    comparison.

    Examples:
      attncli schema problem > problem.schema.json
      attncli schema trace
    """
    known = schemas()
    if name not in known:
        help = did_you_mean(name, list(known), f"the schemas are {', '.join(known)}")
        raise usage_error(f"there is no schema {name}", help=help)
    if output is not None and options.suffix_of(output) not in ("", ".json"):
        raise options.unknown_suffix("-o", output, ".json")
    require_writable(output, "-")
    write(known[name].read_text(encoding="utf-8"), output, portable=True)
