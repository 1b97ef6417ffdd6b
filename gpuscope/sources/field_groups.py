"""Which of NVML's field values give which figures (identifiers and units: NVML_FI_* in nvml.h)."""

from __future__ import annotations

from collections.abc import Callable

from gpuscope.domain.reasons import Reason
from gpuscope.sources.calls import Prepared
from gpuscope.sources.driver import NOT_OFFERED, Driver, DriverError
from gpuscope.sources.field_batch import FUNCTION, Answer, Field, FieldBatch
from gpuscope.sources.figures import Figure, Figures, Handle, Tier, WithoutResources, number, thousandth
from gpuscope.sources.refusals import Refusals

POWER_AVERAGE, POWER_INSTANT = Field(185), Field(186)
POWER_OF_MODULE = Field(186, 1)
"""Scope NVML_POWER_SCOPE_MODULE."""
STALE_AFTER_S = 10.0
"""Drivers renew power readings at least every second; one with the same time stamp for so long is old."""
CORRECTED, UNCORRECTED = 0, 1
"""nvmlMemoryErrorType_t."""
VOLATILE, AGGREGATE = 0, 1
"""nvmlEccCounterType_t."""

_Getter = Callable[[Driver, Handle], Figure]
_Convert = Callable[[float], Figure]


def _seconds(value: float) -> float:
    """The counters of lost time are in nanoseconds."""
    return value / 1e9


def _getter(function: str, *arguments: int, convert: _Convert = number) -> _Getter:
    return lambda driver, handle: convert(driver.call(function, handle, *arguments))


def _remapped(index: int) -> _Getter:
    return lambda driver, handle: number(driver.call("nvmlDeviceGetRemappedRows", handle)[index])


_FIELDS: dict[Tier, dict[str, tuple[Field, _Convert]]] = {
    Tier.MEDIUM: {
        "energy_j": (Field(83), thousandth),
        "power_module_w": (POWER_OF_MODULE, thousandth),
        "throttle_power_s": (Field(74), _seconds),
        "throttle_thermal_s": (Field(269), _seconds),
        "throttle_hardware_thermal_s": (Field(270), _seconds),
        "throttle_power_brake_s": (Field(271), _seconds),
        "pcie_replays": (Field(94), number),
    },
    Tier.SLOW: {
        "temperature_memory_c": (Field(82), number),
        "ecc_corrected_volatile": (Field(3), number),
        "ecc_uncorrected_volatile": (Field(4), number),
        "ecc_corrected_aggregate": (Field(5), number),
        "ecc_uncorrected_aggregate": (Field(6), number),
        "rows_remapped_correctable": (Field(142), number),
        "rows_remapped_uncorrectable": (Field(143), number),
        "row_remap_pending": (Field(144), number),
        "row_remap_failed": (Field(145), number),
        "pages_retired_corrected": (Field(29), number),
        "pages_retired_uncorrected": (Field(30), number),
        "pages_retired_pending": (Field(31), number),
    },
}
_GETTERS: dict[str, _Getter] = {
    "energy_j": _getter("nvmlDeviceGetTotalEnergyConsumption", convert=thousandth),
    "pcie_replays": _getter("nvmlDeviceGetPcieReplayCounter"),
    "ecc_corrected_volatile": _getter("nvmlDeviceGetTotalEccErrors", CORRECTED, VOLATILE),
    "ecc_uncorrected_volatile": _getter("nvmlDeviceGetTotalEccErrors", UNCORRECTED, VOLATILE),
    "ecc_corrected_aggregate": _getter("nvmlDeviceGetTotalEccErrors", CORRECTED, AGGREGATE),
    "ecc_uncorrected_aggregate": _getter("nvmlDeviceGetTotalEccErrors", UNCORRECTED, AGGREGATE),
    "rows_remapped_correctable": _remapped(0),
    "rows_remapped_uncorrectable": _remapped(1),
    "row_remap_pending": _remapped(2),
    "row_remap_failed": _remapped(3),
}
"""Functions with the same figure, for drivers and devices that do not have the field."""


