"""CIFAR-style residual network: epochs, data loader with workers, SGD with momentum, evaluation in between."""

import json
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class FakeCifar(Dataset):
    def __len__(self):
        return 128

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        return torch.randn(3, 32, 32, generator=g), i % 10


class Block(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(cin, cout, 3, stride, 1, bias=False),
            nn.BatchNorm2d(cout),
            nn.ReLU(inplace=True),
            nn.Conv2d(cout, cout, 3, 1, 1, bias=False),
            nn.BatchNorm2d(cout),
        )
        self.skip = nn.Sequential()
        if stride != 1 or cin != cout:
            self.skip = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


def main():
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        Block(16, 16),
        Block(16, 32, 2),
        Block(32, 64, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, 10),
    )
    train_loader = DataLoader(FakeCifar(), batch_size=16, shuffle=True, num_workers=2, persistent_workers=True)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3)
    times, steps = [], 0
    for epoch in range(3):
        net.train()
        end = time.perf_counter()
        for inputs, targets in train_loader:
            optimizer.zero_grad()
            loss = criterion(net(inputs), targets)
            loss.backward()
            optimizer.step()
            steps += 1
            # The first of an epoch would hold the evaluation before it.
            now = time.perf_counter()
            times.append(now - end)
            end = now
        scheduler.step()
        net.eval()
        with torch.no_grad():
            net(inputs)
        print(f"epoch {epoch}: {sum(times) / len(times):.3f} s a step, loss {loss.item():.3f}")
    buffers = [s["momentum_buffer"] for s in optimizer.state.values()]
    print(
        json.dumps(
            {
                "steps": steps,
                "times": times,
                "samples": 16,
                "parameter_bytes": sum(p.numel() * p.element_size() for p in net.parameters()),
                "optimizer_bytes": sum(b.numel() * b.element_size() for b in buffers),
                "buffer_bytes": sum(b.numel() * b.element_size() for b in net.buffers()),
            }
        )
    )


if __name__ == "__main__":
    main()
