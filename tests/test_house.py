"""The house at the scale of a line and a word: how much stands on a line, and what is called what.

Each test names what is over its limit. There is no list of exceptions: rewrite what is named. Nodes
are those of Python's own syntax tree. A function of six lines and more is measured by its nodes on
each line, without blank lines and without its docstring.
"""

from __future__ import annotations

import ast
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "attncli"
FILES = sorted(PACKAGE.rglob("*.py"))

LINES_OF_A_MEASURED_FUNCTION = 6
MOST_NODES_ON_A_LINE = 18
MEDIAN_NODES_ON_A_LINE = 10.8
MOST_FILES_OF_ONE_CLASS_NAME = 2
MOST_FILES_OF_A_FOLDER = 24
FEWEST_COMMENTS = 500

# A # within a text begins no comment. Python's own tokenizer takes twenty times as long.
TEXT_OR_COMMENT = re.compile(
    r"""("{3}|'{3})(?:\\.|.)*?\1|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|#[^\n]*""", re.DOTALL
)
MARK_OF_A_TOOL = re.compile(r"#\s*(noqa|type: ignore|fmt: (on|off|skip))\b")
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Measured:
    """A function with its nodes on each line."""

    place: str
    nodes: float

    def __str__(self) -> str:
        return f"{self.place}: {self.nodes:.1f}"


@cache
def parsed() -> list[tuple[str, ast.Module, list[str]]]:
    """Each file of the package: its path, its syntax tree and its lines."""
    files = []
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        files.append((str(file.relative_to(ROOT)), ast.parse(text), text.split("\n")))
    return files


@cache
def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """The tree and all nodes below it."""
    return [*ast.walk(tree)]


def nodes_on_a_line(function: Function, lines: list[str]) -> float:
    """All nodes of a function by its lines, without blank ones and the docstring."""
    counted = range(function.lineno, function.end_lineno + 1)
    first = function.body[0]
    docstring = range(0)
    if ast.get_docstring(function) is not None:
        docstring = range(first.lineno, first.end_lineno + 1)
    written = [line for line in counted if line not in docstring and lines[line - 1].strip()]
    nodes = len([*ast.walk(function)])
    return nodes / len(written)


def measured_functions(path: str, tree: ast.Module, lines: list[str]) -> Iterator[Measured]:
    for node in nodes_of(tree):
        if not isinstance(node, Function):
            continue
        if node.end_lineno - node.lineno + 1 >= LINES_OF_A_MEASURED_FUNCTION:
            place = f"{path}:{node.lineno} {node.name}"
            yield Measured(place, nodes_on_a_line(node, lines))


