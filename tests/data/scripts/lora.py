"""Fine-tunes low-rank adapters of a frozen base in bfloat16."""

import json

import torch
from torch import nn


class LoraLinear(nn.Module):
    def __init__(self, width, rank):
        super().__init__()
        self.base = nn.Linear(width, width).to(torch.bfloat16)
        self.base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, width) * 0.01)
        self.b = nn.Parameter(torch.zeros(width, rank))

    def forward(self, x):
        return self.base(x.to(torch.bfloat16)).float() + x @ self.a.t() @ self.b.t()


model = nn.Sequential(*[LoraLinear(128, 4) for _ in range(3)])
trainable = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trainable)
for _ in range(6):
    optimizer.zero_grad()
    model(torch.randn(4, 128)).square().mean().backward()
    optimizer.step()
print(
    json.dumps(
        {
            "steps": 6,
            "parameter_bytes": sum(p.numel() * p.element_size() for p in trainable),
            "optimizer_bytes": sum(v.numel() * v.element_size() for s in optimizer.state.values() for v in s.values()),
            "model_bytes": sum(p.numel() * p.element_size() for p in model.parameters()),
            "trainable": sum(p.numel() for p in trainable),
        }
    )
)
