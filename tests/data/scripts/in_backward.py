"""One optimizer a parameter, each stepping inside backward as soon as its gradient is there, to save memory."""

import json

import torch
from torch import nn

model = nn.Sequential(*[nn.Linear(32, 32) for _ in range(30)])
optimizers = {p: torch.optim.Adam([p], foreach=False) for p in model.parameters()}


def optimizer_hook(parameter):
    optimizers[parameter].step()
    optimizers[parameter].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(optimizer_hook)
for i in range(9):
    model(torch.randn(4, 32)).sum().backward()
state = [v for o in optimizers.values() for s in o.state.values() for v in s.values()]
print(
    json.dumps(
        {
            "steps": 9,
            "parameter_bytes": sum(p.numel() * 4 for p in model.parameters()),
            "optimizer_bytes": sum(v.numel() * v.element_size() for v in state),
        }
    )
)
