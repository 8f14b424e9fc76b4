"""`attncli steps`: what the steps of attention are called, what they compute, and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from attncli.cli import options
from attncli.cli.files import require_writable
from attncli.cli.groups import grouped
from attncli.cli.look import PageLook
from attncli.cli.options import Conflict, reject_conflicts
from attncli.cli.pages import write_page

if TYPE_CHECKING:
    from attncli.page.document import Document


@grouped
def steps(
    *,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Explain this step in full, for example scores.",
            autocompletion=options.offer(options.step_names),
        ),
    ] = None,
    all_steps: Annotated[
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
    language: Annotated[
        bool,
        typer.Option("--language", help="List what an equation of your own can be written with."),
    ] = False,
    look: PageLook,
) -> None:
    """List the steps of attention, or explain one of them.

    Examples:
      attncli steps
      attncli steps weights
      attncli steps --mistakes
    """
    help = "leave out --all, or leave out the step"
    reject_conflicts(
        Conflict(all_steps and name is not None, "--all", f"the step {name or repr(name)}", help),
        Conflict(
            all_steps and mistakes,
            "--all",
            "--mistakes",
            "--mistakes lists all mistakes; leave out --all",
        ),
        *(
            Conflict(
                language and is_given,
                "--language",
                other,
                "--language lists letters and functions, no steps",
            )
            for is_given, other in (
                (name is not None, f"the step {name or repr(name)}"),
                (all_steps, "--all"),
                (mistakes, "--mistakes"),
            )
        ),
    )
    require_writable(look.output, "-")
    if language:
        from attncli.features.steps.language_page import language_page

        write_page(language_page(), look)
        return
    write_page(_page_of(name, all_steps=all_steps, mistakes=mistakes), look)


def _page_of(name: str | None, *, all_steps: bool, mistakes: bool) -> "Document":
    if mistakes:
        from attncli.features.steps.mistakes_page import mistakes_page

        return mistakes_page(name)

    from attncli.features.steps.page import full_page, plain_page, rule_page

    if name is not None:
        return rule_page(name)
    return full_page() if all_steps else plain_page()