class OtherWay:
    """Asks a device by a function of its own what it does not have as a field."""

    def __init__(self, driver: Driver, handle: Handle) -> None:
        self._driver = driver
        self._handle = handle
        self._refusals = Refusals()

    def ask(self, name: str, getter: _Getter, refused: Figure, now_s: float) -> Figure:
        """The figure, or why there is none; when this way is not offered either, the first refusal stands.

        Raises:
            DriverError: the device or the whole driver has gone.
        """
        known = self._refusals.reason(name, now_s)
        if known is None:
            try:
                known = getter(self._driver, self._handle)
            except DriverError as error:
                known = error.of_figure()
            self._refusals.note(name, known, now_s)
        return refused if known in NOT_OFFERED else known


class PlainFields(WithoutResources):
    """Figures that are one field value each, all of a tier in one call."""

    def __init__(self, driver: Driver, handle: Handle, tier: Tier) -> None:
        self.tier = tier
        self.fields = tuple(_FIELDS[tier])
        self._batch = FieldBatch(driver, handle, [field for field, _ in _FIELDS[tier].values()])
        self._other_way = OtherWay(driver, handle)

    def read(self, now_s: float) -> Figures:
        """Every figure of the tier, or why it is missing."""
        answers = self._batch.read(now_s)
        figures: Figures = {}
        for name, (field, convert) in _FIELDS[self.tier].items():
            figure = _converted(answers[field], convert)
            if figure in NOT_OFFERED and name in _GETTERS:
                figure = self._other_way.ask(name, _GETTERS[name], figure, now_s)
            figures[name] = figure
        return figures


class Power(WithoutResources):
    """Average and instant power in one call, whichever this chip and driver have."""

    tier = Tier.FAST
    fields = ("power_w", "power_instant_w")

    def __init__(self, driver: Driver, handle: Handle) -> None:
        self._driver = driver
        self._batch = FieldBatch(driver, handle, [POWER_AVERAGE, POWER_INSTANT])
        self._other_way = OtherWay(driver, handle)
        self._renewed: dict[Field, tuple[int, float]] = {}
        self._by_other_way = False

    def read(self, now_s: float) -> Figures:
        """`power_w` is the average where the chip makes one, else the instant; old drivers have one figure only."""
        figures: Figures = {}
        self._put(figures, self._batch.read(now_s), now_s)
        return figures

    @property
    def prepared(self) -> Prepared | None:
        """The call as it was last made; None where it is not all that there is to do."""
        if self._by_other_way:
            return None
        return Prepared(FUNCTION, self._batch.arguments, self._take)

    def rests(self, _: float) -> bool:
        """Never: fields that are refused leave the call, which is made without them."""
        return False

    def _take(self, figures: Figures) -> None:
        self._put(figures, self._batch.answers(), self._driver.call_started_s or 0.0)

    def _put(self, figures: Figures, answers: dict[Field, Answer], now_s: float) -> None:
        average = self._fresh(POWER_AVERAGE, answers[POWER_AVERAGE], now_s)
        instant = self._fresh(POWER_INSTANT, answers[POWER_INSTANT], now_s)
        power = instant if average in NOT_OFFERED else average
        self._by_other_way = power in NOT_OFFERED
        if self._by_other_way:
            power = self._other_way.ask("usage", _USAGE, power, now_s)
        figures["power_w"] = power
        figures["power_instant_w"] = instant

    def _fresh(self, field: Field, answer: Answer, now_s: float) -> Figure:
        figure = _converted(answer, thousandth)
        if isinstance(figure, Reason) or not answer.driver_us:
            return figure
        known = self._renewed.get(field)
        if known is None or known[0] != answer.driver_us:
            self._renewed[field] = (answer.driver_us, now_s)
            return figure
        return Reason.STALE if now_s - known[1] > STALE_AFTER_S else figure


_USAGE = _getter("nvmlDeviceGetPowerUsage", convert=thousandth)


def _converted(answer: Answer, convert: _Convert) -> Figure:
    """The figure in its own unit, or why there is none."""
    return answer.value if isinstance(answer.value, Reason) else convert(answer.value)
