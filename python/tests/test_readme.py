"""The README holds what it promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deroute.cli import app

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Code blocks of the README in one language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_notebook_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The Python example runs and gives a steady result."""
    (example,) = blocks("python")
    exec(compile(example, "README.md", "exec"), {})
    state, accepted, latency = capsys.readouterr().out.split()
    assert state == "steady"
    assert float(accepted) == pytest.approx(0.2, rel=0.02)
    assert 600 < float(latency) < 800


@pytest.mark.parametrize(
    "command", re.findall(r"^deroute (\w+)", "".join(blocks("sh")), re.MULTILINE)
)
def test_commands_exist(command: str) -> None:
    """Every command in the README exists."""
    assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0


def test_links_lead_somewhere() -> None:
    """Every relative link and image exists."""
    links = re.findall(r"\]\((?!http)([^)#]+)", README)
    assert links
    missing = [link for link in links if not (ROOT / link).exists()]
    assert not missing
