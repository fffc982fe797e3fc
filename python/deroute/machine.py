"""What this machine has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


#: Where the system keeps control groups, and those of this process.
_CGROUPS, _MEMBER = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def memory(root: Path = _CGROUPS, member: Path = _MEMBER) -> int:
    """Bytes of memory, of this machine or of the groups of processes that this one runs in."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for folder in groups(root, member):
        for name in ("memory.max", "memory.limit_in_bytes"):
            # There is none, or it says `max`.
            with suppress(OSError, ValueError):
                found.append(int((folder / name).read_text(encoding="ascii")))
    return min(found)


def groups(root: Path, member: Path) -> Iterator[Path]:
    """Folders of the control groups of a process, of both versions, and of those around them."""
    yield from (root, root / "memory")
    with suppress(OSError):
        for line in member.read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            top = root / "memory" if "memory" in controllers.split(",") else root
            if not controllers or top != root:
                group = top / path.lstrip("/")
                yield group
                yield from (each for each in group.parents if each.is_relative_to(top))
