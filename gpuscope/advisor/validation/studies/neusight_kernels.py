"""Single FP32 operators on GPUs that nothing was measured on."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.calibration.power_limits import chip
from gpuscope.advisor.calibration.published import product_flops
from gpuscope.advisor.job.job import prepare
from gpuscope.advisor.job.precision import FLOAT32
from gpuscope.advisor.timing.time_model import step_on_gpu
from gpuscope.advisor.validation.kernel_rows import ELEMENT_BYTES, moving_op, moving_rows, moving_seconds
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._specified import without_chip
from gpuscope.advisor.validation.tables import Cells, Tables
from gpuscope.domain.footprint import Footprint, FootprintSource, Op, Precision, Workload
from gpuscope.domain.recommendation import Constraints

NAME = "neusight-kernels"
DESCRIPTION = (
    "Single operators in FP32 without TF32 (products of matrices, elementwise, softmax, layer norm) from their shapes, "
    "on GPUs of which only specifications are known: no published row of the GPU's chip was seen."
)
CASE = ""
GOAL = None
TRIED = ""

_EVERY = 4
"""So many rows apart are the ones that are predicted: the others say the same."""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """A sample of both tables."""
    for row in tables.rows("neusight_gemm")[::_EVERY]:
        yield _outcome(row, _product(row), f"{row['b']} × {row['m']}×{row['n']}×{row['k']}", tables)
    for row in moving_rows(tables)[::_EVERY]:
        yield _outcome(row, moving_op(row), f"{row['rows']} × {row['width']}", tables)


def _outcome(row: Cells, op: Op, shape: str, tables: Tables) -> Outcome:
    gpu = tables.catalogue.gpu(row["gpu_id"])
    assert gpu is not None
    footprint = Footprint(
        source=FootprintSource(kind="dry_run"),
        workload=Workload(stage="inference", precision=Precision(compute=FLOAT32, parameters=FLOAT32), compiled=False),
        ops=(op,),
    )
    job = prepare(footprint, Constraints(), tables.catalogue, without_chip(tables, chip(gpu)))
    predicted = step_on_gpu(job, gpu)
    return Outcome(
        study=NAME,
        family=op.kind,
        gpu=gpu.id,
        precision=FLOAT32,
        label=f"{row['op']} {shape}",
        predicted=predicted.seconds,
        measured=moving_seconds(row),
        held_out=f"all GPUs like {gpu.name}",
        source="sitar-lab/NeuSight",
        refusal="" if predicted.seconds is not None else predicted.how,
    )


def _product(row: Cells) -> Op:
    b, m, n, k = (float(row[name] or 1) for name in ("b", "m", "n", "k"))
    # A linear layer has one matrix of weights for all rows; a batch of products has one each.
    weights = b * k * n if row["m"] else k * n
    return Op(
        kind="gemm", class_="gemm", dtype=FLOAT32, flops=product_flops(row),
        bytes_read=ELEMENT_BYTES * (b * m * k + weights), bytes_written=ELEMENT_BYTES * b * m * n,
        kernels=1.0, n=round(n), k=round(k),
    )  # fmt: skip
