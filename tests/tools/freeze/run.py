"""Keeps what some 2,500 command lines print, so that what users see can be compared before and
after a change.

    python tests/tools/freeze/run.py record BEFORE                 # of this checkout
    python tests/tools/freeze/run.py record AFTER --checkout DIR   # of another one
    python tests/tools/freeze/run.py differ BEFORE AFTER           # exit code 1 if any line differs

The lines are every command on every input in every format and detail, the options one by one,
`--help`, and the whole corpus of bad inputs. Each is run in a child of one process that has
imported the package: two minutes or so. `--part K/N` runs only each N-th line.
"""

from __future__ import annotations

import argparse
import difflib
import io
import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[2]
FORMATS = ("table", "markdown", "latex", "json")
ENDS = 60  # seconds after which a line is stopped


def command_lines(inputs: list[str], answers: list[str]) -> list[list[str]]:
    """Every line that is run, but for the corpus."""
    lines: list[list[str]] = [[], ["--help"], ["--version"], ["steps"], ["steps", "--mistakes"]]
    for command in (
        "compute",
        "gradient",
        "check",
        "compare",
        "cost",
        "scaling",
        "worksheet",
        "steps",
        "schema",
    ):
        lines += [[command, "--help"], [command]]
    lines += [["schema", name] for name in ("problem", "trace", "answers", "verdict", "comparison")]
    for form in FORMATS:
        lines += [
            ["steps", "--format", form],
            ["steps", "--mistakes", "--format", form],
            ["cost", "--format", form],
        ]
    for name in inputs:
        lines += _of_one(name)
    love, answer = "inputs/i_love_ai.yaml", "inputs/answers/"
    for path in answers:
        problem = path.replace("answers/homework", "i_love_ai").replace("answers/", "")
        for form in FORMATS:
            lines.append(["check", problem, path, "--format", form])
        lines += [
            ["check", problem, path, "--marks", "10"],
            ["check", problem, path, "--lenient", "-q"],
        ]
        lines.append(["check", problem, path, "--steps", "weights,output"])
    lines += [
        ["compare", love, "--set", change]
        for change in ("mask=causal", "scale=none", "dtype=float16", "softcap=2")
    ]
    lines += [["compare", love, other] for other in inputs[:12]]
    lines += [["compare", love, "--dtypes", "--format", form] for form in FORMATS]
    lines += [
        ["compare", love, "--set", "mask=causal", "--gradient", "--format", form]
        for form in FORMATS
    ]
    lines += [
        ["cost", "--n", "8192", "--heads", "32", "--kv-heads", "8", "--layers", "32"],
        ["cost", "--d-model", "4096"],
    ]
    lines += [
        ["check", love, answer + "none.yaml"],
        ["compute", "inputs/none.yaml"],
        ["compute", "inputs/i_love_ai.yml"],
    ]
    for name in (
        "scores",
        "weights",
        "output",
        "Q",
        "d_K",
        "masked",
        "row_max",
        "concat",
        "bias",
        "nothing",
    ):
        lines += [["steps", name], ["steps", name, "--mistakes"]]
    for option in (
        "--precision=0",
        "--precision=7",
        "--steps=weights,output",
        "--cell=scores[0,1]",
        "--cell=weights[I,love]",
        "--cell=nothing[0,1]",
        "--cell=scores[7,1]",
        "--head=0",
        "--head=1",
        "--entry=0",
        "--mask=causal",
        "--mask=none",
        "--scale=none",
        "--scale=0.5",
        "--scale=1/3",
        "--dtype=float16",
        "--dtype=bfloat16",
        "--dtype=float32",
        "--device=gpu",
        "--color=always",
        "--heatmap",
        "--all",
        "-q",
        "--fragment",
        "--math=dollars",
        "--as=torch",
        "--rounding=exact",
        "--rounding=paper",
        "--detail=brief",
        "--steps=",
        "--precision=x",
        "--format=md",
    ):
        for name in ("i_love_ai", "multi_head", "large_scores", "batch"):
            for command in ("compute", "gradient"):
                lines.append([command, f"inputs/{name}.yaml", option])
        for form in ("markdown", "latex"):
            lines.append(["compute", love, option, "--format", form])
    for option in ("--dtype=float16", "--dtype=bfloat16", "--rounding=exact", "--rounding=paper"):
        for name in ("i_love_ai", "causal", "multi_head"):
            problem = f"inputs/{name}.yaml"
            lines += [
                [command, problem, "--format=json", option] for command in ("compute", "gradient")
            ]
    lines += [["compute", f"inputs/{name}.yaml", "--format", form, "--rounding", way]
              for name in ("causal", "fully_masked", "sink") for form in ("markdown", "latex")
              for way in ("exact", "paper")]  # fmt: skip
    lines += [["compute", love, "--cell=weights[1,1]", "--rounding", way, "--format", form]
              for way in ("exact", "paper") for form in FORMATS]  # fmt: skip
    return lines


