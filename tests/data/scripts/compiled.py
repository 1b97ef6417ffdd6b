"""A compiled model without graph breaks, checkpointed layers, and an optimizer whose step is compiled as well."""

import json

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.layers(x)


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
fast = torch.compile(model, backend="aot_eager", fullgraph=True)


@torch.compile(backend="aot_eager")
def update():
    optimizer.step()


for _ in range(6):
    x = torch.randn(4, 32, requires_grad=True)
    (fast(x) + checkpoint(model, x, use_reentrant=True) + checkpoint(model, x, use_reentrant=False)).sum().backward()
    update()
    optimizer.zero_grad()
print(
    json.dumps(
        {
            "steps": 6,
            "parameter_bytes": sum(p.numel() * 4 for p in model.parameters()),
            "optimizer_bytes": sum(v.numel() * v.element_size() for s in optimizer.state.values() for v in s.values()),
        }
    )
)
