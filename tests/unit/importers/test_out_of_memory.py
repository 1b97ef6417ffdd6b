"""Out-of-memory messages as people posted them: every figure, what is not a figure, and the verdict."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpuscope.domain.out_of_memory import OutOfMemoryMessage, OutOfMemoryVerdict
from gpuscope.engine.explain_oom import explain
from gpuscope.importers.out_of_memory.find import find_messages
from gpuscope.importers.out_of_memory.verdict import verdict_of

FOLDER = Path(__file__).parents[2] / "data" / "out_of_memory"
CASES: dict[str, dict[str, Any]] = {
    name: case
    for file in ("messages.json", "posted.json")
    for name, case in json.loads((FOLDER / file).read_text(encoding="utf-8")).items()
}
"""`source`: where it was posted. `messages`: what it says, by field; sizes are value × 1024^n. Paths and names of
people in them are neutral, and long traces are left out."""

PYTORCH_2_4 = (
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried}. GPU 3 has a total capacity of "
    "23.69 GiB of which {free} is free. Including non-PyTorch memory, this process has {own} memory in use. Of the "
    "allocated memory {allocated} is allocated by PyTorch, and {pieces} is reserved by PyTorch but unallocated."
)


def one(text: str) -> OutOfMemoryMessage:
    (message,) = find_messages(text)
    return message


@pytest.mark.parametrize("name", CASES)
def test_every_figure_that_is_in_the_text(name: str) -> None:
    found = find_messages(CASES[name]["text"])
    assert len(found) == len(CASES[name]["messages"])
    for message, expected in zip(found, CASES[name]["messages"], strict=True):
        document = msgspec.to_builtins(message)
        for field, value in expected.items():
            if isinstance(value, int) and field.endswith("_bytes"):
                assert document[field] == pytest.approx(value, rel=0.005), field
            elif field == "parts":
                assert document[field] == pytest.approx(value, rel=0.005)
            elif field == "processes":
                assert [process["pid"] for process in document[field]] == [process["pid"] for process in value]
                for process, wanted in zip(document[field], value, strict=True):
                    assert process["memory_bytes"] == pytest.approx(wanted["memory_bytes"], rel=0.005)
            else:
                assert document[field] == (tuple(value) if isinstance(value, list) else value), field


@pytest.mark.parametrize("name", CASES)
def test_the_cause(name: str) -> None:
    found = [verdict_of(message) for message in find_messages(CASES[name]["text"])]
    assert [verdict.code for verdict in found] == CASES[name]["verdicts"]
    assert all(verdict.sentence.endswith(".") and verdict.remedies for verdict in found)


def test_a_number_that_stands_for_not_available_is_said_to_be_one() -> None:
    message = one(CASES["2.8-allowed-wsl-nonsense-number"]["text"])
    assert message.this_process_bytes is None
    assert "this_process_bytes" in message.unavailable


def test_the_same_message_again_is_counted_and_another_is_kept() -> None:
    first, second = CASES["1.8-reserved-fragmented"]["text"], CASES["2.1-capacty-this-process"]["text"]
    found = find_messages(f"start\n{first}\nretry\n{first}\nagain\n{second}\n{first}")
    assert [(message.count, message.line) for message in found] == [(3, 2), (1, 8)]


def test_a_message_inside_a_log_keeps_to_its_own_figures() -> None:
    message = one("epoch 3: 4.00 GiB free on the disk\n" * 50 + CASES["cpu-linux-error-12"]["text"] + "7 GiB is free\n")
    assert (message.line, message.free_bytes) == (51, None)


def test_a_message_that_a_terminal_tore_apart_keeps_its_line() -> None:
    text = PYTORCH_2_4.format(tried="1.50 GiB", free="1 MiB", own="23 GiB", allocated="22 GiB", pieces="1.00 MiB")
    for width in (37, 80, 100):
        torn = "\n".join(text[start : start + width] for start in range(0, len(text), width))
        message = one(f"epoch 3\n{torn}\n")
        assert message.requested_bytes == 1.5 * 1024**3
        assert message.total_bytes == pytest.approx(23.69 * 1024**3, rel=0.001)
        assert message.line in {2, 3}


def test_what_xla_tries_first_is_no_failure() -> None:
    assert (
        find_messages(
            "W bfc_allocator.cc:310] Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.37GiB with "
            "freed_by_count=0. The caller indicates that this is not a failure, but this may mean that there could be "
            "performance gains if more memory were available.\n"
        )
        == ()
    )


def test_a_decimal_comma_is_no_thousands_mark() -> None:
    message = one("ggml_cuda_host_malloc: failed to allocate 1900,00 MiB of pinned memory: invalid argument")
    assert message.requested_bytes == 1900 * 1024**2


def test_advice_on_the_host_is_for_who_asked() -> None:
    (verdict,) = explain(CASES["ollama-system-memory"]["text"]).verdicts
    assert not any("DataLoader" in remedy for remedy in verdict.remedies)


def test_other_text_gives_nothing() -> None:
    assert find_messages("RuntimeError: mat1 and mat2 shapes cannot be multiplied (3 GiB free)") == ()


@pytest.mark.parametrize(
    ("figures", "code"),
    [
        ({"free": "11.94 MiB", "own": "22.60 GiB", "allocated": "20.10 GiB", "pieces": "2.00 GiB"}, "fragmented"),
        ({"free": "11.94 MiB", "own": "9.00 GiB", "allocated": "8.50 GiB", "pieces": "10.00 MiB"}, "held_by_others"),
        ({"free": "11.94 MiB", "own": "23.00 GiB", "allocated": "22.50 GiB", "pieces": "1.00 MiB"}, "too_big"),
        (
            {"free": "11.94 MiB", "own": "23.00 GiB", "allocated": "12.50 GiB", "pieces": "1.00 MiB"},
            "outside_framework",
        ),
        ({"free": "10.00 GiB", "own": "13.00 GiB", "allocated": "12.50 GiB", "pieces": "1.00 MiB"}, "not_a_shortage"),
    ],
)
def test_what_holds_the_memory_decides(figures: dict[str, str], code: str) -> None:
    assert verdict_of(one(PYTORCH_2_4.format(tried="1.50 GiB", **figures))).code == code


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("1.0-cached-plenty-free", None),
        ("2.8-allowed-wsl-nonsense-number", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"),
    ],
)
def test_the_allocator_setting_is_one_that_the_version_knows(text: str, setting: str | None) -> None:
    remedies = " ".join(verdict_of(one(CASES[text]["text"])).remedies)
    assert (setting in remedies) if setting else ("ALLOC_CONF" not in remedies)


def test_a_tensor_larger_than_the_device_is_not_cured_by_an_allocator_setting() -> None:
    verdict = verdict_of(one(CASES["2.5-two-processes-request-above-card"]["text"]))
    assert not any("ALLOC_CONF" in remedy for remedy in verdict.remedies)


def test_host_memory_gets_no_gpu() -> None:
    (verdict,) = explain(CASES["cpu-linux-error-12"]["text"]).verdicts
    assert verdict.needed_bytes is None
    assert verdict.cards == ()


def test_the_smallest_gpus_that_have_what_was_needed() -> None:
    text = PYTORCH_2_4.format(tried="1.50 GiB", free="1 MiB", own="23.00 GiB", allocated="22.50 GiB", pieces="1.00 MiB")
    (verdict,) = explain(text).verdicts
    assert verdict.needed_bytes == pytest.approx(24.5 * 1024**3, rel=0.01)
    assert len(verdict.cards) == 3
    assert "rtx-5090" in verdict.cards


def test_colour_codes_do_not_hide_a_message() -> None:
    text = CASES["1.8-reserved-fragmented"]["text"].replace("CUDA out", "\x1b[31mCUDA \x1b[1mout")
    assert explain(text).messages[0].requested_bytes is not None


def test_a_long_log_takes_a_moment() -> None:
    text = (
        "step 1 loss 2.5 CUDA GPU 0 memory 12.5 GiB allocated\n" * 20 + CASES["1.8-reserved-fragmented"]["text"]
    ) * 2000
    start = time.monotonic()
    (message,) = find_messages(text)
    assert message.count == 2000
    assert time.monotonic() - start < 10


def _verdict_on(text: str) -> OutOfMemoryVerdict:
    (message,) = find_messages(text)
    return verdict_of(message)


def test_a_message_that_is_cut_after_the_free_memory_blames_nobody() -> None:
    text = "CUDA out of memory. Tried to allocate 146.00 MiB.\nGPU 0 has a total capacity of 8.00 GiB of which 0 bytes"
    assert _verdict_on(f"torch.OutOfMemoryError: {text} is free.").code == "too_big"


def test_of_two_processes_the_one_that_holds_the_tensors_is_no_other() -> None:
    text = (
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacty of 24.00 GiB of which 1.00 GiB is "
        "free. Process 11 has 15.00 GiB memory in use. Process 12 has 8.00 GiB memory in use. Of the allocated memory "
        "14.00 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated."
    )
    verdict = _verdict_on(text)
    assert verdict.code == "held_by_others"
    assert "process 12" in verdict.sentence
    assert "process 11" not in verdict.sentence


def test_a_mac_is_not_told_to_shard_over_several_gpus() -> None:
    text = (
        "MPS backend out of memory (MPS allocated: 15.72 GiB, other allocations: 2.41 MiB, max allowed: 18.13 GiB). "
        "Tried to allocate 5.81 GiB on private pool."
    )
    verdict = _verdict_on(text)
    assert "18.1 GiB allowed" in verdict.evidence
    assert not any("FSDP" in remedy for remedy in verdict.remedies)


def test_a_share_that_paddle_names_is_raised_first() -> None:
    text = (
        "Cannot allocate 25.000244MB memory on GPU 0, available memory is only 2.349999MB.\n"
        "   2) FLAGS_fraction_of_gpu_memory_to_use is 0.50 now, please set it to a higher value but less than 1.0."
    )
    assert "0.50" in _verdict_on(text).remedies[0]
