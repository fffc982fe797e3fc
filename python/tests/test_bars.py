"""How far a command is."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from deroute.cli import bars
from deroute.trace import free, goal, writing
from deroute.trace.ops import Compute, Lists, Receive, Send
from deroute.trace.statistics import summary


def test_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = StringIO()
    monkeypatch.setattr(bars.app, "err", lambda: Console(file=stream, force_terminal=True))
    with bars.bar("Points") as told:
        told(1, 4)
        told(2, 4)
    assert "Points" in stream.getvalue()
    assert "50%" in stream.getvalue()


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


def test_traces_that_are_read_and_written_say_how_far_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[int, int]] = []

    def hear(done: int, of: int) -> None:
        said.append((done, of))

    trace = Lists([[Compute(9), Send(1, 8)], [Receive(0, 8), Send(2, 8)], [Receive(1, 8)]])
    found = summary(trace, hear)
    writing.write(trace, tmp_path / "text", told=hear)
    assert said == [(1, 3), (2, 3), (3, 3)] * 2
    said.clear()
    # The first time for the sizes of collectives.
    goal.write(trace, StringIO(), told=hear)
    assert said == [(done, 6) for done in range(1, 7)]
    said.clear()
    monkeypatch.setattr(free, "_SELDOM", 1)
    free.FreeNetwork(trace).run(found.calls, hear)
    assert said == sorted(said)
    assert (found.calls, said[-1]) == (4, (4, 4))
