"""A double of CuPy over NumPy, as strict as CuPy is: what would fail on a GPU fails here, and all
numbers are NumPy's.

- Nothing becomes an array of NumPy by itself: `np.asarray(array)` raises, and `asnumpy` copies.
- Arrays of NumPy are no operands and no arguments, besides those of `asarray` and `array`. Numbers
  are.
- Reductions and single cells are arrays without an axis. `float`, `int` and `bool` take these,
  `range` does not.
- The module, its arrays and its functions have the names and arguments of a real CuPy, from the
  file that `names.py` wrote of it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

VERSIONS = {
    file.stem.removeprefix("cupy-"): file
    for file in sorted(Path(__file__).parent.glob("cupy-*.txt"))
}
MAKERS = ("asarray", "array", "ascontiguousarray", "asanyarray")  # which take whatever NumPy takes
# Python code of CuPy begins with `a.sum(…)`: a number has no such method
OF_ARRAYS = ("a", "array", "condition")
OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
)
COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")


class Cupy(ModuleType):
    """The module, of one version."""

    def __init__(self, version: str) -> None:
        super().__init__("cupy")
        lines = VERSIONS[version].read_text(encoding="utf-8").splitlines()
        found = [re.fullmatch(r"([\w.]+)(?:\((.*)\))?", line) for line in lines]
        self.known = {each[1]: each[2] for each in found if each}
        self.__version__ = version
        self.ndarray = type("ndarray", (Array,), {"cupy": self})
        self.asnumpy = lambda array: np.array(array.held)
        self.cuda = SimpleNamespace(
            Stream=SimpleNamespace(null=SimpleNamespace(synchronize=lambda: None)),
            runtime=SimpleNamespace(memGetInfo=lambda: (2**34, 2**34)),
        )
        pool = SimpleNamespace(free_bytes=lambda: 0, used_bytes=lambda: 0, get_limit=lambda: 0)
        self.get_default_memory_pool = lambda: pool

    def __getattr__(self, name: str) -> Any:
        """What CuPy has of this name, which is what NumPy has: a type, a constant, or a function
        for its arrays.
        """
        if name.startswith("_") or name not in self.known:
            raise AttributeError(f"module 'cupy' has no attribute {name!r}")
        value = getattr(np, name)
        if isinstance(value, type) or not callable(value):
            return value
        return self.function(name, value, takes_host=name in MAKERS)

    def function(
        self, name: str, of_numpy: Callable[..., Any], *, takes_host: bool = False
    ) -> Callable[..., Any]:
        """The function for arrays of this module."""
        parameters = (self.known[name] or "").split()
        of_arrays = not takes_host and parameters and parameters[0] in OF_ARRAYS

        def call(*values: Any, **options: Any) -> Any:
            if parameters and not options.keys() <= {*parameters}:
                raise TypeError(
                    f"{name}() got an unexpected keyword argument: {options.keys() - {*parameters}}"
                )
            if of_arrays and values and not isinstance(values[0], Array):
                raise AttributeError(f"{name}() of {type(values[0])}, which has no such method")
            held = [host(value, takes_host=takes_host) for value in values]
            return self.device(
                of_numpy(*held, **{key: host(value) for key, value in options.items()})
            )

        return call

    def device(self, found: Any) -> Any:
        """A result of NumPy as CuPy has it: a number is an array without an axis."""
        if isinstance(found, tuple):
            return tuple(map(self.device, found))
        return self.ndarray(found) if isinstance(found, np.ndarray | np.generic) else found


def host(value: Any, *, takes_host: bool = False) -> Any:
    """What an argument holds; TypeError for an array of NumPy, also inside of lists."""
    if isinstance(value, Array):
        return value.held
    if isinstance(value, np.ndarray) and not takes_host:
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, list | tuple):
        return type(value)(host(each, takes_host=takes_host) for each in value)
    return value


class Array:
    """An array on the device; `held` is that of NumPy. Every version of CuPy has a class of its own
    of these.
    """

    cupy: Cupy
    __hash__ = None
    # Where the numbers are on the device, which this double does not have.
    __cuda_array_interface__ = None

    def __init__(self, held: Any) -> None:
        self.held = np.asarray(held)

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """np.exp(array) and np.float64(2) * array are those of CuPy; np.ones(3) * array raises."""
        known = method == "__call__" and ufunc.__name__ in self.cupy.known
        return getattr(self.cupy, ufunc.__name__)(*inputs, **options) if known else NotImplemented

    def __array_function__(self, function: Any, types: Any, values: Any, options: Any) -> Any:
        if function.__name__ not in self.cupy.known or not all(
            issubclass(each, Array | np.ndarray) for each in types
        ):
            return NotImplemented
        return getattr(self.cupy, function.__name__)(*values, **options)

    def __getattr__(self, name: str) -> Any:
        if f"ndarray.{name}" not in self.cupy.known or name.startswith("__"):
            raise AttributeError(f"'cupy.ndarray' object has no attribute {name!r}")
        value = getattr(self.held, name)
        return (
            self.cupy.function(f"ndarray.{name}", value)
            if callable(value)
            else self.cupy.device(value)
        )

    def get(self) -> np.ndarray:
        return np.array(self.held)

    def __getitem__(self, at: Any) -> Any:
        return self.cupy.device(self.held[host(at)])

    def __setitem__(self, at: Any, value: Any) -> None:
        self.held[host(at)] = host(value)

    def __iter__(self) -> Any:
        return (self[place] for place in range(len(self.held)))

    def __len__(self) -> int:
        return len(self.held)

    def __repr__(self) -> str:
        return repr(self.held)

    def __bool__(self) -> bool:
        return bool(self.held)

    def __int__(self) -> int:
        return int(self.held)

    def __float__(self) -> float:
        return float(self.held)


def _operator(function: Callable[..., Any], *, turned: bool = False) -> Callable[..., Any]:
    def apply(self: Array, *others: Any) -> Any:
        values = [self.held, *(host(other) for other in others)]
        return self.cupy.device(function(*(reversed(values) if turned else values)))

    return apply


for _name in (*OPERATORS, *COMPARISONS):
    setattr(Array, f"__{_name}__", _operator(getattr(operator, f"__{_name}__")))
for _name in OPERATORS:
    setattr(Array, f"__r{_name}__", _operator(getattr(operator, f"__{_name}__"), turned=True))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Array, f"__{_name}__", _operator(getattr(operator, f"__{_name}__")))
