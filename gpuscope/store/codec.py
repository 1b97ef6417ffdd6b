"""Numbers of one figure over time as few bytes: whole steps, differences, bytes of one weight together, deflate.

Neighbouring readings are alike, so what is stored is either the distance from the lowest value or the step from the
reading before, whichever is smaller on average, divided by what all of them are multiples of (a clock moves in steps
of 15 MHz, memory in pages). The bytes of equal weight then lie together, where deflate finds them equal.
"""

from __future__ import annotations

import zlib
from enum import IntEnum
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

MAX_HEADER_BYTES = 1024 * 1024
MAX_VALUES = 4 * 1024 * 1024
"""Of one chunk: files come from strangers, and a few bytes of deflate can claim to be any number of zeros."""
LARGEST_WHOLE = 2.0**53
"""Every whole number up to this one is a floating-point number of its own."""
_WIDTHS = (1, 2, 4, 8)
_LEAST_DEFLATED_BYTES = 24
"""Deflate itself adds about ten bytes."""


class DamagedChunkError(ValueError):
    """What is stored is not what this module writes: the file is damaged, or means harm."""


class Kind(IntEnum):
    """How the numbers of a chunk are stored."""

    CONSTANT = 0
    OFFSETS = 1
    """Distances from the lowest value."""
    STEPS = 2
    """Differences of neighbours, less the lowest of these."""
    FLOATS = 3
    """The floating-point numbers as they are."""


