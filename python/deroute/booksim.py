"""Configuration files of BookSim 2 as experiment files.

What has a counterpart is converted; what changes a result and has none is refused, with the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deroute.errors import InputError, Problem
from deroute.writing import experiment_name, toml_value

#: Defaults of BookSim for what is converted.
_DEFAULTS: Mapping[str, str] = {
    **{"topology": "torus", "k": "8", "n": "2", "c": "1", "routing_function": "none"},
    **{"use_noc_latency": "1", "num_vcs": "16", "vc_buf_size": "8", "traffic": "uniform"},
    **{"routing_delay": "1", "vc_alloc_delay": "1", "sw_alloc_delay": "1"},
    **{"st_prepare_delay": "0", "st_final_delay": "1"},
    **{"injection_rate": "0.1", "injection_rate_uses_flits": "0", "packet_size": "1"},
    **{"warmup_periods": "0", "sample_period": "1000", "max_samples": "10", "seed": "0"},
    **{"perm_seed": "0"},
}
#: Keys that change nothing here: output, power, thresholds, and what only other keys make matter.
_WITHOUT_EFFECT = re.compile(
    r"print_.*|.*_out|watch_.*|viewer_trace|sim_power|power_output_file|tech_file|channel_width|"
    r"channel_sweep|latency_thres|(acc_)?(warmup|stopping)_thres|measure_stats|sim_type|sim_count|"
    r"include_queuing|deadlock_warn_timeout|drain_measured_only|x|y|xr|yr|limit|const_flits_per_"
    r"packet|(read|write)_(request|reply)_.*|batch_.*|max_outstanding_requests|burst_.*|vct|"
    r"speculative|spec_.*|(vc|sw)_allocator|(vc|sw)_alloc_arb_type|alloc_iters|(vc|sw)_alloc_iters|"
    r"wait_for_tail_credit|hold_switch_for_packet"
)
#: Keys that have no counterpart unless they have this value.
_ONLY: Mapping[str, str] = {
    **{"subnets": "1", "classes": "1", "use_read_write": "0", "buffer_policy": "private"},
    **{"injection_process": "bernoulli", "priority": "none", "router": "iq", "link_failures": "0"},
    **{"internal_speedup": "1.0", "input_speedup": "1", "output_speedup": "1"},
    **{"output_delay": "0", "credit_delay": "1"},
    **{"channel_file": "", "network_file": "", "express_channels": "0", "shared_buf_size": "0"},
}
#: Cycles of the links of a Dragonfly, which BookSim does not let one choose.
_LOCAL, _GLOBAL = 10, 100
_STATEMENT = re.compile(r"([A-Za-z_]\w*)\s*=\s*([^;]*?)\s*;")


@dataclass(frozen=True, slots=True)
class _Config:
    """Entries of a file with the lines on which they stand."""

    file: Path
    entries: Mapping[str, tuple[str, int]]

    def text(self, key: str) -> str:
        """A value, that of BookSim where the file has none."""
        return self.entries[key][0] if key in self.entries else _DEFAULTS[key]

    def number(self, key: str, least: float = 0) -> float:
        """A value that is a number."""
        try:
            found = float(self.text(key))
        except ValueError:
            raise self.wrong(key, f"{self.text(key)!r} is not a number") from None
        if not least <= found < float("inf"):
            raise self.wrong(key, f"{found:g} is less than {least:g}")
        return found

    def count(self, key: str, least: int = 0) -> int:
        """A value that is a whole number."""
        found = self.number(key, least)
        if not found.is_integer():
            raise self.wrong(key, f"{found:g} is not a whole number")
        return int(found)

    def wrong(self, key: str, message: str, choices: tuple[str, ...] = ()) -> InputError:
        """What is wrong with an entry."""
        line = self.entries[key][1] if key in self.entries else None
        return InputError([Problem(message, key, choices, file=self.file, line=line)])

    def one_of(self, key: str, known: Mapping[str, Any]) -> Any:
        """What stands for a value."""
        value = self.text(key)
        if value not in known:
            raise self.wrong(key, f"{value!r} has no counterpart", tuple(known))
        return known[value]


def convert(file: Path, to: Path | None = None) -> dict[str, Any]:
    """The document of an experiment of one point that does what a configuration asks for, to be
    written to another file, after which it is named.
    """
    config = _read(file)
    for key, (value, _) in config.entries.items():
        if key in _ONLY and not _same(value, _ONLY[key]):
            raise config.wrong(key, f"{value!r} has no counterpart", (_ONLY[key],))
        if key not in _DEFAULTS and key not in _ONLY and not _WITHOUT_EFFECT.fullmatch(key):
            raise config.wrong(key, f"`{key}` is not known to have a counterpart")
    topology: Callable[[_Config], _Network] = config.one_of("topology", _TOPOLOGIES)
    network = topology(config)
    size = config.count("packet_size", 1)
    buffer = config.count("vc_buf_size", 1)
    if buffer < size:
        message = f"{buffer} flits do not hold a packet of {size}: there is no wormhole switching"
        raise config.wrong("vc_buf_size", message, (f"{size} or more",))
    load = config.number("injection_rate")
    if not config.count("injection_rate_uses_flits"):
        load *= size
    if load > 1:
        raise config.wrong("injection_rate", f"{load:g} flits a cycle are more than a link carries")
    delays = ("routing_delay", "vc_alloc_delay", "sw_alloc_delay", "st_prepare_delay")
    pipeline = sum(config.count(key) for key in (*delays, "st_final_delay"))
    period = config.count("sample_period", 1)
    links = {
        name: {"latency": latency, "buffer": buffer} for name, latency in network.latency.items()
    }
    return {
        "name": experiment_name(to or file),
        "title": f"{file.name}, a configuration of BookSim",
        "base": {
            "network": {
                "topology": network.topology,
                "links": links,
                "switch": {"input_queued": {"pipeline": pipeline}},
            },
            "routing": network.routing,
            "traffic": {
                "load": load,
                "packet_size": size,
                "pattern": _pattern(config),
            },
            "run": {
                "seed": config.count("seed"),
                "warmup": period * max(1, config.count("warmup_periods")),
                "measure": period * config.count("max_samples", 1),
            },
        },
    }


def _same(value: str, other: str) -> bool:
    try:
        return float(value) == float(other)
    except ValueError:
        return value == other


def _read(file: Path) -> _Config:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = getattr(error, "strerror", None) or str(error)
        raise InputError([Problem(message, file=file)]) from None
    # A comment leaves its length, so that lines can be counted.
    text = re.sub(r"//[^\n]*", lambda found: " " * len(found[0]), text)
    entries: dict[str, tuple[str, int]] = {}
    at = 0
    for found in _STATEMENT.finditer(text):
        _nothing_but_blanks(file, text, at, found.start())
        line = text.count("\n", 0, found.start()) + 1
        entries[found[1]] = (found[2].strip('"'), line)
        at = found.end()
    _nothing_but_blanks(file, text, at, len(text))
    if not entries:
        raise InputError([Problem("has no `key = value;` of BookSim", file=file)])
    return _Config(file, entries)


def _nothing_but_blanks(file: Path, text: str, start: int, end: int) -> None:
    rest = text[start:end]
    if rest.strip():
        line = text.count("\n", 0, start + len(rest) - len(rest.lstrip())) + 1
        message = f"{rest.split()[0]!r} is no `key = value;`"
        raise InputError([Problem(message, file=file, line=line)])


def text(document: Mapping[str, Any]) -> str:
    """The document as a file."""
    base = document["base"]
    lines = [
        "# Converted from a configuration of BookSim. Packets pass as wholes, not flit by flit:",
        "# one goes on when the next buffer has room for all of it. Links have the VCs that the",
        "# routing needs, unless they have another number (`vcs`), and hosts queue without end.",
        f"name = {toml_value(document['name'])}",
        f"title = {toml_value(document['title'])}",
    ]
    for table in ("network", "routing", "traffic", "run"):
        lines += ["", f"[base.{table}]"]
        lines += [f"{key} = {toml_value(value)}" for key, value in base[table].items()]
    lines += ["", "[[axis]]", 'name = "load"', 'path = "traffic.load"']
    lines += [f"values = [{toml_value(base['traffic']['load'])}]"]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Network:
    topology: Mapping[str, Any]
    #: Cycles, by class of links.
    latency: Mapping[str, int]
    routing: Mapping[str, Any]


def _dragonfly(config: _Config) -> _Network:
    """`dragonflynew`: a = 2k routers in a group, links between groups in absolute order."""
    k = config.count("k", 1)
    if config.count("n") != 1:
        raise config.wrong("n", "groups of more dimensions have no counterpart", ("1",))
    topology = {"p": k, "a": 2 * k, "h": k, "arrangement": "consecutive"}
    # Its UGAL weighs queues with 1 and 2, whatever the hops are, which has no counterpart.
    routing = config.one_of("routing_function", {"min": {"minimal": {}}})
    return _Network({"dragonfly": topology}, {"local": _LOCAL, "global": _GLOBAL}, routing)


def _flattened_butterfly(config: _Config) -> _Network:
    """`flatfly`: n dimensions of k routers, c hosts on each."""
    _equal_links(config)
    k, n, c = config.count("k", 2), config.count("n", 1), config.count("c", 1)
    known: dict[str, Any] = {"xyyx": {"o1turn": {}}, "valiant": {"valiant": {}}}
    routing = config.one_of("routing_function", known)
    latency = {f"dim{place + 1}": 1 for place in range(n)}
    return _Network({"hyperx": {"widths": [k] * n, "hosts": c}}, latency, routing)


def _fat_tree(config: _Config) -> _Network:
    """`fattree`: a k-ary n-tree."""
    _equal_links(config)
    k, n = config.count("k", 2), config.count("n", 1)
    routing = config.one_of("routing_function", {"nca": {"up_oblivious": {}}})
    latency = {f"level{place + 1}": 1 for place in range(n - 1)}
    return _Network({"kary_tree": {"k": k, "levels": n}}, latency, routing)


def _equal_links(config: _Config) -> None:
    if config.count("use_noc_latency"):
        message = "latencies of a floor plan, which differ from link to link, have no counterpart"
        raise config.wrong("use_noc_latency", message, ("0: one cycle",))


_TOPOLOGIES: Mapping[str, Callable[[_Config], _Network]] = {
    "dragonflynew": _dragonfly,
    "flatfly": _flattened_butterfly,
    "fattree": _fat_tree,
}


def _pattern(config: _Config) -> Any:
    """The pattern of the traffic."""
    known = {
        **{"uniform": "uniform", "bitcomp": "bit_complement", "bitrev": "bit_reverse"},
        **{"shuffle": "shuffle", "transpose": "transpose"},
        "randperm": {"permutation": {"seed": config.count("perm_seed")}},
    }
    return config.one_of("traffic", known)