def class_names(tree: ast.Module) -> Iterator[str]:
    """Of classes and of names for types, without a leading underscore."""
    for node in nodes_of(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name.lstrip("_")
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            yield ast.unparse(node.target).lstrip("_")


def nested_comprehensions(tree: ast.Module) -> Iterator[ast.expr]:
    """Comprehensions that stand within another one."""
    for outer in nodes_of(tree):
        if isinstance(outer, COMPREHENSIONS):
            within = (node for node in ast.walk(outer) if node is not outer)
            yield from (node for node in within if isinstance(node, COMPREHENSIONS))


def is_text_or_list(node: ast.expr) -> bool:
    """A text or a list, as it is written: "s", f"{x}", [a] or a sum of such."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return is_text_or_list(node.left) or is_text_or_list(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple)


def is_truth(node: ast.expr) -> bool:
    """A comparison, a `not`, or an `and` or `or` of such."""
    if isinstance(node, ast.BoolOp):
        return any(is_truth(part) for part in node.values)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in ("bool", "isinstance", "any", "all", "callable")
    return isinstance(node, ast.Compare)


def texts_times_truth(tree: ast.Module) -> Iterator[ast.BinOp]:
    """`"s" * (n != 1)`, from either side."""
    for node in nodes_of(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = ((node.left, node.right), (node.right, node.left))
            if any(is_text_or_list(one) and is_truth(other) for one, other in sides):
                yield node


@dataclass
class Comment:
    """A comment, from its first line to its last; `behind` code, or on lines of its own."""

    first: int
    last: int
    text: str
    behind: bool

    def is_heading(self, lines: list[str]) -> bool:
        """Whether it stands between empty lines, as the heading of a section does."""
        before = lines[self.first - 2]
        after = lines[self.last]
        return not before.strip() and not after.strip()


@cache
def comments_of(text: str) -> list[Comment]:
    """The comments of a file, without the marks of tools; lines below each other are one."""
    lines = text.split("\n")
    found: list[Comment] = []
    line, place = 1, 0
    for match in TEXT_OR_COMMENT.finditer(text):
        line += text.count("\n", place, match.start())
        place = match.start()
        if match[0][0] != "#" or MARK_OF_A_TOOL.match(match[0]):
            continue
        words = match[0].removeprefix("#").strip()
        behind = not lines[line - 1].lstrip().startswith("#")
        if found and not behind and not found[-1].behind and found[-1].last == line - 1:
            found[-1].last = line
            found[-1].text += f" {words}"
        else:
            found.append(Comment(line, line, words, behind))
    return found


def own_line_comments(text: str) -> int:
    """How many comments stand on lines of their own."""
    return sum(not comment.behind for comment in comments_of(text))


def is_sentence(text: str, *, heading: bool = False) -> bool:
    """Whether a comment begins with a capital or with code, and ends with a full stop.

    Code is a sign, a digit, or a word that is not all of small letters; attncli is a name. A
    heading needs no stop.
    """
    begins_as_prose = re.match(r"(?!attncli\b)[a-z]+[,:;]?(\s|$)", text)
    return not begins_as_prose and (heading or text.endswith("."))


def no_sentences(text: str) -> Iterator[Comment]:
    """The comments of a file that are no sentences on lines of their own."""
    lines = text.split("\n")
    for comment in comments_of(text):
        if comment.behind or not is_sentence(comment.text, heading=comment.is_heading(lines)):
            yield comment


def listed(faults: list[str], rule: str) -> str:
    return "\n".join([f"{len(faults)} times, but {rule}:", *faults])


def test_functions_have_air() -> None:
    found = [each for file in parsed() for each in measured_functions(*file)]
    functions = sorted(found, key=lambda each: -each.nodes)
    over = [str(each) for each in functions if each.nodes > MOST_NODES_ON_A_LINE]
    rule = f"no function may have more than {MOST_NODES_ON_A_LINE} nodes on a line"
    assert not over, listed(over, rule)
    median = statistics.median(each.nodes for each in functions)
    densest = [str(each) for each in functions[:20]]
    head = f"{median:.2f} nodes on a line, more than {MEDIAN_NODES_ON_A_LINE}; the densest are:"
    assert median <= MEDIAN_NODES_ON_A_LINE, "\n".join([head, *densest])


def test_one_class_name_means_one_thing() -> None:
    files: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree, _ in parsed():
        for name in set(class_names(tree)):
            files[name].append(path)
    homonyms = [
        f"{name}: {', '.join(paths)}"
        for name, paths in sorted(files.items())
        if len(paths) > MOST_FILES_OF_ONE_CLASS_NAME
    ]
    rule = f"a class name stands in {MOST_FILES_OF_ONE_CLASS_NAME} files at most"
    assert not homonyms, listed(homonyms, rule)


def test_no_folder_has_too_many_files() -> None:
    folders = Counter(
        path.parent
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    full = [
        f"{folder.relative_to(ROOT)}: {count} files"
        for folder, count in sorted(folders.items())
        if count > MOST_FILES_OF_A_FOLDER
    ]
    assert full == [], listed(full, f"a folder has {MOST_FILES_OF_A_FOLDER} files at most")


def test_no_comprehension_stands_in_another() -> None:
    nested = [
        f"{path}:{node.lineno} {ast.unparse(node)}"
        for path, tree, _ in parsed()
        for node in nested_comprehensions(tree)
    ]
    assert not nested, listed(nested, "a comprehension within another one needs a name")


def test_no_text_is_multiplied_by_a_truth_value() -> None:
    multiplied = [
        f"{path}:{node.lineno} {ast.unparse(node)}"
        for path, tree, _ in parsed()
        for node in texts_times_truth(tree)
    ]
    assert not multiplied, listed(multiplied, "an if says it better")


def test_reasons_stand_on_lines_of_their_own() -> None:
    comments = sum(own_line_comments(file.read_text(encoding="utf-8")) for file in FILES)
    assert comments >= FEWEST_COMMENTS, f"{comments} comments on lines of their own"


def test_a_comment_is_a_sentence() -> None:
    faults = [
        f"{path}:{comment.first} {comment.text}"
        for path, _, lines in parsed()
        for comment in no_sentences("\n".join(lines))
    ]
    rule = "a comment stands above the code, begins with a capital or with code, ends with a stop"
    assert not faults, listed(faults, rule)


def test_what_is_over_a_limit_is_seen() -> None:
    """Each measure finds what it is for, and nothing beside it."""
    tree = ast.parse(
        '''
class _Cell: ...
Row: TypeAlias = int
def dense(x):
    """Said."""

    return [[a * b + 1 for a in x] for b in x]



def plural(n, rows): return "s" * (n != 1) + 2 * rows + [n] * bool(n) + "-" * n
'''
    )
    lines = ["line"] * 20
    dense = next(node for node in tree.body if isinstance(node, Function))
    assert nodes_on_a_line(dense, ["", "", "", "", "def", "doc", "", "return", *lines]) > 12
    assert [*class_names(tree)] == ["Cell", "Row"]
    assert [ast.unparse(node) for node in nested_comprehensions(tree)] == ["[a * b + 1 for a in x]"]
    found = [ast.unparse(node) for node in texts_times_truth(tree)]
    assert sorted(found) == ["'s' * (n != 1)", "[n] * bool(n)"]
    assert own_line_comments("# one\n# still one\nx = 1  # behind\n\n# two\n") == 2


def test_a_comment_that_is_no_sentence_is_seen() -> None:
    text = """x = 1
# Good, in two
# lines.
x = 2  # Behind.
# no capital.
x = 3  # noqa: E501
# No stop
x = 4
# -2^2 is -(2^2).
# np.array has bfloat16, too.
x = 5

# A heading

x = 6
# x_1 is code, and so is 2/3.
"""
    assert [comment.first for comment in no_sentences(text)] == [4, 5, 7]
    assert is_sentence("bfloat16 is half of a float32.")
    assert is_sentence("attncli warns of it.")
    assert not is_sentence("heads, side by side.")
    assert not is_sentence("A heading")
    assert is_sentence("A heading", heading=True)
