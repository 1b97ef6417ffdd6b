"""What is left out of a report, and that nothing else is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.domain.footprint import Finding
from gpuscope.report.json_file import json_bytes
from gpuscope.report.model import Report
from gpuscope.report.pdf import pdf_bytes
from gpuscope.report.privacy import MAX_TEXT, Redactor, command_title, inert
from gpuscope.store.reader import SessionReader
from tests.builders import FOLDER, HOSTNAME, USER, build_footprint, build_session, failed, uuid_of
from tests.unit.report.conftest import pdf_text

MakeReport = Callable[..., Report]

SECRET = "hunter2-hunter2"


@pytest.fixture(scope="module")
def redactor(tmp_path_factory: pytest.TempPathFactory) -> Redactor:
    path = build_session(tmp_path_factory.mktemp("privacy") / "run.gpuscope", steps=2)
    with SessionReader(path) as reader:
        return Redactor(reader.manifest)


def revealing() -> Finding:
    return Finding(
        code="x",
        sentence=f"On {HOSTNAME} the user {USER} keeps {FOLDER}/data/train.bin on {uuid_of(0)}.",
        evidence=f"{USER}@{HOSTNAME}: api_key={SECRET}",
    )


def test_a_report_names_nobody(make_report: MakeReport) -> None:
    report = make_report(outcome=failed(), footprint=build_footprint(findings=[revealing()]), steps=10)
    for text in (json_bytes(report).decode(), pdf_text(pdf_bytes(report))):
        for secret in (HOSTNAME, USER, FOLDER, "secret-project", "/home/", uuid_of(0), SECRET):
            assert secret not in text
        assert "train.bin" in text
        assert "FileNotFoundError" in text
        assert "NVIDIA L40S" in text
        assert "https://example.com/prices" in text


@pytest.mark.parametrize("name", ["text", "choice", "figure", "rent", "plot", "percent"])
def test_a_machine_called_like_a_word_of_the_program(make_report: MakeReport, name: str) -> None:
    report = make_report(steps=3, hostname=name)
    assert report.decision.verdict == "rent"
    assert pdf_bytes(report).startswith(b"%PDF-")


def test_identity_when_asked_for(make_report: MakeReport) -> None:
    report = make_report(outcome=failed(), include_identity=True, steps=10)
    assert report.identity is not None
    assert (report.identity.host, report.identity.folder) == (HOSTNAME, FOLDER)
    assert report.identity.gpu_uuids == (uuid_of(0),)
    assert report.evidence.outcome is not None
    assert report.evidence.outcome.last_output[-1] == "boom"
    text = pdf_text(pdf_bytes(report))
    assert HOSTNAME in text
    assert SECRET not in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No such file: '/home/ada/My Runs/x.bin'", "No such file: '…/x.bin'"),
        ("see /data/sets/imagenet/train.tar: gone", "see …/train.tar: gone"),
        ("in ~/runs/a.py and ~ada/b.py", "in …/a.py and …/b.py"),
        (r"D:\Users\ada\runs\a.py failed", "…/a.py failed"),
        ("under /home/zoe", "under …/…"),
        ("mail bob@example.com", "mail …"),
        ("GPU-0a1b2c3d-1111-2222-3333-444455556666 fell off", "GPU-… fell off"),
        ("token hf_abcdefghijklmnopqrstuvwxyz", "token ***"),
    ],
)
def test_left_out(redactor: Redactor, text: str, expected: str) -> None:
    assert redactor(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "12.3 GB/s at 2.31 steps/s/GPU",
        "https://github.com/aws/karpenter/blob/main/prices.go",
        "https://compute.example/home/pricing/",
        "Enlarge /dev/shm, read /proc/meminfo",
        "training/inference, and/or",
        "GPU-to-GPU traffic",
        "NVIDIA H100 80GB HBM3",
        "2026-10-06T12:00:00+00:00",
        "AMD EPYC 9354 32-Core Processor",
    ],
)
def test_kept(redactor: Redactor, text: str) -> None:
    assert redactor(text) == text


def test_inert() -> None:
    assert inert("\x1b]0;title\x07a\x1b[1mb\x00\u202ec\u200b\nd\t e") == "abc d e"
    assert inert("a \x1b\rb") == "a b"
    long = inert("x" * 10_000)
    assert long == "x" * MAX_TEXT + "… (10,000 characters)"


@given(st.text())
def test_inert_is_one_printable_line(text: str) -> None:
    shown = inert(text)
    assert "\x1b" not in shown
    assert "\n" not in shown
    assert inert(shown) == shown or len(text) > MAX_TEXT


def test_command_title() -> None:
    assert command_title("runs/secret/train.py --data=/srv/x/y.bin --lr 1e-3") == "train.py --data=y.bin --lr 1e-3"
    assert command_title(r"D:\work\a.py -v") == "a.py -v"
