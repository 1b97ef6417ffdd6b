"""An uncaught exception as events; memory that ran out told apart from other errors."""

from __future__ import annotations

from typing import Any

_LAST_LINES = 30
_CHAIN_LIMIT = 10
_MESSAGE_LIMIT = 8000


def exception_fields(error: BaseException) -> dict[str, Any]:
    """Fields of the `exception` event: where it was raised and the last lines of its traceback."""
    import traceback

    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "type": _type_name(error),
        "message": str(error)[:_MESSAGE_LIMIT],
        "traceback": text.splitlines()[-_LAST_LINES:],
        "file": frames[-1].filename if frames else None,
        "line": frames[-1].lineno if frames else None,
    }


def out_of_memory_fields(error: BaseException, counters: dict[str, Any]) -> dict[str, Any] | None:
    """Fields of the `out_of_memory` event, or None where no error of the chain says that memory ran out.

    `counters` are the allocator's, of the device in use: allocated_bytes and reserved_bytes where known.
    """
    for link in _chain(error):
        device = _device_out_of_memory(link)
        if device is not None:
            on_host = device == "cpu"
            return {
                "message": str(link)[:_MESSAGE_LIMIT],
                "device": device if on_host else counters.get("device", device),
                "allocated_bytes": None if on_host else counters.get("allocated_bytes"),
                "reserved_bytes": None if on_host else counters.get("reserved_bytes"),
            }
    return None


def _chain(error: BaseException) -> list[BaseException]:
    links: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and len(links) < _CHAIN_LIMIT:
        links.append(link)
        link = link.__cause__ or link.__context__
    return links


def _device_out_of_memory(error: BaseException) -> str | None:
    message = str(error).lower()
    if isinstance(error, MemoryError):
        return "cpu"
    if type(error).__name__ == "OutOfMemoryError":
        return "cuda"
    if "defaultcpuallocator" in message and ("not enough memory" in message or "can't allocate memory" in message):
        return "cpu"
    # A spawned rank's error arrives in its parent as text inside another type of exception.
    if "cuda out of memory" in message or "hip out of memory" in message:
        return "cuda"
    if isinstance(error, RuntimeError) and "out of memory" in message:
        return "cuda"
    return None


def _type_name(error: BaseException) -> str:
    kind = type(error)
    return kind.__name__ if kind.__module__ == "builtins" else kind.__module__ + "." + kind.__qualname__