def _of_one(name: str) -> list[list[str]]:
    lines = []
    for form in FORMATS:
        lines += [
            ["compute", name, "--format", form, "--detail", detail]
            for detail in ("brief", "rows", "cells")
        ]
        lines.append(["gradient", name, "--format", form])
        lines.append(["cost", name, "--format", form])
    lines += [["worksheet", name, "--format", form] for form in FORMATS[:3]]
    lines += [["compute", name, "--rounding", "exact"], ["compute", name, "--rounding", "paper"]]
    lines += [
        ["compute", name, "--color", "always", "--heatmap"],
        ["gradient", name, "--verify", "--detail", "brief"],
    ]
    lines += [
        ["gradient", name, "--step-size", "0.1", "--detail", "brief"],
        ["gradient", name, "--rounding", "paper"],
    ]
    lines += [["compare", name, "--set", "mask=causal"], ["compare", name, "--dtypes"]]
    lines += [["scaling", name, "--draws", "3", "--d-k", "2,8"]]
    lines += [["compute", name, "--steps", "output", "--detail", "brief"]]
    lines += [["compute", name, "--terminal=40"], ["compute", name, "--terminal=80"]]
    lines += [
        ["compute", name, f"-o=page{suffix}"] for suffix in (".md", ".tex", ".json", ".txt", ".npy")
    ]
    lines.append(["worksheet", name, "-o=page.md", "--answers=answers.yaml"])
    return lines


def record(checkout: Path, into: Path, part: str) -> None:
    """Run all lines with the package of a checkout, and keep of each what it prints and writes, and
    its exit code.
    """
    sys.path[:0] = [str(checkout), str(PROJECT / "tests" / "corpus")]
    import cases  # the corpus is always that of this checkout

    inputs = sorted(
        f"inputs/{path.name}"
        for path in (PROJECT / "inputs").iterdir()
        if path.suffix in (".yaml", ".json")
    )
    answers = sorted(
        f"inputs/answers/{path.name}" for path in (PROJECT / "inputs" / "answers").iterdir()
    )
    jobs: list[tuple[str, list[str], bytes, str]] = []
    for arguments in command_lines(inputs, answers):
        jobs.append((" ".join(arguments), arguments, b"", ""))
    for case in cases.cases():
        data = b"" if case.missing else case.data
        name = "" if case.missing else case.name
        jobs.append(
            (f"corpus {case.group}: {case.title} ({case.name})", case.arguments, data, name)
        )
    first, _, every = part.partition("/")
    jobs = jobs[int(first) :: int(every)]
    _import_all(checkout)
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        cases.lay_files(work)
        shutil.copytree(PROJECT / "inputs", work / "inputs")
        found = {path.relative_to(work) for path in work.rglob("*")}
        results = {
            name: _run(Path(folder), found, arguments, data, file)
            for name, arguments, data, file in jobs
        }
    (into / "results.json").write_text(
        json.dumps(results, ensure_ascii=False, indent=0), encoding="utf-8"
    )
    print(f"{len(results)} command lines kept in {into}")


