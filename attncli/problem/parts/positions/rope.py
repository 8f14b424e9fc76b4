"""RoPE: rotary positions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import ClassVar

from attncli.english import count
from attncli.equation.nodes import Name, Ref, walk
from attncli.equation.rule import Rule
from attncli.problem.keys import Pairing
from attncli.problem.matrix import Matrix, Scalar
from attncli.problem.parts.axes import BATCH, Shaped, axes_of, width
from attncli.problem.parts.axes import sizes as lengths_of
from attncli.problem.parts.positions.position import Position, PositionSizes, Variants
from attncli.problem.parts.positions.rope_reader import DEFAULT_THETA, read_settings
from attncli.problem.parts.positions.rope_types import (
    ATTENTION_FACTOR,
    BASE_FREQUENCIES,
    BY_MSCALE,
    FREQUENCIES,
    RAMP,
    RAMP_HIGH,
    RAMP_LOW,
    ROPE_TYPES,
    STRETCHED_THETA,
    reading,
)
from attncli.problem.text.nodes import Leaf, MappingNode, describe
from attncli.problem.text.reading import Reading
from attncli.problem.text.values import Value, read_truth

# Numbers of the problem by the names that they have in equations, whether one of its own reads them
# or not: programs take them for others.
_GIVEN_BESIDE = (
    "factor",
    "original_length",
    "max_length",
    "mscale",
    "mscale_all_dim",
    "short_factor",
    "long_factor",
    "time_pairs",
    "height_pairs",
    "width_pairs",
)
# What a token of an image or a video has, each the name of arrays in equations.
_AXES = ("time", "height", "width")
_TURNED_BACK = "The gradient of the rotated vectors is rotated back by the same angles."


def _rotated(
    name: str,
    pairing: Pairing,
    shift: str,
    *,
    is_partial: bool = False,
    is_scaled: bool = False,
    angles: str = "angles",
) -> str:
    """The equation of Q_rot or K_rot: feature k turned with its partner, half a vector away or next
    to it.

    `shift` says where query i stands, as in i + past. Where only a part of the features is turned,
    the others stay as they are. Where it is scaled, what turns is multiplied by a factor.
    """
    letter, row = name[0], "i" if name[0] == "Q" else "j"
    cell = f"{letter}[{row}, k]"
    if pairing == "half":
        first, before, after, pairs = "k < half", "k - half", "k + half", ("k", "k - half")
    else:
        first, before, after, pairs = "k % 2 == 0", "k - 1", "k + 1", ("k // 2", "k // 2")
    turned = [f"{angles}[{row}{shift}, {pair}]" for pair in pairs]
    of_first = f"{cell} * cos({turned[0]}) - {letter}[{row}, {after}] * sin({turned[0]})"
    of_second = f"{cell} * cos({turned[1]}) + {letter}[{row}, {before}] * sin({turned[1]})"
    if is_scaled:
        of_first = f"attention_factor * ({of_first})"
        of_second = f"attention_factor * ({of_second})"
    if not is_partial:
        formula = f"where({first}, {of_first}, {of_second})"
    elif pairing == "half":
        formula = f"where({first}, {of_first}, where(k < rotary_dim, {of_second}, {cell}))"
    else:
        formula = f"where(k >= rotary_dim, {cell}, where({first}, {of_first}, {of_second}))"
    return f"{name}[{row}, k] = {formula}"


@dataclass(frozen=True, slots=True)
class Rope(Position):
    """Rotary positions: pair r of a query or key at position t is turned by t times the frequency
    of the pair, theta^(-2r / d_k) where nothing else is said.

    The fields have the names and meanings of a model's config.json, but for `theta`, which is its
    rope_theta. None where it says nothing.
    """

    name = "rope"
    example = "{rope: {theta: 10000, pairing: half}}"
    title = "RoPE"
    rules = (
        BASE_FREQUENCIES,
        RAMP_LOW,
        RAMP_HIGH,
        RAMP,
        STRETCHED_THETA,
        FREQUENCIES,
        Rule(
            "angles",
            "angles",
            "Angles",
            "angles[t, r] = t / theta ** (2 * r / d_k)",
            "",
            meaning=(
                "The angle, in radians, by which pair `r` of a query or key at position `t` is"
                " rotated."
            ),
            why=(
                "The first pairs rotate fast, so they distinguish positions that are near each"
                " other. The last pairs rotate slowly, so they distinguish positions that are far"
                " apart."
            ),
            when="with rope, without positions",
        ),
        Rule(
            "Q_angles",
            "Q_angles",
            "Angles of the queries",
            "Q_angles[i, r] = Q_positions[i] * frequencies[r]",
            "",
            meaning=(
                "The angle, in radians, by which pair `r` of query `i` is rotated. The problem says"
                " at which position each query is."
            ),
            when="with rope and positions",
        ),
        Rule(
            "K_angles",
            "K_angles",
            "Angles of the keys",
            "K_angles[j, r] = K_positions[j] * frequencies[r]",
            "",
            meaning=(
                "The angle, in radians, by which pair `r` of key `j` is rotated. The problem says"
                " at which position each key is."
            ),
            when="with rope and positions",
        ),
        ATTENTION_FACTOR,
        Rule(
            "Q_rot",
            "Q_rot",
            "Queries, rotated",
            _rotated("Q_rot", "half", ""),
            "rotate(Q, angles)",
            meaning=(
                "Each pair of features is a point in a plane. It is rotated by the angle of the"
                " query's position."
            ),
            why=(
                "Positions enter the dot product of two rotated pairs only through the difference"
                " of their angles. So a score depends on how far apart two tokens are, and not on"
                " where they are."
            ),
            when="with rope",
            gradient=(
                "The gradient of a rotated query is a sum over all keys. Each rotated key is"
                " multiplied by the gradient of its score with this query."
            ),
            through=_TURNED_BACK,
        ),
        Rule(
            "K_rot",
            "K_rot",
            "Keys, rotated",
            _rotated("K_rot", "half", ""),
            "rotate(K, angles)",
            meaning="Each pair of features is rotated by the angle of the key's position.",
            when="with rope",
            gradient=(
                "The gradient of a rotated key is a sum over all queries. Each rotated query is"
                " multiplied by the gradient of its score with this key."
            ),
            through=_TURNED_BACK,
        ),
    )
    replaces: ClassVar[Mapping[str, str]] = {"Q": "Q_rot", "K": "K_rot"}
    keys_meaning = "With RoPE, these are the rotated keys."
    theta: Scalar
    pairing: Pairing
    rope_type: str = "default"
    partial_rotary_factor: Scalar | None = None
    factor: Scalar | None = None
    low_freq_factor: Scalar | None = None
    high_freq_factor: Scalar | None = None
    original_max_position_embeddings: Scalar | None = None
    max_position_embeddings: Scalar | None = None
    attention_factor: Scalar | None = None
    beta_fast: Scalar | None = None
    beta_slow: Scalar | None = None
    mscale: Scalar | None = None
    mscale_all_dim: Scalar | None = None
    truncate: bool = True
    # How many pairs turn by the time, the height and the width of a token, in blocks or by turns.
    mrope_section: tuple[int, ...] | None = None
    mrope_interleaved: bool = False
    short_factor: Matrix | None = None
    long_factor: Matrix | None = None
    # Where queries and keys stand, if it is not where they come, by these two words: a row for all
    # entries or one for each, and of time, height and width three times as many.
    positions: Mapping[str, Matrix] | None = None

    @classmethod
    def read(cls, value: Value) -> Rope | None:
        if isinstance(value.node, Leaf):
            return cls(DEFAULT_THETA, "half") if read_truth(value) else None
        if not isinstance(value.node, MappingNode):
            value.wrong(f"must be a mapping, not {describe(value.node)}", f"write {cls.example}")
            return None
        settings = read_settings(value)
        return None if settings is None else cls(**settings)

    def check(self, given: Mapping[str, Shaped], reading: Reading) -> None:
        d_q, d_k = width("Q", given), width("K", given)
        turned = self.turned(d_k)
        has_pairs = turned > 0 and turned % 2 == 0
        self._check_positions(given, reading)
        if has_pairs and d_q == d_k and not self._has_fitting_sections(turned, reading):
            return
        if d_q == d_k and has_pairs:
            self._check_pairs(turned, reading)
            return
        if d_q == d_k and self.partial_rotary_factor is not None:
            reading.wrong(
                "position.rope",
                f"{self.partial_rotary_factor.written} of {count(d_k, 'feature')} are"
                f" {turned}: rope turns pairs of them",
                "choose a partial_rotary_factor that gives an even number of features",
            )
            return
        said = f"a key has {count(d_k, 'number')}"
        if d_q != d_k:
            said += f" and a query {d_q}"
        reading.wrong(
            "position.rope",
            f"{said}: rope turns pairs of them",
            "in each head, queries and keys must have the same even number of features",
        )

    def _turning_pairs(self, d_k: int) -> int:
        """How many pairs turn at all, where the others have a frequency of 0."""
        share = 1.0
        if self.partial_rotary_factor is not None:
            share = self.partial_rotary_factor.value
        return int(share * d_k // 2)

    def _check_positions(self, given: Mapping[str, Shaped], reading: Reading) -> None:
        """Report positions of another number of queries, keys or entries."""
        if self.positions is None:
            return
        n, m = lengths_of(given)
        entries = axes_of(given).batch or 1
        for word, one, length in (("queries", "query", n), ("keys", "key", m)):
            path = f"position.rope.positions.{word}"
            is_of_both = path not in reading.places
            if is_of_both:
                path = "position.rope.positions"
            shape = self.positions[word].shape
            error = self._leading_error(shape[:-1], entries)
            if shape[-1] != length:
                error = (
                    f"has {count(shape[-1], 'position')} for {count(length, one, word)}",
                    f"give one position for each of the {word}; keys of a cache come first",
                )
            if error is None:
                continue
            reading.wrong(path, *error)
            if is_of_both:
                return

    def _leading_error(self, lengths: tuple[int, ...], entries: int) -> tuple[str, str] | None:
        """What is wrong with lists of lists of positions, and what to do; None where they fit."""
        if self.mrope_section is not None and lengths:
            rows, lengths = lengths[0], lengths[1:]
            if rows != len(_AXES):
                return (
                    f"has {count(rows, 'row')}, and with mrope_section they are three",
                    "give rows of time, height and width; tokens of text have the same in each",
                )
        if [*lengths] in ([], [entries]):
            return None
        lists = count(lengths[0], "list") if len(lengths) == 1 else "lists of lists"
        return (
            f"has {lists} for {count(entries, 'entry', 'entries')}",
            "give one list for all entries, or one for each; rows of time, height and width need"
            " mrope_section",
        )

    def _has_fitting_sections(self, turned: int, reading: Reading) -> bool:
        """Whether the sections are those of so many features; False after an error."""
        if self.mrope_section is None or sum(self.mrope_section) == turned // 2:
            return True
        reading.wrong(
            "position.rope",
            f"mrope_section has {count(sum(self.mrope_section), 'pair')}, and"
            f" {count(turned // 2, 'pair')} of features are turned",
            "give the numbers of pairs that turn by time, height and width, which add up to all",
        )
        return False

    @property
    def _has_axes(self) -> bool:
        """Whether tokens have a time, a height and a width; those of text alone have one position,
        which is all three.
        """
        if self.mrope_section is None or self.positions is None:
            return False
        return any(each.ndim > 1 for each in self.positions.values())

    def _check_pairs(self, turned: int, reading: Reading) -> None:
        """Report what does not fit so many features that are turned."""
        if self.rope_type == "dynamic" and turned == 2:
            reading.wrong(
                "position.rope",
                "2 features are turned, and rope_type: dynamic divides by 2 less",
                "give keys of 4 features or more, or leave out rope_type: dynamic",
            )
        for name in ("short_factor", "long_factor"):
            divisors = getattr(self, name)
            if divisors is not None and divisors.shape[0] != turned // 2:
                reading.wrong(
                    "position.rope",
                    f"{name} has {count(divisors.shape[0], 'number')}, and"
                    f" {count(turned // 2, 'pair')} of features are turned",
                    "give one number for each pair",
                )

    def turned(self, d_k: int) -> int:
        """How many of the features of a key are turned, the first ones."""
        if self.partial_rotary_factor is None or self.rope_type == "proportional":
            return d_k
        # As models calculate it, in double precision.
        return int(d_k * self.partial_rotary_factor.value)

    def steps(self, sizes: PositionSizes) -> Iterable[Rule]:
        is_partial = self.turned(sizes.d_k) < sizes.d_k
        yield from self._angles(sizes, is_partial)
        scaled = tuple(self._factor())
        yield from scaled
        is_scaled = bool(scaled) or self.attention_factor is not None
        parts = {"is_partial": is_partial, "is_scaled": is_scaled}
        names = [rule.name for rule in scaled]
        shift = " + past" if sizes.past else ""
        of_queries = of_keys = "angles"
        if self.positions is not None:
            shift, of_queries, of_keys = "", "Q_angles", "K_angles"
        queries = self.rotated("Q_rot", self.pairing, shift, angles=of_queries, **parts)
        keys = self.rotated("K_rot", self.pairing, "", angles=of_keys, **parts)
        yield reading(names, queries)
        yield reading(names, keys)

    def _angles(self, sizes: PositionSizes, is_partial: bool) -> Iterator[Rule]:
        """The steps up to the angles: one where all pairs turn as the paper has it."""
        if self.rope_type == "default" and not is_partial and self.positions is None:
            yield _ANGLES
            return
        divisor = "rotary_dim" if is_partial else "d_k"
        for rule in ROPE_TYPES[self.rope_type].rules(divisor, truncate=self.truncate):
            if rule.name == "frequencies" and self._is_long(sizes):
                formula = rule.source
                assert formula is not None
                yield replace(rule, formula=formula.replace("short_factor", "long_factor"))
            else:
                yield rule
        if self.positions is None:
            yield _ANGLES_OF_FREQUENCIES
        else:
            yield from self._angles_by_position()

    def _angles_by_position(self) -> Iterator[Rule]:
        """The angles of queries and keys that stand where the problem says."""
        for rule in self.rules:
            if rule.name in ("Q_angles", "K_angles"):
                if self._has_axes:
                    rule = self.by_axes(rule, is_interleaved=self.mrope_interleaved)
                yield rule

    @classmethod
    def by_axes(cls, rule: Rule, *, is_interleaved: bool) -> Rule:
        """Q_angles or K_angles where some pairs turn by time, and others by height or by width."""
        letter, row = rule.name[0], rule.target.letters[0]
        time, height, width = (f"{letter}_{axis}[{row}] * frequencies[r]" for axis in _AXES)
        if is_interleaved:
            is_of_height = "r % 3 == 1 and r < 3 * height_pairs"
            is_of_width = "r % 3 == 2 and r < 3 * width_pairs"
            formula = f"where({is_of_height}, {height}, where({is_of_width}, {width}, {time}))"
            how = "Pairs turn by time, height and width by turns, and the last ones by time."
        else:
            after_time = f"where(r < time_pairs + height_pairs, {height}, {width})"
            formula = f"where(r < time_pairs, {time}, {after_time})"
            how = "The first pairs turn by time, the next ones by height, and the last by width."
        return replace(
            rule,
            formula=f"{rule.name}[{row}, r] = {formula}",
            meaning=f"{rule.meaning} It stands at a time, a height and a width. {how}",
        )

    def _length(self, sizes: PositionSizes) -> float:
        """How many positions there are, up to the last one."""
        if self.positions is None:
            return max(sizes.past + sizes.n, sizes.m)
        last = [float(each.value.max()) for each in self.positions.values()]
        return max(last) + 1

    def _is_long(self, sizes: PositionSizes) -> bool:
        """Whether a text is longer than those of training, and what is done depends on it."""
        original = self.original_max_position_embeddings
        if self.rope_type != "longrope" or original is None:
            return False
        return self._length(sizes) > original.value

    def _factor(self) -> Iterator[Rule]:
        """The attention factor, where it follows from other numbers."""
        formula = ROPE_TYPES[self.rope_type].attention_factor
        is_stretched = self.factor is not None and self.factor.value > 1
        is_given = self.attention_factor is not None
        if not formula or not is_stretched or is_given:
            return
        if self._has_mscale:
            formula = BY_MSCALE
        yield replace(ATTENTION_FACTOR, formula=f"attention_factor = {formula}")

    @property
    def _has_mscale(self) -> bool:
        # As models have it, a 0 counts as nothing.
        both = (self.mscale, self.mscale_all_dim)
        return all(each is not None and each.value for each in both)

    def parameters(self, sizes: PositionSizes) -> Mapping[str, Scalar | Matrix]:
        turned = self.turned(sizes.d_k)
        default_factor = Scalar.of(1) if self.rope_type == "proportional" else None
        known = {
            "theta": self.theta,
            "factor": self.factor or default_factor,
            "low_freq_factor": self.low_freq_factor,
            "high_freq_factor": self.high_freq_factor,
            "beta_fast": self.beta_fast or Scalar.of(32),
            "beta_slow": self.beta_slow or Scalar.of(1),
            "mscale": self.mscale,
            "mscale_all_dim": self.mscale_all_dim,
            "short_factor": self.short_factor,
            "long_factor": self.long_factor,
            "original_length": self.original_max_position_embeddings,
            "max_length": self.max_position_embeddings,
            "rotary_dim": Scalar.of(turned),
            "turning_pairs": Scalar.of(self._turning_pairs(sizes.d_k)),
            "half": Scalar.of(turned // 2),
            "attention_factor": self.attention_factor,
        }
        if self.max_position_embeddings is not None:
            longest = max(self._length(sizes), self.max_position_embeddings.value)
            known["length"] = Scalar.of(longest)
        known |= self._places()
        for axis, pairs in zip(_AXES, self.mrope_section or (), strict=False):
            known[f"{axis}_pairs"] = Scalar.of(pairs)
        read = set(_GIVEN_BESIDE)
        for rule in self.steps(sizes):
            nodes = walk(rule.equation.expression)
            read |= {node.name for node in nodes if isinstance(node, Name | Ref)}
        return {name: value for name, value in known.items() if name in read and value is not None}

    def _places(self) -> dict[str, Matrix]:
        """Where queries and keys stand, by the names that arrays of it have in equations."""
        found: dict[str, Matrix] = {}
        if self.positions is None:
            return found
        for letter, word in (("Q", "queries"), ("K", "keys")):
            given = self.positions[word]
            if not self._has_axes:
                found[f"{letter}_positions"] = given
                continue
            for place, axis in enumerate(_AXES):
                # Tokens of text have the same position in each.
                one = (
                    given if given.ndim == 1 else given.arranged(itemgetter(place), given.shape[1:])
                )
                found[f"{letter}_{axis}"] = one
        return found

    def leads(self, sizes: PositionSizes) -> Mapping[str, tuple[str, ...]]:
        places = self._places()
        return {name: (BATCH,) for name, given in places.items() if given.ndim > 1}

    def lengths(self, sizes: PositionSizes) -> Mapping[str, int]:
        longest = max(sizes.past + sizes.n, sizes.m)
        return {"t": longest, "r": self.turned(sizes.d_k) // 2}

    @classmethod
    def variants(cls) -> Variants:
        frequencies = {
            f"rope_type: {name}": kind.frequencies("d_k")
            for name, kind in ROPE_TYPES.items()
            if name != "default"
        }
        by_axes: dict[str, dict[str, Rule]] = {}
        for rule in cls.rules:
            if rule.name in ("Q_angles", "K_angles"):
                by_axes[rule.name] = {
                    "rope, with mrope_section": cls.by_axes(rule, is_interleaved=False),
                    "rope, with mrope_interleaved": cls.by_axes(rule, is_interleaved=True),
                }
        partial = ROPE_TYPES["default"].frequencies("rotary_dim")
        yarn = {rule.name: rule for rule in ROPE_TYPES["yarn"].rules("d_k", truncate=False)}
        whole = "rope_type: yarn, with truncate: false"
        of_longrope = ROPE_TYPES["longrope"].attention_factor
        factors = {
            "with mscale and mscale_all_dim": BY_MSCALE,
            "rope_type: longrope": of_longrope,
        }
        found = {
            "frequencies": {**frequencies, "rope, with partial_rotary_factor": partial},
            "angles": {"rope, with frequencies": _ANGLES_OF_FREQUENCIES},
            **by_axes,
            "ramp": {"rope_type: yarn": yarn["ramp"]},
            "ramp_low": {whole: yarn["ramp_low"]},
            "ramp_high": {whole: yarn["ramp_high"]},
            "attention_factor": {
                when: replace(ATTENTION_FACTOR, formula=f"attention_factor = {formula}")
                for when, formula in factors.items()
            },
        }
        for name in cls.replaces.values():
            found[name] = {
                "rope, with pairing: interleaved": cls.rotated(name, "interleaved", ""),
                "rope, with partial_rotary_factor": cls.rotated(name, "half", "", is_partial=True),
                "rope, with attention_factor": cls.rotated(name, "half", "", is_scaled=True),
                "rope, with positions": cls.rotated(name, "half", "", angles=f"{name[0]}_angles"),
            }
        found["Q_rot"]["rope, with past"] = cls.rotated("Q_rot", "half", " + past")
        return found

    @classmethod
    def rotated(
        cls,
        name: str,
        pairing: Pairing,
        shift: str,
        *,
        is_partial: bool = False,
        is_scaled: bool = False,
        angles: str = "angles",
    ) -> Rule:
        """Q_rot or K_rot with features paired in this way; `shift` says where query i stands, as in
        i + past. What turns may be a part of the features, and multiplied by attention_factor.
        """
        rule = next(rule for rule in cls.rules if rule.name == name)
        meaning = rule.meaning
        headline = f"rotate({name[0]}, {angles})"
        if is_scaled:
            meaning += " What comes out is multiplied by `attention_factor`."
            headline = f"attention_factor * {headline}"
        if is_partial:
            meaning += " The features from `rotary_dim` on stay as they are."
            headline = ""
        if shift:
            meaning += f" Query `i` is at position `i{shift}`, after the positions of the cache."
        parts = {"is_partial": is_partial, "is_scaled": is_scaled}
        formula = _rotated(name, pairing, shift, angles=angles, **parts)
        return replace(rule, formula=formula, headline=headline, meaning=meaning)


_ANGLES = next(rule for rule in Rope.rules if rule.name == "angles")
_ANGLES_OF_FREQUENCIES = replace(
    _ANGLES,
    formula="angles[t, r] = t * frequencies[r]",
    why="",
)
