"""Pickles that want to call something, to allocate gigabytes, or to send a reader round in circles."""

from __future__ import annotations

import copyreg
import os
import pickle
import pickletools
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from gpuscope.errors import UsageError
from gpuscope.importers.pytorch import snapshot_fields
from gpuscope.importers.pytorch.snapshot import is_pickle, read
from gpuscope.importers.pytorch.unpickle import PickleRefusedError, plain_values
from tests.unit.importers.hostile import refusal

PLAIN_OPERATIONS = frozenset({
    "MARK", "STOP", "POP", "POP_MARK", "DUP", "FLOAT", "INT", "BININT", "BININT1", "LONG", "BININT2", "NONE", "STRING",
    "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "APPEND", "DICT", "EMPTY_DICT", "APPENDS", "GET", "BINGET",
    "LONG_BINGET", "LIST", "EMPTY_LIST", "PUT", "BINPUT", "LONG_BINPUT", "SETITEM", "TUPLE", "EMPTY_TUPLE", "SETITEMS",
    "BINFLOAT", "PROTO", "TUPLE1", "TUPLE2", "TUPLE3", "NEWTRUE", "NEWFALSE", "LONG1", "LONG4", "BINBYTES",
    "SHORT_BINBYTES", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES8", "MEMOIZE", "FRAME",
})  # fmt: skip
"""What a pickle of plain values is made of. Whatever else pickle can do, today or later, is refused."""
OTHERS = [operation for operation in pickletools.opcodes if operation.name not in PLAIN_OPERATIONS]
_ARGUMENTS = {"GLOBAL": b"os\nsystem\n", "INST": b"os\nsystem\n", "PERSID": b"x\n", "EXT1": b"\x01", "EXT2": b"\x01\0"}


def _called(*_: Any, **__: Any) -> Any:
    raise AssertionError("something in the pickle was called")


@pytest.fixture(autouse=True)
def nothing_can_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """What pickles usually call ends the test."""
    for name in ("system", "popen", "execv", "remove"):
        monkeypatch.setattr(os, name, _called)


@pytest.mark.parametrize("operation", OTHERS, ids=lambda operation: operation.name)
def test_every_operation_that_is_not_for_plain_values_is_refused(operation: Any) -> None:
    code = operation.code.encode("latin-1")
    stack = b"\x80\x04\x8c\x02os\x8c\x06system(]\x8c\x04true\x85"
    data = stack + code + _ARGUMENTS.get(operation.name, b"\0" * 8) + b"."
    with pytest.raises(PickleRefusedError, match=r"refused: it wants to call|damaged"):
        plain_values(data)


class Reduces:
    def __reduce__(self) -> Any:
        return os.system, ("true",)


class Builds:
    def __reduce__(self) -> Any:
        return Builds, (), {"a": 1}


class Extended:
    pass


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_what_pickle_itself_writes_for_objects_is_refused(protocol: int) -> None:
    for value in (Reduces(), Builds(), Extended(), len, {"segments": [print]}, {1}, bytearray(b"x"), 1j):
        data = pickle.dumps(value, protocol)
        with pytest.raises(PickleRefusedError, match="refused: it wants to call"):
            plain_values(data)


def test_the_extension_registry_is_not_looked_at() -> None:
    copyreg.add_extension(__name__, "Extended", 240)
    try:
        data = pickle.dumps(Extended, 2)
        assert b"\x82\xf0" in data
        with pytest.raises(PickleRefusedError, match="EXT1"):
            plain_values(data)
    finally:
        copyreg.remove_extension(__name__, "Extended", 240)


def test_modules_are_not_imported_for_a_name() -> None:
    assert "antigravity" not in sys.modules
    for data in (b"cantigravity\nfly\n.", b"\x80\x04\x8c\x0bantigravity\x8c\x03fly\x93."):
        with pytest.raises(PickleRefusedError, match=r"antigravity\.fly"):
            plain_values(data)
    assert "antigravity" not in sys.modules


LENGTHS = {
    "BINUNICODE": b"X" + struct.pack("<I", 2**31 - 1),
    "BINUNICODE of 4 GB": b"X" + struct.pack("<I", 2**32 - 1),
    "BINUNICODE8": b"\x8d" + struct.pack("<Q", 2**63),
    "BINBYTES": b"B" + struct.pack("<I", 2**31),
    "BINBYTES8": b"\x8e" + struct.pack("<Q", 2**40),
    "BINSTRING": b"T" + struct.pack("<i", 2**31 - 1),
    "BINSTRING backwards": b"T" + struct.pack("<i", -5),
    "LONG4": b"\x8b" + struct.pack("<i", 2**31 - 1),
    "LONG4 backwards": b"\x8b" + struct.pack("<i", -1),
    "FRAME": b"\x95" + struct.pack("<Q", 2**62),
}


@pytest.mark.parametrize("operation", LENGTHS.values(), ids=LENGTHS.keys())
def test_lengths_of_gigabytes_allocate_nothing(operation: bytes, tmp_path: Path) -> None:
    with pytest.raises(PickleRefusedError, match="damaged or cut off"):
        plain_values(b"\x80\x04" + operation + b"abc")


def test_the_command_refuses_them_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(b"\x80\x04}(" + b"X\x08\0\0\0segments" + LENGTHS["BINBYTES8"] + b"u.")
    assert "damaged or cut off" in refusal(path, tmp_path, most_bytes=200_000_000)


def test_a_number_of_megabytes_takes_no_time() -> None:
    digits = b"9" * 5_000_000
    for data in (b"I" + digits + b"\n.", b"L" + digits + b"L\n.", b"\x8b" + struct.pack("<i", len(digits)) + digits):
        with pytest.raises(PickleRefusedError):
            plain_values(data)


def _laughs(depth: int, width: int) -> bytes:
    """Lists of the same list, again and again: a kilobyte that unfolds into width^depth entries."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value] * width
    return pickle.dumps({"segments": value, "device_traces": [value]}, 4)


def test_a_billion_laughs_are_counted_not_unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_fields, "MOST_ENTRIES", 100_000)
    assert len(_laughs(20, 100)) < 10_000
    read(_laughs(20, 100))  # what is no segment is passed over
    blocks: list[Any] = [{"size": 1, "state": "inactive"}] * 3000
    segments = [{"device": 0, "total_size": 1, "blocks": blocks}] * 3000
    data = pickle.dumps({"segments": segments, "device_traces": []}, 4)
    assert len(data) < 100_000
    with pytest.raises(UsageError, match="more than 100000 blocks and events"):
        read(data)


def test_a_memo_that_refers_to_itself_is_refused() -> None:
    loop = b"\x80\x04}\x94\x8c\x08segments]\x94h\x01as."  # its own list inside its own list
    with pytest.raises(PickleRefusedError, match="holds itself"):
        plain_values(loop)


@pytest.mark.parametrize("data", [b"\x80\x06N.", b"\x80\xffN.", b"\x80"])
def test_protocols_of_the_future_are_no_pickle(data: bytes) -> None:
    assert not is_pickle(data)


def test_names_that_steer_a_terminal_are_shown_plainly() -> None:
    with pytest.raises(PickleRefusedError) as refused:
        plain_values(b"c\x1b]0;owned\x07\n\xe2\x80\xaesystem\n.")
    assert str(refused.value).isprintable()
