"""Deroute: a laboratory for routing and congestion in interconnection networks.

One point in a notebook:

    import deroute

    spec = {
        "network": {
            "topology": {"dragonfly": {"p": 2, "a": 4, "h": 2}},
            "links": {
                "local": {"latency": "15 ns", "vcs": 2, "buffer": "18 KB"},
                "global": {"latency": "150 ns", "vcs": 1, "buffer": "45 KB"},
            },
            "nic": {"injection_queue": "126 KB"},
            "switch": {"combined_queued": {"pipeline": "90 ns", "output_buffer": "15.75 KB"}},
        },
        "routing": {"minimal": {}},
        "traffic": {"load": 0.3, "packet_size": 10, "pattern": "uniform"},
        "run": {"seed": 1, "warmup": "5 us", "measure": "10 us"},
    }
    outcome = deroute.simulate(spec)
    print(outcome.verdict.state, outcome.load.accepted, outcome.latency.mean * outcome.cycle_ns)
    outcome.to_polars()                  # one row of scalars, as a polars DataFrame
    outcome.arrays.injected_by_router    # a NumPy array, one entry per router

    frame = deroute.sweep(spec, {"traffic.load": [0.1, 0.2, 0.3]})    # a row for each point

A whole experiment (`deroute run experiments/demo.toml` on the command line) is read with
`deroute.load_results("runs/demo").frame`: one row per finished point.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deroute._engine import VERSION

if TYPE_CHECKING:
    from deroute._engine import CheckpointError, SimulationError, SpecError
    from deroute.api import Footprint, check, simulate, warm_up
    from deroute.errors import InputError
    from deroute.experiment import Experiment, Point
    from deroute.frame import Results, load_results
    from deroute.results import Outcome
    from deroute.sweeps import sweep

#: Version of the lab and of the engine.
__version__ = VERSION

__all__ = [
    "VERSION",
    "CheckpointError",
    "Experiment",
    "Footprint",
    "InputError",
    "Outcome",
    "Point",
    "Results",
    "SimulationError",
    "SpecError",
    "__version__",
    "check",
    "load_results",
    "simulate",
    "sweep",
    "warm_up",
]

#: Where they are. Loaded when asked for: commands start without what they do not use, and Ctrl-C
#: while libraries are loaded ends a command as it does later.
_MODULES = {
    "CheckpointError": "_engine",
    "Experiment": "experiment",
    "Footprint": "api",
    "InputError": "errors",
    "Outcome": "results",
    "Point": "experiment",
    "Results": "frame",
    "SimulationError": "_engine",
    "SpecError": "_engine",
    "check": "api",
    "load_results": "frame",
    "simulate": "api",
    "sweep": "sweeps",
    "warm_up": "api",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(globals().keys() | _MODULES.keys())
