"""`python -m deroute`, and the `deroute` command."""

from importlib import import_module

#: Exit code after Ctrl-C, as commands have it.
_INTERRUPTED = 130


def main() -> None:
    """Load the commands and run one; Ctrl-C ends it, also while they are loaded."""
    try:
        import_module("deroute.cli").main()
    except KeyboardInterrupt:
        raise SystemExit(_INTERRUPTED) from None


if __name__ == "__main__":
    main()
