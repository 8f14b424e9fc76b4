"""`attncli schema`: the JSON Schemas of what attncli reads and writes, for editors and other tools."""

from importlib import import_module
from importlib.resources import files
from typing import Annotated

import typer

from attncli.cli import options
from attncli.english import listed
from attncli.errors import did_you_mean, usage_error

_SCHEMAS: dict[str, str | tuple[str, str]] = {  # a file of the package, or a function that makes the schema
    "problem": "problem/problem.schema.json",
    "trace": "tracing/trace.schema.json",
    "answers": ("attncli.answers.schema", "answers_schema"),
    "verdict": ("attncli.features.check.schema", "verdict_schema"),
    "comparison": ("attncli.features.compare.schema", "comparison_schema"),
}


def schema(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"Which one: {listed(list(_SCHEMAS), last='or')}.")],
    output: options.Output = None,
) -> None:
    """Print the JSON Schema (draft-07) of a problem file, a trace, answers, verdicts or a comparison."""
    if name not in _SCHEMAS:
        raise usage_error(
            f"there is no schema {name}",
            help=did_you_mean(name, list(_SCHEMAS), f"the schemas are {', '.join(_SCHEMAS)}"),
        )

    import json

    from attncli.cli.output import require_writable, write

    require_writable(output, "-")
    where = _SCHEMAS[name]
    if isinstance(where, str):
        text = files("attncli").joinpath(where).read_text(encoding="utf-8")
    else:
        module, function = where
        text = json.dumps(getattr(import_module(module), function)(), indent=2, ensure_ascii=False) + "\n"
    write(text, output, portable=True)
