"""What all commands share: errors without tracebacks, exit codes, the console."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text
from typer.core import TyperGroup

from deroute import _engine, data
from deroute.errors import InputError, Problem, SimulationError, SpecError
from deroute.experiment import Experiment

#: Exit codes.
BAD_INPUT = 2
FAILED = 1
INTERRUPTED = 130
TERMINATED = 143

_PIPE_WIDTH = 160


def _file_or_example(file: Path | None) -> Path | None:
    """The file; that of an example where there is none of this name."""
    if file is None or file.exists():
        return file
    examples = data.examples()
    if str(file) in examples:
        return examples[str(file)]
    if file.name == str(file) and not file.suffix:
        message = f"there is neither a file nor an example {str(file)!r}"
        raise InputError.of(message, "FILE", examples)
    return file


#: An experiment, or a spec, in a file.
SPEC = typer.Argument(
    metavar="FILE",
    callback=_file_or_example,
    help="Experiment or spec (TOML), or the name of one of `deroute examples`.",
)
File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        callback=_file_or_example,
        help="Experiment file (TOML), or the name of one of `deroute examples`.",
    ),
]
Where = Annotated[
    list[str],
    typer.Option(
        "--where",
        metavar="AXIS=LABEL",
        help="Apply what this label of the axis sets; may be repeated.",
    ),
]
Assignments = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Set an entry of the spec (TOML value); the last one counts.",
    ),
]
Directory = Annotated[
    Path, typer.Argument(metavar="DIR", help="Result directory, as `deroute run` names it.")
]
Pairs = Annotated[
    list[str], typer.Option("--where", metavar="AXIS=LABEL", help="Only points with this label.")
]


def out() -> Console:
    """Console for results; wide where it is no terminal, so that tables are whole."""
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(highlight=False, emoji=False, width=width)


def err() -> Console:
    """Console for everything else."""
    return Console(stderr=True, highlight=False, emoji=False)


class Group(TyperGroup):
    """Reports what a user did wrong on one screen, with exit code 2 and no traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            with _termination():
                result = super().invoke(ctx)
                sys.stdout.flush()
                return result
        except InputError as error:
            report(error.problems)
        except SpecError as error:
            report([Problem(error.message, error.path, tuple(error.choices))])
        except SimulationError as error:
            err().print(Text(f"error: {error}", style="red"))
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt as error:
            raise typer.Exit(interrupted(error)) from None
        except BrokenPipeError:
            # The reader of a pipe has gone, as `head` does.
            _drop_output()
            sys.stderr.close()
            raise typer.Exit(FAILED) from None
        except OSError as error:
            _drop_output()
            err().print(Text(f"error: {error}", style="red"), soft_wrap=True)
            raise typer.Exit(FAILED) from None
        raise typer.Exit(BAD_INPUT)


class Terminated(KeyboardInterrupt):
    """SIGTERM: what a batch system sends before it kills. Everything stops as on Ctrl-C."""


def interrupted(error: KeyboardInterrupt) -> int:
    """Exit code after Ctrl-C or SIGTERM."""
    return TERMINATED if isinstance(error, Terminated) else INTERRUPTED


@contextmanager
def _termination() -> Iterator[None]:
    """Turns SIGTERM into an exception."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(*_: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _drop_output() -> None:
    """Forget what could not be written, so that Python does not try again when it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def report(problems: Sequence[Problem]) -> None:
    """Print problems to standard error."""
    _print("[bold red]error:[/]", problems)


def warn(problems: Sequence[Problem]) -> None:
    """Print to standard error what is possible and yet doubtful."""
    _print("[bold yellow]warning:[/]", problems)


def _print(what: str, problems: Sequence[Problem]) -> None:
    console = err()
    for problem in problems:
        first, *rest = problem.lines()
        console.print(f"{what} {escape(first)}", soft_wrap=True)
        for line in rest:
            console.print(escape(line), soft_wrap=True)


def build(
    commands: Sequence[Callable[..., Any]],
    groups: Mapping[str, tuple[str, Sequence[Callable[..., Any]]]],
) -> typer.Typer:
    """The application with these commands; a group has a help text and commands of its own."""
    app = typer.Typer(
        name="deroute",
        cls=Group,
        help="Simulate routing and congestion in interconnection networks.",
        epilog="Start with:  deroute check experiments/demo.toml",
        no_args_is_help=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for command in commands:
        app.command(no_args_is_help=False)(command)
    for name, (text, members) in groups.items():
        group = typer.Typer(name=name, help=text, no_args_is_help=True)
        for command in members:
            group.command(no_args_is_help=False)(command)
        app.add_typer(group)

    app.callback()(_options)
    return app


def _version(shown: bool) -> None:
    if shown:
        out().print(f"deroute {_engine.VERSION}")
        raise typer.Exit


def _options(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Options of the command itself."""


def pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """`key=value` options as a table; the last one of a key counts."""
    return dict(_entries(texts, option))


def _entries(texts: Sequence[str], option: str) -> Iterator[tuple[str, str]]:
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError.of(f"{text!r} is not written as key=value", option)
        yield key.strip(), value.strip()


def labels(experiment: Experiment, texts: Sequence[str]) -> dict[str, Any]:
    """`--where` options as labels of the experiment's axes."""
    chosen: dict[str, Any] = {}
    for axis, text in _entries(texts, "--where"):
        if axis not in experiment.axes:
            raise InputError.of(f"unknown axis `{axis}`", "--where", experiment.axes)
        known = experiment.axes[axis]
        match = next((label for label in known if _same(label, text)), None)
        if match is None:
            raise InputError.of(f"no label {text!r} on the axis {axis}", "--where", known)
        if axis in chosen:
            message = f"{axis} is given twice: {chosen[axis]} and {match}"
            raise InputError.of(message, "--where")
        chosen[axis] = match
    return chosen


def _same(label: Any, text: str) -> bool:
    if isinstance(label, str):
        return label == text
    try:
        return bool(float(text) == label)
    except ValueError:
        return False


def duration(seconds: float) -> str:
    """Seconds as `1 h 05 min`, `2 min 10 s` or `8 s`."""
    whole = max(1, round(seconds))
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 60} min {whole % 60:02} s" if whole >= 60 else f"{whole} s"


def megabytes(size: int | None) -> str:
    """Bytes as `12 MB`."""
    if size is None:
        return "no limit (an injection queue is unlimited)"
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} KB"
