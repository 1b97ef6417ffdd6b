"""Text from strangers made inert, and everything that points at a person or a machine left out.

Reports go to vendors. Every string of a report passes through here once, at the end of building it, so that no section
can forget to.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, TypeVar

import msgspec

from gpuscope.domain.redact import redact_text
from gpuscope.domain.run import Manifest

T = TypeVar("T")

MAX_TEXT = 600
"""Characters; a longer text would only push figures off the page."""

_CODES = frozenset({
    "schema", "language", "key", "unit", "kind", "source_kind", "verdict", "confidence", "role", "reason_code",
    "acquisition", "session_id", "sha256",
})  # fmt: skip
"""Fields that hold words of the program: they stay, also when somebody's machine is called `text` or `plot`."""

_TERMINAL_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_SPACES = re.compile(r"\s+")

_GPU_UUID = re.compile(r"\b(GPU|MIG)-[0-9A-Fa-f][0-9A-Fa-f/-]{7,}")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*")
_QUOTED_PATH = re.compile(r"""(['"])((?:/|~|[A-Za-z]:[\\/])[^'"]*[\\/][^'"]*)\1""")
# Two parts or more; system folders that name nobody stay. Not inside an address or a unit such as GB/s.
_POSIX_PATH = re.compile(r"(?<![\w/.:~])(?!/(?:proc|dev|sys)/)(?:/[^\s/:;,'\"<>|()]+){2,}/?")
_HOME_PATH = re.compile(r"(?<![\w/])~[\w.-]*/[^\s:;,'\"<>|()]+")
_WINDOWS_PATH = re.compile(r"(?<!\w)(?:[A-Za-z]:|\\)\\[^\s:;,'\"<>|()]+")
_HOME_OWNER = re.compile(r"(?<![\w.-])(/home/|/Users/|[A-Za-z]:\\Users\\)([^/\\\s:;,'\"<>|()]+)")


def inert(text: str) -> str:
    """Without terminal escapes, control, direction and other invisible characters; one line; at most MAX_TEXT long."""
    text = _TERMINAL_ESCAPE.sub("", text)
    text = "".join(character for character in text if character.isspace() or not _is_invisible(character))
    text = _SPACES.sub(" ", text).strip()
    if len(text) > MAX_TEXT:
        return f"{text[:MAX_TEXT]}… ({len(text):,} characters)"
    return text


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co"}


def file_name(path: str) -> str:
    """The last part of a path of either kind."""
    return (PureWindowsPath(path) if "\\" in path else PurePosixPath(path)).name or "…"


class Redactor:
    """Leaves out user and host names, folders, GPU UUIDs and secrets."""

    def __init__(self, manifest: Manifest) -> None:
        """What to look for is taken from the session's first page."""
        run = manifest.run
        folders = [run.cwd, run.interpreter or "", *run.argv] if run else []
        owners = {match.group(2) for folder in folders for match in _HOME_OWNER.finditer(folder)}
        names = {manifest.host.hostname, manifest.host.hostname.split(".")[0]} - {"", "localhost"}
        words = sorted({word for word in owners | names if len(word) > 1}, key=len, reverse=True)
        self._words = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, words))})(?![\w])") if words else None

    def __call__(self, text: str) -> str:
        """The text with an ellipsis for what was left out."""
        text = redact_text(text)
        text = _GPU_UUID.sub(r"\1-…", text)
        text = _EMAIL.sub("…", text)
        text = _HOME_OWNER.sub(r"\1…", text)
        text = _QUOTED_PATH.sub(lambda match: f"{match[1]}…/{file_name(match[2])}{match[1]}", text)
        for pattern in (_POSIX_PATH, _HOME_PATH, _WINDOWS_PATH):
            text = pattern.sub(lambda match: f"…/{file_name(match[0])}", text)
        return self._words.sub("…", text) if self._words else text


def command_title(display: str) -> str:
    """A typed command line without the folders of its parts: `runs/a/train.py --lr 3` → `train.py --lr 3`."""
    parts = []
    for word in display.split(" "):
        option, equals, value = word.rpartition("=")
        parts.append(option + equals + (file_name(value) if "/" in value or "\\" in value else value))
    return " ".join(parts)


def scrub(value: T, type_: type[T], redactor: Redactor | None) -> T:
    """The same value with every string inert and without secrets; without a redactor, people and places stay."""
    hide: Callable[[str], str] = redactor or redact_text

    def walk(part: Any, *, is_code: bool = False) -> Any:
        if isinstance(part, str):
            return inert(part) if is_code else hide(inert(part))
        if isinstance(part, dict):
            return {key: walk(item, is_code=key in _CODES) for key, item in part.items()}
        if isinstance(part, (list, tuple)):
            return [walk(item) for item in part]
        return part

    return msgspec.convert(walk(msgspec.to_builtins(value)), type_)
