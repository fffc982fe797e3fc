"""Real frames between real interfaces through an Open vSwitch with exported tables.

It runs in a network namespace of its own, in which the switch makes an interface for every host: a
frame that is sent over one of them has to arrive at the interface of the host it is for, unchanged,
and nowhere else. The machine has to allow namespaces and tap devices.
"""

from __future__ import annotations

import itertools
import select
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openflow import CLOS, DRAGONFLY, Failed, Loaded, Switch, main

from deroute import _engine
from deroute.economics.comparison import spec_for
from deroute.tables import openflow
from deroute.tables.addresses import mac
from deroute.tables.compiler import Compiler
from deroute.tables.fabric import Fabric

#: Networks and routings.
CASES: tuple[tuple[Mapping[str, Any], str], ...] = (
    (DRAGONFLY, "minimal"),
    (DRAGONFLY, "valiant"),
    (CLOS, "ecmp"),
)
INSIDE = "--inside"
NOT_TESTED = """\
NOT TESTED: that real frames pass an Open vSwitch with exported tables. It takes `unshare --net` and
/dev/net/tun, which this machine does not allow to this user."""

#: The other EtherType for experiments: that of the Dynamic MAC Protocol is not forwarded.
_TYPE = 0x88B6
_SECONDS = 5.0


class Real(Switch):
    """With the datapath in user space and interfaces that the system knows."""

    @property
    def environment(self) -> dict[str, str]:
        """What its programs find it by."""
        return super().environment | {"DATAPATH": "netdev", "HOST_PORTS": "internal"}


def exchange(loaded: Loaded) -> int:
    """Send a frame for every pair of hosts, and see where it comes out."""
    lines = {}
    for host in range(loaded.fabric.hosts):
        name = openflow.interface(*loaded.home(host))
        loaded.switch.run("ip", "link", "set", name, "up")
        lines[host] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_TYPE))
        lines[host].bind((name, _TYPE))
    count = 0
    for source, target in itertools.permutations(lines, 2):
        addresses = (loaded.address(target) + loaded.address(source)).replace(":", "")
        payload = f"{source} to {target}".encode().ljust(46, b".")
        frame = bytes.fromhex(addresses) + _TYPE.to_bytes(2, "big") + payload
        lines[source].send(frame)
        if _received(lines[target]) != frame:
            raise Failed(f"the frame from host {source} to {target} was lost or changed")
        count += 1
    for host, line in lines.items():
        if _received(line, seconds=0.0) is not None:
            raise Failed(f"host {host} has got a frame that is not for it")
        line.close()
    return count


def _received(line: socket.socket, seconds: float = _SECONDS) -> bytes | None:
    """The next frame from the switch; None if there is none for some seconds."""
    while select.select([line], [], [], seconds)[0]:
        frame, sender = line.recvfrom(2048)
        # What was sent over the interface is seen as well.
        if sender[2] != socket.PACKET_OUTGOING:
            return frame
    return None


def learn(loaded: Loaded) -> int:
    """Every host asks for its address and takes it, as the host side of the protocol does."""
    hosts = range(loaded.fabric.hosts)
    for host in hosts:
        name = openflow.interface(*loaded.home(host))
        loaded.switch.run("ip", "link", "set", name, "up")
        if _address(name) == loaded.address(host):
            raise Failed(f"host {host} has its address already")
        said = loaded.switch.run(sys.executable, "-m", "deroute.tables.dmp", name)
        if _address(name) != loaded.address(host):
            raise Failed(f"host {host} has learnt {said}, not {loaded.address(host)}")
    return len(hosts)


def _address(interface: str) -> str:
    """The MAC address that an interface has now."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as line:
        line.bind((interface, _TYPE))
        return mac(int.from_bytes(line.getsockname()[4], "big"))


def check(switch: Switch) -> None:
    """All networks, one after the other."""
    real = Real(switch.folder)
    for number, (topology, routing) in enumerate(CASES):
        fabric = Fabric.of(topology, _engine.topology(spec_for(topology)))
        loaded = Loaded(real, Compiler(fabric, routing, "compact"))
        folder = real.folder / str(number)
        openflow.write(loaded.compiler, folder, loaded.answers)
        real.run(folder / openflow.SCRIPT)
        what = f"{fabric.name}, {fabric.routers} switches, {routing}"
        if number == 0:
            print(f"{what}: {learn(loaded)} hosts have learnt their addresses", flush=True)
        print(f"{what}: {exchange(loaded):,} frames delivered", flush=True)
        gone = (("--", "del-br", openflow.bridge(router)) for router in range(fabric.routers))
        real.run("ovs-vsctl", *itertools.chain.from_iterable(gone))


def allowed() -> bool:
    """Whether the machine lets this user do it."""
    if not Path("/dev/net/tun").exists() or not shutil.which("unshare") or not shutil.which("ip"):
        return False
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    return tried.returncode == 0


if __name__ == "__main__":
    if INSIDE in sys.argv:
        sys.exit(main(check))
    if not allowed():
        print(NOT_TESTED)
        sys.exit(0)
    command = ["unshare", "--net", sys.executable, __file__, INSIDE]
    sys.exit(subprocess.run(command, check=False).returncode)
