"""Trains a small residual network on generated pictures: a sanity check, and an example of a training script.

python train_resnet.py --steps 50 --batch-size 32
"""

import argparse
import contextlib
import time

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # the name that PyTorch code uses


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


def resnet(width, blocks, classes):
    layers = [nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    inputs = width
    for stage in range(3):
        outputs = width * 2**stage
        for block in range(blocks):
            layers.append(BasicBlock(inputs, outputs, 2 if block == 0 and stage > 0 else 1))
            inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))


class Pictures(torch.utils.data.Dataset):
    """Noise whose mean colour tells the class."""

    def __init__(self, samples, size, classes, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(classes, (samples,), generator=self.generator)
        self.colours = torch.randn(classes, 3, 1, 1, generator=self.generator)
        self.size = size

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        label = self.labels[index]
        return torch.randn(3, self.size, self.size) + self.colours[label], label


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--size", type=int, default=32, help="pixels a side")
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--blocks", type=int, default=2, help="residual blocks in each of the three stages")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", choices=["float32", "bfloat16", "float16"], default="float32")
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1234)
    return parser.parse_args()


def endless(loader):
    while True:
        yield from loader


def main():
    args = parse_arguments()
    torch.manual_seed(args.seed)
    device = torch.device(args.device)
    loader = torch.utils.data.DataLoader(
        Pictures(64 * args.batch_size, args.size, args.classes, args.seed),
        batch_size=args.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=args.workers,
    )
    layout = torch.channels_last if args.channels_last else torch.contiguous_format
    model = resnet(args.width, args.blocks, args.classes).to(device, memory_format=layout)
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters / 1e6:.2f} M parameters on {device}, {args.dtype}", flush=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.learning_rate, momentum=0.9, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.steps)
    scaler = torch.amp.GradScaler(device.type, enabled=args.dtype == "float16")
    autocast = contextlib.nullcontext()
    if args.dtype != "float32":
        autocast = torch.autocast(device.type, dtype=getattr(torch, args.dtype))

    began = time.perf_counter()
    for step, (pictures, labels) in zip(range(1, args.steps + 1), endless(loader), strict=False):
        pictures = pictures.to(device, memory_format=layout)
        with autocast:
            loss = F.cross_entropy(model(pictures), labels.to(device))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
        loss_value = loss.item()
        now = time.perf_counter()
        if step <= 3 or step % 10 == 0 or step == args.steps:
            print(
                f"step {step:4d}/{args.steps}  loss {loss_value:.4f}  {(now - began) * 1e3:7.1f} ms  "
                f"{args.batch_size / (now - began):7.1f} pictures/s",
                flush=True,
            )
        began = now


if __name__ == "__main__":
    main()
