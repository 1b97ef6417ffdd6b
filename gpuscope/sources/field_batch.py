"""Many figures in one driver call: nvmlDeviceGetFieldValues with an array made once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gpuscope.domain.reasons import Reason
from gpuscope.sources.driver import (
    INVALID_ARGUMENT,
    Driver,
    DriverError,
    refused,
)
from gpuscope.sources.figures import Handle
from gpuscope.sources.refusals import Refusals
from gpuscope.sources.structures import FieldValue

_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
"""Of nvmlValue_t, by nvmlValueType_t."""
_UNSIGNED_INT = 1
_UNTOUCHED = 999
"""NVML_ERROR_UNKNOWN, set before each call: an entry that the driver leaves alone must not look like the last one."""
FUNCTION = "nvmlDeviceGetFieldValues"


class Field(NamedTuple):
    """An entry of a batch."""

    identifier: int
    """NVML_FI_*"""
    scope: int = 0
    """Link, power scope, or 0, as the field asks for."""


class Answer(NamedTuple):
    """What the driver says to one entry."""

    value: float | Reason
    driver_us: int = 0
    """Its time stamp, microseconds."""
    modulus: int = 2**64
    """At which a counter of this type runs over."""


class FieldBatch:
    """Field values of one device. What the device refuses for good leaves the batch for a while."""

    def __init__(self, driver: Driver, handle: Handle, fields: Sequence[Field]) -> None:
        self._driver = driver
        self._handle = handle
        self._fields = tuple(fields)
        self._refusals = Refusals()
        self._resting: dict[Field, Answer] = {}
        self._asked: tuple[Field, ...] = ()
        self._entries = (FieldValue * 0)()

    def read(self, now_s: float) -> dict[Field, Answer]:
        """An answer to each field.

        Raises:
            DriverError: the device or the whole driver has gone.
        """
        reasons = {field: self._refusals.reason(field, now_s) for field in self._fields}
        self._resting = {field: Answer(reason) for field, reason in reasons.items() if reason is not None}
        wanted = tuple(field for field, reason in reasons.items() if reason is None)
        if wanted != self._asked:
            self._prepare(wanted)
        if not wanted:
            return dict(self._resting)
        try:
            self._driver.raw(FUNCTION, *self.arguments)
        except DriverError as error:
            reason = error.of_figure()
            reason = Reason.NOT_SUPPORTED if error.code == INVALID_ARGUMENT else reason
            answers = self._resting | dict.fromkeys(wanted, Answer(reason))
        else:
            answers = self.answers()
        for field in wanted:
            self._refusals.note(field, answers[field].value, now_s)
        return answers

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Of the call that was last made."""
        return self._handle, len(self._asked), self._entries

    def answers(self) -> dict[Field, Answer]:
        """What that call has left, and what is known of the fields that rest.

        Raises:
            DriverError: the device or the whole driver has gone.
        """
        answers = dict(self._resting)
        for field, entry in zip(self._asked, self._entries, strict=True):
            answers[field] = _answer(entry)
            entry.nvmlReturn = _UNTOUCHED
        return answers

    def _prepare(self, wanted: tuple[Field, ...]) -> None:
        self._asked = wanted
        self._entries = (FieldValue * len(wanted))()
        for entry, field in zip(self._entries, wanted, strict=True):
            entry.fieldId, entry.scopeId = field
            entry.nvmlReturn = _UNTOUCHED


def _answer(entry: FieldValue) -> Answer:
    code = entry.nvmlReturn
    if code:
        return Answer(refused(code, FUNCTION))
    kind = entry.valueType
    if kind == _UNSIGNED_INT:
        return Answer(entry.value.uiVal, max(0, entry.timestamp), 2**32)
    if kind >= len(_MEMBERS):
        return Answer(Reason.UNKNOWN_ERROR)
    return Answer(getattr(entry.value, _MEMBERS[kind]), max(0, entry.timestamp))
