"""The program of the process in which somebody else's function runs: it loads the function, calls
it, and says what came out, also of its gradients.

It imports nothing of attncli, so it starts at once, and a function cannot change what judges it.
`process.py` starts it and talks to it: a message is a line of JSON, then the bytes of its arrays.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.machinery import PathFinder
from itertools import product

# By their names here, a function that replaces them does no harm.
from json import dumps, loads
from os import _exit, getpid
from queue import SimpleQueue
from threading import Thread
from types import ModuleType
from typing import IO, Any, TypeAlias

Message: TypeAlias = dict[str, Any]
# A message, and the bytes of its arrays.
Received: TypeAlias = tuple[Message, list[bytes]]

# What makes arrays of its own, by the name of its package.
FRAMEWORKS = {
    "torch": "torch",
    "transformers": "torch",
    "jax": "jax",
    "flax": "jax",
    "mlx": "mlx",
    "cupy": "cupy",
}
LONGEST_ERROR = 400
# What the attribute is called that says how many heads a layer has.
HEADS = ("num_heads", "n_heads", "n_head", "nhead", "num_attention_heads", "heads", "h")
KV_HEADS = ("num_kv_heads", "n_kv_heads", "num_key_value_heads", "kv_heads")
# No name that is asked for is longer, and no function has so many parameters.
LONGEST_NAME = 200
MOST_PARAMETERS = 200
# Of a tuple or a dict that a function returns, so many items are told of.
MOST_ITEMS = 3
MOST_NAMES = 8
# Functions of a file that a message names.
MOST_FUNCTIONS = 12
# What the output is called in a dict.
OUTPUTS = ("output", "out", "attn_output", "attention_output", "context", "result", "o")
# Where packages are installed.
SITES = {"site-packages", "dist-packages"}
# A longer result is none of attention to a small problem.
MOST_NUMBERS = 2**22
# The exit code where nothing can be sent or received: a function has closed what it did not open.
CLOSED = 97


class Refusal(Exception):
    """What the function cannot be asked, or gives back, in words."""


# Messages


class Line:
    """Messages to and from the process that judges; a copy of this process sends none."""

    def __init__(self, inbox: IO[bytes], outbox: IO[bytes]) -> None:
        self._inbox = inbox
        self._outbox = outbox
        self._process = getpid()
        self._received: SimpleQueue[Received] = SimpleQueue()
        Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Take messages in, and end this process where there are no more, even amid a call: then
        nobody waits for it.
        """
        try:
            while head := self._inbox.readline():
                message: Message = loads(head)
                arrays = [self._inbox.read(size) for size in message.pop("sizes", [])]
                self._received.put((message, arrays))
        except (OSError, ValueError):
            _exit(CLOSED)
        _exit(0)

    def receive(self) -> Received:
        """The next message."""
        return self._received.get()

    def send(self, message: Message, array: bytes = b"") -> None:
        """Answer; `array` holds the numbers of an array in float64."""
        if getpid() != self._process:
            _exit(0)
        head = dumps({**message, "size": len(array)})
        try:
            self._outbox.write(head.encode() + b"\n" + array)
            self._outbox.flush()
        except (OSError, ValueError):
            _exit(CLOSED)


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


def hold_to(limits: Mapping[str, int]) -> None:
    """Hold this process to limits by their names in `resource`; where there is no such module,
    there are no limits.
    """
    if not limits:
        return
    resource: Any = importlib.import_module("resource")
    for name, most in limits.items():
        which = getattr(resource, name)
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
        self.path: str | None = getattr(module, "__file__", None)

    def described(self) -> Message:
        """What is known of it before it is called."""
        return {
            "kind": self.kind,
            "parameters": parameters_of(getattr(self.function, "forward", self.function)),
            "others": takes_others(getattr(self.function, "forward", self.function)),
            "has_torch": "torch" in sys.modules,
            "starred": takes_any_number(getattr(self.function, "forward", self.function)),
            "weights": described_weights(self.function),
            "heads": _number_named(self.function, HEADS),
            "kv_heads": _number_named(self.function, KV_HEADS),
        }


