"""Problems made in Python: dicts, lists, numbers and arrays as the tree that a file becomes, for
the same loader.

Arrays stay arrays. There is no text, so an error has a path, such as W_Q[1][0], and no line and
column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypedDict, Unpack

from attncli.english import shorten
from attncli.problem.arrays.handed_over import is_array, to_array
from attncli.problem.limits import DEPTH_LIMIT
from attncli.problem.loader import problem_from_tree
from attncli.problem.model import Problem
from attncli.problem.text.building import NO_HALF, SURROGATE
from attncli.problem.text.error_collector import ErrorCollector
from attncli.problem.text.nodes import HeldArray, Leaf, ListNode, MappingNode, Node
from attncli.problem.text.number_forms import BLANK, is_plain
from attncli.problem.text.source import Source

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from attncli.problem.arrays.stored import StoredArray


Number: TypeAlias = int | float | Fraction | Decimal | str
Numbers: TypeAlias = "ArrayLike | Sequence[Any] | Mapping[str, Any]"


class ProblemKeys(TypedDict, total=False):
    """The keys of a problem, as in a file; None leaves a key out.

    `Numbers` are an array of any real type, a tensor, or nested lists of numbers,
    fractions and texts such as "1/3" and "sqrt(2)"; or {"file": …} or {"random": …}, as in a file.
    """

    title: str | None
    tokens: Sequence[str] | None
    context_tokens: Sequence[str] | None
    X: Numbers | None
    context: Numbers | None
    heads: int | None
    kv_heads: int | None
    W_Q: Numbers | None
    W_K: Numbers | None
    W_V: Numbers | None
    W_O: Numbers | None
    b_Q: Numbers | None
    b_K: Numbers | None
    b_V: Numbers | None
    b_O: Numbers | None
    Q: Numbers | None
    K: Numbers | None
    V: Numbers | None
    past: Mapping[str, Numbers] | None
    mask: str | Numbers | None
    score: str | None
    scale: Number | None
    softcap: Number | None
    exp_base: Number | None
    W_a: Numbers | None
    W_1: Numbers | None
    W_2: Numbers | None
    v: Numbers | None
    position: Mapping[str, Any] | None
    sink: Number | Numbers | None
    d_output: Numbers | None
    loss: Mapping[str, Any] | None
    arrays: Mapping[str, Numbers] | None
    equations: Sequence[str | Mapping[str, str]] | None
    result: str | None


def problem(*, convention: str | None = None, **keys: Unpack[ProblemKeys]) -> Problem:
    """The problem with these keys, which are those of a problem file.

    Matrices are arrays of any real type, tensors, or nested lists of numbers, fractions, and texts
    such as "1/3". X is n × d_model, W_Q and W_K are d_model × d_k, W_V is d_model × d_v;
    or give Q as n × d_k, K as m × d_k and V as m × d_v. Arrays are copied. None leaves a key out.
    Raises AttncliError with the `path` of what is wrong, and no `place`.

    >>> problem(Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[["1/2"], [2]], mask="causal")
    <problem: Q 1×2, K 2×2, V 2×1; mask causal>
    """
    return read_values(keys, convention=convention)


def read_values(
    values: Mapping[str, Any], *, convention: str | None = None, outside: bool = False
) -> Problem:
    """The problem that has these values by key; `convention` and `outside` are those of `load`.

    Nothing that is given is changed or kept. Raises AttncliError: exit 2 for a convention that does
    not exist, exit 3 for what is wrong, with the path of the value.
    """
    errors = ErrorCollector(Source("", "", outside=outside))
    root = _Tree(errors).node(
        {key: value for key, value in values.items() if value is not None}, ""
    )
    return problem_from_tree(root, errors, convention)


class _Tree:
    """Makes nodes of values; each has its number in the order of the values for its place."""

    def __init__(self, errors: ErrorCollector) -> None:
        self._errors = errors
        self._made = 0

    def node(self, value: Any, path: str, depth: int = 0) -> Node:
        """The node of a value, which stands at this path of the problem and inside so many
        others.
        """
        self._made += 1
        at = self._made
        if depth > DEPTH_LIMIT:
            self._fail(
                path,
                f"lists are nested more than {DEPTH_LIMIT} deep",
                "a matrix has two levels: [[1, 0], [0, 1]]",
            )
        match value:
            case None:
                return Leaf("", False, at)
            case bool():
                return Leaf(str(value).lower(), False, at)
            case str():
                if SURROGATE.search(value):
                    self._fail(path, *NO_HALF)
                return Leaf(str(value), not is_plain(value) and value != BLANK, at)
            case int():
                # str(value) refuses more than 4,300 digits.
                return Leaf(str(Decimal(value)), False, at)
            case float():
                return Leaf(repr(float(value)), False, at)
            case Fraction() | Decimal():
                return Leaf(str(value), False, at)
            case Mapping():
                return self._mapping(value, path, depth, at)
            case Sequence() if not isinstance(value, (bytes, bytearray, memoryview)):
                stacked = self._stacked(value, path)
                return (
                    self._list(stacked, path, depth, at)
                    if isinstance(stacked, list)
                    else self._of_array(stacked, path, depth, at)
                )
            case _:
                return self._of_array(self._array(value, path), path, depth, at)

    def _mapping(self, values: Mapping[Any, Any], path: str, depth: int, at: int) -> Node:
        mapping = MappingNode(at)
        for key, value in values.items():
            if not isinstance(key, str):
                self._fail(
                    path, f"a key must be a word, not {shorten(repr(key))}", 'write "key": value'
                )
            mapping.values[key] = self.node(value, f"{path}.{key}" if path else key, depth + 1)
            mapping.keys[key] = mapping.values[key].at
        return mapping

    def _list(self, values: Iterable[Any], path: str, depth: int, at: int) -> Node:
        return ListNode(
            at, [self.node(each, f"{path}[{i}]", depth + 1) for i, each in enumerate(values)]
        )

    def _stacked(self, values: Sequence[Any], path: str) -> list[Any] | StoredArray:
        """A list of arrays of one shape and type as one array; any other list with its arrays as
        lists.
        """
        arrays = {
            i: self._array(each, f"{path}[{i}]") for i, each in enumerate(values) if is_array(each)
        }
        if (
            len(arrays) == len(values)
            and len({(array.shape, array.dtype) for array in arrays.values()}) == 1
        ):
            import numpy as np

            return np.stack([*arrays.values()])
        return [arrays[i].tolist() if i in arrays else each for i, each in enumerate(values)]

    def _array(self, value: Any, path: str) -> StoredArray:
        import numpy as np

        if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
            self._fail(
                path, "has masked cells, which hold no numbers", "fill them, as in array.filled(0)"
            )
        if not is_array(value):
            self._fail(
                path,
                f"{_a_kind(value)} cannot be read",
                "give a number, a text, a list, a dict or an array",
            )
        try:
            array = to_array(value)
        except Exception as error:
            # Another library raises anything: for an array on a GPU, or for a nested tensor.
            why = shorten(str(error).partition("\n")[0], 200)
            help = "give an array in the computer's memory, such as one of NumPy"
            self._fail(path, f"{_a_kind(value)} cannot become a NumPy array: {why}", help)
        # Floats of eight bits come as types of their own.
        if array.dtype.kind == "f" or "float" in array.dtype.name:
            # What is too large becomes an infinity, which is reported.
            with np.errstate(all="ignore"):
                array = array.astype(np.float64, copy=False)
        return array

    def _of_array(self, array: StoredArray, path: str, depth: int, at: int) -> Node:
        """An array whole, a single number and a list of words or whole numbers value by value."""
        if array.ndim == 0:
            return self.node(array.item(), path, depth + 1)
        kind = array.dtype.kind
        is_matrix = array.ndim > 1 and kind in "biu"
        if is_matrix or kind == "f":
            return HeldArray(at, keys={"file": at}, array=array)
        return self._list(array.tolist(), path, depth, at)

    def _fail(self, path: str, message: str, help: str) -> NoReturn:
        self._errors.fail(message, at=self._made, help=help, path=path)


def _a_kind(value: object) -> str:
    return f"a value of type {type(value).__name__}"
