"""`attncli new`: a problem file to fill in, with a comment on every matrix."""

from functools import partial
from typing import Annotated, Any

import typer

from attncli.cli import options
from attncli.cli.files import require_new, write
from attncli.cli.options import Conflict, reject_conflicts
from attncli.cli.overrides import Overrides
from attncli.errors import AttncliError, usage_error

# Nobody writes a file of more by hand.
POSSIBLE_SIZES = range(1, 65)
USUAL_D_MODEL = 4
USUAL_D_K = 3
# A page to begin with.
OF_PAGES = (".html", ".htm")


def _size(option: str, help: str) -> Any:
    return typer.Option(
        option,
        metavar="N",
        help=help,
        parser=partial(options.whole, option, allowed=POSSIBLE_SIZES),
    )


def new(
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the problem to this new file."),
    ] = None,
    tokens: Annotated[
        str, typer.Option("--tokens", metavar="WORDS", help="The tokens, with spaces between them.")
    ] = "I love AI",
    given: options.Given = None,
    d_model: Annotated[
        int | None, _size("--d-model", "Numbers in a row of X.  [default: 4]")
    ] = None,
    d_k: Annotated[int, _size("--d-k", "Numbers in a query and in a key, per head.")] = USUAL_D_K,
    d_v: Annotated[
        int | None, _size("--d-v", "Numbers in a value, per head.  [default: d_k]")
    ] = None,
    heads: Annotated[int, _size("--heads", "Heads.")] = 1,
    mask: Annotated[
        str | None,
        typer.Option(
            "--mask",
            metavar="MASK",
            help="A mask: causal, none, …",
            autocompletion=options.offer(lambda: ("causal", "none")),
        ),
    ] = None,
    random: Annotated[bool, typer.Option("--random", help="Fill in small whole numbers.")] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="N",
            help=(
                "Fill in other numbers; the same seed gives the same ones.  [default: 0 with"
                " --random]"
            ),
            parser=partial(options.whole, "--seed", allowed=range(10**9)),
        ),
    ] = None,
    equations: Annotated[
        bool,
        typer.Option(
            "--equations",
            help="Add two equations to change into your own, and numbers, as with --random.",
        ),
    ] = False,
) -> None:
    """Write a problem file with blanks for your own numbers.

    attncli new -o homework.yaml writes one for three words. Fill in the blanks, then run attncli
    compute homework.yaml.

    attncli new --equations -o mine.yaml writes one that computes at once, with equations of its
    own.

    attncli new -o page.html writes a page to begin with in a browser: rows, columns and heads are
    added and taken away there.

    Examples:
      attncli new -o homework.yaml
      attncli new --given qkv --tokens "I love AI" -o homework.yaml
      attncli new --random --seed 7 --heads 2 -o homework.yaml
      attncli new -o page.html
    """
    words = tuple(tokens.split())
    if not words:
        raise usage_error(
            "--tokens is empty",
            help='write the tokens with spaces between them: --tokens "I love AI"',
        )
    if len(words) > POSSIBLE_SIZES[-1]:
        raise usage_error(
            f"--tokens has {len(words)} tokens", help=f"{POSSIBLE_SIZES[-1]} are the most"
        )
    reject_conflicts(
        Conflict(
            given == "qkv" and d_model is not None,
            "--d-model",
            "--given qkv",
            "Q, K and V are given as they are: --d-k and --d-v are their columns",
        )
    )
    suffix = options.suffix_of(output)
    if suffix in OF_PAGES and output is not None:
        chosen = {
            "--given": given,
            "--d-model": d_model,
            "--d-k": None if d_k == USUAL_D_K else d_k,
            "--d-v": d_v,
            "--heads": None if heads == 1 else heads,
            "--mask": mask,
            "--random": random or None,
            "--seed": seed,
            "--equations": equations or None,
        }
        _write_page(words, output, [name for name, value in chosen.items() if value is not None])
        return
    if suffix not in options.OF_YAML:
        raise options.unknown_suffix("-o", output or "", ".yaml or .html")

    from attncli.features.new.template import SizesOfTemplate, problem_text

    if output is not None and output != "-":
        require_new(output)
    sizes = SizesOfTemplate(d_model or USUAL_D_MODEL, d_k, d_v or d_k, heads)
    text = partial(problem_text, words, sizes, equations=equations, given=given or "x")
    mask = _checked(text(None, "problem.yaml", seed=0), mask)
    # Equations are tried before they are changed, so their problem has numbers.
    if seed is None and (random or equations):
        seed = 0
    name = "problem.yaml" if output in (None, "-") else output
    write(text(mask, name, seed=seed), output, portable=True)


def _write_page(tokens: tuple[str, ...], output: str, others: list[str]) -> None:
    """A page with the problems to begin with; AttncliError (exit 2) for options that it has no use
    for.
    """
    if others:
        raise usage_error(
            f"{others[0]} is not for a page: there, all of it is chosen in the browser",
            help=f"leave out {others[0]}, or end the name in .yaml",
        )
    require_new(output)
    from attncli.features.new.starts import page_text

    write(page_text(tokens), output, portable=True)


def _checked(text: str, mask: str | None) -> str | None:
    """The mask as the file has it; AttncliError (exit 2) for tokens or a mask that this problem
    cannot have.
    """
    from attncli.cli.input import change
    from attncli.problem.loader import loads

    try:
        problem = loads(text.encode(), "problem.yaml")
    except AttncliError as error:
        raise usage_error(f"--tokens: {error.message}", help=error.help) from None
    if mask is None:
        return None

    from attncli.problem.saving import mask_as_yaml

    return mask_as_yaml(change(problem, Overrides(mask=mask)).mask)
