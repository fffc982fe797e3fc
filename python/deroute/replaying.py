"""A commented experiment file that replays a trace, to start from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from string import Template

from deroute import scaffold
from deroute.errors import InputError
from deroute.trace import chakra, formats, otf2_trace, simai, time_independent
from deroute.trace.time_independent import FLOPS
from deroute.writing import experiment_name, toml_value

#: Read by the lab, and not by a job.
_CONVERTED = (otf2_trace.NAME, simai.NAME)
_COUNTING = (time_independent.NAME, chakra.NAME)

_TEMPLATE = Template(
    """\
# $ranks ranks of $trace on a $title: $shape.
# $hosts hosts, $routers routers with $ports ports that are used.
#
#   deroute run FILE      replays it, and on one switch that is never in the way, and draws both
#   deroute show runs/$name   has the slowdowns
#
# docs/applications.md says what else a job may have: several jobs, nodes and rails, protocols,
# algorithms of collectives, computations and messages of another size.
name = "$name"
title = "$trace, $ranks ranks"
reference = "ideal crossbar"

[base.units]
cycle = "1 ns"
link_rate = "200 Gb/s"  # what every link carries; in a cycle that is a phit, here 25 B

[base.network.topology.$key]
$parameters

[base.network.links]
$links

[base.network.nic]
latency = "20 ns"
injection_queue = "500 kB"
link = { buffer = "100 kB", flow_control = { pfc = {} } }  # it carries what other links do

[base.network.switch.combined_queued]
pipeline = "90 ns"
speedup = 2
output_buffer = "10 kB"

[base.routing.$routing]

[base.workload]
packet_size = "1500 B"
limit = "2 s"            # of simulated time; what computes meanwhile costs nothing

[[base.workload.jobs]]
name = "$name"
trace = $job
timeline = true          # for the figure of what each rank does when

[[axis]]
name = "placement"
values = [
    { label = "linear", set = { "workload.jobs[0].placement" = "linear" } },
    { label = "random", set = { "workload.jobs[0].placement" = { random = {} } } },
]

[[axis]]
name = "routing"
values = [
$routed
]

[[figure]]
name = "slowdown"
kind = "completion"
x = "placement"
series = "routing"
of = "slowdown"

[[figure]]
name = "gantt"
kind = "gantt"
panel = "placement"
series = "routing"
"""
)


def read(trace: Path, file: Path) -> tuple[int, dict[str, object]]:
    """Ranks of a trace, and what a job in an experiment file says of it."""
    name, opened = formats.open_trace(trace)
    if name in _CONVERTED:
        raise InputError.of(
            f"{name} has to be converted before: deroute trace convert {trace} --into mpi-trace",
            "--trace",
        )
    job: dict[str, object] = {"file": os.path.relpath(trace, file.parent)}
    if name in _COUNTING:
        job["flops"] = FLOPS
    return opened.ranks, job


def experiment(
    trace: Path, file: Path, topology: str, hosts: int | None, routing: Sequence[str]
) -> str:
    """The text of an experiment file that replays a trace on at least so many hosts."""
    ranks, job = read(trace, file)
    hosts = max(ranks, 2) if hosts is None else hosts
    if hosts < ranks:
        raise InputError.of(f"{hosts} is less than the {ranks} ranks of {trace}", "--hosts")
    found = scaffold.design(topology, hosts)
    routed = scaffold.checked(topology, routing)
    assert found.topology is not None
    ((key, shape),) = found.topology.items()
    return _TEMPLATE.substitute(
        name=experiment_name(file),
        trace=trace.name,
        ranks=ranks,
        title=scaffold.KINDS[topology].summary,
        shape=found.shape,
        hosts=f"{found.hosts:,}",
        routers=f"{found.routers:,}",
        ports=found.ports,
        key=key,
        parameters="\n".join(f"{name} = {toml_value(value)}" for name, value in shape.items()),
        links=scaffold.link_lines(topology),
        routing=routing[0],
        job=toml_value(job),
        routed=routed,
    )
