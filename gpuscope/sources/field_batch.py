"""Many figures in one driver call: nvmlDeviceGetFieldValues with an array made once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gpuscope.domain.reasons import Reason
from gpuscope.sources.driver import (
    GONE,
    INVALID_ARGUMENT,
    Driver,
    DriverError,
    refused,
)
from gpuscope.sources.figures import Handle
from gpuscope.sources.refusals import Refusals

_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
"""Of nvmlValue_t, by nvmlValueType_t."""
_UNSIGNED_INT = 1
_UNTOUCHED = 999
"""NVML_ERROR_UNKNOWN, set before each call: an entry that the driver leaves alone must not look like the last one."""
_FUNCTION = "nvmlDeviceGetFieldValues"


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
        self._asked: tuple[Field, ...] = ()
        self._values = (driver.module.c_nvmlFieldValue_t * 0)()

    def read(self, now_s: float) -> dict[Field, Answer]:
        """An answer to each field.

        Raises:
            DriverError: the device or the whole driver has gone.
        """
        answers: dict[Field, Answer] = {}
        wanted = []
        for field in self._fields:
            reason = self._refusals.reason(field, now_s)
            if reason is None:
                wanted.append(field)
            else:
                answers[field] = Answer(reason)
        if wanted:
            answers |= self._ask(tuple(wanted), now_s)
        return answers

    def _ask(self, wanted: tuple[Field, ...], now_s: float) -> dict[Field, Answer]:
        self._prepare(wanted)
        try:
            self._driver.raw(_FUNCTION, self._handle, len(wanted), self._values)
        except DriverError as error:
            if error.reason in GONE:
                raise
            reason = Reason.NOT_SUPPORTED if error.code == INVALID_ARGUMENT else error.reason
            answers = {field: Answer(reason) for field in wanted}
        else:
            answers = {field: _answer(entry) for field, entry in zip(wanted, self._values, strict=True)}
        for field, answer in answers.items():
            self._refusals.note(field, answer.value, now_s)
        return answers

    def _prepare(self, wanted: tuple[Field, ...]) -> None:
        if wanted != self._asked:
            self._asked = wanted
            self._values = (self._driver.module.c_nvmlFieldValue_t * len(wanted))()
            for entry, field in zip(self._values, wanted, strict=True):
                entry.fieldId, entry.scopeId = field
        for entry in self._values:
            entry.nvmlReturn = _UNTOUCHED


def _answer(entry: object) -> Answer:
    code = entry.nvmlReturn  # type: ignore[attr-defined] # a ctypes structure of the untyped binding
    if code:
        return Answer(refused(code, _FUNCTION))
    kind = entry.valueType  # type: ignore[attr-defined] # as above
    if kind >= len(_MEMBERS):
        return Answer(Reason.UNKNOWN_ERROR)
    value = getattr(entry.value, _MEMBERS[kind])  # type: ignore[attr-defined] # as above
    modulus = 2**32 if kind == _UNSIGNED_INT else 2**64
    return Answer(value, max(0, entry.timestamp), modulus)  # type: ignore[attr-defined] # as above
