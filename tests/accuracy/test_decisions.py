"""On published rows the advice picks better GPUs than rules of thumb do."""

from __future__ import annotations

import itertools

import pytest

from gpuscope.advisor.validation.decision_data import LAMBDA_ALL, LAMBDA_PAIRS, situations
from gpuscope.advisor.validation.decisions import AIMS, Score, scores
from gpuscope.engine.validate import shipped_tables


@pytest.fixture(scope="module")
def lambda_scores() -> dict[tuple[str, str, str], Score]:
    """Scores on the Lambda suite by data, aim and rule; the other suites take longer and are in the document."""
    of_lambda = itertools.takewhile(
        lambda found: found.data in {LAMBDA_ALL, LAMBDA_PAIRS}, situations(shipped_tables())
    )
    return {(score.data, score.aim, score.rule): score for score in scores(of_lambda)}


@pytest.mark.parametrize("aim", AIMS)
def test_of_two_gpus_the_advice_takes_the_better_one_more_often_and_at_less_regret(
    aim: str, lambda_scores: dict[tuple[str, str, str], Score]
) -> None:
    ours = lambda_scores[LAMBDA_PAIRS, aim, "gpuscope"]
    others = [score for (data, its, rule), score in lambda_scores.items() if (data, its) == (LAMBDA_PAIRS, aim)]
    assert ours.decisions > 1000
    assert len(others) >= 3
    assert all(ours.right >= score.right and ours.mean_regret <= score.mean_regret for score in others)


@pytest.mark.parametrize("aim", AIMS)
def test_among_all_gpus_the_advice_is_hardly_ever_wrong(
    aim: str, lambda_scores: dict[tuple[str, str, str], Score]
) -> None:
    ours = lambda_scores[LAMBDA_ALL, aim, "gpuscope"]
    assert ours.right > 0.9
    assert ours.mean_regret < 0.01
