"""Fully sharded training (FSDP2) of a small network; start it with torchrun."""

import json

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

STEPS = 12


def local(tensor):
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def size(tensors):
    return sum(local(t).numel() * local(t).element_size() for t in tensors)


dist.init_process_group("gloo")
torch.manual_seed(0)
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
model = nn.Sequential(*[nn.Linear(64, 64) for _ in range(4)])
for layer in model:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(STEPS):
    loss = model(torch.randn(8, 64)).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
if dist.get_rank() == 0:
    state = [v for s in optimizer.state.values() for v in s.values()]
    print(json.dumps({"steps": STEPS, "parameter_bytes": size(model.parameters()), "optimizer_bytes": size(state)}))
dist.destroy_process_group()
