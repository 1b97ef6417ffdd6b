"""Damage to any file: bytes, lines, numbers, encodings."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from tests.fuzz.mutating.extremes import NUMBERS, WORDS

Mutation = Callable[[bytes, Sequence[bytes], random.Random], bytes]
"""From a file, the other files of its kind, and chance, to a damaged one."""

_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_MOST_NUMBERS = 2000


def _place(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + chance.choice((1, 1, 2, 8, 64, 1000)))


def _flip(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _number in range(chance.choice((1, 1, 4, 40))):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _delete(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = _place(data, chance)
    return data[:start] + data[end:]


def _repeat(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = _place(data, chance)
    return data[:end] + data[start:end] * chance.choice((1, 2, 50)) + data[end:]


def _insert(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    start, _end = _place(data, chance)
    return data[:start] + chance.choice(WORDS) * chance.choice((1, 1, 1, 3, 200)) + data[start:]


def _flood(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    """The same few bytes again and again: what makes a careless pattern look at everything from everywhere."""
    start, end = _place(data, chance)
    what = chance.choice((*WORDS, data[start:end], *(bytes([code]) for code in range(0x20, 0x7F)))) or b" "
    return data[:start] + what * (chance.choice((3000, 50_000)) // len(what)) + data[start:]


def _replace(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = _place(data, chance)
    return data[:start] + chance.choice(WORDS) + data[end:]


def cut(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    """The beginning of a file: the disk was full, the program was killed."""
    return data[: chance.randrange(len(data) + 1)]


def _behead(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    return data[chance.randrange(len(data) + 1) :]


def _splice(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    other = chance.choice(seeds)
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


def _append(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    return data + chance.choice(seeds)


def _lines(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    """Lines doubled, taken out, changed with one another, sorted backwards."""
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            lines[one], lines[other] = lines[other], lines[one]
        case 1:
            del lines[one]
        case 2:
            lines[one:one] = [lines[other]] * chance.choice((1, 2, 100))
        case 3:
            lines.reverse()
        case _:
            lines[min(one, other) : max(one, other)] = []
    return b"\n".join(lines)


def _number(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    """A number, or the same one everywhere, becomes an extreme one."""
    found = [match.span() for match in _NUMBER.finditer(data[:100_000])][:_MOST_NUMBERS]
    if not found:
        return data
    start, end = chance.choice(found)
    extreme = chance.choice(NUMBERS)
    if chance.random() < 0.2:
        return data.replace(data[start:end], extreme)
    return data[:start] + extreme + data[end:]


def _encode(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    """What PowerShell, editors and crashes do to a text."""
    text = data.decode("utf-8", errors="replace")
    match chance.randrange(8):
        case 0:
            return text.encode("utf-16")
        case 1:
            return text.encode("utf-16-le")
        case 2:
            return text.encode("utf-16-be")
        case 3:
            return b"\xef\xbb\xbf" + data
        case 4:
            return text.encode("utf-32")
        case 5:
            return data.replace(b"\n", b"\r\n").replace(b" ", b"\xa0", 3)
        case 6:
            return data.replace(b"\n", b"\r")
        case _:
            at = chance.randrange(len(data) + 1)
            return data[:at] + b"\0" * chance.choice((1, 100, 10_000)) + data[at:]


PLAIN: tuple[Mutation, ...] = (
    _flip, _delete, _repeat, _insert, _flood, _replace, cut, _behead, _splice, _append, _lines, _lines, _number,
    _number, _number, _encode,
)  # fmt: skip
