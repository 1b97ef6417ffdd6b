"""`gpuscope estimate` with dimensions and requests, as typed."""

from __future__ import annotations

import json

import pytest

from gpuscope.cli import main

_LLAMA = [
    "estimate",
    "--layers",
    "32",
    "--hidden",
    "4096",
    "--heads",
    "32",
    "--kv-heads",
    "8",
    "--feed-forward",
    "14336",
    "--gated",
    "--vocabulary",
    "128256",
    "--no-tied",
    "--dtype",
    "bf16",
]


def test_dimensions_and_requests(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [*_LLAMA, "--prompt-tokens", "2000", "--output-tokens", "500", "--concurrent", "16", "--engine", "vllm"]
    assert main([*arguments, "--json"]) == 0
    footprint = json.loads(capsys.readouterr().out)
    assert footprint["workload"]["parameters"] == 8_029_995_008
    assert footprint["workload"]["architecture"]["key_value_heads"] == 8
    assert footprint["workload"]["framework"]["name"] == "vllm"
    assert footprint["memory"]["breakdown"]["kv_cache_bytes"] == 16 * 2500 * 128 * 1024
    assert main(arguments) == 0
    assert "of KV cache; inference takes" in capsys.readouterr().out


def test_7b_weights_stay_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    for dtype, weights in (("fp32", "28 GB"), ("fp16", "14 GB")):
        assert main(["estimate", "--params", "7B", "--dtype", dtype]) == 0
        assert f"{weights} (" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--layers", "32"], "give --layers and --hidden"),
        (["--params", "7B", "--prompt-tokens", "10"], "give --prompt-tokens and --output-tokens"),
        ([], "Give the number of parameters"),
    ],
)
def test_what_is_missing_is_asked_for(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", *arguments]) != 0
    assert words in capsys.readouterr().err
