"""What `doctor` says of the GPUs."""

from __future__ import annotations

from gpuscope.domain.device import Device
from gpuscope.domain.sample import SourceState
from gpuscope.engine.doctor import check_nvidia
from gpuscope.sources.diagnose import NvmlReport
from gpuscope.sources.driver import asleep_state


def test_gpus_that_sleep_are_not_missing() -> None:
    check = check_nvidia(NvmlReport(state=asleep_state(0), binding_package="nvidia-ml-py", binding_version="13"))
    assert check.ok is None
    assert check.detail == "The GPUs sleep (binding nvidia-ml-py 13)."
    assert "not woken" in check.remedy


def test_gpus_that_are_there() -> None:
    report = NvmlReport(
        state=SourceState(source="nvml", ok=True),
        driver_version="580.65",
        devices=(Device(uuid="a", index=0, name="NVIDIA H100"),),
    )
    check = check_nvidia(report)
    assert check.ok
    assert check.detail == "Driver 580.65, binding unknown, 1 GPUs: NVIDIA H100."
