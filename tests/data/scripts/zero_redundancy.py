"""Data-parallel training on two ranks whose optimizer state is sharded between them."""

import json
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel


def worker(rank, world_size, store):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world_size)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(*[nn.Linear(64, 64) for _ in range(4)]))
    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=1e-3)
    for _ in range(8):
        optimizer.zero_grad()
        model(torch.randn(4, 64)).sum().backward()
        optimizer.step()
    state = [v for s in optimizer.optim.state.values() for v in s.values()]
    result = {
        "steps": 8,
        "pid": os.getpid(),
        "parameter_bytes": sum(p.numel() * 4 for p in model.parameters()),
        "optimizer_bytes": sum(v.numel() * v.element_size() for v in state),
    }
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(worker, args=(2, folder + "/store"), nprocs=2)
