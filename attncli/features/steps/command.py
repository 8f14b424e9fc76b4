"""`attncli steps`: what the steps of attention are called, what they compute, and why."""

from typing import Annotated

import typer

from attncli.cli import options


def steps(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Explain this step in full, for example scores.",
            autocompletion=options.offer(options.step_names),
        ),
    ] = None,
    all_: Annotated[
        bool,
        typer.Option(
            "--all",
            help=(
                "List all steps: also those of masks, positions, caches, several heads, losses and"
                " gradients."
            ),
        ),
    ] = False,
    mistakes: Annotated[
        bool,
        typer.Option(
            "--mistakes", help="List the mistakes that check knows, in all steps or in this one."
        ),
    ] = False,
    format: options.Format = None,
    output: options.Output = None,
    color: options.Color = "auto",
    ascii: options.Ascii = False,
) -> None:
    """List the steps of attention, or explain one of them."""
    format = options.page_format(format, output)
    one_help = "leave out --all, or leave out the step" if name else ""
    options.reject_conflicts(
        *options.format_conflicts(format, ascii=ascii),
        (all_ and name is not None, "--all", f"the step {name}", one_help),
        (
            all_ and mistakes,
            "--all",
            "--mistakes",
            "--mistakes lists all mistakes; leave out --all",
        ),
    )

    from attncli.cli.files import require_writable
    from attncli.cli.pages import write_page

    require_writable(output, "-")
    if mistakes:
        from attncli.features.steps.mistakes_page import mistakes_page

        page = mistakes_page(name)
    else:
        from attncli.features.steps.page import full_page, plain_page, rule_page

        page = rule_page(name) if name is not None else full_page() if all_ else plain_page()
    write_page(page, format, output, color=color, ascii=ascii)
