"""The page of `attncli cost`: the operations of every step, how they are counted, the largest
terms, the memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import prod
from typing import Any

from attncli.english import byte_size, count, either, grouped, listed, rounded_count
from attncli.equation.nodes import Expression, rename
from attncli.equation.notation import PLAIN
from attncli.equation.printer import write
from attncli.features.cost.study import Cost, StepCost
from attncli.page.document import (
    Block,
    Document,
    Heading,
    Listing,
    Math,
    Paragraph,
    Table,
    Text,
    text,
)
from attncli.page.in_words import percent
from attncli.tracing.serialization import TRACE_FORMAT
from attncli.version import __version__

# These are written as words: 8 heads.
COUNTED = ("batch", "heads", "kv_heads")


def cost_page(cost: Cost) -> Document:
    """The page of a cost; in its data, all counts are exact whole numbers."""
    blocks = (
        Paragraph(_about(cost)),
        _table(cost),
        Heading("How the operations are counted"),
        *_counting(cost),
        Heading("The largest terms"),
        *_dominating(cost),
        Heading("Memory"),
        *_memory(cost),
        *_parameters(cost),
    )
    name = cost.title or (
        "Self-attention" if cost.sizes["n"] == cost.sizes["m"] else "Cross-attention"
    )
    return Document(f"{name}: what it costs", blocks, lambda: cost_data(cost))


def _about(cost: Cost) -> Text:
    lengths = ((symbol, length) for symbol, length in cost.sizes.items() if symbol not in COUNTED)
    sizes = ", ".join(f"`{symbol}` = {grouped(length)}" for symbol, length in lengths)
    dtype = f"{cost.dtype.name} ({cost.dtype.size} bytes per number)"
    return text(f"{sizes}; {', '.join(_counts(cost))}; {dtype}.")


def _counts(cost: Cost) -> Iterator[str]:
    """How many entries, heads and layers there are."""
    if "batch" in cost.sizes:
        yield count(cost.sizes["batch"], "entry")
    yield count(cost.heads, "head")
    if cost.sizes.get("kv_heads", cost.heads) < cost.heads:
        yield f"{count(cost.sizes['kv_heads'], 'head')} of keys and values"
    yield count(cost.layers, "layer")


def _table(cost: Cost) -> Table:
    rows: list[tuple[Text, ...]] = [_row(cost, step) for step in cost.steps]
    rows.append((("all",), ("",), (grouped(cost.operations),), ("",), (byte_size(cost.bytes()),)))
    return Table(
        ("step", "shape", "operations", "share", "memory"), tuple(rows), right=(1, 2, 3, 4)
    )


def _row(cost: Cost, step: StepCost) -> tuple[Text, ...]:
    share = percent(step.operations / cost.operations) if step.kinds else ""
    memory = byte_size(step.numbers * cost.dtype.size)
    return (step.rule.name,), (_sides(step),), (grouped(step.operations),), (share,), (memory,)


def _counting(cost: Cost) -> Iterator[Block]:
    if cost.layers > 1:
        yield Paragraph(
            (f"This list counts one layer. The table above counts {count(cost.layers, 'layer')}.",)
        )
    yield Listing(tuple((_counted(step),) for step in cost.steps if step.kinds))
    if not cost.has_softmax:
        return
    said = (
        "The softmax is counted without the shift that it needs if scores are very large or very"
        " small."
    )
    yield Paragraph((said,), "note")


def _counted(step: StepCost) -> str:
    """Q: 3×3 cells × (4 multiplications + 3 additions) = 63; operations that are not for each cell
    come last.
    """
    cells = prod(step.shape)
    in_each = []
    apart = []
    for kind, times in step.kinds.items():
        in_cells = step.in_cells[kind]
        if in_cells:
            in_each.append(_times(in_cells // cells, kind))
        left = times - in_cells
        if left:
            apart.append(_times(left, kind))
    terms = []
    if in_each:
        inside = " + ".join(in_each)
        if len(in_each) > 1:
            inside = f"({inside})"
        terms.append(f"{_sides(step)} {either(cells, 'cell', 'cells')} × {inside}")
    terms += apart
    total = grouped(sum(step.kinds.values()))
    return f"{step.rule.name}: {' + '.join(terms) or 'nothing'} = {total}"


def _sides(step: StepCost) -> str:
    """The shape of a step: 3×3, 100,000×64."""
    return "×".join(map(grouped, step.shape))


def _times(number: int, kind: str) -> str:
    """1 division, 9 divisions: kinds are named in the plural."""
    return count(number, kind.removesuffix("s"), kind)


def _dominating(cost: Cost) -> Iterator[Block]:
    names: dict[Expression, list[str]] = {}
    counts: Counter[Expression] = Counter()
    same_letters = {}
    if cost.sizes.get("d_k") == cost.sizes.get("d_v"):
        # Then n * d_model * d_k is the term of Q, K and V alike.
        same_letters = {"d_v": "d_k"}
    for step in cost.steps:
        if step.operations_grow is not None:
            term = rename(step.operations_grow, same_letters)
            names.setdefault(term, []).append(step.rule.name)
            counts[term] += step.operations
    shares = {term: percent(taken / cost.operations) for term, taken in counts.items()}
    largest_first = sorted(names, key=counts.__getitem__, reverse=True)
    largest = largest_first[0]
    yield Paragraph(
        (
            "The largest term is ",
            Math(largest),
            f": {shares[largest]} of {rounded_count(cost.operations)} operations.",
        )
    )
    rows = []
    for term in largest_first:
        operations = (grouped(counts[term]),)
        steps = (listed(names[term]),)
        rows.append(((Math(term),), operations, (shares[term],), steps))
    yield Table(("term", "operations", "share", "steps"), tuple(rows), right=(1, 2))
    # With which sizes other equations grow, the table says.
    if not cost.has_own:
        yield Paragraph(text(_comparison(cost)))


def _comparison(cost: Cost) -> str:
    """Projections and attention compared, and the n from which on attention takes more."""
    attention = cost.operations - cost.projections
    if not cost.projections:
        return (
            "This problem has no projections. All operations belong to attention, and they grow"
            " with `n * m`."
        )
    more = "as many as"
    if cost.projections > attention:
        more = "more than"
    elif cost.projections < attention:
        more = "less than"
    steps = [step for step in cost.steps if step.projects]
    names = listed([step.rule.name for step in steps])
    said = (
        f"The {either(len(steps), 'projection', 'projections')} {names}"
        f" {either(len(steps), 'takes', 'take')} {percent(cost.projections / cost.operations)} of"
        f" all operations, {more} attention itself ({percent(attention / cost.operations)})."
    )
    if cost.heads > 1 and not any(step.rule.name == "W_O" for step in cost.steps):
        said += " There is no `W_O` to mix the heads."
    sizes = frozenset[str]().union(*(step.sizes for step in steps))
    grow = listed([f"with `{size}`" for size in ("n", "m", "n_new") if size in sizes])
    said += (
        f" {either(len(steps), 'It grows', 'The projections grow')} {grow}, and attention grows"
        " with "
    )
    if cost.crossover is None:
        return f"{said}`n * m`."
    return f"{said}`n**2`. From `n` = {grouped(cost.crossover)} on, attention takes more."


def _parameters(cost: Cost) -> Iterator[Block]:
    """How many numbers are learned, and in which arrays; nothing where there are none."""
    if not cost.learned:
        return
    yield Heading("Parameters")
    they = "The layer has" if cost.layers == 1 else "All layers together have"
    number = grouped(cost.parameters)
    size = byte_size(cost.parameters * cost.dtype.size)
    yield Paragraph((f"{they} {number} numbers that are learned. They take {size}.{_own(cost)}",))
    rows = []
    for step in cost.learned:
        share = percent(step.numbers / cost.parameters)
        row = (step.rule.name, _sides(step), grouped(step.numbers), share)
        rows.append(tuple((cell,) for cell in row))
    yield Table(("array", "shape", "parameters", "share"), tuple(rows), right=(1, 2, 3))


def _own(cost: Cost) -> str:
    """That arrays of equations are counted, too, of which a problem does not say whether they are
    learned.
    """
    own = [step.rule.name for step in cost.learned if step.rule.own]
    if not own:
        return ""
    is_array = either(len(own), "is an array", "are arrays")
    return (
        f" {listed(own)} {is_array} of equations and counted as learned: the problem does not say"
        " whether they are only given."
    )


def _memory(cost: Cost) -> Iterator[Block]:
    if cost.weights is None:
        said = f"All steps together take {byte_size(cost.bytes())}, if every step is kept."
        yield Paragraph(text(said))
        return
    n, m = cost.sizes["n"], cost.sizes["m"]
    one, every = n * m * cost.dtype.size, cost.bytes("weights")
    where = f"`n` = {grouped(n)}" if n == m else f"`n` = {grouped(n)} and `m` = {grouped(m)}"
    said = f"With {where}, one attention matrix in {cost.dtype.name} takes {byte_size(one)}."
    if every > one:
        times = " × ".join(
            count(number, word) for word, number in cost.matrices.items() if number > 1
        )
        said += f" {times} take {byte_size(every)}."
    said += (
        " Twice as many tokens take four times as much."
        if n == m
        else " It grows with `n` and with `m`."
    )
    yield Paragraph(
        text(f"{said} All steps together take {byte_size(cost.bytes())}, if every step is kept.")
    )
    if not cost.bytes_cached:
        return
    said = f"A cache of K and V takes {byte_size(cost.bytes_cached_per_token)} for each token"
    yield Paragraph(text(f"{said}, {byte_size(cost.bytes_cached)} in all."))


def cost_data(cost: Cost) -> dict[str, Any]:
    """The sizes, every step's counts and bytes, and their sums; format 1."""
    return {
        "attncli": {"version": __version__, "format": TRACE_FORMAT},
        "title": cost.title,
        "sizes": {"heads": cost.heads, **cost.sizes, "layers": cost.layers},
        "dtype": cost.dtype.name,
        "bytes_per_number": cost.dtype.size,
        "steps": {step.rule.name: _step(cost, step) for step in cost.steps},
        "operations": cost.operations,
        "operations_of_projections": cost.projections,
        "operations_of_attention": cost.operations - cost.projections,
        "parameters": cost.parameters,
        "bytes": cost.bytes(),
        "bytes_cached": cost.bytes_cached,
        "bytes_cached_per_token": cost.bytes_cached_per_token,
        "crossover": cost.crossover,
    }


def _step(cost: Cost, step: StepCost) -> dict[str, Any]:
    return {
        "title": step.rule.title,
        "equation": step.rule.source,
        "shape": list(step.shape),
        "parameters": step.numbers if step.is_parameter else 0,
        "one_layer": {kind.replace(" ", "_"): count for kind, count in step.kinds.items()},
        "operations": step.operations,
        "operations_grow": _formula(step.operations_grow),
        "bytes": step.numbers * cost.dtype.size,
        "bytes_grow": _formula(step.bytes_grow),
    }


def _formula(growth: Expression | None) -> str | None:
    return None if growth is None else write(growth, PLAIN)
