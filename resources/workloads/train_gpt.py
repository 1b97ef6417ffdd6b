"""Trains a small GPT on generated text: a sanity check of a machine, and an example of a training script.

python train_gpt.py --steps 100 --batch-size 16 --dtype bfloat16
"""

import argparse
import contextlib
import time

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # the name that PyTorch code uses

TEXT = "the quick brown fox jumps over a lazy dog while seven small birds sing about rain and morning light"


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout)
        )

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        q, k, v = (t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        dropout = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        x = x + self.projection(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary, length, width, layers, heads, dropout):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


class TextDataset(torch.utils.data.Dataset):
    """Windows of a long generated text, one token a character."""

    def __init__(self, samples, length, seed):
        generator = torch.Generator().manual_seed(seed)
        words = TEXT.split()
        picks = torch.randint(len(words), (samples * length // 4,), generator=generator)
        text = " ".join(words[i] for i in picks.tolist())
        self.characters = sorted(set(text))
        code = {c: i for i, c in enumerate(self.characters)}
        self.data = torch.tensor([code[c] for c in text])
        self.length = length
        self.samples = samples

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        start = (index * self.length) % (len(self.data) - self.length - 1)
        window = self.data[start : start + self.length + 1]
        return window[:-1], window[1:]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--length", type=int, default=128, help="tokens in a sample")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", choices=["float32", "bfloat16", "float16"], default="float32")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--seed", type=int, default=1234)
    return parser.parse_args()


def endless(loader):
    while True:
        yield from loader


def main():
    args = parse_arguments()
    torch.manual_seed(args.seed)
    device = torch.device(args.device)
    dataset = TextDataset(max(256, 4 * args.batch_size), args.length, args.seed)
    loader = torch.utils.data.DataLoader(
        dataset, batch_size=args.batch_size, shuffle=True, drop_last=True, num_workers=args.workers
    )
    model = GPT(len(dataset.characters), args.length, args.width, args.layers, args.heads, args.dropout).to(device)
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters / 1e6:.2f} M parameters on {device}, {args.dtype}", flush=True)
    if args.compile:
        model = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate, weight_decay=0.1)
    scaler = torch.amp.GradScaler(device.type, enabled=args.dtype == "float16")
    autocast = contextlib.nullcontext()
    if args.dtype != "float32":
        autocast = torch.autocast(device.type, dtype=getattr(torch, args.dtype))

    began = time.perf_counter()
    for step, (tokens, targets) in zip(range(1, args.steps + 1), endless(loader), strict=False):
        with autocast:
            loss = model(tokens.to(device), targets.to(device))
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        loss_value = loss.item()
        now = time.perf_counter()
        tokens_per_s = tokens.numel() / (now - began)
        if step <= 3 or step % 10 == 0 or step == args.steps:
            print(
                f"step {step:4d}/{args.steps}  loss {loss_value:.4f}  {(now - began) * 1e3:7.1f} ms  "
                f"{tokens_per_s:9.0f} tokens/s",
                flush=True,
            )
        began = now


if __name__ == "__main__":
    main()
