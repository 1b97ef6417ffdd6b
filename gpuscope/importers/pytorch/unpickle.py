"""Pickles of plain values, without pickle: nothing in a file of somebody else is ever called.

Understood are dicts, lists, tuples, texts, bytes, numbers, booleans and None, in protocols 0 to 5, as `pickletools`
documents them. Every operation that names a class or a function ends the reading; sizes, depth and memo are bounded by
the size of the file.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from gpuscope.errors import UsageError

MOST_DEPTH = 64
"""A snapshot of memory is seven deep."""
_MOST_INTEGER_BYTES = 16
_MOST_DIGITS = 40
_MOST_OPERATIONS = 100_000_000
"""A snapshot with as many blocks and events as are read at all takes about so many."""
_MOST_MARKS = 1000
"""Open at once; a plain value has one for each level of its nesting."""
_MARK = object()
_KEY_TYPES = frozenset({str, int, float, bool, bytes, type(None)})
"""Tuples that share their parts would make a key whose hash takes for ever."""
_CALLS = {
    0x52: "REDUCE", 0x62: "BUILD", 0x6F: "OBJ", 0x81: "NEWOBJ", 0x92: "NEWOBJ_EX", 0x82: "EXT1", 0x83: "EXT2",
    0x84: "EXT4", 0x50: "PERSID", 0x51: "BINPERSID", 0x96: "BYTEARRAY8", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
    0x8F: "EMPTY_SET", 0x90: "ADDITEMS", 0x91: "FROZENSET",
}  # fmt: skip


class PickleRefusedError(UsageError):
    """The pickle wants more than plain values, or is damaged; the sentence says which."""


def plain_values(data: bytes) -> Any:
    """The value that a pickle holds.

    Raises:
        PickleRefusedError: it names something to call, is no pickle, is cut off, or is nested too deep.
    """
    value, cut_at = salvaged_values(data)
    if cut_at is not None:
        raise damaged(cut_at, len(data))
    return value


def salvaged_values(data: bytes) -> tuple[Any, int | None]:
    """The value that a pickle holds; of one that is damaged or cut off, the outermost with what was put into it before.

    Returns:
        The value, and the byte at which the pickle broke off; None: it is whole.

    Raises:
        PickleRefusedError: it names something to call, is nested too deep, or nothing of it is left.
    """
    machine = _Machine(data)
    try:
        return machine.run(), None
    except _DAMAGE as error:
        try:
            return machine.unwound(), machine.at
        except _DAMAGE:
            raise damaged(machine.at, len(data)) from error


_DAMAGE = (IndexError, ValueError, TypeError, KeyError, struct.error, OverflowError, MemoryError)


def damaged(at: int, size: int) -> PickleRefusedError:
    """The refusal of a pickle of so many bytes that broke off at one of them."""
    return PickleRefusedError(f"The pickle is damaged or cut off at byte {at} of {size}: save the snapshot again.")


class _Machine:
    """The pickle machine: a stack, a memo, and the place in the data."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}
        self._depth: dict[int, int] = {}
        self._used_again: set[int] = set()
        """Containers that were taken from the memo or doubled, so that they may stand in another one."""

    def run(self) -> Any:
        data, operations = self._data, _OPERATIONS
        for _ in range(_MOST_OPERATIONS):
            code = data[self.at]
            self.at += 1
            if code == _STOP:
                return self._stack[-1]
            operation = operations.get(code)
            if operation is None:
                self._refuse(code)
            else:
                operation(self)
        raise PickleRefusedError(f"The pickle is refused: it takes more than {_MOST_OPERATIONS} operations to load.")

    def unwound(self) -> Any:
        """The outermost value, after what is on the stack was put where it was meant to go."""
        while self._marks:
            items = self.since_mark()
            if isinstance(self._stack[-1], list):
                self.append(items)
            elif isinstance(self._stack[-1], dict):
                self.set_items(items[: len(items) // 2 * 2])
        return self._stack[0]

    def _refuse(self, code: int) -> None:
        """Say what the pickle wants to call. Nothing is looked up or imported for that."""
        if code in {0x63, 0x69}:  # GLOBAL, INST: module and name in two lines
            self._refuse_call(f"{_printable(self.line())}.{_printable(self.line())}")
        if code == 0x93:  # STACK_GLOBAL
            self._refuse_call(".".join(_printable(part) for part in self._stack[-2:]))
        if code in _CALLS:
            self._refuse_call(f"something by {_CALLS[code]}")
        raise ValueError(code)

    def _refuse_call(self, what: str) -> None:
        raise PickleRefusedError(
            f"The pickle is refused: it wants to call {what} when it is loaded, where a snapshot of memory holds plain "
            "values alone. Nothing of it was run."
        )

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self._data):
            raise ValueError(count)
        taken = self._data[self.at : self.at + count]
        self.at += count
        return taken

    def line(self) -> bytes:
        end = self._data.index(b"\n", self.at)
        taken = self._data[self.at : end]
        self.at = end + 1
        return taken

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def number(self, form: str, size: int) -> Any:
        return struct.unpack(form, self.take(size))[0]

    # Containers

    def since_mark(self) -> list[Any]:
        start = self._marks.pop()
        items = self._stack[start:]
        del self._stack[start:]
        return items

    def mark(self) -> None:
        if len(self._marks) > _MOST_MARKS:
            raise PickleRefusedError(f"The pickle is refused: it is nested more than {MOST_DEPTH} deep.")
        self._marks.append(len(self._stack))

    def push_container(self, value: Any, parts: list[Any]) -> None:
        self._stack.append(value)
        self._note_depth(value, parts)

    def _note_depth(self, container: Any, parts: list[Any]) -> None:
        """Containers know how deep they are, so that nothing that walks them ever goes too deep, or round."""
        depth = self._depth.get(id(container), 1)
        for part in parts:
            if isinstance(part, (dict, list, tuple)):
                if id(container) in self._used_again:
                    raise PickleRefusedError(
                        "The pickle is refused: a list of it grows after it was used, as one that holds itself does."
                    )
                depth = max(depth, self._depth.get(id(part), 1) + 1)
        if depth > MOST_DEPTH:
            raise PickleRefusedError(f"The pickle is refused: it is nested more than {MOST_DEPTH} deep.")
        if depth > 1:
            self._depth[id(container)] = depth

    def append(self, items: list[Any]) -> None:
        target = self._stack[-1]
        if type(target) is not list:
            raise TypeError
        target.extend(items)
        self._note_depth(target, items)

    def set_items(self, items: list[Any]) -> None:
        target = self._stack[-1]
        if type(target) is not dict or len(items) % 2:
            raise TypeError
        for key, value in zip(items[::2], items[1::2], strict=True):
            if type(key) not in _KEY_TYPES:
                raise TypeError
            target[key] = value
        self._note_depth(target, items[1::2])

    def pop(self) -> Any:
        if self._marks and self._marks[-1] == len(self._stack):
            return self._marks.pop()
        return self._stack.pop()

    # Memo

    def remember(self, number: int) -> None:
        self._memo[number] = self._stack[-1]

    def remember_next(self) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def recall(self, number: int) -> None:
        self._push_again(self._memo[number])

    def double(self) -> None:
        self._push_again(self._stack[-1])

    def _push_again(self, value: Any) -> None:
        if isinstance(value, (dict, list)):
            self._used_again.add(id(value))
        self._stack.append(value)


def _printable(text: Any) -> str:
    words = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    return "".join(letter if letter.isprintable() else "?" for letter in words[:80])


def _integer(data: bytes) -> int:
    if len(data) > _MOST_INTEGER_BYTES:
        raise ValueError(len(data))
    return int.from_bytes(data, "little", signed=True)


def _digits(line: bytes) -> Any:
    """Protocol 0: `01` and `00` are booleans."""
    if line in {b"01", b"00"}:
        return line == b"01"
    if len(line) > _MOST_DIGITS:
        raise ValueError(len(line))
    return int(line.rstrip(b"L"))


def _quoted(line: bytes) -> str:
    """Protocol 0: a Python literal in quotes."""
    if len(line) < 2 or line[:1] != line[-1:] or line[:1] not in {b"'", b'"'}:
        raise ValueError(line)
    return line[1:-1].decode("unicode_escape")


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="surrogatepass")


