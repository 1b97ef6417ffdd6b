"""Rates from the driver's counters: time stamps, counters that run over, counters that start again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.domain.reasons import Reason
from gpuscope.domain.sample import GpuSample
from gpuscope.sources.figures import Tier
from gpuscope.sources.link_limits import pcie_limit_bytes_per_s
from gpuscope.sources.rates import CounterKind, CounterReading, counter_rate
from tests.nvml.fixtures import MakeWorld
from tests.nvml.profiles import L40S
from tests.nvml.scenario import Growing, Scenario
from tests.unit.sources.conftest import OpenSource
from tests.unit.sources.expected import Everything, poll

LIMIT = 30e9
WIDE, NARROW = CounterKind(2**64, 1, LIMIT), CounterKind(2**32, 1, 1e9)
UNLIMITED = CounterKind(2**64)
S_US = 1_000_000


class TestCounterRate:
    """Two readings."""

    def test_the_drivers_clock_counts(self) -> None:
        before, now = CounterReading(100, 5 * S_US, 10.0), CounterReading(300, 7 * S_US, 11.5)
        assert counter_rate(before, now, UNLIMITED) == 100
        assert counter_rate(before, now, CounterKind(2**64, unit_bytes=1024)) == 102_400

    def test_ours_where_the_driver_has_none(self) -> None:
        assert counter_rate(CounterReading(100, 0, 10.0), CounterReading(300, 0, 12.0), UNLIMITED) == 100
        assert counter_rate(CounterReading(1, 0, 10.0), CounterReading(3, 0, 10.0), UNLIMITED) is Reason.STALE

    def test_one_reading_gives_no_rate(self) -> None:
        assert counter_rate(None, CounterReading(1, 2, 3.0), WIDE) is Reason.FIRST_READING

    def test_no_growth_is_a_rate_of_zero(self) -> None:
        assert counter_rate(CounterReading(5, S_US, 1.0), CounterReading(5, 2 * S_US, 2.0), WIDE) == 0

    def test_the_same_time_stamp_is_no_new_reading(self) -> None:
        assert counter_rate(CounterReading(5, S_US, 1.0), CounterReading(9, S_US, 2.0), WIDE) is Reason.STALE

    @pytest.mark.parametrize("jump_s", [-3600, -2, 3600])
    def test_time_stamps_that_jump(self, jump_s: int) -> None:
        """Somebody set the clock between two readings a second apart."""
        before, now = CounterReading(0, 9000 * S_US, 1.0), CounterReading(10**9, (9001 + jump_s) * S_US, 2.0)
        assert counter_rate(before, now, WIDE) is Reason.CLOCK_JUMPED

    def test_a_counter_that_runs_over(self) -> None:
        before, now = CounterReading(2**64 - 10, S_US, 1.0), CounterReading(90, 2 * S_US, 2.0)
        assert counter_rate(before, now, WIDE) == 100
        before, now = CounterReading(2**32 - 10, S_US, 1.0), CounterReading(90, 2 * S_US, 2.0)
        assert counter_rate(before, now, NARROW) == 100

    def test_a_counter_that_starts_again(self) -> None:
        before, now = CounterReading(10**12, S_US, 1.0), CounterReading(90, 2 * S_US, 2.0)
        assert counter_rate(before, now, WIDE) is Reason.COUNTER_RESET
        assert counter_rate(before, now, UNLIMITED) is Reason.COUNTER_RESET

    def test_a_counter_that_may_have_run_over_twice(self) -> None:
        before, now = CounterReading(10, S_US, 1.0), CounterReading(90, 11 * S_US, 11.0)
        assert counter_rate(before, now, NARROW) is Reason.COUNTER_WRAPPED

    def test_more_than_the_link_carries(self) -> None:
        before, now = CounterReading(0, S_US, 1.0), CounterReading(10**12, 2 * S_US, 2.0)
        assert counter_rate(before, now, WIDE) is Reason.IMPLAUSIBLE

    @given(
        start=st.integers(0, 2**64 - 1),
        growths=st.lists(st.tuples(st.integers(0, int(LIMIT)), st.integers(S_US // 10, 5 * S_US)), min_size=1),
    )
    def test_a_wrapping_counter_never_gives_a_wrong_rate(self, start: int, growths: list[tuple[int, int]]) -> None:
        before = CounterReading(start, 10**15, 50.0)
        for per_s, elapsed_us in growths:
            grown = per_s * elapsed_us // S_US
            now = CounterReading(
                (before.value + grown) % 2**64, before.driver_us + elapsed_us, before.read_s + elapsed_us / S_US
            )
            rate = counter_rate(before, now, WIDE)
            assert rate == pytest.approx(grown * S_US / elapsed_us)
            before = now

    @given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**63), st.integers(0, 2**63))
    def test_no_rate_is_negative_or_above_the_limit(self, one: int, other: int, at: int, later: int) -> None:
        rate = counter_rate(CounterReading(one, at, 1.0), CounterReading(other, later, 2.0), WIDE)
        assert isinstance(rate, Reason) or 0 <= rate <= 2 * LIMIT


@pytest.mark.parametrize(
    ("generation", "width", "gb_per_s"),
    [(1, 16, 4.0), (2, 16, 8.0), (3, 16, 15.75), (4, 16, 31.5), (5, 16, 63.0), (5, 8, 31.5), (6, 16, 121.0)],
)
def test_pcie_limits(generation: int, width: int, gb_per_s: float) -> None:
    assert pcie_limit_bytes_per_s(generation, width) == pytest.approx(gb_per_s * 1e9, rel=0.002)


@pytest.mark.parametrize(("generation", "width"), [(0, 16), (99, 16), (4, 0)])
def test_links_that_are_none_have_no_limit(generation: int, width: int) -> None:
    assert pcie_limit_bytes_per_s(generation, width) is None


class TestThroughTheDriver:
    """The same with the stand-in's counters."""

    def rates(self, changes: dict[str, object], make: MakeWorld, open_source: OpenSource) -> list[object]:
        """Rate or reason of PCIe transmission at each medium reading, until the scenario is 1.5 s old."""
        scenario = Scenario()
        scenario.add_gpu(L40S, **changes)
        make(scenario)
        source = open_source()
        found: list[object] = []

        def collect() -> bool:
            frame = source.read(Tier.MEDIUM)
            assert frame is not None
            assert frame.gpus is not None
            sample: GpuSample = frame.gpus[0]
            name = "pcie_tx_bytes_per_s"
            value = getattr(sample, name)
            found.append(value if value is not None else sample.unavailable.get(name))
            return len(found) >= 30

        poll(collect)
        return found

    def test_a_counter_of_64_bits_runs_over(self, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
        found = self.rates({"pcie_tx_bytes": Growing(2**64 - 10**9, 3e9)}, nvml_in_process, open_source)
        assert found[0] is Reason.FIRST_READING
        assert found[1:] == pytest.approx([3e9] * 29, rel=0.3)

    def test_a_counter_of_32_bits_runs_over(self, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
        """Read often enough it can be followed; when it could have run over twice, nothing is said."""
        changes = {"pcie_tx_bytes": Growing(2**32 - 10**7, 1e9, 32), "pcie_tx_bytes_is_uint": 1}
        found = self.rates(changes, nvml_in_process, open_source)
        assert set(map(type, found)) <= {Reason, float}
        assert all(value is Reason.COUNTER_WRAPPED or value == pytest.approx(1e9, rel=0.3) for value in found[1:])
        assert any(isinstance(value, float) for value in found)

    def test_a_counter_that_starts_again(self, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
        steps = [(0.0, Growing(2**50, 3e9)), (0.3, Growing(0, 3e9))]
        found = self.rates({"pcie_tx_bytes": steps}, nvml_in_process, open_source)
        assert found.count(Reason.COUNTER_RESET) == 1
        assert [value for value in found if isinstance(value, float)] == pytest.approx([3e9] * 28, rel=0.3)

    @pytest.mark.parametrize("jump_us", [-3_600_000_000, 7_200_000_000])
    def test_the_systems_clock_is_set(self, jump_us: int, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
        steps = [(0.0, "+0"), (0.3, f"{jump_us:+d}")]
        found = self.rates({"driver_clock_us": steps}, nvml_in_process, open_source)
        assert found.count(Reason.CLOCK_JUMPED) == 1
        assert [value for value in found if isinstance(value, float)] == pytest.approx([3e9] * 28, rel=0.3)

    def test_a_driver_without_a_clock(self, nvml_in_process: MakeWorld, open_source: OpenSource) -> None:
        found = self.rates({"driver_clock_us": 0}, nvml_in_process, open_source)
        assert found[1:] == pytest.approx([3e9] * 29, rel=0.3)

    def test_a_driver_whose_clock_stands_still(
        self, nvml_in_process: MakeWorld, open_source: OpenSource, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Readings that are not renewed are old, not rates of zero; power is told as old after a while."""
        monkeypatch.setattr("gpuscope.sources.field_groups.STALE_AFTER_S", 0.2)
        found = self.rates({"driver_clock_us": 1_700_000_000_000_000}, nvml_in_process, open_source)
        assert set(found[1:]) == {Reason.STALE}
        scenario = Scenario()
        gpu = scenario.add_gpu(L40S, driver_clock_us=1_700_000_000_000_000)
        nvml_in_process(scenario)
        everything = Everything(open_source())
        assert everything.read()[gpu.values["uuid"]].power_w == 210
        sample = poll(lambda: (found := everything.read()[gpu.values["uuid"]]).power_w is None and found)
        assert sample.unavailable["power_w"] is Reason.STALE
