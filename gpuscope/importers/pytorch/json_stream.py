"""The events of a trace, a few megabytes at a time: a trace of 500 MB never stands in memory as objects.

A piece is cut behind the last `}` that is followed by the next event's `{`, and decoded at once. Where that fails, its
events are decoded one by one, mended where their kind of damage is known, and counted as lost where it is not.
"""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from gpuscope.errors import UsageError
from gpuscope.importers.pytorch.json_repair import (
    repaired,
    with_backslashes_escaped,
    with_keys_quoted,
    writes_bare_backslashes,
)
from gpuscope.importers.pytorch.trace_event import TraceEvent

MOST_OBJECT_BYTES = 32 * 1024**2
"""Without an end of an event for so long it is no list of events."""
_BOUNDARY = re.compile(rb"\}\s*+(?:,\s*+)?(?=\{)")
_FIRST_KEY = re.compile(rb'\s*+(?:,\s*+)?\{\s*+("[^"\\]{1,40}")')
_ARRAY = re.compile(rb'"traceEvents"\s*:\s*\[')
_ARRAY_END = re.compile(rb"\}\s*+(?:,\s*+)?\]")
_TAIL_BYTES = 65536
"""Ends of events are looked for in the last bytes of a piece first."""
_MOST_JOINED = 16
"""Parts between boundaries that may be one event: a kernel's name can hold `}, {`."""
_JOIN_UNTIL_LOST = 1000
_MOST_LOST = 10_000
"""So many events more that cannot be read than that can are no trace."""
_MOST_ENDS = 16

_events = msgspec.json.Decoder(list[TraceEvent], strict=False)  # numbers may be written as texts
_event = msgspec.json.Decoder(TraceEvent, strict=False)
_FAILURES = (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeDecodeError)


