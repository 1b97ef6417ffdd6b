"""The published rows and the catalogue that ship."""

from __future__ import annotations

import pytest

from gpuscope import paths
from gpuscope.advisor.catalogue.loading import load_catalogue
from gpuscope.advisor.validation.tables import Tables


@pytest.fixture(scope="package")
def tables() -> Tables:
    """Read once for all tests."""
    resources = paths.resources_dir()
    return Tables(resources / "calibration", load_catalogue(resources / "catalogue"))
