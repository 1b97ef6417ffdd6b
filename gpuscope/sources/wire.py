"""How frames travel through the sampler's pipe: a length of 4 bytes, big-endian, then the frame in MessagePack."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.domain.base import from_msgpack, to_msgpack
from gpuscope.domain.sample import Frame

LENGTH_BYTES = 4
MAX_FRAME_BYTES = 16 * 1024 * 1024
"""No frame is larger: a longer length means that the stream is damaged."""


class WireError(Exception):
    """The stream does not hold frames."""


def encode(frame: Frame) -> bytes:
    """One frame as it goes through the pipe."""
    data = to_msgpack(frame)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


class Decoder:
    """Puts frames together from pieces of any size."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """The frames that are whole now; what is left waits for the next piece.

        Raises:
            WireError: the stream is damaged.
        """
        self._buffer += piece
        while len(self._buffer) >= LENGTH_BYTES:
            size = int.from_bytes(self._buffer[:LENGTH_BYTES], "big")
            if size > MAX_FRAME_BYTES:
                raise WireError(f"a frame of {size} bytes was announced")
            if len(self._buffer) < LENGTH_BYTES + size:
                return
            data = bytes(self._buffer[LENGTH_BYTES : LENGTH_BYTES + size])
            del self._buffer[: LENGTH_BYTES + size]
            try:
                yield from_msgpack(data, Frame)
            except ValueError as error:  # msgspec's errors are ValueErrors
                raise WireError(str(error)) from error
