"""Packs traced tables and the published rows that they belong to into resources/calibration; run by hand.

    .venv/bin/python tests/accuracy/pack_models.py THROUGHPUT_FOLDER TRACES.jsonl... --training TRACES.jsonl...

`THROUGHPUT_FOLDER` holds timm_infer_3090_4090.csv, timm_infer_cpu.csv and timm_train_3090.csv: samples of the results/
folder of huggingface/pytorch-image-models, with the columns device, precision, layout, torch, compiled, model,
img_size, batch, step_ms, gpu_id and cpu_id.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from pathlib import Path
from typing import Any

RESOURCES = Path(__file__).resolve().parents[2] / "resources" / "calibration"
COLUMNS = ("gpu_id", "cpu_id", "precision", "layout", "torch", "compiled", "model", "img_size", "batch", "step_ms")
PUBLISHED = {
    "timm_inference": "timm_infer_3090_4090.csv",
    "timm_cpu": "timm_infer_cpu.csv",
    "timm_training": "timm_train_3090.csv",
}
_TRAINING_TABLES = 300
"""Training tables are four times as large as the others: as many as are needed to tell classes apart."""


def main() -> None:
    folder, rest = Path(sys.argv[1]), sys.argv[2:]
    split = rest.index("--training") if "--training" in rest else len(rest)
    tables = {(entry["model"], entry["img_size"]): entry for path in rest[:split] for entry in _entries(path)}
    added = 0
    for path in rest[split + 1 :]:
        for entry in _entries(path):
            known = tables.get((entry["model"], entry["img_size"]))
            if known is not None and added < _TRAINING_TABLES:
                known["training"] = entry["training"]
                added += 1
    lines = [json.dumps(tables[key], separators=(",", ":")) for key in sorted(tables)]
    packed = gzip.compress("".join(line + "\n" for line in lines).encode(), 9, mtime=0)
    (RESOURCES / "op_tables.jsonl.gz").write_bytes(packed)
    print(f"{len(lines)} models, {added} with training, {len(packed) / 1e3:.0f} kB")
    for name, source in PUBLISHED.items():
        _pack_rows(folder / source, RESOURCES / "published" / f"{name}.csv", set(tables))


def _entries(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines() if line.endswith("}")]


def _pack_rows(source: Path, target: Path, traced: set[tuple[str, int]]) -> None:
    with source.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["model"], int(row["img_size"])) in traced]
    rows.sort(key=lambda row: [row.get(column) or "" for column in COLUMNS])
    with target.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([row.get(column) or "" for column in COLUMNS] for row in rows)
    print(f"{target.name}: {len(rows)} rows")


if __name__ == "__main__":
    main()
