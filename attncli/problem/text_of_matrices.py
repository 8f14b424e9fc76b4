r"""A problem in a text: Q = \begin{pmatrix} … in LaTeX or Markdown, Q = [[1, 0], [0, 1]] in a
program or a code fence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from attncli.english import shorten
from attncli.problem.keys import ANSWERED, ARRAYS, HOLDS_ANSWERS, KEYS
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import Leaf, MappingNode, Node
from attncli.problem.text.pasted.named import NamedMatrix, named_matrices
from attncli.problem.text.pasted.text import LONGEST_PASTED, PasteError
from attncli.problem.text.source import Source

# Files of these are no YAML.
SUFFIXES = (".md", ".markdown", ".tex", ".latex", ".html", ".htm", ".py", ".ipynb")
_LAYOUT = re.compile(r"\\(?:mathbf|mathrm|mathit|boldsymbol|bm|text)|[\\{}^_$ *`]")
# Such a line says how the matrices are used.
_SETTING = re.compile(
    r"^[ \t]*(?P<key>title|mask|scale|score|heads|kv_heads|softcap|exp_base)[ \t]*[:=][ \t]*"
    r"(?P<value>[^\s\[{\\][^\n]*?)[ \t]*$",
    re.MULTILINE,
)
# Attention has three matrices at least, and fewer are a line of YAML with a slip.
_FEWEST_MATRICES = 3
_LINE_OF_YAML = re.compile(
    r"^[ \t]*[\"']?(?!title|mask|scale|score|heads|kv_heads|softcap|exp_base)[A-Za-z_]\w*"
    r"[\"']?:[ \t]*[\[{|>]",
    re.MULTILINE,
)
_EQUATION = re.compile(
    r"^[ \t]*(?:\$\$?|\\[\[(])?[ \t]*(?:X|Q|K|V|W_?\^?\{?[QKV]\}?)[ \t]*=", re.MULTILINE
)
_CALL = re.compile(
    rf"^[ \t]*(?P<key>{'|'.join(ARRAYS)})[ \t]*=[ \t]*(?P<call>[A-Za-z_][\w.]*)\(", re.MULTILINE
)
_MASK_WORDS = ("none", "causal")
# What a text may speak of, and which line says what is meant.
_SPOKEN_OF = {
    "mask": re.compile(r"\b(?:mask(?:ed|ing|s)?|causal|padding)\b", re.IGNORECASE),
    "heads": re.compile(r"\b(?:multi-?head|[2-9] heads|heads)\b", re.IGNORECASE),
    "position": re.compile(r"\b(?:RoPE|rotary|ALiBi|sinusoidal)\b", re.IGNORECASE),
}
_LINES = {"mask": "mask: none, or mask: causal", "heads": "heads: 1", "position": ""}
# Letters of steps, which a text may have worked out below what it gives.
_WORKED_OUT = {
    *("S", "Z", "Z'", "A", "O", "E", "r", "KT", "Kᵀ", "QKT", "QKᵀ", "QKtop", "M", "H"),
    *(name.replace("_", "") for name in ANSWERED),
}
_OWN_PAGE = re.compile(r"Scaled dot-(?:\{\})?product attention: |Attention with the \w+ score: ")
_HTML = re.compile(
    r"\s*(?:<!--.*?-->\s*)?<(?:!doctype html|html|section)\b", re.IGNORECASE | re.DOTALL
)
# A page says so many characters from its beginning that it is one.
LONGEST_BEGINNING = 2**16
_FORM = "write lines such as Q = [[1, 0], [0, 1]], or keys of YAML: Q: [[1, 0], [0, 1]]"


def is_text(source: Source) -> bool:
    """Whether a file can be no YAML, by its name or by how it begins."""
    return source.name.lower().endswith(SUFFIXES) or _is_page(source.text)


def has_matrices(source: Source, *, is_yaml: bool = True) -> bool:
    """Whether a text has matrices with the names of keys, or answers alone, or is a page of ours.

    A file with a line such as K: [[1, 0]] is meant as YAML, and has a mistake somewhere. Where it
    `is_yaml` by its name, one or two matrices are such lines, too.
    """
    text = source.text
    if len(text) > LONGEST_PASTED:
        return False
    if _OWN_PAGE.search(text):
        return True
    may_be_text = source.name.lower().endswith(".txt") or not is_yaml
    if _LINE_OF_YAML.search(text) or not (may_be_text or _EQUATION.search(text)):
        return False
    try:
        found = named_matrices(text, _shape_of, of_answers=False)
    except PasteError:
        return False
    keys = {_key_of(matrix.name) for matrix in found} - {""}
    fewest = _FEWEST_MATRICES if is_yaml else 1
    return len(keys) >= fewest or _has_answers_alone(found)


def _is_page(text: str) -> bool:
    # A hostile file has millions of blank lines first.
    return _HTML.match(text, 0, LONGEST_BEGINNING) is not None


def read_text(source: Source) -> tuple[ErrorCollector, MappingNode]:
    """The keys and values of a problem in a text, and the collector of what is wrong with it.

    Raises AttncliError (exit 3) where it has no matrices, or speaks of what no line of it says.
    """
    errors = ErrorCollector(source)
    if _is_page(source.text) or _OWN_PAGE.search(source.text):
        message = "this is a page that attncli wrote, not a problem"
        help = (
            "name the problem that it was made of, or the page as Markdown, HTML, LaTeX or JSON,"
            " which keeps it; check reads the page as answers"
        )
        errors.fail(message, at=0, help=help)
    root = MappingNode(0)
    _add_settings(root, errors)
    _require_settings(root, errors)
    _add_matrices(root, errors)
    errors.stop()
    if not any(key in ARRAYS for key in root.keys):
        errors.fail("there is no matrix of a problem in this text", at=0, help=_FORM)
    return errors, root


def _add_settings(root: MappingNode, errors: ErrorCollector) -> None:
    for found in _SETTING.finditer(errors.source.text):
        key, value = found["key"], found["value"]
        if key == "mask" and value not in _MASK_WORDS:
            message = f"{shorten(value)} is no mask that a text can have"
            errors.fail(message, at=found.start("value"), help="write the problem in YAML")
        _put(
            root, key, Leaf(value, key == "title", found.start("value")), found.start("key"), errors
        )


def _require_settings(root: MappingNode, errors: ErrorCollector) -> None:
    """Raises AttncliError for a text that speaks of a mask, say, and has no line for it: its
    matrices alone would be another problem.
    """
    prose = _SETTING.sub("", errors.source.text)
    for key, words in _SPOKEN_OF.items():
        spoken = words.search(prose)
        if spoken is None or key in root.keys:
            continue
        at = errors.source.text.index(spoken[0])
        message = f"this text speaks of {spoken[0]}, and no line of it says what is meant"
        line = _LINES[key]
        help = f"write a line: {line}" if line else "write the problem in YAML, with position: …"
        errors.fail(message, at=at, help=help)


def _add_matrices(root: MappingNode, errors: ErrorCollector) -> None:
    try:
        found = named_matrices(errors.source.text, _shape_of, of_answers=False)
    except PasteError as error:
        message, help = error.args
        errors.fail(message, at=error.at, help=help)
    if _has_answers_alone(found):
        message, help = HOLDS_ANSWERS
        errors.fail(message, at=found[0].at, help=help)
    keys = {_key_of(matrix.name) for matrix in found}
    for matrix in found:
        key = _key_of(matrix.name)
        is_projected = key in ("Q", "K", "V") and {"X", f"W_{key}"} <= keys
        if key and not is_projected:
            _put(root, key, matrix.numbers, matrix.at, errors)
        elif not key and _plain(matrix.name) not in _WORKED_OUT:
            message = f"there is no key {shorten(matrix.name)}"
            errors.add(message, at=matrix.at, help="name the matrices X, W_Q, W_K, W_V, or Q, K, V")
    _require_no_calls(root, errors)


def _has_answers_alone(found: Sequence[NamedMatrix]) -> bool:
    """Whether all of these matrices are steps that somebody worked out."""
    names = {_plain(matrix.name) for matrix in found}
    return bool(names) and names.issubset(_WORKED_OUT)


def _require_no_calls(root: MappingNode, errors: ErrorCollector) -> None:
    """Note every matrix that only a program knows: K = np.eye(2)."""
    for found in _CALL.finditer(errors.source.text):
        key = found["key"]
        is_projected = key in ("Q", "K", "V") and {"X", f"W_{key}"} <= root.keys.keys()
        if key in root.keys or is_projected:
            continue
        message = f"{key} is worked out by {found['call']}(…), and nothing is executed here"
        errors.add(message, at=found.start("call"), help=f"write {key} = [[1, 0], [0, 1]]")


def _put(root: MappingNode, key: str, node: Node, at: int, errors: ErrorCollector) -> None:
    if key in root.keys:
        line = errors.source.place(root.keys[key]).line
        help = f"it is on line {line} already: keep one of the two"
        errors.add(f"{key} is given twice", at=at, help=help)
        return
    root.values[key], root.keys[key] = node, at


def _plain(name: str) -> str:
    """A name without what only says how it looks: WQ for W^{Q} and \\mathbf{W}_Q."""
    return _LAYOUT.sub("", name.partition("=")[0])


_KEY_BY_NAME = {_plain(key): key for key in KEYS if key in ARRAYS}


def _key_of(name: str) -> str:
    return _KEY_BY_NAME.get(_plain(name), "")


def _shape_of(name: str) -> tuple[int, ...]:
    """Nobody knows how long the axes are before all matrices are read."""
    key = _key_of(name)
    if not key:
        return ()
    return (0,) if KEYS[key].kind == "vector" else (0, 0)
