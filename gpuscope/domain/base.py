"""The base of all exchanged values: frozen, slotted, encodable as JSON and MessagePack."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


NORMAL_90 = 1.645
"""Standard deviations around the mean of a normal figure that 90% of its values lie within."""


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """Base class of the domain's plain values."""


class Compact(Value, frozen=True, kw_only=True, omit_defaults=True):
    """Base class of values that are stored many times: what is not there takes no room."""


class Range(Value, frozen=True, kw_only=True):
    """A figure with its uncertainty: nominally 90% of true values lie within [low, high].

    The unit is in the name of the field that holds the range.
    """

    low: float
    mid: float
    high: float

    @staticmethod
    def exact(value: float) -> Range:
        """A figure without uncertainty (counted, or given by the person)."""
        return Range(low=value, mid=value, high=value)

    def scaled(self, factor: float) -> Range:
        """All three figures times a non-negative factor."""
        return Range(low=self.low * factor, mid=self.mid * factor, high=self.high * factor)

    def times(self, other: Range) -> Range:
        """The product with another figure that is not negative, low ends together and high ends together."""
        return Range(low=self.low * other.low, mid=self.mid * other.mid, high=self.high * other.high)

    def plus(self, other: Range) -> Range:
        """The sum with another figure, low ends together and high ends together."""
        return Range(low=self.low + other.low, mid=self.mid + other.mid, high=self.high + other.high)

    @staticmethod
    def total(parts: Iterable[Range]) -> Range:
        """The sum of several figures; 0 of none."""
        return functools.reduce(Range.plus, parts, Range.exact(0.0))


def scaled(value: float | None, factor: float) -> float | None:
    """A figure times a factor; what is not known stays so."""
    return None if value is None else value * factor


def to_json(value: Any, *, indent: int = 0) -> bytes:
    """Encode as UTF-8 JSON; field order is the declaration's, so equal values give equal bytes.

    Text that is no Unicode is written as by `printable`.
    """
    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:
        data = msgspec.json.encode(_all_printable(msgspec.to_builtins(value)))
    return msgspec.json.format(data, indent=indent) if indent else data


def from_json(data: bytes | str, type_: type[T]) -> T:
    """Decode and validate JSON.

    Raises:
        msgspec.ValidationError: a field is missing or of the wrong type.
        msgspec.DecodeError: the text is not JSON, or is nested too deeply for anything of ours.
    """
    try:
        return msgspec.json.decode(data, type=type_)
    except RecursionError as error:
        raise msgspec.DecodeError("it is nested too deeply") from error


def to_msgpack(value: Any) -> bytes:
    """Encode compactly for the session file and the sampler's pipe; text that is no Unicode as by `printable`."""
    try:
        return msgspec.msgpack.encode(value)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode(_all_printable(msgspec.to_builtins(value, builtin_types=(bytes,))))


def from_msgpack(data: bytes, type_: type[T]) -> T:
    """Decode and validate what `to_msgpack` wrote.

    Raises:
        msgspec.ValidationError, msgspec.DecodeError: the bytes are not such a value.
    """
    return msgspec.msgpack.decode(data, type=type_)


_NO_CHARACTER = re.compile("[\ud800-\udfff]")
"""Surrogates: what Python puts into a text for the bytes of a file name or an argument that are no UTF-8."""


def printable(text: str) -> str:
    r"""The text with what is no Unicode character written out: `caf\xe9.py` for a file name in Latin-1."""
    return _NO_CHARACTER.sub(_written_out, text)


def _written_out(match: re.Match[str]) -> str:
    number = ord(match.group())
    return f"\\x{number - 0xDC00:02x}" if 0xDC80 <= number <= 0xDCFF else f"\\u{number:04x}"


def _all_printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {_all_printable(key): _all_printable(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_all_printable(part) for part in value]
    return value
