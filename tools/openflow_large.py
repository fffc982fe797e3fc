"""As `openflow.py`, for a network too large for one bridge a switch: table by table on one bridge.

Engine and Open vSwitch have to agree on every hop of some pairs of hosts: for each switch in turn
its flows are loaded, and the packets of all pairs that pass it are traced through them.
"""

from __future__ import annotations

import random
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence

from openflow import Failed, Switch, main

from deroute import _engine
from deroute.economics.comparison import spec_for
from deroute.tables import openflow
from deroute.tables.addresses import mac
from deroute.tables.compiler import Compiler
from deroute.tables.fabric import Fabric

#: The network of 5,256 hosts and 876 switches of the thesis.
TOPOLOGY = {"dragonfly": {"p": 6, "a": 12, "h": 6}}
#: Pairs from every switch.
TARGETS = 3

#: Source, destination, port of the packet's arrival and of its departure.
Passage = tuple[int, int, int, int]


def passages(fabric: Fabric) -> Mapping[int, Sequence[Passage]]:
    """By switch, what the engine does with the packets of some pairs of hosts."""
    rng, spec = random.Random(1), spec_for(TOPOLOGY)
    found = defaultdict(list)
    for router in range(fabric.routers):
        source = router * fabric.hosts_per_switch + rng.randrange(fabric.hosts_per_switch)
        for target in rng.sample(range(fabric.hosts), TARGETS):
            if target == source:
                continue
            entry = source % fabric.hosts_per_switch
            path = _engine.path(spec, source, target, 1)
            assert path is not None
            for at, port, _ in path:
                found[at].append((source, target, entry, port))
                entry = int(fabric.wiring.peer_port[at, port])
    return found


def check(switch: Switch) -> None:
    """One bridge with the tables of all switches in turn."""
    fabric = Fabric.of(TOPOLOGY, _engine.topology(spec_for(TOPOLOGY)))
    compiler = Compiler(fabric, "minimal", "compact")
    address = compiler.addresses.tolist()
    known = passages(fabric)
    ports = range(1, 1 + fabric.wiring.link_class.shape[1])
    added: list[object] = []
    for number in ports:
        name, asked = f"p{number}", f"ofport_request={number}"
        added += ["--", "add-port", "s", name, "--", "set", "interface", name, "type=dummy", asked]
    bridge = ("set", "bridge", "s", "datapath_type=dummy", "fail_mode=secure")
    protocols = "protocols=OpenFlow10,OpenFlow15"
    switch.run("ovs-vsctl", "add-br", "s", "--", *bridge, protocols, *added)
    hops = 0
    for router in range(fabric.routers):
        flows = "\n".join(openflow.flows(compiler.table(router)))
        switch.run("ovs-ofctl", "-O", "OpenFlow15", "replace-flows", "s", "-", given=flows)
        for source, target, entry, port in known[router]:
            packet = (
                f"in_port={openflow.port(entry)},"
                f"dl_src={mac(address[source])},dl_dst={mac(address[target])}"
            )
            text = switch.call("ofproto/trace", "s", packet)
            found = re.findall(r"output:(\d+)$", text.partition("\nFinal flow:")[0], flags=re.M)
            if found != [str(openflow.port(port))]:
                message = f"host {source} to {target} at s{router}: {found}, engine {port}"
                raise Failed(f"{message}:\n{text}")
            hops += 1
    pairs = len({each[:2] for router in known for each in known[router]})
    what = f"{fabric.name}, {fabric.routers} switches, compact addresses"
    print(f"{what}: {pairs:,} pairs, {hops:,} hops as the engine")


if __name__ == "__main__":
    sys.exit(main(check))
