"""Mixed precision with a gradient scaler; some iterations overflow and are skipped."""

import argparse
import json

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--fused", action="store_true")
parser.add_argument("--unscale", action="store_true")
args = parser.parse_args()
model = nn.Linear(64, 64)
optimizer = torch.optim.AdamW(model.parameters(), fused=args.fused)
scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
overflows = {0, 4, 5, 11}
for i in range(14):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(torch.randn(8, 64)).sum()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    if i in overflows:
        model.weight.grad[0, 0] = float("inf")
    if args.unscale:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
print(
    json.dumps(
        {
            "steps": 14,
            "skipped": len(overflows),
            "parameter_bytes": sum(p.numel() * 4 for p in model.parameters()),
            "optimizer_bytes": sum(v.numel() * v.element_size() for s in optimizer.state.values() for v in s.values()),
        }
    )
)