def _tuple(machine: _Machine, count: int) -> None:
    parts = [machine.pop() for _ in range(count)][::-1]
    machine.push_container(tuple(parts), parts)


def _tuple_since_mark(machine: _Machine) -> None:
    parts = machine.since_mark()
    machine.push_container(tuple(parts), parts)


def _list_since_mark(machine: _Machine) -> None:
    parts = machine.since_mark()
    machine.push_container(parts, parts)


def _dict_since_mark(machine: _Machine) -> None:
    items = machine.since_mark()
    machine.push({})
    machine.set_items(items)


def _set_item(machine: _Machine) -> None:
    value, key = machine.pop(), machine.pop()
    machine.set_items([key, value])


_STOP = 0x2E
_OPERATIONS: dict[int, Callable[[_Machine], Any]] = {
    0x80: lambda m: m.take(1),  # PROTO
    0x95: lambda m: m.take(8),  # FRAME: a hint for readers of streams
    0x28: _Machine.mark,
    0x30: _Machine.pop,
    0x31: _Machine.since_mark,  # POP_MARK
    0x32: _Machine.double,
    0x4E: lambda m: m.push(None),
    0x88: lambda m: m.push(value=True),
    0x89: lambda m: m.push(value=False),
    0x49: lambda m: m.push(_digits(m.line())),  # INT
    0x4C: lambda m: m.push(_digits(m.line())),  # LONG
    0x4A: lambda m: m.push(m.number("<i", 4)),  # BININT
    0x4B: lambda m: m.push(m.take(1)[0]),  # BININT1
    0x4D: lambda m: m.push(m.number("<H", 2)),  # BININT2
    0x8A: lambda m: m.push(_integer(m.take(m.take(1)[0]))),  # LONG1
    0x8B: lambda m: m.push(_integer(m.take(m.number("<i", 4)))),  # LONG4
    0x46: lambda m: m.push(float(m.line())),  # FLOAT
    0x47: lambda m: m.push(m.number(">d", 8)),  # BINFLOAT
    0x53: lambda m: m.push(_quoted(m.line())),  # STRING
    0x54: lambda m: m.push(m.take(m.number("<i", 4)).decode("latin-1")),  # BINSTRING
    0x55: lambda m: m.push(m.take(m.take(1)[0]).decode("latin-1")),  # SHORT_BINSTRING
    0x56: lambda m: m.push(m.line().decode("raw-unicode-escape")),  # UNICODE
    0x58: lambda m: m.push(_text(m.take(m.number("<I", 4)))),  # BINUNICODE
    0x8C: lambda m: m.push(_text(m.take(m.take(1)[0]))),  # SHORT_BINUNICODE
    0x8D: lambda m: m.push(_text(m.take(m.number("<Q", 8)))),  # BINUNICODE8
    0x42: lambda m: m.push(m.take(m.number("<I", 4))),  # BINBYTES
    0x43: lambda m: m.push(m.take(m.take(1)[0])),  # SHORT_BINBYTES
    0x8E: lambda m: m.push(m.take(m.number("<Q", 8))),  # BINBYTES8
    0x5D: lambda m: m.push([]),
    0x6C: _list_since_mark,
    0x61: lambda m: m.append([m.pop()]),  # APPEND
    0x65: lambda m: m.append(m.since_mark()),  # APPENDS
    0x29: lambda m: m.push(()),
    0x74: _tuple_since_mark,
    0x85: lambda m: _tuple(m, 1),
    0x86: lambda m: _tuple(m, 2),
    0x87: lambda m: _tuple(m, 3),
    0x7D: lambda m: m.push({}),
    0x64: _dict_since_mark,
    0x73: _set_item,
    0x75: lambda m: m.set_items(m.since_mark()),  # SETITEMS
    0x67: lambda m: m.recall(int(m.line())),  # GET
    0x68: lambda m: m.recall(m.take(1)[0]),  # BINGET
    0x6A: lambda m: m.recall(m.number("<I", 4)),  # LONG_BINGET
    0x70: lambda m: m.remember(int(m.line())),  # PUT
    0x71: lambda m: m.remember(m.take(1)[0]),  # BINPUT
    0x72: lambda m: m.remember(m.number("<I", 4)),  # LONG_BINPUT
    0x94: _Machine.remember_next,  # MEMOIZE
}
