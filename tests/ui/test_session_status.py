"""What the title line says of a session, and the words for what its supervisor reports."""

from __future__ import annotations

import pytest

from gpuscope.domain.events import Event
from gpuscope.domain.run import OutcomeKind, RunOutcome
from gpuscope.engine.follow import Update
from gpuscope.store.reader import SessionState
from gpuscope.ui.session_notes import update_notes
from gpuscope.ui.session_status import SessionStatus, clock_text, rate_text
from gpuscope.ui.session_worker import EVENTS_A_PIECE, SAMPLES_A_PIECE, pieces
from tests.ui.sessions import ZERO_S, failed, finished, frame, manifest


def _step(n: int, t: float, source: str = "probe:1", duration_s: float = 0.5) -> Event:
    return Event(t=t, source=source, kind="step", data={"n": n, "duration_s": duration_s if n > 1 else None})


def _running(count: int, step_s: float = 0.5) -> SessionStatus:
    status = SessionStatus(manifest())
    status.take(Update(events=[_step(n, n * step_s, duration_s=step_s) for n in range(1, count + 1)]))
    return status


def test_a_run_waits_for_its_first_step_and_then_runs() -> None:
    status = SessionStatus(manifest())
    assert (status.title, status.state(), status.run.steps_per_s) == ("train_gpt.py --epochs 3", "waiting", None)
    status.take(Update(events=[_step(1, 1.0)]))
    assert (status.state(), status.run.steps, status.run.steps_per_s) == ("running", 1, None)
    assert _running(40).run.steps_per_s == pytest.approx(2.0)


def test_the_title_line_and_the_run_panel_have_one_rate() -> None:
    status = _running(40)
    status.take(Update(events=[_step(40 + n, 20 + n * 0.1, duration_s=0.1) for n in range(1, 200)]))
    assert status.run.steps_per_s == pytest.approx(10.0)
    assert status.run.median_step_s == pytest.approx(0.1)


def test_ranks_report_the_same_steps_which_count_once() -> None:
    status = SessionStatus(manifest())
    for n in range(1, 11):
        status.take(Update(events=[_step(n, n * 1.0), _step(n, n * 1.0 + 0.01, "probe:2")]))
    assert status.run.steps == 10
    assert status.run.steps_per_s == pytest.approx(2.0)


def test_no_step_for_long_is_a_stall_and_has_no_rate() -> None:
    status = _running(20, step_s=0.1)
    status.take(Update(frames=[frame(400)]))
    assert (status.state(), status.run.steps_per_s) == ("stalled", None)
    assert status.elapsed() == "0:40"


def test_a_stop_that_was_asked_for_is_on_its_way() -> None:
    status = _running(20)
    status.take(Update(events=[Event(t=12.0, source="supervisor", kind="stop_requested", data={"how": "asked"})]))
    assert status.state() == "stopping"


def test_the_steady_span_leaves_out_the_warm_up() -> None:
    assert _running(1).run.steady_span() is None
    assert _running(50).run.steady_span() == (2.5, 25.0)
    assert _running(400).run.steady_span() == (5.0, 200.0)


def test_the_end_is_told_from_an_interruption() -> None:
    status = _running(5)
    status.take(Update(state=SessionState.INTERRUPTED))
    assert status.state() == "reading"
    status.end(None)
    assert status.state() == "interrupted"
    status.end(finished(60))
    assert (status.state(), status.is_trouble(), status.elapsed()) == ("finished", False, "1:00")
    status.end(failed(60))
    assert status.is_trouble()


def test_a_run_that_was_adopted_took_as_long_as_its_session() -> None:
    status = _running(5)
    status.end(RunOutcome(kind=OutcomeKind.STOPPED, sentence="Stopped.", started_s=58.0, ended_s=65.0))
    assert status.elapsed() == "1:05"


def test_texts() -> None:
    assert [clock_text(t) for t in (0, 61.9, 3723)] == ["0:00", "1:01", "1:02:03"]
    assert [rate_text(r) for r in (None, 2.3149, 1234.5, 0.25, 0.01)] == [
        "–", "2.31 it/s", "1,234 it/s", "15 it/min", "36 it/h",
    ]  # fmt: skip


def test_notes_of_the_supervisor_become_sentences() -> None:
    def event(kind: str, source: str = "supervisor", **data: object) -> Event:
        return Event(t=75.0, source=source, kind=kind, data=dict(data))

    update = Update(
        notes=("The file was cut off.",),
        events=[
            event("sampler_replaced", reason="the driver did not answer", gap_start_s=62.0),
            event("supervisor_adopted", gap_start_s=10.0, gap_end_s=70.0),
            event("probe_off", source="probe:1", reason="ImportError"),
            event("note", sentence="The disk is nearly full."),
            event("sampler_started"),
            event("note", source="probe:1", sentence="Not the supervisor's."),
        ],
    )
    notes = list(update_notes(update))
    assert notes[0] == "The file was cut off."
    assert "the driver did not answer" in notes[1]
    assert "1:02 to 1:15" in notes[1]
    assert "0:10 to 1:10" in notes[2]
    assert "ImportError" in notes[3]
    assert notes[4:] == ["The disk is nearly full."]


def test_time_zero_is_the_sessions() -> None:
    status = SessionStatus(manifest())
    status.take(Update(frames=[frame(10)]))
    assert status.elapsed_s == pytest.approx(1.0)
    assert frame(10).monotonic_s == pytest.approx(ZERO_S + 1.0)


@pytest.mark.parametrize("count", [0, 1, 132, 133, 134, 266, 1000])
def test_a_long_update_is_handed_over_in_parts_that_lose_nothing(count: int) -> None:
    frames = [frame(number, gpus=2) for number in range(count)]
    whole = Update(frames=frames, devices=[], output=b"text", events=[_step(1, 1.0)])
    parts = list(pieces(whole))
    assert [each for part in parts for each in part.frames] == frames
    assert b"".join(part.output for part in parts) == b"text"
    assert [part.more for part in parts] == [True] * (len(parts) - 1) + [False]
    assert [part.devices for part in parts] == [[]] + [None] * (len(parts) - 1)
    assert max(len(part.frames) for part in parts) <= SAMPLES_A_PIECE // 3


def test_many_events_are_handed_over_in_parts() -> None:
    events = [_step(n, n * 0.1) for n in range(1, 2 * EVENTS_A_PIECE + 2)]
    parts = list(pieces(Update(events=events, output=b"text")))
    assert [len(part.events) for part in parts] == [EVENTS_A_PIECE, EVENTS_A_PIECE, 1]
    assert [event for part in parts for event in part.events] == events
    assert [part.output for part in parts] == [b"", b"", b"text"]


def test_nothing_new_is_not_handed_over() -> None:
    assert list(pieces(Update())) == []
