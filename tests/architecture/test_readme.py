"""The README and the other documents say what is really there."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest

from gpuscope.cli.parser import build_parser


def commands() -> dict[str, str]:
    """Commands that the help lists, with their one-line help."""
    parser = build_parser()
    choices = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {action.dest: action.help or "" for action in choices._choices_actions if action.help}


def test_commands_are_those_of_the_command_line(root: Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| `([\w-]+)` \| (.+) \|$", text, flags=re.MULTILINE))
    assert table == commands()


@pytest.mark.parametrize("name", ["README.md", "docs/recording.md"])
def test_shown_command_lines_are_understood(root: Path, name: str) -> None:
    text = (root / name).read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"^```\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL))
    lines = re.findall(r"^gpuscope( .*)?$", blocks, flags=re.MULTILINE)
    shown = [shlex.split(re.split("[#>]", line)[0]) for line in lines]  # without comments and redirections
    assert len(shown) >= 4
    for arguments in shown:
        build_parser().parse(arguments)


def test_links_lead_somewhere(root: Path) -> None:
    for document in [*root.glob("*.md"), *(root / "docs").glob("*.md")]:
        text = document.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("name", ["README.md", "docs/developing.md"])
def test_make_targets_exist(root: Path, name: str) -> None:
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w[\w-]*):", makefile, flags=re.MULTILINE))
    mentioned = set(
        re.findall(r"(?:`|^)make ([a-z][\w-]*)", (root / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    assert mentioned
    assert mentioned <= targets
