"""Traces the three small models of the known answers for a GTX 1650 against a desktop CPU; run by hand, in the
environment that `trace_models.py` names.

    PYTHONPATH=.:tests/accuracy python tests/accuracy/trace_known.py > known_models.json

The file lies in tests/data/advisor. Each is a training step in float32, as the article behind the answers trained: a
convolutional network on small pictures (ResNet-18 on 64×64), a recurrent one on text (two layers of LSTM over 200
words) and a small network of dense layers on tables (30 columns, two hidden layers).
"""

from __future__ import annotations

import json
import sys

import msgspec
import torch
import torchvision
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from trace_models import OperatorRows, classified

BATCH = 64


class TextClassifier(nn.Module):
    """Words to a class: embedding, two layers of LSTM, a dense layer on the last output."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20_000, 128)
        self.recurrent = nn.LSTM(128, 256, num_layers=2, batch_first=True)
        self.output = nn.Linear(256, 2)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.recurrent(self.embedding(words))
        return self.output(hidden[:, -1])


def step(model: nn.Module, inputs: torch.Tensor) -> dict[str, object]:
    """Parameters and operator classes of one training step with Adam."""
    optimizer = torch.optim.Adam(model.parameters())
    targets = torch.zeros((inputs.shape[0],), dtype=torch.int64)
    recorder = OperatorRows()
    with recorder:
        loss = nn.functional.cross_entropy(model(inputs), targets)
        recorder.phase = "backward"
        loss.backward()
        recorder.phase = "optimizer"
        optimizer.step()
    ops = [{key: value for key, value in msgspec.to_builtins(op).items() if value} for op in classified(recorder)]
    return {"parameters": sum(parameter.numel() for parameter in model.parameters()), "ops": ops}


def main() -> None:
    with FakeTensorMode():
        image_model = torchvision.models.resnet18(num_classes=10)
        table_model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))
        found = {
            "cnn": step(image_model, torch.zeros(BATCH, 3, 64, 64)),
            "rnn": step(TextClassifier(), torch.zeros((BATCH, 200), dtype=torch.int64)),
            "mlp": step(table_model, torch.zeros(BATCH, 30)),
        }
    json.dump({"batch": BATCH, "models": found}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
