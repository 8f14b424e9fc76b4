"""Draws whole problems over every key that the schema of problems has.

What may be written is walked in `problem.schema.json`: a key, a word or a form that is added there
is drawn from then on. What makes arrays fit together comes from the rows of `keys.py`: the length
of each index is drawn first, and an array is as long along its letters as those are. So most
problems are right; a share is damaged on purpose.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import yaml

import attncli
from attncli.problem.keys import ARRAYS, KEYS, SCORES
from attncli.problem.suffixes import TEXT_SUFFIXES, array_suffixes
from attncli.problem.text.numbers import as_float
from tests.tools.json_schemas import expanded
from tests.tools.sweep.drawn_equations import (
    WHOLE_SYSTEMS,
    WITH_EQUATIONS,
    add_equations,
    whole_system,
)

Schema = Mapping[str, Any]

DAMAGED = 0.12  # the share of problems
OPTIONAL = 0.25  # how often a key is given that a problem may as well go without
LETTERS = "QKV"
WORKBOOK, SHEET = ".xlsx", "Numbers"
FLAT = (*TEXT_SUFFIXES, WORKBOOK)  # files of one matrix
BINARY = [suffix for suffix in array_suffixes() if suffix not in FLAT]
TEXTS = [
    "a",
    "I",
    "love",
    "the end",
    "x_1",
    "A & B % #1",
    "$x$",
    "\\frac{1}{2}",
    "|x|",
    "é",
    "日本",
    "😀",
    "<b>",
    "1",
    "-",
]
EXACT_WORDS = ["1/3", "-2/5", "sqrt(2)", "2*sqrt(3)/5"]
ODD = [
    None,
    True,
    0,
    -1,
    2,
    10**30,
    1.5,
    -0.0,
    1e308,
    5e-324,
    "",
    "x",
    "1/3",
    "1/0",
    "sqrt(-1)",
    "-inf",
    "none",
    "causal",
    [],
    {},
    [[]],
    [[1]],
    [[1, 2], [3]],
    [None],
    {"a": 1},
    {"file": "nothing.npz"},
    {"random": [2, 2]},
    {"random": [0]},
]


# The schema says nothing of the masks in `any`.
MASKS_IN_MASKS: tuple[Schema, ...] = (
    {"first": 1},
    {"causal": True},
    {"window": [1, 0]},
    {"chunk": 2},
    {"documents": [0, 1]},
)


@cache
def problem_schema() -> Schema:
    """The schema that editors get, with its definitions written out where they are used."""
    file = Path(attncli.__file__).parent / "problem" / "problem.schema.json"
    return expanded(json.loads(file.read_text(encoding="utf-8")))


@dataclass
class Drawn:
    """A problem as JSON data, the arrays in files that it names, and how long each index is."""

    data: dict[str, Any]
    # of each file its arrays by their names
    arrays: dict[str, dict[str, Any]] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    damaged: bool = False


def draw_problem(
    choice: Random, schema: Schema | None = None, lengths: Mapping[str, int] | None = None
) -> Drawn:
    """A problem, of these lengths if they are given; a share of `DAMAGED` has something wrong."""
    drawn = _Drawing(choice, schema or problem_schema()).problem(lengths or {})
    if choice.random() < WITH_EQUATIONS:
        if not lengths and choice.random() < WHOLE_SYSTEMS:
            # Its lengths stay those of the other problem: what is drawn beside it may not fit.
            words = {key: drawn.data[key] for key in WORDS if key in drawn.data}
            drawn = Drawn({**words, **whole_system(choice)}, lengths=drawn.lengths)
        else:
            add_equations(choice, drawn.data, drawn.lengths)
    if choice.random() < DAMAGED:
        _damage(choice, drawn.data, list((schema or problem_schema())["properties"]))
        drawn.damaged = True
    return drawn


def written(choice: Random, data: Mapping[str, Any]) -> tuple[str, str]:
    """The name of a problem file and its text, in one of the ways to write it."""
    form = choice.choice(["json", "indented", "flow", "flow", "block", "mixed"])
    if form in ("json", "indented"):
        indent = 1 if form == "indented" else None
        return "problem.json", json.dumps(data, ensure_ascii=choice.random() < 0.5, indent=indent)
    if form == "flow":
        rows = (
            f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}\n"
            for key, value in data.items()
        )
        return "problem.yaml", "".join(rows)
    style = None if form == "mixed" else False
    width = None if choice.random() < 0.5 else 10**6
    text = yaml.safe_dump(
        dict(data), default_flow_style=style, sort_keys=False, allow_unicode=True, width=width
    )
    return "problem.yaml", text


def array_file(name: str, arrays: Mapping[str, Any]) -> bytes:
    """The bytes of a file of arrays."""
    stream = io.BytesIO()
    named = {key: np.asarray(value) for key, value in arrays.items()}
    if name.endswith(TEXT_SUFFIXES):
        rows = np.atleast_2d(next(iter(named.values()))).tolist()
        between = "\t" if name.endswith(".tsv") else ", "
        return "\n".join(between.join(map(_cell, row)) for row in rows).encode()
    if name.endswith(".npy"):
        np.save(stream, next(iter(named.values())))
    elif name.endswith(".npz"):
        np.savez(stream, **named)
    elif name.endswith(".safetensors"):
        from safetensors.numpy import save

        return save({key: np.ascontiguousarray(value) for key, value in named.items()})
    elif name.endswith(WORKBOOK):
        from xlsxwriter import Workbook

        with Workbook(stream, {"in_memory": True}) as book:
            sheet = book.add_worksheet(SHEET)
            for place, row in enumerate(np.atleast_2d(next(iter(named.values()))).tolist()):
                sheet.write_row(place, 0, row)
    return stream.getvalue()


# The schema says little of equations: they are drawn for what else the problem has.
OF_EQUATIONS = ("arrays", "equations", "result")
# What any problem may have beside a whole system.
WORDS = ("title",)


# Numbers.


def _exact(choice: Random) -> str:
    top, below, under = (
        choice.randint(1, 9),
        choice.choice([2, 3, 5, 7, 8, 12]),
        choice.choice([2, 3, 4, 5, 8, 12]),
    )
    form = choice.choice(
        ["{t}/{b}", "{t}/{b}", "sqrt({u})", "{t}*sqrt({u})", "sqrt({u})/{b}", "{t}*sqrt({u})/{b}"]
    )
    return choice.choice(["", "-"]) + form.format(t=top, b=below, u=under)


def _scaled(choice: Random, powers: list[int]) -> float:
    return float(f"{choice.gauss(0, 1):.3g}") * 10.0 ** choice.choice(powers)


NUMBERS: dict[str, tuple[int, Callable[[Random], Any]]] = {  # with how often each kind comes
    "small": (6, lambda choice: choice.randint(-3, 3)),
    "whole": (2, lambda choice: choice.randint(-20, 20)),
    "short": (7, lambda choice: round(choice.gauss(0, 1.5), choice.choice([1, 2, 2, 3]))),
    "exact": (3, lambda choice: _exact(choice) if choice.random() < 0.4 else choice.randint(-3, 3)),
    "zeros": (1, lambda choice: choice.choice([0, 0, 0, 1, -0.0])),
    "long": (1, lambda choice: choice.gauss(0, 2)),
    "large": (1, lambda choice: _scaled(choice, [2, 3, 8, 16, 30])),
    "huge": (1, lambda choice: _scaled(choice, [0, 100, 154, 200, 300])),
    "tiny": (1, lambda choice: _scaled(choice, [0, -8, -30, -160, -310])),
}


class _Drawing:
    """One problem on its way: the lengths, the kind of numbers, and what has been drawn."""

    def __init__(self, choice: Random, schema: Schema) -> None:
        self.choice = choice
        self.schema = schema
        self.keys: Schema = schema["properties"]
        self.context = self.axis = self.stacked = False
        self.drawn = Drawn({})
        kinds = list(NUMBERS)
        self.kind = choice.choices(kinds, [NUMBERS[kind][0] for kind in kinds])[0]

    def often(self, share: float) -> bool:
        return self.choice.random() < share

    def problem(self, lengths: Mapping[str, int]) -> Drawn:
        choice, data = self.choice, self.drawn.data
        self._draw_lengths()
        self.lengths |= lengths
        score = self.value(self.keys["score"], "score") if self.often(0.4) else "scaled_dot"
        if score not in SCORES or SCORES[score].equal_widths:
            self.lengths["p"] = self.lengths["k"]
        projected = {*LETTERS} if self.often(0.4) else {each for each in LETTERS if self.often(0.4)}
        self.context = bool(projected & {*"KV"}) and self.often(0.3)
        of_x = {each for each in projected if each == "Q" or not self.context}
        if of_x & {*"KV"}:
            self.lengths["s"] = self.lengths["i"]
        self.lengths["j"] = self.lengths["s"] + self.lengths["u"]
        if not self.context:
            self.lengths["D"] = self.lengths["d"]
        # heads that are given lie on an axis of their own
        self.stacked = self.often(0.7) or bool(self.lengths["b"])
        wanted = [("X", bool(of_x)), ("context", self.context)]
        for each in LETTERS:
            wanted += [(each, each not in projected), (f"W_{each}", each in projected)]
            wanted.append((f"b_{each}", each in projected and self.often(0.4)))
        wanted += [("past", bool(self.lengths["u"])), ("W_O", self.often(0.3))]
        wanted += [
            ("b_O", wanted[-1][1] and self.often(0.5)),
            ("score", score != "scaled_dot" or self.often(0.1)),
        ]
        in_scores = {array.name for each in SCORES.values() for array in each.arrays}
        wanted += [
            (array.name, True) for array in (SCORES[score].arrays if score in SCORES else ())
        ]
        decided = {name for name, _ in wanted} | in_scores | {"heads", "kv_heads", *OF_EQUATIONS}
        end = choice.choice(["d_output", "loss", "loss", "", "", ""])
        wanted += [
            (key, self.often(OPTIONAL))
            for key in self.keys
            if key not in decided | {"d_output", "loss"}
        ]
        if end:
            wanted.append((end, True))
        self._count_heads({name for name, given in wanted if given})
        for name, given in wanted:
            if given and name in self.keys:
                data[name] = score if name == "score" else self.value(self.keys[name], name)
        if (
            self.lengths["k"] % 2
            and "rope" in (position := data.get("position", ()))
            and position != "none"
        ):
            del data["position"]  # it turns pairs of features
        if self.often(0.5):
            for key in choice.sample(list(data), len(data)):
                data[key] = data.pop(key)
        self.drawn.lengths = self.lengths
        return self.drawn

    def _draw_lengths(self) -> None:
        """How long each index is, by its letter; D are the features of a context, 0 that there is
        no such axis.
        """
        choice = self.choice
        most = choice.choice([2, 3, 3, 3, 4, 4, 6]) if self.often(0.97) else 13
        size = partial(choice.randint, 1, most)
        large = most > 6  # whose every cell worked for every head would take longer than a line may
        groups = 1 if large else choice.choice([1, 1, 1, 1, 2, 3])
        heads = groups * (1 if large else choice.choice([1, 1, 1, 2, 3]))
        self.lengths = {letter: size() for letter in "iskcpadDo"}
        if self.often(0.5):
            self.lengths["k"] = choice.choice([2, 2, 4])
        self.lengths |= {
            "b": 0 if large else choice.choice([0, 0, 0, 0, 1, 2]),
            "h": heads,
            "g": groups,
            "u": 0,
        }
        self.lengths["j"] = self.lengths["s"]
        if self.often(0.2):
            self.lengths["u"] = size()
        self.lengths["e"] = heads * self.lengths["c"]

    def _count_heads(self, given: set[str]) -> None:
        """Say how many heads there are where the arrays do not; else now and then."""
        data, heads, groups = self.drawn.data, self.lengths["h"], self.lengths["g"]
        seen_heads = self.stacked and "Q" in given and heads > 1
        seen_groups = self.stacked and "K" in given
        # whether an axis of heads is there where there is one head
        self.axis = heads > 1 or self.often(0.3)
        if (
            (heads > 1 and not seen_heads)
            or (heads > 1 and groups == heads and not seen_groups)
            or self.often(0.15)
        ):
            data["heads"] = heads
        if (groups != heads and not seen_groups) or self.often(0.1):
            data["kv_heads"] = groups

    # The lengths of arrays.

    def shape(self, path: str) -> tuple[int, ...] | None:
        """The shape of what stands at this path of the problem; None where nothing says it."""
        lengths, output = self.lengths, self._output()
        array = next((array for array in ARRAYS.values() if array.path == path), None)
        if array is not None:
            return self._array_shape(array.name)
        queries, keys = lengths["i"], lengths["j"]
        entries = lengths["b"] or 1
        whole = (
            self.choice.choice([1, entries]),
            self.choice.choice([1, lengths["h"]]),
            queries,
            keys,
        )
        shapes: dict[str, tuple[int, ...]] = {
            "tokens": (queries,),
            "context_tokens": (keys,),
            "d_output": output,
            "loss.target": output,
            "loss.targets": output[:-1],
            "mask.lengths": (self.choice.choice([1, entries]),),
            "mask.first": (self.choice.choice([1, entries]),),
            "mask.documents": (entries, keys) if entries > 1 and self.often(0.7) else (keys,),
            "mask.padding": (entries, keys) if entries > 1 and self.often(0.7) else (keys,),
        }
        if path.endswith(("short_factor", "long_factor")):
            return (max(lengths["k"] // 2, 1),)
        if path.endswith("mrope_section"):
            return (3,)
        of_entries = (entries,) if entries > 1 and self.often(0.3) else ()
        if self.often(0.2):
            # Of time, height and width.
            of_entries = (3, *of_entries)
        if path.endswith("positions.queries"):
            return (*of_entries, queries)
        if path.endswith(("positions.keys", "rope.positions")):
            return (*of_entries, keys)
        if path in shapes:
            return shapes[path]
        if path in ("mask", "mask.keep", "mask.hide", "mask.additive"):
            return whole[self.choice.choice([0, 1, 2, 2, 2]) :]
        return None

    def _array_shape(self, name: str) -> tuple[int, ...]:
        array, lengths = ARRAYS[name], self.lengths
        kind = next(key.kind for key in KEYS.values() if array in key.arrays)
        own = []
        for letter in array.letters:
            letter = {"j": "s", "p": "p" if name != "Q" else "k"}.get(letter, letter)
            if letter == "d" and self.context and name in ("context", "W_K", "W_V"):
                letter = "D"
            if letter == "k" and name in ("Q", "W_Q", "b_Q"):
                letter = "p"
            own.append(lengths[letter] if letter in lengths else self.choice.randint(1, 3))
        count = {"h": lengths["h"], "g": lengths["g"]}
        heads = next((count[letter] for letter in array.leading if letter in count), 0)
        if kind in ("sink", "position"):
            return (lengths["h"],)
        if kind in ("matrix", "vector") or (heads and not self.stacked):
            return (*own[:-1], own[-1] * (heads or 1))
        entries = (lengths["b"],) if lengths["b"] else ()
        return (*entries, *((heads,) if heads and (self.axis or entries) else ()), *own)

    def _output(self) -> tuple[int, ...]:
        lengths, data = self.lengths, self.drawn.data
        entries = (lengths["b"],) if lengths["b"] else ()
        if "W_O" in data:
            return (*entries, lengths["i"], lengths["o"])
        if "Q" in data and self.stacked and (self.axis or entries):
            return (*entries, lengths["h"], lengths["i"], lengths["c"])
        return (*entries, lengths["i"], lengths["e"])

    # Values, as the schema has them.

    def value(self, schema: Schema, path: str) -> Any:
        """Something that the schema allows at this path."""
        choice = self.choice
        if path == "mask.any":
            return self._shown_by_one()
        forms = _forms(schema)
        shape = self.shape(path)
        lists = [form for form in forms if form.get("type") == "array"]
        if shape is not None and lists:
            leaf = next((leaf for form in forms if (leaf := _leaf(form, len(shape)))), None)
            others = [form for form in forms if form not in lists]
            if leaf is not None and not (others and self.often(0.25 if path != "mask" else 0.7)):
                return self._lists(leaf, shape, path)
            forms = others or forms
            form = choice.choice(forms)
            if leaf is not None and re.search(form.get("pattern", "$^"), "1 2"):
                return _pasted(choice, self._lists(leaf, shape, path))
        else:
            form = choice.choice(
                [each for each in forms if not re.search(each.get("pattern", "$^"), "1 2")]
            )
        if "pattern" in form and any("exclusiveMinimum" in each for each in forms):
            return self._of_one_form(form, path).lstrip("-")
        return self._of_one_form(form, path)

    def _of_one_form(self, form: Schema, path: str) -> Any:
        choice = self.choice
        if "const" in form:
            return form["const"]
        if "enum" in form:
            return choice.choice(form["enum"])
        kinds = form.get("type", "object")
        kind = choice.choice(kinds) if isinstance(kinds, list) else kinds
        if kind == "object":
            return self._mapping(form, path)
        if kind == "array" and "items" not in form:
            # What the schema leaves open is a mask inside of another one.
            return self._lists({"enum": [0, 1]}, self.shape("mask") or (2, 2), path)
        if kind == "array":
            least, most = (
                form.get("minItems", 0),
                form.get("maxItems", max(form.get("minItems", 0), 3)),
            )
            return [self.value(form["items"], path) for _ in range(choice.randint(least, most))]
        if kind == "string":
            if "pattern" in form:
                return next(
                    text
                    for text in iter(lambda: _exact(choice), "")
                    if re.search(form["pattern"], text)
                )
            return choice.choice(TEXTS)
        if kind == "boolean":
            return self.often(0.6)
        if kind == "null":
            return None
        if kind == "integer":
            return form.get("minimum", 0) + choice.choice([0, 0, 1, 1, 1, 2, 3])
        return self._number(form)

    def _number(self, form: Schema) -> float | int:
        """A number within the bounds of the schema."""
        number: Any = NUMBERS[self.kind][1](self.choice)
        if isinstance(number, str):
            number = self.choice.choice([0.5, 2, -1, 3])
        least = form.get("exclusiveMinimum")
        if least is not None:
            above: float = abs(number) or 1
            return above if above > least else least + above
        return number

    def _mapping(self, form: Schema, path: str) -> dict[str, Any]:
        properties: Schema = form.get("properties", {})
        if not properties:
            return dict(self.choice.choice(MASKS_IN_MASKS))
        if "file" in properties or "random" in properties:
            shape = self.shape(path) or (2, 2)
            return (
                self._in_file(form, shape, path)
                if "file" in properties
                else self._random(form, shape, path)
            )
        required = form.get("required", ())
        names = [name for name in properties if name in required or self.often(0.35)]
        if len(names) < form.get("minProperties", 0):
            names.append(self.choice.choice(list(properties)))
        for name, needs in form.get("dependencies", {}).items():
            if (
                name in names
                and isinstance(needs, dict)
                and not any({*each["required"]} & {*names} for each in needs["anyOf"])
            ):
                names.remove(name)
        return {
            name: self.value(properties[name], f"{path}.{name}")
            for name in names or list(properties)[:1]
        }

    def _lists(self, leaf: Schema, shape: tuple[int, ...], path: str) -> Any:
        if shape:
            return [self._lists(leaf, shape[1:], path) for _ in range(shape[0])]
        forms = [form for form in _forms(leaf) if form.get("type") not in ("array", "object")]
        numbers = [form for form in forms if form.get("type") == "number"]
        if numbers and not self.often(0.2 if any("enum" in form for form in forms) else 0):
            number = NUMBERS[self.kind][1](self.choice)
            takes_text = any(form.get("type") == "string" for form in forms)
            return number if takes_text or not isinstance(number, str) else 1
        form = self.choice.choice(
            [form for form in forms if form.get("type") != "string" or not numbers] or forms
        )
        if path == "loss.targets" and form.get("type") == "integer":
            return self.choice.randrange(self._output()[-1])
        return self._of_one_form(form, path)

    def _random(self, form: Schema, shape: tuple[int, ...], path: str) -> dict[str, Any]:
        found: dict[str, Any] = {"random": list(shape)}
        for name, property in form["properties"].items():
            if name != "random" and self.often(0.5):
                found[name] = self.value(property, f"{path}.{name}")
        low, high = found.get("low", 0), found.get("high", 1)
        if as_float(str(low)) >= as_float(str(high)) and self.often(0.9):
            found |= {"low": -1, "high": 2}
        if "integers" in found and self.often(0.9):
            found.pop("decimals", None)
        return found

    def _in_file(self, form: Schema, shape: tuple[int, ...], path: str) -> dict[str, Any]:
        """A reference to an array in a file, and the file with what it takes to find such an array
        there.
        """
        choice, properties = self.choice, form["properties"]
        suffix = choice.choice(array_suffixes() if len(shape) < 3 else BINARY)
        found = {"file": f"{path.replace('.', '_')}{suffix}"}
        unnamed = found["file"].endswith((".npy", *FLAT))
        part = path[-1] in LETTERS and "W_" in path  # a fused array: the others are in it as well
        for name, property in properties.items():
            if name not in ("file", "part", "layout", "range") and self.often(0.25):
                if (name == "name" and unnamed) or (name == "transpose" and len(shape) < 2):
                    continue
                if name == "index" and found["file"].endswith(FLAT):  # which have no further axis
                    continue
                found[name] = self.value(property, f"{path}.{name}")
        if "part" in properties and part and self.often(0.4):
            found["part"] = path[-1].lower()
            if self.often(0.5):
                found["layout"] = self.value(properties["layout"], f"{path}.layout")
        if not unnamed:
            found.setdefault("name", choice.choice(["a", "w.q", "model.weight"]))
        array = _laid_out(self._numbers(shape, path), found, self.drawn.data, choice)
        self.drawn.arrays[found["file"]] = {found.get("name", "a"): array}
        if "range" in properties and found["file"].endswith(WORKBOOK) and self.often(0.95):
            from xlsxwriter.utility import xl_range

            rows, columns = np.atleast_2d(array).shape
            found["range"] = choice.choice(["", f"{SHEET}!"]) + xl_range(
                0, 0, rows - 1, columns - 1
            )
        if "name" in found and self.often(0.3):
            self.drawn.arrays[found["file"]]["other"] = np.zeros(2)
        return found

    def _shown_by_one(self) -> list[Any]:
        """Masks of which one is enough; the schema does not say again what stands in each."""
        masks: list[Any] = ["causal", {"first": 1}, {"window": [1, 0]}, {"chunk": 2}]
        masks.append(["causal", {"window": [0, -1]}])
        return self.choice.sample(masks, self.choice.randint(1, 3))

    def _numbers(self, shape: tuple[int, ...], path: str) -> Any:
        if path in ("mask.keep", "mask.hide", "mask.padding", "mask"):
            truths = np.array([self.often(0.7) for _ in range(int(np.prod(shape)))]).reshape(shape)
            return truths if self.often(0.7) or path == "mask" else truths.astype(np.int64)
        if path == "mask.documents":
            return np.array([self.choice.randrange(3) for _ in range(int(np.prod(shape)))]).reshape(
                shape
            )
        if path == "loss.targets":
            return np.array(
                [self.choice.randrange(self._output()[-1]) for _ in range(int(np.prod(shape)))]
            ).reshape(shape)
        numbers = [NUMBERS[self.kind][1](self.choice) for _ in range(int(np.prod(shape)))]
        values = [as_float(number) if isinstance(number, str) else number for number in numbers]
        kind = self.choice.choice(["float64", "float64", "float32", "float16"])
        with np.errstate(over="ignore"):
            array = np.array(values, dtype=np.float64).reshape(shape).astype(kind)
        return np.nan_to_num(array, posinf=1, neginf=-1)


def _laid_out(
    array: Any, reference: Mapping[str, Any], data: Mapping[str, Any], choice: Random
) -> Any:
    """The array that a file must hold so that the reference takes this one of it."""
    if "part" in reference:
        array = _fused(array, reference, data)
    if reference.get("transpose") and array.ndim > 1:
        array = array.swapaxes(-1, -2)
    index = reference.get("index", [])
    for place in reversed(index if isinstance(index, list) else [index]):
        array = np.stack([array] * (place + choice.choice([1, 1, 2])))
    return array


def _fused(array: Any, reference: Mapping[str, Any], data: Mapping[str, Any]) -> Any:
    heads = data.get("heads", 1)
    groups = data.get("kv_heads", heads)
    own = heads if reference["part"] == "q" else groups
    of_head = max(1, array.shape[-1] // own)
    whole = np.ones((*array.shape[:-1], (heads + 2 * groups) * of_head), dtype=array.dtype)
    by_head = reference.get("layout") == "heads"
    parts = groups if by_head else 1
    shares = (heads // groups, 1, 1) if by_head else (heads, groups, groups)
    at = "qkv".index(reference["part"])
    if whole.shape[-1] % parts:  # heads that are no whole number of groups
        return whole
    view = whole.reshape(*array.shape[:-1], parts, -1)
    first, many = sum(shares[:at]) * of_head, shares[at] * of_head
    if parts * many == array.shape[-1]:
        view[..., first : first + many] = array.reshape(*array.shape[:-1], parts, many)
    return whole


def _pasted(choice: Random, lists: Any) -> str:
    """The text of lists, in one of the ways in which people paste it."""
    rows = lists if isinstance(lists[0], list) else [lists]
    if isinstance(rows[0][0], list) or len(rows) * len(rows[0]) == 1:
        call = choice.choice(["", "np.array(", "torch.tensor("])
        return f"{call}{_printed(lists)}{', dtype=float64)' if call else ''}"
    if rows is lists and len(rows) > 1 and choice.random() < 0.2:
        return choice.choice([_in_latex, _in_drawn_brackets, _with_bars])(rows)
    between = choice.choice(
        [" ", "  ", "\t", ", ", ";"] if len(rows) > 1 else [" ", "  ", "\t", ", "]
    )
    text = "\n".join(between.join(map(_cell, row)) for row in rows)
    if "/" not in text and between in (" ", ", ") and choice.random() < 0.4 and rows is lists:
        return f"[{text.replace(chr(10), '; ' if len(rows) > 1 else ' ')};]"
    return text


def _in_latex(rows: list[list[Any]]) -> str:
    body = " \\\\ ".join(" & ".join(map(_cell, row)) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _in_drawn_brackets(rows: list[list[Any]]) -> str:
    return "\n".join(f"⎢ {'  '.join(map(_cell, row))} ⎥" for row in rows)


def _with_bars(rows: list[list[Any]]) -> str:
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in rows)


def _printed(lists: Any) -> str:
    return f"[{', '.join(map(_printed, lists))}]" if isinstance(lists, list) else _cell(lists)


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _forms(schema: Schema) -> list[Schema]:
    """The forms to choose from, however deep they are nested."""
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return [form for each in schema[word] for form in _forms(each)]
    return [schema]


def _leaf(form: Schema, depth: int) -> Schema | None:
    """What stands in lists of lists, so deep; None where lists are never so deep."""
    if not depth:
        return (
            None if all(each.get("type") in ("array", "object") for each in _forms(form)) else form
        )
    for each in _forms(form):
        if each.get("type") != "array" or "items" not in each:
            continue
        found = _leaf(each["items"], depth - 1)
        if found is not None:
            return found
    return None


def _damage(choice: Random, data: dict[str, Any], keys: list[str]) -> None:
    """Something is left out, doubled, misspelt, given besides, or replaced."""
    for _ in range(choice.choice([1, 1, 2])):
        here: Any = data
        if not here:
            return
        key: Any = choice.choice(sorted(here))
        while isinstance(here[key], (dict, list)) and here[key] and choice.random() < 0.7:
            here = here[key]
            key = (
                choice.choice(sorted(here))
                if isinstance(here, dict)
                else choice.randrange(len(here))
            )
        kind = choice.random()
        if kind < 0.2:
            del here[key]
        elif kind < 0.4 and isinstance(here, list):
            here.insert(key, here[key])
        elif kind < 0.5 and isinstance(here, dict):
            here[f"{key}x"] = here.pop(key)
        elif kind < 0.6:
            data[choice.choice(keys)] = deepcopy(choice.choice([here[key], *ODD]))
        else:
            # a list of these may be damaged, too, and not hold itself
            here[key] = deepcopy(choice.choice(ODD))
