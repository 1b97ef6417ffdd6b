"""NVLinks of a GPU: how many, which are active, how fast."""

from __future__ import annotations

from collections.abc import Mapping

from gpuscope.domain.reasons import Reason
from gpuscope.sources.driver import GONE, Driver, DriverError
from gpuscope.sources.field_batch import Answer, Field, FieldBatch
from gpuscope.sources.figures import Figure, Figures, Handle, Tier, WithoutResources
from gpuscope.sources.link_limits import NVLINK_VERSIONS

MAX_LINKS = 36
"""NVML_NVLINK_MAX_LINKS."""
_LINK_COUNT, _COMMON_SPEED = Field(91), Field(90)
_SPEED, _STATE = 164, 165
_CONNECTED = frozenset({1, 2})
"""NVML_NVLINK_STATE_ACTIVE, and SLEEP: it wakes when there is traffic."""
_BYTES_PER_MB = 1_000_000
"""Speeds are in MB/s and in one direction: an H100's links say 26562, its data sheet 26.56 GB/s."""


class Links:
    """The NVLinks of one GPU as they were last seen.

    Attributes:
        count: links that the chip has.
        active: numbers of those that are connected; None: not looked at yet.
        link_bytes_per_s: what the fastest one carries in one direction; None: not known.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.active: tuple[int, ...] | None = None if count else ()
        self.link_bytes_per_s: float | None = None


class NvlinkState(WithoutResources):
    """Looks at the links from time to time: they can go down while the GPU works."""

    tier = Tier.SLOW
    fields = ("nvlink_links_active", "nvlink_limit_bytes_per_s")

    def __init__(self, driver: Driver, handle: Handle, count: int) -> None:
        self.links = Links(count)
        self._driver = driver
        self._handle = handle
        numbers = range(count)
        fields = [Field(kind, link) for kind in (_STATE, _SPEED) for link in numbers]
        self._batch = FieldBatch(driver, handle, [*fields, _COMMON_SPEED])

    def read(self, now_s: float) -> Figures:
        """How many links are active, and what they carry together in one direction."""
        if not self.links.count:
            return dict.fromkeys(self.fields, Reason.NO_NVLINK)
        answers = self._batch.read(now_s)
        states = [self._is_active(link, answers[Field(_STATE, link)]) for link in range(self.links.count)]
        unknown = next((state for state in states if isinstance(state, Reason)), None)
        if unknown is not None:
            return dict.fromkeys(self.fields, unknown)
        active = self.links.active = tuple(link for link, state in enumerate(states) if state)
        limit = self._limit(active, answers) if active else Reason.NO_NVLINK
        return {"nvlink_links_active": len(active), "nvlink_limit_bytes_per_s": limit}

    def _is_active(self, link: int, answer: Answer) -> bool | Reason:
        if not isinstance(answer.value, Reason):
            return answer.value in _CONNECTED
        try:
            return bool(self._driver.call("nvmlDeviceGetNvLinkState", self._handle, link))
        except DriverError as error:
            return error.of_figure()

    def _limit(self, active: tuple[int, ...], answers: Mapping[Field, Answer]) -> Figure:
        common = answers[_COMMON_SPEED].value
        speeds: list[float] = []
        for link in active:
            own = answers[Field(_SPEED, link)].value
            speed = common if isinstance(own, Reason) else own
            if isinstance(speed, Reason):
                return speed
            speeds.append(speed * _BYTES_PER_MB)
        self.links.link_bytes_per_s = max(speeds) or None
        return sum(speeds) or Reason.NO_DATA


def link_count(driver: Driver, handle: Handle) -> int:
    """Links that the chip has; 0 for one without, or when the driver does not say.

    Raises:
        DriverError: the device or the whole driver has gone.
    """
    answer = FieldBatch(driver, handle, [_LINK_COUNT]).read(0.0)[_LINK_COUNT].value
    if not isinstance(answer, Reason):
        return min(int(answer), MAX_LINKS)
    for link in range(MAX_LINKS):
        try:
            driver.call("nvmlDeviceGetNvLinkState", handle, link)
        except DriverError as error:
            if error.reason in GONE:
                raise
            return link
    return MAX_LINKS


def link_version(driver: Driver, handle: Handle) -> str | Reason:
    """Version of the first link, as "4.0".

    Raises:
        DriverError: it is not to be had.
    """
    return NVLINK_VERSIONS.get(driver.call("nvmlDeviceGetNvLinkVersion", handle, 0), Reason.NO_DATA)
