"""Names of machines, and the clock of one."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.errors import UsageError
from gpuscope.sources.remote.clock import ClockOffset
from gpuscope.sources.remote.hosts import parse_hosts
from gpuscope.sources.remote.parcel import FAR_COMMAND, START


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("node7", "node7"),
        ("user@server", "server"),
        ("first.last@gpu-1.example.org", "gpu-1.example.org"),
        ("ssh://user@server:2222", "server"),
        ("root@10.0.0.7", "10.0.0.7"),
        ("fe80::1", "fe80::1"),
    ],
)
def test_names(typed: str, name: str) -> None:
    host = parse_hosts([typed])[0]
    assert host.name == name
    assert host.command()[-3:-1] == ["--", typed]


@pytest.mark.parametrize(
    "typed",
    [
        "-oProxyCommand=touch /tmp/x", "--", "-l", "user@-oProxyCommand=x", "-x@server", "a b", "a;b", "a`b`", "$(x)",
        "", "@server", "user@", "server\n", "a" * 300, "server:2222", "ssh://-oProxyCommand=x", "a/b", "a'b", "ü",
    ],
)  # fmt: skip
def test_what_is_no_name_is_refused(typed: str) -> None:
    with pytest.raises(UsageError, match="is no name of a machine"):
        parse_hosts([typed])


@given(st.text(min_size=1, max_size=20))
def test_no_accepted_name_is_an_option_or_means_something_to_a_shell(typed: str) -> None:
    try:
        host = parse_hosts([typed])[0]
    except UsageError:
        return
    assert not host.typed.startswith("-")
    assert not host.name.startswith("-")
    assert shlex.quote(host.name).strip("'") == host.name


def test_a_machine_is_given_once() -> None:
    with pytest.raises(UsageError, match="twice"):
        parse_hosts(["a@node", "b@node"])


def test_ssh_asks_for_nothing_and_forwards_nothing() -> None:
    command = " ".join(parse_hosts(["node"])[0].command())
    for option in ("BatchMode=yes", "ClearAllForwardings=yes", "ForwardAgent=no", "PermitLocalCommand=no"):
        assert f"-o {option}" in command


def test_any_shell_reads_the_far_command_alike() -> None:
    assert shlex.split(FAR_COMMAND) == ["exec", "python3", "-I", "-S", "-c", START]
    assert not set(START) & set("'\\!\n")


@given(
    st.floats(-1e6, 1e6),
    st.lists(st.tuples(st.floats(0, 2), st.floats(0, 2)), min_size=1, max_size=12),
)
def test_the_offset_is_right_within_what_is_said(offset_s: float, ways: list[tuple[float, float]]) -> None:
    clock = ClockOffset()
    for number, (there_s, back_s) in enumerate(ways):
        sent_s = 1000.0 + 5 * number
        clock.add(
            sent_s=sent_s,
            far_s=sent_s + there_s - offset_s,
            received_s=sent_s + there_s + back_s,
            far_wall_s=2e9 + sent_s + there_s + 7,
            wall_s=2e9 + sent_s + there_s + back_s,
        )
    assert abs(clock.offset_s - offset_s) <= clock.uncertainty_s + 1e-6
    assert clock.uncertainty_s == pytest.approx(min(sum(way) for way in ways) / 2, abs=1e-9)
    assert abs(clock.wall_ahead_s - 7) <= clock.uncertainty_s + 1e-5
