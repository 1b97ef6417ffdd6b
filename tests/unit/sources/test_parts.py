"""The small parts: deadlines, rates, the wire format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import Frame, GpuSample, HostSample
from gpuscope.sources.budget import DriverBudget, stretched_state
from gpuscope.sources.figures import Tier
from gpuscope.sources.rates import CounterRates
from gpuscope.sources.ticker import Ticker
from gpuscope.sources.wire import Decoder, WireError, encode


class TestTicker:
    """Absolute deadlines."""

    def test_late_calls_do_not_move_the_deadlines(self) -> None:
        ticker = Ticker(0.5, 10.0)
        assert [ticker.due(at) for at in (9.9, 10.0, 10.2, 10.75, 10.8, 11.0)] == [
            False, True, False, True, False, True,
        ]  # fmt: skip
        assert ticker.missed == 0

    def test_missed_deadlines_are_counted_and_not_made_up(self) -> None:
        ticker = Ticker(0.5, 10.0)
        assert ticker.due(12.25)
        assert ticker.missed == 4
        assert not ticker.due(12.4)
        assert ticker.due(12.5)
        assert ticker.missed == 4

    def test_a_shorter_distance_takes_effect_at_once(self) -> None:
        ticker = Ticker(60.0, 0.0)
        assert ticker.due(0.0)
        ticker.change(0.125, 5.0)
        assert ticker.next_s == 5.125


class TestDriverBudget:
    """Driver calls must leave the driver to the work."""

    def test_within_the_budget_nothing_changes(self) -> None:
        budget = DriverBudget(0.0)
        assert budget.check(0.9, 5.0) is None
        assert budget.check(1.8, 10.0) is None
        assert [budget.interval_s(tier, 0.1) for tier in Tier] == [0.1, 1.0, 2.0, 0.5]
        assert [budget.interval_s(tier, 3.0) for tier in Tier] == [3.0] * 4

    def test_the_slowest_tier_is_stretched_first_and_the_fast_one_never(self) -> None:
        budget = DriverBudget(0.0)
        checks = [budget.check(0.5 * at_s, at_s) for at_s in range(5, 65, 5)]
        assert [found[0] for found in checks if found] == [Tier.SLOW] * 3 + [Tier.PCIE] * 3 + [Tier.MEDIUM] * 3
        assert [budget.interval_s(tier, 0.1) for tier in Tier] == [0.1, 8.0, 16.0, 4.0]

    def test_it_is_judged_by_what_was_spent_since_the_last_look(self) -> None:
        budget = DriverBudget(0.0)
        assert budget.check(2.0, 4.0) is None, "too early to judge"
        assert budget.check(2.0, 5.0) == (Tier.SLOW, 0.4)
        assert budget.check(2.5, 10.0) is None

    def test_it_is_said_in_a_sentence(self) -> None:
        state = stretched_state(Tier.SLOW, 0.31, 4.0, 2)
        assert state.ok
        assert "31%" in state.sentence
        assert "processes, temperatures, fans and error counts are now read every 4 s" in state.sentence


class TestCounterRates:
    """Growth a second."""

    def test_first_reading_growth_and_reset(self) -> None:
        rates = CounterRates()
        assert rates.rate("a", 100, 1.0) is Reason.FIRST_READING
        assert rates.rate("a", 300, 3.0) == 100
        assert rates.rate("a", 300, 4.0) == 0
        assert rates.rate("a", 50, 5.0) is Reason.FIRST_READING, "the counter has started again"
        assert rates.rate("a", 60, 6.0) == 10

    def test_no_time_gives_no_rate(self) -> None:
        rates = CounterRates()
        rates.rate("a", 1, 1.0)
        assert rates.rate("a", 5, 1.0) is Reason.FIRST_READING

    def test_what_was_forgotten_starts_anew(self) -> None:
        rates = CounterRates()
        rates.rate("a", 1, 1.0)
        rates.rate("b", 1, 1.0)
        rates.forget_all_but({"b"})
        assert rates.rate("a", 2, 2.0) is Reason.FIRST_READING
        assert rates.rate("b", 2, 2.0) == 1


GPU = GpuSample(uuid="a", power_w=3.5, unavailable={"fan_percent": Reason.WDDM})
FRAMES = [
    Frame(monotonic_s=1.5, wall_s=2.5, gpus=(GPU,)),
    Frame(monotonic_s=2.0, wall_s=3.0, host=HostSample(cpu_percent_per_core=(1.0, 2.0))),
]


class TestWire:
    """Frames in a pipe."""

    @given(st.lists(st.integers(1, 400), min_size=1))
    def test_pieces_of_any_size(self, sizes: list[int]) -> None:
        data = b"".join(encode(frame) for frame in FRAMES * 3)
        decoder, found, at = Decoder(), [], 0
        for size in [*sizes, len(data)]:
            found += decoder.feed(data[at : at + size])
            at += size
        assert found == FRAMES * 3

    def test_a_torn_end_is_not_a_frame(self) -> None:
        assert list(Decoder().feed(encode(FRAMES[0])[:-1])) == []

    @pytest.mark.parametrize("data", [b"\xff\xff\xff\xff", b"Traceback (most recent call last)", b"\0\0\0\x01\xc1"])
    def test_damage_is_told(self, data: bytes) -> None:
        with pytest.raises(WireError):
            list(Decoder().feed(data))
