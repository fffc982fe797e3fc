"""Builds a network of 300,024 hosts that routes by tables, within a gigabyte of memory.

The rules, 8.6 million of them with addresses by group, go through a file as those of a user do.
Takes minutes.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from deroute import _engine
from deroute.api import Footprint
from deroute.economics.comparison import spec_for
from deroute.tables import files

#: Hosts and links of a switch, switches of a group, groups: thesis 4.7.2.
HOSTS, SIZE, GROUPS = 18, 36, 463
MOST_BYTES = 10**9


def rules(topology: str, size: tuple[int, int, int]) -> Iterator[str]:
    """The rules of minimal routing, a line each."""
    hosts, switches, groups = size
    arrays = _engine.topology(topology)
    global_class = arrays["class_names"].index("global")
    host_bits, bits = (hosts - 1).bit_length(), (switches - 1).bit_length()
    whole = (1 << 48) - 1
    block = whole & -(1 << host_bits)
    wide = whole & -(1 << host_bits + bits)

    def address(group: int, switch: int = 0, host: int = 0) -> int:
        return 0x02 << 40 | group << host_bits + bits | switch << host_bits | host

    yield "router,destination,destination_mask,ports\n"
    kinds, peers = arrays["link_class"], arrays["peer_router"]
    for group in range(groups):
        routers = range(group * switches, (group + 1) * switches)
        owner = {
            int(peers[router, port]) // switches: (router, port)
            for router in routers
            for port in (kinds[router] == global_class).nonzero()[0].tolist()
        }
        for router in routers:
            own = router - group * switches
            ports = peers[router].tolist()
            for other, (at, port) in owner.items():
                out = port if at == router else ports.index(at)
                yield f"{router},{address(other)},{wide},{out}\n"
            for switch in range(switches):
                if switch != own:
                    out = ports.index(group * switches + switch)
                    yield f"{router},{address(group, switch)},{block},{out}\n"
            for host in range(hosts):
                yield f"{router},{address(group, own, host)},,{host}\n"


def measure(size: tuple[int, int, int]) -> int:
    """Build the network; the most bytes of memory that this process has had."""
    hosts, switches, groups = size
    topology = {"dragonfly": {"p": hosts, "a": switches, "h": hosts, "groups": groups}}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rules.csv"
        with file.open("w", encoding="utf-8") as stream:
            stream.writelines(rules(spec_for(topology), size))
        table = files.read(file)
    spec = spec_for(topology, {"table": table | {"addressing": "per-group"}})
    alone = Footprint.of(spec_for(topology)).fixed_bytes
    fixed = Footprint.of(spec).fixed_bytes
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{hosts * switches * groups:,} hosts: {len(spec) / 1e6:.1f} MB of spec")
    print(
        f"a run takes {fixed / 1e6:.1f} MB, {(fixed - alone) / 1e6:.1f} more than minimal routing"
    )
    print(f"at most {most / 1e6:.0f} MB to build it")
    return most


if __name__ == "__main__":
    sys.exit(measure((HOSTS, SIZE, GROUPS)) > MOST_BYTES)
