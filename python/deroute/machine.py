"""What this machine has."""

from __future__ import annotations

import os


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory() -> int:
    """Bytes of memory, of this machine or of the group of processes that this one runs in."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(file, encoding="ascii") as stream:
                found.append(int(stream.read()))
        except (OSError, ValueError):  # There is none, or it says `max`.
            continue
    return min(found)
