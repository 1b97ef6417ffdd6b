"""A real sshd with keys and configuration of its own, and the ssh command that reaches nothing else."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
UNPACKED = ROOT / "build" / "sshd" / "usr"
PRIVILEGE_SEPARATION = Path("/run/sshd")
"""Where an sshd that runs as root locks its network side in: fixed when Debian builds it."""
PATIENCE_S = 20.0

SERVER = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host_key
PidFile {folder}/sshd.pid
AuthorizedKeysFile {folder}/authorized_keys
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PrintMotd no
PrintLastLog no
SetEnv {environment}
"""
CLIENT = """
Host *
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/{identity}
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile {folder}/{known}
  GlobalKnownHostsFile none
  HostKeyAlias test
"""


def _found(pattern: str) -> str | None:
    return next((str(path) for path in sorted(UNPACKED.glob(pattern))), None)


SSHD, WRAPPER = _found("sbin/sshd"), _found("lib/*/libnss_wrapper.so")
MISSING = None in {SSHD, WRAPPER, shutil.which("ssh"), shutil.which("ssh-keygen")}


@dataclass
class SshServer:
    """A running server."""

    folder: Path
    home: Path
    port: int
    process: subprocess.Popen[bytes]

    def client_folder(self, *, identity: str = "user_key", known: str = "known_hosts") -> Path:
        """A folder for PATH whose `ssh` uses this server's configuration alone."""
        folder = self.folder / f"bin-{identity}-{known}"
        folder.mkdir(exist_ok=True)
        configuration = folder / "config"
        configuration.write_text(
            CLIENT.format(port=self.port, user=getpass.getuser(), folder=self.folder, identity=identity, known=known),
            encoding="utf-8",
        )
        script = folder / "ssh"
        script.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {configuration} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        return folder

    def far_sides(self) -> list[psutil.Process]:
        """The Pythons that run behind this server."""
        return [child for child in psutil.Process(self.process.pid).children(recursive=True) if "-I" in _words(child)]

    def cut(self) -> None:
        """End all connections at once, as a network does that goes away."""
        for child in psutil.Process(self.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@contextlib.contextmanager
def ssh_server(folder: Path, variables: dict[str, str]) -> Iterator[SshServer]:
    """A server on a free port whose only user is the present one, with a home of its own.

    Args:
        folder: for all its files; nothing else is written but, for root, its empty folder in /run.
        variables: of the environment of whatever is started by login.
    """
    home, user = folder / "home", getpass.getuser()
    home.mkdir()
    for name in ("host_key", "user_key", "stranger_key"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True, capture_output=True
        )
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    (folder / "known_hosts").write_text(f"test {(folder / 'host_key.pub').read_text()}", encoding="utf-8")
    (folder / "changed_hosts").write_text(f"test {(folder / 'user_key.pub').read_text()}", encoding="utf-8")
    (folder / "passwd").write_text(
        f"{user}:x:{os.getuid()}:{os.getgid()}::{home}:/bin/sh\nsshd:x:64999:64999::/nonexistent:/usr/sbin/nologin\n",
        encoding="utf-8",
    )
    (folder / "group").write_text(f"{user}:x:{os.getgid()}:\nsshd:x:64999:\n", encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    environment = " ".join(f'"{name}={value}"' for name, value in {"PATH": path, **variables}.items())
    (folder / "sshd_config").write_text(
        SERVER.format(port=port, folder=folder, environment=environment), encoding="utf-8"
    )
    with _privilege_separation(), (folder / "sshd.log").open("wb") as log:
        process = subprocess.Popen(
            [str(SSHD), "-D", "-e", "-f", str(folder / "sshd_config")],
            stdout=log,
            stderr=log,
            env={
                **os.environ,
                "LD_LIBRARY_PATH": str(Path(str(WRAPPER)).parent),
                "LD_PRELOAD": str(WRAPPER),
                "NSS_WRAPPER_PASSWD": str(folder / "passwd"),
                "NSS_WRAPPER_GROUP": str(folder / "group"),
            },
        )
        server = SshServer(folder, home, port, process)
        try:
            _wait_for(port)
            yield server
        finally:
            server.cut()
            process.kill()
            process.wait()


@contextlib.contextmanager
def _privilege_separation() -> Iterator[None]:
    made = os.getuid() == 0 and not PRIVILEGE_SEPARATION.exists()
    if made:
        PRIVILEGE_SEPARATION.mkdir(mode=0o755)
    try:
        yield
    finally:
        if made:
            PRIVILEGE_SEPARATION.rmdir()


def _wait_for(port: int) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.05)
        else:
            return
