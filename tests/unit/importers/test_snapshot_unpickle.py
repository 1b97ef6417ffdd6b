"""The reader of plain pickles: equal to pickle for plain values, deaf to everything else."""

from __future__ import annotations

import os
import pickle
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.importers.pytorch.unpickle import PickleRefusedError, plain_values

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**100), 2**100) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=30,
)


@given(PLAIN, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_plain_values_come_back(value: Any, protocol: int) -> None:
    assert plain_values(pickle.dumps(value, protocol)) == value


def test_bytes_and_long_texts() -> None:
    value = {"b": b"x" * 1000, "t": "é" * 1000, "shared": [["a"]] * 3}
    assert plain_values(pickle.dumps(value, 4)) == value


class Calls:
    def __init__(self, *call: Any) -> None:
        self._call = call

    def __reduce__(self) -> Any:
        return self._call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_call_is_named_and_not_made(protocol: int, tmp_path: Any) -> None:
    target = tmp_path / "made"
    data = pickle.dumps({"segments": [Calls(os.mkdir, (str(target),))]}, protocol)
    with pytest.raises(PickleRefusedError, match=r"(posix|nt)\.mkdir"):
        plain_values(data)
    assert not target.exists()


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"(S'true'\nios\nsystem\n.", "os.system"),
        (b"\x80\x02cbuiltins\neval\n.", "builtins.eval"),
        (b"\x80\x04\x8c\x08builtins\x8c\x04exec\x93.", "builtins.exec"),
        (b"\x80\x02\x82\x01.", "EXT1"),
        (b"Pid\n.", "PERSID"),
        (b"\x80\x04\x8f.", "EMPTY_SET"),
        (b"\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\x7f.", "BYTEARRAY8"),
        (b"]}b.", "BUILD"),
    ],
)
def test_every_way_to_a_call_is_refused(data: bytes, named: str) -> None:
    with pytest.raises(PickleRefusedError, match=named.replace(".", r"\.")):
        plain_values(data)


@pytest.mark.parametrize(
    "data",
    [
        b"", b".", b"\x80", b"\x80\x04", b"\x80\x04]", b"e.", b"h\x07.", b"\x80\x04\x95", b"X\xff\xff\xff\xffab.",
        b"\x8d\xff\xff\xff\xff\xff\xff\xff\xffab.", b"\x8b\xff\xff\xff\x7f.", b"I" + b"9" * 10_000 + b"\n.",
        b"F1e999x\n.", b"}]K\x01s.", b"(K\x01d.", b"K\x01a.", b"\xff.", b"\x80\x04]N",
    ],
)  # fmt: skip
def test_damage_is_said(data: bytes) -> None:
    with pytest.raises(PickleRefusedError, match="damaged or cut off"):
        plain_values(data)


def test_nesting_has_an_end() -> None:
    with pytest.raises(PickleRefusedError, match="nested"):
        plain_values(b"]" * 100_000 + b"a" * 99_999 + b".")


def test_a_list_that_holds_itself() -> None:
    looped: list[Any] = []
    looped.append(looped)
    with pytest.raises(PickleRefusedError, match="holds itself"):
        plain_values(pickle.dumps(looped))


def test_lists_and_dicts_that_hold_each_other() -> None:
    outer: list[Any] = []
    outer.append({"inner": (outer,)})
    inner: dict[str, Any] = {}
    inner["outer"] = [[inner]]
    for looped in (outer, inner):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(PickleRefusedError, match="holds itself"):
                plain_values(pickle.dumps(looped, protocol))
    with pytest.raises(PickleRefusedError, match="holds itself"):
        plain_values(b"]2a.")  # a list, doubled, put into itself


def test_keys_whose_hash_takes_for_ever() -> None:
    bomb = b"\x80\x02)" + b"2\x86" * 60 + b"}\x00"
    began_s = time.process_time()
    with pytest.raises(PickleRefusedError):
        plain_values(b"\x80\x02}" + bomb[2:-2] + b"K\x01s.")
    assert time.process_time() - began_s < 1


def test_a_memo_of_four_billion_places_takes_no_memory() -> None:
    assert plain_values(b"]r\xff\xff\xff\xffj\xff\xff\xff\xff.") == []
