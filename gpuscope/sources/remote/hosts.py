"""Names of machines as people type them, and the ssh command for each."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuscope.errors import UsageError
from gpuscope.sources.remote.parcel import FAR_COMMAND

_NAME = re.compile(
    r"(?:ssh://)?(?:[A-Za-z0-9_][A-Za-z0-9._-]*@)?(?P<host>[A-Za-z0-9_][A-Za-z0-9._-]*|[0-9A-Fa-f:.]+)(?::\d{1,5})?"
)
"""A user's name may stand before the host, a port after it where the name begins with ssh://, as ssh(1) has it."""
MOST_CHARACTERS = 255
OPTIONS = {
    "BatchMode": "yes",  # never ask for a password: nobody may be there to answer
    "ConnectTimeout": "10",
    "ServerAliveInterval": "5",
    "ServerAliveCountMax": "3",
    "ClearAllForwardings": "yes",  # no port is opened, whatever the person's own configuration forwards
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "PermitLocalCommand": "no",
    "ControlMaster": "no",  # a connection that is there may be used; none is left behind
    "EscapeChar": "none",
    "RequestTTY": "no",
}


@dataclass(frozen=True, slots=True)
class RemoteHost:
    """A machine.

    Attributes:
        typed: as ssh is to be told.
        name: the machine alone, for people.
    """

    typed: str
    name: str

    def command(self) -> list[str]:
        """What starts the far side, its standard input and output being the pipe."""
        options = [part for name, value in OPTIONS.items() for part in ("-o", f"{name}={value}")]
        return ["ssh", *options, "--", self.typed, FAR_COMMAND]


def parse_hosts(typed: list[str]) -> list[RemoteHost]:
    """The machines that are meant, each once.

    Raises:
        UsageError: one is no name of a machine, or is there twice.
    """
    hosts = [_parse(text) for text in typed]
    for host in hosts:
        if sum(other.name == host.name for other in hosts) > 1:
            raise UsageError(f"--host {host.name} is there twice: give each machine once.")
    return hosts


def _parse(typed: str) -> RemoteHost:
    match = _NAME.fullmatch(typed)
    uri = typed.startswith("ssh://")
    port_alone = match is not None and not uri and re.search(r"[^:]:\d+$", typed) and typed.count(":") == 1
    if match is None or port_alone or len(typed) > MOST_CHARACTERS:
        raise UsageError(
            f"--host {typed!r} is no name of a machine: give it as for ssh, like user@server, an address, or "
            "ssh://user@server:2222 (names that begin with - are refused)."
        )
    return RemoteHost(typed, match["host"])
