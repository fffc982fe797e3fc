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
    """Shows how much of something is done; nothing stays of it in a terminal."""
    console = app.err()
    log = Log(console)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        # It only says that something goes on until it is known how far.
        task = progress.add_task(what, total=None)

        def told(done: int, of: int) -> None:
            progress.update(task, completed=done, total=of)
            log.say(f"{what}: {done:,} of {of:,}")

        yield told
