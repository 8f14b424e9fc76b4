"""Which options go with a class of functions, and which with a single one."""

from collections.abc import Mapping

from attncli.cli.look import Look
from attncli.cli.options import Conflict, reject_conflicts

IN_MANIFEST = "the manifest names the functions"
OF_EACH = "each of its functions has a result of its own"


def require_no_class(
    of_class: Mapping[str, bool], of_marks: Mapping[str, bool], look: Look
) -> None:
    """AttncliError (exit 2) for options `of_class` that are given without one, and those `of_marks`
    where nobody gets any.
    """
    for option, is_given in of_class.items():
        reject_conflicts(Conflict(is_given, option, "no --batch", "name a manifest: --batch"))
    has_rows = look.format in ("csv", "tsv", "xlsx")
    help = "it has a row for each student of a class: --batch"
    reject_conflicts(Conflict(has_rows, f"--format {look.format}", "no --batch", help))
    if look.format == "gradescope":
        return
    help = "marks are for a class, and for --format gradescope"
    for option, is_given in of_marks.items():
        reject_conflicts(Conflict(is_given, option, "a single function", help))


def require_class_alone(
    function: str | None, export: str | None, outputs: str | None, look: Look
) -> None:
    """AttncliError (exit 2) for what does not go with --batch."""
    reject_conflicts(
        Conflict(function is not None, "--batch", str(function), IN_MANIFEST),
        Conflict(export is not None, "--batch", "--export", IN_MANIFEST),
        Conflict(outputs is not None, "--batch", "--outputs", IN_MANIFEST),
        Conflict(look.format == "yaml", "--batch", f"-o {look.output}", OF_EACH),
        Conflict(
            look.format == "gradescope",
            "--batch",
            "--format gradescope",
            "Gradescope tests the function of one student at a time",
        ),
    )
