"""docs/accuracy-time.md from the results of the studies: the same text whenever and wherever it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill

from gpuscope.advisor.timing.uncertainty import doubt
from gpuscope.advisor.validation.decisions import Score
from gpuscope.advisor.validation.goals import CASES, COVERAGE_GOAL, STRATUM_COVERAGE, STRATUM_ROWS, Case
from gpuscope.advisor.validation.studying import StudyResult
from gpuscope.advisor.validation.summary import Stratum, Summary, WorstRow
from gpuscope.advisor.validation.words import (
    HEADINGS,
    LEGEND,
    UNKNOWN,
    figure_cells,
    goal_text,
    held_out_text,
    percent,
    remarks,
    verdict,
)
from tests.accuracy.left_out import Coverage

WIDTH = 120
_LIKE = "all GPUs like "
"""How studies name what they held out when it is a GPU with all that share its chip."""

LEFT_OUT_HEAD = """\
No published row of the GPU, nor of another one with its chip, was seen (but for the runs that `new-card-eight-runs`
is about): what is known of it are its specifications."""

HEAD = f"""\
# How accurate the predicted times are

This page is written by `make accuracy` from the repository alone: the product's own functions predict measurements
that others published, with constants that were fitted without the part that is reported: its family of models, its
GPU, or both, as each study says. `gpuscope validate` prints the same figures, and below them what became of the
predictions that were made on your machine. The published rows are in `resources/calibration/published`, with their
sources.

{fill(LEGEND, WIDTH)}

A nominal 90% range is to hold at least {COVERAGE_GOAL:.0%} of the measurements of a study, and at least
{STRATUM_COVERAGE:.0%} of those of any family, GPU or precision with {STRATUM_ROWS} rows or more. Where the width of a
range is not a published figure, it is one factor for each kind of prediction, taken from errors on held-out rows of
these same studies: the shares in range are therefore kinder than the errors, which nothing was fitted to. How much
kinder, "Ranges whose widths did not see the row" says.

What the figures can be at best: the same job on the same GPU differs by 1.4 to 1.8% (90th percentile 5 to 10%) between
releases of PyTorch, by 0.3% (2.8%) between machines, and by 7% (17%) between memory layouts."""

COVERAGE_HEAD = """\
## Ranges whose widths did not see the row

The shares in range once more, as they are and with widths taken from the other rows of the same kind of prediction:
from those of other families of models, other devices, other studies. (The prediction itself had not seen the row in
any case.) A dash: there are no others.

Below 88% fall the ranges of a CPU that are taken from the other CPU alone (there are two), and those of training that
are taken from the other memory layout alone."""

DOUBTS = """\
## What is not explained

- Group norm in image models, usual memory layout: published as fast as if it worked in 16 bits, 1.3 to 2.2 times faster
  than predicted; PyTorch's autocast lists it among what it computes in FP32, which is what is predicted. Channels last
  they fit, but there the layout is converted before and after each of them, which nothing here counts. Which of the two
  a person's own model does, its profile tells; the publisher may have run with norms of its own in 16 bits.
- VOLO: its operators were traced before the copies of its outlook attention (im2col, col2im) were told apart, and the
  releases that it was traced with are not at hand any more. Its rows stay in, mostly predicted too fast.
- The T4 in 16 bits: the best published product is 24 TFLOP/s, its specification times the share that its chip reaches
  with more watts 51. Its convolutions lie between (convnets-inference-elsewhere)."""

DECISIONS_HEAD = """\
## Is the recommended GPU the best one?