def _import_all(checkout: Path) -> None:
    import importlib
    import pkgutil

    import attncli

    assert Path(attncli.__file__).is_relative_to(checkout.resolve()), attncli.__file__
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for module in pkgutil.walk_packages(attncli.__path__, "attncli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _run(
    above: Path, before: set[Path], arguments: list[str], data: bytes, name: str
) -> dict[str, str | int]:
    """One line: its exit code, its streams, and the files that it left in the folder, which are
    taken away again.
    """
    folder = above / "work"
    overwritten = (folder / name).read_bytes() if Path(name) in before else None
    if name and name != "-":
        (folder / name).write_bytes(data)
    (above / "stdin").write_bytes(data if name == "-" else b"")
    child = os.fork()
    if child == 0:
        _child(above, folder, arguments)
    _, status = os.waitpid(child, 0)
    result: dict[str, str | int] = {"code": os.waitstatus_to_exitcode(status)}
    for stream in ("stdout", "stderr"):
        result[stream] = (above / stream).read_bytes().decode("utf-8", "backslashreplace")
    for path in sorted(folder.rglob("*")):
        if path.relative_to(folder) not in before and path.is_file():
            if path.name != name:
                result[str(path.relative_to(folder))] = path.read_bytes().decode(
                    "utf-8", "backslashreplace"
                )
            path.unlink()
    if overwritten is not None:
        (folder / name).write_bytes(overwritten)
    return result


def _child(above: Path, folder: Path, arguments: list[str]) -> None:
    code = 71
    try:
        signal.alarm(ENDS)
        os.chdir(folder)
        for number, stream in enumerate(("stdin", "stdout", "stderr")):
            flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(above / stream, flags), number)
        sys.stdin = io.TextIOWrapper(os.fdopen(0, "rb", closefd=False), encoding="utf-8")
        sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), encoding="utf-8")
        sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb", closefd=False), encoding="utf-8")
        for argument in list(arguments):
            if argument.startswith("--terminal="):
                arguments.remove(argument)
                os.environ |= {"COLUMNS": argument.partition("=")[2], "FORCE_COLOR": "1"}
        from attncli.cli.main import run as run_one

        code = run_one(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def differ(before: Path, after: Path, most: int) -> int:
    """Tell every line that differs, with the difference."""
    old, new = (
        json.loads((folder / "results.json").read_text(encoding="utf-8"))
        for folder in (before, after)
    )
    names = [name for name in old if name in new]
    different = [name for name in names if old[name] != new[name]]
    for name in different[:most]:
        print(f"\n=== {name}")
        for key in sorted({*old[name], *new[name]}):
            one, two = str(old[name].get(key, "")), str(new[name].get(key, ""))
            if one != two:
                print(f"--- {key}")
                for line in list(
                    difflib.unified_diff(one.splitlines(), two.splitlines(), lineterm="", n=0)
                )[2:14]:
                    print(f"    {line[:200]}")
    print(f"\n{len(different)} of {len(names)} command lines differ")
    return 1 if different else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    actions = parser.add_subparsers(dest="action", required=True)
    recording = actions.add_parser("record")
    recording.add_argument("into", type=Path)
    recording.add_argument("--checkout", type=Path, default=PROJECT)
    recording.add_argument("--part", default="0/1")
    differing = actions.add_parser("differ")
    differing.add_argument("before", type=Path)
    differing.add_argument("after", type=Path)
    differing.add_argument("--most", type=int, default=20)
    chosen = parser.parse_args()
    if chosen.action == "record":
        record(chosen.checkout.resolve(), chosen.into, chosen.part)
        return 0
    return differ(chosen.before, chosen.after, chosen.most)


if __name__ == "__main__":
    sys.exit(main())
