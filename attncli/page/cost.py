"""The page of `attncli cost`: what every step takes, how that is counted, what dominates, and the memory."""

from __future__ import annotations

from collections.abc import Iterator

from attncli.english import count, either, listed
from attncli.equation.tree import Expression, rename
from attncli.page.amounts import grouped, rounded, size
from attncli.page.cost_data import cost_data
from attncli.page.document import Block, Document, Heading, Listing, Math, Paragraph, Table, Text, text
from attncli.study.cost import SHARED
from attncli.study.cost_model import PROJECTIONS, Cost, StepCost
from attncli.study.words import percent


def cost_page(cost: Cost) -> Document:
    """The page of a cost; as data, all its counts are exact whole numbers."""
    blocks = (
        Paragraph(_about(cost)),
        _table(cost),
        Heading("How it is counted"),
        *_counting(cost),
        Heading("What dominates"),
        *_dominating(cost),
        Heading("Memory"),
        *_memory(cost),
    )
    name = cost.title or ("Self-attention" if cost.sizes["n"] == cost.sizes["m"] else "Cross-attention")
    return Document(f"{name}: what it costs", blocks, lambda: cost_data(cost))


def _about(cost: Cost) -> Text:
    sizes = ", ".join(f"`{symbol}` = {grouped(length)}" for symbol, length in cost.sizes.items())
    heads, layers = count(cost.heads, "head"), count(cost.layers, "layer")
    dtype = f"{cost.dtype.name} ({cost.dtype.size} bytes a number)"
    return text(f"{sizes}; {heads}, {layers}; {dtype}.")


def _table(cost: Cost) -> Table:
    rows: list[tuple[Text, ...]] = [_row(cost, step) for step in cost.steps]
    rows.append((("all",), ("",), (grouped(cost.operations),), ("",), ("",), (size(cost.bytes()),)))
    head = ("step", "shape", "operations", "they grow as", "share", "memory")
    return Table(head, tuple(rows), right=(1, 2, 4, 5))


def _row(cost: Cost, step: StepCost) -> tuple[Text, ...]:
    memory = (size(step.numbers * cost.dtype.size),)
    shape = (_sides(step),)
    if step.operations_grow is None:
        return (step.rule.name,), shape, ("0",), ("",), ("",), memory
    share = percent(step.operations / cost.operations)
    return (step.rule.name,), shape, (grouped(step.operations),), (Math(step.operations_grow),), (share,), memory


def _counting(cost: Cost) -> Iterator[Block]:
    if cost.heads * cost.layers > 1:
        shared = [step.rule.name for step in cost.steps if step.rule.name in SHARED]
        once = f"; {listed(shared)} {either(len(shared), 'is', 'are')} shared by the heads of a layer"
        times = f"{count(cost.heads, 'head')} × {count(cost.layers, 'layer')}"
        yield Paragraph((f"For one head; everything above is for {times}{once if shared else ''}.",))
    yield Listing(tuple((_counted(step),) for step in cost.steps if step.kinds))
    left_out = "Counted as textbooks write it: without the shift that very large scores need"
    heads = ", and without the projection that joins the heads" if cost.heads > 1 else ""
    yield Paragraph((f"{left_out}{heads}.",), "note")


def _counted(step: StepCost) -> str:
    """Q: 3×3 cells × (4 multiplications + 3 additions) = 63; what is not done in each cell stands apart."""
    cells = step.numbers // step.repeats
    each = [_times(times // cells, kind) for kind, times in step.kinds.items() if times and times % cells == 0]
    apart = [_times(times, kind) for kind, times in step.kinds.items() if times % cells]
    inside = f"({' + '.join(each)})" if len(each) > 1 else "".join(each)
    product = f"{_sides(step)} {either(cells, 'cell', 'cells')} × {inside}"
    terms = [product] * bool(each) + apart
    return f"{step.rule.name}: {' + '.join(terms) or 'nothing'} = {grouped(sum(step.kinds.values()))}"


def _sides(step: StepCost) -> str:
    """The shape of a step: 3×3, 100,000×64."""
    return "×".join(map(grouped, step.shape))


def _times(number: int, kind: str) -> str:
    """1 division, 9 divisions: kinds are named in the plural."""
    return count(number, kind.removesuffix("s"), kind)


def _dominating(cost: Cost) -> Iterator[Block]:
    terms: dict[Expression, list[StepCost]] = {}
    same = cost.sizes["d_k"] == cost.sizes["d_v"]  # then n * d_model * d_k is the term of Q, K and V alike
    for step in cost.steps:
        if step.operations_grow is not None:
            term = rename(step.operations_grow, {"d_v": "d_k"} if same else {})
            terms.setdefault(term, []).append(step)
    largest = max(terms, key=lambda term: sum(step.operations for step in terms[term]))
    names = [step.rule.name for step in terms[largest]]
    share = percent(sum(step.operations for step in terms[largest]) / cost.operations)
    took = f"({listed(names)}): {share} of {rounded(cost.operations)} operations."
    yield Paragraph(("The largest term is ", Math(largest), f" {took}"))
    yield Paragraph(text(_comparison(cost)))


def _comparison(cost: Cost) -> str:
    """Projections against attention, and the n at which the one overtakes the other."""
    attention = cost.operations - cost.projections
    if not cost.projections:
        return "Nothing is projected here: all operations are those of attention, which grow with `n * m`."
    more = (
        "more than" if cost.projections > attention else "less than" if cost.projections < attention else "as many as"
    )
    said = (
        f"The projections {listed([step.rule.name for step in cost.steps if _projects(step)])} take "
        f"{percent(cost.projections / cost.operations)} of all operations, {more} attention itself with "
        f"{percent(attention / cost.operations)}."
    )
    if cost.heads > 1:
        said += " The projection W_O, which joins the heads, is not counted."
    if cost.crossover is None:
        return f"{said} The projections grow with `n` and with `m`, attention with `n * m`."
    return (
        f"{said} The projections grow with `n`, attention with `n**2`: from `n` = {grouped(cost.crossover)} on, "
        "attention takes more."
    )


def _projects(step: StepCost) -> bool:
    return step.rule.name in PROJECTIONS and not step.rule.given


def _memory(cost: Cost) -> Iterator[Block]:
    n, m = cost.sizes["n"], cost.sizes["m"]
    times = cost.heads * cost.layers
    where = f"`n` = {grouped(n)}" if n == m else f"`n` = {grouped(n)} and `m` = {grouped(m)}"
    said = f"The attention matrix for {where} in {cost.dtype.name} takes {size(cost.bytes('weights') // times)}"
    if times > 1:
        layers, heads = count(cost.layers, "layer"), count(cost.heads, "head")
        said += f"; {layers} × {heads}: {size(cost.bytes('weights'))}"
    square = "Twice as many tokens make it four times as large" if n == m else "It grows with `n` and with `m`"
    yield Paragraph(text(f"{said}. {square}; all steps together, each kept, take {size(cost.bytes())}."))
