"""`attncli example`: the problems that come with the package, listed, or one of them printed."""

import os
import sys
from typing import Annotated

import typer

from attncli.cli import options
from attncli.cli.error_report import warn
from attncli.cli.files import require_new, together, write, write_bytes
from attncli.cli.look import Look
from attncli.cli.pages import write_page
from attncli.errors import usage_error


def _names() -> list[str]:
    from attncli.features.example.collection import problems, solutions, with_equations

    return [*problems(), *with_equations(), *solutions()]


def example(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="The problem to print, such as i_love_ai.",
            autocompletion=options.offer(_names),
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the problem to this new file."),
    ] = None,
    color: options.Color = "auto",
    ascii: options.Ascii = False,
) -> None:
    """List the problems that come with attncli, or print one of them.

    attncli example i_love_ai | attncli compute - works the first one out. With -o my.yaml you get a
    file to change.

    Examples:
      attncli example
      attncli example i_love_ai -o mine.yaml
    """
    if name is None and output is not None:
        raise usage_error(
            f"-o {output}: which example?", help=f"write attncli example i_love_ai -o {output}"
        )

    from attncli.features.example import collection

    if name is None:
        from attncli.features.example.page import list_of_examples

        write_page(list_of_examples(), Look("table", color=color, ascii=ascii))
        return
    file = collection.find(name)
    arrays = collection.data_files(file)
    if output is None or output == "-":
        write(collection.text(file), None, portable=True)
        if arrays:
            whole = f"attncli example {name} -o {file.name} writes both"
            warn(
                f"this problem reads {', '.join(arrays)}, which must be in the same folder;"
                f" {whole}",
                sys.stderr,
            )
        return
    own_suffix = options.suffix_of(file.name)
    if options.suffix_of(output) not in (*options.OF_YAML, own_suffix):
        raise options.unknown_suffix("-o", output, own_suffix)
    folder = os.path.dirname(output)
    beside = {os.path.join(folder, other): data for other, data in arrays.items()}
    for path in (output, *beside):
        require_new(path, beside.get(path))
    with together():
        for path, data in beside.items():
            write_bytes([data], path)
        write(collection.text(file), output, portable=True)
