"""A program in any language is tested by files: the cases are written for it, and what it writes is
judged.
"""

from collections.abc import Mapping

from attncli.cli.files import require_new_folder, write_folder
from attncli.cli.look import Look
from attncli.cli.options import Conflict, reject_conflicts
from attncli.errors import usage_error

EXAMPLE = "attncli test my_attention.py:attention"
IN_TURN = "first write the cases; let your program work them out; then judge its outputs"
OF_PYTHON = "you start the program, and not attncli"


def require_one_way(
    function: str | None, export: str | None, outputs: str | None, of_function: Mapping[str, bool]
) -> None:
    """A function, the cases in a folder or the outputs in one; AttncliError (exit 2) for several or
    none, and for options `of_function` that are given without one.
    """
    files = "--outputs" if export is None else "--export"
    is_by_files = export is not None or outputs is not None
    reject_conflicts(
        Conflict(export is not None and outputs is not None, "--export", "--outputs", IN_TURN),
        Conflict(is_by_files and function is not None, files, "FILE.py:NAME", OF_PYTHON),
    )
    for option, is_given in of_function.items():
        reject_conflicts(Conflict(is_by_files and is_given, files, option, OF_PYTHON))
    if function is None and not is_by_files:
        raise usage_error("there is nothing to test", help=f"name a function: {EXAMPLE}")


def export_cases(folder: str, as_: str | None, look: Look, *, gradient: bool) -> None:
    """Write every case to a new folder, as a piece of software means it; with `gradient`, the
    gradients of outputs, too.
    """
    reject_conflicts(
        Conflict(look.output is not None, "--export", "-o", IN_TURN),
        Conflict(look.format != "table", "--export", "--format", IN_TURN),
    )
    require_new_folder(folder, "--export")

    from attncli.testing.exported import exported_files
    from attncli.testing.meant import meant_by

    files = exported_files(meant_by(as_), gradient=gradient)
    write_folder(folder, files, option="--export")
