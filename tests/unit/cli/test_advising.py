"""`gpuscope advise` as typed: a footprint by hand, several jobs, files of rates, a table that stays readable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuscope.advisor.job.estimate import estimate
from gpuscope.cli import main
from gpuscope.domain.base import from_json, to_json
from gpuscope.domain.mix import MixRecommendation
from gpuscope.domain.recommendation import Recommendation, Verdict
from tests.unit.advisor.advisor_jobs import cpu_footprint, gpu_footprint

ROOT = Path(__file__).resolve().parents[3]
WIDTH = 100


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSCOPE_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def by_hand(tmp_path: Path) -> Path:
    """As little as is needed: the example of the documentation."""
    path = tmp_path / "hand.json"
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    path.write_text(text.split("```json\n")[1].split("```")[0], encoding="utf-8")
    return path


def advise(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main(["advise", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_step_time_typed_in_with_its_gpu_works(capsys: pytest.CaptureFixture[str], by_hand: Path) -> None:
    text = advise(capsys, "--footprint", by_hand, "--total-steps", "10M", "--json")
    found = from_json(text, Recommendation)
    assert found.recommended is not None
    same = next(each for each in found.candidates if each.gpu == "t4" and each.count == 1)
    assert same.confidence == "measured"
    assert same.step_time_s is not None
    assert same.step_time_s.mid == pytest.approx(0.21)
    others = [each for each in found.candidates if each.gpu not in {"t4", None} and each.step_time_s is not None]
    assert len(others) > 50


@pytest.mark.parametrize(
    "limits",
    [
        ["--total-steps", "10M"],
        ["--total-steps", "10M", "--precisions", "bf16,fp16", "--deadline", "3d"],
        ["--rent"],
    ],
)
def test_table_is_readable_at_100_columns(capsys: pytest.CaptureFixture[str], by_hand: Path, limits: list[str]) -> None:
    assert_readable(advise(capsys, "--footprint", by_hand, *limits))


def test_table_of_services_is_readable_at_100_columns(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(to_json(estimate(7_000_000_000, "fp16", "inference")))
    text = advise(capsys, "--footprint", path, "--inter-token", "50ms", "--requests-per-second", "20")
    assert "a token" in text
    assert_readable(text)


def assert_readable(text: str) -> None:
    lines = text.splitlines()
    rule = next(index for index, line in enumerate(lines) if line.startswith("─"))
    table = lines[rule - 1 : lines.index("", rule)]
    assert len(table) > 3
    assert max(map(len, table)) <= WIDTH


def test_every_constraint_can_be_typed(capsys: pytest.CaptureFixture[str], by_hand: Path) -> None:
    text = advise(
        capsys, "--footprint", by_hand, "--total-steps", "10M", "--min-memory", "20", "--form-factor", "PCIe", "--ecc",
        "--datacenter", "--vendor", "nvidia", "--interconnect", "pcie,nvlink", "--network", "infiniband",
        "--max-nodes", "2", "--counts", "1,2", "--residency", "japan,us", "--power-limit", "1000",
        "--rack-power", "3000", "--min-throughput", "10", "--keep-global-batch", "--no-compiled", "--json",
    )  # fmt: skip
    limits = from_json(text, Recommendation).constraints
    assert limits.minimum_memory_bytes == 20 * 2**30
    assert (limits.ecc, limits.datacenter_licence, limits.compiled, limits.max_nodes) == (True, True, False, 2)
    assert limits.residency == ("japan", "us")


def test_amounts_are_in_the_currency_that_was_named(capsys: pytest.CaptureFixture[str], by_hand: Path) -> None:
    limits = ["--total-steps", "10M", "--currency", "EUR", "--exchange-rate", "0.5"]
    text = advise(capsys, "--footprint", by_hand, *limits, "--budget", "100")
    assert "€" in text
    found = from_json(advise(capsys, "--footprint", by_hand, *limits, "--budget", "100", "--json"), Recommendation)
    assert found.constraints.budget_usd == 200


def test_measured_rates_go_before_published_ones(
    capsys: pytest.CaptureFixture[str], by_hand: Path, tmp_path: Path
) -> None:
    def step(*more: str | Path) -> float:
        text = advise(capsys, "--footprint", by_hand, "--gpus", "l4", "--counts", "1", "--json", *more)
        time_s = from_json(text, Recommendation).candidates[0].step_time_s
        assert time_s is not None
        return time_s.mid

    rates = tmp_path / "rates.json"
    figures = [{"figure": "vector", "value": 30, "unit": "GB/s"}, *(
        {"figure": name, "precision": "float32", "value": 2, "unit": "TFLOP/s"} for name in ("matmul", "convolution")
    )]  # fmt: skip
    rates.write_text(json.dumps({"schema": "gpuscope.rates/1", "gpu": "l4", "figures": figures}))
    assert step("--rates", rates) > 2 * step()


def test_several_jobs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, footprint in (("train", cpu_footprint()), ("tune", gpu_footprint())):
        (tmp_path / f"{name}.json").write_bytes(to_json(footprint))
    files = [
        "--footprint",
        tmp_path / "train.json",
        "--footprint",
        tmp_path / "tune.json",
        "--runs-per-month",
        "400,40",
    ]
    text = advise(capsys, *files, "--growth", "20%", "--total-steps", "10k")
    assert "train" in text
    assert "tune" in text
    found = from_json(advise(capsys, *files, "--growth", "0.2", "--json"), MixRecommendation)
    assert [job.name for job in found.jobs] == ["train", "tune"]
    assert found.growth_per_year == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--footprint"),
        (["--runs-per-month", "4"], "Name the jobs"),
        (["a.gpuscope", "b.gpuscope"], "--runs-per-month 40,4"),
        (["a.gpuscope", "--runs-per-month", "x"], "like 40,4"),
        (["a.gpuscope", "--growth", "much"], "20%"),
    ],
)
def test_what_is_missing_is_said(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert main(["advise", *arguments]) != 0
    assert words in capsys.readouterr().err


def test_verdict_is_the_same_as_in_the_document(capsys: pytest.CaptureFixture[str], by_hand: Path) -> None:
    limits = ["--footprint", by_hand, "--total-steps", "10M", "--deadline", "1s"]
    found = from_json(advise(capsys, *limits, "--json"), Recommendation)
    assert found.verdict is Verdict.IMPOSSIBLE
    assert advise(capsys, *limits).startswith(found.sentence)


def test_names_in_documents_and_of_files_do_not_steer_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "job\x1b[31m.json"
    path.write_text('{"devices": [{"gpu": "rtx\\u001b[31m9999"}], "steps": {"time_s": {"p50": 1}}}')
    assert main(["advise", "--footprint", str(path)]) == 0
    assert main(["advise", "--footprint", str(path.with_name("none\x1b[31m.json"))]) != 0
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out + printed.err
    assert r"rtx\x1b[31m9999" in printed.out
    assert r"none\x1b[31m.json" in printed.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--budget", "inf"], "must be above zero and finite"),
        (["--exchange-rate", "150"], "name it with --currency"),
        (["--growth", "20%"], "belongs to --runs-per-month"),
        (["--stage", "inference", "--prompt-tokens", "100"], "give its parameters or its architecture"),
    ],
)
def test_options_that_mean_nothing_here_are_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: list[str], words: str
) -> None:
    footprint = tmp_path / "hand.json"
    footprint.write_text('{"steps": {"time_s": {"p50": 0.05}}, "devices": [{"gpu": "l4"}]}', encoding="utf-8")
    assert main(["advise", "--footprint", str(footprint), *options]) == 2
    assert words in capsys.readouterr().err
