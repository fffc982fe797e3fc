"""`deroute repair`."""

from __future__ import annotations

from rich.markup import escape

from deroute import repair as repairing
from deroute.cli import app
from deroute.writing import blaming

#: Results that are named one by one.
_SHOWN = 10


def repair(directory: app.Directory) -> None:
    """Save what can be read of a damaged result store.

    Records that cannot be read are dropped, so that `deroute run` computes them again. The damaged
    store is kept beside the new one.

    - `deroute repair runs/demo`
    """
    with blaming("DIR", directory):
        found = repairing.repair(directory)
    if found.backup is None:
        print(f"{directory}: {found.kept} results, all of them whole; nothing to repair")
        return
    console = app.err()
    for lost in found.dropped[:_SHOWN]:
        console.print(f"[bold]lost:[/] {escape(f'{lost.key}: {lost.reason}')}", soft_wrap=True)
    if len(found.dropped) > _SHOWN:
        console.print(f"and {len(found.dropped) - _SHOWN} more")
    more = ", perhaps more" if found.open_end else ""
    print(f"{directory}: {found.kept} results kept, {len(found.dropped)} lost{more}")
    print(f"the damaged store: {found.backup}")
    print("`deroute run` with the same experiment computes again what is missing")
