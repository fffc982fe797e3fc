"""How far a command is: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress

from deroute.cli import app
from deroute.telling import Told

#: Between two lines of a log.
_REPORT_SECONDS = 30.0
#: What is done sooner shows no bar.
_PATIENCE_SECONDS = 0.5


class Log:
    """A line now and then, where a bar cannot be drawn."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._said = time.monotonic()

    def say(self, line: str) -> None:
        """Print the line, unless there is a terminal or one was printed just now."""
        if self.console.is_terminal or time.monotonic() - self._said < _REPORT_SECONDS:
            return
        self._said = time.monotonic()
        self.console.print(line)


@contextmanager
def bar(what: str) -> Iterator[Told]:
    """Shows how much of something is done, if that takes a while."""
    console, begin = app.err(), time.monotonic()
    log, progress = Log(console), Progress(console=console, transient=True)
    task = progress.add_task(what)

    def told(done: int, of: int) -> None:
        progress.update(task, completed=done, total=of)
        if console.is_terminal and time.monotonic() - begin > _PATIENCE_SECONDS:
            progress.start()
        log.say(f"{what}: {done:,} of {of:,}")

    try:
        yield told
    finally:
        if progress.live.is_started:
            progress.stop()
