"""How far a command is."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from deroute.cli import bars


@pytest.mark.parametrize(("patience", "shown"), [(0.0, True), (60.0, False)])
def test_a_terminal_has_a_bar_once_something_takes_a_while(
    monkeypatch: pytest.MonkeyPatch, patience: float, shown: bool
) -> None:
    stream = StringIO()
    monkeypatch.setattr(bars.app, "err", lambda: Console(file=stream, force_terminal=True))
    monkeypatch.setattr(bars, "_PATIENCE_SECONDS", patience)
    with bars.bar("Points") as told:
        told(1, 4)
        told(2, 4)
    assert ("Points" in stream.getvalue(), "50%" in stream.getvalue()) == (shown, shown)


def test_elsewhere_there_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with bars.bar("Points") as told:
        told(1, 4_000)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(bars, "_REPORT_SECONDS", 0.0)
    with bars.bar("Points") as told:
        told(1_000, 4_000)
    assert capsys.readouterr().err == "Points: 1,000 of 4,000\n"