class Payload:
    """Bytes of a chunk: in a blob they all lie behind its header, which alone is worth compressing as a whole."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        """Hold the bytes."""
        self.data = data

    def __eq__(self, other: object) -> bool:
        """Whether the bytes are the same."""
        return isinstance(other, Payload) and self.data == other.data

    def __hash__(self) -> int:
        """That of the bytes."""
        return hash(self.data)


class Chunk(msgspec.Struct, frozen=True, array_like=True):
    """An array of whole or floating-point numbers, stored.

    A whole number is `base + unit * (lowest + stored)`, for `STEPS` of the differences, with `base` the first value.
    """

    kind: int
    count: int
    base: int = 0
    lowest: int = 0
    unit: int = 1
    width: int = 0
    """Bytes a stored number."""
    deflated: bool = False
    payload: Payload | None = None
    """None for `CONSTANT`, and for the steps of a single value, which are none."""


def pack_whole(values: IntArray, level: int) -> Chunk:
    """Store whole numbers without loss.

    Args:
        values: at least one; all smaller in size than `LARGEST_WHOLE`, so that no difference overflows.
        level: of deflate, 1 (fast) to 9 (small).
    """
    lowest, highest = int(values.min()), int(values.max())
    if lowest == highest:
        return Chunk(Kind.CONSTANT, len(values), base=lowest)
    steps = np.diff(values)
    if _spread(steps) < _spread(values):
        first = int(values[0])
        least = int(steps.min())
        stored, kind = steps - least, Kind.STEPS
    else:
        first, least = lowest, 0
        stored, kind = values - lowest, Kind.OFFSETS
    unit = int(np.gcd.reduce(stored)) or 1
    if unit > 1:
        stored //= unit
    width = next(width for width in _WIDTHS if int(stored.max()) < 1 << 8 * width)
    deflated, data = _squeeze(stored.astype(f"<u{width}"), level)
    return Chunk(kind, len(values), first, least, unit, width, deflated, Payload(data))


def pack_floats(values: FloatArray, level: int) -> Chunk:
    """Store floating-point numbers bit by bit."""
    deflated, data = _squeeze(values.astype("<f8"), level)
    return Chunk(Kind.FLOATS, len(values), width=8, deflated=deflated, payload=Payload(data))


def unpack(chunk: Chunk) -> IntArray | FloatArray:
    """The numbers of a chunk.

    Raises:
        DamagedChunkError: it does not hold what it says, or claims to hold more than any chunk does.
    """
    if not 0 < chunk.count <= MAX_VALUES:
        raise DamagedChunkError(f"{chunk.count} values")
    if chunk.kind == Kind.CONSTANT:
        return np.full(chunk.count, _bounded(chunk.base), dtype=np.int64)
    if chunk.kind == Kind.FLOATS:
        return _spread_out(chunk, chunk.count, 8).view("<f8").astype(np.float64, copy=False)
    count = chunk.count - (chunk.kind == Kind.STEPS)
    stored = _spread_out(chunk, count, chunk.width).astype(np.int64)
    if chunk.kind == Kind.OFFSETS:
        stored *= _bounded(chunk.unit)
        stored += _bounded(chunk.base)
        return stored
    if chunk.kind != Kind.STEPS:
        raise DamagedChunkError(f"kind {chunk.kind}")
    values = np.empty(chunk.count, dtype=np.int64)
    values[0] = _bounded(chunk.base)
    stored *= chunk.unit
    stored += _bounded(chunk.lowest)
    values[1:] = stored
    return np.cumsum(values, out=values)


def inflate(data: bytes, most_bytes: int) -> bytes:
    """Undo deflate, never into more than `most_bytes`.

    Raises:
        DamagedChunkError: the data is no whole stream of at most so many bytes.
    """
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        plain = stream.decompress(data, most_bytes)
        # Output that fills the limit exactly leaves the end mark unread.
        whole = stream.eof or (not stream.decompress(stream.unconsumed_tail, 1) and stream.eof)
    except zlib.error as error:
        raise DamagedChunkError(str(error)) from error
    if not whole:
        raise DamagedChunkError("cut off, or larger than it says")
    return plain


def deflate(data: bytes, level: int) -> bytes:
    """Compress, without header and checksum: whole blobs carry one."""
    stream = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return stream.compress(data) + stream.flush()


def _spread(values: IntArray) -> float:
    """How far values lie from their mean, added up."""
    return float(np.abs(values - values.mean()).sum())


def _squeeze(values: NDArray[np.generic], level: int) -> tuple[bool, bytes]:
    width = values.dtype.itemsize
    data = values.view(np.uint8).reshape(-1, width).T.tobytes()
    if len(data) >= _LEAST_DEFLATED_BYTES:
        smaller = deflate(data, level)
        if len(smaller) < len(data):
            return True, smaller
    return False, data


def _spread_out(chunk: Chunk, count: int, width: int) -> NDArray[np.generic]:
    if width not in _WIDTHS:
        raise DamagedChunkError(f"width {width}")
    data = chunk.payload.data if chunk.payload is not None else b""
    if chunk.deflated:
        data = inflate(data, count * width)
    if len(data) != count * width:
        raise DamagedChunkError(f"{len(data)} bytes for {count} values of {width}")
    together = np.frombuffer(data, np.uint8).reshape(width, count)
    return np.ascontiguousarray(together.T).reshape(-1).view(f"<u{width}")


def _bounded(number: int) -> int:
    if abs(number) > 2 * LARGEST_WHOLE:
        raise DamagedChunkError(f"{number} is no reading")
    return number


def encode_blob(value: msgspec.Struct, level: int) -> bytes:
    """A value with chunks in it as the blob that is stored: a checksum, a deflated header, all payloads."""
    payloads: list[bytes] = []

    def take(payload: Any) -> int:
        payloads.append(payload.data)
        return len(payload.data)

    header = deflate(msgspec.msgpack.encode(value, enc_hook=take), level)
    return seal(len(header).to_bytes(4, "little") + header + b"".join(payloads))


def decode_blob(blob: object, type_: type[T]) -> T:
    """What `encode_blob` was given.

    Raises:
        DamagedChunkError: it is no such blob.
    """
    plain = unseal(blob)
    position = 4 + int.from_bytes(plain[:4], "little")
    header = inflate(plain[4:position], MAX_HEADER_BYTES)

    def give(_: type, size: Any) -> Payload:
        nonlocal position
        if not isinstance(size, int) or not 0 <= size <= len(plain) - position:
            raise ValueError("a payload beyond the end")
        position += size
        return Payload(plain[position - size : position])

    try:
        return msgspec.msgpack.decode(header, type=type_, dec_hook=give)
    except msgspec.MsgspecError as error:
        raise DamagedChunkError(str(error)) from error


def seal(blob: bytes) -> bytes:
    """A blob with its checksum (CRC-32, 4 bytes) before it: SQLite itself does not notice flipped bits."""
    return zlib.crc32(blob).to_bytes(4, "little") + blob


def unseal(sealed: object) -> bytes:
    """The blob that `seal` was given.

    Raises:
        DamagedChunkError: it is another one.
    """
    if not isinstance(sealed, bytes) or zlib.crc32(sealed[4:]) != int.from_bytes(sealed[:4], "little"):
        raise DamagedChunkError("the checksum differs")
    return sealed[4:]
