"""What there is of NVIDIA's driver on this machine, for `gpuscope doctor`: asked in a child, since drivers can hang."""

from __future__ import annotations

import subprocess
import sys

import msgspec

from gpuscope import paths
from gpuscope.domain.base import Value, from_json, to_json
from gpuscope.domain.device import Device
from gpuscope.domain.sample import SourceState
from gpuscope.domain.topology import Topology
from gpuscope.errors import SourceError
from gpuscope.sources.binding import library_path, load_binding
from gpuscope.sources.driver import SOURCE, Driver, binding_state, wedged_state
from gpuscope.sources.figures import Tier
from gpuscope.sources.nvml import NvmlSource

TIMEOUT_S = 15.0
"""Initialising eight GPUs without persistence mode takes several seconds."""


class NvmlReport(Value, frozen=True, kw_only=True):
    """The driver as it shows itself now."""

    state: SourceState
    """Whether GPUs can be read, and what to do if not."""
    driver_version: str | None = None
    library_path: str | None = None
    """File of the NVML library; None where it was not loaded or the system does not tell."""
    binding_package: str | None = None
    binding_version: str | None = None
    devices: tuple[Device, ...] = ()
    topology: Topology | None = None
    """How they are connected; None without GPUs."""


def nvml_report(timeout_s: float = TIMEOUT_S) -> NvmlReport:
    """Ask the driver, in a child process that is killed when it takes longer than `timeout_s`; never raises."""
    command = [*paths.app_command(), "_sampler", "--report"]
    try:
        done = subprocess.run(
            command, env=paths.app_environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s
        )
        return from_json(done.stdout, NvmlReport)
    except subprocess.TimeoutExpired:
        return NvmlReport(state=wedged_state(timeout_s, 0))
    except (OSError, msgspec.DecodeError) as error:
        sentence = f"The driver cannot be asked, because gpuscope cannot start itself again: {error}."
        return NvmlReport(state=SourceState(source=SOURCE, ok=False, code="error", sentence=sentence))


def print_report() -> int:
    """The child's side: the report as JSON on standard output."""
    sys.stdout.write(to_json(_read_report()).decode())
    return 0


def _read_report() -> NvmlReport:
    try:
        binding = load_binding()
    except SourceError as error:
        return NvmlReport(state=binding_state(error))
    source = NvmlSource(Driver(binding))
    frame = source.read(Tier.MEDIUM)
    report = NvmlReport(
        state=source.state,
        driver_version=next((device.driver_version for device in source.devices), None),
        library_path=library_path(),
        binding_package=binding.package,
        binding_version=binding.version,
        devices=source.devices,
        topology=frame.topology if frame is not None else None,
    )
    source.close()
    return report
