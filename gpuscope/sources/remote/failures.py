"""What ssh or the far shell says when a connection fails, as a sentence that says what to do."""

from __future__ import annotations

from gpuscope.sources.remote.hosts import RemoteHost

_ADVICE = (
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "{typed} has another host key than before: if its administrator confirms it, run `ssh-keygen -R {name}`.",
    ),
    (
        "Host key verification failed",
        "The host key of {typed} is not known here: run `ssh {typed}` once, compare its fingerprint and accept it.",
    ),
    (
        "Permission denied",
        "{typed} takes no key of yours, and no password is asked for: set up a key with `ssh-copy-id {typed}`.",
    ),
    ("Could not resolve hostname", "There is no machine {name}: check the name."),
    ("Connection refused", "{name} takes no ssh connections: check that sshd runs there, and the port."),
    ("timed out", "{name} does not answer: check that it is up and can be reached from here."),
    ("No route to host", "{name} cannot be reached from here: check the network."),
    ("python3: not found", "{name} has no python3: gpuscope needs one there, from 3.9 on, and nothing else."),
    ("python3: command not found", "{name} has no python3: gpuscope needs one there, from 3.9 on, and nothing else."),
    ("needs Python 3.9", "The python3 of {name} is too old: gpuscope needs 3.9 or later there, and nothing else."),
)
"""What OpenSSH (which does not translate its messages), shells and the far side say; the first that fits counts."""
MOST_CHARACTERS = 300


def sentence_of(host: RemoteHost, errors: str, status: int | None) -> str:
    """Why the connection ended.

    Args:
        host: the machine.
        errors: the end of what came through standard error.
        status: with which ssh ended; None: it has not.
    """
    for sign, advice in _ADVICE:
        if sign in errors:
            return advice.format(typed=host.typed, name=host.name)
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    said = "".join(letter for letter in lines[-1] if letter.isprintable())[:MOST_CHARACTERS] if lines else ""
    ended = "it ended" if status is None else f"ssh ended with status {status}"
    return f"The connection to {host.name} ended: {said or ended}."
