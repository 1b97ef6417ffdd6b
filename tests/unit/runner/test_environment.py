"""What a workload inherits: the person's environment and the probe, nothing that is only the app's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import gpuscope
from gpuscope.runner.environment import (
    outside_environment,
    probe_dir_entry,
    without_bundle,
    without_own_source,
    workload_environment,
)

SITE = Path("/app/probe/site")
SOURCE = Path(gpuscope.__file__).resolve().parent.parent


def test_packaged_app_leaves_no_trace() -> None:
    inside = {
        "LD_LIBRARY_PATH": "/app/_internal:/cuda/lib64",
        "LD_LIBRARY_PATH_ORIG": "/cuda/lib64",
        "DYLD_LIBRARY_PATH": "/app/_internal",
        "QT_PLUGIN_PATH": "/app/_internal/PySide6/plugins",
        "QML2_IMPORT_PATH": "/app/_internal",
        "PYTHONHOME": "/app",
        "_PYI_APPLICATION_HOME_DIR": "/app/_internal",
        "_PYI_PARENT_PROCESS_LEVEL": "1",
        "_MEIPASS2": "/app/_internal",
        "PATH": "/usr/bin",
        "PYTHONPATH": "/mine",
    }
    assert without_bundle(inside) == {"LD_LIBRARY_PATH": "/cuda/lib64", "PATH": "/usr/bin", "PYTHONPATH": "/mine"}


def test_library_path_that_was_empty_stays_unset() -> None:
    assert without_bundle({"LD_LIBRARY_PATH": "/app", "LD_LIBRARY_PATH_ORIG": ""}) == {}


@pytest.mark.parametrize(
    ("entries", "kept"),
    [(["/src"], None), (["/src", "/src", "/mine"], "/mine"), (["/mine", "/src"], f"/mine{os.pathsep}/src"), ([], None)],
)
def test_own_source_is_taken_off_the_front(entries: list[str], kept: str | None) -> None:
    cleaned = without_own_source({"PYTHONPATH": os.pathsep.join(entries)}, Path("/src"))
    assert cleaned.get("PYTHONPATH") == kept


def test_outside_environment_of_a_source_tree() -> None:
    base = {"PYTHONPATH": str(SOURCE), "GPUSCOPE_PROBE_DIR": "/outer.run", "GPUSCOPE_PROBE_PROFILE": "1", "HOME": "/h"}
    assert outside_environment(base) == {"HOME": "/h"}


def test_outside_environment_of_the_packaged_app(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.frozen", True, raising=False)
    assert outside_environment({"LD_LIBRARY_PATH": "/app", "PYTHONPATH": str(SOURCE)}) == {"PYTHONPATH": str(SOURCE)}


def test_probe_comes_first_and_once() -> None:
    outside = {"PYTHONPATH": os.pathsep.join(["/a", str(SITE), "", "/b"])}
    environment = workload_environment(outside, {}, probe_site=SITE, profile=True)
    assert environment["PYTHONPATH"] == os.pathsep.join([str(SITE), "/a", "/b"])
    assert environment["GPUSCOPE_PROBE_PROFILE"] == "1"
    assert environment["PYTHONUNBUFFERED"] == "1"


def test_what_the_person_set_wins() -> None:
    given = {"PYTHONPATH": "/theirs", "PYTHONUNBUFFERED": "", "X": "2"}
    environment = workload_environment({"PYTHONPATH": "/a", "X": "1"}, given, probe_site=SITE, profile=False)
    assert environment["PYTHONPATH"] == os.pathsep.join([str(SITE), "/theirs"])
    assert environment["PYTHONUNBUFFERED"] == ""
    assert environment["X"] == "2"
    assert environment["GPUSCOPE_PROBE_PROFILE"] == "0"


def test_run_folder_is_named_the_same_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert probe_dir_entry(tmp_path / "link") == probe_dir_entry(tmp_path / "real")
