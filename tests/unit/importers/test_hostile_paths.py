"""What a path can be instead of a file: a folder, a device, a pipe, a chain of links, a file that changes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gpuscope.advisor.calibration.own_rates import read_rates
from gpuscope.advisor.cost.imports import read_prices
from gpuscope.engine import input_file
from gpuscope.engine.advise import catalogue, read_footprint
from gpuscope.engine.import_files import is_session, read_file
from gpuscope.engine.input_file import read_bounded
from gpuscope.errors import GpuscopeError, SessionError, UsageError
from gpuscope.store.reader import SessionReader
from tests.unit.importers.hostile import refusal
from tests.unit.importers.smi_logs import FOLDER

LOG = FOLDER / "two-gpu-interleaved.csv"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes, devices and links of Unix")


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_a_device_without_an_end_is_refused_before_it_is_read(tmp_path: Path) -> None:
    assert "no file but a device" in refusal("/dev/zero", tmp_path, most_bytes=200_000_000)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/random"])
def test_devices_are_refused_wherever_a_file_is_named(path: str) -> None:
    for read in (
        lambda: read_bounded(Path(path), 1000),
        lambda: SessionReader(Path(path)),
        lambda: read_footprint(Path(path)),
        lambda: read_prices(Path(path), catalogue()),
        lambda: read_rates(Path(path)),
    ):
        with pytest.raises(GpuscopeError, match="device"):
            read()


def test_a_folder_and_a_socket_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Is a directory"):
        read_file(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with pytest.raises(UsageError, match="cannot be read"):
            read_file(tmp_path / "s")


def test_links_are_followed_and_loops_are_refused(tmp_path: Path) -> None:
    link, loop, dangling = tmp_path / "link.csv", tmp_path / "loop.csv", tmp_path / "dangling.csv"
    link.symlink_to(LOG)
    loop.symlink_to(loop)
    dangling.symlink_to(tmp_path / "nowhere")
    assert read_file(link).rows == read_file(LOG).rows
    for path in (loop, dangling):
        with pytest.raises(UsageError, match="cannot be read"):
            read_file(path)
        with pytest.raises(SessionError):
            SessionReader(path)


def test_a_pipe_is_read_as_a_file(pipe: Path) -> None:
    with _writing(pipe, LOG.read_bytes()):
        assert not is_session(pipe), "nothing is taken out of it to see what it is"
        assert read_file(pipe).rows == read_file(LOG).rows


def test_a_pipe_into_which_nobody_writes_is_given_up(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_file, "_PIPE_WAIT_S", 0.05)
    with pytest.raises(UsageError, match=r"nothing was written for 0\.05 s"):
        read_file(pipe)


def test_a_pipe_without_an_end_is_read_up_to_the_most(pipe: Path) -> None:
    writer = subprocess.Popen(["yes"], stdout=os.open(pipe, os.O_RDWR))
    try:
        with pytest.raises(UsageError, match="larger than 1 MiB"):
            read_bounded(pipe, 1024**2)
    finally:
        writer.kill()
        writer.wait()


def test_a_pipe_is_no_session(pipe: Path) -> None:
    with pytest.raises(SessionError, match="pipe or a device"):
        SessionReader(pipe)


def test_a_file_that_grows_gives_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(LOG.read_bytes())
    stop = threading.Event()

    def append() -> None:
        with path.open("ab") as file:
            while not stop.is_set():
                file.write(b"2024/11/23 12:23:29.950, 0, 5 %\n" * 1000)

    thread = threading.Thread(target=append)
    thread.start()
    try:
        assert len(read_bounded(path, 10**9)) >= LOG.stat().st_size
    finally:
        stop.set()
        thread.join()


def test_a_file_that_is_cut_or_deleted_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(LOG.read_bytes())
    real = os.fstat

    def cut_meanwhile(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        if path.exists():
            os.truncate(path, 700)
            path.unlink()
        return status

    monkeypatch.setattr(input_file.os, "fstat", cut_meanwhile)
    assert read_bounded(path, 10**6) == LOG.read_bytes()[:700]
    with pytest.raises(UsageError, match="cannot be read"):
        read_bounded(path, 10**6)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(10**13)  # takes no room on the disk
    assert "is larger than" in refusal(path, tmp_path, most_bytes=200_000_000)


class _writing:  # noqa: N801 - reads as a sentence
    """Something that writes into a pipe beside the test."""

    def __init__(self, pipe: Path, data: bytes) -> None:
        self._thread = threading.Thread(target=pipe.write_bytes, args=(data,))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._thread.join(5)
        assert not self._thread.is_alive()