def imports_of(message: Message) -> list[ast.stmt]:
    """The imports of installed packages, of the module that is asked for or of all in its file."""
    source: bytes | str = f"import {message['module']}"
    if message["file"]:
        with open(message["file"], "rb") as file:
            source = file.read()
    try:
        tree = ast.parse(source)
    # Where it is no Python, loading it says so.
    except (SyntaxError, ValueError, RecursionError):
        return []
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return [node for node in imports if all(map(is_installed, _packages(node)))]


def _packages(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        names = ["." * node.level + (node.module or "")]
    for name in names:
        yield name.partition(".")[0]


def is_installed(package: str) -> bool:
    """Whether a package, by its name, is installed: not the work of whoever is tested."""
    if not package:
        return False
    spec = PathFinder.find_spec(package)
    if spec is None:
        return False
    places = [spec.origin or "", *(spec.submodule_search_locations or [])]
    return any(part in SITES for place in places for part in place.split(os.sep))


def prepare(imports: Sequence[ast.stmt]) -> None:
    """Import what the file will import from packages, which may take long."""
    with suppress(ImportError):
        importlib.import_module("numpy")
    for node in imports:
        program = compile(ast.Module([node], []), "<import>", "exec")
        # Whatever a package raises, it raises again where the file imports it.
        with suppress(BaseException):
            exec(program, {})


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
    if (own := _with_own_backward(found)) is not None:
        return Loaded(_applied(own), "torch", module)
    if inspect.isclass(found):
        raise Refusal(f"{expression} is a class: name an object of it, such as {expression}(16, 2)")
    if not callable(found):
        raise Refusal(f"{expression} is {_a_kind(found)}, not a function")
    kind = _kind_by_code(found) or _kind_by_class(found) or _kind_of(message, module)
    return Loaded(found, kind, module)


def _with_own_backward(found: Any) -> Any:
    """The torch.autograd.Function that is meant, as a class or by its `apply`; None if none is."""
    if getattr(found, "__name__", "") == "apply":
        found = getattr(found, "__self__", None)
    has_both_ways = inspect.isclass(found) and {"apply", "forward", "backward"} <= {*dir(found)}
    return found if has_both_ways else None


def _applied(own: Any) -> Callable[..., Any]:
    """Its `apply` as a function with the parameters of `forward`, which takes them by their names,
    too.
    """
    signature = inspect.signature(own.forward)
    parameters = [*signature.parameters.values()]
    has_setup = any(
        "setup_context" in vars(each) and not each.__module__.startswith("torch.")
        for each in own.__mro__
    )
    if not has_setup:
        # What is kept for the backward pass.
        parameters = parameters[1:]
    signature = signature.replace(parameters=parameters)

    def applied(*arguments: Any, **named: Any) -> Any:
        bound = signature.bind(*arguments, **named)
        bound.apply_defaults()
        return own.apply(*bound.args)

    applied.__signature__ = signature  # type: ignore[attr-defined]
    return applied


def _kind_by_code(function: Any) -> str | None:
    """Whose arrays a function takes, by the packages that its own code names; None where it names
    none.
    """
    code = getattr(function, "__code__", None)
    known = getattr(function, "__globals__", None)
    if code is None or known is None:
        return None
    kinds = []
    for name in code.co_names:
        value = known.get(name)
        if isinstance(value, ModuleType):
            package = value.__name__.partition(".")[0]
            kinds.append("numpy" if package == "numpy" else FRAMEWORKS.get(package))
    named = [kind for kind in kinds if kind is not None]
    frameworks = [kind for kind in named if kind != "numpy"]
    return frameworks[0] if frameworks else (named[0] if named else None)


def _kind_by_class(found: Any) -> str | None:
    """Whose arrays an object takes, by the framework that its class comes from, or else by what
    calls it; None where neither says so.
    """
    of_class = type(found)
    for each in of_class.__mro__:
        package = each.__module__.partition(".")[0]
        if package in FRAMEWORKS:
            return FRAMEWORKS[package]
    return _kind_by_code(getattr(of_class, "forward", None) or of_class.__call__)


def _module(message: Message) -> ModuleType:
    path = message["file"]
    if not path:
        return importlib.import_module(message["module"])
    name = os.path.splitext(os.path.basename(path))[0]
    # A file may be called as a module is that others need.
    while _is_taken(name):
        name = f"_{name}"
    sys.path.insert(_after_the_library(), os.path.dirname(path))
    # A folder of somebody else stays as it is.
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Refusal("it is not a file of Python")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look for their module there.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _is_taken(name: str) -> bool:
    """Whether a module of this name is there, also one that is built into Python."""
    if name in sys.modules or name in sys.builtin_module_names:
        return True
    return PathFinder.find_spec(name) is not None


def _after_the_library() -> int:
    """Where in `sys.path` the standard library ends: a file beside the function hides none of its
    modules.
    """
    library = os.path.dirname(os.__file__)
    ends = [
        number
        for number, path in enumerate(sys.path, start=1)
        if path.startswith(library) and not SITES & {*path.split(os.sep)}
    ]
    return max(ends, default=0)


def _no_such_name(holder: object, name: str, module: ModuleType) -> str:
    named = [
        each
        for each, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", None) == module.__name__
    ]
    if not named or holder is not module:
        return f"there is no {name} in it"
    from difflib import get_close_matches

    # Those that may be meant come first.
    named = [*dict.fromkeys((*get_close_matches(name, named), *named))]
    if len(named) > MOST_FUNCTIONS:
        named = [*named[:MOST_FUNCTIONS], "…"]
    return f"there is no {name} in it; it has {', '.join(named)}"


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
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return _documented_parameters(function)
    found = []
    for name, parameter in [*signature.parameters.items()][:MOST_PARAMETERS]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        found.append(
            {
                "name": name[:LONGEST_NAME],
                "required": parameter.default is parameter.empty,
                "default": type(parameter.default).__name__[:LONGEST_NAME],
                "annotation": str(parameter.annotation)[:LONGEST_NAME],
                "positional": parameter.kind is not parameter.KEYWORD_ONLY,
            }
        )
    return found


def takes_others(function: Callable[..., Any]) -> bool:
    """Whether a function takes settings whose names are not known: **kwargs."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return False
    return any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())


def takes_any_number(function: Callable[..., Any]) -> bool:
    """Whether a function takes arguments whose number is not known: *args."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return True
    return any(each.kind is each.VAR_POSITIONAL for each in signature.parameters.values())


def _documented_parameters(function: Callable[..., Any]) -> list[Message] | None:
    """The parameters in the first lines of a docstring, where functions of C say them."""
    text = (inspect.getdoc(function) or "").partition("->")[0].strip()
    named, _, _ = text.partition("\n\n")
    try:
        (defined,) = ast.parse(f"def {named}: pass").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(defined, ast.FunctionDef):
        return None
    found = defined.args
    positional = [*found.posonlyargs, *found.args]
    without_default = len(positional) - len(found.defaults)
    defaults = [*[None] * without_default, *found.defaults, *found.kw_defaults]
    pairs = zip([*positional, *found.kwonlyargs], defaults, strict=True)
    return [
        {
            "name": each.arg,
            "required": default is None,
            "default": type(getattr(default, "value", None)).__name__,
            "annotation": ast.unparse(each.annotation) if each.annotation else "",
            "positional": each in positional,
        }
        for each, default in [*pairs][:MOST_PARAMETERS]
    ]


# Weights


def weights_of(layer: Any) -> dict[str, tuple[Any, str]]:
    """The weights of a layer by their names, each with the class of what it belongs to: parameters
    of PyTorch, or arrays of NumPy that are its attributes.
    """
    if hasattr(layer, "named_parameters"):
        owners = dict(layer.named_modules())
        found = {}
        for name, parameter in layer.named_parameters():
            owner = type(owners[name.rpartition(".")[0]]).__name__
            stands_alone = owner == type(layer).__name__ and not name.startswith("in_proj")
            found[name] = (parameter, "" if stands_alone else owner)
        return found
    attributes = vars(layer) if hasattr(layer, "__dict__") else {}
    return {
        name: (value, "")
        for name, value in attributes.items()
        if type(value).__name__ == "ndarray" and value.ndim in (1, 2)
    }


def described_weights(function: Any) -> list[Message]:
    """The weights of a layer; none of a function."""
    if inspect.isroutine(function) or inspect.isclass(function):
        return []
    found = []
    for name, (weight, owner) in [*weights_of(function).items()][:MOST_PARAMETERS]:
        shape = [int(size) for size in weight.shape]
        found.append({"name": name[:LONGEST_NAME], "shape": shape, "owner": owner})
    return found


def put_weights(layer: Any, names: Sequence[str], arrays: Sequence[Any]) -> None:
    """Put numbers into the weights of a layer, and switch off what only training has."""
    weights = weights_of(layer)
    for name, array in zip(names, arrays, strict=True):
        weight, _ = weights[name]
        if hasattr(weight, "detach"):
            import torch

            weight.data.copy_(torch.from_numpy(array.copy()))
        elif _is_of_cupy(weight):
            weight[...] = converted(array, "cupy", weight.dtype.name)
        else:
            weight[...] = array
    if hasattr(layer, "named_parameters") and hasattr(layer, "eval"):
        layer.eval()


def _number_named(layer: Any, names: Sequence[str]) -> int | None:
    """The first whole number above 0 that an attribute of one of these names has."""
    for name in names:
        value = getattr(layer, name, None)
        if type(value) is int and value > 0:
            return value
    return None


# Arrays


def arrays_of(specs: Sequence[Message], data: Sequence[bytes]) -> list[Any]:
    """The arrays of a message, in NumPy: numbers in float64, or truth values."""
    import numpy as np

    arrays = []
    for spec, piece in zip(specs, data, strict=True):
        array = np.frombuffer(piece, np.dtype(spec["type"])).reshape(spec["shape"])
        arrays.append(array)
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
        raise Refusal(f"{'CuPy' if kind == 'cupy' else 'NumPy'} has no bfloat16")
    if kind == "cupy":
        import cupy

        return cupy.asarray(array if is_truth else array.astype(dtype))
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
    if isinstance(result, Mapping) and result:
        names = [str(name)[:LONGEST_NAME] for name in result][:MOST_NAMES]
        usual = [name for name in OUTPUTS if name in names]
        one = (usual or names)[0]
        what = f"it returns a dict with {', '.join(names)}, not an array of numbers"
        raise Refusal(f"{what}: say which is the output: --call 'f(q, k, v)[\"{one}\"]'")
    dtype = str(getattr(result, "dtype", "")).rpartition(".")[2]
    if hasattr(result, "detach"):
        result = result.detach().cpu().double().numpy()
    elif dtype == "bfloat16":
        result = result.astype(_float32_of(result))
    array = _as_array(_off_the_gpu(result))
    if array.dtype.kind not in "iuf" and "float" not in array.dtype.name:
        what = _a_kind(result)
        if hasattr(result, "dtype"):
            what = f"an array of {array.dtype.name}"
        raise Refusal(f"it returns {what}, not an array of numbers")
    if array.size > MOST_NUMBERS:
        raise Refusal(f"it returns {array.size:,} numbers")
    return np.ascontiguousarray(array, dtype=np.float64), dtype or array.dtype.name


def _as_array(result: Any) -> Any:
    import numpy as np

    try:
        return np.asarray(result)
    except ValueError as error:
        if not isinstance(result, list):
            raise
        raise Refusal(f"it returns no array: {error}") from None


def _off_the_gpu(array: Any) -> Any:
    """An array of CuPy in the computer's memory, where CuPy puts none by itself; any other as it
    is.
    """
    return array.get() if _is_of_cupy(array) else array


def _is_of_cupy(array: Any) -> bool:
    # JAX has the first of them, too.
    return hasattr(array, "__cuda_array_interface__") and hasattr(array, "get")


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
    # A function may change what it gets.
    arrays = [converted(array.copy(), loaded.kind, message["dtype"]) for array in made]
    if "gradients" in message:
        return _called_back(loaded, message, data, arrays)
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
    if isinstance(result, tuple):
        answer["items"] = [_shape_of(item) for item in result[:MOST_ITEMS]]
    if message["twice"]:
        again = [converted(array.copy(), loaded.kind, message["dtype"]) for array in made]
        second, _ = numbers_of(_result(loaded, message, again))
        answer["repeats"] = second.shape == numbers.shape and bool(
            np.array_equal(second, numbers, equal_nan=True)
        )
    return answer, numbers.tobytes()


def _shape_of(item: object) -> list[int]:
    """The shape of an array; nothing of anything else."""
    try:
        return [int(size) for size in getattr(item, "shape", ())]
    except (TypeError, ValueError):
        return []


def _copied(array: Any) -> Any:
    """The numbers of an array as they are now, in NumPy."""
    import numpy as np

    if hasattr(array, "detach"):
        held = array.detach()
        return held.double().numpy().copy() if held.is_floating_point() else held.numpy().copy()
    if str(array.dtype).endswith("bfloat16"):
        array = array.astype(_float32_of(array))
    found = np.array(_off_the_gpu(array))
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


# Functions of FlexAttention


def sampled(loaded: Loaded, message: Message) -> tuple[Message, bytes]:
    """What a mask_mod gives at every place, or a score_mod for every score there, as float64 in one
    row.

    `places` are the numbers of entries, heads, queries and keys that it is called with, and
    `scores` those of a score_mod, none for a mask_mod. `way` says as what it gets them: "numbers",
    those of NumPy, which compare, add and index as tensors do; "tensors" without axes; or "flex",
    as FlexAttention calls it.
    """
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if message["way"] == "flex":
            found, shape = _by_flex_attention(loaded, message["places"])
        else:
            found, shape = _place_by_place(loaded, message)
    return {"shape": shape}, found.tobytes()


def _place_by_place(loaded: Loaded, message: Message) -> tuple[Any, list[int]]:
    import numpy as np

    scores = message["scores"]
    given = [each or [None] for each in (*message["places"], scores)]
    found = []
    for *place, score in product(*given):
        numbers = [_number_as(message["way"], each) for each in place]
        if scores:
            numbers.insert(0, _number_as(message["way"], score))
        try:
            result = loaded.function(*numbers)
            found.append(_score_in(result) if scores else _truth_in(result))
        # A function may raise anything, SystemExit too.
        except BaseException as error:
            names = ["b", "h", "q_idx", "kv_idx"]
            where = ", ".join(f"{name} = {at}" for name, at in zip(names, place, strict=True))
            raise Refusal(f"{said(error, loaded.path)} (at {where})") from None
    shape = [len(each) for each in given]
    return np.array(found, dtype=np.float64), shape if scores else shape[:-1]


def _number_as(way: str, number: int | float) -> Any:
    """A whole number, or a score, as a function gets it."""
    if way == "tensors":
        import torch

        is_whole = isinstance(number, int)
        return torch.tensor(number, dtype=torch.int64 if is_whole else torch.float64)
    import numpy as np

    return np.int64(number) if isinstance(number, int) else np.float64(number)


def _by_flex_attention(loaded: Loaded, places: Sequence[Sequence[int]]) -> tuple[Any, list[int]]:
    """The mask that PyTorch makes of a function at places that begin with 0: of a score_mod, where
    it does not give minus infinity.
    """
    import numpy as np
    from torch.nn.attention.flex_attention import create_mask

    sizes = [len(each) for each in places]
    mask = create_mask(loaded.function, *sizes, device="cpu")
    if str(mask.dtype) != "torch.bool":
        raise Refusal(f"it returns tensors of {mask.dtype}, not true or false")
    return mask.numpy().astype(np.float64), sizes


def begin_flex_attention() -> None:
    """Make a mask of one cell, for which PyTorch imports what takes long."""
    from torch.nn.attention.flex_attention import create_mask

    create_mask(lambda b, h, q_idx, kv_idx: q_idx >= kv_idx, 1, 1, 1, 1, device="cpu")


def _truth_in(result: Any) -> bool:
    """Whether a mask_mod lets a query see a key."""
    if isinstance(result, bool) or (_has_one_value(result) and _is_of_truths(result)):
        return bool(result)
    raise Refusal(f"it returns {_what_came(result)}, not true or false")


def _score_in(result: Any) -> float:
    """The score that a score_mod gives."""
    is_number = isinstance(result, int | float) and not isinstance(result, bool)
    if is_number or (_has_one_value(result) and not _is_of_truths(result)):
        return float(result)
    raise Refusal(f"it returns {_what_came(result)}, not a score")


def _has_one_value(result: Any) -> bool:
    return hasattr(result, "dtype") and tuple(getattr(result, "shape", ())) == ()


def _is_of_truths(result: Any) -> bool:
    return str(result.dtype).rpartition(".")[2] == "bool"


def _what_came(result: Any) -> str:
    """What a function returns, in words."""
    if result is None:
        return "nothing"
    if callable(result):
        return "a function"
    if tuple(getattr(result, "shape", ())):
        return "an array"
    return _a_kind(result)


# Gradients

# What PyTorch says where numbers were changed that a gradient needs.
OF_IN_PLACE = "inplace operation"
# Of what a function returns: dQ, dK and dV, alone or behind the output.
GRADIENTS = 3


def _called_back(
    loaded: Loaded, message: Message, data: Sequence[bytes], arrays: Sequence[Any]
) -> tuple[Message, bytes]:
    """The output of a call and the gradients of it, one behind another; either may be missing."""
    asked = message["gradients"]
    error = ""
    output = None
    gradients: Sequence[Any]
    if asked["returned"]:
        output, gradients = _returned(_result(loaded, message, arrays))
    elif loaded.kind == "jax":
        output, gradients = _by_jax(loaded, message, arrays)
    else:
        output, gradients, error = _by_torch(loaded, message, arrays)
    found = [None if each is None else numbers_of(each) for each in (output, *gradients)]
    shapes = [None if each is None else list(each[0].shape) for each in found]
    dtypes = [each[1] for each in found if each is not None]
    answer: Message = {
        "shape": shapes[0],
        "gradients": shapes[1:],
        "dtype": dtypes[0] if dtypes else message["dtype"],
        "changed": [],
        "without": error,
    }
    if message["twice"]:
        alone = {name: value for name, value in message.items() if name != "gradients"}
        behaved, _ = called(loaded, alone, data)
        answer.update({name: behaved[name] for name in ("changed", "repeats")})
    return answer, b"".join(each[0].tobytes() for each in found if each is not None)


def _returned(result: Any) -> tuple[Any, Sequence[Any]]:
    """The output, if it is among them, and the gradients that a function returns."""
    if isinstance(result, dict):
        result = list(result.values())
    if not isinstance(result, tuple | list) or not _holds_arrays(result):
        raise Refusal(f"it returns {_a_kind(result)}, not a tuple of three gradients: dQ, dK, dV")
    if len(result) == GRADIENTS:
        return None, result
    if len(result) == GRADIENTS + 1:
        return result[0], result[1:]
    raise Refusal(f"it returns {len(result)} arrays, not three gradients: dQ, dK, dV")


def _output_in(result: Any) -> Any:
    """The output alone, of what a function returns."""
    if isinstance(result, tuple | list) and result:
        return result[0]
    return result


def _by_torch(
    loaded: Loaded, message: Message, arrays: Sequence[Any]
) -> tuple[Any, Sequence[Any], str]:
    """The output, its gradients by PyTorch, None where none flows, and why there are none."""
    import torch

    asked = message["gradients"]
    leaves, given = [], list(arrays)
    for number in asked["of"]:
        leaf = arrays[number].requires_grad_()
        leaves.append(leaf)
        # In a network, what comes in has been worked out, and may be changed in place.
        given[number] = leaf.clone()
    weights = weights_of(loaded.function) if asked["weights"] else {}
    for name in asked["weights"]:
        leaves.append(weights[name][0].requires_grad_())
    # What one case has changed in place is not that of the next.
    upstream = arrays[asked["upstream"]]
    with torch.enable_grad():
        output = _output_in(_result(loaded, message, given))
    if not isinstance(output, torch.Tensor) or output.shape != upstream.shape:
        return output, [], "its output has another shape"
    if not output.requires_grad:
        return output, [None] * len(leaves), ""
    try:
        found = torch.autograd.grad(output, leaves, upstream.to(output.dtype), allow_unused=True)
    # What frameworks raise, and classes of functions with a backward of their own.
    except Exception as error:
        words = said(error, loaded.path)
        if OF_IN_PLACE in words:
            words = f"what they need was changed in place: {words}"
        return output, [], words
    return output, found, ""


def _by_jax(loaded: Loaded, message: Message, arrays: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
    """The output and its gradients by JAX."""
    import jax

    asked = message["gradients"]

    def attend(*leaves: Any) -> Any:
        given = list(arrays)
        for number, leaf in zip(asked["of"], leaves, strict=True):
            given[number] = leaf
        return _output_in(_result(loaded, message, given))

    leaves = [arrays[number] for number in asked["of"]]
    output, back = jax.vjp(attend, *leaves)
    upstream = arrays[asked["upstream"]]
    if output.shape != upstream.shape:
        return output, []
    return output, back(upstream.astype(output.dtype))


# Errors


def said(error: BaseException, path: str | None) -> str:
    """An error in one line, with the line of the file that it comes from."""
    try:
        text = _words_of(error)
        lines = [*_lines_of(error, path)]
    # The class of an error may be as hostile as a function.
    except BaseException:
        text, lines = "an error that cannot be shown", []
    where = f"line {lines[-1]}: " if lines else ""
    short = text if len(text) <= LONGEST_ERROR else f"{text[:LONGEST_ERROR]}…"
    return where + " ".join(short.split())


def _words_of(error: BaseException) -> str:
    if isinstance(error, Refusal):
        return str(error)
    name = type(error).__name__
    try:
        words = str(error.msg if isinstance(error, SyntaxError) else error)
    except BaseException:
        return name
    return f"{name}: {words}" if words else name


def _lines_of(error: BaseException, path: str | None) -> Iterator[int]:
    """The lines of this file that an error went through; the last is the nearest."""
    at = error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == path:
            yield at.tb_lineno
        at = at.tb_next
    if not isinstance(error, SyntaxError) or error.filename != path:
        return
    if isinstance(error.lineno, int):
        yield error.lineno


# The whole


def main() -> None:
    """Answer messages for ever; the process ends with the line."""
    line = line_of_this_process()
    answering = Answering()
    while True:
        message, data = line.receive()
        array = b""
        answer: Message
        try:
            answer, array = answering.answer(message, data)
        # A function may raise anything, SystemExit too.
        except BaseException as error:
            answer = {"error": said(error, answering.path)}
        line.send(answer, array)


class Answering:
    """What is known from one message to the next."""

    def __init__(self) -> None:
        self.path: str | None = None
        self._imports: list[ast.stmt] = []
        self._loaded: Loaded | None = None

    def answer(self, message: Message, data: Sequence[bytes]) -> tuple[Message, bytes]:
        """Do what a message says: set the limits, read the file, import its packages, load the
        function, and call it.
        """
        asked = message["do"]
        if asked == "begin":
            self.path = message["file"]
            hold_to(message["limits"])
            sys.path += [path for path in message["paths"] if path not in sys.path]
            return {}, b""
        if asked == "read":
            self._imports = imports_of(message)
            return {}, b""
        if asked == "prepare":
            prepare(self._imports)
            refuse_copies()
            return {}, b""
        if asked == "load":
            self._loaded = load(message)
            return self._loaded.described(), b""
        if asked == "flex":
            begin_flex_attention()
            return {}, b""
        assert self._loaded is not None
        if asked == "sample":
            return sampled(self._loaded, message)
        if asked == "weights":
            names = [spec["name"] for spec in message["arrays"]]
            put_weights(self._loaded.function, names, arrays_of(message["arrays"], data))
            return {}, b""
        return called(self._loaded, message, data)


if __name__ == "__main__":
    main()
