"""Sessions of the first format, where every frame is a row, still open. The file was made by gpuscope 0.1.0."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gpuscope.domain.run import OutcomeKind, RunOutcome
from gpuscope.errors import SessionError
from gpuscope.store.reader import SessionReader
from gpuscope.store.writer import put_document

FILE = Path(__file__).parents[2] / "data" / "sessions" / "version-1.gpuscope"
EVIDENCE = "0d3b115f8a6befc12e256b8be63c17e41af9b8b494e9b65662139fe2ab0f9c6f"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return Path(shutil.copy(FILE, tmp_path / "a.gpuscope"))


def test_it_holds_what_it_held(session: Path) -> None:
    with SessionReader(session) as reader:
        frames = [frame for _, frame in reader.frames()]
        assert reader.notes == []
        assert len(frames) == 21
        assert [gpu.power_w for gpu in frames[3].gpus or ()] == [38.0, 38.0]
        assert reader.last_frame_s() == reader.timeline().end_s == pytest.approx(5.4)
        assert reader.timeline().get("host", "cpu_percent").values.sum() == pytest.approx(52.623194855318886)
        assert len(list(reader.events())) > 20
        assert reader.evidence_sha256() == EVIDENCE, "reports of old sessions quote it"


def test_advice_is_added_and_it_stays_of_its_version(session: Path) -> None:
    put_document(session, "outcome", RunOutcome(kind=OutcomeKind.RECORDED, sentence="done"))
    with SessionReader(session) as reader:
        outcome = reader.document("outcome", RunOutcome)
    assert outcome is not None
    assert outcome.sentence == "done"
    assert int.from_bytes(session.read_bytes()[60:64], "big") == 1, "the gpuscope that wrote it still opens it"


def test_a_version_that_nobody_wrote_yet_is_refused(session: Path) -> None:
    data = bytearray(session.read_bytes())
    data[60:64] = (3).to_bytes(4, "big")
    session.write_bytes(data)
    with pytest.raises(SessionError, match="newer gpuscope"):
        SessionReader(session)
