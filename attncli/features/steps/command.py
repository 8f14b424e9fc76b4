"""`attncli steps`: what the steps of attention are called, what they compute, and why."""

from typing import Annotated

from attncli.cli import options, values


def steps(
    name: Annotated[
        str | None, options.Argument(metavar="NAME", help="One step to be shown in full, such as scores.")
    ] = None,
    mistakes: Annotated[
        bool,
        options.Option("--mistakes", help="List the mistakes that check knows, in all steps or in this one."),
    ] = False,
    format: options.Format = None,
    output: options.Output = None,
    color: options.Color = "auto",
) -> None:
    """List the steps with their equations, or explain one of them."""
    page_format = values.output_format(format, output)
    values.words(color=color)

    from attncli.cli.output import check
    from attncli.cli.page import write_page

    check(output, "-")
    if mistakes:
        from attncli.features.steps.mistakes_page import mistakes_page

        page = mistakes_page(name)
    else:
        from attncli.features.steps.page import catalogue, rule_page

        page = catalogue() if name is None else rule_page(name)
    write_page(page, page_format, output, color=color)
