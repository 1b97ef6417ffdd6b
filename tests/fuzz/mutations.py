"""Damaged variants of real files: what copies, editors, crashes and attackers make of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

_TOKENS = (
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1b]0;x\x07", b"<script>", b'"', b"\\", b"{", b"}", b"[", b"]", b",}{",
    b"nan", b"-inf", b"1e999", b"9223372036854775807", b"-1", b"18446744073709551616", b"4294967295", b"0x", b"N/A",
    b"\r\n", b"\n\n", b"\t", b"|", b"%", b"MiB", b"]]>", b"&lt;", b"cos\nsystem\n", b"R.", b"\x80\x04", b"\x93", b"e.",
    b"((((", b"null", b"[[[[[[[[", b'{"a":' * 8, b" " * 4000,
)  # fmt: skip
_MOST_BYTES = 200_000


def mutated(seeds: Sequence[bytes], number: int) -> bytes:
    """The variant of a number: always the same for the same seeds and number."""
    chance = random.Random(number)
    data = chance.choice(seeds)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        data = chance.choice(_MUTATIONS)(data, seeds, chance)[:_MOST_BYTES]
    return data


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
    return data[:start] + chance.choice(_TOKENS) * chance.choice((1, 1, 1, 3, 200)) + data[start:]


def _replace(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = _place(data, chance)
    return data[:start] + chance.choice(_TOKENS) + data[end:]


def _cut(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _behead(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    return data[chance.randrange(len(data) + 1) :]


def _splice(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    other = chance.choice(seeds)
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


def _swap_lines(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _other_digits(data: bytes, _: Sequence[bytes], chance: random.Random) -> bytes:
    digits = [at for at, byte in enumerate(data) if 0x30 <= byte <= 0x39]
    if not digits:
        return data
    at = chance.choice(digits)
    return data[:at] + chance.choice((b"9" * 30, b"-", b"0", b"1e300", b".", b"")) + data[at + 1 :]


_MUTATIONS: tuple[Callable[[bytes, Sequence[bytes], random.Random], bytes], ...] = (
    _flip, _delete, _repeat, _insert, _replace, _cut, _behead, _splice, _swap_lines, _other_digits,
)  # fmt: skip
