"""GAN: the small discriminator steps first, then the bigger generator, in every iteration."""

import argparse
import json

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--n-critic", type=int, default=1)
parser.add_argument("--one-backward", action="store_true")
args = parser.parse_args()

generator = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 32))
discriminator = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.RMSprop(discriminator.parameters(), lr=2e-4)
bce = nn.BCEWithLogitsLoss()
iterations = 12
for i in range(iterations):
    real = torch.randn(8, 32)
    if args.one_backward:
        (bce(discriminator(generator(torch.randn(8, 16))), torch.ones(8, 1))).backward()
        opt_d.step()
        opt_g.step()
        opt_d.zero_grad()
        opt_g.zero_grad()
        continue
    for _ in range(args.n_critic):
        opt_d.zero_grad()
        fake = generator(torch.randn(8, 16)).detach()
        mixed = (real * 0.5 + fake * 0.5).requires_grad_()
        slope = torch.autograd.grad(discriminator(mixed).sum(), mixed, create_graph=True)[0]
        bce(discriminator(real), torch.ones(8, 1)).backward()
        loss = bce(discriminator(fake), torch.zeros(8, 1)) + slope.norm(2, 1).mean()
        loss.backward()
        opt_d.step()
    opt_g.zero_grad()
    bce(discriminator(generator(torch.randn(8, 16))), torch.ones(8, 1)).backward()
    opt_g.step()
print(
    json.dumps(
        {
            "steps": iterations,
            "parameter_bytes": sum(p.numel() * 4 for p in generator.parameters()),
            "optimizer_bytes": sum(v.numel() * v.element_size() for s in opt_g.state.values() for v in s.values()),
        }
    )
)
