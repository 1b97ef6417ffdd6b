"""Power under load: from the work a second of training and serving runs to the mean power that was measured.

power.csv has operations and bytes of one GPU a second, reckoned from what the sources state:

- Served language models: 2 × parameters for each output token; weights and the cache of all requests at the mean output
  length, read once in the published time per output token. Prompts are not published and not counted. Power is the
  published energy of a request ÷ its output tokens × tokens a second ÷ GPUs.
- Language models answering one request at a time: weights read once for each token, 16 bits; power is the published
  energy of an answer ÷ its time. The source says A100; it is taken as the 40 GB SXM4 card that its later version names.
- BERT-base on SQuAD (88,524 sequences of 384 tokens an epoch): 212 GFLOP and 4.9 to 6.1 GB a sequence by batch size,
  counted from the operators of a training step of that shape in PyTorch.
- A stage of GPT-3 (12 of 96 layers, 2048 tokens): operations of its shape at eight-way tensor parallelism, the only one
  at which its time is possible; weights and activations (13 × tokens × width × 2 bytes a layer, written and read) as
  bytes. The same file's A100 rows are left out: they show 460 W, more than the 400 W of the catalogue's board.
- NCF on MovieLens: the GPU waits for its host; no work is counted.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope.advisor.cost.power import PowerShares, mean_watts
from gpuscope.advisor.validation.outcome import Outcome
from gpuscope.advisor.validation.studies._power_fit import PowerRow, fit, power_rows
from gpuscope.advisor.validation.tables import Tables

NAME = "energy"
DESCRIPTION = (
    "Mean power of a GPU from the operations and bytes a second of published runs (language models served, BERT and a "
    "stage of GPT-3 trained, a net that waits for its host), the GPU itself left out of the fit. Energy is this power "
    "× time, so its error comes on top of that of the time."
)
CASE = ""
GOAL = None
TRIED = ""


def outcomes(tables: Tables) -> Iterator[Outcome]:
    """Each row with shares that were fitted without its GPU."""
    rows = power_rows(tables)
    for name in sorted({row.gpu.id for row in rows}):
        shares = fit([row for row in rows if row.gpu.id != name])
        yield from (_outcome(row, shares) for row in rows if row.gpu.id == name)


def _outcome(row: PowerRow, shares: PowerShares) -> Outcome:
    cells, gpu = row.cells, row.gpu
    limit = f", limited to {row.load.limit_w:g} W" if row.load.limit_w is not None else ""
    return Outcome(
        study=NAME,
        family=cells["kind"],
        gpu=gpu.id,
        precision=row.load.precision,
        label=f"{cells['model']}, batch {cells['batch']} on {cells['gpus']}× {gpu.name}{limit}",
        predicted=mean_watts(row.load, gpu, shares),
        measured=row.watts,
        unit="W",
        held_out=gpu.id,
        source=cells["source"],
    )
