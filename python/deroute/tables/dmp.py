"""The Dynamic MAC Protocol: a host asks its switch where it is (thesis 4.4, figure 4-7).

A request is a broadcast with the EtherType of the protocol. The switch sends it back over the port
it came from, with the hierarchical address of that port as its source; nothing else is changed. The
host takes that address for its own, so that what it announces in payloads is right as well. One
rule a host does it.

    python -m deroute.tables.dmp eth0

asks over an interface of this machine and gives it the address (Linux, as root).
"""

from __future__ import annotations

import secrets
import select
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from deroute.errors import InputError
from deroute.tables.addresses import ANY_HOST, mac
from deroute.tables.compiler import Compiler
from deroute.tables.openflow import port

#: EtherType for experiments, which the thesis uses.
ETHERTYPE = 0x88B5
#: Above every other rule.
PRIORITY = 60_000

_BROADCAST = b"\xff" * 6
_MAGIC = b"DMP1"
_SIZE = 60


@dataclass(frozen=True, slots=True)
class Return:
    """A rule that answers the requests of one host."""

    in_port: int
    address: int

    def apply(self, frame: bytes) -> bytes | None:
        """What goes back over the port; None if it is no request."""
        if int.from_bytes(frame[12:14], "big") != ETHERTYPE:
            return None
        return frame[:6] + self.address.to_bytes(6, "big") + frame[12:]

    def flow(self) -> str:
        """As `ovs-ofctl add-flows` reads it."""
        fits = f"priority={PRIORITY},in_port={port(self.in_port)},dl_type={ETHERTYPE:#06x}"
        return f"{fits},actions=mod_dl_src:{mac(self.address)},in_port"


def rules(compiler: Compiler, router: int) -> list[Return]:
    """The rules of a switch, one for each of its hosts."""
    fabric = compiler.fabric
    hosts = (fabric.wiring.router_of_host == router).nonzero()[0].tolist()
    ways = zip(fabric.host_ports(router), hosts, strict=True)
    return [Return(number, int(compiler.addresses[host])) for number, host in ways]


def request(burnt_in: int, number: int) -> bytes:
    """The frame that asks; the number tells the answer to it from others."""
    head = _BROADCAST + burnt_in.to_bytes(6, "big") + ETHERTYPE.to_bytes(2, "big")
    return (head + _MAGIC + number.to_bytes(8, "big")).ljust(_SIZE, b"\0")


def answer(frame: bytes, number: int) -> int | None:
    """The address that an answer gives; None if the frame is no answer to this number."""
    expected = request(0, number)
    if frame[12 : len(expected)] != expected[12:]:
        return None
    address = int.from_bytes(frame[6:12], "big")
    return address if ANY_HOST.matches(address) else None


def ask(interface: str, seconds: float = 3.0, tries: int = 3) -> int:
    """The address that the switch behind an interface gives it."""
    known = [name for _, name in socket.if_nameindex()]
    if interface not in known:
        raise InputError.of(f"there is no interface {interface!r}", "interface", known)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE)) as line:
        line.bind((interface, ETHERTYPE))
        burnt_in = int.from_bytes(line.getsockname()[4], "big")
        for _ in range(tries):
            number = secrets.randbits(64)
            line.send(request(burnt_in, number))
            end = time.monotonic() + seconds
            while select.select([line], [], [], max(0.0, end - time.monotonic()))[0]:
                frame, sender = line.recvfrom(2048)
                found = answer(frame, number)
                # What was sent over the interface is seen as well.
                if found is not None and sender[2] != socket.PACKET_OUTGOING:
                    return found
    raise InputError.of(f"no switch answers behind {interface}", "interface")


def adopt(interface: str, address: int) -> None:
    """Give an interface an address."""
    command = ["ip", "link", "set", "dev", interface, "address", mac(address)]
    subprocess.run(command, check=True)


def main(arguments: Sequence[str]) -> int:
    """Ask over an interface, and take what is said."""
    if len(arguments) != 1:
        print("usage: python -m deroute.tables.dmp INTERFACE", file=sys.stderr)
        return 2
    (interface,) = arguments
    try:
        address = ask(interface)
        adopt(interface, address)
    except (InputError, OSError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{interface}: {mac(address)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
