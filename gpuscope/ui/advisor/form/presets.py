"""What the form remembers between starts: its last state, and named presets for each project."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gpuscope import paths
from gpuscope.domain.base import Value, to_json
from gpuscope.errors import UsageError
from gpuscope.ui.advisor.form.texts import ConstraintTexts, ModelTexts

FILE_NAME = "advisor-form.json"


class _Remembered(Value, frozen=True, kw_only=True):
    """The file's content."""

    last: ConstraintTexts = ConstraintTexts()
    model: ModelTexts = ModelTexts()
    """That was typed in."""
    open_sections: tuple[str, ...] | None = None
    """Names of the sections that were unfolded; None: never changed."""
    presets: dict[str, dict[str, ConstraintTexts]] = {}
    """By project, then by name."""


class PresetStore:
    """One JSON file in the state folder; a damaged file counts as empty and is replaced at the next change."""

    def __init__(self, path: Path | None = None) -> None:
        """Reads the file; None: that in the state folder."""
        self._path = path or paths.state_dir() / FILE_NAME
        self._content = self._read()

    @property
    def last(self) -> ConstraintTexts:
        """How the form was left."""
        return self._content.last

    def keep_last(self, texts: ConstraintTexts) -> None:
        """Remember how the form is now.

        Raises:
            UsageError: the file cannot be written.
        """
        if texts != self._content.last:
            self._write(msgspec.structs.replace(self._content, last=texts))

    @property
    def model(self) -> ModelTexts:
        """The model that was typed in last."""
        return self._content.model

    def keep_model(self, texts: ModelTexts) -> None:
        """Remember the model that is typed in now.

        Raises:
            UsageError: the file cannot be written.
        """
        if texts != self._content.model:
            self._write(msgspec.structs.replace(self._content, model=texts))

    @property
    def open_sections(self) -> tuple[str, ...] | None:
        """Names of the sections that were unfolded; None: the person never folded or unfolded one."""
        return self._content.open_sections

    def keep_open_sections(self, names: tuple[str, ...]) -> None:
        """Remember which sections are unfolded.

        Raises:
            UsageError: the file cannot be written.
        """
        if names != self._content.open_sections:
            self._write(msgspec.structs.replace(self._content, open_sections=names))

    def names(self, project: str) -> list[str]:
        """Names of a project's presets."""
        return sorted(self._content.presets.get(project, {}), key=str.lower)

    def preset(self, project: str, name: str) -> ConstraintTexts:
        """A preset by its name; an empty form when there is none."""
        return self._content.presets.get(project, {}).get(name, ConstraintTexts())

    def keep(self, project: str, name: str, texts: ConstraintTexts) -> None:
        """Save a preset; one of the same name is replaced.

        Raises:
            UsageError: the file cannot be written.
        """
        own = {**self._content.presets.get(project, {}), name: texts}
        self._write(msgspec.structs.replace(self._content, presets={**self._content.presets, project: own}))

    def forget(self, project: str, name: str) -> None:
        """Delete a preset.

        Raises:
            UsageError: the file cannot be written.
        """
        own = {each: texts for each, texts in self._content.presets.get(project, {}).items() if each != name}
        self._write(msgspec.structs.replace(self._content, presets={**self._content.presets, project: own}))

    def _read(self) -> _Remembered:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Remembered)
        except (OSError, msgspec.MsgspecError):
            return _Remembered()

    def _write(self, content: _Remembered) -> None:
        self._content = content
        part = self._path.with_suffix(".part")
        try:
            part.write_bytes(to_json(content))
            part.replace(self._path)
        except OSError as error:
            raise UsageError(f"The form cannot be kept in {self._path} ({error.strerror}).") from error
