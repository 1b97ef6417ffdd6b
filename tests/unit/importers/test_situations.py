"""Situations in which other tools went wrong, through the command line; each names the report it is from."""

from __future__ import annotations

import io
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from gpuscope.cli import main
from gpuscope.importers.recognise import read
from tests.unit.importers.pytorch_files import FOLDER as PYTORCH

IMPORTS = PYTORCH.parent
Captured = pytest.CaptureFixture[str]


def imported(file: Path, capsys: Captured) -> tuple[dict[str, Any], str]:
    """The footprint of a file, and what was said about it."""
    capsys.readouterr()
    assert main(["import", str(file), "-o", str(file.with_suffix(".gpuscope")), "--json"]) == 0
    told = capsys.readouterr()
    return json.loads(told.out), told.err


def written(text: str, folder: Path, name: str = "log.txt") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def kept(name: str, folder: Path) -> Path:
    """A copy of a test file where a session may be written beside it."""
    source = IMPORTS / name
    copy = folder / source.name
    copy.write_bytes(source.read_bytes())
    return copy


def estimated(arguments: str, capsys: Captured) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["estimate", *arguments.split(), "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_weights_of_70_billion_parameters(capsys: Captured) -> None:
    """github.com/huggingface/accelerate/issues/3379: a size that was halved twice."""
    weights = estimated("--params 70.6B --dtype fp16", capsys)["memory"]["breakdown"]["parameters_bytes"]
    assert weights == pytest.approx(141.2e9, rel=0.001)


def test_a_cache_of_8_bits_is_half_of_one_of_16(tmp_path: Path, capsys: Captured) -> None:
    """github.com/ollama/ollama/issues/10128: the cache's type was not counted."""
    model = "--params 7.6B --layers 28 --hidden 3584 --heads 28 --kv-heads 4 --dtype int4"
    document = estimated(f"{model} --prompt-tokens 262143 --output-tokens 1", capsys)
    file = written(json.dumps(document), tmp_path, "footprint.json")
    sizes = []
    for dtype in ("float16", "int8"):
        asked = f"--gpus rtx-4090 --prompt-tokens 262143 --output-tokens 1 --concurrent-users 1 --cache-dtype {dtype}"
        assert main(["advise", "--footprint", str(file), *asked.split(), "--json"]) == 0
        advice = json.loads(capsys.readouterr().out)
        sizes.append(advice["candidates"][0]["serving"]["cache_bytes_per_token"])
    assert sizes[0] == 2 * sizes[1] == 2 * 28 * 2 * 4 * 128


def test_layers_with_a_window_cost_the_same_however_long_the_prompt(capsys: Captured) -> None:
    """github.com/tmac1973/llama-toolchest/pull/58: 58 GB estimated, 24 used."""
    model = (
        "--layers 48 --hidden 3840 --heads 16 --kv-heads 8 --head-size 256 --vocabulary 262144 --feed-forward 15360 "
        "--window 1024 --full-layers 8 --dtype bf16 --output-tokens 1"
    )
    short, long = (
        estimated(f"{model} --prompt-tokens {tokens}", capsys)["memory"]["breakdown"]["kv_cache_bytes"]
        for tokens in (8_000, 128_000)
    )
    assert long - short == 8 * 120_000 * 2 * 8 * 256 * 2


def test_a_gpu_that_the_catalogue_does_not_know_is_said_to_be_unknown(tmp_path: Path, capsys: Captured) -> None:
    """github.com/skypilot-org/skypilot-catalog/issues/177: missing and not offered looked alike."""
    document = {"devices": [{"name": "NVIDIA RTX PRO 9999"}], "memory": {"peak_allocated_bytes": None}}
    file = written(json.dumps(document), tmp_path, "footprint.json")
    assert main(["advise", "--footprint", str(file), "--gpus", "rtx-pro-9999"]) != 0
    assert re.search(
        r"catalogue of 20\d\d-\d\d-\d\d has no GPU 'rtx-pro-9999', which may be newer", capsys.readouterr().err
    )


def test_a_price_is_that_of_the_whole_machine(tmp_path: Path, capsys: Captured) -> None:
    """github.com/skypilot-org/skypilot-catalog/issues/31: $0.94 for the host alone, $4.05 for host and GPU."""
    gib = 1024**3
    peak = {"low": gib, "mid": gib, "high": gib}
    file = written(json.dumps({"memory": {"peak_allocated_bytes": peak}}), tmp_path, "footprint.json")
    asked = "--gpus a100-sxm4-40gb --counts 1 --rent --provider gcp --json"
    assert main(["advise", "--footprint", str(file), *asked.split()]) == 0
    (candidate,) = json.loads(capsys.readouterr().out)["candidates"]
    assert 3 < candidate["cost_usd_per_hour"]["mid"] < 5


def test_counters_at_zero_on_a_busy_gpu_are_a_fault_of_measuring(tmp_path: Path, capsys: Captured) -> None:
    """github.com/NVIDIA/DCGM/issues/303: after an Xid 31."""
    heading = "#Entity   GPUTL  GRACT  SMACT  TENSO  DRAMA\nID\n"
    stuck = "GPU 0     100    0.000  0.000  0.000  0.000\n"
    _, said = imported(written(heading + stuck * 4, tmp_path), capsys)
    assert "fault of measuring" in said
    assert "nvidia-dcgm" in said
    at_work = "GPU 0     100    0.900  0.800  0.000  0.300\n"
    _, said = imported(written(heading + at_work * 4, tmp_path, "fine.txt"), capsys)
    assert "fault" not in said


@pytest.mark.parametrize("memory", ["[N/A], [N/A]", "[Not Supported], [Not Supported]", "0 MiB, 0 MiB"])
@pytest.mark.parametrize("name", ["NVIDIA GB10", "NVIDIA Something New"])
def test_memory_is_unified_by_what_was_returned(memory: str, name: str, tmp_path: Path, capsys: Captured) -> None:
    """github.com/XuehaiPan/nvitop/pull/208: machines of one kind answer differently."""
    heading = "index, name, memory.total [MiB], memory.used [MiB], utilization.gpu [%]\n"
    document, said = imported(written(heading + f"0, {name}, {memory}, 55 %\n" * 3, tmp_path, "log.csv"), capsys)
    assert "unified memory" in said
    assert document["devices"][0]["memory_bytes"] is None
    assert document["memory"]["peak_device_bytes"] is None


def test_memory_that_is_there_is_no_unified_memory(tmp_path: Path, capsys: Captured) -> None:
    _, said = imported(kept("nvidia_smi/two-gpu-interleaved.csv", tmp_path), capsys)
    assert "unified" not in said


def test_processes_that_do_not_add_up(tmp_path: Path, capsys: Captured) -> None:
    """github.com/wookayin/gpustat/issues/157: 21305 MiB used, 15184 listed."""
    _, said = imported(kept("monitors/gpustat-text-missing-process.txt", tmp_path), capsys)
    assert "6121 MiB" in said
    assert "unaccounted" in said


@pytest.mark.parametrize(
    ("element", "value"), [
        ("power_readings", "power_draw"), ("gpu_power_readings", "power_draw"),
        ("gpu_power_readings", "average_power_draw"), ("gpu_power_readings", "instant_power_draw"),
    ],
)  # fmt: skip
def test_power_under_the_names_of_each_driver(element: str, value: str, tmp_path: Path, capsys: Captured) -> None:
    """github.com/netdata/netdata/issues/15755: the driver moved it."""
    moments = "".join(
        f"<nvidia_smi_log><timestamp>Tue Oct 29 19:00:{second} 2024</timestamp><gpu id='00000000:01:00.0'>"
        f"<product_name>NVIDIA A10</product_name><utilization><gpu_util>50 %</gpu_util></utilization>"
        f"<{element}><{value}>120.00 W</{value}></{element}></gpu></nvidia_smi_log>\n"
        for second in (10, 11, 12)
    )
    reading = read(f'<?xml version="1.0" ?>\n{moments}'.encode(), "log.xml")
    (track,) = reading.tracks.values()
    names = [name for name in track.columns if name.startswith("power") and "limit" not in name]
    assert {track.known(name)[0] for name in names} == {120.0}


def test_utilisation_that_is_missing_under_mig_is_not_zero(tmp_path: Path, capsys: Captured) -> None:
    """github.com/Syllo/nvtop/issues/256, github.com/sgl-project/sglang/issues/2933 (no memory figure either)."""
    heading = "timestamp, name, index, mig.mode.current, utilization.gpu [%], memory.total [MiB], memory.used [MiB]\n"
    row = "2024/11/23 12:23:{:02}.950, NVIDIA H100 80GB HBM3, 0, Enabled, [N/A], [N/A], [N/A]\n"
    text = heading + "".join(row.format(second) for second in range(5))
    document, said = imported(written(text, tmp_path, "log.csv"), capsys)
    assert document["utilization"]["gpu"] is None
    assert document["memory"]["peak_device_bytes"] is None
    assert "DCGM_FI_PROF_GR_ENGINE_ACTIVE" in said
    assert "unified" not in said


def test_one_field_that_fails_leaves_the_others(tmp_path: Path, capsys: Captured) -> None:
    """github.com/wandb/wandb/issues/9123: one error lost the whole sample."""
    heading = "timestamp, name, index, utilization.gpu [%], memory.total [MiB], memory.used [MiB], power.draw [W]"
    text = f"{heading}, fan.speed [%]\n" + "".join(
        f"2024/11/23 12:23:{second:02}.950, Tesla V100-DGXS-32GB, 0, 50 %, 32768 MiB, 900 MiB, 50 W, [Unknown Error]\n"
        for second in range(5)
    )
    document, _ = imported(written(text, tmp_path, "log.csv"), capsys)
    assert document["utilization"]["gpu"]["mean"] == 50
    assert document["energy"]["mean_power_w"] == pytest.approx(50)


def test_an_annotation_does_not_double_time(tmp_path: Path, capsys: Captured) -> None:
    """github.com/pytorch/pytorch/issues/130730: 41.5 µs of a kernel under an annotation of 41.5 µs."""
    document, said = imported(kept("pytorch/kineto-annotation-not-kernel-time.json", tmp_path), capsys)
    assert sum(op["time_s"] for op in document["ops"]) < 50e-6
    assert "not counted as work" in said


def test_a_setting_that_is_not_in_force_is_said(tmp_path: Path, capsys: Captured) -> None:
    """github.com/pytorch/pytorch/issues/183387: the new name of the variable was ignored."""
    block = {"size": 2**20, "requested_size": 2**20, "state": "active_allocated"}
    segment = {"device": 0, "total_size": 2**21, "allocated_size": 2**20, "active_size": 2**20, "blocks": [block]}
    settings = {"PYTORCH_ALLOC_CONF": "expandable_segments:True", "expandable_segments": False}
    buffer = io.BytesIO()
    pickle.dump({"segments": [segment], "device_traces": [[]], "allocator_settings": settings}, buffer)
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(buffer.getvalue())
    _, said = imported(file, capsys)
    assert "not in force" in said


def _instances(profiles: tuple[str, ...]) -> str:
    labels = 'gpu="0",UUID="GPU-1",modelName="NVIDIA A100-SXM4-40GB",GPU_I_ID="{0}",GPU_I_PROFILE="{1}"'
    rows = [f"DCGM_FI_PROF_SM_ACTIVE{{{labels.format(place, each)}}} 0.33" for place, each in enumerate(profiles)]
    return "\n".join(rows) + "\n"


def test_activity_of_instances_of_several_sizes_is_doubted(tmp_path: Path, capsys: Captured) -> None:
    """github.com/NVIDIA/DCGM/issues/248: a busy instance of 3g never passed a third beside one of 1g."""
    _, told = imported(written(_instances(("1g.5gb", "3g.20gb")), tmp_path), capsys)
    assert "several sizes (1g.5gb, 3g.20gb)" in told
    assert "does not mean that one is not used" in told
    _, told = imported(written(_instances(("3g.20gb", "3g.20gb")), tmp_path, "equal.txt"), capsys)
    assert "several sizes" not in told
