"""The live step counter agrees with the count that is made of the whole stream of events afterwards."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpuscope.domain.events import Event
from gpuscope.domain.steps import steps_of
from gpuscope.ui.step_counter import StepCounter


def step(t: float, key: str = "a", steps: int = 1, duration_s: float | None = 0.1, *, profiled: bool = False) -> Event:
    data = {"optimizer": key, "steps": steps, "duration_s": duration_s, "profiled": profiled}
    return Event(t=t, source="probe:1", kind="step", data=data)


def census(t: float, key: str, parameter_bytes: int) -> Event:
    return Event(t=t, source="probe:1", kind="optimizer", data={"key": key, "parameter_bytes": parameter_bytes})


def counted(events: list[Event]) -> StepCounter:
    counter = StepCounter()
    for event in events:
        counter.take(event)
    return counter


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["step", "optimizer"]), st.integers(1, 5)), max_size=40)
)
def test_it_counts_like_the_whole_stream(stream: list[tuple[str, str, int]]) -> None:
    events = [
        step(float(number), key, steps=size) if kind == "step" else census(float(number), key, size * 100)
        for number, (key, kind, size) in enumerate(stream)
    ]
    assert counted(events).count == len(steps_of(events))


def test_the_larger_optimizer_counts_although_it_comes_later() -> None:
    events = [census(0, "small", 10), step(1, "small"), step(2, "small"), census(2, "large", 1000)]
    events += [step(3, "large"), step(3.5, "small"), step(4, "large"), step(4.5, "small")]
    assert counted(events).count == 2


def test_profiled_steps_do_not_move_the_median() -> None:
    counter = counted([step(0, duration_s=None), step(1), step(2), step(9, duration_s=7.0, profiled=True)])
    assert counter.median_s == 0.1
    assert counter.count == 4
    assert counter.last_t == 9


def test_steady_once_ten_steps_are_like_the_ten_before() -> None:
    settling = [step(float(n), duration_s=1.0 / (n + 1)) for n in range(10)]
    assert not counted(settling).steady
    settled = settling + [step(10.0 + n, duration_s=0.1) for n in range(20)]
    assert counted(settled).steady


def test_nothing_counted_is_unknown_not_zero() -> None:
    counter = StepCounter()
    assert (counter.count, counter.median_s, counter.last_s, counter.last_t) == (0, None, None, None)
