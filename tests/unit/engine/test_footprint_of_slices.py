"""Logs of GPUs that are split into instances."""

from __future__ import annotations

from pathlib import Path

from gpuscope.engine.footprint_import import imported_footprint
from gpuscope.engine.import_files import import_files
from gpuscope.store.reader import SessionReader
from tests.unit.importers.smi_logs import FOLDER

SPLIT = FOLDER / "xml-510-a100-two-mig-instances.xml"


def test_a_gpu_and_its_instances_are_one_gpu(tmp_path: Path) -> None:
    session = tmp_path / "split.gpuscope"
    import_files([SPLIT], session)
    with SessionReader(session) as reader:
        assert len(reader.devices()) == 3
        assert [device.gpu for device in imported_footprint(reader).devices] == ["a100-sxm4-40gb"]
