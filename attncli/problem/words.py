"""Reads the text of a long list, from bracket to bracket: where its brackets and words stand, and which are numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attncli.problem.builder import DEPTH_LIMIT
from attncli.problem.digits import STEP, Places, Text, pieces, places_of, read_numbers
from attncli.problem.lists import Level, Lists
from attncli.problem.numbers import is_plain

_LONGEST = 400  # characters of a word
_DEEPEST = 4
_OPEN, _COMMA, _CLOSE, _QUOTE = (ord(sign) for sign in '[,]"')
_FORBIDDEN = 2
_BETWEEN = np.full((3, 3), _FORBIDDEN, dtype=np.uint8)  # how many words stand between two signs, in the order [ , ]
_BETWEEN[[0, 0, 1, 1], [1, 2, 1, 2]] = 1
_BETWEEN[[0, 1, 2, 2], [0, 0, 1, 2]] = 0
_OF_NUMBERS = np.zeros(256, dtype=bool)
_OF_NUMBERS[list(b"0123456789+-.eE,[] \n")] = True
_WORDS = (b"true", b"false", b"null")  # of JSON


def read_part(part: Text, text: str, shift: int, *, strict: bool) -> Lists | None:
    """The lists of a part of the text, which stands `shift` characters from its beginning.

    `strict` takes only what JSON has, too. None where that is not sure, where words stand beside the outermost lists,
    or lists are too deep.
    """
    signs, starts, ends = _tokens(part)
    kinds = (part[signs] != _OPEN).astype(np.uint8) + (part[signs] == _CLOSE)
    between = _BETWEEN[kinds[:-1], kinds[1:]]
    if between.max() == _FORBIDDEN or (ends - starts).max(initial=0) > _LONGEST:
        return None
    filled = places_of(between == 1)
    if len(starts) != len(filled):  # an empty list has no word
        empty = (kinds[filled] == 0) & (kinds[filled + 1] == 2)
        empty &= np.searchsorted(starts, signs[filled]) == np.searchsorted(starts, signs[filled + 1])
        between[filled[empty]] = 0
        filled = filled[~empty]
    if len(starts) != len(filled) or (signs[filled] >= starts).any() or (starts >= signs[filled + 1]).any():
        return None
    levels = _levels(signs, kinds, starts, filled)
    if levels is None:
        return None
    del signs, filled, kinds, between
    read = _values(part, starts, ends, strict)
    return None if read is None else Lists(text, shift, starts, ends, *read, levels)


def brackets_of(part: Text) -> tuple[Places, Places]:
    """Where brackets stand, and how many are open after each; none where they are deeper than any problem may be."""
    brackets, depths = [], []
    depth = np.zeros(1, np.int32)
    for at, piece in pieces(part):
        found = places_of((piece == _OPEN) | (piece == _CLOSE), at)
        depth = np.cumsum(np.append(depth[-1:], np.where(part[found] == _OPEN, 1, -1)), dtype=np.int32)
        if depth.max() > DEPTH_LIMIT:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        brackets.append(found)
        depths.append(depth[1:])
    return np.concatenate(brackets), np.concatenate(depths)


def _tokens(part: Text) -> tuple[Places, Places, Places]:
    """Where the brackets and commas stand, and where all that is neither they nor blank begins and ends."""
    signs, starts, ends = [], [], []
    for at in range(0, len(part), STEP):
        piece = part[max(at - 1, 0) : at + STEP]  # with the character before, on which a beginning depends
        shift = max(at - 1, 0)
        separate = (piece == _COMMA) | (piece == _OPEN) | (piece == _CLOSE)
        word = ~(separate | (piece <= ord(" ")))
        signs.append(places_of(separate[1 if at else 0 :], at))
        starts.append(places_of(word[1:] & ~word[:-1], shift + 1))
        ends.append(places_of(word[:-1] & ~word[1:], shift + 1))
    return np.concatenate(signs), np.concatenate(starts), np.concatenate(ends)


def _levels(signs: Places, kinds: Text, starts: Places, filled: Places) -> tuple[Level, ...] | None:
    """What stands at each level, where words begin at `starts`, each behind the sign with the number in `filled`."""
    step = (kinds == 0).astype(np.int8) - (kinds == 2)
    deepest = int(np.cumsum(step[kinds != 1], dtype=np.int32).max())
    if deepest > _DEEPEST:
        return None
    depth = np.cumsum(step, dtype=np.int8)
    inside, opens, closes = depth[filled], signs[kinds == 0], signs[kinds == 2]
    opened, closed = depth[kinds == 0], depth[kinds == 2] + 1
    levels = []
    for level in range(deepest + 1):
        words = places_of(inside == level)
        lists = opens[opened == level + 1]
        none = np.full(len(lists), -1, np.int32)
        ends = closes[closed == level + 1]
        begins = starts if len(words) == len(starts) else starts[words]
        if not len(lists):
            levels += [Level(begins, begins, words)] * bool(len(words))
        elif not len(words):
            levels.append(Level(lists, ends, none))
        elif level == 1:
            return None
        else:
            order = np.argsort(places := np.append(lists, begins), kind="stable")
            levels.append(Level(places[order], np.append(ends, begins)[order], np.append(none, words)[order]))
    return tuple(levels)


def _values(
    part: Text, starts: Places, ends: Places, strict: bool
) -> tuple[NDArray[np.float64], NDArray[np.intp]] | None:
    """The numbers, and which are no plain ones; None where one of those may be something else than a word or a text."""
    odd = _no_number(part, starts, ends)
    wrong = _no_number_here(part, starts, ends, strict)
    if strict and not _is_json(part, starts, ends, odd, wrong):
        return None
    if not strict and not _is_yaml(part, starts[odd], ends[odd]):
        return None
    odd |= wrong
    plain = np.flatnonzero(~odd) if odd.any() else slice(None)
    value, failed = read_numbers(part, starts[plain], ends[plain])
    if odd.any():
        value, read = np.zeros(len(starts)), value
        value[plain] = read
    if failed:
        found = np.arange(len(starts))[plain][failed]
        odd[found] = True
        words = (part[starts[place] : ends[place]].tobytes().decode() for place in found)
        if not all(is_plain(word) if strict else not word.startswith(("--", "..")) and word != "-" for word in words):
            return None
    return value, np.flatnonzero(odd)


def _no_number(part: Text, starts: Places, ends: Places) -> NDArray[np.bool_]:
    """Which words have characters that no number has."""
    if not len(starts) or all(_OF_NUMBERS[piece].all() for _, piece in pieces(part)):
        return np.zeros(len(starts), dtype=bool)
    other: NDArray[np.bool_] = np.logical_or.reduceat(~_OF_NUMBERS[part], starts)
    return other


def _is_yaml(part: Text, starts: Places, ends: Places) -> bool:
    """Whether words with other characters than numbers have are words, or texts in quotes, in YAML too."""
    first = part[starts]
    if ((first == ord("*")) | (first == ord("%"))).any() or (
        (first == ord("-")) & (part[starts + 1] == ord("-"))
    ).any():
        return False
    return _are_quoted(part, starts, ends)


def _is_json(part: Text, starts: Places, ends: Places, odd: NDArray[np.bool_], wrong: NDArray[np.bool_]) -> bool:
    """Whether all words are numbers, texts in quotes, true, false or null."""
    if (wrong & ~odd).any():
        return False
    starts, ends = starts[odd], ends[odd]
    known = part[starts] == _QUOTE
    for word in _WORDS:
        same = ends - starts == len(word)
        for place, letter in enumerate(word):
            same &= part[np.minimum(starts + place, len(part) - 1)] == letter
        known |= same
    return bool(known.all()) and _are_quoted(part, starts, ends)


def _are_quoted(part: Text, starts: Places, ends: Places) -> bool:
    """Whether quotation marks of one kind stand at both ends of a word, or nowhere in it."""
    return all(_are_between(part, ord(mark), starts, ends) for mark in ('"', "'"))


def _are_between(part: Text, mark: int, starts: Places, ends: Places) -> bool:
    if not len(starts):
        return True
    quoted = part[starts] == mark
    marks = np.diff(np.searchsorted(np.flatnonzero(part == mark), np.stack([starts, ends], axis=1)), axis=1)[:, 0]
    return bool((marks == 2 * quoted).all() and (part[ends - 1][quoted] == mark).all())


def _no_number_here(part: Text, starts: Places, ends: Places, strict: bool) -> NDArray[np.bool_]:
    """Which of the words NumPy, which reads whatever C reads, would take for numbers: 010, or in JSON +1 and 1."""
    first = part[starts]
    signed = (first == ord("-")) | (first == ord("+"))
    digit = starts + signed
    second = part[np.minimum(digit + 1, len(part) - 1)]
    wrong: NDArray[np.bool_] = (part[digit] == ord("0")) & (second >= ord("0")) & (second <= ord("9"))
    if strict:
        wrong |= (first == ord("+")) | (part[digit] == ord(".")) | (part[np.maximum(ends - 1, 0)] == ord("."))
        exponents = np.concatenate([places_of((piece | 32) == ord("e"), at) for at, piece in pieces(part)])
        pointed = exponents[part[exponents - 1] == ord(".")]
        wrong[np.searchsorted(starts, pointed, "right") - 1] = True
    return wrong
