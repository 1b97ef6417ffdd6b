"""How a run's end is told from what the system and the probe say."""

from __future__ import annotations

from typing import Any

import pytest

from gpuscope.domain.run import OutcomeKind, RunOutcome
from gpuscope.engine.outcome import outcome_of

ROOT = 7


def end(
    status: int | None, number: int | None = None, *, stopped: bool = False, **events: dict[str, Any]
) -> RunOutcome:
    return outcome_of(
        exit_status=status,
        exit_signal=number,
        stopped=stopped,
        events=[(f"probe:{ROOT}", {"kind": kind, **fields}) for kind, fields in events.items()],
        last_output=("the last line",),
        started_s=1.0,
        ended_s=2.0,
        root_pid=ROOT,
    )


def test_finished() -> None:
    outcome = end(0)
    assert (outcome.kind, outcome.exit_status, outcome.last_output) == (OutcomeKind.FINISHED, 0, ())


def test_failed_with_an_exception() -> None:
    outcome = end(1, exception={"type": "ValueError", "message": "bad\nsecond line"})
    assert outcome.kind is OutcomeKind.FAILED
    assert outcome.sentence == "The run failed with exit status 1: ValueError: bad"
    assert (outcome.error_type, outcome.error_message) == ("ValueError", "bad\nsecond line")
    assert outcome.last_output == ("the last line",)


def test_an_exception_that_the_script_survived_is_no_failure() -> None:
    outcome = end(0, exception={"type": "ValueError", "message": "in a thread"}, out_of_memory={"message": "caught"})
    assert outcome.kind is OutcomeKind.FINISHED
    assert outcome.error_type is None


def test_out_of_memory_brings_its_numbers() -> None:
    message = (
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB of which 1.12 GiB is "
        "free. Process 4242 has 22.52 GiB memory in use. Of the allocated memory 21.00 GiB is allocated by PyTorch, "
        "and 1.10 GiB is reserved by PyTorch but unallocated."
    )
    outcome = end(1, exception={"type": "OutOfMemoryError", "message": message}, out_of_memory={"message": message})
    assert outcome.kind is OutcomeKind.OUT_OF_MEMORY
    assert 2 * 1024**3 in outcome.out_of_memory.values()


@pytest.mark.parametrize(
    ("number", "word"), [(9, "SIGKILL"), (11, "crashed with SIGSEGV"), (15, "ended by SIGTERM"), (77, "signal 77")]
)
def test_signals(number: int, word: str) -> None:
    outcome = end(None, number)
    assert outcome.kind is OutcomeKind.KILLED
    assert outcome.signal == number
    assert word in outcome.sentence


def test_a_stop_on_request_is_no_failure() -> None:
    assert end(None, 15, stopped=True).kind is OutcomeKind.STOPPED


def test_a_status_that_only_the_probe_saw() -> None:
    assert end(None, exit={"status": 0}).kind is OutcomeKind.FINISHED
    assert end(None, exit={"status": 3}).exit_status == 3
    unknown = end(None, exit={"status": None})
    assert unknown.kind is OutcomeKind.UNKNOWN
    assert "not known" in unknown.sentence
