"""Studies of image models: what is held out, and that one part of the families is predicted as well as it was."""

from __future__ import annotations

import statistics

import pytest

from gpuscope import paths
from gpuscope.advisor.catalogue.loading import load_catalogue
from gpuscope.advisor.validation.studies import blackwell_images
from gpuscope.advisor.validation.studies._timm import on_gpu
from gpuscope.advisor.validation.tables import Tables
from gpuscope.advisor.validation.timm_fit import without_fold
from gpuscope.advisor.validation.timm_rows import FOLDS, INFERENCE, ON_CPU, TRAINING, timm_rows, work_footprint
from gpuscope.domain.recommendation import Constraints


@pytest.fixture(scope="module")
def tables() -> Tables:
    resources = paths.resources_dir()
    return Tables(resources / "calibration", load_catalogue(resources / "catalogue"))


def test_every_published_row_has_its_work_and_its_device(tables: Tables) -> None:
    for name in (INFERENCE, TRAINING, ON_CPU):
        rows = timm_rows(tables, name)
        assert len(rows) == len(tables.rows(name)) > 500
        assert all(row.step_s > 0 and row.batch >= 1 for row in rows)
        assert all(tables.catalogue.gpu(row.device) or tables.catalogue.cpu(row.device) for row in rows)


def test_models_of_a_family_are_held_out_together(tables: Tables) -> None:
    folds: dict[str, set[int]] = {}
    for row in timm_rows(tables, INFERENCE):
        folds.setdefault(row.family, set()).add(row.fold)
    assert all(len(each) == 1 for each in folds.values())
    assert {next(iter(each)) for each in folds.values()} == set(range(FOLDS))
    ported = {row.family for row in timm_rows(tables, INFERENCE) if row.model.startswith("tf_efficientnet_")}
    assert ported == {"efficientnet"}


def test_families_that_were_held_out_are_predicted_from_specifications(tables: Tables) -> None:
    fold = 0
    calibration = without_fold(tables, fold, ("rtx-3090",))
    rows = [row for row in timm_rows(tables, INFERENCE) if row.fold == fold and not row.compiled][::5]
    outcomes = [
        on_gpu(
            "",
            work_footprint(row, row.mixed_ops(), "float16", "inference"),
            row,
            calibration,
            tables,
            "",
            Constraints(),
        )
        for row in rows
    ]
    errors = sorted(outcome.error or 0.0 for outcome in outcomes)
    assert statistics.median(errors) < 0.12
    assert errors[int(0.9 * len(errors))] < 0.30
    assert statistics.fmean(bool(outcome.covered) for outcome in outcomes) > 0.85


def test_cards_of_a_generation_without_rows_are_predicted_from_the_one_before(tables: Tables) -> None:
    outcomes = [each for each in blackwell_images.outcomes(tables) if each.gpu == "rtx-5090"]
    assert len(outcomes) > 40
    # Without anything fitted on the generation: the goal of such predictions is 10% in the middle.
    assert statistics.median(each.error or 1.0 for each in outcomes) < 0.15
    assert statistics.fmean(bool(each.covered) for each in outcomes) > 0.88
