"""The program of the process in which somebody else's function runs: it loads the function, calls
it, and says what came out.

It imports nothing of attncli, so it starts at once, and a function cannot change what judges it.
`process.py` starts it and talks to it: a message is a line of JSON, then the bytes of its arrays.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import IO, Any, TypeAlias

Message: TypeAlias = dict[str, Any]

# What makes arrays of its own, by the name of its package.
FRAMEWORKS = {
    "torch": "torch",
    "transformers": "torch",
    "jax": "jax",
    "flax": "jax",
    "mlx": "mlx",
}
LONGEST_ERROR = 400
# A longer result is none of attention to a small problem.
MOST_NUMBERS = 2**22


class Refusal(Exception):
    """What the function cannot be asked, or gives back, in words."""


# Messages


class Line:
    """Messages to and from the process that judges; a copy of this process sends none."""

    def __init__(self, inbox: IO[bytes], outbox: IO[bytes]) -> None:
        self._inbox = inbox
        self._outbox = outbox
        self._process = os.getpid()

    def receive(self) -> tuple[Message, list[bytes]] | None:
        """The next message and the bytes of its arrays; None at the end."""
        head = self._inbox.readline()
        if not head:
            return None
        message: Message = json.loads(head)
        arrays = [self._inbox.read(size) for size in message.pop("sizes", [])]
        return message, arrays

    def send(self, message: Message, array: bytes = b"") -> None:
        """Answer; `array` holds the numbers of an array in float64."""
        if os.getpid() != self._process:
            os._exit(0)
        head = json.dumps({**message, "size": len(array)})
        self._outbox.write(head.encode() + b"\n" + array)
        self._outbox.flush()


def line_of_this_process() -> Line:
    """The line to the parent, in the place of the standard streams: what the function prints goes
    nowhere, and what it reads is empty.
    """
    inbox = os.fdopen(os.dup(0), "rb")
    outbox = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    return Line(inbox, outbox)


# Limits


def limit(memory: int, seconds: int, file_size: int) -> None:
    """Hold this process to so many bytes of memory, seconds of work, and bytes in a file; Windows
    has no such limits.
    """
    if sys.platform == "win32":
        return
    import resource

    limits = {
        resource.RLIMIT_DATA: memory,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: file_size,
        resource.RLIMIT_CORE: 0,
    }
    for which, most in limits.items():
        _, hard = resource.getrlimit(which)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (allowed, allowed))


def refuse_copies() -> None:
    """From now on nothing here can fork: copies of copies would be more than can be ended."""

    def refuse(event: str, _: tuple[object, ...]) -> None:
        if event in ("os.fork", "os.forkpty"):
            raise PermissionError("a function that is tested cannot fork")

    sys.addaudithook(refuse)


# Loading


class Loaded:
    """The function, what kind of arrays it takes, and the module that it comes from."""

    def __init__(self, function: Callable[..., Any], kind: str, module: ModuleType) -> None:
        self.function = function
        self.kind = kind
        self.module = module

    def described(self) -> Message:
        """What is known of it before it is called."""
        return {"kind": self.kind, "parameters": parameters_of(self.function)}


def frameworks_in(path: str) -> list[str]:
    """The packages of FRAMEWORKS, and NumPy, that a file imports; none where it cannot be read as
    Python.
    """
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    imported = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported.append(node.module or "")
    packages = [name.partition(".")[0] for name in imported]
    return list(dict.fromkeys(name for name in packages if name in {*FRAMEWORKS, "numpy"}))


def prepare(message: Message) -> None:
    """Import what the file will import from packages that take long; only what is installed."""
    sys.path += [path for path in message["paths"] if path not in sys.path]
    names = ["numpy"]
    if message["file"]:
        names += frameworks_in(message["file"])
    else:
        names.append(message["module"].partition(".")[0])
    for name in names:
        try:
            importlib.import_module("mlx.core" if name == "mlx" else name)
        except ImportError:
            continue


def load(message: Message) -> Loaded:
    """The function that a message names; whatever its module raises, or Refusal."""
    module = _module(message)
    expression = message["name"]
    names = expression.split(".")
    if all(name.isidentifier() for name in names):
        found: Any = module
        for name in names:
            if not hasattr(found, name):
                raise Refusal(_no_such_name(found, name, module))
            found = getattr(found, name)
    else:
        found = eval(expression, vars(module))
    if not callable(found):
        raise Refusal(f"{expression} is {_a_kind(found)}, not a function")
    return Loaded(found, _kind_of(message, module), module)


def _module(message: Message) -> ModuleType:
    path = message["file"]
    if not path:
        return importlib.import_module(message["module"])
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Refusal("it is not a file of Python")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look for their module there. A file may be called as a package is that others
    # need.
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


def _no_such_name(holder: object, name: str, module: ModuleType) -> str:
    named = [
        each
        for each, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", None) == module.__name__
    ]
    there = f"; it has {', '.join(named[:12])}" if named and holder is module else ""
    return f"there is no {name} in it{there}"


def _kind_of(message: Message, module: ModuleType) -> str:
    """Whose arrays the function takes: those of the first framework that its module uses."""
    packages = [message["module"].partition(".")[0]] if message["module"] else []
    for value in vars(module).values():
        home = value.__name__ if isinstance(value, ModuleType) else type(value).__module__
        if not isinstance(value, ModuleType) and callable(value):
            home = getattr(value, "__module__", None) or ""
        packages.append(str(home).partition(".")[0])
    kinds = [FRAMEWORKS[package] for package in packages if package in FRAMEWORKS]
    return kinds[0] if kinds else "numpy"


def parameters_of(function: Callable[..., Any]) -> list[Message] | None:
    """The parameters of a function: names, which of them have to be given, and what their defaults
    are; None where Python does not know.
    """
    documented = _documented_parameters(function)
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return documented
    found = []
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        found.append(
            {
                "name": name,
                "required": parameter.default is parameter.empty,
                "default": type(parameter.default).__name__,
                "annotation": str(parameter.annotation),
                "positional": parameter.kind is not parameter.KEYWORD_ONLY,
            }
        )
    return found


def _documented_parameters(function: Callable[..., Any]) -> list[Message] | None:
    """The parameters in the first line of a docstring, where functions of C say them."""
    text = (inspect.getdoc(function) or "").partition("->")[0].strip()
    named, _, _ = text.partition("\n\n")
    try:
        call = ast.parse(named, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(call, ast.Call):
        return None
    required = [
        {"name": node.id, "required": True, "default": "", "annotation": "", "positional": True}
        for node in call.args
        if isinstance(node, ast.Name)
    ]
    optional = [
        {
            "name": keyword.arg,
            "required": False,
            "default": type(getattr(keyword.value, "value", None)).__name__,
            "annotation": "",
            "positional": True,
        }
        for keyword in call.keywords
        if keyword.arg
    ]
    return [*required, *optional]


# Arrays


def arrays_of(specs: Sequence[Message], data: Sequence[bytes]) -> list[Any]:
    """The arrays of a message, in NumPy: numbers in float64, or truth values."""
    import numpy as np

    arrays = []
    for spec, piece in zip(specs, data, strict=True):
        array = np.frombuffer(piece, np.dtype(spec["type"])).reshape(spec["shape"])
        arrays.append(array.copy())
    return arrays


def converted(array: Any, kind: str, dtype: str) -> Any:
    """An array of NumPy as one of a framework, its numbers in this format."""
    is_truth = array.dtype.kind in "biu"
    if kind == "torch":
        import torch

        tensor = torch.from_numpy(array)
        return tensor if is_truth else tensor.to(getattr(torch, dtype))
    if kind == "jax":
        import jax.numpy as jnp

        return jnp.asarray(array) if is_truth else jnp.asarray(array, dtype=dtype)
    if kind == "mlx":
        import mlx.core as mx

        return mx.array(array) if is_truth else mx.array(array).astype(getattr(mx, dtype))
    if dtype == "bfloat16":
        raise Refusal("NumPy has no bfloat16")
    return array if is_truth else array.astype(dtype)


def numbers_of(result: Any) -> tuple[Any, str]:
    """The output in a result, as NumPy in float64, and its number format; Refusal for anything
    else.
    """
    import numpy as np

    if isinstance(result, tuple) or (isinstance(result, list) and _holds_arrays(result)):
        if not result:
            raise Refusal("it returns an empty tuple")
        result = result[0]
    if result is None:
        raise Refusal("it returns nothing")
    dtype = str(getattr(result, "dtype", "")).rpartition(".")[2]
    if hasattr(result, "detach"):
        result = result.detach().cpu().double().numpy()
    elif dtype == "bfloat16":
        result = result.astype(_float32_of(result))
    array = np.asarray(result)
    if array.dtype.kind not in "iuf" and "float" not in array.dtype.name:
        raise Refusal(f"it returns {_a_kind(result)}, not an array of numbers")
    if array.size > MOST_NUMBERS:
        raise Refusal(f"it returns {array.size:,} numbers")
    return np.ascontiguousarray(array, dtype=np.float64), dtype or array.dtype.name


def _float32_of(result: Any) -> Any:
    if type(result).__module__.startswith("mlx"):
        import mlx.core as mx

        return mx.float32
    return "float32"


def _holds_arrays(values: Sequence[Any]) -> bool:
    return any(hasattr(value, "shape") and value.shape for value in values)


def _a_kind(value: object) -> str:
    return f"a value of type {type(value).__name__}"


# Calls


def called(loaded: Loaded, message: Message, data: Sequence[bytes]) -> tuple[Message, bytes]:
    """What comes out of one call."""
    import numpy as np

    made = arrays_of(message["arrays"], data)
    arrays = [converted(array, loaded.kind, message["dtype"]) for array in made]
    before = [_copied(array) for array in arrays]
    result = _result(loaded, message, arrays)
    numbers, dtype = numbers_of(result)
    names = [spec["name"] for spec in message["arrays"]]
    changed = [
        name
        for name, old, new in zip(names, before, arrays, strict=True)
        if not np.array_equal(old, _copied(new), equal_nan=True)
    ]
    answer: Message = {"shape": list(numbers.shape), "dtype": dtype, "changed": changed}
    if message["twice"]:
        again = [converted(array, loaded.kind, message["dtype"]) for array in made]
        second, _ = numbers_of(_result(loaded, message, again))
        answer["repeats"] = second.shape == numbers.shape and bool(
            np.array_equal(second, numbers, equal_nan=True)
        )
    return answer, numbers.tobytes()


def _copied(array: Any) -> Any:
    """The numbers of an array as they are now, in NumPy."""
    import numpy as np

    if hasattr(array, "detach"):
        held = array.detach()
        return held.double().numpy().copy() if held.is_floating_point() else held.numpy().copy()
    if str(array.dtype).endswith("bfloat16"):
        array = array.astype(_float32_of(array))
    found = np.array(array)
    return found if found.dtype.kind == "b" else found.astype(np.float64)


def _result(loaded: Loaded, message: Message, arrays: Sequence[Any]) -> Any:
    """What the function returns for the arguments of a message."""
    import warnings

    values = {name: _value(spec, arrays) for name, spec in message["values"].items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if message["expression"]:
            import numpy as np

            frameworks = {name: sys.modules[name] for name in FRAMEWORKS if name in sys.modules}
            own = vars(loaded.module)
            names = {"np": np, **frameworks, **own, "f": loaded.function, **values}
            return eval(message["expression"], names)
        positional = [values[name] for name in message["positional"]]
        named = {parameter: values[name] for parameter, name in message["named"].items()}
        return loaded.function(*positional, **named)


def _value(spec: Mapping[str, Any], arrays: Sequence[Any]) -> Any:
    if "array" in spec:
        return arrays[spec["array"]]
    if "tuple" in spec:
        return tuple(spec["tuple"])
    return spec["value"]


# Errors


def said(error: BaseException, path: str | None) -> str:
    """The last line of an error, with the line of the file that it comes from."""
    if isinstance(error, Refusal):
        return str(error)
    try:
        text = traceback.format_exception_only(error)[-1].strip()
    except Exception:
        text = type(error).__name__
    if isinstance(error, SyntaxError):
        text = f"{type(error).__name__}: {error.msg}"
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if path and os.path.abspath(frame.filename) == os.path.abspath(path)
    ]
    if isinstance(error, SyntaxError) and error.lineno:
        lines.append(error.lineno)
    where = f"line {lines[-1]}: " if lines else ""
    short = text if len(text) <= LONGEST_ERROR else text[: LONGEST_ERROR - 1] + "…"
    return where + " ".join(short.split())


def main() -> None:
    """Answer messages until there are none."""
    line = line_of_this_process()
    loaded: Loaded | None = None
    path: str | None = None
    while (received := line.receive()) is not None:
        message, data = received
        array = b""
        answer: Message
        try:
            if message["do"] == "prepare":
                path = message["file"]
                prepare(message)
                limit(message["memory"], message["seconds"], message["file_size"])
                refuse_copies()
                answer = {}
            elif message["do"] == "load":
                loaded = load(message)
                answer = loaded.described()
            else:
                assert loaded is not None
                answer, array = called(loaded, message, data)
        # A function may raise anything, SystemExit too.
        except BaseException as error:
            answer = {"error": said(error, path)}
        line.send(answer, array)


if __name__ == "__main__":
    main()
