"""Character-level GPT in one file: the usual loop, with gradient accumulation and clipping."""

import argparse
import json
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--accumulate", type=int, default=1)
args = parser.parse_args()

vocab_size, block_size, n_embd, n_head, n_layer, batch_size = 65, 64, 128, 4, 2, 8
torch.manual_seed(1337)
data = torch.randint(vocab_size, (10_000,))


def get_batch():
    ix = torch.randint(len(data) - block_size - 1, (batch_size,))
    x = torch.stack([data[i : i + block_size] for i in ix])
    y = torch.stack([data[i + 1 : i + block_size + 1] for i in ix])
    return x, y


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.attn = nn.MultiheadAttention(n_embd, n_head, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))

    def forward(self, x, mask):
        h = self.ln_1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab_size, n_embd), nn.Embedding(block_size, n_embd)
        self.h = nn.ModuleList([Block() for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        self.lm_head.weight = self.wte.weight
        self.register_buffer("mask", torch.triu(torch.ones(block_size, block_size, dtype=torch.bool), 1))

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe.weight
        for block in self.h:
            x = block(x, self.mask)
        return F.cross_entropy(self.lm_head(self.ln_f(x)).view(-1, vocab_size), targets.view(-1))


model = GPT()
decay = [p for p in model.parameters() if p.dim() >= 2]
no_decay = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.0}])

times = []
t0 = time.perf_counter()
for it in range(args.steps):
    for micro_step in range(args.accumulate):
        x, y = get_batch()
        loss = model(x, y) / args.accumulate
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    t1 = time.perf_counter()
    times.append(t1 - t0)
    t0 = t1
    optimizer.zero_grad(set_to_none=True)
    print(f"iter {it}: loss {loss.item() * args.accumulate:.4f}, time {times[-1] * 1000:.2f}ms")

state = [v for s in optimizer.state.values() for v in s.values() if torch.is_tensor(v)]
print(
    json.dumps(
        {
            "steps": args.steps,
            "times": times,
            "parameter_bytes": sum(p.numel() * p.element_size() for p in model.parameters()),
            "optimizer_bytes": sum(v.numel() * v.element_size() for v in state),
            "buffer_bytes": sum(b.numel() * b.element_size() for b in model.buffers()),
        }
    )
)