class EventStream:
    """Events of one trace, and what was beside them or could not be read."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        """Nothing is read before the first events are asked for."""
        self._pieces = pieces
        self.facts: dict[str, Any] = {}
        """What stands beside the events: schemaVersion, deviceProperties, distributedInfo, baseTimeNanoseconds ..."""
        self.lost: list[int] = []
        """Where events began that could not be read: bytes from the beginning of the (inflated) text."""
        self.cut_bytes: int | None = None
        """The text ends in the midst of it; so many bytes at the end are half an event."""
        self.mended = 0
        """Pieces or events that were decoded only after mending."""
        self.events = 0
        self._bare_backslashes = False
        self._after = b""
        self._carry = b""
        self._boundary: re.Pattern[bytes] | None = None
        self._ended = False

    def __iter__(self) -> Iterator[list[TraceEvent]]:
        """The events in lists of some ten thousand.

        Raises:
            UsageError: the text is no list of events.
        """
        buffer, before, started = b"", 0, False
        for piece in _as_utf8(self._pieces):
            if self._ended:
                self._after = _bounded(self._after + piece)
                continue
            self._bare_backslashes = self._bare_backslashes or writes_bare_backslashes(piece)
            buffer += piece
            if not started:
                start = self._start(buffer)
                if start is None:
                    _bounded(buffer)
                    continue
                buffer, before, started = buffer[start:], start, True
            cut = self._last_boundary(buffer)
            if cut is None:
                _bounded(buffer)
                continue
            yield self._counted(self._decode(buffer[:cut], before, final=False))
            before += cut - len(self._carry)
            buffer = _bounded(self._carry + buffer[cut:])
            self._carry = b""
            if self._ended:
                self._after, buffer = self._after + buffer, b""
        if not started:
            raise UsageError("The file holds no list of trace events, or was cut off before the first.")
        if not self._ended:
            yield self._counted(self._decode(buffer, before, final=True))
        self._take_facts(self._after)

    def _counted(self, events: list[TraceEvent]) -> list[TraceEvent]:
        self.events += len(events)
        return events

    def _start(self, text: bytes) -> int | None:
        """Where the first event begins; what is before it are facts. None: that is not here yet."""
        match = _ARRAY.search(text)
        if match is not None:
            self._take_facts(text[: match.start()].strip().removeprefix(b"{"))
            return match.end()
        bare = text.lstrip()
        return len(text) - len(bare) + 1 if bare.startswith(b"[") else None

    def _last_boundary(self, text: bytes) -> int | None:
        """Where the last event begins: by the key that all events begin with, so that lists of objects inside an event
        are not taken for events; else by any object's beginning."""
        if self._boundary is None and (first := _FIRST_KEY.match(text)) is not None:
            self._boundary = re.compile(
                _BOUNDARY.pattern.removesuffix(b")") + rb"\s*+" + re.escape(first.group(1)) + b")"
            )
        for boundary in (self._boundary, _BOUNDARY):
            for start in (max(0, len(text) - _TAIL_BYTES), 0):
                ends = [match.end() for match in boundary.finditer(text, start)] if boundary is not None else []
                if ends:
                    return ends[-1]
        return None

    def _take_facts(self, text: bytes) -> None:
        """Members of an object without its braces."""
        text = text.strip().lstrip(b",").rstrip().rstrip(b"}").rstrip().rstrip(b",")
        for attempt in (text, text + b"}", text + b"]}"):
            try:
                found = msgspec.json.decode(b"{" + repaired(self._unescaped(attempt)) + b"}")
            except _FAILURES:
                continue
            self.facts.update(found)
            return

    def _unescaped(self, text: bytes) -> bytes:
        if self._bare_backslashes and b"\\" in text:
            self.mended += 1
            return with_backslashes_escaped(text)
        return text

    def _decode(self, text: bytes, at: int, *, final: bool) -> list[TraceEvent]:
        text = self._unescaped(text)
        body = text.strip().removesuffix(b",")
        for mend in (_as_it_is, repaired):
            try:
                events = _events.decode(b"[" + mend(body) + (b"" if final and body.endswith(b"]") else b"]"))
            except _FAILURES:
                continue
            self.mended += mend is repaired
            self.cut_bytes = 0 if final and not body.endswith(b"]") else None
            return events
        return self._one_by_one(text, at, final=final)

    def _one_by_one(self, text: bytes, at: int, *, final: bool) -> list[TraceEvent]:
        events: list[TraceEvent] = []
        ends = [match.start() + 1 for match in _BOUNDARY.finditer(text)] + [len(text)]
        start, number = 0, 0
        while number < len(ends):
            parts = _MOST_JOINED if len(self.lost) < _JOIN_UNTIL_LOST else 1
            event, used = self._joined(text, start, ends[number : number + parts])
            if event is not None:
                events.append(event)
                start, number = ends[number + used], number + used + 1
                continue
            end = self._array_end(text, start, ends[number : number + parts][-1])
            if end is not None:
                event, behind = end
                events += [event] if event is not None else []
                self._ended, self._after = True, text[behind:]
                return events
            if not final and 0 < number >= len(ends) - _MOST_JOINED:
                self._carry = text[start:]  # the rest of this event may be in the next piece
                return events
            if final and number == len(ends) - 1:
                self.cut_bytes = len(text[start:].strip())
            else:
                self._lose(at + start)
            start, number = ends[number], number + 1
        if final and self.cut_bytes is None:
            self.cut_bytes = 0
        return events

    def _lose(self, at: int) -> None:
        self.lost.append(at)
        if len(self.lost) > _MOST_LOST + self.events:
            raise UsageError("The file is no trace of a profiler: most of its events cannot be read.")

    def _joined(self, text: bytes, start: int, ends: list[int]) -> tuple[TraceEvent | None, int]:
        """The event from `start` to one of the ends, and to which of them."""
        for used, end in enumerate(ends):
            event = self._event(text[start:end])
            if event is not None:
                return event, used
        return None, 0

    def _event(self, text: bytes) -> TraceEvent | None:
        text = text.strip().strip(b",").strip()
        if not text.endswith(b"}"):
            return None
        for mend in _MENDINGS:
            try:
                event = _event.decode(mend(text))
            except _FAILURES:
                continue
            self.mended += mend is not _as_it_is
            return event
        return None

    def _array_end(self, text: bytes, start: int, end: int) -> tuple[TraceEvent | None, int] | None:
        """The last event, and where what follows the list begins; None: the list does not end here."""
        part = text[start:end]
        if part.strip().lstrip(b",").strip().startswith(b"]"):
            return None, start + part.index(b"]") + 1
        for match in itertools.islice(_ARRAY_END.finditer(part), _MOST_ENDS):
            event = self._event(part[: match.start() + 1])
            if event is not None:
                return event, start + match.end()
        return None


def _bounded(text: bytes) -> bytes:
    if len(text) > MOST_OBJECT_BYTES:
        raise UsageError("The file is no trace of a profiler: one of its parts goes on for more than 32 MiB.")
    return text


def _as_utf8(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """UTF-16 (as PowerShell's `>` writes it) becomes UTF-8; a byte order mark is taken off."""
    decoder: codecs.IncrementalDecoder | None = None
    for number, piece in enumerate(pieces):
        if number == 0 and piece[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
            decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        if decoder is not None:
            yield decoder.decode(piece).encode(errors="replace")
        else:
            yield piece.removeprefix(codecs.BOM_UTF8) if number == 0 else piece


def _as_it_is(text: bytes) -> bytes:
    return text


def _with_keys(text: bytes) -> bytes:
    return with_keys_quoted(repaired(text))


_MENDINGS: tuple[Callable[[bytes], bytes], ...] = (_as_it_is, repaired, _with_keys)
