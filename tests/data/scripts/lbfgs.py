"""Fits a small network with LBFGS, whose step evaluates its closure many times."""

import json

import torch


def size(value):
    if torch.is_tensor(value):
        return value.numel() * value.element_size()
    if isinstance(value, (list, tuple)):
        return sum(size(v) for v in value)
    return 0


torch.manual_seed(0)
x = torch.linspace(-1, 1, 200).unsqueeze(1)
y = torch.sin(3 * x)
net = torch.nn.Sequential(torch.nn.Linear(1, 20), torch.nn.Tanh(), torch.nn.Linear(20, 1))
opt = torch.optim.LBFGS(net.parameters(), max_iter=5, history_size=4, line_search_fn="strong_wolfe")
calls = 0


def closure():
    global calls
    calls += 1
    opt.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    return loss


for epoch in range(7):
    loss = opt.step(closure)
assert calls > 14
print(
    json.dumps(
        {
            "steps": 7,
            "parameter_bytes": sum(size(p) for p in net.parameters()),
            "optimizer_bytes": sum(size(v) for s in opt.state.values() for v in s.values()),
        }
    )
)
