"""The ledger of predictions: what is the same job, what is compared, and what survives damage."""

from __future__ import annotations

import json
import stat
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpuscope.domain.base import Range
from gpuscope.domain.device import Host
from gpuscope.domain.footprint import (
    Batch,
    Footprint,
    FootprintDevice,
    FootprintSource,
    Precision,
    RankFootprint,
    Steps,
    StepTime,
    Workload,
)
from gpuscope.domain.recommendation import Candidate, Constraints, Layout, Recommendation, Verdict
from gpuscope.domain.run import Manifest, RunSpec
from gpuscope.engine import prediction_ledger
from gpuscope.engine.prediction_ledger import ledger_path, read_ledger
from gpuscope.engine.predictions import compare, identity_of, remember, sentence_of, why_not_compared

NOW = time.time()
LATER = NOW + 86_400
"""After what any test remembers, however long after this file was read it runs."""


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own."""
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def spec(*argv: str, target: str = "script") -> RunSpec:
    return RunSpec(argv=argv, cwd="/somewhere", target=target, display=" ".join(argv[1:]))


TRAIN = spec("/usr/bin/python3", "examples/train.py", "--epochs", "3")


def manifest(session: str, created_s: float = NOW, run: RunSpec | None = TRAIN) -> Manifest:
    return Manifest(
        session_id=session,
        kind="run",
        created_wall_s=created_s,
        created_monotonic_s=0.0,
        gpuscope_version="0",
        host=Host(hostname="box", os="Linux"),
        interval_s=0.1,
        run=run,
    )


def footprint(
    step_s: float | None, gpu: str | None = None, count: int = 1, precision: str | None = "bfloat16", **changes: Any
) -> Footprint:
    workload = {"parameters": 1000, "precision": Precision(compute=precision), "batch": Batch(per_device=8.0)} | changes
    return Footprint(
        source=FootprintSource(kind="measured"),
        workload=Workload(**workload),
        devices=(FootprintDevice(gpu=gpu),) * count if gpu else (),
        steps=Steps(time_s=StepTime(mid=step_s)),
    )


def advice(*gpus: str, count: int = 1, confidence: str = "specification", **constraints: Any) -> Recommendation:
    candidates = tuple(
        Candidate(
            gpu=gpu,
            count=count,
            acquisition=acquisition,
            precision="bfloat16",
            step_time_s=Range(low=0.12, mid=0.13, high=0.15),
            confidence=confidence,
        )
        for gpu in gpus
        for acquisition in ("rent", "buy")
    )
    return Recommendation(
        verdict=Verdict.RENT, sentence="", constraints=Constraints(**constraints), candidates=candidates
    )


def test_a_later_run_on_a_recommended_gpu_is_compared() -> None:
    remember(manifest("first"), footprint(2.0), advice("rtx-4090", "l4"))
    found = compare(manifest("second", LATER), footprint(0.13, "rtx-4090"))
    assert found is not None
    assert found.inside
    assert (
        sentence_of(found)
        == "train.py on 1 × rtx-4090 in bfloat16: predicted 120–150 ms a step, measured 130 ms: inside."
    )
    assert read_ledger().comparisons == (found,)


@pytest.mark.parametrize(("measured_s", "word"), [(0.10, "faster"), (0.2, "slower")])
def test_a_run_outside_the_range_says_which_way(measured_s: float, word: str) -> None:
    remember(manifest("first"), footprint(2.0), advice("rtx-4090"))
    found = compare(manifest("second", LATER), footprint(measured_s, "rtx-4090"))
    assert found is not None
    assert sentence_of(found).endswith(f": {word}.")


def test_each_configuration_is_kept_once_and_never_the_run_itself() -> None:
    remember(manifest("first"), footprint(2.0), advice("rtx-4090"))
    remember(manifest("second"), footprint(2.0), advice("rtx-3090", confidence="measured"))
    (prediction,) = read_ledger().predictions
    assert [step.gpu for step in prediction.steps] == ["rtx-4090"]


def test_what_holds_only_after_mending_the_job_is_no_promise() -> None:
    mended = msgspec.structs.replace(advice("rtx-4090"), verdict=Verdict.FIX_FIRST)
    remember(manifest("first"), footprint(2.0), mended)
    assert not read_ledger().predictions


def test_advice_that_is_asked_for_twice_is_kept_once() -> None:
    for _ in range(3):
        remember(manifest("first"), footprint(2.0), advice("rtx-4090"))
    assert len(read_ledger().predictions) == 1


def test_of_further_advice_on_a_session_only_what_is_new_is_kept() -> None:
    remember(manifest("first"), footprint(2.0), advice("rtx-4090", "l4"))
    remember(manifest("first"), footprint(2.0), advice("l4", gpus=("l4",)))
    remember(manifest("first"), footprint(2.0), advice("l4", "t4"))
    assert [[step.gpu for step in each.steps] for each in read_ledger().predictions] == [["rtx-4090", "l4"], ["t4"]]
    assert compare(manifest("second", LATER), footprint(0.13, "rtx-4090")) is not None


def test_a_run_that_is_looked_at_twice_is_compared_once() -> None:
    remember(manifest("first"), footprint(2.0), advice("rtx-4090"))
    for _ in range(3):
        compare(manifest("second", LATER), footprint(0.13, "rtx-4090"))
    assert len(read_ledger().comparisons) == 1
    assert ledger_path().read_bytes().count(b'"comparison"') == 1


@pytest.mark.parametrize(
    ("later", "seen"),
    [
        (manifest("first", LATER), footprint(0.13, "rtx-4090")),
        (manifest("second", NOW - 60), footprint(0.13, "rtx-4090")),
        (manifest("second", LATER), footprint(0.13, "rtx-3090")),
        (manifest("second", LATER), footprint(0.13, "rtx-4090", count=2)),
        (manifest("second", LATER), footprint(0.13, "rtx-4090", precision="float32")),
        (manifest("second", LATER), footprint(0.13, "rtx-4090", precision=None)),
        (manifest("second", LATER), footprint(0.13, "rtx-4090", parameters=2000)),
        (manifest("second", LATER), footprint(0.13, "rtx-4090", batch=Batch(per_device=16.0))),
        (manifest("second", LATER), footprint(None, "rtx-4090")),
        (manifest("second", LATER), footprint(0.13)),
        (manifest("second", LATER, None), footprint(0.13, "rtx-4090")),
        (manifest("second", LATER, spec("python", "other.py", "--epochs", "3")), footprint(0.13, "rtx-4090")),
        (manifest("second", LATER, spec("python", "train.py", "--epochs", "4")), footprint(0.13, "rtx-4090")),
    ],
    ids=[
        "the same session", "before the advice", "another GPU", "more GPUs", "another precision", "unknown precision",
        "another size", "another batch", "no step time", "no GPU", "no command line", "another script",
        "other arguments",
    ],
)  # fmt: skip
def test_what_is_not_comparable_is_not_compared(later: Manifest, seen: Footprint) -> None:
    remember(manifest("first"), footprint(2.0), advice("rtx-4090"))
    assert compare(later, seen) is None
    assert read_ledger().comparisons == ()


def test_with_a_global_batch_only_the_same_count_is_kept() -> None:
    remember(manifest("first"), footprint(2.0, "l4", 2), advice("rtx-4090", count=4, keep_global_batch=True))
    assert read_ledger().predictions == ()
    remember(manifest("first"), footprint(2.0, "l4", 2), advice("rtx-4090", count=2, keep_global_batch=True))
    assert len(read_ledger().predictions) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (spec("/a/python", "/home/me/train.py", "--lr", "1"), spec("/b/python3", "train.py", "--lr", "1")),
        (spec("python", "train.py", "--data", "/data/a"), spec("python", "train.py", "--data", "~/b")),
        (spec("python", "train.py", "--data=/data/a"), spec("python", "train.py", "--data=./b")),
        (spec("python", "train.py", "C:\\data"), spec("python", "train.py", "../data")),
        (
            spec("/a/python", "-m", "jobs.train", target="module"),
            spec("/b/python", "-m", "jobs.train", target="module"),
        ),
        (spec("/a/sweep", "small", target="command"), spec("/b/sweep", "small", target="command")),
        (spec("python", "train.py", "--lr", "1"), spec("python", "train.py", "--lr", "1", target="command")),
        (
            spec("python", "jobs/train.py", "--lr", "1"),
            spec("/b/torchrun", "--nproc-per-node", "8", "jobs/train.py", "--lr", "1", target="command"),
        ),
        (
            spec("python", "train.py"),
            spec("python", "-m", "torch.distributed.run", "--nproc-per-node=2", "train.py", target="module"),
        ),
    ],
)
def test_places_do_not_make_another_job(one: RunSpec, other: RunSpec) -> None:
    assert identity_of(one, footprint(1.0)) == identity_of(other, footprint(1.0))


def test_a_model_name_with_a_slash_is_no_path() -> None:
    one = identity_of(spec("python", "train.py", "--model", "google/small"), footprint(1.0))
    assert one != identity_of(spec("python", "train.py", "--model", "google/large"), footprint(1.0))


def test_the_ledger_holds_neither_arguments_nor_paths_and_is_private() -> None:
    run = spec("/home/me/venv/bin/python", "/home/me/secret-project/train.py", "--note", "hush", "--data", "/srv/data")
    remember(manifest("first", run=run), footprint(2.0), advice("rtx-4090"))
    compare(manifest("second", LATER, run), footprint(0.13, "rtx-4090"))
    text = ledger_path().read_text()
    assert "train.py" in text
    assert not [word for word in ("/home", "secret-project", "hush", "/srv", "--note", "venv") if word in text]
    assert stat.S_IMODE(ledger_path().stat().st_mode) == 0o600


@pytest.mark.parametrize("junk", [b"{", b"\xff\xfe\x00", b'{"kind":"prediction"}', b"[1, 2]", b'{"kind":"other"}'])
def test_damaged_lines_are_skipped_and_counted(junk: bytes) -> None:
    remember(manifest("first"), footprint(2.0), advice("rtx-4090"))
    with ledger_path().open("ab") as file:
        file.write(junk)  # cut short: without the end of the line
    remember(manifest("third"), footprint(2.0), advice("l4"))
    ledger = read_ledger()
    assert (len(ledger.predictions), ledger.damaged_lines) == (2, 1)
    assert compare(manifest("second", LATER), footprint(0.13, "l4")) is not None


def test_the_ledger_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction_ledger, "MOST_BYTES", 20_000)
    for number in range(200):
        remember(manifest(f"session {number}"), footprint(2.0), advice("rtx-4090"))
    assert ledger_path().stat().st_size < 40_000
    assert read_ledger().predictions[-1].session == "session 199"
    assert [path.name for path in ledger_path().parent.iterdir()] == ["predictions.jsonl"]


def test_without_a_state_folder_nothing_is_kept_and_nothing_fails(state: Path) -> None:
    state.write_text("a file where the folder should be")
    remember(manifest("first"), footprint(2.0), advice("rtx-4090"))
    assert compare(manifest("second"), footprint(0.13, "rtx-4090")) is None
    assert read_ledger().unreadable


def test_entries_come_back_as_they_were_written() -> None:
    remember(manifest("first"), footprint(2.0), advice("rtx-4090", "l4"))
    (prediction,) = read_ledger().predictions
    assert prediction.job == identity_of(TRAIN, footprint(2.0))
    assert msgspec.to_builtins(prediction)["kind"] == "prediction"


def together(count: int, step_s: float = 0.14, steps: tuple[int, ...] = (), **batch: Any) -> Footprint:
    """A run of one rank on each of some RTX 4090."""
    counts = steps or (100,) * count
    known = {"per_device": 8.0, "global_": 8.0 * count} | batch
    seen = footprint(step_s, "rtx-4090", count, batch=Batch(**known))
    ranks = tuple(RankFootprint(rank=rank, steps=Steps(count=made)) for rank, made in enumerate(counts))
    return msgspec.structs.replace(seen, ranks=ranks)


def spread(*layouts: tuple[int, Layout, str], step_s: float = 0.14) -> Recommendation:
    """Advice of four RTX 4090: machines, layout and links of each candidate."""
    candidates = tuple(
        Candidate(
            gpu="rtx-4090",
            count=4,
            nodes=nodes,
            layout=layout,
            interconnect=links,
            acquisition="rent",
            precision="bfloat16",
            step_time_s=Range(low=0.9 * each, mid=each, high=1.1 * each),
        )
        for number, (nodes, layout, links) in enumerate(layouts)
        for each in (step_s * (1 + number / 10),)
    )
    return Recommendation(verdict=Verdict.RENT, sentence="", constraints=Constraints(), candidates=candidates)


REPLICAS = Layout(data_parallel=4)
SHARDED = Layout(data_parallel=4, zero_stage=3)
SPLIT = Layout(data_parallel=2, tensor_parallel=2)


@pytest.mark.parametrize(("layout", "words"), [(REPLICAS, "data parallel"), (SHARDED, "data parallel, sharded")])
def test_a_run_on_several_gpus_of_one_machine_is_compared(layout: Layout, words: str) -> None:
    remember(manifest("first"), footprint(2.0), spread((2, layout, ""), (1, layout, "PCIe")))
    seen = together(4)
    found = compare(manifest("second", LATER), seen)
    assert found is not None
    assert (found.predicted.count, found.predicted.nodes) == (4, 1)
    assert found.predicted.step_time_s.mid == pytest.approx(0.154), "that of one machine, not of two"
    assert sentence_of(found) == (
        f"train.py on 4 × rtx-4090 in bfloat16: predicted as {words} 139–169 ms a step, measured 140 ms: inside."
    )
    assert why_not_compared(manifest("second", LATER), seen) == ""


@pytest.mark.parametrize(
    ("advised", "seen", "reason"),
    [
        (spread((1, REPLICAS, "")), footprint(0.14, "rtx-4090", 4), "how its GPUs shared the work was not seen"),
        (spread((1, REPLICAS, "")), together(4, global_=None), "the batch of all GPUs together was not seen"),
        (spread((1, REPLICAS, "")), together(4, global_=64.0), "that of 8 GPUs, of which 4 were in this machine"),
        (spread((1, REPLICAS, "")), together(4, steps=(100, 100, 40, 100)), "did not train together"),
        (spread((2, REPLICAS, "")), together(4), "several machines, or a model split"),
        (spread((1, SPLIT, "")), together(4), "several machines, or a model split"),
        (spread((1, REPLICAS, "PCIe"), (1, REPLICAS, "NVLink")), together(4), "several kinds of links"),
    ],
    ids=["one process", "no batch", "more machines", "separate runs", "two machines", "tensor parallel", "two links"],
)  # fmt: skip
def test_several_gpus_that_cannot_be_compared_say_why(advised: Recommendation, seen: Footprint, reason: str) -> None:
    remember(manifest("first"), footprint(2.0), advised)
    later = manifest("second", LATER)
    assert compare(later, seen) is None
    assert read_ledger().comparisons == ()
    sentence = why_not_compared(later, seen)
    assert sentence.startswith("train.py on 4 × rtx-4090 in bfloat16 had been predicted, but this run cannot")
    assert reason in sentence


def test_links_that_make_no_difference_are_none() -> None:
    remember(manifest("first"), footprint(2.0), spread((1, REPLICAS, "PCIe"), step_s=0.14))
    remember(manifest("third"), footprint(2.0), spread((1, REPLICAS, "NVLink"), step_s=0.14))
    assert compare(manifest("second", LATER), together(4)) is not None


def test_lines_of_older_ledgers_count_for_single_gpus() -> None:
    remember(manifest("first"), footprint(2.0), advice("rtx-4090"))
    remember(manifest("first"), footprint(2.0), spread((1, REPLICAS, "")))
    lines = [json.loads(line) for line in ledger_path().read_bytes().split(b"\n") if line]
    for line in lines:
        for step in line["steps"]:
            for name in ("nodes", "data_parallel", "zero_stage", "interconnect"):
                step.pop(name, None)
    ledger_path().write_text("\n".join(json.dumps(line) for line in lines))
    assert compare(manifest("second", LATER), footprint(0.13, "rtx-4090")) is not None
    assert compare(manifest("second", LATER), together(4)) is None
    assert "an older gpuscope" in why_not_compared(manifest("second", LATER), together(4))


def test_batches_that_are_accumulated_make_another_step() -> None:
    remember(manifest("first"), footprint(2.0), advice("rtx-4090"))
    once = footprint(0.13, "rtx-4090", batch=Batch(per_device=8.0, gradient_accumulation=1))
    four = footprint(0.13, "rtx-4090", batch=Batch(per_device=8.0, gradient_accumulation=4))
    assert compare(manifest("second", LATER), four) is None
    assert compare(manifest("second", LATER), once) is not None


def test_nothing_predicted_needs_no_reason() -> None:
    assert why_not_compared(manifest("second", LATER), together(4)) == ""