A job ran on one GPU; from that run the others are predicted, without having seen its family of models, and the one
that promises most is picked among those on which the job was measured. *Right* is how often that was the truly best
one, *regret* what the pick costs in time or money over the truly best. Rents are the lowest on-demand price of one GPU
in the catalogue, purchases launch prices. Rules of thumb decide on the same GPUs. Every run of a suite is a source in
turn, so decisions on the same measurements repeat each other: they show how often it goes wrong, not how sure that
share is. *Lambda* is training in lambdal/deeplearning-benchmark, *NVIDIA* training in NVIDIA/DeepLearningExamples,
*timm* inference in huggingface/pytorch-image-models, on one GPU each."""


def document(results: Sequence[StudyResult], scores: Sequence[Score], covered: Sequence[Coverage] = ()) -> str:
    """The whole page; `covered` is left out where it is empty."""
    blocks = [HEAD, "## Goals and what was reached", goal_table(results)]
    others = [result for result in results if not result.case]
    if others:
        blocks += ["Studies of what no goal was set for, or one of their own:", study_table(others)]
    blocks += ["## Where it falls short", shortfalls(results)]
    blocks.append(DOUBTS)
    if covered:
        blocks += [COVERAGE_HEAD, coverage_table(covered)]
    blocks += ["## Each GPU left out in turn", LEFT_OUT_HEAD, left_out_table(results)]
    blocks += [DECISIONS_HEAD, decision_table(scores)]
    blocks.append("## The studies in parts")
    blocks += [section(result) for result in results]
    return "\n\n".join(blocks) + "\n"


def goal_table(results: Sequence[StudyResult]) -> str:
    """What was aimed at and what was reached, by kind of prediction; a kind that nothing tests is listed as such."""
    rows = [row for case in CASES for row in _case_rows(case, [r for r in results if r.case == case.key])]
    headings = ("prediction", "plain ratios", "goal", "study", *HEADINGS, "")
    return markdown_table(headings, rows)


def study_table(results: Sequence[StudyResult]) -> str:
    """Figures of studies that belong to no kind of prediction with a goal."""
    rows = [[result.name, *_figures(result), goal_text(result.goal), verdict(result)] for result in results]
    return markdown_table(("study", *HEADINGS, "goal", ""), rows)


def shortfalls(results: Sequence[StudyResult]) -> str:
    """Every failure, missed goal and range that is too narrow, with what was tried."""
    lines = [f"- {sentence}" for result in results for sentence in remarks(result)]
    tested = {result.case for result in results if result.summary is not None}
    lines += [f"- Nothing here tests: {case.name}." for case in CASES if case.key not in tested]
    return "\n".join(lines) if lines else "Nowhere: every goal is met."


def left_out_table(results: Sequence[StudyResult]) -> str:
    """Figures by GPU of the studies that knew nothing but the specifications of the GPU that they predict for."""
    rows = []
    for result in results:
        if result.summary is not None and all(_LIKE in held for held in result.summary.held_out):
            parts = [stratum for stratum in result.summary.strata if stratum.by == "gpu"]
            rows += [[part.name, result.name, *figure_cells(part.figures)] for part in parts]
    return markdown_table(("GPU", "study", *HEADINGS), sorted(rows))


def coverage_table(covered: Sequence[Coverage]) -> str:
    """Shares in range by where the width comes from."""
    rows = [
        [
            doubt(each.width.code).reason, ", ".join(each.width.studies), str(each.rows),
            *(UNKNOWN if share is None else percent(share) for share in each[2:]),
        ]
        for each in covered
    ]  # fmt: skip
    headings = ("width of", "studies", "rows", "in range", "other families", "other devices", "other studies")
    return markdown_table(headings, rows)


def decision_table(scores: Sequence[Score]) -> str:
    """How the rules did."""
    rows = [
        [
            score.data, score.aim, score.rule, str(score.decisions), percent(score.right), percent(score.mean_regret),
            percent(score.worst_regret),
        ]
        for score in scores
    ]  # fmt: skip
    return markdown_table(("data", "wanted", "picked by", "decisions", "right", "mean regret", "worst regret"), rows)


def section(result: StudyResult) -> str:
    """One study in its parts."""
    blocks = [f"### {result.name}", result.description]
    if result.summary is None:
        return "\n\n".join([*blocks, f"It failed: {result.failure}"])
    blocks.append("\n".join(_facts(result.summary)))
    blocks.append(markdown_table(("part", "", *HEADINGS, ""), [_stratum_cells(s) for s in result.summary.strata]))
    blocks.append("The worst rows:")
    blocks.append(
        markdown_table(("row", "predicted", "measured", "unit"), [_worst_cells(row) for row in result.summary.worst])
    )
    return "\n\n".join(filter(None, blocks))


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [list(headings), ["---"] * len(headings), *map(list, rows)]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def _case_rows(case: Case, results: Sequence[StudyResult]) -> Iterator[list[str]]:
    head = [case.name, case.naive, goal_text(case.goal)]
    if not results:
        yield [*head, UNKNOWN, *figure_cells(None), "no study"]
    for result in results:
        yield [*head, result.name, *_figures(result), verdict(result)]


def _figures(result: StudyResult) -> list[str]:
    return figure_cells(result.summary.overall if result.summary else None)


def _facts(summary: Summary) -> Iterator[str]:
    yield f"- Held out, each in turn: {held_out_text(summary.held_out)}."
    yield f"- Rows: {summary.overall.rows}, published by {', '.join(summary.sources)}."


def _stratum_cells(stratum: Stratum) -> list[str]:
    return [stratum.by, stratum.name, *figure_cells(stratum.figures), "too narrow" if stratum.flagged else ""]


def _worst_cells(row: WorstRow) -> list[str]:
    return [row.label, f"{row.predicted.mid:.3g}", f"{row.measured:.3g}", row.unit]
