"""Reports of made-up sessions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pypdf
import pytest

from gpuscope.domain.footprint import Footprint
from gpuscope.domain.recommendation import Recommendation
from gpuscope.report.build import build_report
from gpuscope.report.model import Report
from gpuscope.store.reader import SessionReader
from tests.builders import build_footprint, build_recommendation, build_session

NOW = datetime(2026, 10, 6, 12, 0, tzinfo=UTC)


class Maker:
    """Makes a report out of what the builders give."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders

    def __call__(
        self,
        *,
        footprint: Footprint | None = None,
        recommendation: Recommendation | None = None,
        include_identity: bool = False,
        gpus: int = 1,
        **session: Any,
    ) -> Report:
        path = build_session(self._folders.mktemp("session") / "run.gpuscope", gpus=gpus, **session)
        with SessionReader(path) as reader:
            return build_report(
                reader,
                footprint or build_footprint(gpus=gpus),
                recommendation or build_recommendation(),
                now=NOW,
                include_identity=include_identity,
            )


@pytest.fixture
def make_report(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Report]:
    return Maker(tmp_path_factory)


def pdf_text(content: bytes) -> str:
    """All text of a PDF on one line, so that wrapped sentences can be searched for."""
    pages = pypdf.PdfReader(BytesIO(content)).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())
