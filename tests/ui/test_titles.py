"""Names of sessions where there is little room, and of the devices they hold."""

from __future__ import annotations

import pytest

from gpuscope.domain.device import Device
from gpuscope.ui.figures import device_labels
from gpuscope.ui.titles import short_title


@pytest.mark.parametrize(
    ("display", "expected"),
    [
        ("train.py --epochs 3", "train.py --epochs 3"),
        ("resources/workloads/train_gpt.py --data a/b", "train_gpt.py --data a/b"),
        ("/opt/job/run.sh", "run.sh"),
        ("'my job/train.py' --lr 1", "'my job/train.py' --lr 1"),
        ("-m package.train a/b", "-m package.train a/b"),
        ("scripts/", "scripts/"),
        ("", ""),
    ],
)
def test_the_scripts_folder_is_left_out(display: str, expected: str) -> None:
    assert short_title(display) == expected


def test_instances_of_one_gpu_are_told_apart() -> None:
    gpus = [Device(uuid="a", index=0, name="H100"), Device(uuid="d", index=1, name="H100")]
    instances = [Device(uuid=uuid, index=0, name="H100 MIG 1g.10gb", kind="mig", parent_uuid="a") for uuid in "bc"]
    labels = device_labels([gpus[0], *instances, gpus[1]])
    assert labels == {"a": "GPU 0", "b": "MIG 0.0", "c": "MIG 0.1", "d": "GPU 1"}
