"""Loads exported tables into a real Open vSwitch, and follows every pair of hosts through them.

It starts a database and a switch of its own in a temporary folder, with the datapath that runs in
user space; no kernel module is needed and nothing outside the folder is touched. For each network
`ofproto/trace` has to take every packet over the hops that the engine takes. Then a real frame of
every pair is put into the datapath of the first network and has to leave at its host, and only
there.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deroute import _engine
from deroute.economics.comparison import spec_for
from deroute.tables import dmp, files, openflow
from deroute.tables.addresses import mac
from deroute.tables.compiler import Compiler
from deroute.tables.fabric import Fabric
from deroute.tables.rules import Condition

PROGRAMS = ("ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl")
SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
MISSING = """\
NOT TESTED: that exported tables forward on a real Open vSwitch as the engine does.
Open vSwitch is not installed: {missing} not found. On Debian or Ubuntu:
    apt-get update && apt-get install -y openvswitch-switch"""

DRAGONFLY = {"dragonfly": {"p": 2, "a": 4, "h": 2}}
CLOS = {"rlft": {"ports": 6, "stages": 3}}
BUTTERFLY = {"hyperx": {"widths": [4, 4], "hosts": 4}}
#: Networks with the tables that are loaded into them, and the engine's routing for their paths.
#: Without one, paths have only to be as short as those of minimal routing.
CASES: Sequence[tuple[Mapping[str, Any], Sequence[tuple[str, str, Mapping[str, Any] | None]]]] = (
    (
        DRAGONFLY,
        [
            ("minimal", "compact", {"minimal": {}}),
            ("minimal", "per-group", {"minimal": {}}),
        ],
    ),
    (
        CLOS,
        [
            ("d-mod-k", "compact", {"mod_k": {}}),
            ("s-mod-k", "compact", {"mod_k": {"of": "source"}}),
            ("ecmp", "per-group", None),
        ],
    ),
    (
        BUTTERFLY,
        [("minimal", "compact", {"minimal": {}}), ("minimal", "per-switch", {"minimal": {}})],
    ),
)

#: Experimental EtherType, and the bytes after it.
PAYLOAD = "88b5" + "00" * 46

Hop = tuple[int, int]


class Failed(Exception):
    """Open vSwitch does something else than the engine."""


@dataclass(frozen=True)
class Switch:
    """A running Open vSwitch."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What its programs find it by."""
        places = dict.fromkeys(("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR"), str(self.folder))
        return os.environ | places | {"DATAPATH": "dummy", "HOST_PORTS": "dummy"}

    def run(self, *command: object, given: str | None = None) -> str:
        """What a program prints, `given` its input."""
        done = subprocess.run(
            [str(part) for part in command],
            input=given,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Failed(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def call(self, method: str, *arguments: str) -> str:
        """The answer of the running switch, without a process for every question."""
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(self.folder / "switch.ctl"))
            request = {"id": 0, "method": method, "params": list(arguments)}
            line.sendall(json.dumps(request).encode())
            received = b""
            while True:
                received += line.recv(1 << 16)
                try:
                    answer = json.loads(received)
                    break
                except ValueError:
                    continue
        if answer["error"]:
            raise Failed(f"{method}: {answer['error']}")
        return str(answer["result"])


@contextmanager
def running() -> Iterator[Switch]:
    """Starts an Open vSwitch, and ends it."""
    with tempfile.TemporaryDirectory(prefix="ovs-") as name:
        switch = Switch(Path(name))
        database = f"unix:{name}/db.sock"
        try:
            switch.run("ovsdb-tool", "create", f"{name}/conf.db", SCHEMA)
            start = ("--no-chdir", "--detach", f"--log-file={name}/log")
            files = (f"--pidfile={name}/database.pid", f"--unixctl={name}/database.ctl")
            remote = f"--remote=punix:{name}/db.sock"
            switch.run("ovsdb-server", f"{name}/conf.db", remote, *files, *start)
            switch.run("ovs-vsctl", "--no-wait", "init")
            files = (f"--pidfile={name}/switch.pid", f"--unixctl={name}/switch.ctl")
            dummy = ("--enable-dummy", "--disable-system")
            switch.run("ovs-vswitchd", database, *dummy, *files, *start)
            yield switch
        finally:
            for pid in sorted(Path(name).glob("*.pid"), reverse=True):
                _end(int(pid.read_text()))


def _end(pid: int) -> None:
    """End a process, and wait for it for some seconds."""
    try:
        os.kill(pid, signal.SIGTERM)
        for _ in range(100):
            os.kill(pid, 0)
            time.sleep(0.05)
    except ProcessLookupError:
        pass


@dataclass(frozen=True)
class Loaded:
    """A network on the switch."""

    switch: Switch
    compiler: Compiler

    @property
    def fabric(self) -> Fabric:
        """The network."""
        return self.compiler.fabric

    def address(self, host: int) -> str:
        """MAC address of a host."""
        return mac(int(self.compiler.addresses[host]))

    def home(self, host: int) -> Hop:
        """Router and port of a host."""
        router = int(self.fabric.wiring.router_of_host[host])
        return router, self.fabric.host_ports(router)[host % self.fabric.hosts_per_switch]

    def trace(self, source: int, target: int) -> list[Hop]:
        """Routers and output ports of a packet, as the switch says."""
        router, port = self.home(source)
        packet = (
            f"in_port={openflow.port(port)},"
            f"dl_src={self.address(source)},dl_dst={self.address(target)}"
        )
        text = self.switch.call("ofproto/trace", openflow.bridge(router), packet)
        parts = re.split(r'^\s*bridge\("s(\d+)"\)$', text.partition("\nFinal flow:")[0], flags=re.M)
        hops = []
        for at, body in zip(parts[1::2], parts[2::2], strict=True):
            outputs = re.findall(r"output:(\d+)$", body, flags=re.M)
            if len(outputs) != 1:
                raise Failed(f"host {source} to {target}: {len(outputs)} outputs at s{at}:\n{text}")
            hops.append((int(at), int(outputs[0]) - 1))
        return hops

    def answers(self, router: int) -> list[str]:
        """Flows of the Dynamic MAC Protocol."""
        return [rule.flow() for rule in dmp.rules(self.compiler, router)]

    def dump(self) -> Path:
        """A folder with what every bridge says of its flows and groups."""
        folder = self.switch.folder / "dump"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for router in range(self.fabric.routers):
            name = openflow.bridge(router)
            for what in ("flows", "groups"):
                text = self.switch.run("ovs-ofctl", "-O", "OpenFlow15", f"dump-{what}", name)
                (folder / f"{name}.{what}").write_text(text, encoding="utf-8")
        return folder

    def load(self, folder: Path) -> None:
        """Replace the flows of every bridge."""
        openflow.write(self.compiler, folder)
        for router in range(self.fabric.routers):
            name = openflow.bridge(router)
            of15 = ("ovs-ofctl", "-O", "OpenFlow15")
            self.switch.run(*of15, "del-flows", name)
            if (folder / f"{name}.groups").exists():
                self.switch.run(*of15, "add-groups", name, folder / f"{name}.groups")
            self.switch.run(*of15, "add-flows", name, folder / f"{name}.flows")


def follow(loaded: Loaded, routing: Mapping[str, Any] | None, step: int = 1) -> int:
    """Compare every pair of hosts, or one in `step`, hop by hop; how many.

    With the engine's routing, and with the engine's by the tables that the switch gives back.
    """
    topology = {loaded.fabric.name: loaded.fabric.parameters}
    dumped = files.read(loaded.dump()) | {"addressing": loaded.compiler.addressing}
    return compare(loaded, routing, (spec_for(topology, {"table": dumped}),), step)


def compare(
    loaded: Loaded, routing: Mapping[str, Any] | None, others: Sequence[str] = (), step: int = 1
) -> int:
    """The same with any other specs in place of that of the tables."""
    every = itertools.permutations(range(loaded.fabric.hosts), 2)
    pairs = list(itertools.islice(every, 0, None, step))
    topology = {loaded.fabric.name: loaded.fabric.parameters}
    specs = [spec_for(topology, routing or {"minimal": {}}), *others]
    paths = [_paths(spec, pairs) for spec in specs]
    for (source, target), expected, *again in zip(pairs, *paths, strict=True):
        found = loaded.trace(source, target)
        if routing is None:
            # Hashes differ; the last hop and the number of hops do not.
            same = all(
                (len(each), each[-1]) == (len(expected), expected[-1]) for each in (found, *again)
            )
        else:
            same = all(each == expected for each in (found, *again))
        if not same:
            raise Failed(
                f"host {source} to {target}: Open vSwitch {found}, engine {expected}, "
                f"by the tables of the switch {again}"
            )
    return len(pairs)


def _paths(spec: str, pairs: Sequence[tuple[int, int]]) -> list[list[Hop]]:
    """Routers and output ports of packets in the engine."""
    found = []
    for path in _engine.paths(spec, pairs, 1):
        assert path is not None
        found.append([(router, port) for router, port, _ in path])
    return found


def send(loaded: Loaded) -> int:
    """Put a frame of every pair into the datapath; every host has to get its own, and no other."""
    hosts = loaded.fabric.hosts
    for source, target in itertools.permutations(range(hosts), 2):
        header = (loaded.address(target) + loaded.address(source)).replace(":", "")
        entry = openflow.interface(*loaded.home(source))
        loaded.switch.call("netdev-dummy/receive", entry, header + PAYLOAD)
    for _ in range(100):
        got = [_frames(loaded, host) for host in range(hosts)]
        if all(count == (hosts - 1, hosts - 1) for count in got):
            return hosts * (hosts - 1)
        time.sleep(0.1)
    wrong = {host: count for host, count in enumerate(got) if count != (hosts - 1, hosts - 1)}
    raise Failed(f"frames sent and received by host, not {hosts - 1} each: {wrong}")


def _frames(loaded: Loaded, host: int) -> tuple[int, int]:
    """Frames that the port of a host has taken in and given out."""
    router, port = loaded.home(host)
    command = ("ovs-ofctl", "-O", "OpenFlow13", "dump-ports", openflow.bridge(router))
    text = loaded.switch.run(*command, openflow.port(port))
    taken, given = (re.search(rf"{way} pkts=(\d+)", text) for way in ("rx", "tx"))
    assert taken is not None
    assert given is not None
    return int(taken[1]), int(given[1])


def divert(loaded: Loaded) -> int:
    """Take away what a paused port forbids, at some switches for every port with conditions."""
    checked = 0
    for router in range(0, loaded.fabric.routers, 9):
        table = loaded.compiler.table(router)
        conditions = dict.fromkeys(rule.condition for rule in table.rules if rule.condition)
        hosts = [h for h in range(loaded.fabric.hosts) if loaded.home(h)[0] == router]
        for condition in conditions:
            checked += _diverted(loaded, router, condition, hosts)
    return checked


def _diverted(loaded: Loaded, router: int, paused: Condition, hosts: Sequence[int]) -> int:
    """First hops of the packets of some hosts while a port is paused, beside those of the table."""
    name, table = openflow.bridge(router), loaded.compiler.table(router)
    of15 = ("ovs-ofctl", "-O", "OpenFlow15")
    mark = f"cookie={openflow.cookie(paused):#x}/-1"
    kept = [line for line in openflow.flows(table) if f"{openflow.cookie(paused):#x}," in line]
    loaded.switch.run(*of15, "del-flows", name, mark)
    addresses = [int(address) for address in loaded.compiler.addresses]
    count = 0
    for source, target in itertools.product(hosts, range(loaded.fabric.hosts)):
        if source == target:
            continue
        key = (addresses[target], addresses[source], loaded.home(source)[1])
        rule = table.lookup(*key, lambda condition: condition != paused)
        found = loaded.trace(source, target)
        if rule is None or found[0] != (router, rule.ports[0]) or found[-1] != loaded.home(target):
            raise Failed(f"host {source} to {target} with {paused}: {found}, table {rule}")
        count += 1
    loaded.switch.run(*of15, "add-flows", name, "-", given="\n".join(kept))
    return count


def mislead(loaded: Loaded) -> None:
    """A wrong flow has to be noticed, or nothing here is worth anything."""
    router, port = loaded.home(0)
    flow = f"dl_dst={loaded.address(0)},priority=65535,actions=output:{openflow.port(port) + 1}"
    of15 = ("ovs-ofctl", "-O", "OpenFlow15")
    loaded.switch.run(*of15, "add-flow", openflow.bridge(router), flow)
    for check in (compare, follow):
        try:
            check(loaded, {"minimal": {}})
        except (Failed, _engine.SpecError) as error:
            print(f"A wrong flow was noticed: {error}")
            continue
        raise Failed("a wrong flow was not noticed")


def check_small(switch: Switch) -> None:
    """All networks with all their tables."""
    for topology, tables in CASES:
        fabric = Fabric.of(topology, _engine.topology(spec_for(topology)))
        built = False
        for routing, addressing, engine in tables:
            loaded = Loaded(switch, Compiler(fabric, routing, addressing))
            folder = switch.folder / f"{fabric.name}-{routing}-{addressing}"
            if built:
                loaded.load(folder)
            else:
                openflow.write(loaded.compiler, folder)
                switch.run(folder / openflow.SCRIPT)
                built = True
            what = f"{fabric.name}, {fabric.routers} switches, {routing}, {addressing} addresses"
            every = addressing == "compact"
            count = follow(loaded, engine, 1 if every else 5)
            print(f"{what}: {count:,} pairs as the engine and its tables", flush=True)
        if fabric.name == "dragonfly":
            print(f"{fabric.name}: {send(loaded):,} frames delivered by the datapath", flush=True)
            loaded = Loaded(switch, Compiler(fabric, "mar-bp", "compact"))
            loaded.load(switch.folder / "mar-bp")
            print(f"{fabric.name}, mar-bp: {divert(loaded):,} packets diverted by paused ports")
            mislead(loaded)
        gone = (("--", "del-br", openflow.bridge(router)) for router in range(fabric.routers))
        switch.run("ovs-vsctl", *itertools.chain.from_iterable(gone))


def main(check: Callable[[Switch], None]) -> int:
    """Run a check: 0 if all is well, or if there is no Open vSwitch, which is said."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing or not SCHEMA.exists():
        print(MISSING.format(missing=", ".join(missing) or SCHEMA))
        return 0
    began = time.monotonic()
    try:
        with running() as switch:
            check(switch)
    except Failed as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"Open vSwitch forwards as the engine does ({time.monotonic() - began:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main(check_small))
