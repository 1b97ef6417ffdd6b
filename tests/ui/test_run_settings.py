"""What is typed into the Run panel: checked with a sentence for each mistake, remembered without secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuscope.errors import UsageError
from gpuscope.ui.run_settings import (
    RunSettings,
    from_spec,
    parse_environment,
    problems,
    split_arguments,
    to_request,
    without_secrets,
)
from tests.ui.run_samples import manifest


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train it.py"
    path.write_text("print(1)")
    return path


def test_a_script_runs_in_its_own_folder_unless_told_otherwise(script: Path, tmp_path: Path) -> None:
    request = to_request(RunSettings(target=str(script), arguments="--name 'two words' -x", total_steps="5k"))
    assert request.args == ("train it.py", "--name", "two words", "-x")
    assert request.cwd == str(script.parent)
    assert request.total_steps == 5000
    assert request.python is None
    other = tmp_path / "elsewhere"
    other.mkdir()
    request = to_request(RunSettings(target=str(script), folder=str(other)))
    assert (request.cwd, request.args[0]) == (str(other), str(script))


def test_what_can_start_has_no_problems(script: Path) -> None:
    assert problems(RunSettings(target=str(script), environment="A=1\n\nB=x=y\n")) == {}
    assert problems(RunSettings(kind="module", target="package.train", folder=str(script.parent))) == {}
    assert problems(RunSettings(kind="command", target="torchrun", folder=str(script.parent))) == {}


@pytest.mark.parametrize(
    ("changes", "field", "part"),
    [
        ({"target": ""}, "target", "Choose the Python script"),
        ({"target": "/nowhere/train.py"}, "target", "There is no file /nowhere/train.py"),
        ({"target": "/"}, "target", "is a folder"),
        ({"kind": "module", "target": "my-module.py"}, "target", "module's name"),
        ({"kind": "command", "target": " "}, "target", "program to start"),
        ({"arguments": "--name 'open"}, "arguments", "quotation mark"),
        ({"arguments": "ends in \\"}, "arguments", "backslash"),
        ({"arguments": "--api-key ***"}, "arguments", "not remembered"),
        ({"python": "/nowhere/python"}, "python", "not a program"),
        ({"folder": "/nowhere"}, "folder", "There is no folder /nowhere"),
        ({"environment": "GOOD=1\nnot a line"}, "environment", "Line 2"),
        ({"environment": "HF_TOKEN=***"}, "environment", "value of HF_TOKEN"),
        ({"total_steps": "many"}, "total_steps", "is not a number"),
        ({"total_steps": "0"}, "total_steps", "at least 1"),
    ],
)
def test_each_mistake_is_one_sentence_at_its_field(
    script: Path, changes: dict[str, str], field: str, part: str
) -> None:
    fields = {"target": str(script), **changes}
    found = problems(RunSettings(**fields))  # type: ignore[arg-type]  # fields of mixed types
    assert part in found[field]
    assert found[field].endswith(".")


def test_arguments_are_not_expanded() -> None:
    assert split_arguments("$HOME *.txt # no comment ~") == ("$HOME", "*.txt", "#", "no", "comment", "~")


def test_the_environment_keeps_equal_signs_and_takes_the_last() -> None:
    assert parse_environment("A=1\nURL=http://x?a=b\nA=2") == {"A": "2", "URL": "http://x?a=b"}
    with pytest.raises(UsageError, match="Line 1"):
        parse_environment("1A=2")


def test_secrets_are_not_remembered() -> None:
    settings = RunSettings(arguments="--api-key abcdef --epochs 3", environment="HF_TOKEN=hf_secret\nOMP_NUM_THREADS=8")
    kept = without_secrets(settings)
    assert "abcdef" not in kept.arguments
    assert "--epochs 3" in kept.arguments
    assert kept.environment == "HF_TOKEN=***\nOMP_NUM_THREADS=8"


def test_a_session_fills_the_form_in_again() -> None:
    spec = manifest().run
    assert spec is not None
    settings = from_spec(spec)
    assert settings.target == "train.py"
    assert split_arguments(settings.arguments) == ("--config", "gpt2 medium.yaml")
    assert settings.folder == "/home/me/job"
    assert settings.python == "/opt/venv/bin/python"
    assert settings.total_steps == "5000"
    assert "HF_TOKEN=***" in settings.environment
