"""`attncli steps`: what the steps of attention are called, what they compute, and why."""

from typing import Annotated

import typer

from attncli.cli import options


def steps(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One step to be shown in full, such as scores.")
    ] = None,
    mistakes: Annotated[
        bool,
        typer.Option("--mistakes", help="List the mistakes that check knows, in all steps or in this one."),
    ] = False,
    format: options.Format = None,
    output: options.Output = None,
    color: options.Color = "auto",
) -> None:
    """List the steps with their equations, or explain one of them."""
    format = options.page_format(format, output)

    from attncli.cli.output import require_writable, write_page

    require_writable(output, "-")
    if mistakes:
        from attncli.features.steps.mistakes_page import mistakes_page

        page = mistakes_page(name)
    else:
        from attncli.features.steps.page import catalogue, rule_page

        page = catalogue() if name is None else rule_page(name)
    write_page(page, format, output, color=color)
